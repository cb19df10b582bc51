"""What experiments on small matrices share: all methods, at several levels, and their claims."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from elbmf.boolean.metrics import measures
from elbmf.datasets import TiledMatrix, make_tiles
from elbmf.paper.experiments.compared import COMPARED, RIVALS, draw_band, grouped, legend_below
from elbmf.paper.experiments.experiment import Claim, Experiment, Row, Settings, Tables, Task
from elbmf.plots import new_figure, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "Means",
    "Sweep",
    "best_of_all",
    "draw_small_tiles",
    "listed",
    "percent",
    "span",
    "titles",
]

_Check = Callable[[str], tuple[str, bool | None]]
"""From the name of a method to what was measured and whether the claim holds."""

_TABLE = "results"
_SHAPE, _RANK = (40, 30), 5

# Means that differ by less are taken for equal: no figure shows it.
_EQUAL = 0.0005


def draw_small_tiles(
    side: tuple[int, int], noise: float, seed: int, *, overlap: bool = False
) -> TiledMatrix:
    """Draw a 40×30 matrix with 5 tiles (Sec. 4.1)."""
    return make_tiles(_SHAPE, _RANK, height=side, noise=noise, overlap=overlap, random_state=seed)


@dataclass(frozen=True)
class Sweep:
    """All methods on matrices drawn at several levels of something, several draws of each.

    Parameters
    ----------
    name : str
        Of the experiment and its figure.
    along, title : str
        What changes, as a column and for people.
    levels : sequence of float
        Its values.
    draw_matrix : callable
        From a level and a seed to a matrix.
    measured : mapping of str to str
        The measures to draw, and what they are called.
    percent : bool
        Whether levels are shares, to be written as percent.
    """

    name: str
    along: str
    title: str
    levels: Sequence[float]
    draw_matrix: Callable[[float, int], TiledMatrix]
    measured: Mapping[str, str]
    percent: bool

    def experiment(
        self,
        shows: str,
        title: str,
        claims: Callable[[Tables], Sequence[Claim]],
        remark: str = "",
    ) -> Experiment:
        """Return the experiment that measures this sweep and draws it."""
        run = (self.tasks, self.measure, self.draw)
        return Experiment(self.name, shows, title, *run, claims, remark)

    def tasks(self, settings: Settings) -> list[Task]:
        """Return a task for each matrix: 10 draws of each level in the paper."""
        draws = settings.draws(quick=2)
        return [{self.along: level, "draw": draw} for level in self.levels for draw in draws]

    def measure(self, task: Task, settings: Settings) -> Tables:
        """Run all methods on one matrix."""
        seed = settings.seed_of(task["draw"])
        drawn = self.draw_matrix(task[self.along], seed)
        rows = []
        for name in COMPARED:
            # One thread: a matrix of this size is done before a second one has begun.
            model = COMPARED[name].make(n_components=_RANK, random_state=seed, n_jobs=1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                U = model.fit_transform(drawn.A)
            found = measures(drawn.A, U, model.components_, drawn.truth, n_jobs=1)
            rows.append({**task, "method": name, **found})
        return {_TABLE: rows}

    def draw(self, tables: Tables) -> Mapping[str, Figure]:
        """Draw how the measures of all methods change, a panel for each measure."""
        rows = tables[_TABLE]
        figure = new_figure(3.6 * len(self.measured), 4.1)
        panels = figure.subplots(1, len(self.measured), squeeze=False)[0]
        there = {row["method"] for row in rows}
        for axes, (measure, title) in zip(panels, self.measured.items(), strict=True):
            for name in reversed(COMPARED):
                if name not in there:
                    continue
                method = COMPARED[name]
                ours = (row for row in rows if row["method"] == name)
                at, mean, deviation = grouped(ours, self.along, measure)
                draw_band(
                    axes,
                    100 * at if self.percent else at,
                    mean,
                    deviation,
                    most=np.inf if measure == "relative_loss" else 1,  # others are shares
                    label=method.title,
                    color=method.colour,
                    marker=method.marker,
                    linestyle=method.line,
                    markersize=4.5,
                    linewidth=1.4,
                )
            axes.set_title(title, loc="left")
            axes.set_xlabel(self.title)
            plain_axes(axes)
        legend_below(figure, panels[0], 5, reverse=True)
        return {self.name: figure}

    def means(self, tables: Tables) -> Means:
        """Return means and deviations over the draws."""
        return Means(tables[_TABLE], self.along)


class Means:
    """Means and deviations of each method at each of the levels in a column of results."""

    def __init__(self, rows: Sequence[Row], along: str) -> None:
        self._rows, self._along = rows, along
        self.levels: list[float] = sorted({row[along] for row in rows})

    def mean(self, method: str, measure: str, level: float) -> float:
        """Return a mean over the draws."""
        return float(self.curve(method, measure)[self.levels.index(level)])

    def curve(self, method: str, measure: str, least: float = -np.inf) -> np.ndarray:
        """Return the means at all levels from one on."""
        return self._grouped(method, measure, least)[0]

    def deviations(self, method: str, measure: str, least: float = -np.inf) -> np.ndarray:
        """Return the deviations at all levels from one on."""
        return self._grouped(method, measure, least)[1]

    def _grouped(self, method: str, measure: str, least: float) -> tuple[np.ndarray, np.ndarray]:
        rows = (row for row in self._rows if row["method"] == method)
        at, mean, deviation = grouped(rows, self._along, measure)
        return mean[at >= least], deviation[at >= least]


def percent(level: float) -> str:
    """Write a level of noise."""
    return f"{level:.0%}"


def titles(names: Sequence[str]) -> str:
    """Name methods."""
    return ", ".join(COMPARED[name].title for name in names)


def listed(values: Mapping[str, float]) -> str:
    """Write a value of each of several methods."""
    return ", ".join(f"{COMPARED[name].title} {value:.3f}" for name, value in values.items())


def span(values: np.ndarray) -> str:
    """Write the least and the greatest of several values."""
    return f"{values.min():.3f}–{values.max():.3f}"


def best_of_all(
    means: Means,
    measure: str,
    write: Callable[[float], str],
    *,
    least: float = -np.inf,
    lower: bool = False,
    rivals: Sequence[str] = RIVALS,
) -> _Check:
    """Return a check that no rival's mean is better than that of a method, at any level.

    ``least`` is the level from which on, ``write`` makes words of a level, and ``lower`` says
    whether lower is better.
    """
    sign = -1 if lower else 1

    def check(name: str) -> tuple[str, bool]:
        exceptions = []
        levels = [level for level in means.levels if level >= least]
        for level in levels:
            ours = means.mean(name, measure, level)
            ahead = {
                rival: means.mean(rival, measure, level)
                for rival in rivals
                if sign * (means.mean(rival, measure, level) - ours) > _EQUAL
            }
            if ahead:
                best = max(ahead, key=lambda rival: sign * ahead[rival])
                exceptions.append(
                    f"{write(level)} ({titles([best])} {ahead[best]:.3f}, here {ours:.3f})"
                )
        if not exceptions:
            return f"best at all {len(levels)} levels", True
        where = "; ".join(exceptions)
        return (
            f"best at {len(levels) - len(exceptions)} of {len(levels)} levels, not at {where}",
            False,
        )

    return check
