"""Fits of one method side by side, each on one thread: those that are finished are kept."""

from collections.abc import Callable, MutableMapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from elbmf.utils.progress import FitProgress
from elbmf.utils.threads import SingleThreadedBlas, available_cores

__all__ = ["Ask", "side_by_side"]

T = TypeVar("T")

Ask = Callable[[FitProgress], bool]
"""A callback for a fit, which says whether to end."""


def side_by_side(
    work: Callable[[int, Ask], T],  # Does a run, given its number; where it is to end it may raise
    runs: int,
    finished: MutableMapping[int, T],  # Runs that need not be done again; those done are added
    n_jobs: int | None = None,  # Runs at a time; as many as there are cores by default
    # Called with the number of runs that are finished; if it returns True, the others are not done
    tell: Callable[[int], Any] | None = None,
) -> None:
    """Do runs, each in a thread of its own, in any order.

    Ctrl-C ends those that have begun; what is finished by then is in ``finished``.
    """
    stopped = False

    def unless_stopped(run: int) -> T:
        was_ended = False

        def ask(report: FitProgress) -> bool:
            nonlocal was_ended
            was_ended |= stopped
            return was_ended

        result = work(run, ask)
        if was_ended:  # then the result is of no use
            raise CancelledError
        return result

    missing = [run for run in range(runs) if run not in finished]
    done = runs - len(missing)
    # Here, for a limit that one of the pool's own threads sets does not hold there.
    blas = SingleThreadedBlas()
    pool = ThreadPoolExecutor(n_jobs or available_cores())
    pending: dict[Future[T], int] = {}
    try:
        pending |= {pool.submit(unless_stopped, run): run for run in missing}
        while pending and not stopped:
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                finished[pending.pop(future)] = future.result()
                done += 1
                stopped = stopped or bool(tell is not None and tell(done))
    finally:
        stopped = True
        pool.shutdown(cancel_futures=True)
        blas.release()
        for future, run in pending.items():
            if not future.cancelled() and future.exception() is None:
                finished[run] = future.result()
