"""Methods side by side: what each loses, and how long it takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from elbmf.comparison import Result, ranked
from elbmf.comparison.results import TIME_LIMIT
from elbmf.errors import InputError
from elbmf.plots.canvas import several_of
from elbmf.plots.look import FAINT, INK, OKABE_ITO, TICK, plain_axes, titled
from elbmf.plots.names import shown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["comparison"]

_LOSS, _TIME = OKABE_ITO[0], OKABE_ITO[4]

# A relative loss above this is drawn at the edge: that of no components at all is 1.
_WORST_LOSS = 1.1


def comparison(results: Iterable[Result], *, axes: Any = None) -> tuple[Axes, ...]:
    """Draw the relative loss and the time of methods, the least loss on top.

    Parameters
    ----------
    results : iterable of Result
        What `elbmf.compare` returned, or a `Comparison`, which then runs.
    axes : sequence of 2 Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    loss, time : Axes
    """
    order = ranked(results)
    if not order:
        raise InputError("There is no method to draw.")
    height = 1 + 0.32 * max(len(order), 2)
    panels = losses, times = several_of(axes, 2, 7.6, height, sharey=True, width_ratios=[1.2, 1])
    at = np.arange(len(order))
    greatest = max((each.relative_loss or 0.0 for each in order), default=0.0)
    edge = min(_WORST_LOSS, 1.08 * greatest) if greatest > 0 else 1.0
    for place, each in enumerate(order):
        if each.relative_loss is None:
            losses.text(
                0.01 * edge,
                place,
                each.status,
                va="center",
                fontsize=TICK,
                color=FAINT,
                style="italic",
            )
        else:
            # An arrow, where the bar goes on beyond the edge.
            beyond = "→ " if each.relative_loss > edge else ""
            text = f"{beyond}{each.relative_loss:.3f}"
            _bar(losses, place, min(each.relative_loss, edge), _LOSS, text)
        if each.seconds is not None:
            _bar(times, place, each.seconds, _TIME, _duration(each.seconds))
    losses.set_xlim(0, 1.18 * edge)
    seconds = [each.seconds for each in order if each.seconds]
    if seconds:
        # Bars of a log scale begin where the scale does, a bit below the least.
        low, high = min(seconds) / 3, max(seconds)
        times.set_xscale("log")
        times.set_xlim(low, high * (high / low) ** 0.35)
        times.minorticks_off()
    stopped = [each.status == TIME_LIMIT and each.loss is not None for each in order]
    names = [
        shown_name(each.method) + (" †" if early else "")
        for each, early in zip(order, stopped, strict=True)
    ]
    losses.set_yticks(at, names)
    for ax in (losses, times):
        ax.set_ylim(len(order) - 0.5, -0.5)
        plain_axes(ax)
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
    times.tick_params(axis="y", labelleft=False)
    titled(losses, "Relative loss", "† ended by the time limit" if any(stopped) else "")
    titled(times, "Time", "seconds, log scale")
    losses.tick_params(axis="y", labelsize=TICK + 1)
    return panels


def _bar(ax: Axes, place: int, value: float, colour: str, text: str) -> None:
    ax.barh(place, value, height=0.66, color=colour, linewidth=0)
    ax.annotate(
        text,
        (value, place),
        xytext=(3, 0),
        textcoords="offset points",
        va="center",
        fontsize=TICK,
        color=INK,
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds / 60:,.0f} min"
