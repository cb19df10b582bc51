"""Files of RMPlib, the library of role mining problems: a user per line, then their permissions.

Fields are separated by tabs, and empty ones count for nothing: in some files lines end in a tab.
Lines that begin with ``#`` are remarks and are left out, as are blank ones. A user without
permissions is a row of zeros, and one who comes in several lines has the permissions of all of
them. Rows and columns come in the order in which they first appear.
"""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.entries import Ending, Entries, EntryStream
from elbmf.io.files import count_lines, line_blocks, open_bytes
from elbmf.io.formats.delimited_pairs import check_pair_names
from elbmf.io.formats.format import Format
from elbmf.io.table import LabelledMatrix
from elbmf.io.text.naming import NameCodes, Span

__all__ = ["RMP", "stream_rmp", "write_rmp"]

_TAB, _LINE_FEED, _RETURN, _REMARK = b"\t\n\r#"
# The bytes that bytes.strip() removes.
_IS_BLANK = np.zeros(256, dtype=bool)
_IS_BLANK[list(b" \t\n\r\v\f")] = True
_NOT_IN_NAMES = frozenset("\t\n\r\0")
# How a user's name may not begin: some files of RMPlib begin with a byte order mark.
_NOT_FIRST = ("#", "\ufeff")


def stream_rmp(path: Path) -> EntryStream:
    """Stream a file of RMPlib, gzipped or not."""
    users, permissions = NameCodes(str(path)), NameCodes(str(path))
    lines = 0
    with open_bytes(path) as stream:
        for block in line_blocks(stream):
            text = block if lines else block.removeprefix(codecs.BOM_UTF8)
            yield _entries(path, text, lines + 1, users, permissions)
            lines += count_lines(block)
    if not len(permissions):
        raise FileFormatError(
            f"{path}: expected a user in each line and after it the permissions, separated by tabs "
            "(format rmp), found no permission in any line. If it is a table or a list of pairs, "
            "read it with ",
            Setting("format", "csv"),
            ".",
        )
    return Ending((len(users), len(permissions)), users, permissions)


def _entries(
    path: Path, block: bytes, first_line: int, users: NameCodes, permissions: NameCodes
) -> Entries:
    """Return the entries of a block of lines, and number the names in it."""
    if block.count(b"\r") != block.count(b"\r\n"):
        raise FileFormatError(
            f"{path}: found a carriage return that ends no line. Lines must end with a line feed; "
            "convert the file."
        )
    characters = np.frombuffer(block if block.endswith(b"\n") else block + b"\n", dtype=np.uint8)
    bounds, opens = _fields(characters)
    line = np.cumsum(opens) - 1
    filled = bounds[:, 0] < bounds[:, 1]
    starts = bounds[opens, 0]
    blank = ~np.logical_or.reduceat(~_IS_BLANK[characters], starts)
    left_out = blank | (characters[starts] == _REMARK)
    kept = ~left_out[line]
    named, granted = Span(characters, bounds[opens & kept], first_line), ~opens & kept & filled
    if named.empty.any():
        at = named.line_of(int(np.argmax(named.empty)))
        raise FileFormatError(
            f"{path}, line {at}: expected a user and after it the permissions, separated by tabs "
            "(format rmp), found a tab at the start of the line. Fill in the user, or remove the "
            "line."
        )
    row_of_line = np.full(left_out.size, -1, dtype=np.int64)
    row_of_line[~left_out] = users.codes(named)
    columns = permissions.codes(Span(characters, bounds[granted], first_line))
    return Entries(row_of_line[line[granted]], columns)


def _fields(characters: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return where the fields of whole lines begin and end, and which of them open a line."""
    ends = np.flatnonzero((characters == _TAB) | (characters == _LINE_FEED))
    begins = np.concatenate([[0], ends[:-1] + 1])
    opens = np.concatenate([[True], characters[ends[:-1]] == _LINE_FEED])
    # A carriage return is no part of the field that it ends.
    returned = (ends > begins) & (characters[ends - 1] == _RETURN)
    return np.column_stack([begins, ends - returned]), opens


def write_rmp(stream: IO[bytes], table: LabelledMatrix) -> None:
    """Write a file of RMPlib; columns without entries are left out."""
    values, users, permissions = table.values, table.row_labels(), table.column_labels()
    if not bool(np.all(values.data == 1)):
        raise InputError(
            "an rmp file says only which entries are 1; the matrix holds other values. "
            "Binarise it first, or write it as mtx, npz or csv."
        )
    check_pair_names(table, "users and permissions")
    for name in (*users, *permissions):
        if not _NOT_IN_NAMES.isdisjoint(name):
            raise InputError(
                f"the name {name!r} cannot be in an rmp file, whose fields may not contain tabs or "
                "line ends. Rename it, or write csv."
            )
    for name in users:
        if name.startswith(_NOT_FIRST) or not name.encode().strip():
            raise InputError(
                f"the row name {name!r} cannot be a user of an rmp file, which may not be blank or "
                "begin with '#', as remarks do, or a byte order mark. Rename it, or write csv."
            )
    indices, bounds = values.indices.tolist(), values.indptr.tolist()
    for row, user in enumerate(users):
        granted = (permissions[index] for index in indices[bounds[row] : bounds[row + 1]])
        stream.write(("\t".join([user, *granted]) + "\n").encode())


RMP = Format(
    name="rmp",
    suffixes=(".rmp",),
    description="users and their permissions, a user per line (RMPlib)",
    stream=stream_rmp,
    write=write_rmp,
    text=True,
    keeps_names=False,
    keeps_missing=False,
)
