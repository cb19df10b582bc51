"""FIMI transaction files: one row per line, the items of the row separated by blanks.

The columns are the items that occur, sorted: by number where all are whole numbers, else as
text. A blank line is a row without items.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np

from elbmf.errors import FileFormatError, InputError
from elbmf.io.format import Format
from elbmf.io.streams import line_blocks, open_bytes
from elbmf.io.table import LabelledMatrix, csr_from_pairs

__all__ = ["FIMI", "ItemCodes", "read_fimi", "sorted_positions", "write_fimi"]

# The bytes at which bytes.split() cuts.
_IS_BLANK = np.zeros(256, dtype=bool)
_IS_BLANK[list(b" \t\n\r\v\f")] = True
_NOT_IN_ITEMS = (",", ";", '"')


def read_fimi(path: Path) -> LabelledMatrix:
    """Read a FIMI file.

    Parameters
    ----------
    path : Path
        The file, gzipped or not.
    """
    codes = ItemCodes(path)
    rows: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    lines = 0
    with open_bytes(path) as stream:
        for block in line_blocks(stream):
            its_rows, its_columns, count = codes.read(block, lines)
            columns.append(its_columns)
            rows.append(its_rows + lines)
            lines += count
    names = codes.names()
    order = sorted_positions(names)
    position_of_code = np.empty(len(order), dtype=np.int64)
    position_of_code[order] = np.arange(len(order))
    row_index = np.concatenate(rows)
    column_index = position_of_code[np.concatenate(columns)]
    values, _ = csr_from_pairs(row_index, column_index, None, (lines, len(names)))
    if set(names) <= {"0", "1"} and values.nnz < row_index.size:
        raise FileFormatError(
            f"{path}: expected lists of items, found only the items 0 and 1, repeated within "
            "lines, as in a table of cells. Read it with format='csv' and delimiter=' '."
        )
    return LabelledMatrix(values, None, [names[code] for code in order])


class ItemCodes:
    """Numbers of items, in the order in which they first come.

    Parameters
    ----------
    path : Path
        The file, for messages.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._codes: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._codes)

    def names(self) -> list[str]:
        """Return the items."""
        return [_decoded(self._path, item) for item in self._codes]

    def read(self, block: bytes, lines: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Take in a block of lines that comes after so many.

        Returns for each item its line in the block and its number, and the number of lines.
        """
        if block.count(b"\r") != block.count(b"\r\n"):
            raise FileFormatError(
                f"{self._path}: found a carriage return that ends no line. Lines must end with a "
                "line feed; convert the file."
            )
        items = block.split()
        codes = self._codes
        fresh = [item for item in dict.fromkeys(items) if item not in codes]
        _check_items(self._path, fresh, block, lines)
        for item in fresh:
            codes[item] = len(codes)
        columns = np.fromiter(map(codes.__getitem__, items), np.int64, len(items))
        return _lines_of_items(block), columns, block.count(b"\n") + (not block.endswith(b"\n"))


def _lines_of_items(block: bytes) -> np.ndarray:
    """Return for each item of a block the number of its line, from 0."""
    characters = np.frombuffer(block, dtype=np.uint8)
    blank = _IS_BLANK[characters]
    begins = ~blank
    begins[1:] &= blank[:-1]
    line_feeds = np.flatnonzero(characters == ord("\n"))
    return np.searchsorted(line_feeds, np.flatnonzero(begins))


def _check_items(path: Path, items: list[bytes], block: bytes, lines: int) -> None:
    for item in items:
        if b"," in item or b";" in item or b'"' in item or b"\0" in item:
            line = 1 + lines + block[: block.index(item)].count(b"\n")
            shown = item[:40].decode("utf-8", "replace")
            raise FileFormatError(
                f"{path}, line {line}: expected items separated by blanks, found {shown!r}, which "
                "looks like a table. Read a table with format='csv'; an item may not contain "
                "commas, semicolons or quotes."
            )
        _decoded(path, item)


def _decoded(path: Path, item: bytes) -> str:
    try:
        return item.decode()
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path}: expected items as text in UTF-8, found the bytes {item[:40]!r}. "
            "If this is a text file, save it as UTF-8."
        ) from error


def sorted_positions(names: list[str]) -> list[int]:
    """Return the order of items: by number where all are whole numbers, else as text."""
    try:
        numbers = [int(name) for name in names]
    except ValueError:
        return sorted(range(len(names)), key=names.__getitem__)
    return sorted(range(len(names)), key=lambda code: (numbers[code], names[code]))


def write_fimi(stream: IO[bytes], table: LabelledMatrix) -> None:
    """Write a FIMI file; row names and columns without entries are left out.

    Parameters
    ----------
    stream : binary stream
        Where to write.
    table : LabelledMatrix
        What to write: only zeros and ones, and column names without blanks.
    """
    values, names = table.values, table.column_labels()
    if not bool(np.all(values.data == 1)):
        raise InputError(
            "a FIMI file says only which entries are 1; the matrix holds other values. "
            "Binarise it first, or write it as mtx, npz or csv."
        )
    for name in names:
        if name.encode().split() != [name.encode()] or any(c in name for c in _NOT_IN_ITEMS):
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
    read=read_fimi,
    write=write_fimi,
    text=True,
    keeps_names=False,
    keeps_missing=False,
)
