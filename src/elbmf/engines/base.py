"""The contract of an engine, and what it does with one slab: pull, step, push.

An engine owns the streamed factor. In one pass over the data it updates that factor and returns
what the resident factor is updated from: Q, the product of the data with the streamed factor, and
a summary of the streamed factor with its Gram matrix H.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbmf.slabs import Slab, SlabbedMatrix
from elbmf.step import Factor, HalfStep, Summary, Tally

__all__ = ["Engine", "visit"]

Floats = NDArray[np.floating[Any]]
T = TypeVar("T")


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
    def sweep(self, resident: Floats, step: HalfStep | None) -> tuple[Floats, Summary]:
        """Visit every slab once and add up what they return, in the order of the slabs.

        Parameters
        ----------
        resident : ndarray of shape (resident, k)
            The resident factor.
        step : HalfStep or None
            The update of the streamed factor; None leaves it as it is.

        Returns
        -------
        product : ndarray of shape (resident, k)
            Q, the data times the streamed factor; the next sweep overwrites it.
        summary : Summary
            Of the streamed factor.
        """

    def advance(self, resident: Factor, step: HalfStep | None, product: Floats | None) -> Summary:
        """Update the resident factor.

        Parameters
        ----------
        resident : Factor
            Updated in place.
        step : HalfStep or None
            The update; None leaves the factor as it is.
        product : ndarray or None
            Q, its product with the data; kept as it is. None when there is no step.
        """

        def work(start: int) -> Summary:
            rows = slice(start, start + _RESIDENT_ROWS)
            tally = Tally()
            if step is not None and product is not None:
                tally = step.apply(resident, rows, product[rows].copy())
            return Summary.of(resident.current[rows], tally)

        return reduce(add, self.run(work, range(0, self.matrix.n_resident, _RESIDENT_ROWS)))

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
) -> Summary:
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

    Returns
    -------
    Summary
        Of the lines of this slab.
    """
    product[:] = 0
    summaries = []
    for low, high in slab.blocks(resident.shape[1]):
        rows = slice(slab.start + low, slab.start + high)
        tally = Tally()
        if step is not None:
            tally = step.apply(factor, rows, slab.pull(resident, low, high))
        lines = factor.current[rows]
        slab.push(lines, low, high, product)
        summaries.append(Summary.of(lines, tally))
    return reduce(add, summaries)
