"""The figures that ``elbmf plot`` draws: a new one is a file next to this one, and a line here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from elbmf.utils.late import imported

__all__ = ["FIGURES", "Figure"]


@dataclass(frozen=True)
class Figure:
    """A figure of a saved result.

    Parameters
    ----------
    function : str or callable
        What draws it and returns the axes: ``"module:function"``, imported when it is first used,
        or the function itself. It is called with the result and, by name, with those of ``A``
        (the data), ``labels`` or ``row_labels`` (both of the rows), ``column_labels``, ``sets`` (of
        columns), ``ignore_case`` and ``cut_at`` (how their names are compared), ``whole``,
        ``n_jobs``, ``size``, ``ax`` and ``axes`` that it takes.
    summary : str
        What it shows, for the list of figures.
    data : {"unused", "used", "needed"}
        Whether it looks at the data, and whether it cannot be drawn without.
    labels, sets : bool
        Whether it cannot be drawn without labels, or without known sets.
    rows : bool
        Whether it shows rows, which the result of a stream does not keep.
    panels : int, optional
        Axes it has; None where that depends on the result.
    options : mapping
        Other arguments of the function.
    """

    function: str | Callable[..., Any]
    summary: str
    data: Literal["unused", "used", "needed"] = "unused"
    labels: bool = False
    sets: bool = False
    rows: bool = True
    panels: int | None = 1
    options: Mapping[str, Any] = field(default_factory=dict)

    def draw(self, model: Any, **given: Any) -> Any:
        """Draw it with as much of what is given as it takes, and return the axes."""
        function = imported(self.function)
        taken = inspect.signature(function).parameters
        used = {name: value for name, value in given.items() if name in taken}
        return function(model, **used, **self.options)


FIGURES: dict[str, Figure] = {
    "factorization": Figure(
        "elbmf.plots.matrix:factorization",
        "data, reconstruction and errors side by side",
        data="needed",
        panels=3,
    ),
    "data": Figure(
        "elbmf.plots.matrix:reordered_matrix",
        "the matrix, components as blocks",
        data="needed",
        options={"what": "data"},
    ),
    "reconstruction": Figure(
        "elbmf.plots.matrix:reordered_matrix",
        "what the components cover",
        options={"what": "reconstruction"},
    ),
    "errors": Figure(
        "elbmf.plots.matrix:reordered_matrix",
        "ones missed and zeros covered",
        data="needed",
        options={"what": "errors"},
    ),
    "columns": Figure(
        "elbmf.plots.lists:component_lists",
        "best columns of the largest components",
        data="used",
        rows=False,
        panels=None,
        options={"side": "columns"},
    ),
    "rows": Figure(
        "elbmf.plots.lists:component_lists",
        "best rows of the largest components",
        data="used",
        panels=None,
        options={"side": "rows"},
    ),
    "overlap": Figure("elbmf.plots.heat:component_overlap", "what components share"),
    "map": Figure("elbmf.plots.maps:row_map", "rows in the plane, by component or --labels"),
    "labels": Figure(
        "elbmf.plots.nmi:result_label_nmi", "components and labels (nmi)", labels=True
    ),
    "enrichment": Figure(
        "elbmf.plots.dots:result_enrichment",
        "components and known --sets of columns",
        sets=True,
        rows=False,
    ),
    "stability": Figure(
        "elbmf.plots.stability:component_stability",
        "how reliably components return, and who is in them",
        rows=False,
    ),
    "consensus": Figure(
        "elbmf.plots.stability:consensus_map", "how often rows are together", rows=False
    ),
    "trace": Figure(
        "elbmf.plots.traces:trace",
        "loss, Boolean gap and flips of the fit",
        rows=False,
        panels=None,
    ),
}
"""By what the user types."""
