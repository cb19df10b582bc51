"""Colours, sizes of type and frames: what makes the figures look like one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elbmf.plots.names import shown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

__all__ = [
    "CLASS_COLOURS",
    "CLASS_SHAPES",
    "FAINT",
    "INK",
    "LABEL",
    "OKABE_ITO",
    "TICK",
    "TITLE",
    "faint_frame",
    "grouped_digits",
    "name_legend",
    "plain_axes",
    "titled",
    "whole_ticks",
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

CLASS_COLOURS = OKABE_ITO[:7]
"""For points of several classes; yellow ones would be lost on white."""

CLASS_SHAPES = "o^sDvPX*"
"""With more classes than colours, shapes tell those of the same colour apart."""

INK, FAINT = "0.15", "0.55"
"""What is written, and what is written by the way."""

TITLE, LABEL, TICK = 10, 9, 8
"""Sizes of type in points."""


def plain_axes(ax: Axes) -> None:
    """Leave out what is no data: the frame at the top and right; a light grid behind the rest."""
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def faint_frame(ax: Axes, colour: str = "0.75", *, ticks: bool = True) -> None:
    """Draw the frame so that it is seen less than what is in it, with ticks or without."""
    for spine in ax.spines.values():
        spine.set_color(colour)
    if not ticks:
        ax.set_xticks([])
        ax.set_yticks([])


def titled(ax: Axes, title: str = "", x: str = "", y: str = "") -> None:
    """Write what axes show, and along what."""
    ax.set_title(title, loc="left", fontsize=TITLE, color=INK)
    ax.set_xlabel(x, fontsize=LABEL, color=INK)
    ax.set_ylabel(y, fontsize=LABEL, color=INK)
    ax.tick_params(labelsize=TICK)


def name_legend(legend: Legend, names: list[str]) -> None:
    """Write names into a legend, whatever they are: it would leave out those that begin with _."""
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(shown_name(name, 24))


def whole_ticks(ax: Axes) -> None:
    """Put the ticks of the x axis at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=9, steps=[1, 2, 5, 10], integer=True))


def grouped_digits(value: float, _: float) -> str:
    """Write a tick's value in groups of three digits."""
    return f"{value:,.6g}" if abs(value) < 1e5 else f"{value:,.0f}"
