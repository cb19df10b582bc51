"""Networks with a line for each edge: two names, perhaps something between, and a weight."""

from __future__ import annotations

import codecs
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError, Setting
from elbmf.io.text.fields import Column, FieldReader
from elbmf.io.text.lines import is_number, shown
from elbmf.io.text.naming import NameCodes
from elbmf.paper.sources.places import open_published

__all__ = ["read_edges"]

_ADVICE = "Correct the line, or download the file again."

_Piece = tuple[int, NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""The first line of a block, and the sources, targets and weights of its edges."""


def read_edges(
    path: Path, delimiter: bytes | None
) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Read the weights of a bipartite network.

    Parameters
    ----------
    path : Path
        Lines of 3 or 4 fields: source, target, perhaps a prior that is ignored, weight. The first
        line is a header where its weight is no number.
    delimiter : bytes or None
        What separates fields; None for any blanks.

    Returns
    -------
    sources, targets : list of str
        As they come first.
    weights : ndarray, of shape (sources, targets)
        NaN where there is no edge.
    """
    sources, targets = NameCodes(str(path)), NameCodes(str(path))
    pieces: list[_Piece] = []
    with open_published(path) as stream:
        head = stream.readline().removeprefix(codecs.BOM_UTF8)
        fields = head.split(delimiter)
        if len(fields) not in (3, 4):
            raise FileFormatError(
                f"{path}, line 1: expected factor, gene, perhaps the motif, and weight, found "
                f"{len(fields)} fields. For a table with a column for each gene, pass ",
                Setting("layout", "wide"),
                ".",
            )
        middle = [Column("motif")] if len(fields) == 4 else []
        columns = [Column("factor", "text"), Column("gene", "text"), *middle]
        columns.append(Column("weight", "decimal"))
        reader = FieldReader(str(path), delimiter, columns, _ADVICE, quoting=True)
        if not is_number(fields[-1].strip(b'" \r\n').decode(errors="replace")):
            head, reader.line = b"", 2
        for first, values in reader.blocks(stream, head):
            rows = sources.codes(values["factor"]).astype(np.int32)
            columns_ = targets.codes(values["gene"]).astype(np.int32)
            pieces.append((first, rows, columns_, values["weight"]))
    if not len(sources):
        raise FileFormatError(f"{path}: found no interactions, expected one in each line.")
    return sources.names, targets.names, _dense(path, sources.names, targets.names, pieces)


def _dense(
    path: Path, sources: list[str], targets: list[str], pieces: list[_Piece]
) -> NDArray[np.float64]:
    """Return the matrix of the weights; the pieces are gone afterwards."""
    weights = np.full((len(sources), len(targets)), np.nan)
    while pieces:
        first, rows, columns, values = pieces.pop(0)
        cells = rows.astype(np.int64) * weights.shape[1] + columns
        repeated = ~np.isnan(weights[rows, columns])
        order = np.argsort(cells, kind="stable")
        repeated[order[1:][cells[order[1:]] == cells[order[:-1]]]] = True
        if repeated.any():
            at = int(np.flatnonzero(repeated)[0])
            raise FileFormatError(
                f"{path}, line {first + at}: the pair {shown(sources[rows[at]])}, "
                f"{shown(targets[columns[at]])} comes a second time. Remove one of the lines."
            )
        weights[rows, columns] = values
    return weights
