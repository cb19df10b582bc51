"""Fig. 6: relative loss, similarity, recall and runtime of all methods on real data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from elbmf import plots
from elbmf.comparison import Comparison
from elbmf.comparison.results import TIME_LIMIT
from elbmf.estimators import Asso, Binaps, BooleanFactorizer
from elbmf.paper.experiments.compared import COMPARED, PAPERS_ASSO, PAPERS_BINAPS, mark_of
from elbmf.paper.experiments.data_sets import names_of_sets, ones_of, open_set, rank_of
from elbmf.paper.experiments.experiment import PLAIN, Experiment, Row, Settings, Tables, Task
from elbmf.paper.experiments.real_data_claims import claims

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT", "methods"]

# What makes a quick run quick.
_QUICK_RANK = 20
_QUICK_SECONDS = 4.0
_QUICK_ONES = 200_000

_PAPERS_EPOCHS = 1500
_COLUMNS = (
    "status",
    "relative_loss",
    "similarity",
    "recall",
    "precision",
    "seconds",
    "peak_memory",
)

# What each panel shows, from top to bottom.
_PANELS = {
    "relative_loss": "relative loss",
    "similarity": "similarity",
    "recall": "recall",
    "seconds": "runtime in seconds",
}

# A relative loss above this is drawn at the edge, with its value beside it: the empty
# factorization has 1.
_WORST_LOSS = 1.05

# Share of its slot over which the marks of a set spread.
_SPREAD = 0.8

# Widths in inches, of a set and of all that is beside the sets.
_WIDTH_OF_SET, _WIDTH_BESIDE, _LEAST_WIDTH = 1.0, 2.9, 8.0
_HEIGHT = 11.0

# The ring around a method that was ended by the time limit.
_ENDED: dict[str, Any] = {
    "marker": "o",
    "markersize": 13,
    "markerfacecolor": "none",
    "markeredgecolor": "0.55",
    "markeredgewidth": 0.8,
    "linestyle": "none",
}


def methods(*, full: bool) -> dict[str, BooleanFactorizer]:
    """Return who takes part, by name.

    Plain ELBMF is a single run of the relaxation. Rivals have their defaults, which choose
    thresholds by the loss; NMF and Primp have 1500 epochs then. In full runs plain ELBMF has as
    many, and there are Asso and Binaps as the paper runs them: threshold and weights of Asso all
    1; Binaps as its authors' program does it, but for at least 3000 steps.
    """
    chosen = {name: method.make() for name, method in COMPARED.items()}
    chosen[PLAIN].set_params(n_init=1)
    if full:
        chosen[PLAIN].set_params(max_iter=_PAPERS_EPOCHS)
        chosen[PAPERS_ASSO] = Asso(threshold=1.0)
        chosen[PAPERS_BINAPS] = Binaps(zero_weight="density", threshold=0.2, prune=False)
    return chosen


def _tasks(settings: Settings) -> list[Task]:
    """Return tasks, for the set with fewest ones first: one for each method in full runs."""
    ones = {name: ones_of(name, settings) for name in names_of_sets(settings)}
    by_ones = sorted(ones, key=lambda name: (ones[name], name))
    everyone = list(methods(full=settings.full))
    if settings.full:
        return [{"set": name, "methods": [method]} for name in by_ones for method in everyone]
    # Together they start faster, and little is lost if they are interrupted.
    return [{"set": name, "methods": everyone} for name in by_ones if ones[name] <= _QUICK_ONES]


def _measure(task: Task, settings: Settings) -> Tables:
    """Run methods on a set, each in a process of its own."""
    A = open_set(task["set"], settings).matrix.values
    rank = rank_of(task["set"])
    everyone = methods(full=settings.full)
    comparison = Comparison(
        A,
        rank if settings.full else min(rank, _QUICK_RANK),
        {method: everyone[method] for method in task["methods"]},
        time_limit=None if settings.full else _QUICK_SECONDS,
        n_jobs=settings.n_jobs,
        random_state=settings.seed,
    )
    rows = []
    for result in comparison:
        figures = asdict(result)
        rows.append(
            {
                "set": task["set"],
                "method": result.method,
                **{column: figures[column] for column in _COLUMNS},
                "rank": comparison.estimators[result.method].n_components,
                "n": A.shape[0],
                "m": A.shape[1],
                "ones": int(A.nnz),
            }
        )
    return {"results": rows}


def _draw(tables: Tables) -> Mapping[str, Figure]:
    """Draw four panels: relative loss, similarity, recall, and runtime on a log scale."""
    rows = tables["results"]
    sets = list(dict.fromkeys(row["set"] for row in sorted(rows, key=lambda row: row["ones"])))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    places = {
        (name, method): at + _SPREAD * ((position + 0.5) / len(methods) - 0.5)
        for at, name in enumerate(sets)
        for position, method in enumerate(methods)
    }
    width = max(_LEAST_WIDTH, _WIDTH_OF_SET * len(sets) + _WIDTH_BESIDE)
    figure = plots.new_figure(width, _HEIGHT)
    panels = figure.subplots(len(_PANELS), 1, sharex=True, height_ratios=[1.5, 1, 1, 1.2])
    for letter, (measure, title), axis in zip("abcd", _PANELS.items(), panels, strict=True):
        _frame(axis, len(sets), f"{letter}  {title}")
        if measure == "seconds":
            axis.set_yscale("log")
        for row in rows:
            _place(axis, row, measure, places[row["set"], row["method"]])
    panels[0].set_ylim(0, _WORST_LOSS + 0.03)
    for axis in panels[1:3]:
        axis.set_ylim(top=1.03)
    panels[2].set_ylim(bottom=-0.03)
    sizes = {row["set"]: f"{row['n']:,}×{row['m']:,}, k = {row['rank']}" for row in rows}
    panels[-1].set_xticks(
        range(len(sets)),
        [f"{name}\n{sizes[name]}" for name in sets],
        fontsize=8,
        rotation=35,
        ha="right",
        rotation_mode="anchor",
    )
    _add_legend(figure, methods, rows)
    return {"real-data": figure}


def _frame(axis: Axes, count: int, title: str) -> None:
    """Prepare a panel, with a shade behind every other set."""
    axis.set_title(title, loc="left", fontsize=10)
    axis.grid(axis="y", color="0.9", linewidth=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(axis="x", length=0)
    axis.set_xlim(-0.5, count - 0.5)
    for at in range(0, count, 2):
        axis.axvspan(at - 0.5, at + 0.5, color="0.96", zorder=0, linewidth=0)


def _place(axis: Axes, row: Row, measure: str, x: float) -> None:
    """Draw the mark of one method on one set, or a cross at the edge where there is no result."""
    value = row[measure]
    _, look = mark_of(row["method"])
    colour = (
        look["markeredgecolor"] if look["markerfacecolor"] == "white" else look["markerfacecolor"]
    )
    if value is None or not math.isfinite(value):
        edge = axis.get_xaxis_transform()
        axis.plot(
            [x],
            [1.0],
            "x",
            transform=edge,
            color=colour,
            markersize=5,
            markeredgewidth=1.4,
            clip_on=False,
        )
        return
    beyond = measure == "relative_loss" and value > _WORST_LOSS
    height = _WORST_LOSS if beyond else value
    axis.plot([x], [height], clip_on=False, zorder=3, **look)
    if beyond:
        axis.annotate(
            f"{value:.3g}",
            (x, height),
            xytext=(0, 5),
            textcoords="offset points",
            fontsize=6,
            ha="center",
            color=colour,
        )
    if row["status"] == TIME_LIMIT:
        axis.plot([x], [height], clip_on=False, zorder=2, **_ENDED)


def _add_legend(figure: Figure, methods: list[str], rows: list[Row]) -> None:
    """Explain the marks, at the side of the panels."""
    from matplotlib.lines import Line2D

    entries = []
    for method in methods:
        title, look = mark_of(method)
        entries.append(Line2D([], [], label=title, **look))
    if any(row["status"] == TIME_LIMIT and row["seconds"] is not None for row in rows):
        entries.append(Line2D([], [], label="ended by the time limit", **_ENDED))
    if any(row["relative_loss"] is None for row in rows):
        entries.append(Line2D([], [], marker="x", color="0.3", linestyle="none", label="no result"))
    figure.legend(handles=entries, loc="outside right upper", frameon=False, fontsize=9)


EXPERIMENT = Experiment(
    name="real-data",
    shows="Fig. 6",
    title="relative loss, similarity, recall and runtime of all methods on real data",
    tasks=_tasks,
    measure=_measure,
    draw=_draw,
    claims=claims,
    remark="Rivals are those of this package, on bit-parallel kernels: GreConD and Asso are "
    "hundreds to thousands of times as fast as the programs that the paper timed, which is why "
    "claims about runtime do not carry over. Time is that of the fit alone.",
)
