"""What the experiments on small matrices share: all methods, on tiles drawn at several levels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from elbmf.boolean.metrics import measures
from elbmf.datasets import TiledMatrix, make_tiles
from elbmf.paper.experiments.drawing import sweep_figure
from elbmf.paper.experiments.entrants import ENTRANTS, estimator
from elbmf.paper.experiments.experiment import Claim, Experiment, Row, Settings, Tables, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Means", "Sweep", "draw_small_tiles"]

_TABLE = "results"
_SHAPE, _RANK = (40, 30), 5
_PAPERS_DRAWS, _QUICK_DRAWS = 10, 2


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
        draws = _PAPERS_DRAWS if settings.full else _QUICK_DRAWS
        return [{self.along: level, "draw": draw} for level in self.levels for draw in range(draws)]

    def measure(self, task: Task, settings: Settings) -> Tables:
        """Run all methods on one matrix."""
        seed = settings.seed_of(task["draw"])
        drawn = self.draw_matrix(task[self.along], seed)
        rows = []
        for name in ENTRANTS:
            # One thread: a matrix of this size is done before a second one has begun.
            model = estimator(name, n_components=_RANK, random_state=seed, n_jobs=1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                U = model.fit_transform(drawn.A)
            found = measures(drawn.A, U, model.components_, drawn.truth, n_jobs=1)
            rows.append({**task, "method": name, **found})
        return {_TABLE: rows}

    def draw(self, tables: Tables) -> Mapping[str, Figure]:
        """Draw a panel for each measure."""
        figure = sweep_figure(
            tables[_TABLE], self.along, self.title, self.measured, percent=self.percent
        )
        return {self.name: figure}

    def means(self, tables: Tables) -> Means:
        """Return means and deviations over the draws."""
        return Means(tables[_TABLE], self.along)


class Means:
    """Means and deviations of each method at each level.

    Parameters
    ----------
    rows : sequence of dict
        Results.
    along : str
        The column of levels.

    Attributes
    ----------
    levels : list of float
        Sorted.
    """

    def __init__(self, rows: Sequence[Row], along: str) -> None:
        self._values: dict[tuple[str, float], list[Row]] = {}
        for row in rows:
            self._values.setdefault((row["method"], row[along]), []).append(row)
        self.levels: list[float] = sorted({row[along] for row in rows})

    def mean(self, method: str, measure: str, level: float) -> float:
        """Return a mean over the draws."""
        return float(np.mean(self._of(method, measure, level)))

    def deviation(self, method: str, measure: str, level: float) -> float:
        """Return a standard deviation over the draws."""
        return float(np.std(self._of(method, measure, level)))

    def curve(self, method: str, measure: str, least: float = -np.inf) -> np.ndarray:
        """Return the means at all levels from one on."""
        return np.array([self.mean(method, measure, at) for at in self.levels if at >= least])

    def deviations(self, method: str, measure: str, least: float = -np.inf) -> np.ndarray:
        """Return the deviations at all levels from one on."""
        return np.array([self.deviation(method, measure, at) for at in self.levels if at >= least])

    def _of(self, method: str, measure: str, level: float) -> list[float]:
        return [row[measure] for row in self._values[method, level]]
