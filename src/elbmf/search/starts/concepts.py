"""Greedy concepts: formal concepts that cover most, one after the other, from below."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.packed import unpack
from elbmf.boolean.product import Bools, Words
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.climber import twins_of
from elbmf.search.kernels.concepts import close_concept, concept_values, remove_concept
from elbmf.search.kernels.lines import pack_lines_into_words
from elbmf.search.kernels.twins import name_groups
from elbmf.search.local import pattern_of
from elbmf.search.starts.base import Circumstances
from elbmf.utils.threads import over_ranges
from elbmf.utils.tuning import TUNING

__all__ = ["Concepts", "find_concepts", "greedy_concepts"]

# Ones from which a choice is worth several threads.
_ONES_FOR_THREADS = 300_000

# Columns that are looked at as the first of a concept before it is asked whether others can be it.
_AT_ONCE = 16


class Concepts(NamedTuple):
    """Concepts that were found one after the other."""

    U: Bools
    V: Bools
    left: list[int]  # Ones that were uncovered at first, and after each of them
    stopped: bool  # Whether more of them were wanted
    uncovered: Words  # The ones that are uncovered in the end, packed by rows


def greedy_concepts(circumstances: Circumstances) -> tuple[Bools, Bools] | None:
    """Return the concepts that there is time for, and rows in place of the others.

    Not where the packed rows would take too much memory.
    """
    local, k, stop = circumstances
    if local.A.cells > TUNING.cells_for_concepts:
        return None
    found = find_concepts(
        local.A, k, local.n_jobs, lambda count, left, work: stop(work), lambda: stop(0)
    )
    more = k - found.V.shape[0]
    ones = np.bitwise_count(found.uncovered).sum(axis=1, dtype=np.int64)
    rows = np.argsort(-ones, kind="stable")[:more]
    alone = np.zeros((local.A.shape[0], rows.size), dtype=np.bool_)
    alone[rows, np.arange(rows.size)] = True
    V = np.vstack([found.V, unpack(found.uncovered[rows], local.A.shape[1])])
    return np.hstack([found.U, alone]), V


def find_concepts(
    A: BooleanMatrix,
    most: int | None,  # Concepts to find; all until every one is covered by default
    n_jobs: int | None,  # Threads
    # Told after each how many there are, how many ones are left, and the work; ends it if true
    stop: Callable[[int, int, int], bool],
    # Asked in between whether to give up the one that is being looked for
    hurry: Callable[[], bool] = lambda: False,
) -> Concepts:
    """Find concepts until all ones are covered, or so many are found, or somebody says so.

    To find one, columns are added one by one, always the one after which the concept covers most
    uncovered ones, until none improves on that. Missing cells may be covered.
    """
    table, (row_of, copies, chosen) = A, _groups(A)
    if copies.size < A.shape[0]:
        # Equal rows are worked on once.
        table = _selected(A, np.unique(row_of, return_index=True)[1])
    n, m = table.shape
    uncovered, rows = (A.allocate((n, -(-m // 64)), np.uint64) for _ in range(2))
    pack_lines_into_words(table.indptr, table.indices, uncovered)
    rows[:] = uncovered
    coverable = table
    if table.missing is not None:
        pack_lines_into_words(table.missing.indptr, table.missing.indices, rows)
        coverable = BooleanMatrix.from_array(table.to_csr() + table.missing.to_csr())
    columns = coverable.lines(1)
    threads = n_jobs if coverable.ones >= _ONES_FOR_THREADS else 1
    values = np.zeros(m, dtype=np.int64)
    # What each column gave when it was last looked at as the first, which it cannot exceed now.
    limits = np.full(m, np.iinfo(np.int64).max)
    extents: list[Bools] = []
    intents = []
    left = [A.ones]
    stopped = False
    work = 0
    while left[-1] and not stopped and (most is None or len(extents) < most):
        extent = np.ones(n, dtype=np.bool_)
        intent = np.zeros(rows.shape[1], dtype=np.uint64)
        value = 0

        def look(
            these: NDArray[np.intp], least: int, extent: Any = extent, intent: Any = intent
        ) -> int:
            def look_at(low: int, high: int) -> int:
                if hurry():
                    values[these[low:high]] = 0
                    return 0
                given = (extent, intent, rows, uncovered, copies, least, values)
                its_work: int = concept_values(*columns, these, low, high, *given)
                return its_work

            return sum(over_ranges(look_at, these.size, threads))

        values[:] = 0
        order = chosen[np.argsort(-limits[chosen], kind="stable")]
        for start in range(0, order.size, _AT_ONCE):
            these = order[start : start + _AT_ONCE]
            if limits[these[0]] < max(1, values.max()):
                break
            work += look(these, 0)
            limits[these] = values[these]
        while True:
            j = int(np.argmax(values))
            if values[j] <= value:
                break
            value = int(values[j])
            close_concept(*columns, j, extent, intent, rows)
            work += look(chosen, value)
        if value == 0:
            stopped = True
            break
        remove_concept(extent, intent, uncovered)
        extents.append(extent)
        intents.append(intent)
        left.append(left[-1] - value)
        stopped = stop(len(extents), left[-1], work)
    V = unpack(np.array(intents, dtype=np.uint64).reshape(-1, rows.shape[1]), m)
    U = np.array(extents, dtype=np.bool_).reshape(-1, n).T
    if table is not A:
        U, uncovered = U[row_of], uncovered[row_of]
    return Concepts(U, V, left, stopped, uncovered)


def _groups(A: BooleanMatrix) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
    """Find equal lines: the group of each row, rows of each group, and columns that differ."""
    rows, columns = (twins_of(pattern_of(A, axis)) for axis in (0, 1))
    row_of = np.empty(A.shape[0], dtype=np.int64)
    name_groups(rows, row_of)
    return row_of, np.bincount(row_of), np.flatnonzero(unpack(columns.first[None], A.shape[1])[0])


def _selected(A: BooleanMatrix, rows: NDArray[np.intp]) -> BooleanMatrix:
    """Return some of the rows."""
    missing = None if A.missing is None else A.missing.to_csr()[rows]
    return BooleanMatrix.from_array(A.to_csr()[rows], missing=missing)
