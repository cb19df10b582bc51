"""Fig. 5: AIC, MDL and Bai & Ng's first criterion find the rank of a matrix."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sklearn.exceptions import ConvergenceWarning

from elbmf.datasets import make_tiles
from elbmf.estimators.rank_search import RankSearch
from elbmf.paper.experiments.compared import COMPARED, draw_band, grouped, legend_below
from elbmf.paper.experiments.experiment import (
    PLAIN,
    REFINED,
    Claim,
    Experiment,
    Settings,
    Tables,
    Task,
    checked,
)
from elbmf.plots import grouped_digits, new_figure, plain_axes
from elbmf.ranks.criteria import CRITERIA, count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_CURVES, _CHOICES = "criteria", "choices"
_TRUE_RANK, _MOST = 10, 30
_CRITERIA = {"aic": "AIC", "mdl": "MDL", "bai_ng_1": "Bai & Ng 1"}
_WHERE = "Sec. 4.1, Fig. 5"


def _tasks(settings: Settings) -> list[Task]:
    draws = settings.draws(quick=1)
    return [{"method": name, "draw": draw} for draw in draws for name in (REFINED, PLAIN)]


def _measure(task: Task, settings: Settings) -> Tables:
    """Search the ranks to 30 on 400×300 cells with 10 tiles and 10% noise."""
    seed = settings.seed_of(task["draw"])
    # The paper does not say how large its tiles are; ten of these fit, and cover a fifth.
    drawn = make_tiles((400, 300), _TRUE_RANK, height=(30, 70), noise=0.1, random_state=seed)
    method = COMPARED[task["method"]].make(random_state=seed, n_jobs=settings.n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = RankSearch(method, _MOST, every=True).fit(drawn.A)
    truth = count(drawn.A, drawn.U, drawn.V)
    curves = [
        {
            **task,
            "rank": int(rank),
            "relative_loss": float(search.table_["relative_loss"][at]),
            **{name: float(search.table_[name][at]) for name in _CRITERIA},
        }
        for at, rank in enumerate(search.table_["rank"])
    ]
    choices = [
        {
            **task,
            "criterion": name,
            "chosen": int(search.choices_[name]),
            "value": float(search.table_[name].min()),
            "value_of_tiles": float(CRITERIA[name](truth)),
        }
        for name in _CRITERIA
    ]
    return {_CURVES: curves, _CHOICES: choices}


def _draw(tables: Tables) -> Mapping[str, Figure]:
    figure = new_figure(11, 3.9)
    panels = figure.subplots(1, len(_CRITERIA))
    for axes, (criterion, title) in zip(panels, _CRITERIA.items(), strict=True):
        for name in (PLAIN, REFINED):
            rows = (row for row in tables[_CURVES] if row["method"] == name)
            ranks, mean, deviation = grouped(rows, "rank", criterion)
            method = COMPARED[name]
            draw_band(
                axes,
                ranks,
                mean,
                deviation,
                label=method.title,
                color=method.colour,
                marker=method.marker,
                markersize=3,
                linewidth=1.4,
            )
            least = mean.argmin()
            axes.plot(
                ranks[least],
                mean[least],
                "o",
                markersize=13,
                markerfacecolor="none",
                markeredgecolor=method.colour,
                label=f"{method.title}: least",
            )
        axes.axvline(_TRUE_RANK, color="0.4", linewidth=1, linestyle=":", label="true rank")
        axes.set_title(title, loc="left")
        axes.set_xlabel("number of components")
        axes.yaxis.set_major_formatter(grouped_digits)
        plain_axes(axes)
    legend_below(figure, panels[0], 5)
    return {"model-selection": figure}


def _claims(tables: Tables) -> Sequence[Claim]:
    def finds_it(name: str, criterion: str) -> tuple[str, bool]:
        rows = [
            row
            for row in tables[_CHOICES]
            if row["criterion"] == criterion and row["method"] == name
        ]
        chosen = Counter(row["chosen"] for row in rows)
        right = chosen[_TRUE_RANK]
        better = sum(row["value"] < row["value_of_tiles"] for row in rows)
        listed = ", ".join(f"{rank} ({times}×)" for rank, times in sorted(chosen.items()))
        return (
            f"chosen: {listed}; on {better} of {len(rows)} draws what is chosen is better, by the "
            "criterion, than the true tiles",
            right > len(rows) / 2,
        )

    return [
        checked(
            _WHERE,
            f"{title} finds the true rank, 10 (on most draws).",
            partial(finds_it, criterion=criterion),
        )
        for criterion, title in _CRITERIA.items()
    ]


EXPERIMENT = Experiment(
    name="model-selection",
    shows="Fig. 5",
    title="AIC, MDL and Bai & Ng's first criterion by rank; the true one is 10",
    tasks=_tasks,
    measure=_measure,
    draw=_draw,
    claims=_claims,
    remark="Tiles that lie side by side share rows, so that 9 components lose only some 180 cells "
    "more than the 10 true ones. The better the factorization, the more often AIC and Bai & Ng's "
    "criterion prefer fewer components to the true tiles.",
)
