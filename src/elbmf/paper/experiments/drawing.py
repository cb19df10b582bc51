"""What the figures share: panels of means with standard deviations, and their legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elbmf.paper.experiments.entrants import ENTRANTS, present
from elbmf.paper.experiments.experiment import Row
from elbmf.plots import new_figure, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_band", "grouped", "legend_below", "sweep_figure"]


def grouped(rows: Iterable[Row], by: str, of: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values of a column, sorted, with mean and deviation of another over their rows."""
    values: dict[Any, list[float]] = {}
    for row in rows:
        values.setdefault(row[by], []).append(row[of])
    keys = sorted(values)
    return (
        np.array(keys),
        np.array([np.mean(values[key]) for key in keys]),
        np.array([np.std(values[key]) for key in keys]),
    )


def draw_band(
    axes: Axes,
    x: np.ndarray,
    mean: np.ndarray,
    deviation: np.ndarray,
    most: float = np.inf,
    **style: Any,
) -> None:
    """Draw a mean as a line and the standard deviation as a shade, which ends at ``most``."""
    (line,) = axes.plot(x, mean, **style)
    above = np.minimum(mean + deviation, most)
    axes.fill_between(x, mean - deviation, above, color=line.get_color(), alpha=0.12, linewidth=0)


def legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    """Put the legend of one panel below all of them, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9
    )


def sweep_figure(
    rows: Sequence[Row], x: str, x_title: str, measures: Mapping[str, str], *, percent: bool
) -> Figure:
    """Draw how measures of all methods change along something, a panel for each measure.

    Parameters
    ----------
    rows : sequence of dict
        With ``x``, ``"method"`` and the measures.
    x, x_title : str
        The column along which, and what it is called.
    measures : mapping of str to str
        Columns to draw and what they are called.
    percent : bool
        Whether ``x`` is a share, to be written as percent.
    """
    figure = new_figure(3.6 * len(measures), 4.1)
    panels = figure.subplots(1, len(measures), squeeze=False)[0]
    for axes, (measure, title) in zip(panels, measures.items(), strict=True):
        for name in reversed(present(row["method"] for row in rows)):
            entrant = ENTRANTS[name]
            ours = (row for row in rows if row["method"] == name)
            at, mean, deviation = grouped(ours, x, measure)
            draw_band(
                axes,
                100 * at if percent else at,
                mean,
                deviation,
                most=np.inf if measure == "relative_loss" else 1,  # others are shares
                label=entrant.title,
                color=entrant.colour,
                marker=entrant.marker,
                linestyle=entrant.line,
                markersize=4.5,
                linewidth=1.4,
            )
        axes.set_title(title, loc="left")
        axes.set_xlabel(x_title)
        plain_axes(axes)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles[::-1], labels[::-1], loc="outside lower center", ncols=5, frameon=False, fontsize=9
    )
    return figure
