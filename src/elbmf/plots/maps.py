"""A map of the rows, coloured by component or label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.analysis import RowLayout, row_layout
from elbmf.plots.canvas import one_of
from elbmf.plots.look import (
    CLASS_COLOURS,
    CLASS_SHAPES,
    TICK,
    faint_frame,
    name_legend,
    room,
    say,
    titled,
)
from elbmf.plots.names import name_within, text_width
from elbmf.plots.subject import Subject
from elbmf.utils.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["row_map"]

_OTHERS, _SEVERAL = "0.75", "several, other or none"

# Classes that have a colour of their own; the rest are grey together.
_MOST_CLASSES = 28

# Area of the smallest and of the largest bubble in square points, and what all of them together
# take at most, as a share of the axes.
_LEAST_AREA, _MOST_AREA, _SHARE = 9.0, 1600.0, 0.25

# Points between lines of the legend, what an entry takes beside its name, and the share of the
# axes' width that the legend takes at most.
_LINE, _BESIDE, _LEGEND = 1.45 * TICK, 18.0, 0.4

# Bubbles from which on a picture of lines and text holds them as pixels.
_MOST_SHAPES = 5000


def row_map(model: Any, *, labels: Sequence[Any] | None = None, ax: Axes | None = None) -> Axes:
    """Draw a map of the rows: near to each other are those that the factorization says are alike.

    Rows in the same components are one bubble, its area their number. Where they have several
    labels, it has a ring for each, the most frequent outside; with more labels than colours, it has
    the look of the one that most of them have, or is grey.

    Parameters
    ----------
    model : fitted estimator, SavedModel or (U, V)
        The factorization.
    labels : sequence of length n, optional
        What to colour rows by. None, NaN and the empty string stand for an unknown label. A column
        of a data frame is matched by its index where the model knows the names of its rows, all
        else by position. Without labels, the colour is that of the row's component with most
        columns.
    ax : Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    Axes

    See Also
    --------
    elbmf.analysis.row_layout : How the places are found, and how good they are.
    """
    subject = Subject.of(model)
    layout = row_layout(subject.U, subject.V)
    if labels is None:
        names, codes = _by_component(subject, layout)
        codes, unknown = codes[layout.place_of], "in no component"
    else:
        names, codes = subject.label_classes(labels)
        unknown = "not known"
    ax = one_of(ax, 7.0, 4.8)
    n, distinct = subject.shape[0], len(layout.counts)
    # Where all are the same, there are no differences to see.
    shown = f"\n{sum(layout.explained):.0%} of their differences are seen" if distinct > 1 else ""
    titled(ax, "Map of the rows", f"{counted(n, 'row')}, {distinct:,} of them distinct{shown}")
    faint_frame(ax, ticks=False)
    _bubbles(ax, layout, _counts(layout, codes, len(names)), names, unknown)
    ax.set_aspect("equal", adjustable="datalim")
    said = _plain(layout)
    if said:
        say(ax, said, at=0.06)
    return ax


def _plain(layout: RowLayout) -> str:
    """Say why a map has one bubble, or two, and no more."""
    members = layout.members
    if len(members) <= 1:
        which = "in the same components" if members.any() else "in no component"
        return f"All rows are {which}: there are no differences to see."
    if members.any(axis=0).sum() == 1:
        return "There is one component: rows are in it or not."
    return ""


def _by_component(subject: Subject, layout: RowLayout) -> tuple[list[str], NDArray[np.int64]]:
    """Return what colours mean, and the colour of each distinct row: its widest component's."""
    widths = subject.V.sum(axis=1)
    weighed = layout.members * (1 + widths)
    widest = weighed.argmax(axis=1) if weighed.shape[1] else np.zeros(len(weighed), dtype=int)
    none = ~layout.members.any(axis=1)
    rows_of = np.bincount(widest[~none], layout.counts[~none], minlength=subject.n_components)
    there = np.flatnonzero(rows_of)
    code_of = np.zeros(subject.n_components, dtype=np.int64)
    code_of[there] = np.arange(len(there))
    codes = np.full(len(layout.counts), -1, dtype=np.int64)
    codes[~none] = code_of[widest[~none]]
    return [f"component {each}" for each in there], codes


def _counts(layout: RowLayout, codes: NDArray[np.int64], classes: int) -> sparse.csr_array:
    """Return how many rows of each class are in each place; the last column is of no class."""
    at = np.where(codes < 0, classes, codes)
    ones = np.ones(len(codes), dtype=np.int64)
    return sparse.csr_array(
        sparse.coo_array((ones, (layout.place_of, at)), shape=(len(layout.counts), classes + 1))
    )


def _bubbles(
    ax: Axes, layout: RowLayout, counts: sparse.csr_array, names: list[str], unknown: str
) -> None:
    """Draw places as bubbles with a ring for each class, the largest first, and the legend."""
    from matplotlib.markers import MarkerStyle

    size = room(ax)
    lines = max(2, int(size[1] / _LINE) - 1)
    totals = np.asarray(counts.sum(axis=0)).ravel()
    # The largest classes have a look of their own, in the order of their names, as far as there is
    # room to say which.
    kept = np.argsort(-totals[:-1], kind="stable")[: min(_MOST_CLASSES, 2 * lines - 1)]
    seen = np.sort(kept)
    seen = seen[totals[seen] > 0]
    others = len(seen)
    look_of = np.full(len(names) + 1, others)
    look_of[seen] = np.arange(others)
    find = _rings if others <= len(CLASS_COLOURS) else _majorities
    place, kind, rows = find(counts, look_of)
    rest = unknown if others == np.count_nonzero(totals[:-1]) else "other or none"
    shown = [*(names[each] for each in seen), rest if find is _rings else _SEVERAL]
    looks = [
        (CLASS_SHAPES[at // len(CLASS_COLOURS)], CLASS_COLOURS[at % len(CLASS_COLOURS)])
        for at in range(others)
    ] + [(CLASS_SHAPES[0], _OTHERS)]
    there = np.unique(kind)
    taken = _add_legend(ax, [(*looks[each], shown[each]) for each in there], size, lines)
    areas = _areas(size, layout, rows)
    # Large ones first, so that small ones are seen, and none lets another through.
    order = np.argsort(-areas, kind="stable")
    points = ax.scatter(
        layout.places[place[order], 0],
        layout.places[place[order], 1],
        s=areas[order],
        c=[looks[each][1] for each in kind[order]],
        edgecolors="white",
        linewidths=0.4,
        rasterized=len(order) > _MOST_SHAPES,
    )
    styles = [MarkerStyle(shape) for shape, _ in looks]
    paths = [style.get_path().transformed(style.get_transform()) for style in styles]
    if len({shape for shape, _ in looks}) > 1:
        points.set_paths([paths[each] for each in kind[order]])
    _leave_room(ax, layout, size, float(areas.max(initial=0)), taken)


def _areas(
    size: tuple[float, float], layout: RowLayout, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return areas in square points, in proportion to rows unless that is too small to see."""
    unit = min(
        _SHARE * size[0] * size[1] / max(layout.counts.sum(), 1),
        _MOST_AREA / max(layout.counts.max(initial=1), 1),
        4 * _LEAST_AREA,
    )
    least = _LEAST_AREA if len(layout.counts) < _MOST_SHAPES else _LEAST_AREA / 3
    return np.maximum(rows * unit, least)


def _leave_room(
    ax: Axes, layout: RowLayout, size: tuple[float, float], area: float, taken: float
) -> None:
    """Let the largest bubble end within the axes, wherever it is, and left of the legend."""
    radius = np.sqrt(area / np.pi)
    corners = []
    for places, length, beyond in zip(layout.places.T, size, (taken, 0.0), strict=True):
        side = min(0.25, radius / max(length, 1) + 0.05)
        low, high = (places.min(), places.max()) if places.size else (0.0, 0.0)
        if high <= low:
            low, high = low - 0.5, high + 0.5
        unit = (high - low) / (1 - 2 * side - beyond)
        corners.append((low - side * unit, high + (side + beyond) * unit))
    # An equal scale of both directions widens one of them, and takes from none what is data.
    ax.update_datalim(np.transpose(corners))
    ax.set_xlim(corners[0], auto=True)
    ax.set_ylim(corners[1], auto=True)


def _rings(
    counts: sparse.csr_array, look_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return place and look of each ring, and the rows in it and in those within.

    The rings of a place go from the most frequent class at its rim to the least at its centre, and
    each has the area of its class.
    """
    sizes = np.diff(counts.indptr)
    place = np.repeat(np.arange(counts.shape[0]), sizes)
    # From the centre on, so that sums so far are what is within.
    order = np.lexsort((-look_of[counts.indices], counts.data, place))
    before = np.concatenate([[0], np.cumsum(counts.data[order])])
    within = before[1:] - np.repeat(before[counts.indptr[:-1]], sizes)
    return place, look_of[counts.indices[order]], within


def _majorities(
    counts: sparse.csr_array, look_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return each place, the look of the class that more than half of its rows have, and these."""
    rows = np.asarray(counts.sum(axis=1)).ravel()
    place = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    most = 2 * counts.data > rows[place]
    kind = np.full(counts.shape[0], look_of.max())
    kind[place[most]] = look_of[counts.indices[most]]
    return np.arange(counts.shape[0]), kind, rows


def _add_legend(
    ax: Axes, looks: list[tuple[str, str, str]], size: tuple[float, float], lines: int
) -> float:
    """Say within the axes what looks mean; return the share of their width that this takes."""
    from matplotlib.lines import Line2D

    columns = -(-len(looks) // lines)
    if not columns:
        return 0.0
    widest = max(_LEGEND * size[0] / columns - _BESIDE, 1)
    names = [name_within(name, min(widest, 16 * TICK), TICK) for _, _, name in looks]
    legend = ax.legend(
        [
            Line2D(
                [],
                [],
                linestyle="none",
                marker=shape,
                markersize=6,
                markerfacecolor=colour,
                markeredgecolor="none",
            )
            for shape, colour, _ in looks
        ],
        [f"{at}" for at in range(len(looks))],
        loc="upper right",
        frameon=False,
        fontsize=TICK,
        handlelength=1,
        handletextpad=0.3,
        labelspacing=0.35,
        columnspacing=0.8,
        borderaxespad=0.3,
        borderpad=0.2,
        ncols=columns,
    )
    name_legend(legend, names)
    wide = columns * (max(text_width(name, TICK) for name in names) + _BESIDE)
    return float(min(wide / max(size[0], 1), _LEGEND + 0.05))
