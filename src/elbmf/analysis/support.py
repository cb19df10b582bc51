"""How well each row and column fits into each component, and which is named first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.analysis.kernels import grids
from elbmf.boolean.product import boolean_factors, pack
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.threads import over_ranges

__all__ = ["Support", "best_first", "line_ones", "support", "support_in_pieces"]

Counts = NDArray[np.int32]

# Counts of so many pairs of a line and a component are made at a time.
_PAIRS_AT_ONCE = 1 << 23


@dataclass(frozen=True, eq=False)
class Support:
    """Ones of each line inside each component.

    Row i has ``rows[i, l]`` ones among the columns of component l: all of them if it fits
    perfectly, members or not. The same goes for columns.

    Parameters
    ----------
    rows : ndarray of int32, of shape (n, k)
        A Vᵀ.
    columns : ndarray of int32, of shape (m, k)
        Aᵀ U.
    row_sizes, column_sizes : ndarray of int64, of length k
        Rows and columns of each component.
    """

    rows: Counts
    columns: Counts
    row_sizes: NDArray[np.int64]
    column_sizes: NDArray[np.int64]

    def row_shares(self, component: int) -> NDArray[np.float64]:
        """Of the columns of a component, the share that each row has."""
        return self.rows[:, component] / max(int(self.column_sizes[component]), 1)

    def column_shares(self, component: int) -> NDArray[np.float64]:
        """Of the rows of a component, the share that each column has."""
        return self.columns[:, component] / max(int(self.row_sizes[component]), 1)


def line_ones(A: BooleanMatrix, axis: int) -> NDArray[np.int64]:
    """Return the ones of each row (axis 0) or column."""
    return np.diff(A.starts(axis)).astype(np.int64, copy=False)


def support(A: Any, U: Any, V: Any, n_jobs: int | None = None) -> Support:
    """Count the ones of each line inside each component; costs the ones of A, twice.

    Parameters
    ----------
    A : matrix of shape (n, m)
    U : matrix of shape (n, k)
    V : matrix of shape (k, m)
    n_jobs : int, optional
        Threads. All cores by default.
    """
    A = BooleanMatrix.from_array(A)
    U, V = boolean_factors(U, V, A.shape)

    def count(axis: int, partners: NDArray[np.bool_]) -> Counts:
        counts = np.zeros((A.shape[axis], partners.shape[1]), dtype=np.int32)
        for low, piece in support_in_pieces(A, axis, partners, n_jobs):
            counts[low : low + len(piece)] = piece
        return counts

    return Support(count(0, V.T), count(1, U), U.sum(axis=0), V.sum(axis=1))


def support_in_pieces(
    A: BooleanMatrix, axis: int, partners: NDArray[np.bool_], n_jobs: int | None = None
) -> Iterator[tuple[int, Counts]]:
    """Count the ones of each line inside each component, for some lines at a time.

    Parameters
    ----------
    A : BooleanMatrix
    axis : int
        Whether the lines are rows (0) or columns (1).
    partners : ndarray of bool
        The other side of the components, of shape (m, k) for rows and (n, k) for columns.
    n_jobs : int, optional
        Threads. All cores by default.

    Yields
    ------
    low : int
        The first of the lines.
    counts : ndarray of int32, of shape (lines, k)
    """
    indptr, indices = A.lines(axis)
    packed = pack(np.ascontiguousarray(partners))
    count, k = A.shape[axis], partners.shape[1]
    at_once = max(1, _PAIRS_AT_ONCE // max(k, 1))
    for low in range(0, count, at_once):
        starts = indptr[low : low + at_once + 1]
        counts = np.zeros((len(starts) - 1, k), dtype=np.int32)

        def fill(first: int, last: int, starts: Any = starts, counts: Counts = counts) -> None:
            grids.support_of_lines(starts, indices, first, last, packed, counts)

        over_ranges(fill, len(counts), n_jobs)
        yield low, counts


def best_first(inside: NDArray[Any] | None, in_all: NDArray[Any]) -> NDArray[np.int64]:
    """Return the order of lines by how well they fit into a component.

    Those come first that have most ones inside; of equals, those that have fewest elsewhere. Lines
    that are alike stay in their order.

    Parameters
    ----------
    inside : ndarray, of shape (lines,) or (lines, components), or None
        Ones of each line among the component's other side, or their share. None without data.
    in_all : ndarray of int, of the same shape
        All ones of each line; without data, the components that it is in.
    """
    return np.lexsort((in_all,) if inside is None else (in_all, -inside), axis=0)
