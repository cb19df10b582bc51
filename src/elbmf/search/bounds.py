"""What no factorization with k components costs less than.

Any part of a table costs at most as much as the whole, and parts that share no cell cost at least
the sum of what each costs at the least. So the table is cut in two ways:

- into *blocks* of columns, each of which `elbmf.search.exact` bounds with the same k components: on
  a small table with few components, the whole of it is one block, and the bound is often the least
  loss itself;
- into *fooling sets*, each in rows of its own: ones no two of which fit in one component without
  a zero. Of f such ones, k components can have one each; every other one is either not covered, or
  in a component with others, whose zeros it then covers, too. This gets somewhere with any number
  of components.
"""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import cover
from elbmf.boolean.product import Bools
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.covers.fooling import fooling_set
from elbmf.search.covers.reduction import Table
from elbmf.search.exact import solve_exactly
from elbmf.search.local import LocalSearch
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING

__all__ = ["Bound", "bound_blocks", "bound_fooling", "fooled_cost"]


class Bound(NamedTuple):
    """What is known about the cost of the best factorization."""

    at_least: int  # No factorization costs less
    # A factorization that costs less than the best known, if one was found
    U: Bools | None = None
    V: Bools | None = None


def bound_blocks(
    local: LocalSearch,  # The data, and what errors cost
    U: Bools,
    V: Bools,  # The best known factors
    k: int,
    tell: Callable[[int], bool] = lambda at_least: False,  # Told of each bound; true ends it
) -> Bound:
    """Bound the cost by blocks of columns: the whole table, or as few as possible in the time.

    The alarm of ``local`` ends it. Blocks become wider, and each gets more work, from round to
    round; what a round has not come to is not counted.
    """
    if k > TUNING.components_of_block or local.A.cells > TUNING.cells_for_blocks:
        return Bound(0)
    table = Table.of(local.A)
    kind, rows = _kinds(table.required.T), _kinds(table.required)
    if kind.max(initial=-1) > rows.max(initial=-1):
        # The same, but that it is the rows that are cut.
        turned = BooleanMatrix.from_array(table.required.T, missing=table.free.T)
        other = LocalSearch(turned, local.weights, local.n_jobs, local.alarm)
        at_least, left, right = bound_blocks(other, V.T, U.T, k, tell)
        if left is None or right is None:
            return Bound(at_least)
        return Bound(at_least, right.T, left.T)
    # Each block gets columns of every sort: those of one sort alone would cost little.
    order = np.argsort(-_in_common(table.required, kind), kind="stable")
    best, work, width = 0, TUNING.first_block, k + 2
    while order.size and not local.alarm.rung:
        blocks = -(-order.size // width)
        total, proven = 0, True
        for block in range(blocks):
            if local.alarm.rung:
                break
            columns = np.flatnonzero(np.isin(kind, order[block::blocks]))
            part = BooleanMatrix.from_array(
                table.required[:, columns], missing=table.free[:, columns]
            )
            known = cover(part, U, V[:, columns], local.n_jobs).cost(local.weights)
            within = LocalSearch(part, local.weights, 1, local.alarm)
            # There is nothing wider to keep any time for.
            most = work if blocks > 1 else np.inf
            found = solve_exactly(within, k, known, most, lambda: local.alarm.rung)
            if blocks == 1 and found.proven:
                return Bound(found.bound, found.U, found.V)
            total += found.bound
            proven = proven and found.proven
            best = max(best, total)
        if tell(best) or blocks == 1 or (width >= TUNING.widest_block and proven):
            break
        work, width = 4 * work, min(2 * width, TUNING.widest_block)
    return Bound(best)


def bound_fooling(
    local: LocalSearch,
    k: int,
    seed: int,  # Of the search for fooling sets
) -> int:
    """Bound the cost by fooling sets, one after the other, each in rows of its own.

    Of a table that is too large, only the first rows are looked at.
    """
    m = local.A.shape[1]
    table = Table.of(local.A, slice(max(1, TUNING.cells_to_cover // max(m, 1))))
    missed, extra = local.weights.missed, local.weights.extra
    sizes = _fooling_sizes(table, k, seed, local.alarm)
    return sum(fooled_cost(size, k, missed, extra) for size in sizes)


def _fooling_sizes(table: Table, k: int, seed: int, alarm: Alarm) -> Iterator[int]:
    """Find fooling sets of more than k ones, and leave out their rows."""
    rows = np.arange(table.required.shape[0])
    columns = np.arange(table.required.shape[1])
    while rows.size > k and not alarm.rung:
        left = table.select(rows, columns)
        ones = min(int(left.required.sum()), TUNING.ones_to_fool)
        moves = max(100, TUNING.moves_to_fool // (ones + 1))
        found = fooling_set(left, moves, seed, alarm)
        if len(found) <= k:
            return
        yield len(found)
        rows = np.delete(rows, found[:, 0])
        seed += 1


def fooled_cost(size: int, k: int, missed: int, extra: int) -> int:
    """Return what a fooling set of some size costs with k components at least.

    Each one is missed, or assigned to a component that covers it. Two of the same component make
    it cover a zero, one of the two other corners, which no other pair has: the t-th one of a
    component costs at least t − 1 zeros.
    """
    cost, next_ones = 0, [0] * min(k, size)
    for _ in range(size):
        least = heappop(next_ones) if next_ones else missed
        if least >= missed:
            cost += missed
            heappush(next_ones, least)
        else:
            cost += least
            heappush(next_ones, least + extra)
    return cost


def _kinds(lines: Bools) -> NDArray[np.int64]:
    """Give numbers to the distinct lines; return that of each line."""
    _, kind = np.unique(lines, axis=0, return_inverse=True)
    numbers: NDArray[np.int64] = kind.ravel()
    return numbers


def _in_common(cells: Bools, kind: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for each kind of column how much it has in common with all columns."""
    _, first, counts = np.unique(kind, return_index=True, return_counts=True)
    columns = cells[:, first].astype(np.float64)
    together: NDArray[np.float64] = (columns.T @ columns) @ counts
    return together
