"""From any file to a matrix folder, in little memory.

The entries come as a stream. They are put aside on disk as they come, sorted by rows, written, and
sorted by columns; see `elbmf.io.spill`. What is in memory is the names while the file is read, and
then the entries of some rows or columns.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.binarizers import Binarize, binarizer_of, is_number, learns
from elbmf.errors import InputError
from elbmf.io.chosen import Choice
from elbmf.io.collected import merged
from elbmf.io.entries import (
    Blocks,
    Ending,
    Entries,
    EntryStream,
    conflicting_pair,
    table_entries,
    transposed,
)
from elbmf.io.files import writing
from elbmf.io.formats import format_of
from elbmf.io.read_write import entries_in, read
from elbmf.io.side_tables import names_beside
from elbmf.io.spill import (
    BYTES_PER_ENTRY,
    MOST_LINES,
    Keyed,
    Merge,
    Spill,
    keys_of,
    positions,
    sort_spill,
)
from elbmf.io.table import LabelledMatrix
from elbmf.kernels.patterns import PADDING
from elbmf.matrix.boolean_matrix import BooleanMatrix, tell_ones
from elbmf.matrix.on_disk import DiskMatrix, FolderWriter, array_name
from elbmf.utils.sizes import bytes_of

__all__ = ["DEFAULT_MEMORY", "to_folder"]

SortingObserver: TypeAlias = Callable[[str, int, int], None]
"""Told what is sorted, how many entries are done, and how many there are."""

DEFAULT_MEMORY = "100MB"
"""Memory that a conversion takes beyond that of the program, if nothing is said."""

_LOG = logging.getLogger(__name__)

# Memory for all but sorting, and the least that sorting gets, in bytes.
_BESIDE = 20_000_000
_LEAST = 1 << 14

# Entries and lines that are written at a time.
_ENTRIES = 1 << 18
_LINES = 1 << 20


def to_folder(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    format: str | None = None,
    transpose: bool = False,
    binarize: Binarize = None,
    memory_limit: float | str = DEFAULT_MEMORY,
    progress: SortingObserver | None = None,
    columns: Choice = None,
    drop: Choice = None,
    **options: Any,
) -> DiskMatrix:
    r"""Write a matrix file as a matrix folder, without having the matrix in memory.

    Parameters
    ----------
    source : path-like
        A matrix file of any format.
    target : path-like
        The folder to make; one that was made like this is replaced as a whole or not touched.
    format : str, optional
        Name of the format of the file; by default its suffix decides.
    transpose : bool, default=False
        Whether to exchange rows and columns.
    binarize : float, str or transformer, optional
        Which values are ones, as for the methods. What is learned from all the data, as with
        ``"zscore"``, needs the whole matrix in memory.
    memory_limit : float or str
        Memory to take beyond that of the program itself, in bytes or as ``"100MB"``. Names take
        some 50 bytes each while the file is read, whatever is said here.
    progress : callable, optional
        Called with ``"rows"`` or ``"columns"``, how many entries were sorted by these, and how many
        there are; for how far the file is read see `elbmf.io.files.watching`.
    columns, drop : str or list of str, optional
        Names of columns to read, or to leave out, as for `elbmf.io.read`.
    **options
        Options of the format, see ``Format.read_options``.

    Returns
    -------
    DiskMatrix
        The matrix on disk, with the rows, columns and names that `elbmf.io.read` gives.

    Notes
    -----
    While it is made, the folder needs up to 16 bytes more for each entry of the file, or 32 where
    entries have values. There may be up to 2³² rows and as many columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from elbmf.io import to_folder
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "pairs.tsv").write_text("ann\tmilk\nann\teggs\nbob\tmilk\n")
    >>> A = to_folder(folder / "pairs.tsv", folder / "pairs.matrix", layout="pairs")
    >>> A.shape, A.ones, A.names(1)
    ((2, 2), 3, ['milk', 'eggs'])
    """
    path, folder = Path(source), Path(target)
    chosen = format_of(path, format)
    chosen.check_options(options, action="read")
    limit = bytes_of(memory_limit)
    if is_number(binarize):
        # Refuses thresholds that make ones of zeros.
        BooleanMatrix.from_array(sparse.csr_array((1, 1)), binarize)
    choice = {"columns": columns, "drop": drop} if columns or drop else {}
    # Only tables of text leave columns out on the way.
    learned = learns(binarize)
    whole = learned or not choice.keys() <= chosen.read_options.keys()
    options |= choice
    if whole:
        _LOG.info("%s: the whole matrix is read into memory", path)
    with writing(folder), FolderWriter(folder, overwrite=True) as writer:
        if whole:
            table = read(path, format=format, transpose=transpose, **options)
            stream = table_entries(_binarized(table, binarize, path) if learned else table)
        else:
            stream = entries_in(path, chosen, options)
            stream = transposed(stream) if transpose else stream
        with closing(stream):
            how = None if learned else binarize
            sides = (1, 0) if transpose else (0, 1)
            _Conversion(path, writer, how, limit, progress, sides).run(stream)
    return DiskMatrix(folder)


def _binarized(table: LabelledMatrix, binarize: Any, path: Path) -> LabelledMatrix:
    """Return zeros and ones, where telling them needs the whole matrix."""
    try:
        values = binarizer_of(binarize).fit(table.values).transform(table.values)
    except InputError as error:
        raise InputError(f"{path}: ", *error.parts) from error
    return LabelledMatrix(values, table.row_names, table.column_names)


class _Conversion:
    """Takes a stream of entries and writes a folder, with so many bytes of memory for sorting."""

    def __init__(
        self,
        path: Path,
        writer: FolderWriter,
        binarize: Any,
        limit: int,
        progress: SortingObserver | None,
        sides: tuple[int, int],  # Which of the file are rows and columns
    ) -> None:
        self._path = path
        self._progress, self._sides = progress, sides
        self._writer = writer
        self._binarize = binarize
        self._limit = limit
        self._aside = writer.part / "aside"
        self._repeated = "never"

    def run(self, stream: EntryStream) -> None:
        """Read, sort and write."""
        self._aside.mkdir()
        entries = Spill(self._aside / "entries")
        ending = self._put_aside(stream, entries)
        n, m = ending.shape
        if 0 in (n, m):
            raise InputError(f"{self._path}: the matrix is empty: {n}×{m} cells.")
        for axis, names in enumerate((ending.row_names, ending.column_names)):
            count, side = ending.shape[axis], self._sides[axis]
            beside = names_beside(self._path, side, count) if names is None else names
            self._writer.names(axis, beside)
        orders = ending.row_order, ending.column_order
        # The names, which may be many, are on disk now.
        del ending
        by_columns = {missing: Spill(self._aside / f"columns {missing}") for missing in (0, 1)}
        rows = {missing: _Side(self._writer, 0, (n, m), bool(missing)) for missing in (0, 1)}
        moved = None if all(each is None for each in orders) else partial(_with_lines, orders)
        for keys, values in self._sorted("rows", entries, n, self._merged, moved):
            for start in range(0, keys.size, _ENTRIES):
                piece = slice(start, start + _ENTRIES)
                for missing, some in enumerate(self._told(keys[piece], values[piece])):
                    rows[missing].write(some)
                    by_columns[missing].append(_transposed(some))
            del keys, values
        for missing, spill in by_columns.items():
            rows[missing].finish()
            columns = _Side(self._writer, 1, (n, m), bool(missing))
            for keys, _ in self._sorted("columns", spill, m, lambda entries: entries):
                for start in range(0, keys.size, _ENTRIES):
                    columns.write(keys[start : start + _ENTRIES])
                del keys
            columns.finish()
        shutil.rmtree(self._aside)
        self._writer.note((n, m), rows[0].total, rows[1].total)

    def _sorted(
        self, what: str, spill: Spill, lines: int, merge: Merge, moved: Any = None
    ) -> Iterator[Keyed]:
        """Sort what was put aside."""
        capacity = max(_LEAST, (self._limit - _BESIDE) // BYTES_PER_ENTRY[spill.valued])
        done, total = 0, spill.count
        for entries in sort_spill(spill, lines, capacity, merge, moved):
            done += entries[0].size
            if self._progress is not None and total:
                self._progress(what, done, total)
            yield entries
            del entries

    def _put_aside(self, stream: EntryStream, spill: Spill) -> Ending:
        for block in (blocks := Blocks(stream)):
            if block.rows.size:
                self._check_range(block)
                self._repeated = block.repeated
                spill.append(*self._keyed(block))
        return blocks.ending

    def _check_range(self, block: Entries) -> None:
        last = max(int(block.rows.max()), int(block.columns.max()))
        if last >= MOST_LINES:
            raise InputError(
                f"{self._path}: a matrix folder has at most {MOST_LINES} rows and as many "
                f"columns, found number {last}. Number rows and columns without gaps."
            )

    def _keyed(self, block: Entries) -> tuple[NDArray[np.uint64], NDArray[np.float64] | None]:
        """Return what to put aside of entries; raises where values cannot be right."""
        keys = keys_of(block.rows, block.columns)
        if block.values is None:
            above = not is_number(self._binarize) or self._binarize < 1
            return keys if above else keys[:0], None
        if block.repeated == "sum":
            return keys, block.values.astype(np.float64, copy=False)
        ones, missing = self._tell(block.values, block.rows, block.columns)
        if block.repeated == "same":
            return keys, block.values.astype(np.float64, copy=False)
        if not missing.any():
            return keys[ones], None
        kept = ones | missing
        return keys[kept], np.where(missing, np.nan, 1.0)[kept]

    def _tell(
        self, values: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell which entries are ones and which are missing."""
        # Of the words that need no more than an entry, both have 0 for a threshold.
        threshold = 0.0 if isinstance(self._binarize, str) else self._binarize
        try:
            ones, missing = tell_ones(values, threshold, rows, columns)
        except InputError as error:
            raise InputError(f"{self._path}: ", *error.parts) from error
        if self._binarize == "nonzero":
            ones = (values != 0) & ~missing
        return ones, missing

    def _told(
        self, keys: NDArray[np.uint64], values: NDArray[np.float64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the keys of the ones and of the missing cells."""
        if not values.size:
            return keys, keys[:0]
        if self._repeated == "never":
            missing = np.isnan(values)
            return keys[~missing], keys[missing]
        ones, missing = self._tell(values, *positions(keys))
        return keys[ones], keys[missing]

    def _merged(self, entries: Keyed) -> Keyed:
        """Make one of repeated entries."""
        keys, values = entries
        first = np.ones(keys.size, dtype=np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=first[1:])
        if first.all():
            return entries
        if not values.size:
            return keys[first], values
        values, conflict = merged(values, first, self._repeated)
        if conflict is not None:
            row, column = (int(at[0]) for at in positions(keys[conflict : conflict + 1]))
            raise conflicting_pair(self._path, self._name(0, row), self._name(1, column))
        return keys[first], values

    def _name(self, side: int, line: int) -> str:
        names = self._writer.written_names(side)
        return str(line) if names is None else next(islice(names, line, None))


class _Side:
    """Writes the ones, or the missing cells, as they come in order, and counts them in ``total``.

    By rows where ``side`` is 0, by columns where it is 1.
    """

    def __init__(
        self, writer: FolderWriter, side: int, shape: tuple[int, int], missing: bool
    ) -> None:
        self.total = 0
        self._writer = writer
        self._side, self._missing = side, missing
        self._lines, self._length = shape[side], shape[1 - side]
        self._line = -1  # the last whose start is written
        if not missing:
            self._begin()

    def _begin(self) -> None:
        names = (array_name(self._side, what, missing=self._missing) for what in ("starts", "ones"))
        self._starts = self._writer.array(next(names), np.int64, self._lines + 1)
        self._ones = self._writer.array(next(names), BooleanMatrix.index_type(self._length))

    def write(self, keys: NDArray[np.uint64]) -> None:
        """Append ones, by their keys."""
        if keys.size and not self.total and self._missing:
            self._begin()
        lines, others = positions(keys)
        at = 0
        while at < keys.size:
            first = int(lines[at])
            stop = at + int(np.searchsorted(lines[at:], first + _LINES))
            self._start_lines(first)
            counts = np.bincount(lines[at:stop] - first)
            self._starts.write(self.total + np.cumsum(counts)[:-1])
            self._line = first + counts.size - 1
            self.total += stop - at
            at = stop
        if keys.size:
            self._ones.write(others)

    def finish(self) -> None:
        """Write what ends the arrays."""
        if self.total or not self._missing:
            self._start_lines(self._lines)
            self._ones.write(np.zeros(PADDING))

    def _start_lines(self, last: int) -> None:
        """Let all lines up to one start here."""
        while self._line < last:
            count = min(_LINES, last - self._line)
            self._starts.write(np.full(count, self.total))
            self._line += count


def _with_lines(
    orders: tuple[NDArray[Any] | None, NDArray[Any] | None], keys: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    lines = zip(orders, positions(keys), strict=True)
    return keys_of(*(some if order is None else order[some] for order, some in lines))


def _transposed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    half = np.uint64(32)
    return (keys << half) | (keys >> half)
