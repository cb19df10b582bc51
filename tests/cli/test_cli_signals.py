"""SIGINT and SIGTERM at any moment: the right exit code, one line, and nothing left behind."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import elbmf.utils.atomic as atomic
from elbmf.cli import main
from elbmf.cli.commands import info
from elbmf.cli.interrupt import ending_well
from elbmf.io.formats import numpy_files
from elbmf.utils.signals import ENDING
from waiting import PATIENCE, wait_until

ENDS = [(signal.SIGINT, 130, "aborted"), (signal.SIGTERM, 143, "terminated")]


@pytest.fixture(autouse=True)
def signals_as_before() -> Any:
    before = {number: signal.getsignal(number) for number in ENDING}
    yield
    assert {number: signal.getsignal(number) for number in ENDING} == before


def after(step: Callable[..., Any], number: int) -> Callable[..., Any]:
    """Return a function that does something and then is disturbed by a signal."""

    def disturbed(*args: Any, **options: Any) -> Any:
        try:
            return step(*args, **options)
        finally:
            signal.raise_signal(number)

    return disturbed


@pytest.mark.parametrize(("number", "code", "said"), ENDS)
@pytest.mark.parametrize("place", ["replace", "copymode", "mkdir"])
def test_a_result_is_whole_or_absent(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch, number: int, code: int, said: str, place: str
) -> None:
    assert elbmf("convert", "tiles.csv", "old.npz").code == 0
    before = Path("old.npz").read_bytes()
    owner = {"replace": os, "copymode": atomic.shutil, "mkdir": Path}[place]
    monkeypatch.setattr(owner, place, after(getattr(owner, place), number))
    for command in (
        ("convert", "tiles.csv", "old.npz"),
        ("convert", "tiles.csv", "new.matrix"),
        ("fit", "tiles.csv", "-k", "2", "--seed", "0", "-o", "result"),
    ):
        result = elbmf(*command)
        if result.code:
            assert result.code == code
            assert result.err.splitlines()[-1] == f"elbmf: {said}"
            assert "Traceback" not in result.err
    assert Path("old.npz").read_bytes() == before
    assert {path.name for path in Path().iterdir()} <= {
        "tiles.csv",
        "old.npz",
        "new.matrix",
        "result",
    }
    for folder, last in (("new.matrix", "matrix.json"), ("result", "model.json")):
        assert not Path(folder).exists() or Path(folder, last).exists()


@pytest.mark.parametrize(("number", "code", "said"), ENDS)
def test_what_a_signal_makes_of_an_error_is_not_told(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch, number: int, code: int, said: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        try:
            signal.raise_signal(number)
        finally:
            raise ValueError("cannot close half an archive")

    monkeypatch.setattr(numpy_files.np, "savez_compressed", fail)
    result = elbmf("convert", "tiles.csv", "a.npz")
    assert (result.code, result.err) == (code, f"elbmf: {said}\n")
    assert [path.name for path in Path().iterdir()] == ["tiles.csv"]


@pytest.mark.parametrize(("number", "code", "said"), ENDS)
def test_a_signal_that_is_lost_comes_again(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch, number: int, code: int, said: str
) -> None:
    class Falls:
        # No exception comes out of here.
        def __del__(self) -> None:
            signal.raise_signal(number)

    lost = []

    def run(*_: Any) -> int:
        Falls()
        lost.append(number)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(0.001)
        return 0

    monkeypatch.setattr(info, "run", run)
    result = elbmf("info", "tiles.csv")
    assert (result.code, result.err) == (code, f"elbmf: {said}\n")
    assert lost == [number]


def test_a_signal_that_nobody_passed_on_counts_in_the_end(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: Any) -> int:
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException:  # as some C does
            return 0
        return 1

    monkeypatch.setattr(info, "run", run)
    assert elbmf("info", "tiles.csv").code == 143


def test_a_program_that_has_signals_ignored_is_not_disturbed(
    elbmf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: Any) -> int:
        signal.raise_signal(signal.SIGINT)
        return 0

    monkeypatch.setattr(info, "run", run)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert elbmf("info", "tiles.csv").code == 0
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_errors_of_callbacks_are_told_as_always(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    with ending_well(to_the_end=False):
        sys.unraisablehook("an error")
    assert told == ["an error"]
    assert main(["--version"]) == 0


def test_what_a_killed_command_left_is_not_in_the_way(elbmf: Any) -> None:
    remains = [Path("out", f".elbmf-{'0f' * 8}"), Path("out", f".model.json.{'0f' * 6}.tmp")]
    for each in remains:
        each.mkdir(parents=True)
    assert elbmf("fit", "tiles.csv", "-k", 2, "--seed", 0, "-o", "out").code == 0
    elbmf("fit", "tiles.csv", "-k", 2, "-o", "out").assert_error("is not empty")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "times"), [(signal.SIGTERM, 1), (signal.SIGINT, 2)])
def test_a_comparison_leaves_no_folder(
    start: Any, noise: Path, monkeypatch: pytest.MonkeyPatch, number: int, times: int
) -> None:
    temporary = noise.parent / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    table = noise.parent / "table.csv"
    process = start("compare", noise, "-k", 30, "--methods", "elbmf", "-o", table)
    wait_until(lambda: any(temporary.glob("elbmf-*/*")), process)
    for _ in range(times):
        process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert b"Traceback" not in err
    assert len(err.splitlines()) == 1
    assert list(temporary.iterdir()) == []
    assert not table.exists()
