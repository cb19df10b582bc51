"""From one rank to the next by local search, see `elbmf.ranks.path`."""

from collections.abc import Callable, Sequence

import numpy as np

from elbmf.boolean.packed import PackedFactors
from elbmf.ranks.path import Factors, Refits
from elbmf.search.local import LocalSearch
from elbmf.search.moves import Search
from elbmf.utils.tuning import TUNING

__all__ = ["WarmSteps"]


class WarmSteps(Refits):
    """Steps that start from the factors of a neighbouring rank.

    Parameters
    ----------
    local : LocalSearch
        The data and the descent.
    refit : callable
        Factorizes at a given rank with a given generator.
    work : callable
        What the search of a fit at a given rank may take.
    effort : float
        As of the fits.
    """

    def __init__(
        self,
        local: LocalSearch,
        refit: Callable[[int, np.random.Generator], Factors],
        work: Callable[[int], float],
        effort: float,
    ) -> None:
        super().__init__(refit)
        self._local = local
        self._work = work
        self._least_polish = effort * TUNING.least_polish

    def shrink(self, factors: Factors, rank: int, generator: np.random.Generator) -> Factors:
        """Drop the least useful components, let the others adapt, and search a little."""
        with self._search(rank, generator) as search:
            reduced = search.reduce(self._packed(factors, factors.rank), rank)
            return _unpacked(search.improve(reduced))

    def grow(self, factors: Factors, rank: int, generator: np.random.Generator) -> Factors:
        """Seed components on what is uncovered, and search a little."""
        with self._search(rank, generator) as search:
            return _unpacked(search.improve(self._packed(factors, rank)))

    def polish(self, found: Sequence[Factors], generator: np.random.Generator) -> Factors:
        """Recombine what was found at a rank, and search on from there."""
        best = min(found, key=lambda factors: factors.cost)
        rank = best.rank
        work = max(TUNING.share_of_polish * self._work(rank), self._least_polish)
        with Search(self._local, generator, work) as search:
            start = self._packed(best, rank)
            if len(found) > 1:
                parents = [self._local.pack(factors.U, factors.V) for factors in found]
                start = min(start, search.recombine(parents, rank), key=lambda each: each.cost)
            polished = search.improve(start)
        self._local.settle(polished)
        return _unpacked(polished)

    def _search(self, rank: int, generator: np.random.Generator) -> Search:
        return Search(self._local, generator, TUNING.share_of_step * self._work(rank))

    def _packed(self, factors: Factors, rank: int) -> PackedFactors:
        """Pack factors, with empty components up to a rank, and let them adapt."""
        (n, k), m = factors.U.shape, factors.V.shape[1]
        U, V = np.zeros((n, rank), dtype=np.bool_), np.zeros((rank, m), dtype=np.bool_)
        U[:, :k], V[:k] = factors.U, factors.V
        packed = self._local.pack(U, V, with_spare=True)
        self._local.descend(packed)
        return packed


def _unpacked(found: PackedFactors) -> Factors:
    return Factors(*found.to_arrays(), found.cost)
