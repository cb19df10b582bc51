"""Heat maps of small tables of shares, which several figures are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from elbmf.plots.look import TICK, faint_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heat_map", "ticks_that_fit"]

# Cells up to which each shows its value, along the longer side.
_MOST_VALUES = 14


def heat_map(ax: Axes, shares: NDArray[np.float64], meaning: str, *, values: bool = True) -> None:
    """Draw a table of numbers from 0 to 1; what is not a number is grey.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    shares : ndarray of shape (rows, columns)
        The table.
    meaning : str
        What the bar of colours says it shows.
    values : bool, default=True
        Whether to write the numbers into the cells of a small table.
    """
    # At least one cell, for that is what can be drawn.
    drawn = np.full(np.maximum(shares.shape, 1), np.nan)
    drawn[: shares.shape[0], : shares.shape[1]] = shares
    # Up to the next tenth, so that pale maps can be read; the bar tells how far.
    known = drawn[np.isfinite(drawn)]
    greatest = max(0.1, float(np.ceil(10 * known.max())) / 10) if known.size else 1.0
    image = ax.imshow(
        np.ma.masked_invalid(drawn),
        cmap="Blues",
        vmin=0,
        vmax=greatest,
        aspect="auto",
        interpolation="nearest",
    )
    ax.set_facecolor("0.88")
    faint_frame(ax)
    ax.tick_params(length=2, color="0.6", labelsize=TICK)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.05, pad=0.02)
    bar.set_label(meaning, fontsize=TICK)
    bar.ax.tick_params(labelsize=TICK)
    bar.outline.set_visible(False)
    if values and max(drawn.shape) <= _MOST_VALUES:
        for (row, column), share in np.ndenumerate(drawn):
            if np.isfinite(share) and share >= 0.005:
                ax.text(
                    column,
                    row,
                    f"{100 * share:.0f}",
                    ha="center",
                    va="center",
                    fontsize=TICK - 1,
                    color="white" if share > 0.6 * greatest else "0.25",
                )


def ticks_that_fit(ax: Axes, axis: str, texts: Sequence[str], *, rotated: bool = False) -> None:
    """Write what each line of a table is, or what every second, third, … is where they are many.

    Parameters
    ----------
    ax : Axes
        Of a heat map.
    axis : {"x", "y"}
        Along which.
    texts : sequence of str
        One for each line.
    rotated : bool, default=False
        Whether texts along the x axis stand upright.
    """
    box = ax.get_window_extent()
    points = (box.width if axis == "x" else box.height) * 72 / ax.figure.dpi
    if axis == "x" and not rotated:
        wanted = 0.62 * TICK * (0.6 + max(map(len, texts), default=0))
    else:
        wanted = 1.15 * TICK
    step = max(1, int(np.ceil(wanted * len(texts) / max(points, 1))))
    places = range(0, len(texts), step)
    shown = [texts[place] for place in places]
    if axis == "x":
        ax.set_xticks(places, shown, fontsize=TICK, rotation=90 if rotated else 0)
    else:
        ax.set_yticks(places, shown, fontsize=TICK)
