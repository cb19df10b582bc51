"""Pictures, drawn with matplotlib where it is installed."""

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from elbmf.criteria import CRITERIA
from elbmf.errors import InputError
from elbmf.extras import optional_module
from elbmf.selection import TITLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "OKABE_ITO",
    "grouped_digits",
    "image_bands",
    "new_figure",
    "rank_curve",
    "save",
    "suffixes",
]

OKABE_ITO = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#F0E442",
)
"""Colours that all eyes tell apart, those that show best on white first (Okabe and Ito)."""

_CURVE, _CHOICE = OKABE_ITO[:2]

# Ranks up to which each is drawn as a dot.
_MOST_DOTS = 60


def image_bands(bands: Mapping[str, ArrayLike], *, columns: int = 10) -> "Figure":
    """Draw bands of 0/1 images, ones dark: data, their reconstruction, components.

    Parameters
    ----------
    bands : mapping of str to array-like of shape (count, height, width)
        The images of each band, under its title.
    columns : int, default=10
        Images next to each other.

    Returns
    -------
    matplotlib.figure.Figure
        Independent of pyplot and of any display.
    """
    stacks = {title: np.asarray(images) for title, images in bands.items()}
    for title, stack in stacks.items():
        if stack.ndim != 3:
            raise InputError(
                f"{title!r}: images must have 3 dimensions (count, height, width); "
                f"got {stack.ndim}."
            )
    rows = [max(1, math.ceil(len(stack) / columns)) for stack in stacks.values()]
    figure = new_figure(0.8 * columns, 0.82 * sum(rows) + 0.35 * len(rows))
    parts = figure.subfigures(
        len(rows), 1, height_ratios=[0.82 * r + 0.35 for r in rows], squeeze=False
    )
    for (title, stack), part, count in zip(stacks.items(), parts.ravel(), rows, strict=True):
        part.suptitle(title, fontsize=10, x=0.01, ha="left")
        axes = part.subplots(count, columns, squeeze=False).ravel()
        for axis in axes[len(stack) :]:
            axis.set_axis_off()
        for axis, image in zip(axes, stack, strict=False):
            axis.imshow(image, cmap="Greys", vmin=0, vmax=1.15, interpolation="nearest")
            axis.set_xticks([])
            axis.set_yticks([])
            for spine in axis.spines.values():
                spine.set_color("0.75")
    return figure


def rank_curve(
    table: Mapping[str, ArrayLike], choices: Mapping[str, int], criterion: str = "mdl"
) -> "Figure":
    """Draw how the loss and a criterion depend on the number of components.

    Parameters
    ----------
    table : mapping of str to array-like
        ``table_`` of a `RankSearch`: ``"rank"``, ``"relative_loss"`` and the criterion.
    choices : mapping of str to int
        ``choices_`` of the search: the rank that each criterion chooses.
    criterion : str, default="mdl"
        The criterion to draw.

    Returns
    -------
    matplotlib.figure.Figure
        Independent of pyplot and of any display.
    """
    if criterion not in table:
        raise InputError(f"The table has no {criterion!r}; got {', '.join(table)}.")
    ranks = np.asarray(table["rank"])
    chosen = choices[criterion]
    figure = new_figure(7, 5.2)
    upper, lower = figure.subplots(2, 1, sharex=True)
    unit = CRITERIA[criterion].unit if criterion in CRITERIA else ""
    components = f"{chosen} component{'' if chosen == 1 else 's'}"
    upper.set_title("Loss", loc="left")
    upper.set_ylabel("relative loss")
    title = TITLES[criterion]
    lower.set_title(title[0].upper() + title[1:], loc="left")
    lower.set_ylabel(unit or "lower is better")
    lower.set_xlabel("number of components")
    for axis, name in ((upper, "relative_loss"), (lower, criterion)):
        values = np.asarray(table[name], dtype=float)
        # Criteria may be -inf, and held-out cells may not have been looked at with every rank.
        drawn = np.isfinite(values)
        style = {"marker": "o", "markersize": 3} if drawn.sum() <= _MOST_DOTS else {}
        axis.plot(ranks[drawn], values[drawn], color=_CURVE, linewidth=1.5, **style)
        axis.axvline(chosen, color=_CHOICE, linewidth=1, linestyle="--", zorder=1)
        at = (ranks == chosen) & drawn
        axis.plot(ranks[at], values[at], "D", color=_CHOICE, markersize=7, markeredgecolor="white")
        axis.grid(color="0.92", linewidth=0.8)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
        axis.ticklabel_format(axis="y", useOffset=False, style="plain")
        axis.margins(x=0.02)
    upper.set_ylim(bottom=0)
    for axis in (upper, lower):
        axis.xaxis.get_major_locator().set_params(integer=True)
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
    )
    figure.align_ylabels()
    return figure


def grouped_digits(value: float, _: int) -> str:
    """Write a tick's value in groups of three digits."""
    return f"{value:,.6g}" if abs(value) < 1e5 else f"{value:,.0f}"


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of a size in inches, independent of pyplot and of any display."""
    figures = optional_module("matplotlib.figure", extra="plots", purpose="drawing pictures")
    figure: Figure = figures.Figure(figsize=(width, height), layout="constrained")
    return figure


def suffixes() -> list[str]:
    """Return the suffixes of files that figures can be written to, without the dot."""
    return sorted(new_figure(1, 1).canvas.get_supported_filetypes())


def save(figure: "Figure", path: str | os.PathLike[str], *, dpi: int = 120) -> None:
    """Write a figure to a file; its suffix says which format.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to write.
    path : path-like
        The file, which is replaced.
    dpi : int, default=120
        Resolution of pixel formats.
    """
    figure.savefig(path, dpi=dpi)
