"""What is left of a table when all that follows from the rest is left out.

Equal lines are merged. A one is left out if another is harder to cover: one in a row that is
contained in its row, and in a column that is contained in its column, for every biclique that
covers the harder one can be extended to it. Lines without a one that is left are left out, after
which others may be equal or contained in each other, and so on. What is left falls into parts that
no biclique connects.

References
----------
A. Ene, W. Horne, N. Milosavljevic, P. Rao, R. Schreiber, R. E. Tarjan. Fast exact and heuristic
methods for role minimization problems. SACMAT 2008.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from elbmf.boolean.packed import unpack
from elbmf.boolean.product import Bools, Words, pack
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.covers.kernels.containment import (
    contained_lines,
    drop_dominated,
    extend_bicliques,
)

__all__ = ["Part", "Reduction", "Table"]

Places = NDArray[np.intp]


class Table(NamedTuple):
    """What bicliques may cover, and what they must."""

    allowed: Bools
    required: Bools

    @classmethod
    def of(cls, A: BooleanMatrix, rows: slice | Places = slice(None)) -> "Table":
        """Return what may be covered of some rows, ones and missing cells, and what must."""
        required = _dense(A, rows)
        return cls(required if A.missing is None else required | _dense(A.missing, rows), required)

    @property
    def free(self) -> Bools:
        """What may be covered, and need not be."""
        return self.allowed & ~self.required

    def select(self, rows: Places, columns: Places) -> "Table":
        """Return some rows and columns."""
        return Table(*(np.ascontiguousarray(each[np.ix_(rows, columns)]) for each in self))


class Part(NamedTuple):
    """A part of a table, and which of its rows and columns these are."""

    table: Table
    rows: Places
    columns: Places


class _Step(NamedTuple):
    """A step of a reduction, to be undone."""

    before: Table
    # For each row and each column, the one after the step that stands for it, or below zero
    row_of: Places
    column_of: Places


class Reduction:
    """A table that is reduced, and the way back."""

    def __init__(self, table: Table) -> None:
        self._steps: list[_Step] = []
        smaller = True
        while smaller:
            merged = self._merge(table)
            table = merged._replace(required=_hardest(merged))
            rows, columns = (np.flatnonzero(table.required.any(axis=axis)) for axis in (1, 0))
            smaller = (rows.size, columns.size) != table.required.shape
            row_of, column_of = (
                _places(kept, length)
                for kept, length in zip((rows, columns), table.required.shape, strict=True)
            )
            self._steps.append(_Step(merged, row_of, column_of))
            table = table.select(rows, columns)
        self.table = table

    def _merge(self, table: Table) -> Table:
        """Let one of several equal lines stand for all of them."""
        row_of, rows = _distinct(pack(table.allowed))
        column_of, columns = _distinct(pack(np.ascontiguousarray(table.allowed.T)))
        if (rows.size, columns.size) == table.allowed.shape:
            return table
        self._steps.append(_Step(table, row_of, column_of))
        required = np.zeros((rows.size, columns.size), dtype=np.bool_)
        i, j = np.nonzero(table.required)
        required[row_of[i], column_of[j]] = True
        return Table(table.select(rows, columns).allowed, required)

    @property
    def parts(self) -> list[Part]:
        """Parts of the reduced table that no biclique connects."""
        n, m = self.table.allowed.shape
        i, j = np.nonzero(self.table.allowed)
        graph = sparse.coo_array((np.ones(i.size, np.int8), (i, n + j)), shape=(n + m, n + m))
        count, part_of = connected_components(graph, directed=False)
        parts = []
        for part in range(count):
            rows, columns = (np.flatnonzero(lines == part) for lines in (part_of[:n], part_of[n:]))
            parts.append(Part(self.table.select(rows, columns), rows, columns))
        return parts

    def restore(self, U: Bools, V: Bools) -> tuple[Bools, Bools]:
        """Extend bicliques that cover the reduced table to ones that cover the table."""
        for before, row_of, column_of in reversed(self._steps):
            rows = pack(_spread(U.T, row_of))
            columns = pack(_spread(V, column_of))
            lines, across = _packed(before.allowed)
            left = extend_bicliques(pack(before.required), rows, columns, lines, across)
            assert left == 0
            n, m = before.allowed.shape
            U, V = unpack(rows, n).T, unpack(columns, m)
        return U, V


def _dense(A: BooleanMatrix, rows: slice | Places) -> Bools:
    return A.to_csr()[rows].toarray().astype(np.bool_)


def _spread(lines: Bools, place_of: Places) -> Bools:
    """Let each line have, at every place, what another place stands for, if any does."""
    spread = np.zeros((lines.shape[0], place_of.size), dtype=np.bool_)
    spread[:, place_of >= 0] = lines[:, place_of[place_of >= 0]]
    return spread


def _hardest(table: Table) -> Bools:
    """Return the ones than which none is harder to cover."""
    lines, across = _packed(table.allowed)
    contained = [np.zeros((n, -(-n // 64)), dtype=np.uint64) for n in table.allowed.shape]
    contained_lines(lines, across, contained[0])
    contained_lines(across, lines, contained[1])
    required = _packed(table.required)
    kept = np.zeros_like(required[0])
    drop_dominated(*required, *contained, kept)
    return unpack(kept, table.required.shape[1])


def _packed(cells: Bools) -> tuple[Words, Words]:
    """Pack cells by rows and by columns."""
    return pack(cells), pack(np.ascontiguousarray(cells.T))


def _distinct(lines: Words) -> tuple[Places, Places]:
    """Return for each line which of the distinct ones it is equal to, and the first of each."""
    _, first, which = np.unique(lines, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return _places(order, order.size)[which.ravel()], first[order]


def _places(kept: Places, length: int) -> Places:
    """Return the place of each line among those that are kept, below zero if it is not."""
    places = np.full(length, -1, dtype=np.intp)
    places[kept] = np.arange(kept.size)
    return places
