"""Sums and quantiles of the lines of a matrix, whose unstored zeros count as values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["SCOPES", "LineStatistics", "quantile_of"]

SCOPES = ("columns", "rows", "all")

Floats = NDArray[np.float64]

# Entries are looked at in pieces of about this many.
_ENTRIES_AT_ONCE = 1 << 22


class LineStatistics:
    """The columns or the rows of a dense or sparse matrix, or all of it as a single line.

    Sums skip zeros, stored or not, and put them in by their number, so that dense and sparse
    matrices give the same bits.
    """

    def __init__(self, X: Any, scope: str) -> None:
        n, m = X.shape
        self._X = X
        self._scope = scope
        self.count, self.length = {"columns": (m, n), "rows": (n, m), "all": (1, n * m)}[scope]
        self._known: Floats | None = None

    def entries(self) -> Iterator[tuple[NDArray[np.integer[Any]], Floats]]:
        """Return lines and values of all entries, row by row, in pieces; NaN among them."""
        X = self._X
        n, m = X.shape
        stored = X.indptr if sparse.issparse(X) else np.arange(n + 1) * m
        rows_at_once = np.searchsorted(stored, np.arange(0, stored[-1], _ENTRIES_AT_ONCE)[1:])
        edges = np.unique(np.concatenate([[0], rows_at_once, [n]]))
        for low, high in pairwise(edges.tolist()):
            if sparse.issparse(X):
                piece = slice(stored[low], stored[high])
                columns, values = X.indices[piece], X.data[piece]
            else:
                columns, values = np.tile(np.arange(m), high - low), X[low:high].ravel()
            if self._scope == "columns":
                line = columns
            elif self._scope == "rows":
                line = np.repeat(np.arange(low, high), np.diff(stored[low : high + 1]))
            else:
                line = np.zeros(values.size, dtype=np.intp)
            yield line, values.astype(np.float64, copy=False)

    @property
    def known(self) -> Floats:
        """Number of values of each line that are not missing; NaN instead of 0."""
        if self._known is None:
            missing = np.zeros(self.count, dtype=np.int64)
            for line, values in self.entries():
                missing += np.bincount(line[np.isnan(values)], minlength=self.count)
            self._known = np.where(missing == self.length, np.nan, self.length - missing)
        return self._known

    def sums(self, squares_around: Floats | None = None) -> Floats:
        """Sum the values of each line, or the squares of their distances from a centre."""
        total = np.zeros(self.count)
        zeros = self.known.copy()
        for line, values in self.entries():
            counted = (values != 0) & ~np.isnan(values)
            line, values = line[counted], values[counted]
            if squares_around is not None:
                values = (values - squares_around[line]) ** 2
            total += np.bincount(line, weights=values, minlength=self.count)
            zeros -= np.bincount(line, minlength=self.count)
        return total if squares_around is None else total + zeros * squares_around**2

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the least and the greatest value of each line."""
        low, high = np.full(self.count, np.inf), np.full(self.count, -np.inf)
        counted = np.zeros(self.count, dtype=np.int64)
        for line, values in self.entries():
            np.fmin.at(low, line, values)
            np.fmax.at(high, line, values)
            counted += np.bincount(line, minlength=self.count)
        unstored = counted < self.length
        return np.where(unstored, np.minimum(low, 0), low), np.where(
            unstored, np.maximum(high, 0), high
        )

    def __iter__(self) -> Iterator[tuple[NDArray[Any], int]]:
        """Return the stored values of each line and its number of zeros that are not stored."""
        X = self._X
        if not sparse.issparse(X):
            lines = {"columns": X.T, "rows": X, "all": X.reshape(1, -1)}[self._scope]
            yield from ((values, 0) for values in lines)
        elif self._scope == "all":
            yield X.data, self.length - X.nnz
        else:
            by_line = X.tocsc() if self._scope == "columns" else X
            for start, end in pairwise(by_line.indptr.tolist()):
                yield by_line.data[start:end], self.length - (end - start)


def quantile_of(values: NDArray[Any], zeros: int, share_below: float) -> float:
    """Return a quantile of some values and so many zeros beside them, as numpy interpolates it."""
    ordered = np.sort(values[~np.isnan(values)]).astype(np.float64)
    count = ordered.size + zeros
    if count == 0:
        return np.nan
    negative = int(np.searchsorted(ordered, 0))

    def of_rank(rank: int) -> float:
        if rank < negative:
            return float(ordered[rank])
        return 0.0 if rank < negative + zeros else float(ordered[rank - zeros])

    place = (count - 1) * share_below
    below = int(place)
    low, high = of_rank(below), of_rank(min(below + 1, count - 1))
    return low + (high - low) * (place - below)
