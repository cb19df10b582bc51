"""Fits that change as little as possible of earlier components."""

import copy
import time
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from elbmf.boolean.coverage import cover
from elbmf.boolean.fitted import FittedFactors
from elbmf.boolean.product import Bools, boolean_array
from elbmf.errors import InputError, Setting
from elbmf.estimators.base import estimator
from elbmf.estimators.constrained import CONSTRAINTS
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.changes import ChangeSearch
from elbmf.search.constrained.constraints import conflict
from elbmf.utils.constraints import HasMethods, Interval
from elbmf.utils.tuning import TUNING

if TYPE_CHECKING:
    from elbmf.estimators.elbmf import ELBMF

__all__ = ["ChangeParameters", "fit_near"]


@estimator
class ChangeParameters:
    """What was before, and what it costs to change it.

    Parameters
    ----------
    previous : matrix of shape (components, n_features), optional
        Components of an earlier fit, which should change little. Component l of the result is what
        became of component l; any others are new.
    change_penalty : float, default=1
        Cost of each cell of ``components_`` that differs from ``previous``, when an uncovered one
        costs 1. All cells of a new component differ. The sum of both costs is never higher than if
        nothing were changed, nor than without ``previous``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "previous": ["array-like", "sparse matrix", HasMethods(["to_csr"]), None],
        "change_penalty": [Interval(Real, 0, None, closed="left")],
    }

    previous: Any = None
    change_penalty: float = 1.0


def _padded(model: "ELBMF", A: BooleanMatrix) -> Bools:
    """Read the earlier components, and add empty ones for those that are new."""
    setting, k = Setting("previous"), model._rank
    if model._is_constrained:
        name = next(each for each in CONSTRAINTS if getattr(model, each) is not None)
        raise InputError(
            setting, " may be changed, and ", Setting(name), " may not be broken: set one of them. "
            "What must stay as it is are fixed components."
        )  # fmt: skip
    if model._lines is not None or not A.in_one_place:
        what = "weights of rows or columns" if A.in_one_place else "data on a cluster"
        raise InputError(setting, f" is not for {what}. Leave one of them out.")
    before = boolean_array(model.previous, "previous")
    if before.shape[1] != A.shape[1]:
        raise InputError(
            setting, f" must have a column for each of the {A.shape[1]} columns of the matrix; got "
            f"{before.shape[1]}. Pass V of shape (components, columns)."
        )  # fmt: skip
    if before.shape[0] > k:
        raise conflict(setting, Setting("n_components", k), f"there were {before.shape[0]}")
    return np.vstack([before, np.zeros((k - before.shape[0], A.shape[1]), np.bool_)])


def fit_near(model: "ELBMF", A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
    """Fit as if there were nothing before, and go from there, and from what was, to the best."""
    began, previous = time.perf_counter(), _padded(model, A)
    plain, deadline = copy.copy(model), np.inf
    plain.set_params(previous=None)
    if model.time_limit is not None:
        deadline = began + model.time_limit
        plain.time_limit = (1 - TUNING.share_of_constraints) * model.time_limit
    fitted = plain._found(A, generator)
    weights = model._weights(A.shape)
    search = ChangeSearch(
        A,
        weights,
        previous,
        model.change_penalty,
        model.extra_weight == np.inf,
        model._threads,
        lambda: fitted.was_stopped or time.perf_counter() >= deadline,
    )
    fitted.U, fitted.V = search.best(fitted.U, fitted.V)
    fitted.cost = cover(A, fitted.U, fitted.V, model._threads).cost(weights)
    fitted.stages["changes"] = fitted.cost
    model.n_changes_ = int((previous != fitted.V).sum())
    return fitted
