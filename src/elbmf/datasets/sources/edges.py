"""Networks with a line for each edge: two names, perhaps something between, and a weight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbmf.datasets.sources.published import open_published, shown, text_of
from elbmf.errors import FileFormatError
from elbmf.io.cells import CellError, is_number, parse_cell
from elbmf.io.delimited_text import DelimitedText
from elbmf.kernels.decimals import decimal_fields
from elbmf.kernels.fields import BLANKS, hash_fields, locate_fields

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
    text = DelimitedText(path, delimiter or " ", "utf-8")
    with open_published(path) as stream:
        for line, block in text.blocks(stream):
            if edges is not None:
                edges.add(line, block)
                continue
            first, _, rest = block.partition(b"\n")
            edges = _Edges(path, delimiter, text.decode(first, 1))
            if not edges.has_header:
                edges.add(1, block)
            elif rest:
                edges.add(2, rest)
    if edges is None or not edges.sources:
        raise FileFormatError(f"{path}: found no interactions, expected one in each line.")
    return list(edges.sources.names), list(edges.targets.names), edges.weights()


class _Names:
    """Numbers the names in a field as they come."""

    def __init__(self, path: Path, field: int) -> None:
        self._path = path
        self._field = field
        self._codes: dict[int, int] = {}
        self.names: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self.names)

    def codes(self, line: int, text: NDArray[np.uint8], places: NDArray) -> NDArray[np.int32]:
        """Return the numbers of the names of some lines."""
        hashes = np.empty(len(places), dtype=np.uint64)
        hash_fields(text, places, hashes)
        distinct, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        for row in np.sort(first).tolist():
            if int(hashes[row]) not in self._codes:
                self._codes[int(hashes[row])] = len(self._codes)
                self._add(line + row, text[slice(*places[row])].tobytes())
        own = np.array([self._codes[code] for code in distinct.tolist()], dtype=np.int32)
        return own[inverse]

    def _add(self, line: int, name: bytes) -> None:
        if not name.strip():
            raise FileFormatError(
                f"{self._path}, line {line}, field {self._field}: the name is empty. Fill it in or "
                "remove the line."
            )
        self.names[text_of(self._path, line, name)] = None


class _Edges:
    def __init__(self, path: Path, delimiter: str | None, first: str) -> None:
        self.path = path
        self.delimiter = BLANKS if delimiter is None else ord(delimiter)
        fields = first.split(delimiter)
        self.fields = len(fields)
        if self.fields not in (3, 4):
            raise FileFormatError(
                f"{path}, line 1: expected factor, gene, perhaps the motif, and weight, found "
                f"{self.fields} fields. For a table with a column for each gene, pass "
                "layout='wide'."
            )
        self.has_header = not is_number(fields[-1].strip().strip('"'))
        self.sources, self.targets = _Names(path, 1), _Names(path, 2)
        self._pieces: list[tuple[int, NDArray, NDArray, NDArray]] = []

    def add(self, first_line: int, block: bytes) -> None:
        text = np.frombuffer(block, dtype=np.uint8)
        places = np.empty((block.count(b"\n") + 1, 3, 2), dtype=np.int64)
        wanted = np.array([0, 1, self.fields - 1])
        lines, bad, found = locate_fields(text, self.delimiter, self.fields, wanted, places)
        if bad >= 0:
            what = "a quote that is not closed" if found < 0 else f"{found}"
            wrong = shown(block[bad:].partition(b"\n")[0])
            raise FileFormatError(
                f"{self.path}, line {first_line + lines}: expected {self.fields} fields (factor, "
                f"gene, {'motif, ' if self.fields == 4 else ''}weight), as in the first line, "
                f"found {what}: {wrong}. The line is cut off, or "
                "fields are separated by something else; download the file again."
            )
        places = places[:lines]
        rows = self.sources.codes(first_line, text, places[:, 0])
        columns = self.targets.codes(first_line, text, places[:, 1])
        self._pieces.append((first_line, rows, columns, self._numbers(first_line, text, places)))

    def _numbers(
        self, first_line: int, text: NDArray[np.uint8], places: NDArray
    ) -> NDArray[np.float64]:
        values = np.empty(len(places))
        unread = np.empty(len(places), dtype=np.int64)
        for row in unread[: decimal_fields(text, places[:, 2], values, unread)].tolist():
            weight = text[slice(*places[row, 2])].tobytes()
            try:
                values[row] = parse_cell(weight.decode(errors="replace"))
            except CellError:
                values[row] = np.nan
            if np.isnan(values[row]):
                raise FileFormatError(
                    f"{self.path}, line {first_line + row}, field {self.fields}: the weight is "
                    f"{shown(weight)}, expected a finite number. Correct it or download the file "
                    "again."
                )
        return values

    def weights(self) -> NDArray[np.float64]:
        """Return the dense matrix; what was collected is gone afterwards."""
        weights = np.full((len(self.sources), len(self.targets)), np.nan)
        while self._pieces:
            first_line, rows, columns, values = self._pieces.pop(0)
            cells = rows.astype(np.int64) * weights.shape[1] + columns
            repeated = ~np.isnan(weights[rows, columns])
            order = np.argsort(cells, kind="stable")
            repeated[order[1:][cells[order[1:]] == cells[order[:-1]]]] = True
            if repeated.any():
                at = int(np.flatnonzero(repeated)[0])
                factor, gene = (
                    list(self.sources.names)[rows[at]],
                    list(self.targets.names)[columns[at]],
                )
                raise FileFormatError(
                    f"{self.path}, line {first_line + at}: the pair {shown(factor)}, "
                    f"{shown(gene)} comes a second time. Remove one of the lines."
                )
            weights[rows, columns] = values
        return weights
