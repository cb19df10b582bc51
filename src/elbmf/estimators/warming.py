"""Getting kernels ready before they are needed, as for the first request of a service."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.registry import method
from elbmf.kernels.compiling import compiling_seconds
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["warm_up"]

# What makes a fit short, in the methods that have it.
_SHORT = {"n_components": 3, "effort": 0.1, "max_iter": 15, "random_state": 0}


def warm_up(model: BooleanFactorizer | type[BooleanFactorizer] | None = None) -> float:
    """Load the compiled code that `transform` and `score` take, or compile and keep it.

    The first request of a service is then as quick as the next. Where there is no time to compile
    when a service starts, call it when the image of its container is made.

    Parameters
    ----------
    model : BooleanFactorizer or class of one, optional
        A fitted method, such as `elbmf.load` returns: what it takes to describe rows by its
        components. A class, such as `elbmf.ELBMF`: what its fit takes, too. By default what a
        fitted `elbmf.ELBMF` takes, which needs no model to be there.

    Returns
    -------
    float
        For how many seconds was compiled: none where all was kept.

    Examples
    --------
    >>> import elbmf
    >>> model = elbmf.ELBMF(2, random_state=0).fit([[1, 1, 0], [0, 1, 1], [1, 1, 1]])
    >>> seconds = elbmf.warm_up(model)
    """
    before = compiling_seconds()
    if model is None:
        _describe(_without_a_fit())
    elif isinstance(model, BooleanFactorizer):
        _describe(model)
    elif isinstance(model, type) and issubclass(model, BooleanFactorizer):
        _fit(model)
    else:
        raise InputError(
            "Expected a fitted method, or a class of methods such as elbmf.ELBMF; got "
            f"{type(model).__name__}. What elbmf.load returns will do."
        )
    return compiling_seconds() - before


def _fit(kind: type[BooleanFactorizer]) -> None:
    """Fit a method to small tables, with and without missing cells."""
    generator = np.random.default_rng(0)
    table = generator.random((40, 30)) < 0.3
    with_gaps = np.where(generator.random(table.shape) < 0.05, np.nan, table)
    known = inspect.signature(kind).parameters
    options: dict[str, Any] = {name: _SHORT[name] for name in known if name in _SHORT}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in (table, with_gaps):
            _describe(kind(**options).fit(each))


def _without_a_fit() -> BooleanFactorizer:
    """Return a method with components that nobody had to look for."""
    model = method("elbmf")()
    model.components_, model.n_features_in_ = np.ones((1, 2), np.bool_), 2
    return model


def _describe(model: Any) -> None:
    """Describe rows that have each component, and all of them, and hide a cell of one."""
    check_is_fitted(model, "components_")
    V = model.components_
    rows = sparse.csr_array(np.vstack([V, V.any(axis=0)]))
    hidden = sparse.csr_array(([True], ([0], [0])), shape=rows.shape)
    with warnings.catch_warnings():
        # These rows have no names of columns.
        warnings.simplefilter("ignore")
        for missing in (None, hidden):
            A = BooleanMatrix.from_array(rows, missing=missing)
            model.transform(A)
            model.score(A)
