"""Associations: columns that go together, and greedy choice among the candidates they make."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import Weights
from elbmf.boolean.packed import unpack
from elbmf.boolean.product import Bools
from elbmf.matrix.boolean_matrix import BooleanMatrix, Pattern
from elbmf.search.kernels.associations import (
    add_gains,
    count_associations,
    list_associations,
    pack_candidates,
    rows_that_gain,
)
from elbmf.search.starts.base import Circumstances
from elbmf.utils.threads import over_ranges
from elbmf.utils.tuning import TUNING

__all__ = ["Chosen", "Side", "greedy_associations"]


class Chosen(NamedTuple):
    """Candidates that were chosen one after the other."""

    U: Bools
    V: Bools
    costs: list[int]  # Of none of them, and after each


def greedy_associations(circumstances: Circumstances) -> tuple[Bools, Bools] | None:
    """Return the best that some thresholds lead to, as long as there is time.

    Not where it takes too long to associate all pairs.
    """
    local, k, stop = circumstances
    A = local.A
    transposed = A.shape[0] < A.shape[1]
    lengths = np.diff(A.lines(int(transposed))[0]).astype(np.int64)
    pairs = int(lengths @ lengths)
    if pairs > TUNING.pairs_to_associate or min(A.shape) > TUNING.most_candidates:
        return None
    side = Side.of(A, transposed, local.weights, min(TUNING.thresholds), 1)
    found: list[Chosen] = []
    for threshold in side.distinct(sorted(TUNING.thresholds))[::-1]:
        found.append(side.find(threshold, k, 1, lambda count, cost: stop(0)))
        if stop(len(found) * pairs):
            break
    best = min(found, key=lambda chosen: chosen.costs[-1])
    return best.U, best.V


class Side(NamedTuple):
    """The data as it is seen when columns are associated, or when rows are.

    Patterns of the ones and of the missing cells are by the lines to cover and by those that are
    associated, which are called rows and columns here, whatever they are in the data.
    """

    transposed: bool
    shape: tuple[int, int]
    ones: tuple[Pattern, Pattern]
    missing: tuple[Pattern, Pattern]
    weights: Weights
    associations: "_Associations"

    @classmethod
    def of(
        cls,
        A: BooleanMatrix,
        transposed: bool,
        weights: Weights,
        threshold: float,
        threads: int | None,
    ) -> "Side":
        """Find the associations whose confidence reaches a threshold."""
        axis = int(transposed)
        ones = A.lines(axis), A.lines(1 - axis)
        missing = A.missing_lines(axis), A.missing_lines(1 - axis)
        shape = A.shape[axis], A.shape[1 - axis]
        associations = _associations(*ones, missing[1], threshold, threads)
        return cls(transposed, shape, ones, missing, weights, associations)

    def distinct(self, thresholds: Sequence[float]) -> list[float]:
        """Leave out thresholds that keep the same associations as a lower one."""
        kept = [int((self.associations.confidences >= threshold).sum()) for threshold in thresholds]
        by_kept = dict(zip(reversed(kept), reversed(thresholds), strict=True))
        return sorted(by_kept.values())

    def find(
        self,
        threshold: float,
        rank: int,
        threads: int | None,
        observe: Callable[[int, int], bool] = lambda count, cost: False,
    ) -> Chosen:
        """Choose up to so many candidates of a threshold.

        ``observe`` is told how many there are and what they cost, and ends it by returning true.
        """
        costs = [self.weights.missed * int(self.ones[0][0][-1])]

        def note(gain: int) -> bool:
            costs.append(costs[-1] - gain)
            return observe(len(costs) - 1, costs[-1])

        U, V = _choose(self, self.associations.at_least(threshold), rank, threads, note)
        return Chosen(*((V.T, U.T) if self.transposed else (U, V)), costs)


class _Associations(NamedTuple):
    """For each column j the columns i with a confidence c(i→j), and these confidences."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    confidences: NDArray[np.float64]

    def at_least(self, threshold: float) -> Pattern:
        """Return for each column the candidates that have it."""
        kept = self.confidences >= threshold
        before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
        return before[self.indptr], self.indices[kept]


def _associations(
    rows: Pattern, columns: Pattern, missing: Pattern, threshold: float, threads: int | None
) -> _Associations:
    """Find the confidences that reach a threshold; ``missing`` are the missing cells by column."""
    m = columns[0].size - 1
    counts = np.zeros(m, dtype=np.int64)
    over_ranges(
        lambda low, high: count_associations(rows, columns, missing, low, high, threshold, counts),
        m,
        threads,
    )
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = np.empty(int(indptr[-1]), dtype=np.int32)
    confidences = np.empty(int(indptr[-1]), dtype=np.float64)
    over_ranges(
        lambda low, high: list_associations(
            rows, columns, missing, low, high, threshold, indptr, indices, confidences
        ),
        m,
        threads,
    )
    return _Associations(indptr, indices, confidences)


def _choose(
    data: Side,
    candidates: Pattern,
    rank: int,
    threads: int | None,
    observe: Callable[[int], bool],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Choose up to so many candidates; return the factors.

    ``observe`` is called with what each component gains, and ends it by returning true.
    """
    n, m = data.shape
    words = -(-m // 64)
    U, component_bits = (
        np.zeros((n, rank), dtype=np.bool_),
        np.zeros((rank, words), dtype=np.uint64),
    )
    packed = np.zeros((m, words), dtype=np.uint64)
    pack_candidates(candidates, packed)
    sizes = np.bincount(candidates[1], minlength=m)
    pair = (data.weights.missed, data.weights.extra)
    rows, missing = data.ones[0], data.missing[0]
    gains = np.zeros(m, dtype=np.int64)

    def add(lines: NDArray[np.int64], sign: int) -> None:
        def part(low: int, high: int) -> NDArray[np.int64]:
            own = np.zeros(m, dtype=np.int64)
            add_gains(
                rows,
                missing,
                lines,
                low,
                high,
                U,
                component_bits,
                candidates,
                packed,
                sizes,
                pair,
                sign,
                own,
            )
            return own

        for own in over_ranges(part, lines.size, threads):
            gains[:] += own

    add(np.arange(n), 1)
    chosen = 0
    for l in range(rank):
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        gain = int(gains[best])
        candidate = packed[best]
        members = np.zeros(n, dtype=np.bool_)

        def look(low: int, high: int, candidate: Any = candidate, members: Any = members) -> None:
            rows_that_gain(rows, missing, low, high, U, component_bits, candidate, pair, members)

        over_ranges(look, n, threads)
        changed = np.flatnonzero(members)
        add(changed, -1)
        U[:, l], component_bits[l] = members, candidate
        add(changed, 1)
        chosen += 1
        if observe(gain):
            break
    return U[:, :chosen], unpack(component_bits[:chosen], m)
