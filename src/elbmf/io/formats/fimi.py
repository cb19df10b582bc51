"""FIMI transaction files: one row per line, the items of the row separated by blanks.

The columns are the items that occur, sorted: by number where all are whole numbers, else as
text. A blank line is a row without items.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.entries import Ending, Entries, EntryStream
from elbmf.io.files import count_lines, line_blocks, open_bytes
from elbmf.io.formats.format import Format
from elbmf.io.table import LabelledMatrix
from elbmf.io.text.naming import NameCodes, Span

__all__ = ["FIMI", "ItemCodes", "sorted_positions", "stream_fimi", "write_fimi"]

# The bytes at which bytes.split() cuts.
_IS_BLANK = np.zeros(256, dtype=bool)
_IS_BLANK[list(b" \t\n\r\v\f")] = True
_NOT_IN_ITEMS = frozenset(',;"\0')


def stream_fimi(path: Path) -> EntryStream:
    """Stream a FIMI file, gzipped or not."""
    codes = ItemCodes(path)
    lines = 0
    repeated = False
    with open_bytes(path) as stream:
        for block in line_blocks(stream):
            rows, columns, count = codes.read(block, lines)
            yield Entries(rows + lines, columns)
            if len(codes) <= 2:
                repeated = repeated or np.unique(2 * rows + columns).size < rows.size
            lines += count
    names = codes.names()
    if set(names) <= {"0", "1"} and repeated:
        raise FileFormatError(
            f"{path}: expected lists of items, found only the items 0 and 1, repeated within "
            "lines, as in a table of cells. Read it with ",
            Setting("format", "csv"),
            " and ",
            Setting("delimiter", " "),
            ".",
        )
    order = sorted_positions(names)
    position_of_code = np.empty(len(order), dtype=np.int64)
    position_of_code[order] = np.arange(len(order))
    return Ending((lines, len(names)), None, [names[code] for code in order], position_of_code)


class ItemCodes:
    """Numbers of items, in the order in which they first come."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._codes = NameCodes(str(path))

    def __len__(self) -> int:
        return len(self._codes)

    def names(self) -> list[str]:
        """Return the items."""
        return self._codes.names

    def read(self, block: bytes, lines: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Take in a block of lines that comes after so many.

        Returns for each item its line in the block and its number, and the number of lines.
        """
        if block.count(b"\r") != block.count(b"\r\n"):
            raise FileFormatError(
                f"{self._path}: found a carriage return that ends no line. Lines must end with a "
                "line feed; convert the file."
            )
        items, rows = _items(block, lines + 1)
        known = len(self._codes)
        try:
            columns = self._codes.codes(items)
        except FileFormatError as error:
            raise FileFormatError(f"{error} Items are expected to be text.") from None
        _check_items(self._path, self._codes.decoded(known, len(self._codes)), block, lines)
        return rows, columns, count_lines(block) + (not block.endswith(b"\n"))


def _items(block: bytes, first_line: int) -> tuple[Span, np.ndarray]:
    """Return the items of a block and for each the number of its line, from 0."""
    characters = np.frombuffer(block, dtype=np.uint8)
    # With a blank before and after, items begin and end where it changes.
    blank = np.concatenate([[True], _IS_BLANK[characters], [True]])
    bounds = np.flatnonzero(blank[1:] != blank[:-1]).reshape(-1, 2)
    line_feeds = np.flatnonzero(characters == ord("\n"))
    return Span(characters, bounds, first_line), np.searchsorted(line_feeds, bounds[:, 0])


def _check_items(path: Path, items: list[str], block: bytes, lines: int) -> None:
    for item in items:
        if not _NOT_IN_ITEMS.isdisjoint(item):
            line = 1 + lines + block[: block.index(item.encode())].count(b"\n")
            raise FileFormatError(
                f"{path}, line {line}: expected items separated by blanks (format fimi), "
                f"found {item[:40]!r}, which looks like a table. Read a table with ",
                Setting("format", "csv"),
                "; an item may not contain commas, semicolons or quotes.",
            )


def sorted_positions(names: list[str]) -> list[int]:
    """Return the order of items: by number where all are whole numbers, else as text."""
    try:
        numbers = [int(name) for name in names]
    except ValueError:
        return sorted(range(len(names)), key=names.__getitem__)
    return sorted(range(len(names)), key=lambda code: (numbers[code], names[code]))


def write_fimi(stream: IO[bytes], table: LabelledMatrix) -> None:
    """Write a FIMI file; row names and columns without entries are left out."""
    values, names = table.values, table.column_labels()
    if not bool(np.all(values.data == 1)):
        raise InputError(
            "a FIMI file says only which entries are 1; the matrix holds other values. "
            "Binarise it first, or write it as mtx, npz or csv."
        )
    for name in names:
        if name.encode().split() != [name.encode()] or not _NOT_IN_ITEMS.isdisjoint(name):
            raise InputError(
                f"the column name {name!r} cannot be an item of a FIMI file, which may not be "
                "empty or contain blanks, commas, semicolons or quotes. Rename it, or write csv."
            )
    if len(set(names)) < len(names):
        raise InputError("column names are repeated, so items would merge. Make them distinct.")
    indices, bounds = values.indices.tolist(), values.indptr.tolist()
    for row in range(table.shape[0]):
        items = [names[index] for index in indices[bounds[row] : bounds[row + 1]]]
        stream.write((" ".join(items) + "\n").encode())


FIMI = Format(
    name="fimi",
    suffixes=(".dat", ".fimi"),
    description="transactions, one list of items per line",
    stream=stream_fimi,
    write=write_fimi,
    text=True,
    keeps_names=False,
    keeps_missing=False,
)
