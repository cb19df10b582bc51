"""Slabs in memory, visited by a pool of threads."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbmf.arrays import aligned_empty
from elbmf.engines.base import Engine, Workspace, visit
from elbmf.slabs import SlabbedMatrix
from elbmf.step import Factor, HalfStep, Summary
from elbmf.threads import SingleThreadedBlas, available_cores

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

    def load(self, resident: Factor, streamed: Factor) -> None:  # noqa: D102
        super().load(resident, streamed)
        self._factor = streamed
        width, number = streamed.current.shape[1], streamed.current.dtype
        slabs = self.matrix.slabs
        self._sums = aligned_empty((len(slabs), self.matrix.n_resident, width), number)
        self._workspaces = [
            Workspace(slab.lines_at_once(width), streamed.current) for slab in slabs
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

    def sweep(self, resident: Floats, step: HalfStep | None) -> tuple[Floats, Summary]:  # noqa: D102
        summaries = self.run(
            lambda *own: visit(own[0], self._factor, resident, step, *own[1:]),
            self.matrix.slabs,
            self._sums,
            self._workspaces,
        )
        if len(summaries) > 1:
            at_once = self._resident_rows_at_once
            self.run(self._add_sums, range(0, self.matrix.n_resident, at_once))
        return self._sums[0], reduce(add, summaries)

    def _add_sums(self, start: int) -> None:
        """Add the sums of all slabs for some resident rows, in the order of the slabs."""
        rows = slice(start, start + self._resident_rows_at_once)
        total = self._sums[0, rows]
        for sums in self._sums[1:]:
            total += sums[rows]

    def streamed(self) -> Floats:  # noqa: D102
        return self._factor.values

    def close(self) -> None:  # noqa: D102
        if self._helpers:
            self._helpers.shutdown()
        self._blas.release()
