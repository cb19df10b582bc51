"""A matrix and its factorization, counted into the bins of a grid of any size.

This is what a picture of 20,000 × 500,000 cells is drawn from: no n×m array is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.analysis.kernels import grids
from elbmf.analysis.order import BlockOrder
from elbmf.boolean.product import boolean_factors, pack
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.threads import over_ranges

__all__ = ["ErrorGrid", "error_grid"]

Counts = NDArray[np.int64]

# Of the bins, the share that lines in components have at most when they are favoured.
_FAVOUR = 0.75


@dataclass(frozen=True, eq=False)
class ErrorGrid:
    """Counts of cells in bins of neighbouring rows and columns, as arrays of shape (R, C).

    Parameters
    ----------
    row_edges, column_edges : ndarray of int64
        Bin r has the places ``row_edges[r]`` to ``row_edges[r + 1]`` of the order, and so on.
    cells : ndarray of int64
        Cells that are not missing.
    ones : ndarray of int64
        Ones of A.
    covered : ndarray of int64
        Cells that U ∘ V covers.
    hits : ndarray of int64
        Ones that are covered.
    """

    row_edges: Counts
    column_edges: Counts
    cells: Counts
    ones: Counts
    covered: Counts
    hits: Counts

    @property
    def shape(self) -> tuple[int, int]:
        """Bins from the top and from the left."""
        return self.cells.shape[0], self.cells.shape[1]

    @property
    def exact(self) -> bool:
        """Whether each bin is one cell."""
        return bool(
            (np.diff(self.row_edges) == 1).all() and (np.diff(self.column_edges) == 1).all()
        )

    @property
    def missed(self) -> Counts:
        """Ones that are not covered."""
        return self.ones - self.hits

    @property
    def extra(self) -> Counts:
        """Zeros that are covered."""
        return self.covered - self.hits

    def share(self, counts: Counts) -> NDArray[np.float64]:
        """Turn counts into shares of the cells of each bin; 0 where all are missing."""
        return np.divide(counts, self.cells, out=np.zeros(self.cells.shape), where=self.cells > 0)


def error_grid(
    A: Any,
    U: Any,
    V: Any,
    order: BlockOrder,
    shape: tuple[int, int],
    n_jobs: int | None = None,
    *,
    favour_members: bool = False,
) -> ErrorGrid:
    """Count a matrix and its factorization into a grid.

    Costs the ones and missing cells of A, and the covered cells at 64 to a word, once for
    neighbouring rows with the same components.

    Parameters
    ----------
    A : matrix of shape (n, m), or None
        Without data, nothing is a one.
    U : matrix of shape (n, k)
    V : matrix of shape (k, m)
    order : BlockOrder
        Which rows and columns are shown, and in which order.
    shape : (int, int)
        Bins at most; there are never more than rows and columns.
    n_jobs : int, optional
        Threads. All cores by default.
    favour_members : bool, default=False
        Whether lines in components, if they are few, have smaller bins than the others, so that
        components can be told from each other. The order must begin with these lines.
    """
    A = None if A is None else BooleanMatrix.from_array(A)
    U, V = boolean_factors(U, V, None if A is None else A.shape)
    row_edges, column_edges = (
        _edges(len(places), bins, int(lines[places].any(axis=1).sum()) if favour_members else 0)
        for places, bins, lines in ((order.rows, shape[0], U), (order.columns, shape[1], V.T))
    )
    R, C = len(row_edges) - 1, len(column_edges) - 1
    rows, columns = pack(U), pack(V.T)
    places = np.ascontiguousarray(order.rows, dtype=np.int64)
    column_bins = np.full(V.shape[1], -1, dtype=np.int64)
    column_bins[order.columns] = np.repeat(np.arange(C), np.diff(column_edges))

    def count_ones(pattern: BooleanMatrix | None) -> tuple[Counts, Counts]:
        ones, hits = np.zeros((2, R, C), dtype=np.int64)
        if pattern is None:
            return ones, hits
        indptr, indices = pattern.lines(0)
        ordered = indptr, indices, places, row_edges
        counted = column_bins, rows, columns, ones, hits
        over_ranges(lambda low, high: grids.ones_in_bins(*ordered, low, high, *counted), R, n_jobs)
        return ones, hits

    ones, hits = count_ones(A)
    covered = np.zeros((R, C), dtype=np.int64)
    component_bits, bin_words = _binned_component_bits(V[:, order.columns], column_edges)
    over_ranges(
        lambda low, high: grids.covered_in_bins(
            places, row_edges, low, high, rows, component_bits, bin_words, covered
        ),
        R,
        n_jobs,
    )
    cells = np.diff(row_edges)[:, None] * np.diff(column_edges)[None, :]
    if A is not None and A.missing is not None:
        missing, covered_missing = count_ones(A.missing)
        cells, covered = cells - missing, covered - covered_missing
    return ErrorGrid(row_edges, column_edges, cells, ones, covered, hits)


def _edges(count: int, most: int, favoured: int) -> Counts:
    """Cut a range into at most so many bins, as even as can be but for the favoured beginning."""
    bins = max(1, min(count, most))
    within = min(favoured, int(_FAVOUR * bins))
    if not 0 < within * count > favoured * bins:
        return np.arange(bins + 1, dtype=np.int64) * count // bins
    beyond = bins - within
    return np.concatenate(
        [
            np.arange(within, dtype=np.int64) * favoured // within,
            favoured + np.arange(beyond + 1, dtype=np.int64) * (count - favoured) // beyond,
        ]
    )


def _binned_component_bits(
    V: NDArray[np.bool_], edges: Counts
) -> tuple[NDArray[np.uint64], Counts]:
    """Pack components so that each bin of columns begins with a word of its own."""
    widths = np.diff(edges)
    words = -(-widths // 64)
    bin_words = np.concatenate([[0], np.cumsum(words)])
    spread = np.zeros((V.shape[0], 64 * int(bin_words[-1])), dtype=np.bool_)
    at = np.arange(V.shape[1]) + np.repeat(64 * bin_words[:-1] - edges[:-1], widths)
    spread[:, at] = V
    return pack(spread), bin_words
