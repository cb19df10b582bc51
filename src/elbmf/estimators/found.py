"""What a fitted estimator shows of what it has found: data frames, and a page of a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from elbmf.analysis import left_out_text
from elbmf.boolean.metrics import measures_of
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.saving import fitted_data, margins_of, saved_model
from elbmf.estimators.shown import shortly, table
from elbmf.io.described import Side, described, members
from elbmf.io.model import SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.extras import optional_module
from elbmf.utils.text import amount, counted, number, percent, share

__all__ = ["components_frame", "components_html", "frame_of", "html", "members_frame"]

_MOST_COMPONENTS = 25

# How figures of a component are written.
_NOTED: dict[str, Callable[[float], str]] = {
    "recurrence": "{:.2f}".format,
    "found_in": percent,
    "bits_saved": lambda bits: number(round(bits)),
}


def components_frame(estimator: BooleanFactorizer, X: Any, missing: Any) -> Any:
    """Return a data frame of the components, see `BooleanFactorizer.components_frame`."""
    return frame_of(*_with_data(estimator, X, missing))


def frame_of(model: SavedModel, A: BooleanMatrix | None = None) -> Any:
    """Return a data frame of the components of a model."""
    pandas = optional_module("pandas", extra="pandas", purpose="making data frames")
    found = described(model, A)
    for one in found:
        held = one["rows"] and one["columns"]
        one["doubts"] = ", ".join(one["doubts"]) if held else "empty"
    return pandas.DataFrame(found).set_index("component")


def members_frame(estimator: BooleanFactorizer, side: Side, X: Any, missing: Any) -> Any:
    """Return a data frame of who is in which component: `BooleanFactorizer.members_frame`."""
    pandas = optional_module("pandas", extra="pandas", purpose="making data frames")
    if side not in get_args(Side):
        raise InputError(f"side must be 'columns' or 'rows'; got {side!r}.")
    model, A = _with_data(estimator, X, missing)
    found = members(model, side, A)
    if A is not None:
        weighed = margins_of(estimator, model, A)
        if weighed is not None:
            of_components = weighed.columns if side == "columns" else weighed.rows.T
            found["margin"] = _entries(of_components.tocsr(), found["component"], found["place"])
    return pandas.DataFrame(found)


def _with_data(
    estimator: BooleanFactorizer, X: Any, missing: Any
) -> tuple[SavedModel, BooleanMatrix | None]:
    check_is_fitted(estimator, "components_")
    if not hasattr(estimator, "membership_"):
        raise InputError("After partial_fit, which keeps no rows, they cannot be shown.")
    if X is None:
        return saved_model(estimator), None
    A = fitted_data(estimator, X, missing)
    return saved_model(estimator, A), A


def _entries(matrix: sparse.csr_array, rows: Any, columns: Any) -> Any:
    # Of no entries at all, scipy makes another sparse array.
    return np.asarray(matrix[rows, columns]).ravel() if len(rows) else np.empty(0)


def html(estimator: BooleanFactorizer) -> str:
    """Return what a notebook shows of a fitted estimator, above its parameters."""
    model = saved_model(estimator)
    rows, k, columns = model.shape
    measured = measures_of(estimator.cover_)
    ones = estimator.cover_.ones
    loss = f"{amount(measured['loss'])} wrong cells beside {amount(ones)} ones"
    facts = [
        f"{counted(k, 'component')} in {number(rows)} × {number(columns)} cells",
        f"loss {loss} ({share(measured['relative_loss'])})",
        f"recall {percent(measured['recall'])}",
        f"precision {percent(measured['precision'])}",
    ]
    held, used = estimator.membership_.any(axis=1), estimator.components_.any(axis=0)
    loose = left_out_text(int((~held).sum()), int((~used).sum()), (rows, columns))
    said = f"<p><b>{type(estimator).__name__}</b>: {', '.join(facts)}. {loose}</p>"
    return said + components_html(described(model))


def components_html(found: list[dict[str, Any]]) -> str:
    """Return a table of components, as `described` tells of them."""
    shown = found[:_MOST_COMPONENTS]
    noted = [name for name in _NOTED if shown and name in shown[0]]
    doubtful = any(one["doubts"] for one in shown)
    titles = ["component", "rows", "columns", *(name.replace("_", " ") for name in noted)]
    texts = ["column names", *(["doubts"] if doubtful else [])]
    lines = [
        [number(one[name]) for name in titles[:3]]
        + [_NOTED[name](one[name]) for name in noted]
        + [shortly(one["column_names"])]
        + ([", ".join(one["doubts"])] if doubtful else [])
        for one in shown
    ]
    left = len(found) - len(shown)
    more = f"<p>… and {counted(left, 'more component')}: components_frame().</p>" if left else ""
    aligned = [*((each, "right") for each in titles), *((each, "left") for each in texts)]
    return table(aligned, lines) + more
