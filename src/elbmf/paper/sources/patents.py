"""Citations between groups of patents, from the tables of PatentsView."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import InputError
from elbmf.io import LabelledMatrix
from elbmf.io.table import CsrBuilder
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.kernels.patents import (
    CODES_PER_CLASS,
    CODES_PER_SECTION,
    CODES_PER_SUBCLASS,
    mark_links,
)
from elbmf.paper.sources.patent_tables import ClassifiedPatents, classified_patents, table_blocks
from elbmf.paper.sources.places import first_file

__all__ = ["load"]

_LOG = logging.getLogger(__name__)

_LEVELS = {
    "section": CODES_PER_SECTION,
    "class": CODES_PER_CLASS,
    "subclass": CODES_PER_SUBCLASS,
    "group": 1,
}
"""How many codes of main groups make one code of a level."""

_CITATION_FILES = ("g_us_patent_citation.tsv*", "uspatentcitation.tsv*")
_GROUP_FILES = ("g_cpc_current.tsv*", "cpc_current.tsv*")
_ROWS_AT_ONCE = 1024
_LOG_EVERY = 10_000_000


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

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from elbmf.paper.sources import patents
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "g_us_patent_citation.tsv").write_text(
    ...         '"patent_id"\t"citation_patent_id"\n"10000001"\t"D345393"\n'
    ...     )
    ...     _ = (Path(folder) / "g_cpc_current.tsv").write_text(
    ...         '"patent_id"\t"cpc_sequence"\t"cpc_group"\n'
    ...         '"10000001"\t0\t"A01B1/02"\n"D345393"\t0\t"H04L63/08"\n'
    ...     )
    ...     citations = patents.load(folder)
    >>> citations.matrix.row_names, citations.matrix.column_names
    (['A01B 1/00'], ['H04L 63/00'])
    """
    if level not in _LEVELS:
        raise InputError(f"level must be one of {', '.join(_LEVELS)}; got {level!r}.")
    folder = Path(path)
    citation_file = _file(folder, citations, _CITATION_FILES, "citations")
    group_file = _file(folder, groups, _GROUP_FILES, "groups")
    known = classified_patents(group_file, _LEVELS[level], first_only=first_only)
    links, read, used = _links(citation_file, known)
    rows, columns = _occurring(links, len(known.group_codes))
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


def _links(path: Path, known: ClassifiedPatents) -> tuple[NDArray[np.uint8], int, int]:
    """Return packed bits of which group cites which, and how many citations were read and used."""
    size = len(known.group_codes)
    links = np.zeros((size, (size + 7) // 8), dtype=np.uint8)
    direct = known.direct
    columns = {
        "citing": (("patent_id",), "the patent that cites"),
        "cited": (("citation_patent_id", "citation_id"), "the patent that is cited"),
    }
    read = used = 0
    for block in table_blocks(path, columns):
        citing, cited = block.keys("citing"), block.keys("cited")
        block.check_patents("citing", citing)
        used += mark_links(citing, cited, direct, known.patents, known.offsets, known.groups, links)
        if read // _LOG_EVERY < (read + citing.size) // _LOG_EVERY:
            _LOG.info("%s: %d citations read", path, read + citing.size)
        read += citing.size
    return links, read, used


def _occurring(links: NDArray[np.uint8], size: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which groups cite, and which are cited."""
    cited = np.bitwise_or.reduce(links, axis=0)
    citing = np.bitwise_or.reduce(links, axis=1) > 0
    return citing, np.unpackbits(cited, bitorder="little")[:size] > 0


def _symbol(code: int, level: str) -> str:
    """Return the symbol of a group of a level."""
    main = code * _LEVELS[level]
    section, rest = divmod(main, CODES_PER_SECTION)
    number, rest = divmod(rest, CODES_PER_CLASS)
    subclass, group = divmod(rest, CODES_PER_SUBCLASS)
    parts = {
        "section": chr(65 + section),
        "class": f"{number:02d}",
        "subclass": chr(65 + subclass),
        "group": f" {group}/00",
    }
    levels = list(_LEVELS)
    return "".join(parts[name] for name in levels[: levels.index(level) + 1])


def _wider_labels(symbols: list[str], level: str) -> dict[str, list[str]]:
    lengths = {"section": 1, "class": 3}
    wider = list(_LEVELS)[: list(_LEVELS).index(level)]
    return {
        name: [symbol[:length] for symbol in symbols]
        for name, length in lengths.items()
        if name in wider
    }
