"""What the figures share: panels of means with standard deviations, and their legend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from elbmf.paper.experiments.experiment import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_band", "grouped", "legend_below"]


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


def legend_below(figure: Figure, axes: Axes, columns: int, *, reverse: bool = False) -> None:
    """Put the legend of one panel below all of them, where it covers nothing."""
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=columns,
        reverse=reverse,
        frameon=False,
        fontsize=9,
    )
