"""How well each row and column fits into each component."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean import boolean_factors, pack
from elbmf.kernels import grids
from elbmf.matrix import BooleanMatrix
from elbmf.threads import over_ranges

__all__ = ["Support", "support"]

Counts = NDArray[np.int32]


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
        indptr, indices = A.lines(axis)
        packed = pack(np.ascontiguousarray(partners))
        counts = np.zeros((A.shape[axis], partners.shape[1]), dtype=np.int32)
        over_ranges(
            lambda low, high: grids.support_of_lines(indptr, indices, low, high, packed, counts),
            A.shape[axis],
            n_jobs,
        )
        return counts

    return Support(count(0, V.T), count(1, U), U.sum(axis=0), V.sum(axis=1))
