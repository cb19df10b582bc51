"""What is done with a slab on a worker while the factors are relaxed, from epoch to epoch."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import iadd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.relaxation.engines.base import Product, visit
from elbmf.relaxation.engines.buffers import Pool
from elbmf.relaxation.engines.cluster.holder import HeldSlab
from elbmf.relaxation.half_step import Factor, HalfStep, Iterate, Summary
from elbmf.relaxation.slabs import Slab, cut

__all__ = ["Relaxed", "Visited", "add_visits", "apply", "begin", "excess_loss", "rows", "sweep"]

Floats = NDArray[np.floating[Any]]

_POOL = "pool"


@dataclass
class Visited:
    """What a sweep hands back: of a slab, or of several."""

    product: Product  # Of the data and the streamed factor
    summary: Summary  # Of the streamed factor
    pool: Pool | None = None  # Where the product is from; not on another machine

    def __reduce__(self) -> tuple[Any, ...]:
        return Visited, (self.product, self.summary)


@dataclass
class Relaxed:
    """A slab and its rows of the streamed factor."""

    slab: Slab
    factor: Factor

    def copies(self) -> tuple[Callable[[HeldSlab, Any], None], Any]:
        """Return how to bring a slab to this state, and from what."""
        parts = (self.factor.current, self.factor.previous)
        return _put_back, tuple(None if part is None else part.copy() for part in parts)


def _put_back(held: HeldSlab, values: tuple[Floats, Floats | None]) -> None:
    factor = held.work.factor
    factor.current[:] = values[0]
    if factor.previous is not None:
        factor.previous[:] = values[1]


def begin(
    held: HeldSlab,
    weight_of_ones: float,  # ω
    density: float,  # Of the whole matrix, by which the storage is chosen
    dtype: Any,
    inertia: bool,  # Keep the last iterate but one
    start: Iterate,  # Where the streamed factor starts from
    own: slice,  # The rows of this slab in it
) -> None:
    """Make a slab and the rows of its factor."""
    edges = (0, held.piece.shape[0])
    (slab,) = cut(held.piece, weight_of_ones, edges, 0, density).slabs
    held.work = Relaxed(slab, Factor(start, dtype, inertia, rows=own))
    held.shared[_POOL] = Pool()


def sweep(
    held: HeldSlab,
    number: int,  # Tells one sweep from another
    # As for `Engine.sweep`
    resident: Floats,
    ahead: Floats | None,
    step: HalfStep | None,
    residual: bool,  # Whether there are reweighed cells, in any slab
) -> Visited:
    """Visit a slab."""
    slab, pool = held.work.slab, held.shared[_POOL]
    product, workspace = pool.product(number, resident, residual), pool.workspace(slab, resident)
    point = resident if ahead is None else ahead
    summary = visit(slab, held.work.factor, resident, point, step, product, workspace)
    pool.free_workspace(workspace)
    return Visited(product, summary, pool)


def add_visits(first: Visited, second: Visited) -> Visited:
    """Add up two results of `sweep`, into the first."""
    total = Visited(iadd(first.product, second.product), first.summary + second.summary, first.pool)
    if second.pool is not None:
        second.pool.free(second.product)
    return total


def excess_loss(held: HeldSlab, resident: Floats) -> float:
    """As `Slab.excess_loss`."""
    return float(held.work.slab.excess_loss(resident, held.work.factor.current))


def apply(held: HeldSlab, function: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
    """Apply a function to the rows of the factor."""
    return function(held.work.factor.values)


def rows(held: HeldSlab, which: str, own: slice) -> Floats:
    """Return some rows of an iterate, ``"current"`` or ``"previous"``."""
    found: Floats = getattr(held.work.factor.iterate, which)[own]
    return np.ascontiguousarray(found)
