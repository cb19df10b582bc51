"""The tables of PatentsView, read in blocks."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbmf.datasets.sources.published import open_published, shown, text_of
from elbmf.errors import FileFormatError
from elbmf.io.streams import line_blocks
from elbmf.kernels.fields import locate_fields
from elbmf.kernels.patents import NUMBER_BITS, patent_keys, symbol_codes

__all__ = ["ClassifiedPatents", "classified_patents", "table_blocks"]

_GROUP_BITS = 16
_SEQUENCE_BITS = 8

Columns = Mapping[str, tuple[tuple[str, ...], str]]
"""From a name to the names that such a column can have in the header, and what it is."""


@dataclass(frozen=True)
class TableBlock:
    """Some lines of a table, and where the wanted fields are.

    Parameters
    ----------
    path : Path
        The table, for messages.
    first_line : int
        Where in the table the block begins.
    text : ndarray of uint8
        The lines.
    places : dict of str to ndarray, of shape (lines, 2)
        Where each line has the start and the end of each column.
    """

    path: Path
    first_line: int
    text: NDArray[np.uint8]
    places: dict[str, NDArray[np.int64]]

    def keys(self, column: str) -> NDArray[np.int64]:
        """Return the patents of a column, −1 where there is none."""
        places = self.places[column]
        keys = np.empty(len(places), dtype=np.int64)
        patent_keys(self.text, places, keys)
        return keys

    def refuse(self, column: str, row: int, expected: str) -> FileFormatError:
        """Return an error that tells what is wrong with a field."""
        start, end = self.places[column][row].tolist()
        line = self.first_line + int(np.count_nonzero(self.text[:start] == ord("\n")))
        return FileFormatError(
            f"{self.path}, line {line}, the {column}: expected {expected}, found "
            f"{shown(self.text[start:end].tobytes())}. The file is damaged or not of PatentsView; "
            "download it again."
        )


def table_blocks(path: Path, columns: Columns) -> Iterator[TableBlock]:
    """Read a table with a header, fields separated by tabs, in quotes or not.

    Parameters
    ----------
    path : Path
        The table; zip and gzip are undone on the way.
    columns : mapping
        The columns that are wanted.
    """
    line = 1
    wanted: dict[str, int] = {}
    fields = 0
    with open_published(path) as stream:
        for raw in line_blocks(stream, quoting=True):
            first_line, block = line, raw
            if not fields:
                first, _, block = raw.removeprefix(codecs.BOM_UTF8).partition(b"\n")
                header = _header(path, first)
                fields, wanted = len(header), _wanted(path, header, columns)
                first_line = 2
            block = block.rstrip(b"\r\n")
            line_ends = raw.count(b"\n")
            line += line_ends
            if block:
                places = np.empty((line_ends + 1, len(wanted), 2), dtype=np.int64)
                yield _located(path, first_line, block, fields, wanted, places)
    if not fields:
        raise FileFormatError(f"{path}: the file is empty, expected a table with a header.")


def _header(path: Path, line: bytes) -> list[str]:
    text = text_of(path, 1, line.rstrip(b"\r"))
    return [name.strip() for name in next(csv.reader([text], delimiter="\t"), [])]


def _wanted(path: Path, header: list[str], columns: Columns) -> dict[str, int]:
    """Return the number of each wanted column, in the order of the table."""
    places = {}
    for column, (names, meaning) in columns.items():
        found = [header.index(name) for name in names if name in header]
        if not found:
            raise FileFormatError(
                f"{path}, line 1: expected {meaning} in a column called "
                f"{' or '.join(map(repr, names))}, separated by tabs, found the columns "
                f"{shown(', '.join(header))}. Name the table that PatentsView publishes."
            )
        places[column] = found[0]
    return dict(sorted(places.items(), key=lambda item: item[1]))


def _located(
    path: Path, line: int, block: bytes, fields: int, wanted: dict[str, int], places: NDArray
) -> TableBlock:
    text = np.frombuffer(block, dtype=np.uint8)
    numbers = np.array(list(wanted.values()), dtype=np.int64)
    lines, bad, found = locate_fields(text, ord("\t"), fields, numbers, places)
    if bad >= 0:
        number = line + block[:bad].count(b"\n")
        what = "a quote that is not closed" if found < 0 else f"{found}"
        raise FileFormatError(
            f"{path}, line {number}: expected {fields} fields separated by tabs, as the header has "
            f"them, found {what}. The line is cut off; download the file again."
        )
    return TableBlock(
        path, line, text, {name: places[:lines, at] for at, name in enumerate(wanted)}
    )


@dataclass(frozen=True)
class ClassifiedPatents:
    """Patents and the groups they are in.

    Parameters
    ----------
    patents : ndarray of int64
        Their keys, ascending.
    offsets : ndarray of int64
        Where in ``groups`` those of each patent begin, and where the last end.
    groups : ndarray of uint16
        Numbers of groups.
    group_codes : ndarray of int64
        The code of each group, ascending.
    """

    patents: NDArray[np.int64]
    offsets: NDArray[np.int64]
    groups: NDArray[np.uint16]
    group_codes: NDArray[np.int64]

    @property
    def direct(self) -> NDArray[np.int32]:
        """One more than the place of each utility patent, by its number; 0 where there is none.

        Nearly all patents are such, and are found without a search.
        """
        utility = self.patents[self.patents < 1 << NUMBER_BITS]
        places = np.zeros(int(utility[-1]) + 1 if utility.size else 0, dtype=np.int32)
        places[utility] = np.arange(1, utility.size + 1)
        return places


def classified_patents(path: Path, codes_per_group: int, *, first_only: bool) -> ClassifiedPatents:
    """Read which groups each patent is in.

    Parameters
    ----------
    path : Path
        The table of groups of PatentsView.
    codes_per_group : int
        How many codes of main groups make a group.
    first_only : bool
        Whether to keep only the first group of each patent.
    """
    columns: dict[str, tuple[tuple[str, ...], str]] = {
        "patent": (("patent_id",), "the patent"),
        "group": (("cpc_group", "subgroup_id"), "the symbol of the group"),
    }
    if first_only:
        columns["sequence"] = (("cpc_sequence", "sequence"), "the order of groups")
    numbers: dict[int, int] = {}
    pieces = [np.empty(0, dtype=np.int64)]
    for block in table_blocks(path, columns):
        keys = block.keys("patent")
        if (keys < 0).any():
            row = int(np.argmax(keys < 0))
            raise block.refuse("patent", row, "the number of a patent, such as 10000000 or D345393")
        codes = np.empty(len(keys), dtype=np.int64)
        symbol_codes(block.text, block.places["group"], codes)
        if (codes == -2).any():
            row = int(np.argmax(codes == -2))
            raise block.refuse("group", row, "the symbol of a group, such as A01B1/02")
        entries = keys << _SEQUENCE_BITS
        if first_only:
            entries += np.clip(block.keys("sequence"), 0, (1 << _SEQUENCE_BITS) - 1)
        has_group = codes >= 0
        distinct, inverse = np.unique(codes[has_group] // codes_per_group, return_inverse=True)
        own = [numbers.setdefault(code, len(numbers)) for code in distinct.tolist()]
        entries = entries[has_group] << _GROUP_BITS
        entries += np.array(own, dtype=np.int64)[inverse]
        # Sorting and comparing neighbours: several times faster than numpy.unique.
        entries.sort()
        pieces.append(entries[np.append(True, entries[1:] != entries[:-1])[: entries.size]])
    if not numbers:
        raise FileFormatError(f"{path}: no patent has a group, expected one in each line.")
    if len(numbers) > 1 << _GROUP_BITS:
        raise FileFormatError(
            f"{path}: expected at most {1 << _GROUP_BITS} groups, found {len(numbers)}. The file "
            "is damaged; download it again."
        )
    entries = np.concatenate(pieces)
    pieces.clear()
    return _indexed(entries, np.array(list(numbers)), first_only=first_only)


def _indexed(
    entries: NDArray[np.int64], codes: NDArray[np.int64], *, first_only: bool
) -> ClassifiedPatents:
    """Sort entries of a patent, the place of the group in its list, and the group."""
    entries.sort()
    groups = (entries & ((1 << _GROUP_BITS) - 1)).astype(np.uint16)
    entries >>= _SEQUENCE_BITS + _GROUP_BITS
    patents = entries
    first = np.append(True, patents[1:] != patents[:-1])
    keep = first if first_only else first | np.append(True, groups[1:] != groups[:-1])
    offsets = np.append(np.flatnonzero(first[keep]), np.count_nonzero(keep))
    patents, groups = patents[first], groups[keep]
    order = np.argsort(codes)
    rank = np.empty(codes.size, dtype=np.uint16)
    rank[order] = np.arange(codes.size)
    return ClassifiedPatents(patents, offsets, rank[groups], codes[order])
