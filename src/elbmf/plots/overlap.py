"""What components share, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elbmf.analysis import block_order
from elbmf.analysis import component_overlap as overlap_of
from elbmf.errors import InputError
from elbmf.plots.canvas import one_of
from elbmf.plots.heat import heat_map, ticks_that_fit
from elbmf.plots.look import titled
from elbmf.plots.subject import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["component_overlap"]


def component_overlap(
    model: Any,
    *,
    what: Literal["cells", "rows", "columns"] = "cells",
    ax: Axes | None = None,
) -> Axes:
    """Draw how much components share, those that share much next to each other.

    Parameters
    ----------
    model : fitted estimator, SavedModel or (U, V)
        The factorization.
    what : {"cells", "rows", "columns"}, default="cells"
        What is counted. The entry in line a and column b is the share of those of component a that
        are also in b.
    ax : Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    Axes
    """
    if what not in ("cells", "rows", "columns"):
        raise InputError(f"what must be 'cells', 'rows' or 'columns'; got {what!r}.")
    subject = Subject.of(model)
    order = block_order(subject.U, subject.V).components
    counts = getattr(overlap_of(subject.U, subject.V), what)[np.ix_(order, order)]
    own = np.diag(counts)[:, None]
    shares = np.divide(counts, own, out=np.zeros(counts.shape), where=own > 0)
    np.fill_diagonal(shares, np.nan)  # that a component shares all with itself is no news
    ax = one_of(ax, 5.6, 4.8)
    heat_map(ax, shares, f"share of the {what} of the component at the left")
    numbers = [str(each) for each in order]
    ticks_that_fit(ax, "x", numbers)
    ticks_that_fit(ax, "y", numbers)
    titled(ax, f"Shared {what} (%)" if len(order) <= 14 else f"Shared {what}", "component")
    ax.set_ylabel("component")
    return ax
