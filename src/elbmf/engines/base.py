"""The contract of an engine, and what it does with one slab: pull, step, push.

An engine owns the streamed factor. In one pass over the data it updates that factor and returns
the sums from which the resident factor is updated: Q, the product of the data with the streamed
factor, and H, the streamed factor's Gram matrix.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbmf.slabs import Slab, SlabbedMatrix
from elbmf.step import Factor, HalfStep, Tally

__all__ = ["Engine", "Sums", "sum_in_order", "visit"]

Floats = NDArray[np.floating[Any]]
T = TypeVar("T")


@dataclass
class Sums:
    """What a pass over the data, or over one slab, adds up.

    Parameters
    ----------
    product : ndarray of shape (resident, k)
        Q: the data times the streamed factor.
    gram : ndarray of shape (k, k)
        H: the streamed factor's Gram matrix.
    tally : Tally
        Boolean gap and flips of the streamed factor.
    """

    product: Floats
    gram: NDArray[np.float64]
    tally: Tally


# Rows of the resident factor that are worked on at once.
_RESIDENT_ROWS = 2048


class Engine(ABC):
    """Runs passes over a slabbed matrix.

    Parameters
    ----------
    matrix : SlabbedMatrix
        The data.
    """

    def __init__(self, matrix: SlabbedMatrix) -> None:
        self.matrix = matrix

    @abstractmethod
    def load(self, streamed: Factor) -> None:
        """Take over the streamed factor."""

    @abstractmethod
    def sweep(self, resident: Floats, step: HalfStep | None) -> Sums:
        """Visit every slab once and add up what they return, in the order of the slabs.

        Parameters
        ----------
        resident : ndarray of shape (resident, k)
            The resident factor.
        step : HalfStep or None
            The update of the streamed factor; None leaves it as it is.
        """

    def advance(
        self, resident: Factor, step: HalfStep | None, sums: Sums | None
    ) -> tuple[Tally, NDArray[np.float64]]:
        """Update the resident factor from the sums of a pass.

        Parameters
        ----------
        resident : Factor
            Updated in place.
        step : HalfStep or None
            The update; None leaves the factor as it is.
        sums : Sums or None
            Where its product with the data is; kept as it is. None when there is no step.

        Returns
        -------
        tally : Tally
            Boolean gap and flips of the resident factor.
        gram : ndarray of shape (k, k)
            Its Gram matrix.
        """

        def work(start: int) -> tuple[Tally, NDArray[np.float64]]:
            rows = slice(start, start + _RESIDENT_ROWS)
            tally = Tally()
            if step is not None and sums is not None:
                tally = step.apply(resident, rows, sums.product[rows].copy())
            values = resident.current[rows]
            return tally, (values.T @ values).astype(np.float64)

        parts = list(self.run(work, range(0, self.matrix.n_resident, _RESIDENT_ROWS)))
        return Tally.total(tally for tally, _ in parts), sum_in_order(gram for _, gram in parts)

    def run(self, function: Callable[..., T], *arguments: Iterable[Any]) -> Iterable[T]:
        """Map ``function`` over the arguments, in parallel where the engine can."""
        return map(function, *arguments)

    @abstractmethod
    def streamed(self) -> Floats:
        """Return the streamed factor, of shape (streamed, k)."""

    @abstractmethod
    def close(self) -> None:
        """Release what the engine holds."""

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def visit(
    slab: Slab, factor: Factor, resident: Floats, step: HalfStep | None, product: Floats
) -> Sums:
    """Pull, step, push: update the lines of one slab and add up what they give back.

    Parameters
    ----------
    slab : Slab
        The data.
    factor : Factor
        The streamed factor; its rows ``slab.start`` to ``slab.stop`` are updated in place.
    resident : ndarray
        The resident factor.
    step : HalfStep or None
        The update; None leaves the lines as they are.
    product : ndarray of shape (resident, k)
        Where to add up Q; overwritten.
    """
    product[:] = 0
    width = resident.shape[1]
    gram = np.zeros((width, width))
    gap, flips = 0.0, 0
    for low, high in slab.blocks(width):
        rows = slice(slab.start + low, slab.start + high)
        if step is not None:
            tally = step.apply(factor, rows, slab.pull(resident, low, high))
            gap += tally.gap
            flips += tally.flips
        lines = factor.current[rows]
        slab.push(lines, low, high, product)
        gram += lines.T @ lines
    return Sums(product, gram, Tally(gap, flips))


def sum_in_order(parts: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Add arrays one after the other, so that the result has one fixed rounding."""
    return reduce(add, parts)
