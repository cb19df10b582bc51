"""How the loss and a criterion depend on the number of components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from elbmf.errors import InputError
from elbmf.estimators.rank_search import TITLES
from elbmf.plots.canvas import several_of
from elbmf.plots.look import LABEL, OKABE_ITO, grouped_digits, plain_axes, titled, whole_ticks
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
) -> tuple[Axes, Axes]:
    """Draw how the loss and a criterion depend on the number of components.

    Parameters
    ----------
    table : mapping of str to array-like
        ``table_`` of a `RankSearch`: ``"rank"``, ``"relative_loss"`` and the criterion.
    choices : mapping of str to int
        ``choices_`` of the search: the rank that each criterion chooses.
    criterion : str, default="mdl"
        The criterion to draw.
    axes : sequence of 2 Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    loss, criterion : Axes
    """
    if criterion not in table:
        raise InputError(f"The table has no {criterion!r}; got {', '.join(table)}.")
    ranks = np.asarray(table["rank"])
    chosen = choices[criterion]
    upper, lower = several_of(axes, 2, 7, 5.2, rows=2, columns=1, sharex=True)
    unit = CRITERIA[criterion].unit if criterion in CRITERIA else ""
    components = f"{chosen} component{'' if chosen == 1 else 's'}"
    title = TITLES[criterion]
    titled(upper, "Loss", y="relative loss")
    titled(lower, title[0].upper() + title[1:], "number of components", unit or "lower is better")
    for axis, name in ((upper, "relative_loss"), (lower, criterion)):
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
    for axis in (upper, lower):
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
    lower.figure.align_ylabels([upper, lower])
    return upper, lower
