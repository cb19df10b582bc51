import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import elbmf as elbmf_package
from elbmf.cli import main
from elbmf.io import LabelledMatrix, write

TILES = """\
person,apple,pear,plum,fig,nut
ann,1,1,0,0,0
bob,1,1,0,0,0
cy,1,1,0,0,0
dee,0,0,1,1,0
eve,0,0,1,1,0
"""


@pytest.fixture(autouse=True, scope="session")
def heard_interrupts() -> Any:
    """Let SIGINT be heard: a job in the background starts with it ignored, and so do its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Result:
    """Exit code, stdout and stderr of a command that ran in this process."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def assert_error(self, *parts: str) -> None:
        """It failed with one message, which says all this, and nothing on stdout."""
        assert self.code == 2
        assert self.out == ""
        assert self.err.startswith("elbmf: error: ")
        assert self.err.count("error:") == 1
        assert "Traceback" not in self.err
        for part in parts:
            assert part in self.err


@pytest.fixture
def elbmf(
    capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Run a command in an empty folder that has tiles.csv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ELBMF_DEBUG", raising=False)
    (tmp_path / "tiles.csv").write_text(TILES)

    def run(*arguments: Any) -> Result:
        capfdbinary.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capfdbinary.readouterr()
        return Result(code, captured.out.decode(), captured.err.decode())

    return run


@pytest.fixture
def model(elbmf: Callable[..., Result]) -> str:
    """A saved model of tiles.csv."""
    assert elbmf("fit", "tiles.csv", "-k", 2, "--seed", 0, "-o", "model").code == 0
    return "model"


@pytest.fixture
def noise(tmp_path: Path) -> Path:
    """A matrix on which a fit does not end by itself for a long time."""
    generator = np.random.default_rng(0)
    values = sparse.csr_array(generator.random((500, 300)) < 0.1)
    write(tmp_path / "noise.npz", LabelledMatrix(values))
    return tmp_path / "noise.npz"


def _default_signals() -> None:
    # Under a shell that ignores SIGINT for jobs in the background, children would too.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def start() -> Any:
    """Start the command as a process of its own."""
    started: list[subprocess.Popen[bytes]] = []

    # The same package as in this process, whichever is installed.
    package = str(Path(elbmf_package.__file__).parents[1])

    def run(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        paths = [*filter(None, [options.pop("pythonpath", "")]), package]
        process = subprocess.Popen(
            [sys.executable, "-m", "elbmf", *map(str, arguments)],
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=options.pop("stderr", subprocess.PIPE),
            env={**os.environ, "COLUMNS": "120", "PYTHONPATH": os.pathsep.join(paths)},
            preexec_fn=_default_signals,
            **options,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
