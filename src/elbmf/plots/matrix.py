"""The matrix, its reconstruction and the errors, in an order in which components show as blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from elbmf.analysis import (
    BlockOrder,
    ErrorGrid,
    block_order,
    error_grid,
    left_out_text,
    line_ones,
    runs,
)
from elbmf.errors import InputError
from elbmf.plots.canvas import figure_of, one_of, several_of
from elbmf.plots.look import FAINT, INK, LABEL, OKABE_ITO, TICK, TITLE, below, room, say, titled
from elbmf.plots.names import name_within, text_width, words_of, wrapped
from elbmf.plots.strips import Strip, draw_strips
from elbmf.plots.subject import Subject
from elbmf.utils.text import counted
from elbmf.utils.vocabulary import Vocabulary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["EXTRA", "HIT", "MISSED", "factorization", "reordered_matrix"]

What = Literal["data", "reconstruction", "errors"]

_ONE, _OUTLINE = "#262626", OKABE_ITO[2]
MISSED, EXTRA = OKABE_ITO[:2]
HIT, _MISSING = "#D9D9D9", "#E8D9A0"
"""Colours of cells: ones that are not covered, covered zeros, covered ones, cells not known."""

# Where bins hold several cells, the share of ones that is drawn in full: all but so many percent
# of the bins that have any have less.
_FULL_PERCENTILE = 99.5

# Bins for each pixel, along both sides: a bit fewer, for the layout may shrink the axes, and a bin
# without a pixel would not be seen.
_BINS = 0.8

# The matrix is shown without the lines in no component where the others have less of its cells.
_MOST_WITHOUT = 0.5

# Blocks that are narrower than so many pixels have no outline, and numbers at the edge keep such a
# distance from each other, in points.
_LEAST_PIXELS, _POINTS_APART = 4, 10


# Points that the name of a column takes at most.
_LONGEST_NAME = 72.0

_PICTURE: Any = {"aspect": "auto", "interpolation": "nearest"}


def reordered_matrix(
    model: Any,
    A: Any = None,
    *,
    what: What = "data",
    whole: bool = False,
    order: BlockOrder | None = None,
    outlines: bool = True,
    row_labels: Sequence[Any] | None = None,
    column_labels: Sequence[Any] | None = None,
    n_jobs: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the matrix, its reconstruction or the errors, so that components show as blocks.

    Numbers of components stand at the edges, where most of their rows and columns are, and
    outlines where these meet. A matrix with more cells than pixels is counted into bins of cells,
    the darker the more ones they have.

    Where rows and columns that are in components have less than half of the cells, only these are
    drawn, and how many are left out is written below.

    Parameters
    ----------
    model : fitted estimator, SavedModel or (U, V)
        The factorization.
    A : matrix of shape (n, m), optional
        The data; without it, only the reconstruction can be drawn. Where model and data have names,
        its rows and columns may come in any order.
    what : {"data", "reconstruction", "errors"}, default="data"
        Ones of A; cells that U ∘ V covers; or both beside the errors: ones that are not covered in
        blue, covered zeros in orange, what is right in grey. Missing cells are sand-coloured.
    whole : bool, default=False
        Whether rows and columns in no component are drawn in any case.
    order : BlockOrder, optional
        Which rows and columns are drawn, and in which order; by default that of
        `elbmf.analysis.block_order`.
    outlines : bool, default=True
        Whether components have outlines.
    row_labels, column_labels : sequence, optional
        One label for each row or column of the matrix, also for those that are not drawn. They are
        a strip of colours beside it, one for each of the eight most frequent; None, NaN and the
        empty string stand for an unknown label. A column of a data frame is matched by its index
        where lines have names, all else by position. Among lines in the same components, those of
        the same label are next to each other. A bin of several has the label of most of them.
    n_jobs : int, optional
        Threads. All cores by default.
    ax : Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    Axes
    """
    subject = Subject.of(model, A)
    if what not in ("data", "reconstruction", "errors"):
        raise InputError(f"what must be 'data', 'reconstruction' or 'errors'; got {what!r}.")
    if subject.A is None and what != "reconstruction":
        raise InputError(f"The {what} cannot be drawn without the matrix: pass it as A.")
    strips = _strips(subject, row_labels, column_labels)
    ax = one_of(ax, 5.6, 4.8)
    view = _View.of(subject, words_of(model), order, ax, n_jobs, whole=whole, strips=strips)
    view.draw(ax, what, outlines=outlines)
    view.finish({what: ax})
    _leave_room_below([ax], _explain(ax, view) if what == "errors" else 0)
    return ax


def factorization(
    model: Any,
    A: Any,
    *,
    whole: bool = False,
    order: BlockOrder | None = None,
    outlines: bool = True,
    row_labels: Sequence[Any] | None = None,
    column_labels: Sequence[Any] | None = None,
    n_jobs: int | None = None,
    axes: Any = None,
) -> tuple[Axes, ...]:
    """Draw a matrix beside its reconstruction and the errors, in the same order.

    Parameters
    ----------
    model : fitted estimator, SavedModel or (U, V)
        The factorization.
    A : matrix of shape (n, m)
        The data.
    whole, order, outlines, row_labels, column_labels, n_jobs
        As for `reordered_matrix`.
    axes : sequence of 3 Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    data, reconstruction, errors : Axes
    """
    if A is None:
        raise InputError("The matrix is needed, beside its factorization: pass it as A.")
    subject = Subject.of(model, A)
    strips = _strips(subject, row_labels, column_labels)
    panels = data, rebuilt, errors = several_of(axes, 3, 11.5, 4.6)
    words = words_of(model)
    view = _View.of(subject, words, order, data, n_jobs, whole=whole, strips=strips)
    view.draw(data, "data", outlines=outlines)
    view.draw(rebuilt, "reconstruction", outlines=outlines)
    view.draw(errors, "errors", outlines=False)
    for ax in (rebuilt, errors):
        ax.set_ylabel("")
    view.finish({"data": data, "reconstruction": rebuilt, "errors": errors})
    _leave_room_below([data, rebuilt, errors], _explain(errors, view))
    grid = view.grid
    ones, wrong = int(grid.ones.sum()), int((grid.missed + grid.extra).sum())
    # What is left out is covered by nothing, so that all of its ones are missed.
    more = view.ones_left_out
    for ax, what, texts in (
        (data, "Data", _of_all(ones, ones + more, "one")),
        (rebuilt, "Reconstruction", [words.spoken(counted(subject.n_components, "component"))]),
        (errors, "Errors", _of_all(wrong, wrong + more, "cell")),
    ):
        width = room(ax)[0]
        candidates = [f"{what}: {text}" for text in texts]
        fit = (each for each in candidates if text_width(each, TITLE) <= width)
        ax.set_title(next(fit, what), loc="left", fontsize=TITLE)
    return panels


def _strips(subject: Subject, rows: Any, columns: Any) -> list[Strip]:
    """Return the strips that are asked for."""
    wanted = [] if rows is None else [Strip.of(subject, rows, "rows")]
    return wanted if columns is None else [*wanted, Strip.of(subject, columns, "columns")]


def _of_all(shown: int, total: int, noun: str) -> list[str]:
    """Say how many are shown, at length and in short."""
    short = counted(shown, noun)
    return [short] if shown == total else [f"{shown:,} of {counted(total, noun)}", short]


def _leave_room_below(axes: Sequence[Axes], legend_lines: int) -> None:
    """Raise axes of a figure without a layout, as far as what stands below them needs."""
    figure = figure_of(axes)
    if figure.get_layout_engine() is not None:
        return
    lines = max(1 + ax.get_xlabel().count("\n") for ax in axes)
    points = axes[0].xaxis.labelpad + 1.3 * LABEL * (lines + 1) + 1.5 * TICK * legend_lines
    for ax in axes:
        box = ax.get_position()
        more = min(points / (72 * figure.get_figheight()) - box.y0, box.height / 2)
        if more > 0:
            ax.set_position((box.x0, box.y0 + more, box.width, box.height - more))


def _explain(ax: Axes, view: _View) -> int:
    """Say what the colours of errors are, and how many cells have them; return lines of that."""
    from matplotlib.patches import Patch

    grid = view.grid
    missing = int(
        (grid.row_edges[-1] - grid.row_edges[0]) * (grid.column_edges[-1] - grid.column_edges[0])
        - grid.cells.sum()
    )
    counts = {
        "missed": (MISSED, int(grid.missed.sum())),
        "extra": (EXTRA, int(grid.extra.sum())),
        "right ones": (HIT, int(grid.hits.sum())),
    }
    if missing:
        counts["not known"] = (_MISSING, missing)
    names = [f"{count:,} {what}" for what, (_, count) in counts.items()]
    width = room(ax)[0]
    # All next to each other if there is room for them and their colours. Two may stand out a bit.
    widths = [text_width(name, TICK) + 2.6 * TICK for name in names]
    columns = len(names) if sum(widths) <= width else 2 if max(widths) <= 0.85 * width else 1
    lines = 1 + ax.get_xlabel().count("\n")
    ax.legend(
        handles=[Patch(color=colour) for colour, _ in counts.values()],
        labels=names,
        loc="upper center",
        bbox_to_anchor=(0.5, -ax.xaxis.labelpad - (0.9 + 1.3 * lines) * LABEL),
        bbox_transform=below(ax),
        ncols=columns,
        frameon=False,
        fontsize=TICK,
        handlelength=1,
        handletextpad=0.4,
        columnspacing=1,
        borderpad=0,
        borderaxespad=0,
    )
    return -(-len(names) // columns)


@dataclass(frozen=True, eq=False)
class _View:
    """A factorization counted into the pixels of axes.

    Of each component it has where a run begins and ends among the rows and columns as they are
    shown, see `_runs`; both the same where it has none. A note says what is left out, and strips
    are there with the colours of their bins. Names are those of the columns, as they are shown, if
    each has a bin and a name.
    """

    grid: ErrorGrid
    row_runs: NDArray[np.int64]
    column_runs: NDArray[np.int64]
    note: str
    ones_left_out: int
    strips: list[tuple[Strip, NDArray[np.int64]]]
    words: Vocabulary
    names: list[str]

    @classmethod
    def of(
        cls,
        subject: Subject,
        words: Vocabulary,
        order: BlockOrder | None,
        ax: Axes,
        n_jobs: int | None,
        *,
        whole: bool,
        strips: list[Strip],
    ) -> _View:
        """Count into as many bins as the axes have pixels; without data, there are no ones."""
        A = subject.A
        note = ""
        if order is None:
            sums: list[Any] = [None if A is None else line_ones(A, axis) for axis in (0, 1)]
            for strip in strips:
                axis = 0 if strip.side == "rows" else 1
                sums[axis] = strip.sums(sums[axis])
            order = block_order(subject.U, subject.V, row_sums=sums[0], column_sums=sums[1])
            if not whole:
                order, note = _of_members(subject, order)
        box = ax.get_window_extent()
        bins = max(1, int(_BINS * box.height)), max(1, int(_BINS * box.width))
        grid = error_grid(A, subject.U, subject.V, order, bins, n_jobs)
        rows, columns = subject.U[order.rows], subject.V.T[order.columns]
        lines = {
            "rows": (order.rows, grid.row_edges),
            "columns": (order.columns, grid.column_edges),
        }
        return cls(
            grid,
            _runs(rows, order.components),
            _runs(columns, order.components),
            words.spoken(note),
            A.ones - int(grid.ones.sum()) if note and A is not None else 0,
            [(strip, strip.bins(*lines[strip.side])) for strip in strips],
            words,
            [subject.name(1, column) for column in order.columns.tolist()]
            if subject.column_names is not None and grid.shape[1] == len(order.columns)
            else [],
        )

    @property
    def full(self) -> float:
        """The share of ones in a bin that is drawn in full."""
        if self.grid.exact:
            return 1.0
        shares = self.grid.share(np.maximum(self.grid.ones, self.grid.covered))
        some = shares[shares > 0]
        return float(np.percentile(some, _FULL_PERCENTILE)) if some.size else 1.0

    def pixels(self, what: What) -> NDArray[np.float64]:
        """Return the colour of each bin, as an array of shape (R, C, 3)."""
        grid, full = self.grid, self.full
        parts = {
            "data": {_ONE: grid.ones},
            "reconstruction": {_ONE: grid.covered},
            "errors": {HIT: grid.hits, MISSED: grid.missed, EXTRA: grid.extra},
        }[what]
        # Few ones in a bin would be lost among white; roots make them darker, and keep 0 and 1.
        tones = {
            colour: np.sqrt(np.minimum(grid.share(counts) / full, 1))
            for colour, counts in parts.items()
        }
        crowded = np.maximum(sum(tones.values(), np.zeros(grid.shape)), 1)
        tones = {colour: tone / crowded for colour, tone in tones.items()}
        cells = np.diff(grid.row_edges)[:, None] * np.diff(grid.column_edges)[None, :]
        missing = 1 - np.divide(grid.cells, cells, out=np.ones(grid.shape), where=cells > 0)
        tones = {colour: tone * (1 - missing) for colour, tone in tones.items()}
        tones[_MISSING] = missing
        picture = np.ones((*grid.shape, 3))
        for colour, tone in tones.items():
            picture -= tone[:, :, None] * (1 - _rgb(colour))
        return np.clip(picture, 0, 1)

    def draw(self, ax: Axes, what: What, *, outlines: bool) -> None:
        """Draw one of the three, with numbers and outlines of components."""
        n, m = int(self.grid.row_edges[-1]), int(self.grid.column_edges[-1])
        width, height = max(m, 1), max(n, 1)
        ax.imshow(self.pixels(what), **_PICTURE, extent=(0, width, height, 0))
        for blocks, axis, pixels, length in (
            (self.row_runs, ax.yaxis, ax.get_window_extent().height, height),
            (self.column_runs, ax.xaxis, ax.get_window_extent().width, width),
        ):
            apart = _POINTS_APART * ax.figure.dpi / 72 / max(pixels, 1) * length
            numbered = _apart(blocks, apart)
            axis.set_ticks([blocks[each].mean() for each in numbered], [f"{e}" for e in numbered])
        ax.xaxis.tick_top()
        ax.tick_params(length=2, pad=1, color=FAINT, labelcolor=_OUTLINE)
        for spine in ax.spines.values():
            spine.set_color("0.6")
            spine.set_linewidth(0.6)
        if outlines:
            self._outline(ax, width, height)
        titles = {"data": "Data", "reconstruction": "Reconstruction", "errors": "Errors"}
        spoken = self.words.spoken
        titled(ax, titles[what], spoken(counted(m, "column")), spoken(counted(n, "row")))
        ax.tick_params(labelsize=TICK - 1)

    def finish(self, drawn: dict[What, Axes]) -> None:
        """Draw the strips beside all axes, and write below the first what is left out."""
        axes = list(drawn.values())
        for ax in axes:
            self._name_columns(ax)
            draw_strips(ax, self.strips, legend=ax is axes[-1])
        if self.note:
            note = wrapped(self.note, room(axes[0])[0], LABEL)
            axes[0].set_xlabel(f"{axes[0].get_xlabel()}\n{note}")
        grid = self.grid
        parts: dict[What, tuple[NDArray[np.int64], str]] = {
            "data": (grid.ones, "The matrix has no ones."),
            "reconstruction": (grid.covered, "No component covers anything."),
            "errors": (grid.missed + grid.extra, "There are no errors."),
        }
        for what, ax in drawn.items():
            counts, nothing = parts[what]
            if not counts.any():
                say(ax, self.words.spoken(nothing))

    def _name_columns(self, ax: Axes) -> None:
        """Write names below the columns and what is beside them, if there is room for all."""
        size = TICK - 1
        wide, high = room(ax)
        each = wide / max(len(self.names), 1)
        if not self.names or each < 1.15 * size:
            return
        texts = [name_within(name, _LONGEST_NAME, size) for name in self.names]
        widest = max(text_width(text, size) for text in texts)
        turned = widest + size > each
        if turned and 2 * widest > high:
            return
        away = 2 + sum(strip.thickness for strip, _ in self.strips if strip.side == "columns")
        for at, text in enumerate(texts):
            ax.text(
                (at + 0.5) / len(texts),
                -away,
                text,
                transform=below(ax),
                rotation=90 if turned else 0,
                ha="center",
                va="top",
                fontsize=size,
                color=INK,
            ).set_in_layout(False)
        ax.xaxis.labelpad += (widest if turned else 1.2 * size) + 2

    def _outline(self, ax: Axes, width: int, height: int) -> None:
        from matplotlib.collections import PolyCollection

        box = ax.get_window_extent()
        corners = []
        for (top, bottom), (left, right) in zip(self.row_runs, self.column_runs, strict=True):
            seen = (bottom - top) * box.height / height, (right - left) * box.width / width
            if min(seen) >= _LEAST_PIXELS:
                corners.append([(left, top), (right, top), (right, bottom), (left, bottom)])
        ax.add_collection(
            PolyCollection(corners, facecolors="none", edgecolors=_OUTLINE, linewidths=0.9),
            autolim=False,
        )


def _of_members(subject: Subject, order: BlockOrder) -> tuple[BlockOrder, str]:
    """Leave out lines in no component where these are most of the matrix, and say how many."""
    n, m = subject.shape
    rows = order.rows[subject.U[order.rows].any(axis=1)]
    columns = order.columns[subject.V.T[order.columns].any(axis=1)]
    height, width = len(rows), len(columns)
    if not 0 < height * width < _MOST_WITHOUT * n * m:
        return order, ""
    text = left_out_text(n - height, m - width, (n, m)).removesuffix(".")
    return BlockOrder(rows, columns, order.components), f"{text} and not shown."


def _rgb(colour: str) -> NDArray[np.float64]:
    return np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255


def _runs(members: NDArray[np.bool_], components: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one run of neighbouring lines for each component.

    In an order by blocks, lines stand with the first of their components: where most of these are
    of this component, and as far as its members go from there. A component that is the first of no
    line has its longest run.
    """
    chosen = np.zeros((members.shape[1], 2), dtype=np.int64)
    taken = np.zeros(len(members), dtype=np.bool_)
    for component in components:
        inside = members[:, component]
        starts, ends = runs(np.flatnonzero(inside))
        if starts.size:
            firsts, lasts = runs(np.flatnonzero(inside & ~taken))
            if firsts.size:
                begin = firsts[np.argmax(lasts - firsts)]
                at = np.searchsorted(starts, begin, side="right") - 1
            else:
                at = np.argmax(ends - starts)
            chosen[component] = starts[at], ends[at]
        taken |= inside
    return chosen


def _apart(runs: NDArray[np.int64], distance: float) -> list[int]:
    """Return components whose middles keep a distance from each other, long runs first."""
    chosen: list[int] = []
    middles = runs.mean(axis=1) if len(runs) else np.zeros(0)
    lengths = runs[:, 1] - runs[:, 0]
    for each in np.argsort(-lengths, kind="stable"):
        if lengths[each] and all(abs(middles[each] - middles[o]) >= distance for o in chosen):
            chosen.append(int(each))
    return chosen
