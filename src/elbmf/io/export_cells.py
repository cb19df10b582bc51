"""Which components explain the ones of a matrix, and where a factorization errs: cell by cell.

Rows are looked at a few at a time, and of them only the ones and what is covered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.io.entries import ENTRIES_AT_ONCE
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["CellBlock", "cell_blocks"]

Positions = tuple[NDArray[np.int64], ...]
_Keys = NDArray[np.int64]


class CellBlock(NamedTuple):
    """Cells of some rows, by rows and then columns; missing cells are in none of the three."""

    explained: Positions
    """Row, column and component of the ones that are covered, once for each component."""

    extra: Positions
    """Row and column of the zeros that are covered."""

    missed: Positions
    """Row and column of the ones that are not covered."""


def cell_blocks(A: BooleanMatrix, U: sparse.csr_array, V: sparse.csr_array) -> Iterator[CellBlock]:
    """Compare a matrix with a product, some rows at a time.

    A row may be covered by each component anew, so that a block takes memory for the columns of all
    components of its rows.
    """
    sizes = np.diff(V.indptr).astype(np.int64)
    work = np.diff(A.indptr) + sparse.csr_array(U, dtype=np.int64) @ sizes
    ends = np.cumsum(work)
    first, rows = 0, A.shape[0]
    while first < rows:
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + ENTRIES_AT_ONCE, side="right")))
        yield _block(A, U, V, first, last)
        first = last


def _block(
    A: BooleanMatrix, U: sparse.csr_array, V: sparse.csr_array, first: int, last: int
) -> CellBlock:
    m = A.shape[1]
    keys, components = _covered(U, V, first, last, m)
    ones = _keys(A, first, last)
    missing = ones[:0] if A.missing is None else _keys(A.missing, first, last)
    is_one = _among(ones, keys)
    distinct = np.unique(keys)
    extra = distinct[~_among(ones, distinct) & ~_among(missing, distinct)]
    missed = ones[~_among(distinct, ones)]
    return CellBlock(
        (*_positions(keys[is_one], first, m), components[is_one]),
        _positions(extra, first, m),
        _positions(missed, first, m),
    )


def _covered(
    U: sparse.csr_array, V: sparse.csr_array, first: int, last: int, m: int
) -> tuple[_Keys, NDArray[np.int64]]:
    """Return the covered cells of some rows, in order, and beside each a component that covers."""
    rows, members = _entries(U, first, last)
    sizes = np.diff(V.indptr)[members].astype(np.int64)
    # The columns of each component, one component after the other.
    starts = np.repeat(V.indptr[members] - (np.cumsum(sizes) - sizes), sizes)
    columns = V.indices[starts + np.arange(starts.size)]
    keys = np.repeat(rows, sizes) * m + columns
    order = np.argsort(keys, kind="stable")
    return keys[order], np.repeat(members, sizes)[order]


def _keys(pattern: BooleanMatrix, first: int, last: int) -> _Keys:
    """Return the ones of some rows as numbers, in order."""
    rows, columns = _entries(pattern, first, last)
    return rows * pattern.shape[1] + columns


def _entries(pattern: Any, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries of some rows, which count from 0, and their columns."""
    bounds = pattern.indptr[first : last + 1]
    rows = np.repeat(np.arange(last - first), np.diff(bounds))
    return rows, pattern.indices[bounds[0] : bounds[-1]].astype(np.int64)


def _among(known: _Keys, keys: _Keys) -> NDArray[np.bool_]:
    """Tell which keys are known; these are in order."""
    if not known.size:
        return np.zeros(keys.size, dtype=np.bool_)
    at = np.minimum(np.searchsorted(known, keys), known.size - 1)
    found: NDArray[np.bool_] = known[at] == keys
    return found


def _positions(keys: _Keys, first: int, m: int) -> Positions:
    rows, columns = np.divmod(keys, max(m, 1))
    return rows + first, columns
