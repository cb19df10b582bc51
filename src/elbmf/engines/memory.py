"""Slabs in memory, visited by a pool of threads."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from elbmf.engines.base import Engine, visit
from elbmf.slabs import SlabbedMatrix
from elbmf.step import Factor, HalfStep, Summary
from elbmf.threads import available_cores

__all__ = ["MemoryEngine"]

Floats = NDArray[np.floating[Any]]
T = TypeVar("T")

# Rows of the partial sums that are added up at once: small enough to spread over the threads.
_ROWS_ADDED = 2048


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
        n_jobs = min(n_jobs or available_cores(), len(matrix.slabs))
        # Linear algebra inside a slab stays on the slab's own thread.
        self._blas_limit = threadpool_limits(limits=1, user_api="blas")
        self._pool = ThreadPoolExecutor(n_jobs) if n_jobs > 1 else None

    def load(self, streamed: Factor) -> None:  # noqa: D102
        self._factor = streamed
        shape = (len(self.matrix.slabs), self.matrix.n_resident, streamed.current.shape[1])
        self._products = np.empty(shape, dtype=streamed.current.dtype)

    def run(self, function: Callable[..., T], *arguments: Iterable[Any]) -> Iterable[T]:
        """Map over the threads of the pool."""
        return (self._pool.map if self._pool else map)(function, *arguments)

    def sweep(self, resident: Floats, step: HalfStep | None) -> tuple[Floats, Summary]:  # noqa: D102
        summaries = list(
            self.run(
                lambda slab, product: visit(slab, self._factor, resident, step, product),
                self.matrix.slabs,
                self._products,
            )
        )
        if len(summaries) > 1:
            list(self.run(self._add_products, range(0, self.matrix.n_resident, _ROWS_ADDED)))
        return self._products[0], reduce(add, summaries)

    def _add_products(self, start: int) -> None:
        """Add the partial sums of all slabs for some resident rows, in the order of the slabs."""
        rows = slice(start, start + _ROWS_ADDED)
        total = self._products[0, rows]
        for product in self._products[1:]:
            total += product[rows]

    def streamed(self) -> Floats:  # noqa: D102
        return self._factor.values

    def close(self) -> None:  # noqa: D102
        if self._pool:
            self._pool.shutdown()
        self._blas_limit.restore_original_limits()
