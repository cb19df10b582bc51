"""Annealing: lines of the shorter side of the data walk, those of the longer one follow.

A climb ends in the next local optimum. Annealing leaves it: lines of the shorter side join and
leave components at random, at first also where that costs something, while every line of the other
side takes the best subset of the components that it knows of. That makes the way from one good
place to the next short, where single switches on both sides would have to climb over high walls.
"""

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.product import Bools, Words, pack
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.climber import Individual, Terrain
from elbmf.search.kernels.annealing import (
    Annealing,
    Choice,
    Data,
    Shortlists,
    Walk,
    anneal,
)
from elbmf.search.local import LocalSearch
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING

__all__ = ["Annealer", "can_anneal", "scattered", "sweeps_of"]


def can_anneal(A: BooleanMatrix, k: int) -> bool:
    """Tell whether annealing leads anywhere with so many components.

    In sparse data with many of them most switches cost nothing.
    """
    dense = A.ones >= TUNING.density_to_anneal * A.cells
    most = TUNING.components_to_anneal if dense else TUNING.components_to_anneal_sparse
    return k <= most and A.ones > 0


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
    if not is_annealable(local, k):
        return 0
    A = local.A
    sweeps = int(work / (k * A.cells * TUNING.look))
    return min(sweeps, TUNING.most_sweeps) if sweeps >= TUNING.fewest_sweeps else 0


def is_annealable(local: LocalSearch, k: int) -> bool:
    """Whether factors of so many components can be annealed: see `sweeps_of`."""
    A, prices = local.A, local.prices
    if not can_anneal(A, k) or prices.one != prices.zero:
        return False
    # Of a shortlist in each line, and of the cells while they are packed.
    size = max(A.shape) * _words(k) * 8 * (64 + k + min(A.shape).bit_length() + 2) + 3 * A.cells
    return bool(size <= TUNING.bytes_to_anneal)


def scattered(local: LocalSearch, k: int, generator: np.random.Generator) -> Individual:
    """Make components of what two lines of the longer side, drawn at random, have in common.

    Nothing is in them yet.
    """
    shape = local.A.shape
    axis = int(shape[0] < shape[1])
    indptr, indices = local.lines[axis].indptr, local.lines[axis].indices
    both = np.zeros((k, shape[1 - axis]), dtype=np.bool_)
    for component, pair in zip(both, generator.integers(shape[axis], size=(k, 2)), strict=True):
        left, right = (indices[indptr[line] : indptr[line + 1]] for line in pair)
        component[np.intersect1d(left, right)] = True
    none = np.zeros((shape[axis], k), dtype=np.bool_)
    return Individual.of(both.T, none.T) if axis else Individual.of(none, both)


class Annealer:
    """Buffers for the annealing of factors with k components, in one thread."""

    def __init__(self, local: LocalSearch, k: int, alarm: Alarm | None = None) -> None:
        self._shape = shape = local.A.shape
        self._axis = axis = int(shape[1] <= shape[0])  # The side that walks
        twins = Terrain.of(local).table.twins[1 - axis]
        first = np.unpackbits(twins.first.view(np.uint8), bitorder="little")
        self._first = np.flatnonzero(first[: shape[1 - axis]])
        # For each line of the other side, the one that is looked at.
        self._stands_for = np.empty(shape[1 - axis], dtype=np.int64)
        for place, line in enumerate(self._first):
            while line >= 0:
                self._stands_for[line] = place
                line = twins.following[line]
        self._state = _state(
            _cells(local, axis)[:, self._first], twins.copies[self._first], k, _words(k)
        )
        self._alarm = (alarm or Alarm()).flag

    def annealed(
        self,
        start: Individual,
        sweeps: int,  # Times to look at each switch, about
        heat: float,  # Temperature at first, as a share of what costly switches cost
        seed: int,
    ) -> tuple[Individual, int]:
        """Look at switches, ever colder; return where that leads, and the work."""
        state, axis = self._state, self._axis
        state.work[0] = 0
        generator = np.random.default_rng(seed)
        U, V = start.to_arrays(self._shape)
        sides = U, V.T
        k = V.shape[0]
        size = TUNING.switches_sampled
        walk = Walk(
            heat,
            TUNING.cooling,
            generator.integers(self._shape[axis], size=size),
            generator.integers(k, size=size),
            np.zeros(size, dtype=np.int64),
            np.array([generator.integers(1 << 62), 0], dtype=np.uint64),
            _as_bits(sides[axis]),
            _as_bits(sides[1 - axis][self._first]),
            self._alarm,
        )
        least = anneal(state, walk, sweeps * k * walk.best.size)
        found = [_components(walk.best, k), _components(walk.followed[self._stands_for], k)]
        rows, columns = found if axis == 0 else found[::-1]
        return Individual(int(least), rows, columns), int(state.work[0])


def _words(k: int) -> int:
    """Return the words that the shortlist of a line has."""
    subsets = 1 + k + k * (k - 1) // 2
    return min(-(-subsets // 64), TUNING.words_of_shortlist)


def _state(cells: NDArray[np.int8], copies: NDArray[np.int64], k: int, words: int) -> Annealing:
    """Make what the kernels work on; cells are those of annealed by following lines."""

    def choice() -> Choice:
        return Choice(np.zeros(lines, dtype=np.int64), _zeros(k, lines_packed))

    length, lines = cells.shape
    ones, zeros = cells > 0, cells < 0
    both = [(pack(each), pack(np.ascontiguousarray(each.T))) for each in (ones, zeros)]
    lines_packed, length_packed = both[0][0].shape[1], both[0][1].shape[1]
    places = np.arange(max(1, int(copies.max(initial=0)).bit_length()))[:, None]
    digits = length.bit_length() + 1
    considered = 1 + k + k * (k - 1) // 2
    return Annealing(
        data=Data(both[0], both[1], copies, pack((copies >> places) & 1 > 0)),
        holders=np.zeros(length, dtype=np.int64),
        component_bits=_zeros(k, length_packed),
        lists=Shortlists(
            subsets=np.zeros((lines, 64 * words), dtype=np.int64),
            patterns=_zeros(lines, k, words),
            listed=_zeros(lines, words),
            digits=_zeros(lines, digits, words),
            optimal=_zeros(lines, words),
            least=np.zeros(lines, dtype=np.int64),
        ),
        inside=choice(),
        some=choice(),
        every=choice(),
        others=np.zeros(k, dtype=np.int64),
        candidates=_zeros(lines_packed),
        certain=_zeros(lines_packed),
        switched=_zeros(words),
        coverage=_zeros(3, length_packed),
        costs=np.zeros(considered, dtype=np.int64),
        pairs=np.zeros(considered, dtype=np.int64),
        counts=np.zeros(length + 2, dtype=np.int64),
        work=np.zeros(1, dtype=np.int64),
    )


def _zeros(*shape: int) -> Words:
    return np.zeros(shape, dtype=np.uint64)


def _cells(local: LocalSearch, axis: int) -> NDArray[np.int8]:
    """Return 1 for ones, -1 for zeros and 0 for missing cells, by lines of one side."""
    A, lines = local.A, local.lines[axis]
    cells = np.full((A.shape[axis], A.shape[1 - axis]), -1, dtype=np.int8)
    kinds = [(lines.indptr, lines.indices, 1), (lines.missing_indptr, lines.missing_indices, 0)]
    for indptr, indices, kind in kinds:
        if indptr.size:
            # There may be more indices than there are cells.
            cells[np.repeat(np.arange(len(cells)), np.diff(indptr)), indices[: indptr[-1]]] = kind
    return cells


def _as_bits(side: Bools) -> NDArray[np.int64]:
    """Return the components of each line as bits."""
    bits: NDArray[np.int64] = side @ (np.int64(1) << np.arange(side.shape[1], dtype=np.int64))
    return bits


def _components(bits: NDArray[np.int64], k: int) -> Words:
    """Undo that: return the lines of each component, packed."""
    return pack(((bits >> np.arange(k)[:, None]) & 1) > 0)
