"""A factorization in three panels: the matrix, its reconstruction, the errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elbmf.analysis import BlockOrder
from elbmf.errors import InputError
from elbmf.plots.canvas import several_of
from elbmf.plots.look import TICK, TITLE
from elbmf.plots.matrix import EXTRA, HIT, MISSED, MISSING, View
from elbmf.plots.subject import Subject
from elbmf.utils.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["factorization"]


def factorization(
    model: Any,
    A: Any,
    *,
    order: BlockOrder | None = None,
    outlines: bool = True,
    n_jobs: int | None = None,
    axes: Any = None,
) -> tuple[Axes, Axes, Axes]:
    """Draw a matrix beside its reconstruction and the errors, in the same order.

    Parameters
    ----------
    model : fitted estimator, SavedModel or (U, V)
        The factorization.
    A : matrix of shape (n, m)
        The data.
    order, outlines, n_jobs
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
    data, rebuilt, errors = several_of(axes, 3, 11.5, 4.6)
    view = View.of(subject, order, data, n_jobs)
    view.draw(data, "data", outlines=outlines)
    view.draw(rebuilt, "reconstruction", outlines=outlines)
    view.draw(errors, "errors", outlines=False)
    grid = view.grid
    wrong = int((grid.missed + grid.extra).sum())
    for ax, title in (
        (data, f"Data: {counted(int(grid.ones.sum()), 'one')}"),
        (rebuilt, f"Reconstruction: {counted(subject.n_components, 'component')}"),
        (errors, f"Errors: {counted(wrong, 'cell')}"),
    ):
        ax.set_title(title, loc="left", fontsize=TITLE)
    for ax in (rebuilt, errors):
        ax.set_ylabel("")
    _explain(errors, view)
    return data, rebuilt, errors


def _explain(ax: Axes, view: View) -> None:
    """Say what the colours of errors are, and how many cells have them."""
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
        counts["not known"] = (MISSING, missing)
    ax.legend(
        handles=[Patch(color=colour) for colour, _ in counts.values()],
        labels=[f"{count:,} {what}" for what, (_, count) in counts.items()],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.06),
        ncols=2 if missing else 3,
        frameon=False,
        fontsize=TICK,
        handlelength=1,
        handletextpad=0.4,
        columnspacing=1,
    )
