"""A slab, as an engine sees it: a run of lines of the streamed side.

All this is for f = ½‖A − UV‖², in which every cell weighs 1. Some may weigh w instead: ones that
matter more than zeros, missing cells that matter not at all. The gradient at Z is then that of f
less (w − 1)(a − p)·r for each such cell, p being its entry of the product at Z and r its row of the
other factor. So the plain products stay as they are, and what these *reweighed* cells add to them
costs what these cells cost.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.residuals import pull_residuals, push_residuals, squared_residuals

__all__ = ["Reweighed", "Slab"]

Floats = NDArray[np.floating[Any]]

# A block's buffers should stay in the second-level cache: this many numbers each.
_NUMBERS_IN_BLOCK = 1 << 17


@dataclass(frozen=True)
class Reweighed:
    """Cells that weigh more or less than 1.

    Parameters
    ----------
    indptr : ndarray of int64
        Where each line starts in ``indices``.
    indices : ndarray of integers
        The resident rows of the cells.
    value : int
        What the plain storage holds there: 1 for ones, 0 for missing cells.
    excess : float
        w − 1, their weight less that of all other cells.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.integer[Any]]
    value: int
    excess: float


class Slab(ABC):
    """A run of lines of the streamed side.

    Parameters
    ----------
    start, stop : int
        The lines of the whole matrix that this slab holds.
    n_resident : int
        Length of the resident side.
    """

    def __init__(self, start: int, stop: int, n_resident: int) -> None:
        self.start = start
        self.stop = stop
        self.n_resident = n_resident
        self.reweighed: tuple[Reweighed, ...] = ()

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
