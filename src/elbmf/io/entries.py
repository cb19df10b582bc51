"""A matrix as a stream: its entries, block by block, and at the end its shape and names."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError, InputError
from elbmf.io.names import NAME_FIELDS, check_names
from elbmf.io.table import LabelledMatrix, TableError, check_count, nonzero

__all__ = [
    "CELLS_AT_ONCE",
    "ENTRIES_AT_ONCE",
    "Blocks",
    "Ending",
    "Entries",
    "EntryStream",
    "Stored",
    "check_announced",
    "check_indices",
    "check_lengths",
    "check_numbers",
    "check_places",
    "compressed_entries",
    "conflicting_pair",
    "dense_entries",
    "row_slices",
    "stored_entries",
    "table_entries",
    "transposed",
]

Y = TypeVar("Y")
R = TypeVar("R")

ENTRIES_AT_ONCE = 1 << 19
"""Entries that a block has at most, where a format can choose."""

CELLS_AT_ONCE = 4_000_000
"""Cells of a dense block of rows, about."""

_MOST_LINES = 1 << 32
# What may be announced in any file, and how much for each byte of it. A row or column of which
# nothing but the header tells takes 8 bytes of a matrix folder all the same: so a header makes at
# most 8 MB, or 32 bytes for each of the file, on either side. A million entries in random places
# are some 4 MB of npz, which may lie in 16 million columns. Lines that the file has something of,
# such as where they start, may be so much alike that a compressed file has many to a byte.
_TOLD = 1 << 20, 4
_BACKED = 1 << 24, 16
# Nothing that zlib compressed is more than so many times as long.
_DATA = 1 << 28, 1032


def check_announced(
    path: Path,
    shape: Sequence[int],
    *,
    told: tuple[bool, bool] = (True, True),
    data: int = 0,
) -> None:
    """Raise where a file announces more than its length can back, before anything is made of it.

    Parameters
    ----------
    path : Path
        The file.
    shape : (int, int)
        Rows and columns.
    told : (bool, bool)
        Whether nothing but the header tells how many of each there are: no names, and no data.
    data : int
        Bytes that the header says the entries or cells have at least, once decompressed.
    """
    if len(shape) != 2 or min(shape) < 0:
        raise FileFormatError(
            f"{path}: expected the numbers of rows and columns, found {tuple(shape)}. Write or "
            "copy the file again."
        )
    size = path.stat().st_size
    lines = [min(_MOST_LINES, _limit(size, *(_TOLD if only else _BACKED))) for only in told]
    for what, found, most in (
        ("rows", shape[0], lines[0]),
        ("columns", shape[1], lines[1]),
        ("bytes of entries", data, _limit(size, *_DATA)),
    ):
        if found > most:
            raise FileFormatError(
                f"{path}: announces {found} {what}; a file of {size} bytes can back at most "
                f"{most}. Copy the file again, or leave out rows and columns without entries."
            )


def _limit(size: int, least: int, times: int) -> int:
    return max(least, times * size)


@dataclass(frozen=True)
class Stored:
    """An array that is read from its begin to its end.

    Parameters
    ----------
    read : callable
        Returns so many of the numbers that come next.
    size : int
        How many there are, as is said.
    dtype : dtype
        Of what type.
    """

    read: Callable[[int], NDArray[Any]]
    size: int
    dtype: np.dtype[Any]

    def take(self, count: int) -> NDArray[Any]:
        """Return the numbers that come next."""
        taken = self.read(count)
        if taken.size < count:
            raise ValueError("an array has fewer numbers than its header says")
        return taken


@dataclass(frozen=True)
class Entries:
    """Some entries of a matrix.

    Parameters
    ----------
    rows, columns : ndarray of integers
        Where they are.
    values : ndarray, optional
        What they are, NaN where a cell is missing; ones (True) by default. The matrix in memory
        gets their type.
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
    untyped : bool
        Whether numbers have no type in the file, as in text, and get the narrowest that holds all.
    """

    shape: tuple[int, int]
    row_names: Iterable[str] | None = None
    column_names: Iterable[str] | None = None
    column_order: NDArray[np.integer[Any]] | None = None
    row_order: NDArray[np.integer[Any]] | None = None
    untyped: bool = False

    def transposed(self) -> Ending:
        """Return what is known of the matrix with rows and columns exchanged."""
        names = self.column_names, self.row_names
        orders = self.row_order, self.column_order
        return Ending(self.shape[::-1], *names, *orders, self.untyped)

    def check_names(self) -> None:
        """Raise where there is not one name for each row and column, or one is no text."""
        for field, names, lines in zip(
            NAME_FIELDS, (self.row_names, self.column_names), self.shape, strict=True
        ):
            if isinstance(names, Sized):
                check_count(len(names), field, lines)
            if isinstance(names, list):  # Others are of text.
                try:
                    check_names(names, field, without="\0")
                except InputError as error:
                    raise TableError(*error.parts) from None


EntryStream: TypeAlias = Generator[Entries, None, Ending]
"""Yields blocks of entries and returns the ending."""


class Blocks(Generic[Y, R]):
    """What a generator yields, to go through once; ``ending`` is then what it has returned."""

    ending: R

    def __init__(self, stream: Generator[Y, None, R]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[Y]:
        self.ending = yield from self._stream


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
        return Entries(rows, columns, values, "sum")
    if values.all():
        return Entries(rows, columns, None, "sum")
    return Entries(rows[values], columns[values], None, "sum")


def check_numbers(dtype: np.dtype[Any]) -> None:
    """Raise where values of some type make no matrix."""
    if dtype.hasobject:
        raise TableError(
            "expected numbers, found Python objects, which are never unpickled because that can "
            "run code. Save the array with a dtype of bool, int or float."
        )
    if dtype.kind not in "biuf":
        raise TableError(
            f"expected boolean or real numbers, got a matrix of type {dtype}. Convert it to bool, "
            "int or float first."
        )


def check_places(numbers: NDArray[Any], length: int, what: str) -> None:
    """Raise where rows or columns are not below some number."""
    if numbers.size and (numbers.min() < 0 or numbers.max() >= length):
        bad = numbers[np.argmax((numbers < 0) | (numbers >= length))]
        raise ValueError(f"expected entries in {what}s from 0 to {length - 1}, found {what} {bad}")


def check_indices(**arrays: Any) -> None:
    """Raise where arrays are no whole numbers, by their names."""
    for name, array in arrays.items():
        if array.dtype.kind not in "iu":
            raise ValueError(f"expected whole numbers in {name}, found the type {array.dtype}")


def check_lengths(**arrays: Any) -> None:
    """Raise where arrays are not equally long, by their names."""
    if len({array.size for array in arrays.values()}) > 1:
        found = ", ".join(f"{array.size} in {name}" for name, array in arrays.items())
        raise ValueError(f"expected arrays of one length, found {found}")


def compressed_entries(
    arrays: Iterable[Stored], shape: tuple[int, int], *, by_columns: bool = False
) -> Iterator[Entries]:
    """Stream a matrix that is stored by rows or by columns, as scipy does.

    The arrays are ``indptr``, ``indices`` and ``data``. A ValueError says where they do not fit the
    shape or one another.
    """
    indptr, indices, data = arrays
    check_numbers(data.dtype)
    check_indices(indptr=indptr, indices=indices)
    check_lengths(indices=indices, data=data)
    lines, length = shape[::-1] if by_columns else shape
    if indptr.size != lines + 1:
        raise ValueError(f"expected {lines + 1} numbers in indptr, found {indptr.size}")
    if not data.size:
        # So that the matrix in memory is of their type, too.
        yield stored_entries(indices.take(0), indices.take(0), data.take(0))
    narrow = np.int32 if lines <= np.iinfo(np.int32).max else np.int64
    line, start = 0, int(indptr.take(1)[0])
    if start:
        raise ValueError(f"expected indptr to begin with 0, found {start}")
    while line < lines:
        ends = indptr.take(min(ENTRIES_AT_ONCE, lines - line)).astype(np.int64)
        if np.any(np.diff(ends, prepend=start) < 0):
            raise ValueError("expected indptr to ascend, found a number below the one before it")
        if ends[-1] > data.size:
            raise ValueError(f"expected {ends[-1]} entries, as indptr says, found {data.size}")
        while start < ends[-1]:
            stop = min(start + ENTRIES_AT_ONCE, int(ends[-1]))
            others, values = indices.take(stop - start), data.take(stop - start)
            check_places(others, length, "row" if by_columns else "column")
            first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
            bounds = np.concatenate([[start], ends[first:last], [stop]])
            own = np.arange(line + first, line + last + 1, dtype=narrow).repeat(np.diff(bounds))
            entries = stored_entries(own, others, values)
            yield entries.transposed() if by_columns else entries
            start = stop
        line += ends.size


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
    blocks = Blocks(stream)
    with closing(stream):
        for block in blocks:
            yield block.transposed()
    return blocks.ending.transposed()


def conflicting_pair(path: Path, row: str, column: str) -> FileFormatError:
    """Return the error of a pair that comes with different values."""
    return FileFormatError(
        f"{path}: the pair ({row!r}, {column!r}) comes with different values. Keep one of them."
    )
