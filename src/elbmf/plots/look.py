"""Colours, sizes of type and frames: what makes the figures look like one another."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from elbmf.plots.canvas import figure_of
from elbmf.plots.names import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.transforms import Transform

__all__ = [
    "CLASS_COLOURS",
    "CLASS_SHAPES",
    "FAINT",
    "INK",
    "LABEL",
    "OKABE_ITO",
    "STRIP_COLOURS",
    "TICK",
    "TITLE",
    "below",
    "faint_frame",
    "grouped_digits",
    "name_legend",
    "plain_axes",
    "right_of",
    "room",
    "rooms",
    "say",
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

STRIP_COLOURS = (
    "#44AA99",
    "#AA4499",
    "#999933",
    "#332288",
    "#88CCEE",
    "#882255",
    "#117733",
    "#CC6677",
)
"""For labels beside a matrix: none is like those of errors, outlines or missing cells (Tol)."""

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


def room(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes in points, after their figure's layout has been made."""
    return rooms([ax])[0]


def rooms(axes: Sequence[Axes]) -> list[tuple[float, float]]:
    """Return the same of several axes of a figure."""
    figure = figure_of(axes)
    engine = figure.get_layout_engine()
    if engine is not None:
        with warnings.catch_warnings():
            # Where a figure is too small for what is in it, that is told when it is drawn.
            warnings.simplefilter("ignore", UserWarning)
            engine.execute(figure)
    scale = 72 / figure.dpi
    boxes = [ax.get_window_extent() for ax in axes]
    return [(box.width * scale, box.height * scale) for box in boxes]


def right_of(ax: Axes) -> Transform:
    """Return places beside axes: points from their right edge, and shares of their height."""
    from matplotlib.transforms import blended_transform_factory

    return blended_transform_factory(_points_from(ax, 1, 0), ax.transAxes)


def below(ax: Axes) -> Transform:
    """Return places below axes: shares of their width, and points upwards from their lower edge."""
    from matplotlib.transforms import blended_transform_factory

    return blended_transform_factory(ax.transAxes, _points_from(ax, 0, 0))


def _points_from(ax: Axes, x: float, y: float) -> Transform:
    from matplotlib.transforms import Affine2D, ScaledTranslation

    corner: Any = ax.transAxes
    points = Affine2D().scale(1 / 72) + ax.figure.dpi_scale_trans
    return points + ScaledTranslation(x, y, corner)


def say(ax: Axes, text: str, *, at: float = 0.5) -> None:
    """Write into axes, so far up, why there is nothing else to see in them, or so little."""
    ax.text(
        0.5,
        at,
        wrapped(text, 0.9 * room(ax)[0], LABEL),
        transform=ax.transAxes,
        ha="center",
        va="center",
        fontsize=LABEL,
        color="0.35",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 4},
    )


def name_legend(legend: Legend, names: list[str]) -> None:
    """Write names into a legend: it would itself leave out those that begin with _."""
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)


def whole_ticks(ax: Axes) -> None:
    """Put the ticks of the x axis at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(nbins=9, steps=[1, 2, 5, 10], integer=True))


def grouped_digits(value: float, _: float) -> str:
    """Write a tick's value in groups of three digits."""
    return f"{value:,.6g}" if abs(value) < 1e5 else f"{value:,.0f}"
