"""The processes of the methods: ``python -m elbmf.comparison.child FOLDER``.

This one imports what all need, once, and has a copy of itself for each method, where the system is
good at that. The copy reads data and estimator from a folder, compiles what is needed on a small
matrix, fits, and saves the factors there. What happens is told in lines of JSON, which
`elbmf.comparison.processes` reads.
"""

import json
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from elbmf.comparison.job_files import load_job, save_factors
from elbmf.estimators import BooleanFactorizer
from elbmf.io.plain import plain
from elbmf.kernels.compiling import CompileTimer
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.progress import FitProgress

__all__ = ["small_like"]

Tell = Callable[..., None]

_SECONDS_BETWEEN_REPORTS = 0.1
_LONGEST_MESSAGE = 500

# Compiling takes what it takes, but a small matrix is not worth many iterations.
_SECONDS_OF_WARM_UP = 3.0
_SMALL_ROWS, _SMALL_COLUMNS, _SMALL_RANK = 40, 30, 5

_STATUS, _RESET_PEAK, _RESET = "/proc/self/status", "/proc/self/clear_refs", "5"


def small_like(A: BooleanMatrix) -> BooleanMatrix:
    """Return a small matrix for which the very kernels are compiled that a matrix needs.

    That is one with indices of the same types, and with missing cells where the other has any.
    """
    generator = np.random.default_rng(0)
    rows, columns = min(A.shape[0], _SMALL_ROWS), min(A.shape[1], _SMALL_COLUMNS)
    cells = generator.random((rows, columns)) < 0.1
    cells[: rows // 2, : columns // 2] = True
    # Lines are longer, but no fuller, where narrow indices would not do.
    shape = tuple(
        max(short, min(side, (1 << 16) + 1)) if side > 1 << 16 else short
        for short, side in zip(cells.shape, A.shape, strict=True)
    )
    missing = np.zeros_like(cells)
    if A.missing is not None:
        missing[-1, 0] = True

    def pattern(entries: Any) -> BooleanMatrix:
        where = np.nonzero(entries)
        wide = sparse.csr_array((np.ones(where[0].size, dtype=np.bool_), where), shape=shape)
        return BooleanMatrix(
            (int(shape[0]), int(shape[1])),
            wide.indptr.astype(np.int64),
            wide.indices.astype(A.indices.dtype),
        )

    ones = pattern(cells & ~missing)
    return BooleanMatrix(ones.shape, ones.indptr, ones.indices, pattern(missing))


def _warm_up(estimator: BooleanFactorizer, A: BooleanMatrix) -> None:
    """Compile, or load, what the fit will need."""
    began = time.perf_counter()

    def is_enough(report: FitProgress) -> bool:
        return time.perf_counter() - began > _SECONDS_OF_WARM_UP

    model = clone(estimator).set_params(n_components=_SMALL_RANK, callback=is_enough)
    # What goes wrong here will go wrong again below, or is due to the small matrix.
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = small_like(A)
        model.fit(small.to_csr(), missing=small.missing)


class _Observer:
    """Passes on what a fit reports, and ends it when its time is up."""

    def __init__(self, tell: Tell, limit: float | None) -> None:
        self.stopped = False
        self._tell = tell
        self._limit = float("inf") if limit is None else limit
        self._began = self._next = time.perf_counter()

    def __call__(self, report: FitProgress) -> bool:
        now = time.perf_counter()
        if now >= self._next:
            self._next = now + _SECONDS_BETWEEN_REPORTS
            # A report may have more, which is not for lines of text.
            known = {field.name: getattr(report, field.name) for field in fields(FitProgress)}
            self._tell("report", **known)
        self.stopped = self.stopped or now - self._began >= self._limit
        return self.stopped


def _memory(peak: bool) -> int | None:
    """Return the memory of this process in bytes, now or at its peak."""
    with suppress(OSError):
        kind = "VmHWM" if peak else "VmRSS"
        found = re.search(rf"^{kind}:\s+(\d+) kB", Path(_STATUS).read_text(), re.M)
        return int(found[1]) << 10 if found else None
    return None


def _forget_peak() -> bool:
    """Let the peak of memory be that from now on; return whether that is possible."""
    with suppress(OSError):
        Path(_RESET_PEAK).write_text(_RESET)
        return True
    return False


def _fit(folder: Path, tell: Tell) -> None:
    A, estimator, time_limit, weights = load_job(folder)
    _warm_up(estimator, A)
    before = _memory(peak=False) if _forget_peak() else None
    tell("began")
    with warnings.catch_warnings(record=True) as caught, CompileTimer() as compiling:
        warnings.simplefilter("always")
        observer = _Observer(tell, time_limit)
        estimator.set_params(callback=observer)
        began = time.perf_counter()
        estimator.fit(A.to_csr(), missing=A.missing, **weights)
        seconds = time.perf_counter() - began
    # A compiler takes more memory than most fits: what it left of the figure is worth nothing.
    peak = None if compiling.seconds else _memory(peak=True)
    tell("ended")
    save_factors(folder, estimator.membership_, estimator.components_)
    said = dict.fromkeys(
        " ".join(str(each.message).split())
        for each in caught
        if issubclass(each.category, UserWarning | RuntimeWarning)
    )
    tell(
        "saved",
        seconds=max(seconds - compiling.seconds, 0.0),
        peak_memory=None if before is None or peak is None else max(peak - before, 0),
        n_components=int(estimator.n_components_),
        n_iter=int(estimator.n_iter_),
        stopped=observer.stopped and estimator.stop_reason_ == "callback",
        warnings=list(said),
    )


def _end_with_parent() -> None:
    """End this process once the one that wants its result is gone, and its end of the pipe."""

    def watch() -> None:
        while os.read(0, 1):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _be_the_one_to_go() -> None:
    """Where memory runs out, the system is to end this process, and not the one that started it."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _do(folder: Path, tell: Tell) -> None:
    """Do the job in the folder, and tell what happens."""
    tell("started", process=os.getpid())
    _end_with_parent()
    _be_the_one_to_go()
    try:
        _fit(folder, tell)
    except MemoryError as error:
        tell("failed", memory=True, message=_message(error))
    except Exception as error:
        tell("failed", memory=False, message=_message(error))


def _message(error: Exception) -> str:
    text = " ".join(str(error).split())[:_LONGEST_MESSAGE]
    known = isinstance(error, ValueError | MemoryError)
    return text if known and text else f"{type(error).__name__}: {text}"


def _do_in_a_fork(folder: Path, tell: Tell) -> None:
    """Do the job in a copy of this process, which has everything imported."""
    with warnings.catch_warnings():
        # Of threads that linear algebra keeps in reserve; they know about forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        try:
            _do(folder, tell)
        finally:
            os._exit(0)
    _, status = os.waitpid(process, 0)
    tell("exited", code=os.waitstatus_to_exitcode(status))


def main(folder: str) -> None:
    """Do a job for each byte on stdin; elsewhere than on Linux, only one."""
    # Whatever prints goes where errors go, and the pipe is for what is told.
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(event: str, **figures: Any) -> None:
        stream.write(json.dumps({"event": event, **figures}, default=plain) + "\n")
        stream.flush()

    while os.read(0, 1):
        if sys.platform != "linux":
            _do(Path(folder), tell)
            return
        _do_in_a_fork(Path(folder), tell)


if __name__ == "__main__":
    main(sys.argv[1])
