"""The program as a whole: help, version, errors, the registry."""

import errno
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import elbmf as elbmf_package
from elbmf import __version__
from elbmf.cli import dispatch, registry
from elbmf.cli.flags.parameters import as_flag
from elbmf.errors import InputError, Placeholder, Setting, parts_of, worded
from waiting import PATIENCE


def test_version(elbmf: Any) -> None:
    result = elbmf("--version")
    assert (result.code, result.out) == (0, f"elbmf {__version__}\n")


def test_help_lists_every_command_and_examples(elbmf: Any) -> None:
    result = elbmf("--help")
    assert result.code == 0
    for command in registry.COMMANDS:
        assert f"  {command.name}" in result.out
        assert command.summary in result.out
    assert "examples:" in result.out


@pytest.mark.parametrize("command", [command.name for command in registry.COMMANDS])
def test_each_command_has_help_with_an_example(elbmf: Any, command: str) -> None:
    result = elbmf(command, "--help")
    assert result.code == 0
    assert result.out.startswith(f"usage: elbmf {command}")
    assert f"\n  elbmf {command} " in result.out


def test_without_a_command_help_goes_to_stderr(elbmf: Any) -> None:
    result = elbmf()
    assert (result.code, result.out) == (2, "")
    assert "commands:" in result.err


def test_unknown_command(elbmf: Any) -> None:
    elbmf("frobnicate").assert_error("frobnicate", "'fit'", "elbmf --help")


def test_unknown_flag_suggests_a_known_one(elbmf: Any) -> None:
    result = elbmf("fit", "tiles.csv", "-o", "out", "--kapa=1")
    result.assert_error("--kapa=1 (did you mean --kappa?)", "elbmf fit --help")


def test_flags_are_not_abbreviated(elbmf: Any) -> None:
    elbmf("fit", "tiles.csv", "-o", "out", "--max", 3).assert_error("--max")


def test_missing_argument(elbmf: Any) -> None:
    elbmf("fit", "tiles.csv").assert_error("-o/--output")


@pytest.mark.parametrize("how", ["flag", "environment"])
def test_traceback_on_request(elbmf: Any, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    flags = ["-vv"] if how == "flag" else []
    if how == "environment":
        monkeypatch.setenv("ELBMF_DEBUG", "1")
    result = elbmf("info", "missing.csv", *flags)
    assert result.code == 2
    assert "Traceback" in result.err
    assert "elbmf: error: missing.csv: there is no such file" in result.err


class _Broken:
    EXAMPLES = ""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def configure(self, parser: Any, arguments: Any) -> None:
        pass

    def run(self, args: Any, console: Any) -> int:
        raise self.error


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(error: BaseException) -> None:
        monkeypatch.setattr(registry.Command, "load", lambda self: _Broken(error))

    return use


def test_operating_system_errors_are_one_line(elbmf: Any, failing: Any) -> None:
    failing(OSError(errno.ENOSPC, "No space left on device"))
    elbmf("info").assert_error("No space left on device")


def test_lack_of_memory_is_one_line(elbmf: Any, failing: Any) -> None:
    failing(MemoryError("Unable to allocate 3 TiB"))
    elbmf("info").assert_error("not enough memory. Unable to allocate 3 TiB")


def test_an_abort_is_one_line(elbmf: Any, failing: Any) -> None:
    failing(KeyboardInterrupt())
    result = elbmf("info")
    assert (result.code, result.out, result.err) == (130, "", "elbmf: aborted\n")


def test_faults_of_the_program_are_not_hidden(elbmf: Any, failing: Any) -> None:
    failing(ZeroDivisionError("a fault"))
    with pytest.raises(ZeroDivisionError, match="a fault"):
        elbmf("info")


def test_a_new_command_needs_one_line(elbmf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = _Broken(SystemExit(0))
    module.run = lambda args, console: console.result("hello") or 0  # type: ignore[method-assign]
    monkeypatch.setattr(registry.Command, "load", lambda self: module)
    commands = (*registry.COMMANDS, registry.Command("greet", "Say hello."))
    monkeypatch.setattr(dispatch, "COMMANDS", commands)
    result = elbmf("greet")
    assert (result.code, result.out) == (0, "hello\n")
    assert "Say hello." in elbmf("--help").out


@pytest.mark.parametrize(
    ("setting", "in_python", "typed"),
    [
        (
            Setting("binarize", Placeholder("THRESHOLD")),
            "binarize=THRESHOLD",
            "--binarize THRESHOLD",
        ),
        (Setting("binarize", -0.5), "binarize=-0.5", "--binarize -0.5"),
        (Setting("overwrite", True), "overwrite=True", "--overwrite"),
        (Setting("header", False), "header=False", "--no-header"),
        (Setting("layout", "wide"), "layout='wide'", "--layout wide"),
        (Setting("delimiter", " "), "delimiter=' '", "--delimiter ' '"),
        (Setting("random_state"), "random_state", "--seed"),
        (Setting("n_components", 3), "n_components=3", "--n-components 3"),
    ],
)
def test_messages_name_flags(setting: Setting, in_python: str, typed: str) -> None:
    error = InputError("data.csv: set ", setting, ".")
    assert str(error) == f"data.csv: set {in_python}."
    assert worded(error, as_flag) == f"data.csv: set {typed}."
    again = InputError("elsewhere: ", *parts_of(error))
    assert worded(again, as_flag) == f"elsewhere: data.csv: set {typed}."
    assert parts_of(pickle.loads(pickle.dumps(error))) == error.parts
    assert worded(OSError("gone"), as_flag) == "gone"


@pytest.mark.parametrize("command", [command.name for command in registry.COMMANDS])
def test_help_waits_for_nothing_heavy(command: str) -> None:
    code = (
        "import sys\n"
        "from elbmf.cli import main\n"
        f"code = main([{command!r}, '--help'])\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pandas', 'matplotlib'} & {*sys.modules}\n"
        "assert code == 0 and not heavy, heavy\n"
    )
    package = str(Path(elbmf_package.__file__).parents[1])
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": package},
    )


def test_the_long_help_has_what_the_short_one_leaves_out(elbmf: Any) -> None:
    short, long = elbmf("fit", "--help"), elbmf("fit", "--help-all")
    assert (short.code, long.code) == (0, 0)
    assert short.out.count("\n  -") <= 25
    for title in ("data:", "what to find:", "how hard to look:", "output:"):
        assert f"\n{title}\n" in short.out
    for flag in ("--kappa", "--checkpoint", "--layout", "--stream", "--scheduler", "--config"):
        assert f"\n  {flag} " not in short.out
        assert f"\n  {flag}" in long.out
    shown = {line.split()[0] for line in short.out.splitlines() if line.startswith("  -")}
    assert shown <= {line.split()[0] for line in long.out.splitlines() if line.startswith("  -")}


@pytest.mark.parametrize("command", [command.name for command in registry.COMMANDS])
def test_all_help_is_there_for_every_command(elbmf: Any, command: str) -> None:
    long = elbmf(command, "--help-all")
    assert (long.code, long.err) == (0, "")
    assert long.out.startswith(f"usage: elbmf {command}")


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_error(elbmf: Any, start: Any, tmp_path: Any) -> None:
    # More than a pipe holds, so that writing must fail.
    rows = "\n".join("1,0" for _ in range(100_000))
    (tmp_path / "long.csv").write_text(f"a,b\n{rows}\n")
    (tmp_path / "short.csv").write_text("a,b\n1,0\n1,0\n")
    assert elbmf("fit", "short.csv", "-k", 1, "-o", "model").code == 0
    process = start("transform", "model", "long.csv", cwd=tmp_path)
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, b"")


def test_the_module_is_the_program(start: Any) -> None:
    process = start("--version", stderr=subprocess.STDOUT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert out.decode() == f"elbmf {__version__}\n"
