"""The tables of PatentsView, read in blocks."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError
from elbmf.io.text.fields import Column, FieldReader, header_fields
from elbmf.io.text.lines import decoded, shown
from elbmf.io.text.naming import Span
from elbmf.paper.kernels.patents import NUMBER_BITS, patent_keys, symbol_codes
from elbmf.paper.sources.places import open_published
from elbmf.paper.sources.published import find_column

__all__ = ["ClassifiedPatents", "TableBlock", "classified_patents", "table_blocks"]

_GROUP_BITS = 16
_SEQUENCE_BITS = 8
_ADVICE = "The file is cut off, damaged or not of PatentsView; download it again."

Columns = Mapping[str, tuple[tuple[str, ...], str]]
"""From a name to the names that such a column can have in the header, and what it is."""


@dataclass(frozen=True)
class TableBlock:
    """Some lines of a table.

    Parameters
    ----------
    reader : FieldReader
        What read them.
    names : mapping
        What the header calls each column.
    values : dict of str to Span
        The wanted fields, as the header calls them.
    """

    reader: FieldReader
    names: Mapping[str, str]
    values: dict[str, Any]

    def texts(self, column: str) -> Span:
        """Return the fields of a column."""
        texts: Span = self.values[self.names[column]]
        return texts

    def keys(self, column: str) -> NDArray[np.int64]:
        """Return the patents of a column, −1 where there is none."""
        texts = self.texts(column)
        keys = np.empty(len(texts.bounds), dtype=np.int64)
        patent_keys(texts.block, texts.bounds, keys)
        return keys

    def check(self, column: str, bad: NDArray[np.bool_], expected: str) -> None:
        """Raise where a field of a column is bad."""
        if bad.any():
            texts, row = self.texts(column), int(np.argmax(bad))
            raise self.reader.bad_value(
                texts.line_of(row), self.names[column], shown(texts.text(row)), expected
            )

    def check_patents(self, column: str, keys: NDArray[np.int64]) -> None:
        """Raise where a column has something else than a patent."""
        self.check(column, keys < 0, "the number of a patent, such as 10000000 or D345393")


def table_blocks(path: Path, columns: Columns) -> Iterator[TableBlock]:
    """Read a table with a header, fields separated by tabs, in quotes or not.

    Parameters
    ----------
    path : Path
        The table; zip and gzip are undone on the way.
    columns : mapping
        The columns that are wanted.
    """
    with open_published(path) as stream:
        head = stream.readline().removeprefix(codecs.BOM_UTF8)
        if not head:
            raise FileFormatError(f"{path}: the file is empty, expected a table with a header.")
        decoded(path, 1, head)
        header = header_fields(str(path), head, b"\t")
        advice = "Name the table that PatentsView publishes, separated by tabs."
        names = {
            column: find_column(path, header, known, meaning, advice)
            for column, (known, meaning) in columns.items()
        }
        wanted = set(names.values())
        reader = FieldReader(
            str(path),
            b"\t",
            [Column(name, "optional" if name in wanted else "skip") for name in header],
            _ADVICE,
            line=2,
            quoting=True,
        )
        for _, values in reader.blocks(stream):
            yield TableBlock(reader, names, values)


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
        block.check_patents("patent", keys)
        symbols = block.texts("group")
        codes = np.empty(len(keys), dtype=np.int64)
        symbol_codes(symbols.block, symbols.bounds, codes)
        block.check("group", codes == -2, "the symbol of a group, such as A01B1/02")
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
