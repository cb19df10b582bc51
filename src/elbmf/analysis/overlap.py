"""What components share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.boolean.product import boolean_factors

__all__ = ["ComponentOverlap", "component_overlap"]

# A pair of components that a line is in costs so much more in a sparse product than in a dense one.
_SPARSE_COST = 30


@dataclass(frozen=True, eq=False)
class ComponentOverlap:
    """Rows and columns that each pair of components shares, as arrays of shape (k, k).

    Parameters
    ----------
    rows, columns : ndarray of int64
        Lines in both components; the diagonal holds the size of each.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    @property
    def cells(self) -> NDArray[np.int64]:
        """Cells in both components."""
        return self.rows * self.columns

    @property
    def row_similarity(self) -> NDArray[np.float64]:
        """Lines in both as a share of those in either, for rows (Jaccard); 0 for empty ones."""
        return _jaccard(self.rows)

    @property
    def column_similarity(self) -> NDArray[np.float64]:
        """The same for columns."""
        return _jaccard(self.columns)

    @property
    def share(self) -> NDArray[np.float64]:
        """Entry (a, b): the share of the cells of a that are also in b; 0 where a has none."""
        own = np.diag(self.cells)[:, None]
        return np.divide(self.cells, own, out=np.zeros(self.cells.shape), where=own > 0)


def component_overlap(U: Any, V: Any) -> ComponentOverlap:
    """Count what each pair of components shares.

    Parameters
    ----------
    U : array-like of shape (n, k)
    V : array-like of shape (k, m)
        0/1, dense or sparse.
    """
    U, V = boolean_factors(U, V)
    return ComponentOverlap(_gram(U), _gram(V.T))


def _gram(lines: NDArray[np.bool_]) -> NDArray[np.int64]:
    count, k = lines.shape
    pairs = float(np.square(lines.sum(axis=1), dtype=np.float64).sum())
    if pairs * _SPARSE_COST < count * float(k) ** 2:
        members = sparse.csr_array(lines).astype(np.int64)
        return (members.T @ members).toarray()
    total = np.zeros((k, k))
    # In runs short enough that 32-bit floats count exactly, and that take little memory.
    for low in range(0, count, 1 << 16):
        run = lines[low : low + (1 << 16)].astype(np.float32)
        total += run.T @ run
    return np.rint(total).astype(np.int64)


def _jaccard(common: NDArray[np.int64]) -> NDArray[np.float64]:
    sizes = np.diag(common)
    either = sizes[:, None] + sizes[None, :] - common
    return np.divide(common, either, out=np.zeros(common.shape), where=either > 0)
