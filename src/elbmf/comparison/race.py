"""Running one method in a process of its own, until it ends or its time is up."""

import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elbmf.comparison.handover import Job, load_factors
from elbmf.comparison.results import FAILED, FINISHED, OUT_OF_MEMORY, TIME_LIMIT, Result
from elbmf.matrix import BooleanMatrix
from elbmf.metrics import measures
from elbmf.reports import Report

__all__ = ["Rules", "run"]

_LOG = logging.getLogger(__name__)

_CHILD = "elbmf.comparison.child"
_LONGEST_ERROR = 500

# Where there is a time limit, there is one for what comes before the fit, too: importing and, once
# on a machine, compiling.
_PREPARATION = 600.0


@dataclass(frozen=True)
class Rules:
    """What is the same for all methods.

    Parameters
    ----------
    truth : BooleanMatrix, optional
        The data without noise.
    time_limit : float, optional
        Seconds that a fit may take.
    grace : float
        Seconds beyond, in which a method that was asked to end may do so.
    n_jobs : int, optional
        Threads for the measures.
    """

    truth: BooleanMatrix | None
    time_limit: float | None
    grace: float
    n_jobs: int | None

    @property
    def patience(self) -> float | None:
        """Seconds after which a fit is ended from outside."""
        return None if self.time_limit is None else self.time_limit + self.grace


def run(
    name: str, job: Job, folder: Path, rules: Rules, observe: Callable[[Report], None]
) -> Result:
    """Run a method and return what came out; this does not fail, whatever the method does.

    Parameters
    ----------
    name : str
        What the result is to be called.
    job : Job
        What to do.
    folder : Path
        Where the data is.
    rules : Rules
        For all.
    observe : callable
        Called with the reports of the fit.
    """
    job.save(folder)
    errors = folder / "errors.txt"
    with open(errors, "wb") as stream, _process(folder, stream) as process:
        last = _last_event(process, rules.patience, observe)
    if last["event"] == "saved":
        result = _measured(name, job.A, folder, rules, last)
    else:
        status, message = _failure(last, process.returncode, errors)
        result = Result(method=name, status=status, message=message)
    _LOG.info("%s: %s, loss %s, %s seconds", name, result.status, result.loss, result.seconds)
    return result


def _failure(last: dict[str, Any], code: int, errors: Path) -> tuple[str, str]:
    """Return status and message of a method that ended without a result.

    Parameters
    ----------
    last : dict
        The last that its process told.
    code : int
        What the process returned.
    errors : Path
        What it wrote to stderr.
    """
    message = last.get("message", "")
    if last["event"] == "too late":
        return TIME_LIMIT, message
    if last["event"] == "failed":
        return OUT_OF_MEMORY if last["memory"] else FAILED, message
    if code == -getattr(signal, "SIGKILL", 9):
        # No one else kills without a word.
        return OUT_OF_MEMORY, "ended by the system, as it does where memory runs out"
    said = " ".join(errors.read_text(errors="replace").split())
    return FAILED, f"the process ended with code {code}. {said[-_LONGEST_ERROR:]}".rstrip()


def _measured(
    name: str, A: BooleanMatrix, folder: Path, rules: Rules, figures: dict[str, Any]
) -> Result:
    U, V = load_factors(folder)
    found: dict[str, Any] = measures(A, U, V, rules.truth, rules.n_jobs)
    entries = U.size + V.size
    return Result(
        method=name,
        status=TIME_LIMIT if figures["stopped"] else FINISHED,
        **found,
        density=(int(U.sum()) + int(V.sum())) / entries if entries else 0.0,
        message=" ".join(figures["warnings"]),
        **{key: figures[key] for key in ("seconds", "peak_memory", "n_components", "n_iter")},
    )


@contextmanager
def _process(folder: Path, errors: Any) -> Iterator[subprocess.Popen[str]]:
    """Start the process of a method, and end it on the way out if it has not ended by itself."""
    process = subprocess.Popen(
        # -P: no modules from the folder that the user happens to be in.
        [sys.executable, "-P", "-m", _CHILD, str(folder)],
        stdin=subprocess.PIPE,  # Never written to: its end tells that this process is gone.
        stdout=subprocess.PIPE,
        stderr=errors,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": _search_path()},
        start_new_session=True,  # Ctrl-C is for this process to decide on.
    )
    try:
        yield process
    except BaseException:
        process.kill()
        raise
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.wait()
        process.stdout.close()


def _search_path() -> str:
    """Return where this process looks for modules, so that the other finds the same."""
    return os.pathsep.join(os.path.abspath(path) for path in sys.path if isinstance(path, str))


def _last_event(
    process: subprocess.Popen[str], patience: float | None, observe: Callable[[Report], None]
) -> dict[str, Any]:
    """Follow a process until it has said its last, or is ended because its time is up."""
    events: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            events.put(json.loads(line))
        events.put(None)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    last: dict[str, Any] = {"event": "none"}
    deadline = None if patience is None else time.monotonic() + _PREPARATION
    while True:
        wait = None if deadline is None else max(deadline - time.monotonic(), 0.0)
        try:
            event = events.get(timeout=wait)
        except queue.Empty:
            process.kill()
            listener.join()
            return {"event": "too late", "message": "could not be asked to end, and was ended"}
        if event is None:
            process.wait()
            return last
        if event["event"] == "report":
            observe(Report(**{key: value for key, value in event.items() if key != "event"}))
            continue
        last = event
        # Once the fit has ended, writing the factors takes what it takes.
        limited = event["event"] == "began" and patience is not None
        deadline = time.monotonic() + (patience or 0.0) if limited else None
