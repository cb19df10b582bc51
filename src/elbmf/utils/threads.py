"""Running compiled kernels, which release the GIL, in several threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

__all__ = ["SingleThreadedBlas", "available_cores", "over_ranges"]

T = TypeVar("T")


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def over_ranges(
    function: Callable[[int, int], T], length: int, n_jobs: int | None = None
) -> list[T]:
    """Call ``function(low, high)`` on ranges that make up ``range(length)``, in several threads.

    Only for results that do not depend on where the ranges are cut. All cores are used by default.
    """
    threads = min(n_jobs or available_cores(), length)
    if threads <= 1:
        return [function(0, length)]
    # A few ranges for each thread, for rows differ in cost.
    pieces = min(length, 8 * threads)
    edges = [length * i // pieces for i in range(pieces + 1)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, edges[:-1], edges[1:]))


class SingleThreadedBlas:
    """Keeps linear algebra on the calling thread, from construction until `release`.

    The limit is the process's own. The first holder sets it and the last one lifts it, so that
    fits that run side by side neither change each other's rounding nor leave a limit behind.
    """

    _lock = Lock()
    _holders = 0
    _limit: Any = None

    def __init__(self) -> None:
        cls = type(self)
        with cls._lock:
            if cls._holders == 0:
                cls._limit = threadpool_limits(limits=1, user_api="blas")
            cls._holders += 1

    def release(self) -> None:
        """Give up the hold."""
        cls = type(self)
        with cls._lock:
            cls._holders -= 1
            if cls._holders == 0:
                cls._limit.restore_original_limits()
