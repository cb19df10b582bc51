"""Networks with a line for each edge: two names, perhaps something between, and a weight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbmf.datasets.sources.published import Lines, open_published, shown, text_of
from elbmf.errors import FileFormatError
from elbmf.io.cells import is_number

__all__ = ["read_edges"]


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
        for block in lines.blocks():
            first_line = lines.number - len(block) + 1
            text = text_of(path, first_line, b"\n".join(block))
            texts = text.replace('"', "").split("\n")
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
        self.has_header = not is_number(fields[-1])
        self.sources, self.targets = _Codes(), _Codes()
        self._pieces: list[tuple[int, NDArray, NDArray, NDArray]] = []

    def add(self, first_line: int, texts: list[str]) -> None:
        fields = [text.split(self.delimiter) for text in texts]
        if set(map(len, fields)) - {self.fields}:
            wrong = next(at for at, cut in enumerate(fields) if len(cut) != self.fields)
            raise FileFormatError(
                f"{self.path}, line {first_line + wrong}: expected {self.fields} fields (factor, "
                f"gene, {'motif, ' if self.fields == 4 else ''}weight), as in the first line, "
                f"found {len(fields[wrong])}: {shown(texts[wrong])}. The line is cut off, or "
                "fields are separated by something else; download the file again."
            )
        sources, targets, *_, weights = zip(*fields, strict=True)
        rows = np.fromiter(map(self.sources.__getitem__, sources), np.int32, len(sources))
        columns = np.fromiter(map(self.targets.__getitem__, targets), np.int32, len(targets))
        for place, names in ((1, self.sources), (2, self.targets)):
            if "" in names:
                wrong = (sources if place == 1 else targets).index("")
                raise FileFormatError(
                    f"{self.path}, line {first_line + wrong}, field {place}: the name is empty. "
                    "Fill it in or remove the line."
                )
        self._pieces.append((first_line, rows, columns, self._numbers(first_line, weights)))

    def _numbers(self, first_line: int, texts: tuple[str, ...]) -> NDArray[np.float64]:
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
