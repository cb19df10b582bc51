"""How the loss and a criterion depend on the number of components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from elbmf.errors import InputError
from elbmf.estimators.rank_search import STABILITY, TITLES
from elbmf.plots.canvas import several_of
from elbmf.plots.look import INK, LABEL, OKABE_ITO, grouped_digits, plain_axes, titled, whole_ticks
from elbmf.ranks.criteria import CRITERIA

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["rank_curve"]

_CURVE, _CHOICE = OKABE_ITO[:2]

# Ranks up to which each is drawn as a dot.
_MOST_DOTS = 60


def rank_curve(
    table: Mapping[str, ArrayLike],
    choices: Mapping[str, int],
    criterion: str = "mdl",
    *,
    axes: Any = None,
) -> tuple[Axes, ...]:
    """Draw how the loss and a criterion depend on the number of components.

    Where the table tells how stable the components are, that is a third panel.

    Parameters
    ----------
    table : mapping of str to array-like
        ``table_`` of a `RankSearch`: ``"rank"``, ``"relative_loss"`` and the criterion.
    choices : mapping of str to int
        ``choices_`` of the search: the rank that each criterion chooses.
    criterion : str, default="mdl"
        The criterion to draw.
    axes : sequence of 2 or 3 Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    loss, criterion, and stability if the table has it : Axes
    """
    if criterion not in table:
        raise InputError(f"The table has no {criterion!r}; got {', '.join(table)}.")
    ranks = np.asarray(table["rank"])
    chosen = choices[criterion]
    panels = 3 if STABILITY in table else 2
    drawn_on = several_of(axes, panels, 7, 2.6 * panels, rows=panels, columns=1, sharex=True)
    upper, lower = drawn_on[:2]
    unit = CRITERIA[criterion].unit if criterion in CRITERIA else ""
    components = f"{chosen} component{'' if chosen == 1 else 's'}"
    title = TITLES[criterion]
    titled(upper, "Loss", y="relative loss")
    titled(lower, title[0].upper() + title[1:], y=unit or "lower is better")
    for axis, name in zip(drawn_on, ("relative_loss", criterion, STABILITY), strict=False):
        values = np.asarray(table[name], dtype=float)
        # Criteria may be -inf, and held-out cells may not have been looked at with every rank.
        drawn = np.isfinite(values)
        style: dict[str, Any] = (
            {"marker": "o", "markersize": 3} if drawn.sum() <= _MOST_DOTS else {}
        )
        axis.plot(ranks[drawn], values[drawn], color=_CURVE, linewidth=1.5, **style)
        axis.axvline(chosen, color=_CHOICE, linewidth=1, linestyle="--", zorder=1)
        at = (ranks == chosen) & drawn
        axis.plot(ranks[at], values[at], "D", color=_CHOICE, markersize=7, markeredgecolor="white")
        plain_axes(axis)
        axis.ticklabel_format(axis="y", useOffset=False, style="plain")
        axis.margins(x=0.02)
    upper.set_ylim(bottom=0)
    if panels == 3:
        titled(drawn_on[2], "Stability", y="mean recurrence")
        drawn_on[2].set_ylim(0, 1.04)
    drawn_on[-1].set_xlabel("number of components", fontsize=LABEL, color=INK)
    for axis in drawn_on:
        whole_ticks(axis)
    lower.yaxis.set_major_formatter(grouped_digits)
    # High above the minimum, towards the side with more room.
    to_the_left = chosen > ranks.max() / 2
    lower.annotate(
        f"least with {components}",
        xy=(chosen, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-6 if to_the_left else 6, -2),
        textcoords="offset points",
        ha="right" if to_the_left else "left",
        va="top",
        color=_CHOICE,
        fontsize=LABEL,
    )
    lower.figure.align_ylabels(drawn_on)
    return drawn_on
