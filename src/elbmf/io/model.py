"""Saved models: a folder with the factors, a description, and tables for reading.

Files of the folder:

``model.json``
    ``format`` ("elbmf-model"), ``format_version``, ``shape`` (rows, components, columns),
    ``factors_sha256`` (which ties it to its factors) and ``info``, how it came about: the keys are
    the fields of `elbmf.io.ModelInfo`, and whatever else the caller notes.
``factors.npz``
    Plain arrays. ``shape`` is (rows, components, columns); ``U_indptr``, ``U_indices``,
    ``V_indptr``, ``V_indices`` are the index arrays of two boolean CSR matrices; where there are
    names, ``row_names_utf8``, ``row_names_offsets`` and the same for ``column_names``: the i-th
    name is ``utf8[offsets[i]:offsets[i + 1]]``.
``components.tsv``, ``rows.tsv``, ``columns.tsv``
    On request, see `elbmf.io.model_tables`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from elbmf.binarizers import binarizer_of
from elbmf.boolean.coverage import Cover, Weights
from elbmf.errors import FileFormatError, InputError
from elbmf.io.files import reading, reason
from elbmf.io.folders import filling
from elbmf.io.model_info import ModelInfo
from elbmf.io.model_tables import MODEL_TABLES, write_tables
from elbmf.io.names import NAME_FIELDS, check_names, names_in, packed_names
from elbmf.io.plain import plain
from elbmf.io.table import LabelledMatrix
from elbmf.matrix.array_files import read_arrays
from elbmf.utils.notes import Count, Notes, read_note
from elbmf.utils.text import counted

if TYPE_CHECKING:
    from elbmf.search.margins import Margins

__all__ = ["CHOSEN", "MODEL_FILES", "SavedModel", "folder_of", "load_model", "save_model"]

_FORMAT = "elbmf-model"
_FORMAT_VERSION = 1
_JSON, _FACTORS = "model.json", "factors.npz"
_REMEDY = "Save the model again."
_SHAPE = ("rows", "components", "columns")


@dataclass
class _Description(Notes):
    """What ``model.json`` holds."""

    format: str
    format_version: int
    factors_sha256: str
    shape: dict[str, Count] = field(default_factory=dict)
    info: ModelInfo = field(default_factory=ModelInfo)


MODEL_FILES = (_FACTORS, *MODEL_TABLES, _JSON)
"""What saving a model in a folder replaces or removes, the description last."""


@dataclass
class SavedModel:
    """A Boolean factorization with names and notes.

    Parameters
    ----------
    U : scipy.sparse.csr_array
        Rows by components, boolean.
    V : scipy.sparse.csr_array
        Components by columns, boolean.
    row_names, column_names : list of str, optional
        Names of the rows and columns of the matrix.
    info : ModelInfo or mapping
        How it came about. A mapping has the keys of `ModelInfo`, and any others with values that
        JSON can hold.
    """

    U: sparse.csr_array
    V: sparse.csr_array
    row_names: list[str] | None = None
    column_names: list[str] | None = None
    info: ModelInfo = field(default_factory=ModelInfo)

    def __post_init__(self) -> None:
        if isinstance(self.info, Mapping):
            self.info = ModelInfo.from_json(plain(self.info, "info"))
        left = LabelledMatrix(self.U, self.row_names)
        right = LabelledMatrix(self.V, None, self.column_names)
        if left.shape[1] != right.shape[0]:
            raise InputError(
                f"U has {left.shape[1]} columns and V has {right.shape[0]} rows; both must be the "
                "number of components."
            )
        for name, matrix in (("U", left.values), ("V", right.values)):
            if not bool(np.all(matrix.data == 1)):
                raise InputError(f"{name} must hold only 0 and 1. Round the factors first.")
        self.U, self.V = left.values.astype(bool), right.values.astype(bool)
        self.row_names, self.column_names = left.row_names, right.column_names

    def __repr__(self) -> str:
        n, k, m = self.shape
        made = f", {self.info.method}" if self.info.method else ""
        return f"<SavedModel of {n}×{m} cells, {counted(k, 'component')}{made}>"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of rows, of components and of columns."""
        return int(self.U.shape[0]), int(self.U.shape[1]), int(self.V.shape[1])

    @property
    def noted(self) -> dict[str, Sequence[float]]:
        """What is noted of each component: of the figures below, those that are known.

        These are ``bits_saved``; ``recurrence`` and ``found_in``, see `StabilityInfo`; and
        ``p_value``, see `SignificanceInfo`.
        """
        stability, significance = self.info.stability, self.info.significance
        stable = () if stability is None else stability.components
        figures: dict[str, Sequence[float]] = {
            "bits_saved": self.info.bits_saved,
            "recurrence": [each.recurrence for each in stable],
            "found_in": [each.found_in for each in stable],
            "p_value": () if significance is None else significance.p_values,
        }
        # Notes of another number of components are of others.
        k = self.shape[1]
        return {name: each for name, each in figures.items() if k and len(each) == k}

    def binarizer(self) -> Any:
        """Return how values of its data became ones: None, a threshold, a word or a transformer.

        The transformer has learned from the data already, and reads other rows the same way.
        """
        used = self.info.parameters.get("binarize")
        if used is None or not isinstance(used, str):
            return None if used is None else float(used)
        limits = self.info.binarize_limits
        # Saved models have null where there is no limit, which becomes NaN again.
        return binarizer_of(used).with_limits(limits, self.shape[2]) if limits else used

    def is_of_other_data(self, covered: Cover) -> bool:
        """Tell, by how the factors cover a matrix, that the model was not made from it."""
        noted = self.info.measures.get("loss")
        return noted is not None and noted != covered.loss

    def weights(self, shape: tuple[int, int]) -> Weights:
        """Return what errors cost where the model was made, in a matrix of some shape."""
        return Weights.of(self.info.extra_weight, shape)

    def margins(
        self,
        A: Any,
        *,
        sample_weight: Any = None,
        feature_weight: Any = None,
        n_jobs: int | None = None,
    ) -> Margins:
        """Return how firmly rows and columns belong to the components, see `elbmf.margins`.

        Errors cost what they did where the model was made. Weights of rows and columns, which are
        not kept, have to be given again.

        Parameters
        ----------
        A : array-like, sparse matrix or BooleanMatrix
            What the model was made from.
        sample_weight, feature_weight : array-like, optional
            Weights of rows and columns.
        n_jobs : int, optional
            Threads. All cores by default.
        """
        # Not everyone who loads a model weighs its members.
        from elbmf.search.margins import margins

        return margins(
            A,
            self.U,
            self.V,
            extra_weight=self.info.extra_weight,
            sample_weight=sample_weight,
            feature_weight=feature_weight,
            n_jobs=n_jobs,
        )

    @property
    def most_per_row(self) -> int | None:
        """Components that a row has at most, if there is a limit."""
        most: int | None = self.info.parameters.get("max_components_per_row")
        return most

    def row_labels(self) -> list[str]:
        """Return the names of the rows; where there are none, their positions from 0."""
        return LabelledMatrix(self.U, self.row_names).row_labels()

    def column_labels(self) -> list[str]:
        """Return the names of the columns; where there are none, their positions from 0."""
        return LabelledMatrix(self.V, None, self.column_names).column_labels()

    def components(self) -> list[tuple[list[str], list[str]]]:
        """Return for each component the names of its rows and of its columns.

        Where there are no names, positions from 0 stand for them.
        """
        rows, columns = self.row_labels(), self.column_labels()
        members = self.U.T.tocsr()
        return [
            (
                [rows[i] for i in np.sort(_row(members, component))],
                [columns[j] for j in _row(self.V, component)],
            )
            for component in range(self.shape[1])
        ]


def _row(matrix: Any, row: int) -> np.ndarray:
    return matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]


def save_model(
    directory: str | os.PathLike[str],
    model: SavedModel,
    *,
    overwrite: bool = False,
    tsv: bool = False,
    margins: Margins | None = None,
    escape_formulas: bool = False,
) -> None:
    """Save a model as a folder, which appears as a whole or not at all.

    In a folder that exists, the files are moved in one by one, the description last.

    Parameters
    ----------
    directory : path-like
        The folder to create; it may exist if it is empty.
    model : SavedModel
        What to save.
    overwrite : bool
        Whether the files of a model in an existing folder are replaced. Other files in it are
        left alone.
    tsv : bool
        Whether to add tables of components, rows and columns for reading.
    margins : Margins, optional
        How firmly rows and columns belong, see `SavedModel.margins`, to be in these tables.
    escape_formulas : bool
        Whether a single quote is put before names in these tables that a spreadsheet would take for
        a formula: those that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return.
    """
    with filling(Path(directory), MODEL_FILES, "model", overwrite=overwrite) as folder:
        _write_files(folder, model)
        if tsv:
            write_tables(folder, model, margins, escape_formulas=escape_formulas)


def _write_files(directory: Path, model: SavedModel) -> None:
    arrays: dict[str, Any] = {"shape": np.array(model.shape, dtype=np.int64)}
    for name, factor in (("U", model.U), ("V", model.V)):
        arrays[f"{name}_indptr"], arrays[f"{name}_indices"] = factor.indptr, factor.indices
    for key in NAME_FIELDS:
        check_names(getattr(model, key) or (), key)
    np.savez_compressed(directory / _FACTORS, **arrays, **packed_names(model))
    description = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "shape": dict(zip(_SHAPE, model.shape, strict=True)),
        "factors_sha256": hashlib.sha256((directory / _FACTORS).read_bytes()).hexdigest(),
        "info": plain(model.info.to_json(), "info"),
    }
    text = json.dumps(description, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    (directory / _JSON).write_text(text + "\n", encoding="utf-8", newline="\n")


CHOSEN = "model"
"""Where in its folder a search over ranks keeps the model it chose."""


def folder_of(directory: str | os.PathLike[str]) -> Path:
    """Return where the model of a folder is, be it a fit's or what a search over ranks chose."""
    inner = Path(directory) / CHOSEN
    has_own = any((Path(directory) / name).exists() for name in MODEL_FILES)
    return inner if not has_own and inner.is_dir() else Path(directory)


def load_model(directory: str | os.PathLike[str]) -> SavedModel:
    """Load a model that `save_model` saved.

    Parameters
    ----------
    directory : path-like
        The folder.
    """
    source = Path(directory)
    if not source.exists():
        raise InputError(f"{source}: there is no such folder. Check the spelling.")
    if not source.is_dir():
        raise InputError(f"{source}: is a file, expected the folder of a saved model.")
    if not (source / _JSON).exists():
        raise FileFormatError(
            f"{source}: is not a saved model, it has no {_JSON}. Name the folder of a saved model."
        )
    with reading(source / _JSON):
        check = partial(_check_format, source / _JSON)
        described = read_note(_Description, source / _JSON, _REMEDY, check)
    try:
        return _read_factors(source / _FACTORS, described)
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(
            f"{source / _FACTORS}: not the factors of a model, or damaged: {reason(error)}. "
            "Save the model again."
        ) from error


def _check_format(path: Path, description: Any) -> None:
    if not isinstance(description, dict) or description.get("format") != _FORMAT:
        raise FileFormatError(
            f"{path}: is not the description of a model, expected the entry "
            f'"format": "{_FORMAT}". Name the folder of a saved model.'
        )
    version = description.get("format_version")
    if version != _FORMAT_VERSION:
        raise FileFormatError(
            f"{path}: expected format_version {_FORMAT_VERSION}, found {version!r:.40}. Load it "
            "with the version of elbmf that saved it, or save it again."
        )


def _read_factors(path: Path, described: _Description) -> SavedModel:
    if not path.exists():
        raise FileFormatError(f"{path}: is missing, so the model is incomplete. Save it again.")
    with reading(path):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != described.factors_sha256:
        raise FileFormatError(
            f"{path}: is damaged, or not the file that {_JSON} describes (its SHA-256 differs). "
            "Save the model again."
        )
    with open(path, "rb") as stream:
        archive = read_arrays(stream)
    numbers = ("shape", "U_indptr", "U_indices", "V_indptr", "V_indices")
    for each in numbers:
        if each not in archive or archive[each].dtype.kind != "i" or archive[each].ndim != 1:
            raise ValueError(f"expected an array {each!r} of whole numbers")
    rows, components, columns = archive["shape"].tolist()
    noted = described.shape or dict(zip(_SHAPE, (rows, components, columns), strict=True))
    if [*map(noted.get, _SHAPE)] != [rows, components, columns]:
        raise ValueError(f"their shape is not what {_JSON} says")
    names = [names_in(archive, field) for field in NAME_FIELDS]
    factors = []
    for name, shape in (("U", (rows, components)), ("V", (components, columns))):
        indices, indptr = archive[f"{name}_indices"], archive[f"{name}_indptr"]
        _check_lines(name, indptr, indices, shape)
        ones = np.ones(indices.size, dtype=bool)
        factors.append(sparse.csr_array((ones, indices, indptr), shape=shape))
    return SavedModel(factors[0], factors[1], names[0], names[1], described.info)


def _check_lines(
    name: str, indptr: np.ndarray, indices: np.ndarray, shape: tuple[int, int]
) -> None:
    """Raise where a factor is not what its shape says.

    What scipy checks is less: it takes any indptr that ends with 0.
    """
    if indptr.size != shape[0] + 1 or indptr[0] != 0 or indptr[-1] != indices.size:
        raise ValueError(f"{name}_indptr does not fit the shape and {name}_indices")
    if np.any(indptr[1:] < indptr[:-1]):
        raise ValueError(f"{name}_indptr is not ascending")
    if indices.size and not (indices.min() >= 0 and indices.max() < shape[1]):
        raise ValueError(f"an entry of {name}_indices is outside of the matrix")
