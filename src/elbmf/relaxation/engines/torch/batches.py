"""Batches of lines, as they are moved to a device."""

from collections.abc import Callable, Collection
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.patterns import transpose_pattern

if TYPE_CHECKING:
    from elbmf.relaxation.engines.torch.cells import Storage

__all__ = ["Batch", "Cells", "batches"]

# Lists of both sides take no less memory than a whole matrix of float32 from this density on, and
# no less time either.
_DENSE = 0.5

# Bytes of a listed cell: an index for its line and one for its resident row.
_LISTED = 8

# Positions in a batch have to fit 32 bits.
_MOST_CELLS = 1 << 30


class Cells:
    """Some cells of the whole matrix, listed line by line.

    Parameters
    ----------
    indptr, indices : ndarray
        Their pattern.
    n_resident : int
        Length of the resident side.
    allocate : callable
        Makes an array of zeros, of a shape and a type.
    """

    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.integer[Any]],
        n_resident: int,
        allocate: Callable[[tuple[int, ...], Any], NDArray[Any]],
    ) -> None:
        self.indptr = indptr
        self.indices = indices
        self.n_resident = n_resident
        self._allocate = allocate
        lines = indptr.shape[0] - 1
        self.dense = bool(indptr[-1] >= _DENSE * lines * n_resident)

    def sizes(self, itemsize: int) -> NDArray[np.int64]:
        """Return how many bytes on a device the cells up to each line take."""
        if self.dense:
            return np.arange(self.indptr.shape[0]) * self.n_resident * itemsize
        return self.indptr * _LISTED

    def take(self, start: int, stop: int) -> tuple[NDArray[Any], ...]:
        """Return the cells of some lines, as they are moved to a device."""
        indptr = self.indptr[start : stop + 1]
        indices = self.indices[indptr[0] : indptr[-1]]
        if self.dense:
            grid = self._allocate((stop - start, self.n_resident), np.uint8)
            grid[np.repeat(np.arange(stop - start), np.diff(indptr)), indices] = 1
            return (grid,)
        rows, lines = (self._allocate(indices.shape, np.int32) for _ in range(2))
        rows[:] = indices
        counts = np.bincount(rows, minlength=self.n_resident)
        starts = np.concatenate([[0], np.cumsum(counts)])
        transpose_pattern(indptr, self.indices, starts[:-1].copy(), lines)
        return (indptr - indptr[0]).astype(np.int32), rows, starts.astype(np.int32), lines


class Batch:
    """A run of lines that are worked on at once; of the resident side likewise.

    Parameters
    ----------
    start, stop : int
        Which lines.

    Attributes
    ----------
    taken : dict of int to tuple of ndarray, or None
        The cells of these lines, by their value, ready to be moved.
    held : dict of int to Storage, or None
        The same on the device, where they stay there.
    """

    def __init__(self, start: int, stop: int) -> None:
        self.start = start
        self.stop = stop
        self.taken: dict[int, tuple[NDArray[Any], ...]] | None = None
        self.held: dict[int, Storage] | None = None

    @property
    def rows(self) -> slice:
        """The same lines, as rows of a factor."""
        return slice(self.start, self.stop)

    def halves(self) -> "list[Batch]":
        """Return two batches in place of this one, or itself if it has but one line."""
        middle = (self.start + self.stop) // 2
        if middle == self.start:
            return [self]
        return [Batch(self.start, middle), Batch(middle, self.stop)]


def batches(
    cells: Collection[Cells], sizes: NDArray[np.int64], at_once: int, limit: int | None
) -> list[Batch]:
    """Cut the lines into batches.

    Parameters
    ----------
    cells : collection of Cells
        All that a batch consists of.
    sizes : ndarray
        How many bytes the lines before each line take.
    at_once : int
        Lines of a batch at most.
    limit : int or None
        Bytes of a batch at most, unless that is less than a line; None for no limit.
    """
    edges = [0]
    lines = sizes.shape[0] - 1
    while edges[-1] < lines:
        start = edges[-1]
        stops = [start + at_once, lines]
        stops += [_last_within(own.indptr, start, _MOST_CELLS) for own in cells]
        if limit is not None:
            stops.append(_last_within(sizes, start, limit))
        edges.append(max(min(stops), start + 1))
    return [Batch(*edge) for edge in pairwise(edges)]


def _last_within(sizes: NDArray[np.int64], start: int, limit: int) -> int:
    """Return the last line up to which all lines from ``start`` on are within a limit."""
    return int(np.searchsorted(sizes, sizes[start] + limit, side="right")) - 1
