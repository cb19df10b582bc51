"""Citations between groups of patents, from the tables of PatentsView."""

from __future__ import annotations

import codecs
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError, InputError
from elbmf.io import LabelledMatrix
from elbmf.io.table import CsrBuilder
from elbmf.io.text.fields import Column, FieldReader, header_fields
from elbmf.io.text.lines import decoded, shown
from elbmf.io.text.naming import Span
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.kernels.patents import (
    CODES_PER_CLASS,
    CODES_PER_SECTION,
    CODES_PER_SUBCLASS,
    NUMBER_BITS,
    mark_links,
    patent_keys,
    symbol_codes,
)
from elbmf.paper.sources.places import first_file, open_published
from elbmf.paper.sources.published import find_column

__all__ = ["load"]

_LOG = logging.getLogger(__name__)

_LEVELS = {
    "section": (CODES_PER_SECTION, 1),
    "class": (CODES_PER_CLASS, 3),
    "subclass": (CODES_PER_SUBCLASS, 4),
    "group": (1, None),
}
"""How many codes of main groups make one code of a level, and how much of a symbol names it."""

_CITATION_FILES = ("g_us_patent_citation.tsv*", "uspatentcitation.tsv*")
_GROUP_FILES = ("g_cpc_current.tsv*", "cpc_current.tsv*")
_ROWS_AT_ONCE = 1024
_LOG_EVERY = 10_000_000
_GROUP_BITS = 16
_SEQUENCE_BITS = 8
_ADVICE = "The file is cut off, damaged or not of PatentsView; download it again."

_Columns = Mapping[str, tuple[tuple[str, ...], str]]
"""From a name to the names that such a column can have in the header, and what it is."""


def load(
    path: str | os.PathLike[str],
    *,
    citations: str | os.PathLike[str] | None = None,
    groups: str | os.PathLike[str] | None = None,
    level: str = "group",
    first_only: bool = False,
) -> PreparedData:
    r"""Read which groups of patents cite which: citing × cited groups of the CPC.

    A one says that some patent of the row's group cites one of the column's group.

    Parameters
    ----------
    path : path-like
        Folder with the tables of citations and of groups that PatentsView publishes,
        ``g_us_patent_citation.tsv`` and ``g_cpc_current.tsv``, or the older
        ``uspatentcitation.tsv`` and ``cpc_current.tsv``; as ``.tsv``, ``.tsv.zip`` or ``.tsv.gz``.
    citations : path-like, optional
        The table of citations, if it is not in the folder or has another name.
    groups : path-like, optional
        The table of groups, if it is not in the folder or has another name.
    level : {"section", "class", "subclass", "group"}, default="group"
        How fine groups are. For the symbol A01B 1/02: A, A01, A01B, or A01B 1/00, its main group.
    first_only : bool, default=False
        Take only the first group of each patent; otherwise a patent counts for all of its groups.

    Returns
    -------
    PreparedData
        Rows are the groups that cite, columns those that are cited, by symbol. Labels of both,
        where they are wider than the level: ``section`` and ``class``.

    Notes
    -----
    The paper has 10 499 citing and 10 511 cited groups. The CPC has about ten thousand main groups,
    fifteen times more than subclasses and a twenty-fifth of all groups. Its 136 components are as
    many as there are classes.

    Patents without a group and what else is cited, such as applications, are left out. Both tables
    are read once, from the archive; memory is about 8 bytes for each group of each patent and a bit
    for each pair of groups.

    References
    ----------
    .. [1] PatentsView, Data download tables, https://patentsview.org/download/data-download-tables.
    """
    if level not in _LEVELS:
        raise InputError(f"level must be one of {', '.join(_LEVELS)}; got {level!r}.")
    folder = Path(path)
    citation_file = _file(folder, citations, _CITATION_FILES, "citations")
    group_file = _file(folder, groups, _GROUP_FILES, "groups")
    known = _classified_patents(group_file, _LEVELS[level][0], first_only=first_only)
    links, read, used = _links(citation_file, known)
    rows = np.bitwise_or.reduce(links, axis=1) > 0
    cited = np.bitwise_or.reduce(links, axis=0)
    columns = np.unpackbits(cited, bitorder="little")[: len(known.group_codes)] > 0
    if not rows.any():
        raise InputError(
            f"{citation_file}: none of the {read} citations is between patents that have a group "
            f"in {group_file}. Check that both tables are of the same release."
        )
    builder = CsrBuilder(int(columns.sum()))
    for start in range(0, len(links), _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        cells = np.unpackbits(links[block][rows[block]], axis=1, bitorder="little")
        builder.add(cells[:, : columns.size][:, columns].astype(bool))
    codes = known.group_codes[rows], known.group_codes[columns]
    names = [[_symbol(code, level) for code in side.tolist()] for side in codes]
    labels = [_wider_labels(side, level) for side in names]
    return PreparedData(
        LabelledMatrix(builder.build(), names[0], names[1]),
        row_labels=labels[0],
        column_labels=labels[1],
        notes=[
            f"{used} of {read} citations are between patents that have a group.",
            f"{len(known.group_codes)} groups occur, {len(names[0])} of them cite and "
            f"{len(names[1])} are cited.",
        ],
    )


def _file(
    folder: Path, named: str | os.PathLike[str] | None, patterns: tuple[str, ...], kind: str
) -> Path:
    if named is not None:
        return Path(named)
    if not folder.is_dir():
        raise InputError(
            f"{folder}: is not a folder, expected one with the tables of PatentsView. Name it, or "
            "both files."
        )
    found = first_file(folder, patterns)
    if found is not None:
        return found
    usual = " or ".join(pattern.removesuffix("*") for pattern in patterns)
    raise InputError(
        f"{folder}: has no table of {kind}, {usual} (.zip, .gz or unpacked). Download it from "
        f"PatentsView, or name it with {kind}=PATH."
    )


def _links(path: Path, known: _ClassifiedPatents) -> tuple[NDArray[np.uint8], int, int]:
    """Return packed bits of which group cites which, and how many citations were read and used."""
    size = len(known.group_codes)
    links = np.zeros((size, (size + 7) // 8), dtype=np.uint8)
    direct = known.direct
    columns = {
        "citing": (("patent_id",), "the patent that cites"),
        "cited": (("citation_patent_id", "citation_id"), "the patent that is cited"),
    }
    read = used = 0
    for block in _table_blocks(path, columns):
        citing, cited = block.keys("citing"), block.keys("cited")
        block.check_patents("citing", citing)
        used += mark_links(citing, cited, direct, known.patents, known.offsets, known.groups, links)
        if read // _LOG_EVERY < (read + citing.size) // _LOG_EVERY:
            _LOG.info("%s: %d citations read", path, read + citing.size)
        read += citing.size
    return links, read, used


def _symbol(code: int, level: str) -> str:
    """Return the symbol of a group of a level."""
    codes, length = _LEVELS[level]
    section, rest = divmod(code * codes, CODES_PER_SECTION)
    number, rest = divmod(rest, CODES_PER_CLASS)
    subclass, group = divmod(rest, CODES_PER_SUBCLASS)
    return f"{chr(65 + section)}{number:02d}{chr(65 + subclass)} {group}/00"[:length]


def _wider_labels(symbols: list[str], level: str) -> dict[str, list[str]]:
    """Return the section and the class of each group, where these are wider than the level."""
    return {
        name: [symbol[: _LEVELS[name][1]] for symbol in symbols]
        for name in ("section", "class")
        if _LEVELS[name][0] > _LEVELS[level][0]
    }


@dataclass(frozen=True)
class _TableBlock:
    """Some lines of a table: the wanted fields, by what the header calls their columns."""

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


def _table_blocks(path: Path, columns: _Columns) -> Iterator[_TableBlock]:
    """Read the wanted columns of a table with a header, fields separated by tabs, quoted or not."""
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
            yield _TableBlock(reader, names, values)


@dataclass(frozen=True)
class _ClassifiedPatents:
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


def _classified_patents(
    path: Path, codes_per_group: int, *, first_only: bool
) -> _ClassifiedPatents:
    """Read which groups each patent is in; so many codes of main groups make one of these."""
    columns: dict[str, tuple[tuple[str, ...], str]] = {
        "patent": (("patent_id",), "the patent"),
        "group": (("cpc_group", "subgroup_id"), "the symbol of the group"),
    }
    if first_only:
        columns["sequence"] = (("cpc_sequence", "sequence"), "the order of groups")
    numbers: dict[int, int] = {}
    pieces = [np.empty(0, dtype=np.int64)]
    for block in _table_blocks(path, columns):
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
) -> _ClassifiedPatents:
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
    return _ClassifiedPatents(patents, offsets, rank[groups], codes[order])
