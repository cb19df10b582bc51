"""Slabs in memory, visited by a pool of threads."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from operator import add
from threading import Lock
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines.base import Engine, Product, TreeSum, Where, Workspace, merges, visit
from elbmf.relaxation.half_step import Factor, HalfStep, Iterate, Summary
from elbmf.relaxation.slabs import SlabbedMatrix, cut
from elbmf.utils.aligned import aligned_empty
from elbmf.utils.threads import SingleThreadedBlas, available_cores

__all__ = ["MemoryEngine"]

Floats = NDArray[np.floating[Any]]
T = TypeVar("T")


class MemoryEngine(Engine):
    """Visits the slabs with several threads; the result does not depend on how many.

    Parameters
    ----------
    matrix : SlabbedMatrix
        The data.
    n_jobs : int, optional
        Threads. All cores by default.
    """

    def __init__(self, matrix: SlabbedMatrix, n_jobs: int | None = None) -> None:
        super().__init__(matrix)
        self._threads = min(n_jobs or available_cores(), len(matrix.slabs))
        self._helpers = ThreadPoolExecutor(self._threads - 1) if self._threads > 1 else None
        # Linear algebra inside a slab stays on the slab's own thread.
        self._blas = SingleThreadedBlas()

    @classmethod
    def suits(cls, A: Any, where: Where) -> bool:  # noqa: D102
        return isinstance(A, BooleanMatrix)

    @classmethod
    def of(cls, A: Any, weight_of_ones: float, where: Where) -> Self:  # noqa: D102
        return cls(cut(A, weight_of_ones), where.n_jobs)

    def load(self, resident: Factor, streamed: Iterate) -> None:  # noqa: D102
        super().load(resident, streamed)
        number = resident.current.dtype
        self._factor = Factor(streamed, number, inertia=resident.previous is not None)
        width = self._factor.current.shape[1]
        slabs = self.matrix.slabs
        shape = (self.matrix.n_resident, width)
        self._products = [
            Product(*(aligned_empty(shape, number) for _ in range(1 + self.matrix.reweighed)))
            for _ in slabs
        ]
        self._workspaces = [
            Workspace(slab.lines_at_once(width), self._factor.current) for slab in slabs
        ]

    def run(self, function: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
        """Map over the threads, this one among them; each takes the next item when it is free."""
        items = list(zip(*arguments, strict=True))
        if self._helpers is None or len(items) == 1:
            return [function(*item) for item in items]
        results: list[Any] = [None] * len(items)
        positions = iter(range(len(items)))
        lock = Lock()

        def work() -> None:
            while True:
                with lock:
                    position = next(positions, None)
                if position is None:
                    return
                results[position] = function(*items[position])

        helping = [self._helpers.submit(work) for _ in range(min(self._threads, len(items)) - 1)]
        try:
            work()
        finally:
            for future in helping:
                future.result()
        return results

    def sweep(  # noqa: D102
        self, resident: Floats, step: HalfStep | None, ahead: Floats | None = None
    ) -> tuple[Product, Summary]:
        point = resident if ahead is None else ahead
        summaries = self.run(
            lambda *own: visit(own[0], self._factor, resident, point, step, *own[1:]),
            self.matrix.slabs,
            self._products,
            self._workspaces,
        )
        if len(summaries) > 1:
            at_once = self._resident_rows_at_once
            self.run(self._add_products, range(0, self.matrix.n_resident, at_once))
        summary = TreeSum(len(summaries), add)
        for position, own in enumerate(summaries):
            summary.put(position, own)
        return self._products[0], summary.total

    def _add_products(self, start: int) -> None:
        """Add the products of all slabs, into the first, for some resident rows."""
        rows = slice(start, start + self._resident_rows_at_once)
        for parts in zip(*(product.parts for product in self._products), strict=True):
            for into, other in merges(len(parts)):
                parts[into][rows] += parts[other][rows]

    def excess_loss(self, resident: Floats) -> float:  # noqa: D102
        if not self.matrix.reweighed:
            return 0.0
        lines = self._factor.current
        return sum(
            self.run(
                lambda slab: slab.excess_loss(resident, lines[slab.start : slab.stop]),
                self.matrix.slabs,
            )
        )

    def collect(self, function: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:  # noqa: D102
        return function(self._factor.values)

    @property
    def iterate(self) -> Iterate:  # noqa: D102
        return self._factor.iterate

    def close(self) -> None:  # noqa: D102
        if self._helpers:
            self._helpers.shutdown()
        self._blas.release()
