"""A chain of samples of Boolean factors, and where it starts."""

import math

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.packed import unpack
from elbmf.boolean.product import Bools, pack
from elbmf.estimators.rivals.kernels.sampling import (
    Odds,
    gather_component_bits,
    sample_lines,
    tally,
)
from elbmf.search.kernels.coordinate_descent import (
    clear,
    count_uncovered,
    drop_costs,
    share_cells,
)
from elbmf.search.kernels.lines import Effort, Side
from elbmf.search.kernels.rows import Workspace
from elbmf.search.local import LocalSearch
from elbmf.utils.threads import over_ranges

__all__ = ["GibbsChain", "Samples"]

# Ones from which sampling a side is worth several threads.
_ONES_FOR_THREADS = 30_000


def _log_odds(probability: float) -> float:
    return math.log(probability) - math.log1p(-probability)


class GibbsChain:
    """Samples U and V from p(U, V | A) ∝ p(A | U ∘ V, λ)·p(U)·p(V), one bit after the other.

    Attributes
    ----------
    dispersion : float
        λ in the next sweep.
    loss : int
        Wrong cells after the last sweep.
    sweeps : int
        How many there were.
    """

    def __init__(
        self,
        local: LocalSearch,
        k: int,
        priors: tuple[float, float],  # Probabilities of the bits of U and of V to be on
        # λ. By default it follows the reconstruction: after each sweep it becomes the logit of the
        # share of right cells.
        dispersion: float | None,
        # For the start; what follows depends on a single number drawn from it
        generator: np.random.Generator,
    ) -> None:
        n, m = local.A.shape
        self._local, self._generator = local, generator
        self._log_odds = tuple(_log_odds(prior) for prior in priors)
        self._seed = int(generator.integers(1 << 63))
        self._threads = local.n_jobs if local.A.ones >= _ONES_FOR_THREADS else 1
        self._fixed = dispersion
        self.k = k
        self.bits = local.pack(np.zeros((n, k), np.bool_), np.zeros((k, m), np.bool_)).bits
        self._workspaces = local.workspaces(self.bits)
        self.sweeps = 0
        self.loss = local.A.ones
        for l in range(k):
            self.loss -= self._fill(l)
        self._set_dispersion()

    def sweep(self) -> None:
        """Update each bit of U, then each bit of V, then λ."""
        self.sweeps += 1
        for side in (0, 1):
            self.loss = self._sample(side)
        self._set_dispersion()

    def revive(self) -> bool:
        """Start components anew that are of no use, if there are any and ones are left for them.

        That is no step of a sampler: it is for the time before samples are drawn. Returns whether
        it changed anything.
        """
        gained = 0
        for l in range(self.k):
            # One at a time: of two that are the same, neither is of use, but one of them is.
            if self._use(l) <= 0:
                clear(self.bits, l)
                gained += self._fill(l)
        return gained > 0

    def factors(self) -> tuple[Bools, Bools]:
        """Return U and V as they are."""
        U, V = (
            unpack(self.bits.component_bits[side], length)
            for side, length in enumerate(self._local.A.shape)
        )
        return np.ascontiguousarray(U.T), V

    def _set_dispersion(self) -> None:
        A = self._local.A
        if self._fixed is None:
            # What one of the two constant matrices reaches is a bound: see `OrM`.
            wrong = min(self.loss, A.ones, A.known - A.ones)
            self.dispersion = math.log((A.known - wrong + 1) / (wrong + 1))
        else:
            self.dispersion = self._fixed

    def _sample(self, side: int) -> int:
        """Update one side given the other; return the number of wrong cells."""
        lines, bits = self._local.lines[side], self.bits
        memberships, component_bits = bits.memberships[side], bits.component_bits[1 - side]
        k = self.k
        overlaps = np.empty((0, 0) if lines.words.size else (k, k), dtype=np.int64)
        if overlaps.size:
            share_cells(component_bits, overlaps)
        given = Side(lines, bits.memberships[1 - side], component_bits, overlaps)
        odds = Odds(self.dispersion, self._log_odds[side], self._seed, self.sweeps, side)

        def sample(low: int, high: int) -> int:
            workspace = Workspace.of(component_bits)
            wrong: int = sample_lines(
                given, low, high, odds, self._local.prices, memberships, workspace
            )
            return wrong

        wrong = sum(over_ranges(sample, memberships.shape[0], self._threads))
        gather_component_bits(memberships, bits.component_bits[side])
        return wrong

    def _use(self, l: int) -> int:
        """By how much the loss would rise without a component."""
        local, costs = self._local, np.empty(self.k, dtype=np.int64)
        drop_costs(local.lines, self.bits, l, local.prices, costs, self._workspaces)
        return int(costs[l])

    def _uncovered(self, side: int, cells: Bools | None = None) -> NDArray[np.int64]:
        """Count the uncovered ones of each line of a side, or those in some cells."""
        counts = np.zeros(self._local.A.shape[side], dtype=np.int64)
        memberships = self.bits.memberships
        count_uncovered(
            self._local.lines[side],
            0,
            counts.size,
            memberships[side],
            memberships[1 - side],
            counts,
            cells,
        )
        return counts

    def _draw(self, counts: NDArray[np.int64]) -> int:
        """Draw a line by its count."""
        ends = np.cumsum(counts)
        return int(np.searchsorted(ends, self._generator.integers(ends[-1]), side="right"))

    def _uncovered_cells(self, side: int, line: int) -> Bools:
        """Tell for each cell of a line whether it is a one that is not covered."""
        lines, memberships = self._local.lines[side], self.bits.memberships
        ones = lines.indices[lines.indptr[line] : lines.indptr[line + 1]]
        cells = np.zeros(self._local.A.shape[1 - side], dtype=np.bool_)
        cells[ones] = ~(memberships[1 - side][ones] & memberships[side][line]).any(axis=1)
        return cells

    def _fill(self, l: int) -> int:
        """Let an empty component have uncovered ones that two lines share; return what that gains.

        The lines are drawn by how many such ones they have, and then share. All lines enter the
        component that gain by it.
        """
        bits, side = self.bits, int(self._generator.integers(2))
        counts = self._uncovered(side)
        if not counts.any():
            return 0
        first = self._draw(counts)
        cells = self._uncovered_cells(side, first)
        counts = self._uncovered(side, cells)
        counts[first] = 0
        if counts.any():
            cells &= self._uncovered_cells(side, self._draw(counts))
        mark = np.zeros_like(bits.stale[side])
        mark[l >> 6] = np.uint64(1) << np.uint64(l & 63)
        bits.memberships[1 - side][cells] |= mark
        bits.component_bits[1 - side][l] = pack(cells[None])[0]
        bits.stale[side] = mark
        _, gained, _ = self._local.improve(bits, side, mark, Effort(nodes=1))
        return gained


class Samples:
    """What the samples of a chain have in common, and the best of them.

    Attributes
    ----------
    drawn : int
        How many there are.
    best : (ndarray, ndarray)
        U and V of the sample with the least loss, the first of equals.
    """

    def __init__(self, chain: GibbsChain) -> None:
        self._chain = chain
        self._counts = tuple(
            np.zeros((memberships.shape[0], chain.k), dtype=np.int64)
            for memberships in chain.bits.memberships
        )
        self._least: int | None = None
        self.drawn = 0

    def draw(self) -> None:
        """Add the factors as the chain has them."""
        self.drawn += 1
        for memberships, counts in zip(self._chain.bits.memberships, self._counts, strict=True):
            tally(memberships, counts)
        if self._least is None or self._chain.loss < self._least:
            self._least, self.best = self._chain.loss, self._chain.factors()

    def means(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the share of samples in which each bit of U, and of V, is on."""
        U, Vt = (counts / self.drawn for counts in self._counts)
        return U, np.ascontiguousarray(Vt.T)

    def rounded(self) -> tuple[Bools, Bools]:
        """Return the bits of U and V that are on in more than half of the samples."""
        U, V = (mean > 0.5 for mean in self.means())
        return U, V
