"""What a sweep adds up, and memory for it that is used again in every epoch."""

from dataclasses import dataclass
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from elbmf.relaxation.kernels.half_step import inner
from elbmf.relaxation.slabs import Slab
from elbmf.utils.aligned import aligned_empty

__all__ = ["Pool", "Product", "Workspace"]

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Product:
    """What the resident factor is updated from, one row for each of its rows.

    Parameters
    ----------
    plain : ndarray of shape (resident, k)
        Q, the data times the streamed factor.
    residual : ndarray of shape (resident, k), optional
        What the reweighed cells add to it; None when there are none.
    """

    plain: Floats
    residual: Floats | None = None

    @property
    def parts(self) -> tuple[Floats, ...]:
        """The arrays that make up the product by their sum."""
        return (self.plain,) if self.residual is None else (self.plain, self.residual)

    def rescale(self, scale: Floats) -> None:
        """Multiply each column, in place."""
        for part in self.parts:
            part *= scale

    def __iadd__(self, other: "Product") -> Self:
        for part, others in zip(self.parts, other.parts, strict=True):
            part += others
        return self

    def overlap(self, resident: Floats) -> float:
        """Return ⟨A, UV⟩ = ⟨Q, X⟩, X being the resident factor; here every cell weighs 1."""
        return inner(self.plain.ravel(), resident.ravel())


class Workspace:
    """Memory that is used again in every epoch: fresh memory costs more than the sums in it."""

    def __init__(
        self,
        rows: int,  # Rows that are worked on at once, at most
        like: Floats,  # A factor, for its width and number type
    ) -> None:
        self.rows = rows
        shape = (rows, like.shape[1])
        self._product = aligned_empty(shape, like.dtype)
        self._scratch = [aligned_empty(shape, like.dtype) for _ in range(2)]

    def product(self, rows: int) -> Floats:
        """Room for the product of some rows with the data."""
        return self._product[:rows]

    def scratch(self, rows: int) -> tuple[Floats, Floats]:
        """Room for the two arrays that a half-step computes on its way."""
        first, second = self._scratch
        return first[:rows], second[:rows]


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
