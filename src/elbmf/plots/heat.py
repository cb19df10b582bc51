"""Heat maps of small tables of shares, such as of what components share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from elbmf.analysis import block_order
from elbmf.analysis import component_overlap as overlap_of
from elbmf.errors import InputError
from elbmf.plots.canvas import one_of
from elbmf.plots.look import TICK, faint_frame, room, say, titled
from elbmf.plots.names import words_of, wrapped
from elbmf.plots.subject import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["component_overlap", "heat_map", "ticks_that_fit"]

# Cells up to which each shows its value, along the longer side.
_MOST_VALUES = 14


def heat_map(
    ax: Axes,
    shares: NDArray[np.float64],
    meaning: str,
    *,
    values: bool = True,
    nothing: str = "",
) -> None:
    """Draw a table of numbers from 0 to 1, or down to -1; what is not a number is grey.

    The bar of colours says what is shown, its meaning. The numbers are in percent, and are written
    into the cells of a small table, unless ``values`` is False. Where all are 0, there is no bar
    but a text that says so, ``nothing``.
    """
    from matplotlib.ticker import FuncFormatter

    # At least one cell, for that is what can be drawn.
    drawn = np.full(np.maximum(shares.shape, 1), np.nan)
    drawn[: shares.shape[0], : shares.shape[1]] = shares
    # Up to the next tenth, so that pale maps can be read; the bar tells how far.
    known = drawn[np.isfinite(drawn)]
    greatest = max(0.1, float(np.ceil(10 * np.abs(known).max())) / 10) if known.size else 1.0
    both_ways = bool((known < 0).any())
    image = ax.imshow(
        np.ma.masked_invalid(drawn),
        cmap="RdBu" if both_ways else "Blues",
        vmin=-greatest if both_ways else 0,
        vmax=greatest,
        aspect="auto",
        interpolation="nearest",
    )
    ax.set_facecolor("0.88")
    faint_frame(ax)
    ax.tick_params(length=2, color="0.6", labelsize=TICK)
    if nothing and not known.any():
        say(ax, nothing)
        return
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.05, pad=0.02)
    bar.ax.tick_params(labelsize=TICK)
    bar.outline.set_visible(False)
    if values:
        bar.formatter = FuncFormatter(lambda share, _: f"{100 * share:.4g}")
    # Along the bar, which is as long as the map is high.
    bar.set_label(wrapped(meaning, room(ax)[1], TICK), fontsize=TICK)
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


def ticks_that_fit(ax: Axes, axis: Literal["x", "y"], texts: Sequence[str]) -> None:
    """Write what each line of a table is, or what every second, third, … is where they are many."""
    box = ax.get_window_extent()
    points = (box.width if axis == "x" else box.height) * 72 / ax.figure.dpi
    # The widest text needs its width, or all texts their height.
    lines = 0.62 * (0.6 + max(map(len, texts), default=0)) if axis == "x" else 1.15
    step = max(1, int(np.ceil(lines * TICK * len(texts) / max(points, 1))))
    places = range(0, len(texts), step)
    shown = [texts[place] for place in places]
    write = ax.set_xticks if axis == "x" else ax.set_yticks
    write(places, shown, fontsize=TICK)


def component_overlap(
    model: Any,
    *,
    what: Literal["cells", "rows", "columns"] = "cells",
    ax: Axes | None = None,
) -> Axes:
    """Draw how much components share, those that share much next to each other.

    Parameters
    ----------
    model : fitted estimator, SavedModel or (U, V)
        The factorization.
    what : {"cells", "rows", "columns"}, default="cells"
        What is counted. The entry in line a and column b is the share of those of component a that
        are also in b.
    ax : Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    Axes
    """
    if what not in ("cells", "rows", "columns"):
        raise InputError(f"what must be 'cells', 'rows' or 'columns'; got {what!r}.")
    subject = Subject.of(model)
    order = block_order(subject.U, subject.V).components
    counts = getattr(overlap_of(subject.U, subject.V), what)[np.ix_(order, order)]
    own = np.diag(counts)[:, None]
    shares = np.divide(counts, own, out=np.zeros(counts.shape), where=own > 0)
    np.fill_diagonal(shares, np.nan)  # that a component shares all with itself is no news
    ax = one_of(ax, 5.6, 4.8)
    spoken = words_of(model).spoken
    if len(order) > 1:
        nothing = f"No two of the {len(order)} components share any of their {what}."
    else:
        nothing = f"There is {('no', 'one')[len(order)]} component: there is nothing to share with."
    heat_map(
        ax,
        shares,
        spoken(f"% of the {what} of the component at the left"),
        nothing=spoken(nothing),
    )
    numbers = [str(each) for each in order]
    ticks_that_fit(ax, "x", numbers)
    ticks_that_fit(ax, "y", numbers)
    titled(ax, spoken(f"Shared {what} (%)"), spoken("component"), spoken("component"))
    return ax
