"""What is kept of a fitted estimator: its factors, and notes of how they came about."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from elbmf.binarizers import is_number, word_of
from elbmf.boolean.line_weights import weighted_cover
from elbmf.boolean.metrics import measures, measures_of
from elbmf.errors import InputError, Setting
from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.reading import matrix_of
from elbmf.estimators.registry import ESTIMATORS, class_name
from elbmf.estimators.schedule_flags import flat_parameters
from elbmf.io.model import SavedModel, save_model
from elbmf.io.model_info import (
    CoverInfo,
    DataInfo,
    ModelInfo,
    RankChoice,
    RatesInfo,
    StageCost,
    StreamInfo,
    WeightedInfo,
)
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.protocol import Matrix
from elbmf.search.margins import Margins
from elbmf.utils.machine import versions

__all__ = [
    "data_notes",
    "fitted_data",
    "margins_of",
    "noted_parameters",
    "rank_notes",
    "save",
    "saved_model",
]

# Of these, the first is of no use to anyone else; the others say where a fit is kept meanwhile.
_UNNOTED = ("callback", "verbose", "checkpoint", "checkpoint_every")


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
    if hasattr(value, "shape"):
        return f"matrix of shape {value.shape[0]}×{value.shape[1]}"
    word = word_of(value)
    if word is not None:
        return word
    plain = value is None or isinstance(value, bool | int | float | str)
    return value if plain else " ".join(repr(value).split())


def data_notes(name: str | None, A: Matrix) -> DataInfo:
    """Return what there is to note of the data."""
    return DataInfo(file=name, shape=list(A.shape), ones=A.ones, missing=A.n_missing)


def rank_notes(
    criterion: str,  # Name of what chose
    chosen: int,  # The number of components; 0 if none is better than any
    ranks: Sequence[int],  # Those looked at
) -> RankChoice:
    """Return what to note of a search for the number of components."""
    return RankChoice(criterion=criterion, n_components=int(chosen), highest=int(max(ranks)))


def saved_model(
    estimator: BooleanFactorizer,
    A: Matrix | None = None,
    row_names: list[str] | None = None,
    column_names: list[str] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> SavedModel:
    """Return what to save of a fitted estimator, see `elbmf.io.save_model`.

    Parameters
    ----------
    estimator : BooleanFactorizer
        Fitted. After `partial_fit`, which keeps no rows, the model has none either.
    A : Matrix, optional
        The data it was fitted to, binarised; without it, nothing is measured.
    row_names, column_names : list of str, optional
        By default those of the data that was fitted, if it had any.
    notes : mapping, optional
        Fields of `ModelInfo`; they win over what the estimator itself tells.
    """
    check_is_fitted(estimator, "components_")
    V = estimator.components_
    if column_names is None and hasattr(estimator, "feature_names_in_"):
        column_names = [str(name) for name in estimator.feature_names_in_]
    if row_names is None and hasattr(estimator, "sample_names_in_"):
        row_names = estimator.sample_names_in_.tolist()
    keeps_rows = hasattr(estimator, "membership_")
    if A is not None and keeps_rows and A.shape[0] != len(estimator.membership_):
        raise InputError(
            f"The data must be what the estimator was fitted to, {len(estimator.membership_)} "
            f"rows; got {A.shape[0]}. To see other rows, use transform."
        )
    saved: ModelInfo | None = getattr(estimator, "saved_info_", None)
    if saved is not None:
        U = estimator.membership_ if keeps_rows else sparse.csr_array((0, len(V)), dtype=np.bool_)
        return SavedModel(U, V, row_names, column_names, replace(saved, **(notes or {})))
    info = ModelInfo(
        method=method_of(estimator),
        parameters=noted_parameters(estimator),
        n_components_used=estimator.n_components_,
        versions=versions(),
    )
    limits = getattr(getattr(estimator, "binarizer_", None), "limits_", np.empty(0))
    if limits.size:
        info.binarize_limits = limits.tolist()
    if A is not None:
        info.data = data_notes(None, A)
    layer = getattr(estimator, "layer_", None)
    if keeps_rows:
        U = estimator.membership_
        _note_fit(info, estimator)
        lines, counts = getattr(estimator, "line_weights_", None), estimator.cover_
        info.cover = CoverInfo(counts.cells, counts.ones, counts.covered, counts.hits)
        if A is not None:
            info.measures = dict(measures(A, U, V, n_jobs=estimator._threads))
        elif lines is None:
            info.measures = dict(measures_of(counts))
            shape = [len(U), V.shape[1]]
            missing = math.prod(shape) - int(counts.cells)
            info.data = DataInfo(shape=shape, ones=int(counts.ones), missing=missing)
    else:
        U = sparse.csr_array((0, V.shape[0]), dtype=np.bool_)
        batches = getattr(estimator, "n_batches_", None)
        info.stream = StreamInfo(rows=getattr(estimator, "n_rows_seen_", 0), batches=batches)
    if layer is not None:
        info.data.options = {"layer": layer}
    info = replace(info, **(notes or {}))
    if info.seed is None:
        info.seed = info.parameters.get("random_state")
    return SavedModel(U, V, row_names, column_names, info)


def save(
    estimator: BooleanFactorizer,
    directory: str | os.PathLike[str],
    X: Any = None,
    *,
    missing: Any = None,
    overwrite: bool = False,
    tsv: bool = False,
) -> None:
    """Save a fitted estimator, see `BooleanFactorizer.save`."""
    check_is_fitted(estimator, "components_")
    how = estimator.binarize
    if not (how is None or is_number(how) or isinstance(how, str) or word_of(how) is not None):
        raise InputError(
            Setting("binarize"),
            f" is your own transformer, {type(how).__name__}, which a folder of plain data "
            "cannot hold. Binarize the data first, and fit the method to that.",
        )
    A = None if X is None else fitted_data(estimator, X, missing)
    model = saved_model(estimator, A)
    found = None if A is None or not tsv else margins_of(estimator, model, A)
    save_model(directory, model, overwrite=overwrite, tsv=tsv, margins=found)


def fitted_data(estimator: BooleanFactorizer, X: Any, missing: Any = None) -> BooleanMatrix:
    """Read what an estimator was fitted to.

    Raises
    ------
    InputError
        If it is something else.
    """
    A = matrix_of(estimator, X, missing)
    _check_is_of(estimator, A)
    return A


def margins_of(estimator: BooleanFactorizer, model: SavedModel, A: BooleanMatrix) -> Margins | None:
    """Return how firmly members belong; None where the fit had weights that are not known."""
    lines = getattr(estimator, "line_weights_", None)
    if lines is None and _was_weighted(estimator):
        return None
    of_rows, of_columns = (None, None) if lines is None else lines.given
    return model.margins(
        A, sample_weight=of_rows, feature_weight=of_columns, n_jobs=estimator._threads
    )


def _check_is_of(estimator: BooleanFactorizer, A: BooleanMatrix) -> None:
    """Raise if an estimator was fitted to other data, by how many cells are wrong."""
    if not hasattr(estimator, "membership_"):
        return
    factors, lines = (estimator.membership_, estimator.components_), estimator.line_weights_
    of_other = len(factors[0]) != A.shape[0]
    if not of_other and not (lines is None and _was_weighted(estimator)):
        of_other = weighted_cover(A, *factors, lines, estimator._threads) != estimator.cover_
    if of_other:
        raise InputError(
            "X must be what the estimator was fitted to, with the same missing cells and its rows "
            "in the same order, unless they have names; the factors cover it otherwise. Leave X "
            "out, or fit it."
        )


def _was_weighted(estimator: BooleanFactorizer) -> bool:
    saved: ModelInfo | None = getattr(estimator, "saved_info_", None)
    return saved is not None and saved.weighted is not None


def _note_fit(info: ModelInfo, estimator: BooleanFactorizer) -> None:
    """Note how the fit went."""
    lines = getattr(estimator, "line_weights_", None)
    if lines is not None:
        info.weighted = WeightedInfo(sides=lines.sides, loss=estimator.reconstruction_err_)
    bound = int(getattr(estimator, "lower_bound_", 0))
    if hasattr(estimator, "proved_"):
        info.components_at_least = bound
    # Where weights are no numbers of copies, what copies cost would only be taken for the loss.
    if lines is None or lines.are_copies:
        info.run_losses = [int(loss) for loss in estimator.run_losses_]
        info.stages = [StageCost(stage=name, cost=cost) for name, cost in estimator.stages_.items()]
        if bound and info.components_at_least is None:
            info.cost_at_least = bound
    info.n_iter = estimator.n_iter_
    info.stop_reason = estimator.stop_reason_
    info.history = {name: np.asarray(each).tolist() for name, each in estimator.history_.items()}
    if estimator._has_rates:
        rates = estimator.noise_rates_
        info.noise_rates = RatesInfo(
            false_positive=rates.false_positive,
            false_negative=rates.false_negative,
            extra_weight=estimator.extra_weight_,
        )
    if hasattr(estimator, "bits_saved_"):
        info.bits_saved = estimator.bits_saved_.tolist()
    if estimator.n_components == "auto" and "rank" in info.history:
        ranks, lengths = estimator.history_["rank"], estimator.history_["mdl"]
        allowed = ranks >= getattr(estimator, "_n_fixed", 0)
        chosen = ranks[allowed][np.argmin(lengths[allowed])]
        info.rank_search = rank_notes("mdl", chosen, ranks.tolist())


def method_of(estimator: BooleanFactorizer) -> str:
    """Return the name of a method, as the command line has it; the class of one it has not."""
    names = {class_name(name): name for name in ESTIMATORS}
    return names.get(type(estimator).__name__, type(estimator).__name__)
