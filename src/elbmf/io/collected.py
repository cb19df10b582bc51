"""A stream of entries as one matrix in memory.

Rows that come in order, as in most files, are counted, and ones are not kept as values: of a file
of zeros and ones the columns alone take memory.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.io.entries import Blocks, Entries, EntryStream, conflicting_pair
from elbmf.io.table import LabelledMatrix, compact

__all__ = ["collected", "merged"]

_INT32_MAX = np.iinfo(np.int32).max
# Beyond, not every whole number is a float.
_EXACT_WHOLE = 2.0**53


def collected(path: Path, stream: EntryStream) -> LabelledMatrix:
    """Return the matrix of a stream that is of a file.

    Entries that come several times become one as they say, see `Entries`.
    """
    rows, columns, values = _Lines(), _Lines(), _Values()
    repeated = "never"
    with closing(stream):
        for block in (blocks := Blocks(stream)):
            block = _without_zeros(block)
            values.append(block.values, block.rows.size)
            if block.rows.size:
                repeated = block.repeated
                rows.append(block.rows)
                columns.append(block.columns)
            del block
    ending = blocks.ending
    rows.move(ending.row_order)
    columns.move(ending.column_order)
    matrix = _csr(rows, columns, values, ending.shape)
    named = (ending.row_names, ending.column_names)
    names = [None if each is None else list(each) for each in named]
    if not matrix.has_canonical_format:
        matrix, conflict = _merged(matrix, repeated)
        if conflict is not None:
            row, column = (
                str(at) if each is None else each[at]
                for each, at in zip(names, conflict, strict=True)
            )
            raise conflicting_pair(path, row, column)
    if ending.untyped:
        data = compact(matrix.data)
        matrix = sparse.csr_array((data, matrix.indices, matrix.indptr), ending.shape)
    return LabelledMatrix(matrix, *names)


def _without_zeros(block: Entries) -> Entries:
    """Leave zeros out, unless an entry that comes again has to have the same value."""
    if block.values is None or block.repeated == "same":
        return block
    kept = block.values != 0
    if kept.all():
        return block
    return Entries(block.rows[kept], block.columns[kept], block.values[kept], block.repeated)


class _Growing:
    """An array that grows at its end, and is never there twice."""

    def __init__(self, array: NDArray[Any] | None = None) -> None:
        self._array = np.empty(0, np.int8) if array is None else array
        self.size = self._array.size

    def append(self, piece: NDArray[Any]) -> None:
        dtype = np.promote_types(self._array.dtype, piece.dtype) if self.size else piece.dtype
        if self._array.dtype != dtype.newbyteorder("="):
            self._array = self._array[: self.size].astype(dtype.newbyteorder("="))
        end = self.size + piece.size
        if end > self._array.size:
            # Numpy moves large arrays without a copy. No one else has this one.
            self._array.resize(end + end // 16, refcheck=False)
        self._array[self.size : end] = piece
        self.size = end

    def whole(self) -> NDArray[Any]:
        """Return the array; nothing can be appended after that."""
        if self._array.size != self.size:
            self._array.resize(self.size, refcheck=False)
        return self._array


class _Lines:
    """The rows or the columns of entries: as long as they ascend, how often each comes."""

    def __init__(self) -> None:
        self.ordered = True
        self._numbers, self._counts = _Growing(), _Growing()
        self._last = -1

    def append(self, numbers: NDArray[Any]) -> None:
        if numbers.dtype.itemsize > np.int32().itemsize and numbers.max() <= _INT32_MAX:
            numbers = numbers.astype(np.int32)
        if self.ordered:
            if numbers[0] >= self._last and not (numbers[1:] < numbers[:-1]).any():
                starts = np.concatenate([[0], np.flatnonzero(numbers[1:] != numbers[:-1]) + 1])
                self._numbers.append(numbers[starts])
                self._counts.append(np.diff(starts, append=numbers.size).astype(np.int32))
                self._last = numbers[-1]
                return
            self._spread()
        self._numbers.append(numbers)

    def move(self, order: NDArray[Any] | None) -> None:
        """Put each number where an order says."""
        if order is not None and self._numbers.size:
            self._spread()
            order = order.astype(np.int32 if order.size <= _INT32_MAX else np.int64)
            self._numbers = _Growing(order[self._numbers.whole()])

    def _spread(self) -> None:
        if self.ordered:
            counted = self._numbers.whole(), self._counts.whole()
            self._numbers = _Growing(np.repeat(*counted) if self._numbers.size else None)
            self._counts = _Growing()
            self.ordered = False

    def numbers(self) -> NDArray[Any]:
        """Return those of all entries."""
        self._spread()
        return self._numbers.whole()

    def starts(self, lines: int) -> NDArray[Any]:
        """Return where each line starts, and the last ends, of numbers that ascend."""
        counts = self._counts.whole()
        total = int(counts.sum(dtype=np.int64))
        starts = np.zeros(lines + 1, dtype=np.int32 if total <= _INT32_MAX else np.int64)
        np.add.at(starts, self._numbers.whole().astype(np.int64) + 1, counts)
        return np.cumsum(starts, out=starts)


class _Values:
    """The values of entries; while all are ones, only how many there are."""

    def __init__(self) -> None:
        self._count = 0
        self._type: np.dtype[Any] | None = None
        self._array: _Growing | None = None

    def append(self, values: NDArray[Any] | None, count: int) -> None:
        added = np.dtype(bool) if values is None else values.dtype.newbyteorder("=")
        self._type = np.promote_types(added if self._type is None else self._type, added)
        ones = values is None or bool((values == 1).all())
        if self._array is None and not ones:
            self._array = _Growing(np.ones(self._count, self._type))
        if self._array is not None:
            self._array.append(np.ones(count, dtype=bool) if values is None else values)
        self._count += count

    def whole(self) -> NDArray[Any]:
        kind = np.dtype(bool) if self._type is None else self._type
        if self._array is None:
            return np.ones(self._count, kind)
        return self._array.whole().astype(kind, copy=False)


def _csr(rows: _Lines, columns: _Lines, values: _Values, shape: tuple[int, int]) -> Any:
    """Return a matrix whose entries are in order, those that come several times beside each other.

    Among themselves, these stay in the order in which they came.
    """
    if rows.ordered:
        starts = rows.starts(shape[0])
        matrix = sparse.csr_array((values.whole(), columns.numbers(), starts), shape)
        matrix.sort_indices()
        return matrix
    if columns.ordered:
        starts = columns.starts(shape[1])
        return sparse.csc_array((values.whole(), rows.numbers(), starts), shape).tocsr()
    entries = sparse.coo_array((values.whole(), (rows.numbers(), columns.numbers())), shape)
    # Else they would be added up here, in numbers that may be too narrow.
    entries.has_canonical_format = True
    return entries.tocsc().tocsr()


def _merged(matrix: Any, repeated: str) -> tuple[Any, tuple[int, int] | None]:
    """Make one of entries that come several times; also tell of one that cannot be."""
    indices, indptr = matrix.indices, matrix.indptr
    first = np.ones(indices.size, dtype=np.bool_)
    np.not_equal(indices[1:], indices[:-1], out=first[1:])
    first[indptr[:-1][indptr[:-1] < indices.size]] = True
    data, conflict = merged(matrix.data, first, repeated)
    if conflict is not None:
        row = int(np.searchsorted(indptr, conflict, side="right")) - 1
        return matrix, (row, int(indices[conflict]))
    before = np.concatenate([[0], np.cumsum(first)])
    parts = data, indices[first], before[indptr].astype(indptr.dtype)
    return sparse.csr_array(parts, matrix.shape), None


def merged(
    values: NDArray[Any], first: NDArray[np.bool_], repeated: str
) -> tuple[NDArray[Any], int | None]:
    """Make one of values that come several times, in memory as on disk.

    Parameters
    ----------
    values : ndarray
        Those that are of one place are beside each other.
    first : ndarray of bool
        Which of them are the first of their place.
    repeated : str
        As of `Entries`.

    Returns
    -------
    values : ndarray
        One for each place. Sums are as wide as they have to be.
    conflict : int or None
        A value that differs from the one before it, of the same place, and may not.
    """
    if repeated == "same":
        again = np.flatnonzero(~first)
        before, after = values[again - 1], values[again]
        differing = (before != after) & ~(np.isnan(before) & np.isnan(after))
        conflict = int(again[np.argmax(differing)]) if differing.any() else None
        return values[first], conflict
    if values.dtype == np.bool_:
        return values[first], None
    sums = np.add.reduceat(values.astype(np.float64), np.flatnonzero(first))
    exact = values.dtype.kind in "iu" and bool(np.all(np.abs(sums) < _EXACT_WHOLE))
    return (sums.astype(np.int64) if exact else sums), None
