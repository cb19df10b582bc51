"""elbmf demo."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from elbmf import estimators
from elbmf.io import load_model, read


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let little be searched: `make test` runs the demo in full to compile the kernels."""
    monkeypatch.setattr(estimators, "ELBMF", partial(estimators.ELBMF, max_iter=50, effort=0))


def test_demo(elbmf: Any) -> None:
    result = elbmf("demo")
    assert result.code == 0
    assert "relative loss" in result.out
    assert "most often the digit" in result.out
    assert "components.png" in result.err
    assert Path("demo/components.png").read_bytes().startswith(b"\x89PNG")
    assert load_model("demo/model").shape == (1797, 20, 64)
    assert Path("demo/model/components.tsv").exists()
    assert read("demo/digits.csv").shape == (1797, 64)
    assert "Next:\n  open demo/report.html in a browser" in result.err
    assert "<html" in Path("demo/report.html").read_text(encoding="utf-8")
    # What the model notes leads to the data beside it.
    assert elbmf("report", "demo/model", "-o", "report.html").err.startswith("Wrote report.html")
    elbmf("demo").assert_error("--overwrite")
    assert elbmf("demo", "--overwrite", "-q").err.count("Next") == 0


def test_demo_without_matplotlib(elbmf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = elbmf("demo", "-o", "elsewhere/demo")
    assert result.code == 0
    assert "relative loss" in result.out
    assert "pip install 'matplotlib>=3.8' (that is elbmf[plots])" in result.err
    assert "look at elsewhere/demo/components.png" not in result.err
    assert load_model("elsewhere/demo/model").shape == (1797, 20, 64)
