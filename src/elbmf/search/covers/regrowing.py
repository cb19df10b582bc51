"""Covers that are taken apart in places and grown again, with fewer bicliques."""

import numpy as np

from elbmf.boolean.packed import unpack
from elbmf.boolean.product import Bools, pack
from elbmf.search.covers.kernels.regrowing import Regrowth, regrow
from elbmf.search.covers.reduction import Table
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING

__all__ = ["regrow_cover"]


def regrow_cover(
    table: Table,
    U: Bools,
    V: Bools,
    fewest: int,
    most_work: int,
    seed: int,
    alarm: Alarm,
    *,
    from_scratch: bool = False,
) -> tuple[Bools, Bools, int]:
    """Return a cover that is no larger than the given one, and about how many nanoseconds it took.

    The search ends when it has only ``fewest`` bicliques.
    """
    (n, m), k, pool = table.allowed.shape, V.shape[0], TUNING.pool_to_regrow
    lines, across = pack(table.allowed), pack(np.ascontiguousarray(table.allowed.T))

    def sets(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.uint64)

    # A cover may have some too many until those are taken out that are not needed.
    most = k + max(k // 8, 64)
    rows, columns = sets(most, across.shape[1]), sets(most, lines.shape[1])
    rows[:k], columns[:k] = pack(np.ascontiguousarray(U.T)), pack(V)
    ones = np.zeros((2, max(n, m)), dtype=np.int64)
    ones[0, :n], ones[1, :m] = table.allowed.sum(axis=1), table.allowed.sum(axis=0)
    growth = Regrowth(
        lines=lines,
        across=across,
        required=pack(table.required),
        rows=rows,
        columns=columns,
        best_rows=rows.copy(),
        best_columns=columns.copy(),
        pool_rows=sets(pool, across.shape[1]),
        pool_columns=sets(pool, lines.shape[1]),
        scores=np.zeros(max(pool, most)),
        counts=np.zeros((n, m), dtype=np.int16),
        left=np.zeros_like(lines),
        left_across=np.zeros_like(across),
        ones=ones,
        ones_left=np.zeros_like(ones),
        uncovered=np.zeros((int(table.required.sum()), 2), dtype=np.int64),
        row_set=sets(across.shape[1]),
        column_set=sets(lines.shape[1]),
        seen=sets(lines.shape[1]),
        random=np.array([seed, 0], dtype=np.uint64),
        state=np.array([0, most_work, k], dtype=np.int64),
        alarm=alarm.flag,
    )
    k = int(regrow(growth, k, from_scratch, fewest, TUNING.tries_to_regrow))
    rows, columns = unpack(growth.best_rows[:k], n), unpack(growth.best_columns[:k], m)
    return np.ascontiguousarray(rows.T), columns, int(growth.state[0])
