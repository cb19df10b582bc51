"""What is kept of a fitted estimator: its factors, and notes of how they came about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from elbmf.boolean.metrics import measures
from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.registry import METHODS, class_name
from elbmf.estimators.schedule_flags import flat_parameters
from elbmf.io.model import SavedModel
from elbmf.utils.machine import versions

__all__ = ["data_notes", "noted_parameters", "rank_notes", "saved_model"]

# Of these, the first is of no use to anyone else; the others say where a fit is kept meanwhile.
_UNNOTED = ("callback", "checkpoint", "checkpoint_every")


def noted_parameters(estimator: BooleanFactorizer) -> dict[str, Any]:
    """Return the parameters to note, as JSON can hold them."""
    parameters = flat_parameters(estimator)
    return {name: _noted(value) for name, value in parameters.items() if name not in _UNNOTED}


def _noted(value: Any) -> Any:
    # JSON knows no infinity, but a text that reads back as one will do.
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    if isinstance(value, np.generic):
        return value.item()
    plain = value is None or isinstance(value, bool | int | float | str)
    return value if plain else " ".join(repr(value).split())


def data_notes(name: str | None, A: Any) -> dict[str, Any]:
    """Return what there is to note of the data.

    Parameters
    ----------
    name : str or None
        What it is called.
    A : BooleanMatrix or DaskMatrix
    """
    noted = {"shape": list(A.shape), "ones": A.ones, "missing": A.n_missing}
    return noted if name is None else {"file": name, **noted}


def rank_notes(criterion: str, chosen: int, ranks: Sequence[int]) -> dict[str, Any]:
    """Return what to note of a search for the number of components.

    Parameters
    ----------
    criterion : str
        Name of what chose.
    chosen : int
        The number of components; 0 if none is better than any.
    ranks : sequence of int
        Those looked at.
    """
    return {"criterion": criterion, "n_components": int(chosen), "highest": int(max(ranks))}


def saved_model(
    estimator: BooleanFactorizer,
    A: Any = None,
    row_names: list[str] | None = None,
    column_names: list[str] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> SavedModel:
    """Return what to save of a fitted estimator, see `elbmf.io.save_model`.

    Parameters
    ----------
    estimator : BooleanFactorizer
        Fitted. After `partial_fit`, which keeps no rows, the model has none either.
    A : BooleanMatrix or DaskMatrix, optional
        The data it was fitted to, binarised; without it, nothing is measured.
    row_names, column_names : list of str, optional
        Columns have the names of the data frame that was fitted by default.
    notes : mapping, optional
        How it came about; they win over what the estimator itself tells.
    """
    check_is_fitted(estimator, "components_")
    V = estimator.components_
    if column_names is None and hasattr(estimator, "feature_names_in_"):
        column_names = [str(name) for name in estimator.feature_names_in_]
    parameters = noted_parameters(estimator)
    info: dict[str, Any] = {
        "method": method_of(estimator),
        "parameters": parameters,
        "n_components_used": estimator.n_components_,
        "versions": versions(),
    }
    if hasattr(estimator, "membership_"):
        U = estimator.membership_
        info |= {
            "n_iter": estimator.n_iter_,
            # A list, because the keys of a saved model are sorted.
            "stages": [{"stage": stage, "cost": cost} for stage, cost in estimator.stages_.items()],
            "run_losses": estimator.run_losses_ or [estimator.reconstruction_err_],
            "stop_reason": estimator.stop_reason_,
            "history": estimator.history_,
        }
        if A is not None:
            info["measures"] = measures(A, U, V, n_jobs=estimator._threads)
        if hasattr(estimator, "bits_saved_"):
            info["bits_saved"] = estimator.bits_saved_.tolist()
        looked_at = estimator.history_
        if estimator.n_components == "auto" and "rank" in looked_at:
            chosen = looked_at["rank"][np.argmin(looked_at["mdl"])]
            info["rank_search"] = rank_notes("mdl", chosen, looked_at["rank"].tolist())
    else:
        U = sparse.csr_array((0, V.shape[0]), dtype=np.bool_)
        batches = getattr(estimator, "n_batches_", None)
        info["stream"] = {"rows": getattr(estimator, "n_rows_seen_", 0), "batches": batches}
    info |= notes or {}
    seed = info["parameters"].get("random_state")
    return SavedModel(U, V, row_names, column_names, {"seed": seed, **info})


def method_of(estimator: BooleanFactorizer) -> str:
    """Return the name of a method, as the command line has it; the class of one it has not."""
    names = {class_name(name): name for name in METHODS}
    return names.get(type(estimator).__name__, type(estimator).__name__)
