"""Factors that cover no zero, made of some that cover a few."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.boolean.product import Bools
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["within_ones"]

_ROWS_AT_ONCE = 1 << 14


def within_ones(A: BooleanMatrix, U: Bools, V: Bools) -> tuple[Bools, Bools]:
    """Take those rows or those columns out of each component in which it has a zero.

    Of the two, what leaves the component larger. Missing cells may be covered.
    """
    of_rows = np.zeros(U.shape, dtype=np.int64)
    of_columns = np.zeros(V.shape, dtype=np.int64)
    for pattern in (A,) if A.missing is None else (A, A.missing):
        for low in range(0, A.shape[0], _ROWS_AT_ONCE):
            block = _rows(pattern, low, min(low + _ROWS_AT_ONCE, A.shape[0]))
            of_rows[low : low + _ROWS_AT_ONCE] += block @ V.T.astype(np.int64)
            of_columns += U[low : low + _ROWS_AT_ONCE].T.astype(np.int64) @ block
    height, width = U.sum(axis=0), V.sum(axis=1)
    rows, columns = U & (of_rows == width), V & (of_columns == height[:, None])
    by_rows = rows.sum(axis=0) * width >= height * columns.sum(axis=1)
    rows, columns = np.where(by_rows, rows, U), np.where(by_rows[:, None], V, columns)
    there: Bools = np.logical_and(rows.any(axis=0), columns.any(axis=1))
    return rows & there, columns & there[:, None]


def _rows(pattern: BooleanMatrix, low: int, high: int) -> sparse.csr_array:
    """Return where some rows have ones."""
    starts: NDArray[np.int64] = np.asarray(pattern.indptr[low : high + 1])
    indices = np.asarray(pattern.indices[starts[0] : starts[-1]])
    ones = np.ones(indices.size, dtype=np.int64)
    return sparse.csr_array((ones, indices, starts - starts[0]), (high - low, pattern.shape[1]))
