"""Networks with a line for each edge: two names, perhaps something between, and a weight."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbmf.datasets.sources.published import Lines, open_published, shown, text_of
from elbmf.errors import FileFormatError
from elbmf.io.cells import is_number

__all__ = ["read_edges"]

_LINES_AT_ONCE = 1 << 17


def read_edges(
    path: Path, delimiter: str | None
) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Read the weights of a bipartite network.

    Parameters
    ----------
    path : Path
        Lines of 3 or 4 fields: source, target, perhaps a prior that is ignored, weight. The first
        line is a header where its weight is no number.
    delimiter : str, optional
        What separates fields; blanks by default.

    Returns
    -------
    sources, targets : list of str
        As they come first.
    weights : ndarray, of shape (sources, targets)
        NaN where there is no edge.
    """
    edges: _Edges | None = None
    with open_published(path) as stream:
        lines = Lines(path, stream)
        while chunk := list(islice(lines, _LINES_AT_ONCE)):
            first_line = lines.number - len(chunk) + 1
            texts = text_of(path, first_line, b"\n".join(chunk)).split("\n")
            if edges is None:
                edges = _Edges(path, delimiter, texts[0])
                if edges.has_header:
                    first_line, texts = 2, texts[1:]
            edges.add(first_line, texts)
    if edges is None or not edges.sources:
        raise FileFormatError(f"{path}: found no interactions, expected one in each line.")
    return list(edges.sources), list(edges.targets), edges.weights()


class _Codes(dict[str, int]):
    """Numbers names as they come."""

    def __missing__(self, name: str) -> int:
        self[name] = code = len(self)
        return code


class _Edges:
    def __init__(self, path: Path, delimiter: str | None, first: str) -> None:
        self.path = path
        self.delimiter = delimiter
        fields = first.split(delimiter)
        self.fields = len(fields)
        if self.fields not in (3, 4):
            raise FileFormatError(
                f"{path}, line 1: expected factor, gene, perhaps the motif, and weight, found "
                f"{self.fields} fields. For a table with a column for each gene, pass "
                "layout='wide'."
            )
        self.has_header = not is_number(fields[-1].strip('" '))
        self.sources, self.targets = _Codes(), _Codes()
        self._pieces: list[tuple[int, NDArray, NDArray, NDArray]] = []

    def add(self, first_line: int, texts: list[str]) -> None:
        rows: list[int] = []
        columns: list[int] = []
        weights: list[str] = []
        expected, delimiter = self.fields, self.delimiter
        for number, text in enumerate(texts, first_line):
            fields = text.replace('"', "").split(delimiter)
            if len(fields) != expected or not fields[0] or not fields[1]:
                raise FileFormatError(
                    f"{self.path}, line {number}: expected {expected} fields (factor, gene, "
                    f"{'motif, ' if expected == 4 else ''}weight), as in the first line, found "
                    f"{shown(text)}. The line is cut off, or fields are separated by something "
                    "else; download the file again."
                )
            rows.append(self.sources[fields[0]])
            columns.append(self.targets[fields[1]])
            weights.append(fields[-1])
        values = self._numbers(first_line, weights)
        where = np.array(rows, dtype=np.int32), np.array(columns, dtype=np.int32)
        self._pieces.append((first_line, *where, values))

    def _numbers(self, first_line: int, texts: list[str]) -> NDArray[np.float64]:
        try:
            values = np.array(texts, dtype=np.float64)
            bad = np.flatnonzero(~np.isfinite(values)).tolist()
        except ValueError:
            values, bad = np.empty(0), [at for at, text in enumerate(texts) if not is_number(text)]
        if bad:
            raise FileFormatError(
                f"{self.path}, line {first_line + bad[0]}, field {self.fields}: the weight is "
                f"{shown(texts[bad[0]])}, expected a finite number. Correct it or download the "
                "file again."
            )
        return values

    def weights(self) -> NDArray[np.float64]:
        """Return the dense matrix; what was collected is gone afterwards."""
        weights = np.full((len(self.sources), len(self.targets)), np.nan)
        while self._pieces:
            first_line, rows, columns, values = self._pieces.pop(0)
            cells = rows.astype(np.int64) * weights.shape[1] + columns
            _, first = np.unique(cells, return_index=True)
            repeated = ~np.isnan(weights[rows, columns])
            repeated[np.setdiff1d(np.arange(cells.size), first)] = True
            if repeated.any():
                at = int(np.flatnonzero(repeated)[0])
                factor, gene = list(self.sources)[rows[at]], list(self.targets)[columns[at]]
                raise FileFormatError(
                    f"{self.path}, line {first_line + at}: the pair {shown(factor)}, "
                    f"{shown(gene)} comes a second time. Remove one of the lines."
                )
            weights[rows, columns] = values
        return weights
