"""Slabs on disk, visited by a pool of threads that read ahead and forget what is behind them.

The streamed factor lives on disk as well. What is in memory at a time is the resident factor, a few
products, and the slabs that are being visited or will be next.
"""

from collections.abc import Callable
from operator import add, iadd
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from elbmf.matrix.on_disk import PagedMatrix
from elbmf.matrix.paging import expect, forget
from elbmf.matrix.protocol import Matrix
from elbmf.relaxation.engines.base import Engine, Product, TreeSum, Where, visit
from elbmf.relaxation.engines.buffers import Pool
from elbmf.relaxation.engines.memory import MemoryEngine
from elbmf.relaxation.half_step import Factor, HalfStep, Iterate, Summary
from elbmf.relaxation.slabs import Slab, cut

__all__ = ["DiskEngine"]

Floats = NDArray[np.floating[Any]]


class DiskEngine(MemoryEngine):
    """Visits slabs that are mapped from files; gives the same bits as the engine in memory."""

    priority = 1

    def __init__(
        self,
        A: PagedMatrix,
        weight_of_ones: float = 1.0,  # ω, what a one weighs in the loss where a zero weighs 1
        n_jobs: int | None = None,  # Threads. All cores by default.
    ) -> None:
        super().__init__(cut(A, weight_of_ones), n_jobs)
        self._allocate = A.allocate

    @classmethod
    def suits(cls, A: Matrix, where: Where) -> bool:  # noqa: D102
        return where.device is None and isinstance(A, PagedMatrix)

    @classmethod
    def of(cls, A: Any, weight_of_ones: float, where: Where) -> Self:  # noqa: D102
        return cls(A, weight_of_ones, where.n_jobs)

    def load(self, resident: Factor, streamed: Iterate) -> None:  # noqa: D102
        Engine.load(self, resident, streamed)
        number = resident.current.dtype
        inertia = resident.previous is not None
        self._factor = Factor(streamed, number, inertia, self._allocate)
        self._pool, self._sweeps = Pool(), 0

    def sweep(  # noqa: D102
        self, resident: Floats, step: HalfStep | None, ahead: Floats | None = None
    ) -> tuple[Product, Summary]:
        point = resident if ahead is None else ahead
        slabs = self.matrix.slabs
        products = TreeSum(len(slabs), self._add)
        summaries: TreeSum[Summary] = TreeSum(len(slabs), add)
        self._sweeps += 1

        def work(position: int) -> None:
            slab = slabs[position]
            for later in slabs[position + self._threads : position + self._threads + 1]:
                for array in self._read_by(later):
                    expect(array)
            product = self._pool.product(self._sweeps, resident, self.matrix.reweighed)
            workspace = self._pool.workspace(slab, resident)
            summary = visit(slab, self._factor, resident, point, step, product, workspace)
            self._pool.free_workspace(workspace)
            for array in self._read_by(slab):
                forget(array)
            products.put(position, product)
            summaries.put(position, summary)

        self.run(work, range(len(slabs)))
        return products.total, summaries.total

    def collect(self, function: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:  # noqa: D102
        def work(slab: Slab) -> NDArray[Any]:
            result = function(self._factor.values[slab.start : slab.stop])
            for array in self._factor_rows(slab):
                forget(array)
            return result

        return np.concatenate(self.run(work, self.matrix.slabs))

    def _read_by(self, slab: Slab) -> list[NDArray[Any]]:
        """Return the mapped arrays that the visit of a slab reads or writes."""
        return [*slab.arrays, *self._factor_rows(slab)]

    def _factor_rows(self, slab: Slab) -> list[Floats]:
        factor = self._factor
        parts = [factor.current] if factor.previous is None else [factor.current, factor.previous]
        return [part[slab.start : slab.stop] for part in parts]

    def _add(self, product: Product, other: Product) -> Product:
        product = iadd(product, other)
        self._pool.free(other)
        return product
