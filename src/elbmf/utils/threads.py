"""Running compiled kernels, which release the GIL, in several threads."""

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["SingleThreadedBlas", "available_cores", "over_ranges"]

T = TypeVar("T")

_SECONDS_WITHOUT_THREADS = 5e-4

# The first range is so small a part of a thread's share that nothing is lost on long work.
_FIRST_SHARE = 128


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def over_ranges(
    function: Callable[[int, int], T],
    length: int,
    n_jobs: int | None = None,
    *,
    few_and_long: bool = False,
) -> list[T]:
    """Call ``function(low, high)`` on ranges that make up ``range(length)``, in several threads.

    Only for results that do not depend on where the ranges are cut. All cores are used by default.
    What takes less time than to start threads is done without, in ranges that grow; of what is
    ``few_and_long`` even one is worth a thread.
    """
    threads = min(n_jobs or available_cores(), length)
    if threads <= 1:
        return [function(0, length)]
    found: list[T] = []
    low, size = 0, max(1, length // (_FIRST_SHARE * threads))
    began = time.perf_counter()
    patience = 0.0 if few_and_long else _SECONDS_WITHOUT_THREADS
    while low < length and time.perf_counter() - began < patience:
        high = min(length, low + size)
        found.append(function(low, high))
        low, size = high, 2 * size
    if low < length:
        # A few ranges for each thread, for rows differ in cost.
        pieces = min(length - low, 8 * threads)
        edges = [low + (length - low) * i // pieces for i in range(pieces + 1)]
        with ThreadPoolExecutor(threads) as pool:
            found += pool.map(function, edges[:-1], edges[1:])
    return found


class SingleThreadedBlas:
    """Keeps linear algebra on the calling thread, from construction until `release`.

    The limit is the process's own. The first holder sets it and the last one lifts it, so that
    fits that run side by side neither change each other's rounding nor leave a limit behind.
    """

    _lock = Lock()
    _holders = 0
    _limit: Any = None
    _libraries: ThreadpoolController | None = None
    _modules = 0

    def __init__(self) -> None:
        cls = type(self)
        with cls._lock:
            if cls._holders == 0:
                cls._limit = cls._found().limit(limits=1, user_api="blas")
            cls._holders += 1

    @classmethod
    def _found(cls) -> ThreadpoolController:
        """Look for the libraries, which takes longer than a small fit, where there may be new ones.

        They come with modules.
        """
        if cls._libraries is None or cls._modules != len(sys.modules):
            cls._libraries, cls._modules = ThreadpoolController(), len(sys.modules)
        return cls._libraries

    def release(self) -> None:
        """Give up the hold."""
        cls = type(self)
        with cls._lock:
            cls._holders -= 1
            if cls._holders == 0:
                cls._limit.restore_original_limits()
