"""Running compiled kernels, which release the GIL, in several threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["available_cores", "over_ranges"]

T = TypeVar("T")


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def over_ranges(
    function: Callable[[int, int], T], length: int, n_jobs: int | None = None
) -> list[T]:
    """Call ``function(low, high)`` on ranges that make up ``range(length)``.

    Only for results that do not depend on where the ranges are cut.

    Parameters
    ----------
    function : callable
        Called in several threads at once.
    length : int
        Where the last range ends.
    n_jobs : int, optional
        Threads. All cores by default.
    """
    threads = min(n_jobs or available_cores(), length)
    if threads <= 1:
        return [function(0, length)]
    # A few ranges for each thread, for rows differ in cost.
    pieces = min(length, 8 * threads)
    edges = [length * i // pieces for i in range(pieces + 1)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, edges[:-1], edges[1:]))
