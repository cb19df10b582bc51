"""A matrix as a stream: its entries, block by block, and at the end its shape and names."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.errors import FileFormatError
from elbmf.io.table import LabelledMatrix, TableError, compact, csr_from_pairs, nonzero

__all__ = [
    "CELLS_AT_ONCE",
    "ENTRIES_AT_ONCE",
    "Ending",
    "Entries",
    "EntryStream",
    "Take",
    "compressed_entries",
    "conflicting_pair",
    "dense_entries",
    "pairs_table",
    "row_slices",
    "stored_entries",
    "table_entries",
    "transposed",
]

ENTRIES_AT_ONCE = 1 << 19
"""Entries that a block has at most, where a format can choose."""

CELLS_AT_ONCE = 4_000_000
"""Cells of a dense block of rows, about."""

Take: TypeAlias = Callable[[int], NDArray[Any]]
"""Returns so many entries of an array that is read from its begin to its end."""


@dataclass(frozen=True)
class Entries:
    """Some entries of a matrix.

    Parameters
    ----------
    rows, columns : ndarray of integers
        Where they are.
    values : ndarray, optional
        What they are, NaN where a cell is missing; ones by default.
    repeated : {"same", "sum", "never"}
        What becomes of an entry that comes several times, also in other blocks: it counts once, and
        different values are an error; its values add up; or that does not happen.
    """

    rows: NDArray[np.integer[Any]]
    columns: NDArray[np.integer[Any]]
    values: NDArray[Any] | None = None
    repeated: Literal["same", "sum", "never"] = "same"

    def transposed(self) -> Entries:
        """Return them with rows and columns exchanged."""
        return Entries(self.columns, self.rows, self.values, self.repeated)


@dataclass(frozen=True)
class Ending:
    """What is known of a matrix when all its entries have come.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns.
    row_names, column_names : iterable of str, optional
        Their names, if there are any.
    column_order, row_order : ndarray of integers, optional
        Where each column or row of the entries goes; by default, where it is.
    """

    shape: tuple[int, int]
    row_names: Iterable[str] | None = None
    column_names: Iterable[str] | None = None
    column_order: NDArray[np.integer[Any]] | None = None
    row_order: NDArray[np.integer[Any]] | None = None

    def transposed(self) -> Ending:
        """Return what is known of the matrix with rows and columns exchanged."""
        names = self.column_names, self.row_names
        return Ending(self.shape[::-1], *names, self.row_order, self.column_order)


EntryStream: TypeAlias = Generator[Entries, None, Ending]
"""Yields blocks of entries and returns the ending."""


def row_slices(rows: int, columns: int) -> Iterator[slice]:
    """Cut the rows of a dense matrix into pieces of about `CELLS_AT_ONCE` cells."""
    step = max(1, CELLS_AT_ONCE // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def dense_entries(block: NDArray[Any], first_row: int) -> Entries:
    """Return the entries of a dense block of rows, of which the first has a given number."""
    rows, columns = nonzero(block)
    values = None if block.dtype == np.bool_ else block[rows, columns]
    return Entries(rows + first_row, columns, values, "never")


def stored_entries(rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any]) -> Entries:
    """Return entries as a sparse matrix stores them, which add up."""
    if values.dtype != np.bool_:
        if values.dtype.kind not in "iuf":
            raise TableError(f"expected boolean or real numbers, got a matrix of {values.dtype}.")
        return Entries(rows, columns, values.astype(np.float64, copy=False), "sum")
    return Entries(rows[values], columns[values], None, "sum")


def compressed_entries(
    indptr: Take, indices: Take, data: Take, shape: tuple[int, int]
) -> Iterator[Entries]:
    """Stream a matrix that is stored by rows, as scipy does.

    The callables return the next entries of the arrays of these names. A ValueError says where the
    arrays do not fit the shape or one another.
    """
    row, start = 0, int(indptr(1)[0])
    if start:
        raise ValueError("indptr does not begin with 0")
    while row < shape[0]:
        ends = indptr(min(ENTRIES_AT_ONCE, shape[0] - row)).astype(np.int64)
        if np.any(np.diff(ends, prepend=start) < 0):
            raise ValueError("indptr is not ascending")
        while start < ends[-1]:
            stop = min(start + ENTRIES_AT_ONCE, int(ends[-1]))
            columns, values = indices(stop - start), data(stop - start)
            if min(columns.size, values.size) < stop - start:
                raise ValueError("there are fewer entries than indptr says")
            if columns.min() < 0 or columns.max() >= shape[1]:
                raise ValueError("an index is outside of the matrix")
            rows = row + np.searchsorted(ends, np.arange(start, stop), side="right")
            yield stored_entries(rows, columns, values)
            start = stop
        row += ends.size


def table_entries(table: LabelledMatrix) -> EntryStream:
    """Stream a matrix that is in memory."""
    csr = table.values
    for start in range(0, csr.nnz, ENTRIES_AT_ONCE):
        piece = slice(start, min(start + ENTRIES_AT_ONCE, csr.nnz))
        rows = np.searchsorted(csr.indptr, np.arange(piece.start, piece.stop), side="right") - 1
        values = None if csr.dtype == np.bool_ else csr.data[piece]
        yield Entries(rows, csr.indices[piece], values, "never")
    return Ending(table.shape, table.row_names, table.column_names)


def transposed(stream: EntryStream) -> EntryStream:
    """Stream a matrix with rows and columns exchanged."""
    with closing(stream):
        while True:
            try:
                block = next(stream)
            except StopIteration as end:
                ending: Ending = end.value
                return ending.transposed()
            yield block.transposed()


def pairs_table(path: Path, stream: EntryStream) -> LabelledMatrix:
    """Return the matrix of a stream of pairs, each of which may come several times."""
    blocks: list[Entries] = []
    while True:
        try:
            blocks.append(next(stream))
        except StopIteration as end:
            ending: Ending = end.value
            break
    rows = np.concatenate([block.rows for block in blocks])
    columns = np.concatenate([block.columns for block in blocks])
    valued = [block.values for block in blocks if block.values is not None]
    blocks.clear()
    if ending.column_order is not None:
        columns = ending.column_order[columns]
    values = np.concatenate(valued) if valued else None
    matrix, conflict = csr_from_pairs(rows, columns, values, ending.shape)
    named = (ending.row_names, ending.column_names)
    names = [None if each is None else list(each) for each in named]
    if conflict is not None:
        row, column = (each[at] for each, at in zip(names, conflict, strict=True) if each)
        raise conflicting_pair(path, row, column)
    matrix = sparse.csr_array((compact(matrix.data), matrix.indices, matrix.indptr), ending.shape)
    return LabelledMatrix(matrix, *names)


def conflicting_pair(path: Path, row: str, column: str) -> FileFormatError:
    """Return the error of a pair that comes with different values."""
    return FileFormatError(
        f"{path}: the pair ({row!r}, {column!r}) comes with different values. Keep one of them."
    )
