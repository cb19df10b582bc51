"""The examples run, and end in something to look at; those whose data is not here are not run."""

import re
import runpy
from pathlib import Path

import pytest

import elbmf
from elbmf import ELBMF
from real_data import prepared

pyplot = pytest.importorskip("matplotlib.pyplot")

pytestmark = pytest.mark.docs

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))


def test_there_are_some():
    assert {path.stem for path in EXAMPLES} >= {
        "plot_digits",
        "plot_genomes",
        "plot_newsgroups",
        "plot_roles",
    }


def _quick(*args, **parameters):
    """Search for little: what is looked at is not how low the loss is."""
    return ELBMF(*args, **{**parameters, "effort": 0})


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_ends_in_something_to_look_at(path, tmp_path, monkeypatch):
    for name in re.findall(r"^# Needs the data set (\w+)\.$", path.read_text("utf-8"), re.M):
        monkeypatch.setenv("ELBMF_DATA", str(prepared(name).parent))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(elbmf, "ELBMF", _quick)
    pyplot.switch_backend("agg")
    try:
        runpy.run_path(str(path))
        assert pyplot.get_fignums()
    finally:
        pyplot.close("all")
    (page,) = tmp_path.glob("*.html")
    assert "<!doctype html>" in page.read_text("utf-8")[:20]
