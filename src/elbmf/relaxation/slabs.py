"""The matrix cut along its longer side into slabs: the pieces an engine works on.

The shorter side is *resident*: one row of its factor for each of its entries, kept in cache. The
longer side is *streamed*: its lines pass by, slab after slab. Every slab can `pull` (sum resident
rows into its lines) and `push` (add its lines to resident rows). How it stores its ones is its own
affair; which storage is cheapest follows from the density alone. Slabs are cut by the data, never
by the number of threads, so that every sum has one fixed order.

All this is for f = ½‖A − UV‖², in which every cell weighs 1. Some may weigh w instead: ones that
matter more than zeros, missing cells that matter not at all. The gradient at Z is then that of f
less (w − 1)(a − p)·r for each such cell, p being its entry of the product at Z and r its row of the
other factor. So the plain products stay as they are, and what these *reweighed* cells add to them
costs what these cells cost.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.patterns import PADDING
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.protocol import Matrix
from elbmf.relaxation.kernels.products import (
    GROUP_BITS,
    GROUPS,
    TABLE_STRIDE,
    pack_lines,
    pull_bytes,
    pull_indices,
    pull_residuals,
    push_bytes,
    push_indices,
    push_residuals,
    squared_residuals,
)
from elbmf.utils.aligned import aligned_empty

__all__ = [
    "Reweighed",
    "Slab",
    "SlabbedMatrix",
    "cut",
    "heaviest_weight",
    "longer_side",
    "storage_density",
    "uncut",
    "worthwhile_edges",
]

Floats = NDArray[np.floating[Any]]
Allocate = Callable[[tuple[int, ...], Any], NDArray[Any]]

# A block's buffers should stay in the second-level cache: this many numbers each.
_NUMBERS_IN_BLOCK = 1 << 17

# One addition per byte of several cells: cheaper than one per stored index above this density.
_BYTES_COST = 1 / 8

# A resident factor of more bytes than this is prefetched while it is gathered.
_CACHED_BYTES = 1 << 20

# Each slab has its own copy of the resident sums; it must do this many times their work.
_ONES_PER_RESIDENT = 16
_ONES_PER_SLAB = 1 << 17
_MOST_SLABS = 32

# Tables are made for each slab anew: enough lines must use them.
_LINES_PER_BYTE_SLAB = 1 << 12


@dataclass(frozen=True)
class Reweighed:
    """Cells that weigh more or less than 1."""

    indptr: NDArray[np.int64]  # Where each line starts in ``indices``
    indices: NDArray[np.integer[Any]]  # The resident rows of the cells
    value: int  # What the plain storage holds there: 1 for ones, 0 for missing cells
    excess: float  # w − 1, their weight less that of all other cells


class Slab(ABC):
    """A run of lines of the streamed side."""

    def __init__(
        self,
        # The lines of the whole matrix that this slab holds
        start: int,
        stop: int,
        n_resident: int,  # Length of the resident side
        # The whole pattern of what is stored
        indptr: NDArray[np.int64],
        indices: NDArray[np.integer[Any]],
        allocate: Allocate = np.zeros,
    ) -> None:
        self.start = start
        self.stop = stop
        self.n_resident = n_resident
        self.reweighed: tuple[Reweighed, ...] = ()
        self._store(indptr, indices, allocate)

    @abstractmethod
    def _store(
        self, indptr: NDArray[np.int64], indices: NDArray[np.integer[Any]], allocate: Allocate
    ) -> None:
        """Take the lines of this slab out of a pattern."""

    def reweigh(self, cells: Reweighed) -> None:
        """Give these cells, listed for the whole matrix, another weight."""
        own = replace(cells, indptr=cells.indptr[self.start : self.stop + 1])
        self.reweighed = (*self.reweighed, own)

    def blocks(self, width: int) -> Iterator[tuple[int, int]]:
        """Yield runs of this slab's lines, counted from its start, to be worked on at once."""
        lines = self.stop - self.start
        at_once = self.lines_at_once(width)
        for low in range(0, lines, at_once):
            yield low, min(low + at_once, lines)

    def lines_at_once(self, width: int) -> int:
        """How many lines at most make a block when a factor has ``width`` columns."""
        return min(self.stop - self.start, max(1, _NUMBERS_IN_BLOCK // width))

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """What a visit reads, of the size of the data."""
        found = self._arrays()
        for cells in self.reweighed:
            found.append(cells.indices[cells.indptr[0] : cells.indptr[-1]])
        return found

    @abstractmethod
    def _arrays(self) -> list[NDArray[Any]]:
        """Return what the plain products read."""

    @abstractmethod
    def pull(self, resident: Floats, low: int, high: int, out: Floats) -> None:
        """Write P into ``out``: for lines ``low`` to ``high`` the sum of the rows they name."""

    @abstractmethod
    def push(self, lines: Floats, low: int, high: int, sums: Floats) -> None:
        """Add each line to the rows of ``sums`` it names."""

    def pull_residuals(
        self, resident: Floats, point: Floats, low: int, high: int, out: Floats
    ) -> None:
        """Add to P what the reweighed cells add: Σ (w − 1)(a − p)·r, with p taken at ``point``."""
        number = out.dtype.type
        for cells in self.reweighed:
            value, excess = number(cells.value), number(cells.excess)
            pull_residuals(
                resident, cells.indices, cells.indptr, low, high, point, value, excess, out
            )

    def push_residuals(
        self, point: Floats, lines: Floats, low: int, high: int, sums: Floats
    ) -> None:
        """Add (w − 1)(a − p) times each line to the rows of ``sums`` of its reweighed cells.

        Here p is taken at ``point``, which stands for the resident factor.
        """
        number = sums.dtype.type
        for cells in self.reweighed:
            value, excess = number(cells.value), number(cells.excess)
            push_residuals(
                point, cells.indices, cells.indptr, low, high, lines, value, excess, sums
            )

    def excess_loss(self, resident: Floats, lines: Floats) -> float:
        """Σ (w − 1)(a − p)² over the reweighed cells: what they add to ‖A − UV‖²."""
        value = lines.dtype.type
        return sum(
            cells.excess
            * squared_residuals(resident, cells.indices, cells.indptr, lines, value(cells.value))
            for cells in self.reweighed
        )


class IndexSlab(Slab):
    """Ones stored as indices: costs what the ones cost."""

    def _store(
        self, indptr: NDArray[np.int64], indices: NDArray[np.integer[Any]], allocate: Allocate
    ) -> None:
        self.indptr = indptr[self.start : self.stop + 1]
        self.indices = indices

    def _arrays(self) -> list[NDArray[Any]]:
        return [self.indices[self.indptr[0] : self.indptr[-1]]]

    @staticmethod
    def worthwhile(indptr: NDArray[np.int64], n_resident: int) -> int:
        """How many slabs are worth having: each must earn its own resident sums."""
        ones = int(indptr[-1])
        return _power_of_two(min(ones // _ONES_PER_SLAB, ones // (_ONES_PER_RESIDENT * n_resident)))

    def pull(self, resident: Floats, low: int, high: int, out: Floats) -> None:
        prefetch = resident.nbytes > _CACHED_BYTES
        pull_indices(resident, self.indices, self.indptr, low, high, out, prefetch)

    def push(self, lines: Floats, low: int, high: int, sums: Floats) -> None:
        prefetch = sums.nbytes > _CACHED_BYTES
        push_indices(sums, self.indices, self.indptr, low, high, lines, prefetch)


class ByteSlab(Slab):
    """Several resident rows to a byte: costs the same at any density."""

    def _store(
        self, indptr: NDArray[np.int64], indices: NDArray[np.integer[Any]], allocate: Allocate
    ) -> None:
        sets = -(-self.n_resident // (GROUP_BITS * GROUPS))
        self.packed = allocate((sets, self.stop - self.start, GROUPS), np.uint8)
        pack_lines(indices, indptr, self.start, self.stop, self.packed)

    def _arrays(self) -> list[NDArray[Any]]:
        return [self.packed]

    @staticmethod
    def worthwhile(indptr: NDArray[np.int64], n_resident: int) -> int:
        """How many slabs are worth having: each must earn its own tables."""
        return _power_of_two((indptr.shape[0] - 1) // _LINES_PER_BYTE_SLAB)

    def lines_at_once(self, width: int) -> int:
        """All of them: the tables are made anew for every block."""
        return self.stop - self.start

    def pull(self, resident: Floats, low: int, high: int, out: Floats) -> None:
        pull_bytes(resident, self.packed, out, self._tables(resident))

    def push(self, lines: Floats, low: int, high: int, sums: Floats) -> None:
        push_bytes(sums, self.packed, lines, self._tables(lines))

    @staticmethod
    def _tables(like: Floats) -> Floats:
        return aligned_empty((TABLE_STRIDE * GROUPS, like.shape[1]), like.dtype)


class ComplementSlab(IndexSlab):
    """Zeros stored in place of ones: A = 1 − C, so every product is a total less C's."""

    def pull(self, resident: Floats, low: int, high: int, out: Floats) -> None:
        super().pull(resident, low, high, out)
        total = resident.sum(axis=0, dtype=np.float64).astype(resident.dtype)
        np.subtract(total, out, out=out)

    def push(self, lines: Floats, low: int, high: int, sums: Floats) -> None:
        sums += lines.sum(axis=0, dtype=np.float64).astype(lines.dtype)
        super().push(-lines, low, high, sums)


@dataclass(frozen=True)
class SlabbedMatrix:
    """A Boolean matrix as slabs."""

    shape: tuple[int, int]  # Rows and columns
    ones: int  # Number of ones, ‖A‖₁ = ‖A‖²
    # 0 when rows are streamed and V is resident, 1 when columns are streamed and U is resident
    streamed_axis: int
    slabs: tuple[Slab, ...]  # In the order in which their sums are added up
    heaviest: float = 1.0  # An upper bound of the weights of all cells

    @property
    def reweighed(self) -> bool:
        """Whether any cell has another weight than 1."""
        return any(slab.reweighed for slab in self.slabs)

    @property
    def n_streamed(self) -> int:
        """Length of the longer, streamed side."""
        return self.shape[self.streamed_axis]

    @property
    def n_resident(self) -> int:
        """Length of the shorter, resident side."""
        return self.shape[1 - self.streamed_axis]


def _power_of_two(most: int) -> int:
    """Round down, so that slabs spread evenly over the usual numbers of cores."""
    return 1 << (max(most, 1).bit_length() - 1)


def uncut(
    matrix: BooleanMatrix,  # The data. Its missing cells weigh nothing.
    weight_of_ones: float = 1.0,  # ω, what a one weighs in the loss where a zero weighs 1
    # The side to cut along, 0 for rows; the longer one by default
    streamed_axis: int | None = None,
) -> SlabbedMatrix:
    """Return a matrix as one slab of indices, for an engine that has its own way of cutting it."""
    axis = longer_side(matrix.shape) if streamed_axis is None else streamed_axis
    indptr, indices = matrix.lines(axis)
    slab = IndexSlab(0, matrix.shape[axis], matrix.shape[1 - axis], indptr, indices)
    if weight_of_ones != 1:
        slab.reweigh(Reweighed(indptr, indices, value=1, excess=weight_of_ones - 1))
    if matrix.missing is not None:
        slab.reweigh(Reweighed(*matrix.missing.lines(axis), value=0, excess=-1.0))
    heaviest = heaviest_weight(matrix.ones, weight_of_ones)
    return SlabbedMatrix(matrix.shape, matrix.ones, axis, (slab,), heaviest)


def cut(
    # As in `uncut`
    matrix: BooleanMatrix,
    weight_of_ones: float = 1.0,
    # Where to cut: 0, the lines at which another slab begins, and the number of lines
    edges: Sequence[int] | None = None,
    streamed_axis: int | None = None,
    # By which to choose the storage: that of the whole, where this is a part of it
    density: float | None = None,
) -> SlabbedMatrix:
    """Cut a matrix into slabs, choosing orientation and storage by its shape and density."""
    whole = uncut(matrix, weight_of_ones, streamed_axis)
    reweighed = whole.slabs[0].reweighed
    n_resident = whole.n_resident
    indptr, indices = matrix.lines(whole.streamed_axis)
    if edges is None:
        edges = worthwhile_edges(matrix, weight_of_ones, whole.streamed_axis)

    storage = _storage(storage_density(matrix) if density is None else density)
    if storage is ComplementSlab:
        indptr, indices = _complement(indptr, indices, n_resident, matrix.allocate)
    slabs = [
        storage(start, stop, n_resident, indptr, indices, matrix.allocate)
        for start, stop in pairwise(edges)
    ]
    for slab in slabs:
        for cells in reweighed:
            slab.reweigh(cells)
    return replace(whole, slabs=tuple(slabs))


def longer_side(shape: tuple[int, int]) -> int:
    """Return the axis that is streamed: 0 where there are more rows than columns."""
    return 0 if shape[0] > shape[1] else 1


def heaviest_weight(ones: int, weight_of_ones: float) -> float:
    """Return an upper bound of the weights of all cells."""
    return max(weight_of_ones, 1.0) if ones else 1.0


def worthwhile_edges(
    # As for `cut`
    matrix: BooleanMatrix,
    weight_of_ones: float = 1.0,
    streamed_axis: int | None = None,
    most: int = _MOST_SLABS,  # Slabs at most, where that is more than usual
) -> list[int]:
    """Return where to cut, for slabs of about equal work of which each is worth having."""
    axis = longer_side(matrix.shape) if streamed_axis is None else streamed_axis
    n_resident = matrix.shape[1 - axis]
    storage = _storage(storage_density(matrix))
    ones = matrix.starts(axis)
    work = _zeros_before(ones, n_resident) if storage is ComplementSlab else ones
    if weight_of_ones != 1:
        work = work + ones
    if matrix.n_missing:
        work = work + matrix.starts(axis, missing=True)
    count = min(storage.worthwhile(work, n_resident), _power_of_two(max(most, _MOST_SLABS)))
    return _boundaries(work, count)


def storage_density(matrix: Matrix) -> float:
    """Return the share of ones among all cells, by which the storage is chosen.

    Unlike the density of the data, it counts missing cells: they are stored beside the ones.
    """
    return matrix.ones / matrix.cells if matrix.cells else 0.0


def _storage(density: float) -> type[IndexSlab | ByteSlab]:
    """Return the cheapest storage."""
    if min(density, 1 - density) >= _BYTES_COST:
        return ByteSlab
    return ComplementSlab if density > 0.5 else IndexSlab


def _boundaries(indptr: NDArray[np.int64], count: int) -> list[int]:
    """Split the lines into runs of about equal work: their ones, and a little for each line."""
    lines = indptr.shape[0] - 1
    work = indptr + 4 * np.arange(lines + 1)
    goals = work[-1] * np.arange(1, count) // count
    edges: list[int] = np.unique(
        np.concatenate([[0], np.searchsorted(work, goals), [lines]])
    ).tolist()
    return edges


def _zeros_before(indptr: NDArray[np.int64], n_resident: int) -> NDArray[np.int64]:
    """Return how many zeros there are before each line."""
    return np.arange(indptr.shape[0], dtype=np.int64) * n_resident - indptr


def _complement(
    indptr: NDArray[np.int64],
    indices: NDArray[np.integer[Any]],
    n_resident: int,
    allocate: Allocate = np.zeros,
) -> tuple[NDArray[np.int64], NDArray[np.integer[Any]]]:
    """Return the pattern of the zeros, line by line."""
    lines = indptr.shape[0] - 1
    zeros_before = _zeros_before(indptr, n_resident)
    zeros = allocate((int(zeros_before[-1]) + PADDING,), indices.dtype)
    everything = np.ones(n_resident, dtype=np.bool_)
    for line in range(lines):
        ones = indices[indptr[line] : indptr[line + 1]]
        everything[ones] = False
        zeros[zeros_before[line] : zeros_before[line + 1]] = np.flatnonzero(everything)
        everything[ones] = True
    return zeros_before, zeros
