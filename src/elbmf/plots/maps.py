"""A map of the rows, coloured by component or label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.analysis import RowLayout, row_layout
from elbmf.analysis.labels import label_codes
from elbmf.errors import InputError
from elbmf.plots.canvas import one_of
from elbmf.plots.look import CLASS_COLOURS, CLASS_SHAPES, TICK, faint_frame, name_legend, titled
from elbmf.plots.subject import Subject
from elbmf.utils.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["row_map"]

_OTHERS = "0.75"

# Classes that have a colour of their own; the rest are grey together.
_MOST_CLASSES = 28

# Area of the smallest and of the largest bubble in square points, and what all of them together
# take at most, as a share of the axes.
_LEAST_AREA, _MOST_AREA, _SHARE = 9.0, 1600.0, 0.25

# Steps of size in which bubbles are drawn, one above the other.
_STEPS = 5

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
        What to colour rows by. None, NaN and the empty string stand for an unknown label. Without
        labels, the colour is that of the row's component with most columns.
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
        codes = codes[layout.place_of]
    else:
        if len(labels) != subject.shape[0]:
            raise InputError(
                f"labels must be one for each of the {subject.shape[0]} rows; got {len(labels)}."
            )
        classes, codes = label_codes(labels)
        names = [str(label) for label in classes]
    ax = one_of(ax, 7.0, 4.8)
    counts = _counts(layout, codes, len(names))
    _bubbles(ax, layout, counts, names)
    faint_frame(ax, ticks=False)
    ax.set_aspect("equal", adjustable="datalim")
    n, distinct = subject.shape[0], len(layout.counts)
    # Where all are the same, there are no differences to see.
    shown = f"\n{sum(layout.explained):.0%} of their differences are seen" if distinct > 1 else ""
    titled(ax, "Map of the rows", f"{counted(n, 'row')}, {distinct:,} of them distinct{shown}")
    return ax


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


def _bubbles(ax: Axes, layout: RowLayout, counts: sparse.csr_array, names: list[str]) -> None:
    """Draw places as bubbles with a ring for each class, and the legend."""
    totals = np.asarray(counts.sum(axis=0)).ravel()
    # The largest classes have a look of their own, in the order of their names.
    seen = np.sort(np.argsort(-totals[:-1], kind="stable")[:_MOST_CLASSES])
    seen = seen[totals[seen] > 0]
    others = len(seen)
    look_of = np.full(len(names) + 1, others)
    look_of[seen] = np.arange(others)
    find = _rings if others <= len(CLASS_COLOURS) else _majorities
    place, kind, rows = find(counts, look_of)
    areas = _areas(ax, layout, rows)
    _leave_room(ax, float(areas.max(initial=0)))
    # Large ones first, so that small ones are seen. What has one look is drawn at once, so that
    # this goes by steps of size only.
    order = np.argsort(-areas, kind="stable")
    step = np.empty(len(order), dtype=np.int64)
    step[order] = _STEPS * np.arange(len(order)) // max(len(order), 1)
    handles: dict[int, Any] = {}
    for key in np.unique(kind * _STEPS + step):
        look, level = divmod(int(key), _STEPS)
        some = order[(kind[order] == look) & (step[order] == level)]
        shape = CLASS_SHAPES[0 if look == others else look // len(CLASS_COLOURS)]
        handles[look] = ax.scatter(
            layout.places[place[some], 0],
            layout.places[place[some], 1],
            s=areas[some],
            marker=shape,
            color=_OTHERS if look == others else CLASS_COLOURS[look % len(CLASS_COLOURS)],
            edgecolors="white",
            linewidths=0.3,
            alpha=0.85,
            zorder=1 + level / _STEPS,
            rasterized=len(order) > _MOST_SHAPES,
        )
    shown = [
        *(names[each] for each in seen),
        "other or none" if find is _rings else "several, other or none",
    ]
    _add_legend(
        ax, [handles[look] for look in sorted(handles)], [shown[l] for l in sorted(handles)]
    )


def _areas(ax: Axes, layout: RowLayout, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return areas in square points, in proportion to rows unless that is too small to see."""
    box = ax.get_window_extent()
    room = box.width * box.height * (72 / ax.figure.dpi) ** 2
    unit = min(
        _SHARE * room / max(layout.counts.sum(), 1),
        _MOST_AREA / max(layout.counts.max(initial=1), 1),
        4 * _LEAST_AREA,
    )
    least = _LEAST_AREA if len(layout.counts) < _MOST_SHAPES else _LEAST_AREA / 3
    return np.maximum(rows * unit, least)


def _leave_room(ax: Axes, area: float) -> None:
    """Let the largest bubble end within the axes, wherever it is."""
    box = ax.get_window_extent()
    radius = np.sqrt(area / np.pi) * ax.figure.dpi / 72
    sides = [min(0.4, radius / max(side, 1) + 0.03) for side in (box.width, box.height)]
    ax.margins(*(side / (1 - 2 * side) for side in sides))


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


def _add_legend(ax: Axes, handles: list[Any], names: list[str]) -> None:
    from matplotlib.lines import Line2D

    if not handles:
        return
    marks = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=points.get_paths()[0],
            markersize=6,
            markerfacecolor=points.get_facecolor()[0],
            markeredgecolor="none",
        )
        for points in handles
    ]
    legend = ax.legend(
        marks,
        [f"{at}" for at in range(len(marks))],
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
        fontsize=TICK,
        handletextpad=0.1,
        labelspacing=0.35,
        borderaxespad=0.2,
    )
    name_legend(legend, names)
