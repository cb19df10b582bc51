"""How far a run is, as Python shows it: nowhere unless asked for, and without a trace after it."""

import io
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from elbmf import ELBMF, Binaps, GreConD, MinimalCover, RankSearch, compare, significance, stability
from elbmf.datasets import make_tiles
from elbmf.utils import screen

A = make_tiles((60, 50), 3, height=(12, 20), noise=0.05, random_state=0).A
QUICK = {"max_iter": 20, "effort": 0.01, "random_state": 0}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def log(monkeypatch: Any, capsys: Any) -> Callable[[], str]:
    """What was written to a log, with all lines, since this was last asked."""
    monkeypatch.setattr("elbmf.estimators.progress_line._SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(screen, "_SECONDS_IN_LOG", 0.0)
    return lambda: capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (ELBMF(3, **QUICK), "epoch 1  relative loss"),
        (ELBMF("auto", **QUICK), "components  epoch"),
        (GreConD(3), "component 2"),
        (Binaps(3, random_state=0), "epoch 1"),
        (MinimalCover(effort=0.01, random_state=0), "components, at least"),
        (RankSearch(ELBMF(**QUICK), max_components=3), "steps  rank 2"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else None,
)
def test_a_fit_says_how_far_it_is_when_it_is_asked_to(
    model: Any, said: str, log: Callable[[], str]
) -> None:
    silent = clone(model).fit(A)
    assert log() == ""
    told = clone(model).set_params(verbose=True).fit(A)
    lines = log()
    assert said in lines
    assert "\r" not in lines
    found = getattr(silent, "best_estimator_", silent), getattr(told, "best_estimator_", told)
    np.testing.assert_array_equal(found[0].components_, found[1].components_)
    assert vars(silent).keys() == vars(told).keys()
    pickle.dumps(told)


def test_on_a_terminal_the_line_is_gone_in_the_end(monkeypatch: Any) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    ELBMF(3, verbose=1, **QUICK).fit(A)
    shown = terminal.getvalue()
    assert shown.startswith("\rpreparing …")
    assert shown.endswith("\r\x1b[K")
    assert "\n" not in shown


def test_the_line_says_that_kernels_are_compiled(slow_compiler: Any, monkeypatch: Any) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    def compile_something(_: Any) -> None:
        slow_compiler.on_start(None)
        slow_compiler.on_end(None)

    ELBMF(3, verbose=True, callback=compile_something, **QUICK).fit(A)
    lines = terminal.getvalue().split("\r")
    told = [line for line in lines if "compiling kernels, once on this machine" in line]
    assert len(told) > 2
    assert all(line.endswith(" s so far\x1b[K") for line in told)
    assert "\n" not in terminal.getvalue()
    slow_compiler.on_start(None)
    slow_compiler.on_end(None)
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_the_line_is_gone_after_an_error_too(monkeypatch: Any) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    def fail(_: Any) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        ELBMF(3, verbose=True, callback=fail, **QUICK).fit(A)
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_callback_is_told_beside_the_line(log: Callable[[], str]) -> None:
    told: list[Any] = []
    ELBMF(3, verbose=True, callback=told.append, **QUICK).fit(A)
    alone: list[Any] = []
    ELBMF(3, callback=alone.append, **QUICK).fit(A)
    assert [(each.stage, each.loss) for each in told] == [(each.stage, each.loss) for each in alone]
    assert log()


def test_comparisons_show_a_line_of_their_own_and_none_of_fits(
    log: Callable[[], str],
) -> None:
    method = ELBMF(3, verbose=True, **QUICK)
    stability(A, method, runs=2)
    compare(A, 3, ["grecond"])
    significance(A, method, samples=1)
    assert log() == ""
    stability(A, method, runs=2, verbose=True)
    assert "2 of 2 runs" in log()
    compare(A, 3, ["grecond"], verbose=True)
    assert "grecond (1 of 1)" in log()
    significance(A, method, samples=1, verbose=True)
    assert "1 of 1 random matrices" in log()


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="verbose"):
        ELBMF(3, verbose="loud").fit(A)
