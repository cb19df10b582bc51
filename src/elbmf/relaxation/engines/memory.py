"""Slabs in memory, visited by a pool of threads."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from elbmf.matrix.protocol import Matrix
from elbmf.relaxation.engines.base import SlabEngine, Where
from elbmf.relaxation.slabs import SlabbedMatrix
from elbmf.utils.threads import SingleThreadedBlas, available_cores

__all__ = ["MemoryEngine"]

T = TypeVar("T")


class MemoryEngine(SlabEngine):
    """Visits the slabs with several threads; the result does not depend on how many.

    Parameters
    ----------
    matrix : SlabbedMatrix
        The data.
    n_jobs : int, optional
        Threads. All cores by default.
    """

    priority = 0

    def __init__(self, matrix: SlabbedMatrix, n_jobs: int | None = None) -> None:
        super().__init__(matrix)
        self._threads = min(n_jobs or available_cores(), len(matrix.slabs))
        self._helpers = ThreadPoolExecutor(self._threads - 1) if self._threads > 1 else None
        # Linear algebra inside a slab stays on the slab's own thread.
        self._blas = SingleThreadedBlas()

    @classmethod
    def suits(cls, A: Matrix, where: Where) -> bool:  # noqa: D102
        return where.device is None and A.in_one_place

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

    def close(self) -> None:  # noqa: D102
        if self._helpers:
            self._helpers.shutdown()
        self._blas.release()
