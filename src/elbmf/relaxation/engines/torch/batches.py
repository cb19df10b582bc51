"""Batches of lines, as they are moved to a device."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
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


@dataclass
class Cells:
    """Some cells of the whole matrix, listed line by line."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.integer[Any]]
    n_resident: int  # Length of the resident side
    # Makes an array of zeros, of a shape and a type
    _allocate: Callable[[tuple[int, ...], Any], NDArray[Any]]

    @property
    def dense(self) -> bool:
        """Whether the whole matrix takes less than its cells in lists."""
        lines = self.indptr.shape[0] - 1
        return bool(self.indptr[-1] >= _DENSE * lines * self.n_resident)

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


@dataclass
class Batch:
    """A run of lines that are worked on at once; of the resident side likewise."""

    start: int
    stop: int
    # The cells of these lines, by their value, ready to be moved
    taken: dict[int, tuple[NDArray[Any], ...]] | None = None
    held: "dict[int, Storage] | None" = None  # The same on the device, where they stay there

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
    cells: Collection[Cells],  # All that a batch consists of
    sizes: NDArray[np.int64],  # How many bytes the lines before each line take
    at_once: int,  # Lines of a batch at most
    # Bytes of a batch at most, unless that is less than a line; None for no limit
    limit: int | None,
) -> list[Batch]:
    """Cut the lines into batches."""
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
