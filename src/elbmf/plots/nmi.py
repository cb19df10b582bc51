"""Components against known labels of the rows, as a heat map."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from elbmf.analysis.labels import ComponentLabels, component_labels
from elbmf.plots.canvas import one_of
from elbmf.plots.heat import heat_map, ticks_that_fit
from elbmf.plots.look import titled
from elbmf.plots.names import shown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["label_nmi", "nmi_map", "result_label_nmi"]


def label_nmi(found: ComponentLabels, *, ax: Axes | None = None) -> Axes:
    """Draw how much each component tells about each label, the greatest along the diagonal.

    Red are labels that are less frequent in a component than elsewhere, and below 0.

    Parameters
    ----------
    found : ComponentLabels
        What `elbmf.analysis.labels.component_labels` returned.
    ax : Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    Axes
    """
    order = found.components_by_class()
    ax = one_of(ax, 6.4, 4.2)
    nmi_map(ax, found.signed_nmi[order].T, found.classes, order)
    titled(ax, "Components and labels", "component")
    return ax


def result_label_nmi(model: Any, *, labels: Sequence[Any], ax: Axes | None = None) -> Axes:
    """Draw how much each component of a result tells about each label of its rows."""
    return label_nmi(component_labels(model, labels), ax=ax)


def nmi_map(ax: Axes, nmi: ArrayLike, classes: Sequence[Any], components: Iterable[int]) -> None:
    """Draw a table of normalized mutual information.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    nmi : array-like of shape (classes, components)
        The table; below 0 stands for what is told by an absence.
    classes : sequence
        What each line is called.
    components : iterable of int
        The number of the component in each column.
    """
    shown = np.asarray(nmi, dtype=np.float64)
    meaning = "normalized mutual information"
    if (shown < 0).any():
        meaning += "; red: rarer than elsewhere"
    nothing = "No component tells anything about a label."
    heat_map(ax, shown, meaning, values=False, nothing=nothing)
    ticks_that_fit(ax, "y", [shown_name(each, 24) for each in classes])
    ticks_that_fit(ax, "x", [str(each) for each in components])
