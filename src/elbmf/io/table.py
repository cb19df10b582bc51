"""The labelled sparse matrix that every file format reads into and writes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from elbmf.errors import InputError

__all__ = [
    "CsrBuilder",
    "LabelledMatrix",
    "NamedValues",
    "TableError",
    "canonical_csr",
    "check_count",
    "compact",
    "is_annotated",
    "names_of",
    "nonzero",
]


class TableError(InputError):
    """Values or names make no table; the message does not say which file they are from."""


@dataclass(frozen=True, eq=False)
class LabelledMatrix:
    """A sparse matrix and, where known, the names of its rows and columns.

    Parameters
    ----------
    values : scipy.sparse.csr_array
        Boolean or real matrix; a stored NaN is a missing cell. Any other 2-d sparse or dense
        matrix is converted. It is kept in canonical form: indices sorted, duplicates summed, no
        stored zeros.
    row_names, column_names : sequence of str, optional
        One name per row or column; None where the file has no names.
    """

    values: sparse.csr_array
    row_names: list[str] | None = None
    column_names: list[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", canonical_csr(self.values))
        for axis, field in enumerate(("row_names", "column_names")):
            names = getattr(self, field)
            if names is not None:
                object.__setattr__(self, field, _checked_names(names, field, self.shape[axis]))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, columns = self.values.shape
        return int(rows), int(columns)

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return int(np.isnan(self.values.data).sum()) if self.values.dtype.kind == "f" else 0

    def transposed(self) -> LabelledMatrix:
        """Return the matrix with rows and columns exchanged."""
        return LabelledMatrix(self.values.T, self.column_names, self.row_names)

    def row_labels(self) -> list[str]:
        """Return the row names, or "0", "1", ... where there are none."""
        return _labels(self.row_names, self.shape[0])

    def column_labels(self) -> list[str]:
        """Return the column names, or "0", "1", ... where there are none."""
        return _labels(self.column_names, self.shape[1])


@dataclass(frozen=True, eq=False)
class NamedValues:
    """A matrix in memory, dense or sparse and as it came, and what is known of its names."""

    values: Any
    row_names: list[str] | None = None
    column_names: list[str] | None = None


def _labels(names: list[str] | None, count: int) -> list[str]:
    return [str(index) for index in range(count)] if names is None else names


def _checked_names(names: Sequence[str], field: str, expected: int) -> list[str]:
    if isinstance(names, str):
        raise TableError(f"{field} must be a list of strings, got the single string {names!r}.")
    checked = [str(name) if isinstance(name, str) else name for name in names]
    for position, name in enumerate(checked):
        if not isinstance(name, str):
            raise TableError(
                f"{field} must be strings; the one at position {position} is {name!r} of type "
                f"{type(name).__name__}. Convert it with str()."
            )
    check_count(len(checked), field, expected)
    return checked


def check_count(found: int, field: str, expected: int) -> None:
    """Raise where there is not one name for each of so many rows or columns."""
    if found != expected:
        kind = field.removesuffix("_names")
        raise TableError(
            f"{field} must hold one name for each of the {expected} {kind}s of the matrix, "
            f"got {found}."
        )


def canonical_csr(matrix: Any) -> sparse.csr_array:
    """Return a 2-d matrix as canonical CSR, leaving the caller's own matrix unchanged.

    Indices are sorted, duplicates summed, and no zeros stored.
    """
    source: Any = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    if source.ndim != 2:
        raise TableError(f"expected a matrix with 2 dimensions, got {source.ndim}.")
    if source.dtype.kind not in "biuf":
        raise TableError(
            f"expected boolean or real numbers, got a matrix of type {source.dtype}. "
            "Convert it to bool, int or float first."
        )
    if source.dtype.kind == "f" and source.dtype.itemsize not in (4, 8):
        # scipy.sparse has no half precision, and platforms differ on the extended ones.
        source = source.astype(np.float32 if source.dtype.itemsize == 2 else np.float64)
    csr = sparse.csr_array(source)
    if not csr.has_canonical_format or not csr.data.all():
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    return csr


def compact(data: np.ndarray) -> np.ndarray:
    """Return the stored values of a text file in the narrowest type that holds them.

    Text has no types, so the values decide: all ones is bool, whole numbers are int64,
    anything else, also what has missing values, stays as it is.
    """
    if data.dtype == bool or bool(np.all(data == 1)):
        return np.ones(data.shape, dtype=bool)
    if data.dtype.kind in "iu":
        return data
    exactly_representable = 2.0**53
    if bool(np.all((np.abs(data) < exactly_representable) & (np.floor(data) == data))):
        return data.astype(np.int64)
    return data


def nonzero(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what `numpy.nonzero` does for two dimensions, twice as fast where few cells are."""
    rows, columns = np.divmod(np.flatnonzero(block != 0), max(block.shape[1], 1))
    return rows, columns


class CsrBuilder:
    """Collects consecutive dense blocks of rows into one sparse matrix.

    Only one block is dense at any time, so a large table never is.
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self._counts: list[np.ndarray] = []
        self._indices: list[np.ndarray] = []
        self._data: list[np.ndarray] = []

    def add(self, block: np.ndarray) -> None:
        """Append the rows of a dense 2-d block."""
        rows, columns = nonzero(block)
        self._counts.append(np.bincount(rows, minlength=block.shape[0]))
        self._indices.append(columns.astype(np.int32))
        self._data.append(block[rows, columns])

    def build(self) -> sparse.csr_array:
        """Return all rows added so far."""
        if not self._counts:
            return sparse.csr_array((0, self.columns), dtype=bool)
        indptr = np.r_[0, np.cumsum(np.concatenate(self._counts))]
        data, indices = np.concatenate(self._data), np.concatenate(self._indices)
        return sparse.csr_array((data, indices, indptr), shape=(indptr.size - 1, self.columns))


def is_annotated(data: Any) -> bool:
    """Tell an AnnData by what it has."""
    return hasattr(data, "obs_names") and hasattr(data, "var_names") and hasattr(data, "layers")


def names_of(data: Any) -> tuple[list[str] | None, list[str] | None]:
    """Return the names of rows and columns, where the data has any."""
    if isinstance(data, LabelledMatrix | NamedValues):
        return data.row_names, data.column_names
    if is_annotated(data):
        return [str(name) for name in data.obs_names], [str(name) for name in data.var_names]
    if not hasattr(data, "columns"):
        return None, None
    index = getattr(data, "index", None)
    columns = [str(name) for name in data.columns]
    # Frames without names of rows count them.
    if index is None or type(index).__name__ == "RangeIndex":
        return None, columns
    return [str(name) for name in index], columns
