"""How surely components return when the data is resampled, and which rows stay together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elbmf.errors import InputError
from elbmf.io.model_info import StabilityInfo
from elbmf.plots.canvas import one_of
from elbmf.plots.heat import heat_map
from elbmf.plots.look import (
    FAINT,
    LABEL,
    OKABE_ITO,
    TICK,
    faint_frame,
    plain_axes,
    room,
    titled,
    whole_ticks,
)
from elbmf.plots.names import words_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["component_stability", "consensus_map"]

# Colours of the bars, and of the rows and columns of a component.
_BAR, _ROWS, _COLUMNS = "#C6DBEF", OKABE_ITO[1], OKABE_ITO[2]


# With fewer runs than this, shares are multiples of much.
_FEW_RUNS = 8


def _noted(model: Any) -> StabilityInfo:
    noted = getattr(model, "info", getattr(model, "saved_info_", None))
    found = getattr(noted, "stability", None) if not isinstance(noted, StabilityInfo) else noted
    if not isinstance(found, StabilityInfo):
        raise InputError(
            "The result does not note how stable it is. Make one that does: elbmf stability DATA "
            "-k K -o DIR, or elbmf.stability in Python."
        )
    return found


def component_stability(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the recurrence of each component, and how often its rows and columns are in it.

    Of the shares of rows and of columns there is the median, and a line from the tenth percent to
    the ninetieth.

    Parameters
    ----------
    model : Stability, SavedModel or BooleanFactorizer
        Fitted, or what `elbmf stability` has saved and somebody has loaded.
    ax : Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    Axes
    """
    known = _noted(model)
    count, spoken = len(known.components), words_of(model).spoken
    ax = one_of(ax, min(max(5.6, 0.3 * count + 2), 14), 3.4)
    at = np.arange(count)
    ax.bar(at, [each.recurrence for each in known.components], color=_BAR, label="recurrence")
    for name, shift, colour in (("rows", -0.18, _ROWS), ("columns", 0.18, _COLUMNS)):
        for place, each in zip(at, known.components, strict=True):
            shares = np.asarray(getattr(each, name), dtype=np.float64)
            if shares.size and each.found_in > 0:
                low, middle, high = np.quantile(shares, (0.1, 0.5, 0.9))
                ax.plot([place + shift] * 2, [low, high], color=colour, linewidth=1.2)
                ax.plot(place + shift, middle, "o", color=colour, markersize=3)
        ax.plot(
            [], [], "o-", color=colour, markersize=3, linewidth=1.2, label=spoken(f"its {name}")
        )
    ax.axhline(0.5, color=FAINT, linewidth=0.8, linestyle=":")
    plain_axes(ax)
    ax.grid(visible=False, axis="x")
    ax.set_ylim(0, 1.04)
    ax.set_xlim(-0.7, max(count, 1) - 0.3)
    whole_ticks(ax)
    runs = f"{known.runs} run{'' if known.runs == 1 else 's'}"
    titled(
        ax,
        f"Stability {known.stability:.2f}: {runs}, {known.resample}",
        spoken("component"),
        "share of the runs",
    )
    note = "dots: the median of its rows or columns; lines: from 10 % to 90 % of them"
    if known.runs < _FEW_RUNS:
        note += f". Only {runs}: shares are rough"
    ax.legend(
        fontsize=TICK,
        title=wrapped(spoken(note), room(ax)[0], TICK),
        title_fontsize=TICK,
        frameon=False,
        ncols=3,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
    )
    return ax


def consensus_map(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how often rows are in a component together, those next to each other that often are.

    Pairs of rows that no run saw together are grey.

    Parameters
    ----------
    model : Stability or SavedModel
        Fitted, or what `elbmf stability` has saved.
    ax : Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    Axes
    """
    known = _noted(model)
    ax = one_of(ax, 5.6, 4.6)
    shares, spoken = np.asarray(known.consensus, dtype=np.float64), words_of(model).spoken
    heat_map(
        ax,
        shares.reshape(len(shares), -1),
        "share of the runs together",
        values=False,
        nothing=spoken("No rows are ever in a component together."),
    )
    faint_frame(ax, ticks=False)
    company = "" if known.cophenetic is None else f", cophenetic correlation {known.cophenetic:.2f}"
    titled(ax, f"Consensus of {known.runs} runs{company}", spoken("rows"), spoken("rows"))
    ax.xaxis.label.set_fontsize(LABEL)
    return ax
