"""Fitted estimators from saved models, without anything being unpickled."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from elbmf.binarizers import binarizer_of
from elbmf.boolean.coverage import Cover
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.registry import ESTIMATORS, method
from elbmf.estimators.schedule_flags import parameters_from_flags
from elbmf.estimators.warning import warn_caller
from elbmf.io.annotated import KEY, model_in
from elbmf.io.model import SavedModel, folder_of, load_model
from elbmf.io.model_info import ModelInfo
from elbmf.io.table import is_annotated

__all__ = ["load"]


def load(source: str | os.PathLike[str] | Any, *, key: str = KEY) -> BooleanFactorizer:
    """Load a fitted estimator from a folder, made by `save` or on the command line, or an AnnData.

    Nothing that was saved is run or unpickled. What every method has is there, so that
    `transform`, `score`, pictures and reports are as before; what only one method has, such as
    samples, is not saved. All notes of the folder are in ``saved_info_`` until the next fit.

    Parameters
    ----------
    source : path-like or anndata.AnnData
        The folder of a result, also that of a search over ranks; or an AnnData with the result of
        `elbmf.tl.factorize`.
    key : str, default="elbmf"
        Of an AnnData, what the result is called.

    Returns
    -------
    BooleanFactorizer
        Of the class that was fitted.

    Warns
    -----
    UserWarning
        If parameters were objects, of which the folder keeps a description only. They are as by
        default then, which only another fit would see.

    Examples
    --------
    >>> import tempfile
    >>> from elbmf import ELBMF, load
    >>> A = [[1, 1, 0], [0, 1, 1], [1, 1, 1]]
    >>> model = ELBMF(2, random_state=0).fit(A)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/result")
    ...     again = load(f"{folder}/result")
    >>> bool((again.transform(A) == model.membership_).all())
    True
    """
    saved, place = _read(source, key)
    name = saved.info.method
    if name is None or name not in ESTIMATORS:
        raise InputError(
            f"{place}: was made by {name or 'an unknown method'}, which is none of "
            f"{', '.join(ESTIMATORS)}. elbmf.load_model loads its factors."
        )
    kind = method(name)
    parameters, left_out = _parameters(kind, saved.info)
    if left_out:
        warn_caller(
            f"{place}: {', '.join(left_out)} cannot be read back, and will be as by default "
            "where the method is fitted again. It transforms as before."
        )
    model = kind(**parameters)
    _restore(model, saved)
    return model


def _read(source: Any, key: str) -> tuple[SavedModel, str]:
    """Return the model of a folder or an AnnData, and what that is called in messages."""
    if not is_annotated(source):
        directory = folder_of(source)
        saved = load_model(directory)
        if saved.info.data.path is not None:
            # It was as seen from the folder, but the model may be saved to another.
            place = Path(os.path.abspath(Path(directory) / saved.info.data.path))
            saved.info.data = replace(saved.info.data, path=place.as_posix())
        return saved, str(directory)
    saved = model_in(source, key)
    noted, (n, _, m) = saved.info.data.shape, saved.shape
    if noted is not None and [n, m] != [*noted]:
        raise InputError(
            f"The AnnData is a selection, {n} rows × {m} columns, of what was factorized, "
            f"{noted[0]} × {noted[1]}, and figures of the fit are not those of the selection. Load "
            "from the whole; or take the factors alone, elbmf.io.model_in(adata), or factorize the "
            "selection."
        )
    # Where its file is was seen from a folder that the AnnData does not know.
    saved.info.data = replace(saved.info.data, path=None)
    return saved, f"The AnnData, {key}"


def _parameters(kind: type[BooleanFactorizer], info: ModelInfo) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters that are noted, and the names of those that are only described."""
    values: dict[str, Any] = {}
    left_out = []
    for name, value in info.parameters.items():
        # JSON knows no infinity.
        read = float(value) if value in ("inf", "-inf") else value
        try:
            kind(**parameters_from_flags(kind, {name: read}))._validate_params()
        except (InputError, TypeError, ValueError):
            left_out.append(name)
        else:
            values[name] = read
    return parameters_from_flags(kind, values), left_out


def _restore(model: BooleanFactorizer, saved: SavedModel) -> None:
    """Set what a fit would have set."""
    info = saved.info
    U, V = saved.U.toarray(), saved.V.toarray()
    model.components_, model.n_features_in_ = V, V.shape[1]
    if saved.column_names is not None:
        model.feature_names_in_ = np.array(saved.column_names, dtype=object)
    used = info.parameters.get("binarize")
    if isinstance(used, str):
        told = saved.binarizer()
        model.binarizer_ = told if hasattr(told, "transform") else binarizer_of(used)
    model.saved_info_ = info
    if "layer" in info.data.options:
        model.layer_ = info.data.options["layer"]
    if info.stream is not None:
        model.n_components_ = int(V.any(axis=1).sum())
        model.n_rows_seen_, model.n_batches_ = info.stream.rows, info.stream.batches
        return
    model.membership_ = U
    model._name_rows(saved.row_names)
    model.n_components_ = int((U.any(axis=0) & V.any(axis=1)).sum())
    model.n_iter_, model.stop_reason_ = info.n_iter or 0, info.stop_reason or ""
    model.history_ = {
        name: np.array([np.nan if each is None else each for each in values])
        for name, values in info.history.items()
    }
    model.stages_ = {each.stage: each.cost for each in info.stages}
    model.run_losses_ = list(info.run_losses)
    model.line_weights_ = None
    counts: Any = info.cover
    if counts is not None:
        model._count(Cover(counts.cells, counts.ones, counts.covered, counts.hits))
    if info.bits_saved:
        model.bits_saved_ = np.array(info.bits_saved)
    model._recall(info)
