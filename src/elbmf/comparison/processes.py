"""Running methods in processes of their own, until they end or their time is up."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from elbmf.boolean.metrics import measures
from elbmf.comparison.job_files import load_factors, save_data, save_job
from elbmf.comparison.results import FAILED, FINISHED, OUT_OF_MEMORY, TIME_LIMIT, Result
from elbmf.estimators import BooleanFactorizer
from elbmf.io.files import writing
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.progress import FitProgress

__all__ = ["Runner"]

_CHILD = "elbmf.comparison.child"
_LONGEST_ERROR = 500

# Windows knows one way only.
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)

# Where there is a time limit, there is one for what comes before the fit, too: importing and, once
# on a machine, compiling.
_PREPARATION = 600.0


class Runner:
    """Runs methods one after the other, each in a process of its own; a context.

    Parameters
    ----------
    folder : Path
        An empty one, for what the processes read and write.
    A : BooleanMatrix
        The data.
    truth : BooleanMatrix, optional
        The data without noise.
    time_limit : float, optional
        Seconds that a fit may take.
    grace : float
        Seconds beyond, in which a method that was asked to end may do so.
    n_jobs : int, optional
        Threads for the measures.
    weights : mapping
        Of rows and columns, by the names that ``fit`` has for them.
    """

    def __init__(
        self,
        folder: Path,
        A: BooleanMatrix,
        truth: BooleanMatrix | None,
        time_limit: float | None,
        grace: float,
        n_jobs: int | None,
        weights: Mapping[str, Any],
    ) -> None:
        self._folder, self._errors = folder, folder / "errors.txt"
        self._A, self._truth, self._n_jobs = A, truth, n_jobs
        self._time_limit, self._weights = time_limit, weights
        # Seconds after which a fit is ended from outside.
        self._patience = None if time_limit is None else time_limit + grace
        self._processes: _Processes | None = None
        with writing(folder):
            save_data(folder, A)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: Any) -> None:
        if self._processes is not None:
            self._processes.end()

    def run(
        self, name: str, estimator: BooleanFactorizer, observe: Callable[[FitProgress], None]
    ) -> Result:
        """Run a method and return what came out; this does not fail, whatever the method does.

        ``observe`` is called with the reports of the fit.
        """
        with writing(self._folder):
            save_job(self._folder, estimator, self._time_limit, self._weights)
            self._errors.write_bytes(b"")
        if self._processes is None:
            self._processes = _Processes(self._folder, self._errors)
        last, code = self._processes.follow(self._patience, observe)
        if self._processes.ended:
            self._processes = None
        if last["event"] == "saved":
            return self._measured(name, last)
        status, message = self._failure(last, code)
        return Result(method=name, status=status, message=message)

    def _measured(self, name: str, figures: dict[str, Any]) -> Result:
        U, V = load_factors(self._folder)
        given = (self._A, U, V, self._truth, self._n_jobs)
        found: dict[str, Any] = measures(*given, **self._weights)
        entries = U.size + V.size
        return Result(
            method=name,
            status=TIME_LIMIT if figures["stopped"] else FINISHED,
            **found,
            density=(int(U.sum()) + int(V.sum())) / entries if entries else 0.0,
            message=" ".join(figures["warnings"]),
            **{key: figures[key] for key in ("seconds", "peak_memory", "n_components", "n_iter")},
        )

    def _failure(self, last: dict[str, Any], code: int) -> tuple[str, str]:
        """Return status and message, by what the process told last and what it returned."""
        message = last.get("message", "")
        if last["event"] == "too late":
            return TIME_LIMIT, message
        if last["event"] == "failed":
            return OUT_OF_MEMORY if last["memory"] else FAILED, message
        if code == -_KILL:
            # No one else kills without a word.
            return OUT_OF_MEMORY, "ended by the system, as it does where memory runs out"
        said = " ".join(self._errors.read_text(errors="replace").split())
        return FAILED, f"the process ended with code {code}. {said[-_LONGEST_ERROR:]}".rstrip()


def _search_path() -> str:
    """Return where this process looks for modules, so that the others find the same."""
    return os.pathsep.join(os.path.abspath(path) for path in sys.path if isinstance(path, str))


class _Processes:
    """The process that has one of its own for each method, see `elbmf.comparison.child`.

    It works in a folder, and its stderr goes to the file ``errors``. Once it has ``ended``, the
    next method needs another.
    """

    def __init__(self, folder: Path, errors: Path) -> None:
        self.ended = False
        with open(errors, "ab") as stream:
            self._process = subprocess.Popen(
                # -P: no modules from the folder that the user happens to be in.
                [sys.executable, "-P", "-m", _CHILD, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                env={**os.environ, "PYTHONPATH": _search_path()},
                start_new_session=True,  # Ctrl-C is for this process to decide on.
            )
        # That of the method, once it is known.
        self._method: int | None = None
        self._events: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._events.put(json.loads(line))
        self._events.put(None)

    def follow(
        self, patience: float | None, observe: Callable[[FitProgress], None]
    ) -> tuple[dict[str, Any], int]:
        """Have the next method run until it has said its last, or is ended as its time is up.

        Returns what it told last, and what its process returned. ``patience`` are seconds for the
        fit; ``observe`` is called with its reports.
        """
        assert self._process.stdin is not None
        with suppress(OSError):  # It has ended, and the events tell so.
            self._process.stdin.write(b".")
            self._process.stdin.flush()
        last: dict[str, Any] = {"event": "none"}
        deadline = None if patience is None else time.monotonic() + _PREPARATION
        while True:
            wait = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            try:
                event = self._events.get(timeout=wait)
            except queue.Empty:
                last = {"event": "too late", "message": "could not be asked to end, and was ended"}
                self._kill()
                deadline = None
                continue
            if event is None:
                self.end()
                return last, self._process.returncode
            kind = event["event"]
            if kind == "exited":
                self._method = None
                return last, event["code"]
            if kind == "started":
                self._method = event["process"]
            elif kind == "report":
                observe(
                    FitProgress(**{key: value for key, value in event.items() if key != "event"})
                )
            elif last["event"] != "too late":
                last = event
                # Once the fit has ended, writing the factors takes what it takes.
                limited = kind == "began" and patience is not None
                deadline = time.monotonic() + (patience or 0.0) if limited else None

    def _kill(self) -> None:
        """End the process of the method, or the one that was to start it."""
        with suppress(OSError):
            if self._method is None:
                self._process.kill()
            else:
                os.kill(self._method, _KILL)

    def end(self) -> None:
        """End all processes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.ended = True
        self._kill()
        self._process.kill()
        with suppress(OSError):
            self._process.stdin.close()
        self._process.wait()
        self._listener.join()
        self._process.stdout.close()
