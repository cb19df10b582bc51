"""Matrix folders: a 0/1 matrix on disk that can be worked on without being read.

See `elbmf.matrix.on_disk` for what is in them. A whole matrix file becomes such a folder in little
memory with `elbmf.io.to_folder`.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from elbmf.io.entries import ENTRIES_AT_ONCE, Ending, Entries, EntryStream
from elbmf.io.files import writing
from elbmf.io.formats.format import Format
from elbmf.io.table import LabelledMatrix
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import NOTE, DiskMatrix, store

__all__ = [
    "MATRIX_FOLDER",
    "FolderTable",
    "boolean_values",
    "is_matrix_folder",
    "open_folder",
    "stream_folder",
    "write_folder",
]


class FolderTable(LabelledMatrix):
    """A matrix in a folder, and its names; what is not asked for is not read.

    Parameters
    ----------
    stored : DiskMatrix
        The matrix; also an attribute.
    """

    stored: DiskMatrix

    def __init__(self, stored: DiskMatrix) -> None:
        object.__setattr__(self, "stored", stored)

    @cached_property
    def values(self) -> sparse.csr_array:
        """The matrix in memory."""
        return boolean_values(self.stored)

    @cached_property
    def row_names(self) -> list[str] | None:
        """One name per row, if they have names."""
        return self.stored.names(0)

    @cached_property
    def column_names(self) -> list[str] | None:
        """One name per column, if they have names."""
        return self.stored.names(1)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.stored.shape

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return self.stored.n_missing


def boolean_values(A: BooleanMatrix) -> Any:
    """Return a matrix as files hold it: of bool, or with NaN where cells are missing."""
    values = A.to_csr()
    return values if A.missing is None else values + np.nan * A.missing.to_csr(np.float64)


def is_matrix_folder(path: Path) -> bool:
    """Whether a path is a matrix folder, whatever its name."""
    return (path / NOTE).is_file()


def open_folder(path: Path) -> FolderTable:
    """Open a matrix folder."""
    return FolderTable(DiskMatrix(path))


def stream_folder(path: Path) -> EntryStream:
    """Stream a matrix folder."""
    stored = DiskMatrix(path)
    for pattern in filter(None, (stored, stored.missing)):
        for start in range(0, pattern.ones, ENTRIES_AT_ONCE):
            stop = min(start + ENTRIES_AT_ONCE, pattern.ones)
            rows = np.searchsorted(pattern.indptr, np.arange(start, stop), side="right") - 1
            values = None if pattern is stored else np.full(stop - start, np.nan)
            yield Entries(rows, pattern.indices[start:stop], values, "never")
    return Ending(stored.shape, stored.names(0), stored.names(1))


def write_folder(path: Path, table: LabelledMatrix) -> None:
    """Write a matrix of zeros, ones and missing cells; a folder made like this is replaced."""
    A = table.stored if isinstance(table, FolderTable) else BooleanMatrix.from_array(table.values)
    with writing(path):
        store(A, path, table.row_names, table.column_names, overwrite=True)


MATRIX_FOLDER = Format(
    name="folder",
    suffixes=(".matrix",),
    description="folder of a 0/1 matrix for data larger than memory",
    stream=stream_folder,
    write=write_folder,
    opened=open_folder,
    folder=True,
)
