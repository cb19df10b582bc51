"""Covers that are taken apart in places and grown again, with fewer bicliques."""

import numpy as np

from elbmf.boolean.packed import unpack
from elbmf.boolean.product import Bools, pack
from elbmf.search.covers.kernels.regrowing import regrow
from elbmf.search.covers.kernels.regrowth import Regrowth
from elbmf.search.covers.reduction import Table
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING

__all__ = ["regrow_cover", "regrowth_of"]


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
    (n, m), k = table.allowed.shape, V.shape[0]
    growth = regrowth_of(table, U, V, most_work, seed, alarm)
    k = int(regrow(growth, k, from_scratch, fewest, TUNING.tries_to_regrow))
    rows, columns = unpack(growth.best_rows[:k], n), unpack(growth.best_columns[:k], m)
    return np.ascontiguousarray(rows.T), columns, int(growth.state[0])


def regrowth_of(
    table: Table, U: Bools, V: Bools, most_work: int, seed: int, alarm: Alarm
) -> Regrowth:
    """Return a cover as kernels want it, before anything is counted."""
    (n, m), k, pool = table.allowed.shape, V.shape[0], TUNING.pool_to_regrow
    lines, across = pack(table.allowed), pack(np.ascontiguousarray(table.allowed.T))

    def sets(*shape: int) -> np.ndarray:
        return np.zeros(shape, dtype=np.uint64)

    def lengths(cells: Bools) -> np.ndarray:
        counts = np.zeros((2, max(n, m)), dtype=np.int64)
        counts[0, :n], counts[1, :m] = cells.sum(axis=1), cells.sum(axis=0)
        return counts

    # A cover may have some too many until those are taken out that are not needed.
    most = k + max(k // 8, 64)
    rows, columns = sets(most, across.shape[1]), sets(most, lines.shape[1])
    rows[:k], columns[:k] = pack(np.ascontiguousarray(U.T)), pack(V)
    return Regrowth(
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
        left=pack(table.required),
        left_across=pack(np.ascontiguousarray(table.required.T)),
        ones=lengths(table.allowed),
        ones_left=lengths(table.required),
        uncovered=np.zeros((int(table.required.sum()), 2), dtype=np.int64),
        row_set=sets(across.shape[1]),
        column_set=sets(lines.shape[1]),
        seen=sets(lines.shape[1]),
        random=np.array([seed, 0], dtype=np.uint64),
        state=np.array([0, most_work, k], dtype=np.int64),
        alarm=alarm.flag,
    )
