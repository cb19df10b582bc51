"""What is done with a slab on a worker while the factors are relaxed, from epoch to epoch."""

from collections.abc import Callable
from operator import iadd
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.relaxation.engines.base import Product, Workspace, visit
from elbmf.relaxation.engines.cluster.hold import Held
from elbmf.relaxation.half_step import Factor, HalfStep, Iterate, Summary
from elbmf.relaxation.slabs import Slab, cut
from elbmf.utils.aligned import aligned_empty

__all__ = ["Relaxed", "Visited", "add_visits", "apply", "begin", "excess_loss", "rows", "sweep"]

Floats = NDArray[np.floating[Any]]

_POOL = "pool"


class Pool:
    """Memory for the products and the work of a sweep, used again in every sweep.

    There are as many products as are in use at a time: by the slabs that are visited, and by sums
    that wait for others. All are free when another sweep begins, for what the last one handed back
    has been taken in then.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._sweep = -1
        self._products: list[Product] = []
        self._free: list[Product] = []
        self._workspaces: list[Workspace] = []

    def product(self, number: int, like: Floats, residual: bool) -> Product:
        """Lend a product for a sweep."""
        with self._lock:
            if number != self._sweep:
                self._sweep, self._free = number, self._products.copy()
            if self._free:
                return self._free.pop()
            parts = (aligned_empty(like.shape, like.dtype) for _ in range(1 + residual))
            self._products.append(Product(*parts))
            return self._products[-1]

    def workspace(self, slab: Slab, like: Floats) -> Workspace:
        """Lend room for a slab."""
        with self._lock:
            for position, workspace in enumerate(self._workspaces):
                if workspace.rows >= slab.lines_at_once(like.shape[1]):
                    return self._workspaces.pop(position)
        return Workspace(slab.lines_at_once(like.shape[1]), like)

    def free(self, product: Product) -> None:
        """Take back a product."""
        with self._lock:
            self._free.append(product)

    def free_workspace(self, workspace: Workspace) -> None:
        """Take back room."""
        with self._lock:
            self._workspaces.append(workspace)


class Visited:
    """What a sweep hands back: of a slab, or of several.

    Parameters
    ----------
    product : Product
        Of the data and the streamed factor.
    summary : Summary
        Of the streamed factor.
    pool : Pool, optional
        Where the product is from; not on another machine.
    """

    def __init__(self, product: Product, summary: Summary, pool: Pool | None = None) -> None:
        self.product = product
        self.summary = summary
        self.pool = pool

    def __reduce__(self) -> tuple[Any, ...]:
        return Visited, (self.product, self.summary)


class Relaxed:
    """A slab and its rows of the streamed factor.

    Parameters
    ----------
    slab : Slab
        The data.
    factor : Factor
        Its rows.
    """

    def __init__(self, slab: Slab, factor: Factor) -> None:
        self.slab = slab
        self.factor = factor

    def copies(self) -> tuple[Callable[[Held, Any], None], Any]:
        """Return how to bring a slab to this state, and from what."""
        parts = (self.factor.current, self.factor.previous)
        return _put_back, tuple(None if part is None else part.copy() for part in parts)


def _put_back(held: Held, values: tuple[Floats, Floats | None]) -> None:
    factor = held.work.factor
    factor.current[:] = values[0]
    if factor.previous is not None:
        factor.previous[:] = values[1]


def begin(
    held: Held,
    weight_of_ones: float,
    density: float,
    dtype: Any,
    inertia: bool,
    start: Iterate,
    own: slice,
) -> None:
    """Make a slab and the rows of its factor.

    Parameters
    ----------
    held : Held
        The data.
    weight_of_ones : float
        ω.
    density : float
        Of the whole matrix, by which the storage is chosen.
    dtype : dtype
        float32 or float64.
    inertia : bool
        Keep the last iterate but one.
    start : Iterate
        Where the streamed factor starts from.
    own : slice
        The rows of this slab in it.
    """
    edges = (0, held.piece.shape[0])
    (slab,) = cut(held.piece, weight_of_ones, edges, 0, density).slabs
    held.work = Relaxed(slab, Factor(start, dtype, inertia, rows=own))
    held.shared[_POOL] = Pool()


def sweep(
    held: Held,
    number: int,
    resident: Floats,
    ahead: Floats | None,
    step: HalfStep | None,
    residual: bool,
) -> Visited:
    """Visit a slab.

    Parameters
    ----------
    held : Held
        The slab.
    number : int
        Tells one sweep from another.
    resident, ahead, step
        As for `Engine.sweep`.
    residual : bool
        Whether there are reweighed cells, in any slab.
    """
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


def excess_loss(held: Held, resident: Floats) -> float:
    """As `Slab.excess_loss`."""
    return float(held.work.slab.excess_loss(resident, held.work.factor.current))


def apply(held: Held, function: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
    """Apply a function to the rows of the factor."""
    return function(held.work.factor.values)


def rows(held: Held, which: str, own: slice) -> Floats:
    """Return some rows of an iterate, ``"current"`` or ``"previous"``."""
    found: Floats = getattr(held.work.factor.iterate, which)[own]
    return np.ascontiguousarray(found)
