"""How a fit went: loss, Boolean gap and flips over the epochs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import InputError
from elbmf.plots.canvas import several_of
from elbmf.plots.look import OKABE_ITO, TICK, grouped_digits, plain_axes, titled, whole_ticks
from elbmf.plots.subject import history_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["trace"]


class _Panel(NamedTuple):
    """A panel: its title, and the columns of a history that it draws, by what they are called."""

    title: str
    columns: dict[str, str]
    log: bool = False


# From top to bottom; those of which a history has no column are left out.
_PANELS = (
    _Panel(
        "Loss",
        {
            "relaxed_loss": "relaxed",
            "rounded_loss": "rounded",
            "loss": "loss",
            "cost": "errors, weighted",
        },
    ),
    _Panel("Boolean gap", {"gap": "gap"}, log=True),
    _Panel("Flips of rounded factors", {"flips": "flips"}, log=True),
)

_PLACES = "epoch", "rank"

# How far below the greatest value a log scale goes.
_DECADES = 1e-6
_MOST_TICKS = 4

# Epochs up to which each is drawn as a dot.
_MOST_DOTS = 40


def trace(history: Any, *, axes: Any = None) -> tuple[Axes, ...]:
    """Draw what was recorded of each epoch: loss, Boolean gap, and flipped bits.

    Methods that iterate otherwise record fewer of them, and have fewer panels.

    Parameters
    ----------
    history : fitted estimator, SavedModel, or mapping of str to array-like
        Whose ``history_``, or that itself. ``trace="full"`` of `ELBMF` adds the rounded loss.
    axes : sequence of Axes, optional
        As many as there are panels; in a new figure by default.

    Returns
    -------
    tuple of Axes
        From top to bottom.
    """
    columns = history_of(history)
    panels = [panel for panel in _PANELS if any(name in columns for name in panel.columns)]
    if not panels:
        known = ", ".join(name for panel in _PANELS for name in panel.columns)
        raise InputError(
            f"The history has nothing to draw: of {known} there must be one; got "
            f"{', '.join(columns) or 'none'}."
        )
    drawn = several_of(
        axes, len(panels), 6.4, 1 + 1.6 * len(panels), rows=len(panels), columns=1, sharex=True
    )
    place = next((name for name in _PLACES if name in columns), None)
    for ax, panel in zip(drawn, panels, strict=True):
        there = [name for name in panel.columns if name in columns]
        for colour, name in zip(OKABE_ITO, there, strict=False):
            values = columns[name]
            at = np.arange(1, len(values) + 1) if place is None else columns[place]
            marker = "o" if len(values) <= _MOST_DOTS else ""
            ax.plot(
                at,
                values,
                color=colour,
                linewidth=1.4,
                marker=marker,
                markersize=2.5,
                label=panel.columns[name],
            )
        plain_axes(ax)
        titled(ax, panel.title)
        ax.margins(x=0.02)
        ax.set_ylim(bottom=0)
        if panel.log:
            _log_scale(ax, np.concatenate([columns[name] for name in there]))
        ax.yaxis.set_major_formatter(grouped_digits)
        whole_ticks(ax)
        if len(there) > 1:
            ax.legend(frameon=False, fontsize=TICK)
    titled(drawn[-1], panels[-1].title, place or "iteration")
    return drawn


def _log_scale(ax: Axes, values: NDArray[np.float64]) -> None:
    """Scale by powers of ten, for values fall from the first epoch on; 0 is at the bottom."""
    above = values[np.isfinite(values) & (values > 0)]
    if not above.size:
        return
    most = above.max()
    least = max(above.min(), _DECADES * most)
    ax.set_yscale("symlog", linthresh=least, linscale=0.5)
    # Powers of ten, few enough to be read, and none that would run into the 0.
    powers = np.arange(np.ceil(np.log10(2 * least)), np.floor(np.log10(most)) + 1)
    powers = powers[:: -(-len(powers) // _MOST_TICKS) or 1]
    ax.set_yticks([0, *10.0**powers])
    ax.set_yticks([], minor=True)
    ax.set_ylim(0, 2 * most)
