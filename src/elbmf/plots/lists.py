"""Components as ranked lists of the lines that fit them best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from elbmf.analysis import best_first, line_ones, support
from elbmf.errors import InputError
from elbmf.plots.canvas import figure_of, several_of
from elbmf.plots.look import FAINT, INK, OKABE_ITO, TICK, faint_frame, rooms, titled
from elbmf.plots.names import name_within, text_width, wrapped
from elbmf.plots.subject import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["component_lists"]

# Colours of the shares inside a component and outside of it.
_BAR, _OUTSIDE = "#BBD9EC", OKABE_ITO[1]

# Panels that are drawn by default, next to each other, and inches of a panel.
_MOST_PANELS, _COLUMNS = 12, 4
_PANEL_WIDTH, _LINE_HEIGHT, _HEAD, _FOOT = 2.8, 0.19, 0.42, 0.32

# Inches of a panel that is no narrower than it need be.
_LEAST_WIDTH = 1.7

# Points that a share takes when it is written, and between what stands next to each other.
_SHARE, _GAP = 25.0, 3.0


def component_lists(
    model: Any,
    A: Any = None,
    *,
    side: Literal["columns", "rows"] = "columns",
    components: Sequence[int] | None = None,
    most: int = 8,
    row_names: Sequence[Any] | None = None,
    column_names: Sequence[Any] | None = None,
    n_jobs: int | None = None,
    size: tuple[float, float] | None = None,
    axes: Any = None,
) -> tuple[Axes, ...]:
    """Draw components as lists of the columns, or rows, that fit them best.

    With the data, a bar behind each name tells the share of the component's rows that have the
    column (of its columns that the row has), and a narrow orange one below it the share of all
    other rows (columns); both are written beside it. The greatest shares inside come first, of
    equals those with fewer ones elsewhere. Without data, those come first that are in few other
    components.

    Parameters
    ----------
    model : fitted estimator, SavedModel or (U, V)
        The factorization.
    A : matrix of shape (n, m), optional
        The data.
    side : {"columns", "rows"}, default="columns"
        What is listed.
    components : sequence of int, optional
        Which components, from 0; by default the largest 12, or as many as there are ``axes``.
    most : int, default=8
        Lines of a list.
    row_names, column_names : sequence, optional
        Names; by default those of the model or of the data, else positions from 0.
    n_jobs : int, optional
        Threads. All cores by default.
    size : (float, float), optional
        Width and height in inches of a new figure; by default as many as the lists need.
    axes : sequence of Axes, optional
        One for each component; in a new figure by default.

    Returns
    -------
    tuple of Axes
        One for each component.
    """
    if side not in ("columns", "rows"):
        raise InputError(f"side must be 'columns' or 'rows'; got {side!r}.")
    if most < 1:
        raise InputError(f"most must be at least 1, the lines of a list; got {most}.")
    subject = Subject.of(model, A, row_names=row_names, column_names=column_names)
    if components is None:
        room = _MOST_PANELS if axes is None else np.size(axes)
        components = _largest(subject, min(room, subject.n_components))
    _check_components(components, subject.n_components)
    members = subject.V.T if side == "columns" else subject.U
    in_all, shares_of = _fits(subject, members, side, components, n_jobs)
    across = _COLUMNS if size is None else max(1, int(size[0] / _LEAST_WIDTH))
    columns = min(_COLUMNS, across, len(components))
    rows = -(-len(components) // max(columns, 1))
    sizes = members[:, list(components)].sum(axis=0)
    # One line more where there is something left to say; panels next to each other are as high.
    lines = [int(min(size, most)) + (size > most or not size) for size in sizes]
    high = [max(lines[at : at + columns]) for at in range(0, len(lines), columns)]
    heights = [_HEAD + _LINE_HEIGHT * count for count in high]
    drawn = several_of(
        axes,
        len(components),
        *(size or (max(_PANEL_WIDTH * columns, 4), sum(heights) + _FOOT)),
        rows=rows,
        columns=columns,
        height_ratios=heights,
    )
    if axes is None:
        figure = figure_of(drawn)
        caption = wrapped(
            "; ".join(_caption(subject, side, len(components))), 68 * figure.get_figwidth(), TICK
        )
        figure.supxlabel(caption, fontsize=TICK, color=FAINT)
    axis = 1 if side == "columns" else 0
    for ax, component in zip(drawn, components, strict=True):
        height, width = subject.U[:, component].sum(), subject.V[component].sum()
        titled(ax, f"Component {component}")
        ax.set_title(f"{height:,} × {width:,}", loc="right", fontsize=TICK, color=FAINT)
        faint_frame(ax, "0.6", ticks=False)
    # All titles are there, so that names get the room that there will be.
    widths = [width for width, _ in rooms(drawn)]
    for at, (ax, component) in enumerate(zip(drawn, components, strict=True)):
        inside = np.flatnonzero(members[:, component])
        shares = None if shares_of is None else shares_of(at)[:, inside]
        best = best_first(None if shares is None else shares[0], in_all[inside])[:most]
        _list(
            ax,
            max(widths[at], 1.0),
            [subject.name(axis, int(line)) for line in inside[best]],
            None if shares is None else shares[:, best],
            high[at // columns],
            len(inside) - len(best),
        )
    return drawn


def _caption(subject: Subject, side: str, count: int) -> list[str]:
    """Say what is shown, and what that means."""
    shown = f"{count} of {subject.n_components} components"
    if subject.A is None:
        return [shown, f"{side} in few other components first"]
    share = "rows that have the column" if side == "columns" else "columns that the row has"
    others = "rows" if side == "columns" else "columns"
    return [shown, f"bars: share of the component's {share}; orange: of all other {others}"]


def _largest(subject: Subject, count: int) -> list[int]:
    """Return the components of most cells, in the order of the model."""
    areas = subject.U.sum(axis=0) * subject.V.sum(axis=1).astype(np.float64)
    return sorted(int(each) for each in np.argsort(-areas, kind="stable")[:count])


def _check_components(components: Sequence[int], count: int) -> None:
    if not len(components):
        raise InputError("There is no component to list.")
    for each in components:
        if not 0 <= each < count:
            raise InputError(f"There is no component {each}: they are numbered 0 to {count - 1}.")


def _fits(
    subject: Subject,
    members: NDArray[np.bool_],
    side: str,
    components: Sequence[int],
    n_jobs: int | None,
) -> tuple[NDArray[np.int64], Callable[[int], NDArray[np.float64]] | None]:
    """Return the ones of lines, and their shares inside and outside of those components.

    Where nothing is outside, that share is not a number.
    """
    if subject.A is None:
        return members.sum(axis=1), None
    # Only what is shown is counted.
    kept = list(components)
    found = support(subject.A, subject.U[:, kept], subject.V[kept], n_jobs)
    axis = 1 if side == "columns" else 0
    counts, sizes = (found.columns, found.row_sizes) if axis else (found.rows, found.column_sizes)
    ones = line_ones(subject.A, axis)

    def shares(at: int) -> NDArray[np.float64]:
        inside, size = counts[:, at], int(sizes[at])
        others = subject.shape[1 - axis] - size
        outside = (ones - inside) / others if others else np.full(len(ones), np.nan)
        return np.array([inside / max(size, 1), outside])

    return ones, shares


def _list(
    ax: Axes,
    points: float,
    names: list[str],
    shares: NDArray[np.float64] | None,
    lines: int,
    left: int,
) -> None:
    """Write names below each other, in front of bars, and how many are left."""
    values = [] if shares is None else [each for each in shares if np.isfinite(each).all()]
    # Values stand in columns at the right, the rest is for bars and names.
    bars = max(0.3, 1 - (len(values) * _SHARE + _GAP) / points) if values else 1.0
    colours = (FAINT, _OUTSIDE)[: len(values)]
    for at, (each, colour) in enumerate(zip(values, colours, strict=True)):
        low, thick, paint = (-0.43, 0.86, _BAR) if at == 0 else (0.31, 0.12, _OUTSIDE)
        ax.barh(
            np.arange(len(names)) + low, each * bars, thick, align="edge", color=paint, linewidth=0
        )
        right = 1 - (len(values) - 1 - at) * _SHARE / points
        for place, share in enumerate(each):
            text = f"{share:.0%}"
            ax.text(right, place, text, va="center", ha="right", fontsize=TICK - 1, color=colour)
    for place, name in enumerate(names):
        # A share of few digits leaves more of its column.
        spare = _SHARE - text_width(f"{values[0][place]:.0%}", TICK - 1) if values else 0.0
        text = name_within(name, bars * points + spare - 2 * _GAP, TICK)
        ax.text(_GAP / points, place, text, va="center", fontsize=TICK, color=INK, clip_on=True)
    if left or not names:
        rest = f"and {left:,} more" if left else "none"
        ax.text(_GAP / points, len(names), rest, va="center", fontsize=TICK - 1, color=FAINT)
    ax.set_xlim(0, 1)
    ax.set_ylim(lines - 0.5, -0.6)
    ax.spines[["bottom", "left", "right"]].set_visible(False)
