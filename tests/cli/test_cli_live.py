"""What happens while a fit runs: progress on a terminal, silence in a pipe, Ctrl-C."""

import logging
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elbmf import ELBMF
from elbmf.cli.console import Console
from elbmf.cli.interrupt import Interrupt
from elbmf.cli.progress import ProgressLine
from elbmf.io import load_model
from elbmf.kernels.compiling import _warn_that_nothing_is_kept
from elbmf.relaxation.palm import State
from elbmf.utils import screen
from elbmf.utils.progress import FitProgress
from terminals import Terminal
from waiting import PATIENCE, wait_until

pty = pytest.importorskip("pty", reason="pseudo-terminals are a thing of Unix")

# Regularisation that never binds: the fit goes on until it is stopped.
ENDLESS = ("-k", 5, "--seed", 0, "--kappa", 0, "--lam", 0, "--tol", 0, "--max-iter", 10**9)


def _read_until(descriptor: int, wanted: bytes) -> bytes:
    seen = b""
    end = time.monotonic() + PATIENCE
    while wanted not in seen:
        assert time.monotonic() < end, seen
        try:
            seen += os.read(descriptor, 4096)
        except OSError:  # the other side has gone
            break
    return seen


@pytest.fixture
def terminal() -> Any:
    """A pseudo-terminal: the side of the person and that of the program."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)


@pytest.mark.slow
def test_on_a_terminal_progress_is_shown_and_interrupted(
    start: Any, noise: Path, terminal: tuple[int, int]
) -> None:
    ours, theirs = terminal
    process = start("fit", noise, *ENDLESS, "-o", noise.parent / "out", stderr=theirs)
    os.close(theirs)
    seen = _read_until(ours, b"gap ")
    process.send_signal(signal.SIGINT)
    seen += _read_until(ours, b"Interrupted after epoch")
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    text = seen.decode()
    assert "epoch 1  relative loss " in text
    assert "gap " in text
    assert "Stopping after this step" in text
    assert "relative loss" in out.decode()
    assert "\r" not in out.decode()
    info = load_model(noise.parent / "out").info.to_json()
    assert info["interrupted"] is True
    assert info["stop_reason"] == "interrupted"
    assert info["n_iter"] == len(info["history"]["epoch"])


def _start_fit(start: Any, noise: Path, then: str) -> Any:
    """Start a fit, and wait until its first epoch is told, on which it does something more."""
    folder = noise.parent
    (folder / "sitecustomize.py").write_text(
        "import pathlib, time\n"
        "from elbmf.estimators import progress_line as progress\n"
        "observe = progress.ProgressLine.fit\n"
        "def tell(self, state):\n"
        f"    pathlib.Path({str(folder / 'told')!r}).touch()\n"
        f"    return {then}\n"
        "progress.ProgressLine.fit = tell\n"
    )
    command = ("fit", noise, *ENDLESS, "-o", folder / "out", "-v")
    process = start(*command, pythonpath=str(folder))
    wait_until((folder / "told").exists, process)
    line = process.stderr.readline()
    assert "500×300" in line.decode(), line
    return process


@pytest.mark.slow
def test_in_a_pipe_there_is_no_progress_and_an_interrupt_saves(start: Any, noise: Path) -> None:
    process = _start_fit(start, noise, "observe(self, state)")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    epoch = load_model(noise.parent / "out").info.n_iter
    folder = noise.parent / "out"
    assert f"Interrupted after epoch {epoch}: saved what was found so far to {folder}" in (
        err.decode()
    )
    assert b"\r" not in err
    assert b"  relative loss" not in err
    assert b"relative loss" in out


@pytest.mark.slow
def test_a_second_interrupt_ends_at_once(start: Any, tmp_path: Path, noise: Path) -> None:
    # A callback that does not come back in time plays a very long epoch.
    process = _start_fit(start, noise, f"time.sleep({PATIENCE})")
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == b"\n"
    assert b"Ctrl-C again" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == b""
    assert err == b"elbmf: aborted\n"
    assert not (tmp_path / "out").exists()


def test_an_interrupt_in_this_process(elbmf: Any, noise: Path, monkeypatch: Any) -> None:
    observe, before = ProgressLine.fit, signal.getsignal(signal.SIGINT)

    def interrupting(self: ProgressLine, state: State) -> None:
        observe(self, state)
        if state.iteration == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ProgressLine, "fit", interrupting)
    result = elbmf("fit", noise, *ENDLESS, "-o", "out", "--json")
    assert result.code == 130
    assert result.json["interrupted"] is True
    assert "Interrupted after epoch 3: saved what was found so far to out\n" in result.err
    assert load_model("out").info.n_iter == 3
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_outside_the_fit_aborts(elbmf: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(ELBMF, "_validate_params", lambda _: signal.raise_signal(signal.SIGINT))
    result = elbmf("fit", "tiles.csv", "-o", "out")
    assert (result.code, result.err) == (130, "elbmf: aborted\n")


def test_signals_stay_as_they_are_where_nobody_listens() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt(waits=False):
        assert signal.getsignal(signal.SIGINT) is before
    with Interrupt() as interrupt:
        signal.raise_signal(signal.SIGINT)
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupt() as interrupt:
            signal.raise_signal(signal.SIGINT)
        assert not interrupt.requested
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_may_fit(elbmf: Any) -> None:
    codes: list[int] = []
    thread = threading.Thread(
        target=lambda: codes.append(elbmf("fit", "tiles.csv", "-k", 2, "-o", "out").code)
    )
    thread.start()
    thread.join()
    assert codes == [0]


def _state(epoch: int, progress: float = 0.0) -> Any:
    return State(
        iteration=epoch,
        engine=None,  # type: ignore[arg-type]
        resident=None,  # type: ignore[arg-type]
        loss=50.0,
        gap=0.25,
        flips=0,
        lam=1.0,
        strength=None,  # type: ignore[arg-type]
        seconds=2.0 * epoch,
        progress=progress,
    )


@pytest.mark.parametrize(
    ("columns", "bar"),
    [("200", "[##########..........] "), ("80", "[##########..........] "), ("67", "[####.....] ")],
)
def test_the_line_of_progress(monkeypatch: Any, columns: str, bar: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    console = Terminal()
    ProgressLine(console, ones=100).fit(_state(5, progress=0.5))
    text = "epoch 5  relative loss 0.5000  gap 2.50e-01  10 s left"
    assert console.lines[-1] == bar + text


def test_neither_compiling_nor_the_first_epoch_count_for_the_time_left(monkeypatch: Any) -> None:
    compiled = 100.0
    monkeypatch.setattr("elbmf.estimators.progress_line.compiling_seconds", lambda: compiled)
    monkeypatch.setattr("elbmf.estimators.progress_line._SECONDS_BETWEEN", 0.0)
    console = Terminal()
    line = ProgressLine(console, ones=100)
    line.fit(replace(_state(1, progress=0.1), seconds=50.0))
    assert not console.lines[-1].endswith("left")
    compiled += 30.0
    line.fit(replace(_state(2, progress=0.2), seconds=82.0))
    assert console.lines[-1].endswith("  16 s left")


def test_where_a_search_follows_no_time_is_left_but_it_tells_its_share(monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("elbmf.estimators.progress_line._SECONDS_BETWEEN", 0.0)
    console = Terminal()
    line = ProgressLine(console, ones=100)
    line.fit(replace(_state(5, progress=0.5), best=40))
    assert " left" not in console.lines[-1]
    line.fit(FitProgress(iteration=5, loss=40, seconds=12.4, stage="search", progress=0.25))
    assert console.lines[-1].endswith("] searching  relative loss 0.4000  25 %  12 s so far")


@pytest.mark.parametrize("watched", [True, False])
def test_compiling_is_told_where_progress_is(
    slow_compiler: Any, monkeypatch: Any, capsys: Any, watched: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched)
    with Console().listening():
        slow_compiler.on_start(None)
        shown = capsys.readouterr().err
        slow_compiler.on_end(None)
    text = "compiling kernels, once on this machine: 0 s so far"
    assert shown == (f"\r{text}\x1b[K" if watched else "")


def test_compiling_is_in_the_log_once_where_that_is_shown(
    slow_compiler: Any, no_lines: None, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    lines = logging.getLogger("elbmf.kernels.compiling.lines")
    with Console(verbosity=1).listening():
        assert not any(isinstance(each, screen._Line) for each in lines.handlers)
        for _ in range(2):
            slow_compiler.on_start(None)
            slow_compiler.on_end(None)
    told = capsys.readouterr().err
    assert told.startswith("elbmf.kernels.compiling: compiling kernels, once on this machine")
    assert told.count("\n") == 1


def test_that_kernels_cannot_be_kept_is_a_warning_also_in_a_pipe(capsys: Any) -> None:
    _warn_that_nothing_is_kept.cache_clear()
    with Console().listening():
        for _ in range(2):
            _warn_that_nothing_is_kept()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("elbmf: warning: compiled kernels cannot be kept")


def test_the_line_of_progress_without_an_end(monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    console = Terminal()
    ProgressLine(console, ones=0).fit(_state(5))
    assert console.lines[-1] == "epoch 5  relative loss "[:23]
