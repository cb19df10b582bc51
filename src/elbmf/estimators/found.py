"""What a fitted estimator shows of what it has found: data frames, and a page of a notebook."""

from __future__ import annotations

from html import escape
from typing import Any, get_args

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from elbmf.analysis import left_out_text
from elbmf.boolean.metrics import measures_of
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.saving import fitted_data, margins_of, saved_model
from elbmf.io.described import Side, described, members
from elbmf.io.model import SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.extras import optional_module
from elbmf.utils.text import amount, counted, number, percent, share, shortened

__all__ = ["components_frame", "html", "members_frame"]

_MOST_COMPONENTS = 25
_MOST_NAMES = 8
_LONGEST_NAME = 30


def components_frame(estimator: BooleanFactorizer, X: Any, missing: Any) -> Any:
    """Return a data frame of the components, see `BooleanFactorizer.components_frame`."""
    pandas = optional_module("pandas", extra="pandas", purpose="making data frames")
    model, A = _with_data(estimator, X, missing)
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
    table = members(model, side, A)
    if A is not None:
        weighed = margins_of(estimator, model, A)
        if weighed is not None:
            of_components = weighed.columns if side == "columns" else weighed.rows.T
            table["margin"] = _entries(of_components.tocsr(), table["component"], table["place"])
    return pandas.DataFrame(table)


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


def html(estimator: BooleanFactorizer, parameters: str) -> str:
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
    found = described(model)
    with_bits = bool(found) and "bits_saved" in found[0]
    with_doubts = any(one["doubts"] for one in found[:_MOST_COMPONENTS])
    texts = ["column names", *(["doubts"] if with_doubts else [])]
    head = "".join(
        _cell("th", title, "left" if title in texts else "right")
        for title in ("component", "rows", "columns", *(["bits saved"] * with_bits), *texts)
    )
    body = "".join(_row(one, doubts=with_doubts) for one in found[:_MOST_COMPONENTS])
    left = k - _MOST_COMPONENTS
    more = (
        f"<p>… and {counted(left, 'more component')}: components_frame().</p>" if left > 0 else ""
    )
    return (
        f"<div><p><b>{type(estimator).__name__}</b>: {', '.join(facts)}. {loose}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
        f"<details><summary>Parameters</summary>{parameters}</details></div>"
    )


def _row(one: dict[str, Any], *, doubts: bool) -> str:
    names = one["column_names"]
    shown = ", ".join(escape(shortened(name, _LONGEST_NAME)) for name in names[:_MOST_NAMES])
    left = len(names) - _MOST_NAMES
    figures = [number(one[name]) for name in ("component", "rows", "columns")]
    if "bits_saved" in one:
        figures.append(number(round(one["bits_saved"])))
    texts = [f"{shown} … {number(left)} more" if left > 0 else shown]
    if doubts:
        texts.append(", ".join(one["doubts"]))
    numbers = "".join(_cell("td", each) for each in figures)
    return f"<tr>{numbers}{''.join(_cell('td', each, 'left') for each in texts)}</tr>"


def _cell(tag: str, content: str, align: str = "right") -> str:
    return f"<{tag} style='text-align:{align};padding:.15em .6em'>{content}</{tag}>"
