"""Components as ranked lists of the lines that fit them best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from elbmf.analysis import best_first, line_ones, support
from elbmf.errors import InputError
from elbmf.plots.canvas import figure_of, several_of
from elbmf.plots.look import FAINT, INK, TICK, faint_frame, titled
from elbmf.plots.names import shown_name
from elbmf.plots.subject import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["component_lists"]

_BAR = "#BBD9EC"

# Panels that are drawn by default, next to each other, and inches of a panel.
_MOST_PANELS, _COLUMNS = 12, 4
_PANEL_WIDTH, _LINE_HEIGHT, _HEAD, _FOOT = 2.6, 0.19, 0.42, 0.32

# Share of a panel's width that bars may take; their values stand beside them.
_BARS = 0.86

# Points that a character takes, as a share of the size of type.
_CHARACTER = 0.62


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
    axes: Any = None,
) -> tuple[Axes, ...]:
    """Draw components as lists of the columns, or rows, that fit them best.

    With the data, a bar behind each name tells the share of the component's rows that have the
    column (of its columns that the row has), and the greatest shares come first, of equals those
    with fewer ones elsewhere. Without it, those come first that are in few other components.

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
    columns = min(_COLUMNS, len(components))
    rows = -(-len(components) // max(columns, 1))
    sizes = members[:, list(components)].sum(axis=0)
    # One line more where there is something left to say; panels next to each other are as high.
    lines = [int(min(size, most)) + (size > most or not size) for size in sizes]
    high = [max(lines[at : at + columns]) for at in range(0, len(lines), columns)]
    heights = [_HEAD + _LINE_HEIGHT * count for count in high]
    drawn = several_of(
        axes,
        len(components),
        max(_PANEL_WIDTH * columns, 4),
        sum(heights) + _FOOT,
        rows=rows,
        columns=columns,
        height_ratios=heights,
    )
    if axes is None:
        figure = figure_of(drawn)
        caption = _caption(subject, side, len(components))
        between = "; " if columns > 2 else "\n"
        figure.supxlabel(between.join(caption), fontsize=TICK, color=FAINT)
    axis = 1 if side == "columns" else 0
    for at, (ax, component) in enumerate(zip(drawn, components, strict=True)):
        inside = np.flatnonzero(members[:, component])
        shares = None if shares_of is None else shares_of(at)[inside]
        best = best_first(shares, in_all[inside])[:most]
        _list(
            ax,
            [subject.name(axis, int(line)) for line in inside[best]],
            None if shares is None else shares[best],
            high[at // columns],
            len(inside) - len(best),
        )
        height, width = subject.U[:, component].sum(), subject.V[component].sum()
        titled(ax, f"Component {component}")
        ax.set_title(f"{height:,} × {width:,}", loc="right", fontsize=TICK, color=FAINT)
    return drawn


def _caption(subject: Subject, side: str, count: int) -> list[str]:
    """Say what is shown, and what that means."""
    shown = f"{count} of {subject.n_components} components"
    if subject.A is None:
        return [shown, f"{side} in few other components first"]
    share = "rows that have the column" if side == "columns" else "columns that the row has"
    return [shown, f"bars: share of the component's {share}"]


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
    """Return the ones of lines, and their shares in those components; see `best_first`."""
    if subject.A is None:
        return members.sum(axis=1), None
    # Only what is shown is counted.
    kept = list(components)
    counted = support(subject.A, subject.U[:, kept], subject.V[kept], n_jobs)
    if side == "columns":
        return line_ones(subject.A, 1), counted.column_shares
    return line_ones(subject.A, 0), counted.row_shares


def _list(
    ax: Axes, names: list[str], shares: NDArray[np.float64] | None, lines: int, left: int
) -> None:
    """Write names below each other, in front of bars, and how many are left."""
    points = ax.get_window_extent().width * 72 / ax.figure.dpi
    characters = max(6, int(points / (_CHARACTER * TICK)) - (6 if shares is not None else 1))
    if shares is not None:
        ax.barh(range(len(names)), shares * _BARS, height=0.86, color=_BAR, linewidth=0)
    for place, name in enumerate(names):
        text = shown_name(name, characters)
        ax.text(0.015, place, text, va="center", fontsize=TICK, color=INK, clip_on=True)
        if shares is not None:
            share = f"{shares[place]:.0%}"
            ax.text(1.0, place, share, va="center", ha="right", fontsize=TICK - 1, color=FAINT)
    if left or not names:
        rest = f"and {left:,} more" if left else "none"
        ax.text(0.015, len(names), rest, va="center", fontsize=TICK - 1, color=FAINT)
    ax.set_xlim(0, 1)
    ax.set_ylim(lines - 0.5, -0.6)
    faint_frame(ax, "0.6", ticks=False)
    ax.spines[["bottom", "left", "right"]].set_visible(False)
