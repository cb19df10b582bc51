"""The 0/1 input: one validated type for everything a user may hand over.

A `BooleanMatrix` holds where the ones are, row by row, and no values; beside them, as a mask, where
cells are missing, which are neither ones nor zeros. Nothing is thresholded silently: input that is
not 0/1 is an error that shows the offending values.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.errors import InputError, Line, Placeholder, Setting
from elbmf.kernels.patterns import PADDING, mark_common, transpose_pattern
from elbmf.matrix.array_files import checksums_of
from elbmf.matrix.protocol import Bools, Matrix

__all__ = [
    "BooleanMatrix",
    "NotBooleanError",
    "Pattern",
    "as_matrix",
    "canonical",
    "stray_columns",
    "tell_ones",
    "without_strays",
]

T = TypeVar("T")

Pattern = tuple[NDArray[np.int64], NDArray[np.integer[Any]]]
"""Where each line starts, and the positions of its ones."""

# Dense input is looked at in pieces of about this many cells.
_CELLS_AT_ONCE = 1 << 22

# So many columns that are not 0/1 may be there by mistake.
_MOST_STRAY = 3


class BooleanMatrix(Matrix):
    """The positions of the ones of an n×m matrix, in row order, and of its missing cells.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns.
    indptr : ndarray of int64, of length rows + 1
        Where each row starts in ``indices``.
    indices : ndarray of integers
        Columns of the ones, ascending within each row and without duplicates.
    missing : BooleanMatrix, optional
        Of the same shape; its ones are the missing cells, none of which is a one of this matrix.
        No missing cells are the same as None.

    See Also
    --------
    BooleanMatrix.from_array : Build one from anything array-like, with validation.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        indptr: NDArray[np.int64],
        indices: NDArray[np.integer[Any]],
        missing: "BooleanMatrix | None" = None,
    ) -> None:
        self.shape = shape
        self.ones: int = int(indptr[-1])
        self.indptr = indptr
        self.indices = indices
        if missing is not None:
            _require_shape(missing, shape)
        self.missing = missing if missing is not None and missing.ones else None
        self.n_missing = 0 if self.missing is None else self.missing.ones
        self._lines: dict[int, Pattern] = {}

    def fingerprint(self) -> str:
        """Return a text that differs for matrices that differ, in memory or on disk."""
        text = json.dumps([list(self.shape), self._checksums()])
        return hashlib.sha256(text.encode()).hexdigest()

    def _checksums(self) -> list[list[int]]:
        """Return those that the files of the rows would have, were the matrix stored."""
        found = []
        for pattern in (self, self.missing):
            if pattern is not None:
                found.append(checksums_of([pattern.indptr], np.int64))
                ones = pattern.indices[: pattern.ones]
                number = self.index_type(self.shape[1])
                found.append(checksums_of([ones, np.zeros(PADDING)], number))
        return found

    def __repr__(self) -> str:
        n, m = self.shape
        missing = f", {self.n_missing} missing" if self.n_missing else ""
        return f"<BooleanMatrix {n}×{m}, {self.ones} ones{missing}, density {self.density:.4g}>"

    @classmethod
    def from_array(
        cls, X: Any, binarize: float | None = None, missing: Any = None
    ) -> "BooleanMatrix":
        """Read a dense or sparse matrix.

        Parameters
        ----------
        X : array-like, scipy.sparse matrix or array, or BooleanMatrix
            Two-dimensional, numeric or Boolean. NaN, also where a sparse matrix stores one, and
            the masked entries of a masked array are missing cells.
        binarize : float, optional
            Entries above this threshold are ones, the others zeros. Without it, every entry must
            be 0 or 1.
        missing : array-like, scipy.sparse matrix or array, or BooleanMatrix, optional
            0/1 mask of the same shape: more missing cells. What X holds there is ignored.

        Raises
        ------
        InputError
            If X is not two-dimensional, has entries that are infinite or not 0/1, or if
            ``missing`` is no mask of its shape.
        """
        mask = None if missing is None else cls.mask(missing)
        if isinstance(X, BooleanMatrix):
            # What was read once is 0/1 already.
            return (
                X if mask is None else cls._from_sparse(X.to_csr(), None, _union(X.missing, mask))
            )
        if binarize is not None and not np.isfinite(binarize):
            raise InputError(f"binarize must be a finite threshold or None; got {binarize!r}.")
        if sparse.issparse(X):
            return cls._from_sparse(X, binarize, mask)
        if np.ma.is_masked(X):
            mask = _union(cls.mask(np.ma.getmaskarray(X)), mask)
        return cls._from_dense(np.asarray(X), binarize, mask)

    @classmethod
    def zeros(cls, shape: tuple[int, int]) -> "BooleanMatrix":
        """Return a matrix without ones."""
        return cls(shape, np.zeros(shape[0] + 1, dtype=np.int64), np.empty(0, dtype=np.int32))

    @classmethod
    def mask(
        cls, missing: Any, shape: tuple[int, int] | None = None, name: str = "missing"
    ) -> "BooleanMatrix":
        """Read a mask of cells, such as the missing ones, of a matrix of that shape if it is given.

        Messages call it by its name.
        """
        try:
            mask = cls.from_array(missing)
        except NotBooleanError as error:
            raise InputError(
                f"{name} must be a 0/1 mask; got ",
                *error.found,
                f". Pass 1 or True where a cell is {name.split('_')[0]} and 0 or False elsewhere, "
                f"e.g. {name}=(mask != 0).",
            ) from None
        except InputError as error:
            raise InputError(f"{name} must be a 0/1 mask: ", *error.parts) from None
        if mask.missing is not None:
            raise InputError(
                f"{name} must be a 0/1 mask; got NaN or masked entries. Pass 1 or True where a "
                f"cell is {name.split('_')[0]} and 0 or False elsewhere, e.g. "
                f"{name}=np.isnan(X)."
            )
        if shape is not None:
            _require_shape(mask, shape, name)
        return mask

    @classmethod
    def _from_sparse(
        cls, X: Any, binarize: float | None, mask: "BooleanMatrix | None"
    ) -> "BooleanMatrix":
        if X.ndim != 2:
            raise InputError(f"Expected a matrix with rows and columns; got {X.ndim} dimension(s).")
        if binarize is not None and binarize < 0:
            raise InputError(
                Setting("binarize", binarize),
                " turns every zero of a sparse matrix into a one. Use a threshold ≥ 0, or a dense "
                "array.",
            )
        _require_numbers(X.dtype)
        csr = canonical(X)
        added_up = X.nnz != csr.nnz
        shape = (int(csr.shape[0]), int(csr.shape[1]))
        indptr, indices = csr.indptr.astype(np.int64, copy=False), csr.indices
        if not (indptr.flags.writeable and indices.flags.writeable):
            # As joblib hands them over: each kernel would be compiled once more for them.
            indptr, indices = indptr.copy(), indices.copy()
        data = csr.data
        masked = np.zeros(data.shape, dtype=np.bool_)
        if mask is not None:
            _require_shape(mask, shape)
            mark_common(indptr, indices, mask.indptr, mask.indices, masked)
        keep = np.empty(data.shape, dtype=np.bool_)
        for start in range(0, data.size, _CELLS_AT_ONCE):
            piece = slice(start, start + _CELLS_AT_ONCE)
            bad = _ones_of(data[piece], binarize, masked[piece], keep[piece])
            if bad.size:
                at = start + bad
                rows = np.searchsorted(indptr, at, side="right") - 1
                hint = " (entries stored twice are added up)" if added_up else ""
                raise NotBooleanError(data[at], rows, indices[at], hint)

        def part(entries: NDArray[np.bool_]) -> Pattern:
            if entries.all():
                return indptr, indices
            before = np.concatenate([[0], np.cumsum(entries, dtype=np.int64)])
            return before[indptr], indices[entries]

        if masked.any():
            mask = _union(cls(shape, *part(masked)), mask)
        return cls(shape, *part(keep), missing=mask)

    @classmethod
    def _from_dense(
        cls, X: NDArray[Any], binarize: float | None, mask: "BooleanMatrix | None"
    ) -> "BooleanMatrix":
        if X.ndim != 2:
            raise InputError(
                f"Expected a matrix with rows and columns; got {X.ndim} dimension(s). "
                "Reshape your data with X.reshape(-1, 1) or X.reshape(1, -1)."
            )
        _require_numbers(X.dtype)
        n, m = X.shape
        if mask is not None:
            _require_shape(mask, (n, m))
        ones, missing = _RowsInTurn(m), _RowsInTurn(m)
        rows_at_once = max(1, _CELLS_AT_ONCE // max(m, 1))
        for start in range(0, n, rows_at_once):
            block = X[start : start + rows_at_once]
            keep = np.empty(block.shape, dtype=np.bool_)
            masked = np.zeros(block.shape, dtype=np.bool_)
            if mask is not None:
                edges = mask.indptr[start : start + rows_at_once + 1]
                rows = np.repeat(np.arange(block.shape[0]), np.diff(edges))
                masked[rows, mask.indices[edges[0] : edges[-1]]] = True
            bad = _ones_of(block, binarize, masked, keep)
            if bad.size:
                rows, columns = np.divmod(bad, m)
                raise NotBooleanError(block[rows, columns], rows + start, columns)
            ones.add(keep)
            missing.add(masked)
        return cls((n, m), *ones.pattern(), missing=cls((n, m), *missing.pattern()))

    def to_csr(self, dtype: Any = np.bool_) -> sparse.csr_array:
        """Return a scipy sparse array with stored ones."""
        data, indptr = np.ones(self.ones, dtype=dtype), self.indptr
        if self.ones < 1 << 31:
            # Else scipy would copy the indices into numbers as wide as these.
            indptr = indptr.astype(np.int32)
        result = sparse.csr_array((data, self.indices, indptr), shape=self.shape)
        result.has_canonical_format = True
        return result

    def lines(self, axis: int) -> Pattern:
        """Return the pattern by rows (``axis=0``) or by columns (``axis=1``), made only once.

        The indices are as narrow as the other side allows and padded, as the kernels want them.

        Returns
        -------
        indptr : ndarray of int64
        indices : ndarray of uint16, int32 or int64
        """
        if axis not in self._lines:
            self._lines[axis] = self._make_lines(axis)
        return self._lines[axis]

    def starts(self, axis: int, *, missing: bool = False) -> NDArray[np.int64]:
        """Return where each row (0) or column (1) starts in its pattern, see `lines`."""
        return (self.missing_lines(axis) if missing else self.lines(axis))[0]

    def missing_lines(self, axis: int) -> Pattern:
        """Return the pattern of the missing cells, like `lines`; an empty one if there are none."""
        return (self.missing or BooleanMatrix.zeros(self.shape)).lines(axis)

    def sum_over_pieces(  # noqa: D102
        self,
        count: "Callable[[BooleanMatrix, Bools, Bools, int | None], T]",
        U: Bools,
        V: Bools,
        n_jobs: int | None = None,
    ) -> T:
        return count(self, U, V, n_jobs)

    def map_rows(  # noqa: D102
        self, function: Callable[..., NDArray[Any]], *arguments: Any, n_jobs: int | None = None
    ) -> NDArray[Any]:
        return function(self, *arguments, n_jobs)

    def allocate(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return zeros, for something that is as large as the data: made where the data lies."""
        return np.zeros(shape, dtype)

    @staticmethod
    def index_type(length: int) -> Any:
        """Return the narrowest type for positions in a line of some length."""
        return np.uint16 if length <= 1 << 16 else np.int32 if length < 1 << 31 else np.int64

    def _make_lines(self, axis: int) -> Pattern:
        indices = np.zeros(self.ones + PADDING, dtype=self.index_type(self.shape[1 - axis]))
        if axis == 0:
            indices[: self.ones] = self.indices[: self.ones]
            return self.indptr, indices
        counts = np.zeros(self.shape[1] + 1, dtype=np.int64)
        for start in range(0, self.ones, _CELLS_AT_ONCE):
            piece = self.indices[start : start + _CELLS_AT_ONCE]
            counts[1:] += np.bincount(piece, minlength=self.shape[1])
        indptr = np.cumsum(counts)
        transpose_pattern(self.indptr, self.indices, indptr[:-1].copy(), indices)
        return indptr, indices


def as_matrix(X: Any) -> Matrix:
    """Return a matrix of any kind as it is; read anything else by `BooleanMatrix.from_array`."""
    return X if isinstance(X, Matrix) else BooleanMatrix.from_array(X)


def canonical(X: Any) -> Any:
    """Return a sparse matrix as canonical CSR; what the caller holds stays as it is.

    Entries stored twice add up, as everywhere in scipy; in wide enough numbers, so that the sum
    cannot wrap around to a 0 or 1.
    """
    wide = X.dtype if X.dtype == np.bool_ else np.result_type(X.dtype, np.int32)
    csr = X.astype(wide).tocsr() if X.format == "coo" else X.tocsr()
    if not csr.has_canonical_format:
        csr = csr.astype(wide, copy=True)
        csr.sum_duplicates()
    return csr


def _require_numbers(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise InputError("Complex data not supported: expected a matrix of zeros and ones.")
    if dtype.kind not in "biuf":
        raise InputError(
            f"Expected numbers or Booleans; got entries of type {dtype}. "
            "Make 0/1 columns of them first, such as col.map({'A': 1, 'B': 0}) in a data frame."
        )


def _require_shape(mask: BooleanMatrix, shape: tuple[int, int], name: str = "missing") -> None:
    if mask.shape != shape:
        raise InputError(
            f"{name} must have the shape of the matrix, {shape[0]}×{shape[1]}; "
            f"got {mask.shape[0]}×{mask.shape[1]}."
        )


def _union(first: BooleanMatrix | None, second: BooleanMatrix | None) -> BooleanMatrix | None:
    """Return the matrix of the ones of either."""
    if first is None or second is None:
        return first if second is None else second
    _require_shape(second, first.shape)
    return BooleanMatrix.from_array(first.to_csr() + second.to_csr())


class _RowsInTurn:
    """Collects the pattern of a dense matrix that is seen block by block."""

    def __init__(self, m: int) -> None:
        self._m = m
        self._counts = [np.zeros(1, dtype=np.int64)]
        self._indices = [np.empty(0, dtype=np.int32)]

    def add(self, block: NDArray[np.bool_]) -> None:
        self._counts.append(block.sum(axis=1))
        self._indices.append((np.flatnonzero(block) % self._m).astype(np.int32))

    def pattern(self) -> Pattern:
        return np.cumsum(np.concatenate(self._counts)), np.concatenate(self._indices)


def _ones_of(
    block: NDArray[Any],
    binarize: float | None,
    masked: NDArray[np.bool_],
    keep: NDArray[np.bool_],
) -> NDArray[np.intp]:
    """Mark the ones of a block in ``keep`` and add its missing cells to ``masked``.

    Returns the flat positions of at most a few bad entries that are not masked.
    """
    if block.dtype.kind == "f":
        masked |= np.isnan(block)
    if binarize is None:
        np.not_equal(block, 0, out=keep)
    else:
        np.greater(block, binarize, out=keep)
    keep &= ~masked
    if block.dtype == np.bool_ or (binarize is not None and block.dtype.kind != "f"):
        return np.empty(0, dtype=np.intp)
    bad = keep & (block != 1) if binarize is None else np.isinf(block) & ~masked
    return np.flatnonzero(bad)[:5] if bad.any() else np.empty(0, dtype=np.intp)


def tell_ones(
    values: NDArray[Any],
    binarize: float | None,
    rows: NDArray[np.integer[Any]],
    columns: NDArray[np.integer[Any]],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which entries are ones, and which are missing.

    Parameters
    ----------
    values : ndarray
        The entries.
    binarize : float or None
        As in `BooleanMatrix.from_array`.
    rows, columns : ndarray of integers
        Where they are, for the message.

    Raises
    ------
    InputError
        If entries are infinite or, without a threshold, not 0/1.
    """
    ones = np.empty(values.shape, dtype=np.bool_)
    missing = np.zeros(values.shape, dtype=np.bool_)
    bad = _ones_of(values, binarize, missing, ones)
    if bad.size:
        raise NotBooleanError(values[bad], rows[bad], columns[bad])
    return ones, missing


def stray_columns(values: Any) -> list[int]:
    """Return the columns that are not 0/1, where these are few and others are."""
    if sparse.issparse(values):
        entries = values.tocoo()
        data, columns = entries.data, entries.coords[1]
    else:
        data = np.asarray(values)
        columns = np.broadcast_to(np.arange(data.shape[1]), data.shape)
    strange = (data != 0) & (data != 1) & np.isfinite(data)
    found = np.unique(columns[strange])
    return found.tolist() if found.size <= min(_MOST_STRAY, (values.shape[1] - 1) // 2) else []


def without_strays(
    error: "NotBooleanError", values: Any, drop: Callable[[list[int]], str | Setting]
) -> Sequence[str | Setting | Line]:
    """Return the message of an error, which names a few columns that are not 0/1 if all others are.

    An age beside mutations is to be left out: a threshold would make ones of all of it.

    Parameters
    ----------
    error : NotBooleanError
    values : array-like or sparse matrix
        What it was raised of.
    drop : callable
        Returns how to leave columns out, from their places; an empty text says nothing.
    """
    strays = [] if error.infinite else stray_columns(values)
    if not strays:
        return error.parts
    named: list[str | Line] = []
    for place in strays:
        named += [", " if named else "", Line(1, place)]
    rest = "out what does not belong" if len(strays) > 1 else "it out if it does not belong"
    how = drop(strays)
    told = [": ", how, "."] if how else ["."]
    return ["All columns but ", *named, " are 0/1; got ", *error.found, f". Leave {rest}", *told]


class NotBooleanError(InputError):
    """Entries are not 0/1, or infinite.

    Parameters
    ----------
    values, rows, columns : ndarray
        Some of these entries, and where they are.
    hint : str
        What else to say of them.

    Attributes
    ----------
    found : tuple of str or Line
        The entries, without advice.
    infinite : bool
        Whether some are infinite, which no threshold helps.
    entries : tuple
        The parameters.
    """

    def __init__(
        self,
        values: NDArray[Any],
        rows: NDArray[np.integer[Any]],
        columns: NDArray[np.integer[Any]],
        hint: str = "",
    ) -> None:
        self.entries = (values, rows, columns, hint)
        numbers = np.asarray(values, dtype=np.float64)
        found: list[str | Line] = []
        for value, row, column in zip(numbers, rows, columns, strict=True):
            found += [
                ", " if found else "",
                f"{value:g} at ",
                Line(0, int(row)),
                ", ",
                Line(1, int(column)),
            ]
        self.found = (*found, hint)
        self.infinite = bool(np.isinf(numbers).any())
        if self.infinite:
            super().__init__(
                "Input X contains infinity: ", *self.found, ". Replace infinite entries first."
            )
            return
        what = "Negative values in data: expected" if (numbers < 0).any() else "Expected"
        super().__init__(
            f"{what} a matrix of zeros and ones; got ",
            *self.found,
            ". Set ",
            Setting("binarize", Placeholder("THRESHOLD")),
            " to read every entry above a threshold as one, e.g. ",
            Setting("binarize", 0),
            "; or to 'zscore' for those high in their column.",
        )

    def of_new_rows(self) -> InputError:
        """Return the same error without advice for a fit, for rows that a model is to describe."""
        if self.infinite:
            return self
        cells = "The cells " if len(self.entries[0]) > 1 else "The cell "
        return InputError(cells, *self.found, " must be 0, 1 or missing.")
