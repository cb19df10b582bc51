"""Annealing of few components: the shorter side of the data walks, the longer one follows exactly.

A climb ends in the next local optimum. Annealing leaves it: lines of the shorter side join and
leave components at random, at first also where that costs something, while every line of the other
side always has the subset of components that is best for it. That makes the way from one good place
to the next short, where single switches on both sides would have to climb over high walls.
"""

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.product import pack
from elbmf.search.climber import Individual, Terrain
from elbmf.search.kernels.annealing import Annealing, Walk, anneal, begin, changes, choose
from elbmf.search.local import LocalSearch
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING

__all__ = ["Annealer", "sweeps_of"]


def sweeps_of(local: LocalSearch, k: int, work: float) -> int:
    """Return how many times annealing may look at each switch, in so much work; 0 if it is no use.

    Parameters
    ----------
    local : LocalSearch
        The data, and what errors cost: both kinds the same, else switches change costs by more than
        one.
    k : int
        Components.
    work : float
        About in nanoseconds.
    """
    A, prices = local.A, local.prices
    if k > TUNING.components_to_anneal or prices.one != prices.zero or not A.in_memory:
        return 0
    words = max(1, (1 << k) >> 6)
    size = max(A.shape) * words * 8 * (min(A.shape).bit_length() + 1)
    if not A.cells or A.cells > TUNING.cells_to_anneal or size > TUNING.bytes_to_anneal:
        return 0
    look = TUNING.look + TUNING.look_per_word * words
    sweeps = int(work / (k * A.cells * look))
    return min(sweeps, TUNING.most_sweeps) if sweeps >= TUNING.fewest_sweeps else 0


class Annealer:
    """Buffers for the annealing of factors with k components, in one thread."""

    def __init__(self, local: LocalSearch, k: int, alarm: Alarm | None = None) -> None:
        self._shape = local.A.shape
        self._axis = axis = int(self._shape[1] <= self._shape[0])  # The side that walks
        twins = Terrain.of(local).table.twins[1 - axis]
        first = np.unpackbits(twins.first.view(np.uint8), bitorder="little")
        self._first = np.flatnonzero(first[: self._shape[1 - axis]])
        # For each line of the other side, the one that is looked at.
        self._stands_for = np.empty(self._shape[1 - axis], dtype=np.int64)
        for place, line in enumerate(self._first):
            while line >= 0:
                self._stands_for[line] = place
                line = twins.following[line]
        signs = _signs(local, axis)[:, self._first]
        words, lines = max(1, (1 << k) >> 6), len(self._first)
        digits = max(1, self._shape[axis].bit_length())
        self._state = Annealing(
            signs=np.ascontiguousarray(signs),
            copies=twins.copies[self._first],
            patterns=_patterns(k),
            holders=np.zeros(self._shape[axis], dtype=np.int64),
            digits=np.zeros((lines, digits, words), dtype=np.uint64),
            optimal=np.zeros((lines, words), dtype=np.uint64),
            least=np.zeros(lines, dtype=np.int64),
            some=np.zeros(lines, dtype=np.int64),
            every=np.zeros(lines, dtype=np.int64),
            switched=np.zeros(words, dtype=np.uint64),
        )
        self._alarm = (alarm or Alarm()).flag

    def annealed(self, start: Individual, sweeps: int, seed: int) -> tuple[Individual, int]:
        """Look so many times at each switch, ever colder; return where that leads, and the work."""
        state, axis = self._state, self._axis
        generator = np.random.default_rng(seed)
        factors = start.to_arrays(self._shape)
        walking = factors[0] if axis == 0 else factors[1].T
        k = walking.shape[1]
        held = walking @ (np.int64(1) << np.arange(k, dtype=np.int64))
        cost = begin(state, held)
        hot = self._temperature(generator.choice(TUNING.accepted))
        walk = Walk(
            hot,
            hot / TUNING.cooling,
            np.array([generator.integers(1 << 62), 0], dtype=np.uint64),
            np.empty_like(state.holders),
            np.zeros(1, dtype=np.int64),
            self._alarm,
        )
        least = anneal(state, walk, cost, sweeps * k * state.holders.size)
        begin(state, walk.best)
        chosen = np.empty(len(self._first), dtype=np.int64)
        choose(state, chosen)
        sides = [_bits(walk.best, k), _bits(chosen[self._stands_for], k)]
        rows, columns = sides if axis == 0 else sides[::-1]
        return Individual(int(least), pack(rows), pack(columns)), int(walk.work[0])

    def _temperature(self, accepted: float) -> float:
        """Return the temperature at which a share of the switches that cost something is taken."""
        costs = np.empty((self._state.holders.size, self._state.patterns.shape[0] - 1), np.int64)
        changes(self._state, costs)
        costs = costs[costs > 0]
        if not costs.size:
            return 1.0
        low, high = 1e-3, float(costs.max()) / -np.log(accepted) + 1.0
        for _ in range(40):
            middle = (low + high) / 2
            if np.exp(-costs / middle).mean() < accepted:
                low = middle
            else:
                high = middle
        return high


def _signs(local: LocalSearch, axis: int) -> NDArray[np.int8]:
    """Return 1 for zeros, -1 for ones and 0 for missing cells, by lines of one side."""
    A, lines = local.A, local.lines[axis]
    signs = np.ones((A.shape[axis], A.shape[1 - axis]), dtype=np.int8)
    kinds = [(lines.indptr, lines.indices, -1), (lines.missing_indptr, lines.missing_indices, 0)]
    for indptr, indices, sign in kinds:
        if indptr.size:
            # There may be more indices than there are cells.
            signs[np.repeat(np.arange(len(signs)), np.diff(indptr)), indices[: indptr[-1]]] = sign
    return signs


def _patterns(k: int) -> NDArray[np.uint64]:
    """Return the subsets that each of k components is in, and all subsets, packed."""
    subsets = np.arange(1 << k)
    inside = [(subsets >> l) & 1 for l in range(k)] + [np.ones(1 << k, dtype=np.int64)]
    return pack(np.array(inside, dtype=np.bool_))


def _bits(held: NDArray[np.int64], k: int) -> NDArray[np.bool_]:
    """Return the lines of each component, from the components of each line as bits."""
    bits: NDArray[np.bool_] = ((held >> np.arange(k)[:, None]) & 1) > 0
    return bits
