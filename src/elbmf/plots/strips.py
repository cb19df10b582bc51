"""Strips of colours along the edges of a matrix, which tell labels of its rows or columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from elbmf.plots.canvas import figure_of
from elbmf.plots.look import (
    STRIP_COLOURS,
    TICK,
    below,
    faint_frame,
    name_legend,
    right_of,
    room,
)
from elbmf.plots.names import name_within, text_width
from elbmf.plots.subject import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["NamedLabels", "Strip", "draw_strips"]

_OTHER, _NONE = "#B0B0B0", "#FFFFFF"

# Points from the matrix to a strip, and across it.
_GAP, _THICK = 3.0, 7.0

# Points between lines of the legend, what an entry takes beside its text, and the share of the
# matrix' width that the legend takes at most.
_LINE, _BESIDE, _LEGEND = 1.4 * TICK, 22.0, 0.5


class NamedLabels(list[Any]):
    """Labels that know what they are, as a column of a data frame does."""

    def __init__(self, labels: Iterable[Any], name: str) -> None:
        super().__init__(labels)
        self.name = name


@dataclass(frozen=True, eq=False)
class Strip:
    """Labels of rows or columns, in colours.

    Parameters
    ----------
    side : {"rows", "columns"}
    entries : list of (str, str)
        Names and colours of the legend: the most frequent labels in the order of their names, then
        what all others have, and those that are not known.
    looks : ndarray of int64
        Which entry each line has.
    title : str
        What the labels are, such as the name of their column; may be empty.
    """

    side: Literal["rows", "columns"]
    entries: list[tuple[str, str]]
    looks: NDArray[np.int64]
    title: str = ""

    @property
    def thickness(self) -> float:
        """Points that it takes beside the matrix."""
        return _GAP + _THICK

    @classmethod
    def of(cls, subject: Subject, labels: Any, side: Literal["rows", "columns"]) -> Strip:
        """Give the labels of all rows, or columns, their colours."""
        names, codes = subject.label_classes(labels, side, f"{side.removesuffix('s')}_labels")
        sizes = np.bincount(codes[codes >= 0], minlength=len(names))
        # One of several takes the colour of the others, if there are too many.
        most = len(STRIP_COLOURS)
        kept = np.sort(np.argsort(-sizes, kind="stable")[:most])
        entries = [(names[at], colour) for at, colour in zip(kept, STRIP_COLOURS, strict=False)]
        look_of = np.full(len(names) + 1, len(entries))
        look_of[kept] = np.arange(len(kept))
        if len(names) > len(kept):
            entries.append((f"{len(names) - len(kept)} others", _OTHER))
        look_of[-1] = len(entries)
        if (codes < 0).any():
            entries.append(("not known", _NONE))
        # A column of a table knows its name.
        title = getattr(labels, "name", None)
        return cls(side, entries, look_of[codes], "" if title is None else str(title))

    def sums(self, ones: NDArray[np.int64] | None) -> NDArray[np.float64]:
        """Return what puts lines of the same label next to each other, those of most ones first."""
        first = -self.looks.astype(np.float64)
        return first if ones is None else first + ones / (1.0 + ones.max(initial=0))

    def bins(self, places: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the entry that most lines of each bin have."""
        R, L = len(edges) - 1, max(len(self.entries), 1)
        of_bin = np.repeat(np.arange(R), np.diff(edges))
        counts = np.bincount(of_bin * L + self.looks[places], minlength=R * L)
        return counts.reshape(R, L).argmax(axis=1)


def draw_strips(
    ax: Axes, strips: Sequence[tuple[Strip, NDArray[np.int64]]], *, legend: bool
) -> None:
    """Draw strips to the right of a matrix and below it, and their legend to the right of both.

    Parameters
    ----------
    ax : Axes
        That of the matrix.
    strips : sequence of (Strip, ndarray)
        And the entry of each of their bins.
    legend : bool
        Whether there is a legend.
    """
    from matplotlib.colors import to_rgb

    for strip, bins in strips:
        by_row = strip.side == "rows"
        if by_row:
            narrow = ax.inset_axes((_GAP, 0, _THICK, 1), transform=right_of(ax))
        else:
            narrow = ax.inset_axes((0, -_GAP - _THICK, 1, _THICK), transform=below(ax))
        colours = np.array([to_rgb(colour) for _, colour in strip.entries]).reshape(-1, 3)
        picture = colours[bins][:, None] if by_row else colours[bins][None]
        if picture.size:
            narrow.imshow(picture, aspect="auto", interpolation="nearest")
        narrow.set_gid(f"{strip.side} strip")
        faint_frame(narrow, ticks=False)
        if not by_row:
            ax.xaxis.labelpad += strip.thickness
    if legend and strips:
        _legend(ax, narrow, [strip for strip, _ in strips])


def _legend(ax: Axes, narrow: Axes, strips: list[Strip]) -> None:
    """Write what colours mean; in a figure without a layout, the axes make room for it."""
    from matplotlib.patches import Patch

    entries: list[tuple[str, str | None]] = []
    for strip in strips:
        # Which of both a label is of is said where there are both.
        of = [strip.side] if len(strips) > 1 else []
        heading = ": ".join([*of, *([strip.title] if strip.title else [])])
        entries += [(heading, None)] if heading else []
        entries += strip.entries
    width, height = room(ax)
    columns = max(1, int(np.ceil(len(entries) * _LINE / max(height, 1))))
    away = 2 * _GAP + _THICK if strips[0].side == "rows" else _GAP
    widest = max((_LEGEND * width - away) / columns - _BESIDE, 5.5 * TICK)
    names = [name_within(name, min(widest, 16 * TICK), TICK) for name, _ in entries]
    wide = away + columns * (max(text_width(name, TICK) for name in names) + _BESIDE)
    if figure_of(ax).get_layout_engine() is None:
        box = ax.get_position()
        share = min(0.6, wide / max(width, 1))
        ax.set_position((box.x0, box.y0, box.width * (1 - share), box.height))
    legend = narrow.legend(
        [
            Patch(facecolor=colour or "none", edgecolor="0.75" if colour else "none", linewidth=0.5)
            for _, colour in entries
        ],
        [str(at) for at in range(len(entries))],
        loc="upper left",
        bbox_to_anchor=(away, 1),
        bbox_transform=right_of(ax),
        ncols=columns,
        frameon=False,
        fontsize=TICK,
        handlelength=1,
        handletextpad=0.4,
        labelspacing=0.35,
        borderaxespad=0,
        borderpad=0,
        columnspacing=1,
    )
    name_legend(legend, names)
