"""Runs the blocks of a page in order, in one folder and one namespace.

- ``python`` is executed. A block whose first line is ``# NAME.py`` is saved under that name
  instead, for others to import.
- ``output`` is what the block before it printed.
- ``console``: each line after ``$ `` is run, and what stands below it is what it printed. Commands
  of elbmf run in this process, unless a pipe or a redirection needs a shell; ``make`` and ``pip``
  are looked up in the Makefile and in pyproject.toml. A result that is there is replaced.
- ``toml`` is parsed, and saved if its first line is ``# NAME.toml``.
- ``csv`` is the beginning, or a part, of a file that the stage made.
- ``text`` is for reading only.

In what is shown, ``…`` stands for anything, and times and sizes may differ.
"""

import io
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from pages import ROOT

from elbmf.cli import main
from elbmf.cli.dispatch import _parser

_NEEDS_SHELL = re.compile(r"[|<>&;]")
_FIGURE = re.compile(r"\d[\d.,]*\s?(?:seconds|ms|s|min|MB|kB|GB|bytes)\b")


@dataclass(frozen=True)
class Stage:
    """What a page finds when its blocks are run, and what is run in place of what it shows.

    Parameters
    ----------
    make : callable
        Makes the files that the page names, in the current folder. It is given an `ExitStack`, for
        what is to be undone, and may return names for the Python blocks and replacements as below.
    words : dict
        Words of commands to be replaced, such as numbers of components that are too large for the
        small data of the stage.
    python : dict
        Likewise, text of Python blocks.
    not_run : dict
        Commands that only have their arguments looked at, and why.
    """

    make: Callable = lambda stack: {}
    words: dict = field(default_factory=dict)
    python: dict = field(default_factory=dict)
    not_run: dict = field(default_factory=dict)


class Runner:
    """Runs the blocks of a page on its stage, in the current folder."""

    def __init__(self, stage, stack):
        self.words, self.python = dict(stage.words), dict(stage.python)
        self.not_run = stage.not_run
        self.used = Counter()
        self.names = {"__name__": "page"}
        self.printed = ""
        made = stage.make(stack) or {}
        self.words.update(made.pop("words", {}))
        self.python.update(made.pop("python", {}))
        self.names.update(made)

    def run(self, block):
        getattr(self, f"_{block.language}")(block.text)

    def check_replacements(self):
        """Every replacement is needed: none is left from what the page once said."""
        for name in (*self.words, *self.python, *self.not_run):
            assert self.used[name], f"the stage replaces {name!r}, which the page does not say"

    def _python(self, text):
        for old, new in self.python.items():
            self.used[old] += text.count(old)
            text = text.replace(old, new)
        if match := re.match(r"# (\w+\.py)\n", text):
            Path(match[1]).write_text(text, encoding="utf-8")
            return
        out = io.StringIO()
        with redirect_stdout(out):
            exec(compile(text, "block", "exec"), self.names)
        self.printed = out.getvalue()

    def _output(self, text):
        _assert_shown(text, self.printed)

    def _console(self, text):
        for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command, _, shown = part.partition("\n")
            while command.endswith("\\"):
                more, _, shown = shown.partition("\n")
                command = f"{command[:-1]} {more.strip()}"
            code, printed = self._command(command)
            expected = 2 if shown.startswith("elbmf: error:") else 0
            assert code == expected, f"$ {command}\n{printed}"
            _assert_shown(shown, printed)

    def _toml(self, text):
        tomllib.loads(text)
        if match := re.match(r"# ([\w.]+\.toml)\n", text):
            Path(match[1]).write_text(text, encoding="utf-8")

    def _csv(self, text):
        shown = [line for line in text.splitlines() if "…" not in line]
        contents = [path.read_text("utf-8").splitlines() for path in Path().glob("*.[ct]sv")]
        assert any(set(shown) <= set(lines) for lines in contents), f"in no file:\n{text}"

    def _text(self, text):
        """Nothing to run."""

    def _command(self, command):
        words = shlex.split(command, comments=True)
        if not words:
            return 0, ""
        if reason := self.not_run.get(shlex.join(words)):
            assert reason
            self.used[shlex.join(words)] += 1
            if words[0] == "elbmf":
                _check_arguments(words[1:])
            return 0, ""
        if words[0] == "make":
            makefile = (ROOT / "Makefile").read_text("utf-8")
            assert re.search(rf"^{re.escape(words[1])}:", makefile, re.M), command
            return 0, ""
        if words[0] == "pip":
            _check_installation(words)
            return 0, ""
        if words[0] == ".":
            assert words[1:] == [".venv/bin/activate"], command
            return 0, ""
        for old, new in self.words.items():
            command, count = re.subn(rf"(?<=\s){re.escape(old)}(?=\s|$)", new, command)
            self.used[old] += count
        command = _replacing(command.partition(" #")[0])
        if words[0] != "elbmf" or _NEEDS_SHELL.search(command):
            return _in_shell(command)
        return _in_process(shlex.split(command)[1:])


def _replacing(command):
    """Let a result take the place of the one before it."""
    match = re.search(r"elbmf fit .*-o (\S+)", command)
    there = match and Path(match[1]).exists()
    return f"{command} --overwrite" if there else command


def _in_process(arguments):
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        code = main(arguments)
    return code, out.getvalue()


def _in_shell(command):
    script = f'elbmf() {{ "{sys.executable}" -m elbmf "$@"; }}\nset -o pipefail\n{command}\n'
    done = subprocess.run(
        ["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.returncode, done.stdout


def _check_arguments(arguments):
    parser = _parser()
    args, unknown = parser.parse_known_args(arguments)
    assert not unknown, unknown
    assert args.command == arguments[0]


def _check_installation(words):
    """The extras that a line installs are in pyproject.toml."""
    assert words[1] == "install"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for requirement in words[2:]:
        match = re.fullmatch(rf"(?:\.|{project['name']})(?:\[([\w,-]+)\])?", requirement)
        assert match, requirement
        for extra in filter(None, (match[1] or "").split(",")):
            assert extra in project["optional-dependencies"], extra


def _assert_shown(shown, printed):
    """Each line that a page shows is among those that were printed, in the same order."""
    lines = iter([_steady(line) for line in printed.splitlines()])
    for line in filter(None, map(_steady, shown.splitlines())):
        pattern = ".*".join(map(re.escape, line.split("…")))
        assert any(re.fullmatch(pattern, other) for other in lines), (
            f"the page shows\n{shown}\nand not\n{printed}"
        )


def _steady(line):
    """Leave out of a line what differs from run to run."""
    return " ".join(_FIGURE.sub("…", line).split()) if "…" not in line else " ".join(line.split())
