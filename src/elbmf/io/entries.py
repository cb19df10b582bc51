"""A matrix as a stream: its entries, block by block, and at the end its shape and names."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elbmf.io.table import LabelledMatrix

__all__ = ["ENTRIES_AT_ONCE", "Ending", "Entries", "EntryStream", "dense_entries", "table_entries"]

ENTRIES_AT_ONCE = 1 << 19
"""Entries that a block has at most, where a format can choose."""


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
    column_order : ndarray of integers, optional
        Where each column of the entries goes; by default, where it is.
    """

    shape: tuple[int, int]
    row_names: Iterable[str] | None = None
    column_names: Iterable[str] | None = None
    column_order: NDArray[np.integer[Any]] | None = None


EntryStream: TypeAlias = Generator[Entries, None, Ending]
"""Yields blocks of entries and returns the ending."""


def dense_entries(block: NDArray[Any], first_row: int) -> Entries:
    """Return the entries of a dense block of rows, of which the first has a given number."""
    rows, columns = np.nonzero(block)
    values = None if block.dtype == np.bool_ else block[rows, columns]
    return Entries(rows + first_row, columns, values, "never")


def table_entries(table: LabelledMatrix) -> EntryStream:
    """Stream a matrix that is in memory."""
    csr = table.values
    for start in range(0, csr.nnz, ENTRIES_AT_ONCE):
        piece = slice(start, min(start + ENTRIES_AT_ONCE, csr.nnz))
        rows = np.searchsorted(csr.indptr, np.arange(piece.start, piece.stop), side="right") - 1
        values = None if csr.dtype == np.bool_ else csr.data[piece]
        yield Entries(rows, csr.indices[piece], values, "never")
    return Ending(table.shape, table.row_names, table.column_names)
