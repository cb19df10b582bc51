"""AnnData in memory: its matrix as a method reads it, and the results that are kept beside it.

An AnnData is told by what it has, so that anndata is imported by those who have one. What is
written beside the matrix is laid out as scanpy's tools do: ``obsm["X_KEY"]`` holds the components
of each observation, ``varm[KEY]`` those of each variable, and ``uns[KEY]`` all the rest.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from elbmf.errors import FileFormatError, InputError
from elbmf.io.entries import row_slices
from elbmf.io.formats.matrix_folder import FolderTable
from elbmf.io.matching import check_same_lines
from elbmf.io.model import SavedModel
from elbmf.io.model_info import ModelInfo
from elbmf.io.plain import plain
from elbmf.io.table import CsrBuilder, LabelledMatrix, NamedValues, is_annotated, names_of
from elbmf.utils.notes import parse_json

__all__ = [
    "KEY",
    "annotate",
    "from_anndata",
    "kept_beside",
    "layers_of",
    "model_in",
    "named_values",
]

KEY = "elbmf"
"""What results beside a matrix are called, if nothing is said."""

_MEASURES = ("loss", "relative_loss", "similarity", "recall", "precision")


def from_anndata(adata: Any, *, layer: str | None = None) -> LabelledMatrix:
    """Make a matrix of an AnnData, with the names of its observations and variables.

    Parameters
    ----------
    adata : anndata.AnnData
        In memory, backed by a file, or a view.
    layer : str, optional
        Which layer to take, instead of ``X``.

    Returns
    -------
    LabelledMatrix
        Observations are the rows, variables the columns. No dense array is made of it.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from elbmf.io import from_anndata
    >>> cells = anndata.AnnData(np.array([[0.0, 2.0]]), layers={"seen": np.array([[0.0, 1.0]])})
    >>> from_anndata(cells, layer="seen").values.toarray().tolist()
    [[0.0, 1.0]]
    """
    if not is_annotated(adata):
        raise InputError(f"Expected an AnnData; got {type(adata).__name__}.")
    found = named_values(adata, layer)
    return LabelledMatrix(found.values, found.row_names, found.column_names)


def named_values(data: Any, layer: str | None = None) -> Any:
    """Return the values and names of an AnnData or a `LabelledMatrix`; all other data as it is.

    What is sparse stays sparse, and what is dense in memory is not copied.

    Raises
    ------
    InputError
        Where there is no such layer, or a layer of what has none.
    """
    if is_annotated(data):
        return NamedValues(_in_memory(_chosen(data, layer)), *names_of(data))
    if layer is not None:
        raise InputError(
            f"layer={layer!r} is for an AnnData, which has layers; got {type(data).__name__}. "
            "Leave it out."
        )
    if isinstance(data, FolderTable):
        return data.stored
    if isinstance(data, LabelledMatrix):
        return NamedValues(data.values, data.row_names, data.column_names)
    return data


def layers_of(adata: Any) -> list[str]:
    """Return the names of the layers of an AnnData, without ``X``."""
    return [str(name) for name in adata.layers if name is not None]


def _chosen(adata: Any, layer: str | None) -> Any:
    has = f"Layers it has: {', '.join(layers_of(adata)) or 'none'}."
    if layer is not None and layer not in adata.layers:
        raise InputError(f"The AnnData has no layer {layer!r}. {has}")
    values = adata.X if layer is None else adata.layers[layer]
    if values is None:
        raise InputError(
            f"The AnnData has no matrix X. {has} Name one with layer=NAME where it is "
            "fitted, as in fit(adata, layer=NAME)."
        )
    return values


def _in_memory(values: Any) -> Any:
    """Return a sparse or dense matrix in memory; what is in a file is read in pieces."""
    if hasattr(values, "to_memory"):
        values = values.to_memory()
    if sparse.issparse(values) or isinstance(values, np.ndarray):
        # Views are of classes of their own.
        return values.view(np.ndarray) if isinstance(values, np.ndarray) else values
    if not hasattr(values, "shape") or hasattr(values, "dask"):
        return np.asarray(values)
    builder = CsrBuilder(int(values.shape[1]))
    for piece in row_slices(*map(int, values.shape)):
        builder.add(np.asarray(values[piece]))
    return builder.build()


def kept_beside(model: SavedModel, key: str = KEY) -> dict[str, dict[str, Any]]:
    """Return what is kept of a model beside its matrix, as h5ad can hold it.

    Returns
    -------
    dict
        ``obsm``, ``varm`` and ``uns``, each by key. In ``uns``, ``params`` says how the model was
        made, ``components`` has figures of each component, ``history`` those of each iteration, and
        ``model`` all other notes as JSON.
    """
    info, measures = model.info, model.info.measures
    notes = info.to_json()
    # Null is where a figure was not finite.
    history = {
        name: np.array([np.nan if each is None else each for each in values])
        for name, values in notes.pop("history", {}).items()
    }
    params = {"method": info.method, **info.parameters, **info.data.options}
    told = {
        "params": {name: each for name, each in params.items() if each is not None},
        "n_components": model.shape[1],
        **{name: measures[name] for name in _MEASURES if name in measures},
        "components": {
            "rows": np.bincount(model.U.indices, minlength=model.shape[1]),
            "columns": np.diff(model.V.indptr).astype(np.int64),
            **{name: np.asarray(each, dtype=np.float64) for name, each in model.noted.items()},
        },
        "history": history,
        "model": json.dumps(plain(notes, "info"), allow_nan=False),
    }
    return {
        "obsm": {f"X_{key}": model.U.toarray().astype(np.uint8)},
        "varm": {key: model.V.toarray().T.astype(np.uint8, order="C")},
        "uns": {key: told},
    }


def annotate(adata: Any, model: SavedModel, key: str = KEY) -> None:
    """Keep a model beside the matrix of an AnnData that it was made from.

    Parameters
    ----------
    adata : anndata.AnnData
        Gets ``obsm["X_KEY"]``, ``varm[KEY]`` and ``uns[KEY]``.
    model : SavedModel
    key : str
        What they are called.
    """
    check_is_of(model, *names_of(adata), "The AnnData")
    for where, entries in kept_beside(model, key).items():
        for name, value in entries.items():
            getattr(adata, where)[name] = value


def check_is_of(
    model: SavedModel, rows: list[str] | None, columns: list[str] | None, owner: str
) -> None:
    """Raise where observations and variables are not the rows and columns of a model."""
    try:
        n, _, m = model.shape
        check_same_lines("rows", (n if rows is None else len(rows), rows), (n, model.row_names))
        count = m if columns is None else len(columns)
        check_same_lines("columns", (count, columns), (m, model.column_names))
    except InputError as error:
        raise InputError(f"{owner} ", *error.parts) from None


def model_in(adata: Any, key: str = KEY) -> SavedModel:
    """Return the model that is kept beside the matrix of an AnnData: its factors and notes.

    ``elbmf.load(adata)`` makes a fitted estimator of it.

    Parameters
    ----------
    adata : anndata.AnnData
        After ``elbmf.tl.factorize``, or read from a file that ``elbmf fit --write-back`` wrote to.
        It may have become a selection of its rows or columns; the model then is one of these.
    key : str
        What it is called.
    """
    noted = adata.uns.get(key) if is_annotated(adata) else None
    if noted is None or "model" not in noted or f"X_{key}" not in adata.obsm:
        raise InputError(
            f"The AnnData has no factorization {key!r}. Make one with elbmf.tl.factorize(adata, "
            f"n_components=K, key_added={key!r}), or say what it is called with key=."
            if is_annotated(adata)
            else f"Expected an AnnData; got {type(adata).__name__}."
        )
    factors = adata.obsm[f"X_{key}"], np.asarray(adata.varm[key]).T
    U, V = (sparse.csr_array(np.asarray(each) != 0) for each in factors)
    history: dict[str, Sequence[float | None]] = {
        name: [each if np.isfinite(each) else None for each in np.asarray(values).tolist()]
        for name, values in noted.get("history", {}).items()
    }
    place = f"The AnnData, {key}"
    known = parse_json(str(noted["model"]), place, "Factorize it again.")
    try:
        info = replace(ModelInfo.from_json(known), history=history)
    except InputError as error:
        raise FileFormatError(f"{place}: {error}. Factorize it again.") from None
    return SavedModel(U, V, *names_of(adata), info)
