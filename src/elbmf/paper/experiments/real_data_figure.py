"""The picture of Fig. 6: four panels over the same sets, a mark for each method."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from elbmf import plots
from elbmf.comparison.results import TIME_LIMIT
from elbmf.paper.experiments.entrants import look_of
from elbmf.paper.experiments.experiment import Row, Tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]

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


def draw(tables: Tables) -> Mapping[str, Figure]:
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
    described = {row["set"]: row for row in rows}
    panels[-1].set_xticks(
        range(len(sets)),
        [f"{name}\n{_about(described[name])}" for name in sets],
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
    _, look = look_of(row["method"])
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


_ENDED: dict[str, Any] = {
    "marker": "o",
    "markersize": 13,
    "markerfacecolor": "none",
    "markeredgecolor": "0.55",
    "markeredgewidth": 0.8,
    "linestyle": "none",
}


def _about(row: Row) -> str:
    """Say how large a set is."""
    return f"{row['n']:,}×{row['m']:,}, k = {row['rank']}"


def _add_legend(figure: Figure, methods: list[str], rows: list[Row]) -> None:
    """Explain the marks, at the side of the panels."""
    from matplotlib.lines import Line2D

    entries = []
    for method in methods:
        title, look = look_of(method)
        entries.append(Line2D([], [], label=title, **look))
    if any(row["status"] == TIME_LIMIT and row["seconds"] is not None for row in rows):
        entries.append(Line2D([], [], label="ended by the time limit", **_ENDED))
    if any(row["relative_loss"] is None for row in rows):
        entries.append(Line2D([], [], marker="x", color="0.3", linestyle="none", label="no result"))
    figure.legend(handles=entries, loc="outside right upper", frameon=False, fontsize=9)
