"""Gene regulatory networks of the GRAND database, as PANDA infers them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.binarizers.transformers import Z_UPPER_5_PERCENT
from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io import LabelledMatrix
from elbmf.io.text.fields import Column, FieldReader
from elbmf.io.text.lines import decoded, is_number, shown
from elbmf.io.text.naming import NameCodes
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.sources.places import open_published
from elbmf.paper.sources.published import (
    check_distinct,
    check_share,
    high_values,
    numeric_blocks,
    read_line,
)

__all__ = ["load"]

_SCOPES = ("network", "gene", "factor")
_LAYOUTS = ("auto", "wide", "edges")
_ADVICE = "Correct the line, or download the file again."
_EXPECTED = (
    "a gene regulatory network: a table of transcription factors and genes, or lines of "
    "factor, gene and weight"
)

_Network = tuple[list[str], list[str], NDArray[np.float64]]
"""Factors, genes, and the weights of their pairs; NaN where a pair has none."""

_Piece = tuple[int, NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""The first line of a block, and the factors, genes and weights of its edges."""


def load(
    path: str | os.PathLike[str],
    *,
    z: float = Z_UPPER_5_PERCENT,
    upper: float | None = None,
    scope: str = "network",
    layout: str = "auto",
) -> PreparedData:
    r"""Read a gene regulatory network of GRAND: transcription factors × genes.

    A one is a likely interaction: a weight whose z-score is high.

    Parameters
    ----------
    path : path-like
        The network as GRAND has it for download or PANDA writes it, separated by commas, tabs or
        blanks, gzipped or not: a table with a line for each factor and a column for each gene, or
        lines of factor, gene, perhaps the motif, and weight.
    z : float, default=1.645
        Weights with a z-score above this become ones. 5% of a normal distribution lie above 1.645;
        where the upper tail is heavier, these are more.
    upper : float, optional
        Make ones of this share of the weights instead, the highest of them, e.g. 0.05.
    scope : {"network", "gene", "factor"}, default="network"
        Among which weights one counts as high: all of the network, those of the same gene, or those
        of the same factor.
    layout : {"auto", "wide", "edges"}, default="auto"
        Whether the file is a table (wide) or has a line for each interaction (edges); by default
        its second line decides.

    Returns
    -------
    PreparedData
        All factors and genes of the file, in its order, also those without a one. Pairs that a file
        of edges does not have are zeros.

    Notes
    -----
    The paper sets all weights to zero "except the weights whose z-scores are in the upper 5%
    quantile". Taken literally that is ``upper=0.05``, and 5% are ones, up to rounding in each
    scope. But the paper's table of data sets has 5.7% (GBM), 7.3% (LGG) and 8.2% (Cerebellum),
    which z-scores above 1.645 can give, over the network or for each gene, and quantiles cannot. A
    weight that is not a finite number is an error.

    A quantile needs all weights at once: a network takes 8 bytes for each pair, 156 MB for the
    largest of the three.

    References
    ----------
    .. [1] M. Ben Guebila et al., GRAND: a database of gene regulatory network models across human
       conditions, Nucleic Acids Research 50, 2022.
    .. [2] K. Glass, C. Huttenhower, J. Quackenbush, G.-C. Yuan, Passing messages between biological
       networks to refine predicted interactions, PLoS ONE 8(5), 2013.
    """
    check_share("upper", upper)
    for name, value, known in (("scope", scope, _SCOPES), ("layout", layout, _LAYOUTS)):
        if value not in known:
            raise InputError(f"{name} must be one of {', '.join(known)}; got {value!r}.")
    source = Path(path)
    factors, genes, weights = _read(source, layout)
    high = _high(weights, z, upper, scope)
    matrix = LabelledMatrix(sparse.csr_array(high), factors, genes)
    absent = int(np.isnan(weights).sum())
    notes = [f"{absent} pairs have no weight in the file and are zeros."] if absent else []
    return PreparedData(matrix, notes=notes)


def _high(
    weights: NDArray[np.float64], z: float, upper: float | None, scope: str
) -> NDArray[np.bool_]:
    by_scope = {
        "network": weights.reshape(1, -1),
        "gene": weights.T,
        "factor": weights,
    }[scope]
    marks = high_values(by_scope, z, upper)
    return marks.T if scope == "gene" else marks.reshape(weights.shape)


def _read(path: Path, layout: str) -> _Network:
    with open_published(path) as stream:
        header, second = (read_line(path, stream, line, _EXPECTED) for line in (1, 2))
        delimiter = _delimiter(path, second)
        if layout == "auto":
            layout = "edges" if _is_edge(second, delimiter) else "wide"
        read = _read_edges if layout == "edges" else _read_wide
        return read(path, stream, delimiter, header, second)


def _delimiter(path: Path, line: bytes) -> bytes | None:
    """Return what separates the fields of a line; None stands for any blanks."""
    for delimiter in (b"\t", b",", b";"):
        if delimiter in line:
            return delimiter
    if len(line.split()) < 2:
        raise FileFormatError(
            f"{path}, line 2: expected fields separated by commas, tabs or blanks, found "
            f"{shown(line)}. The file must be {_EXPECTED}."
        )
    return None


def _is_edge(line: bytes, delimiter: bytes | None) -> bool:
    fields = [field.strip(b'" \r').decode(errors="replace") for field in line.split(delimiter)]
    return len(fields) in (3, 4) and not is_number(fields[1]) and is_number(fields[-1])


def _read_wide(
    path: Path, stream: IO[bytes], delimiter: bytes | None, header: bytes, second: bytes
) -> _Network:
    """Read a table with a line for each factor and a column for each gene."""
    mark = delimiter or b" "
    names = [field.strip().strip('"') for field in decoded(path, 1, header).split(mark.decode())]
    width = second.count(mark)
    if len(names) not in (width, width + 1):
        raise FileFormatError(
            f"{path}, line 2: expected a factor and its weights for the {len(names) - 1} "
            f"genes of the header, separated by {mark.decode()!r}, found {width} weights. If "
            "the file has one line for each interaction, pass ",
            Setting("layout", "edges"),
            ".",
        )
    genes = names[len(names) - width :]
    check_distinct(path, 1, "gene", genes)
    factors: dict[str, int] = {}
    weights: list[NDArray[np.float64]] = []
    for first, block, values in numeric_blocks(path, stream, mark, width, second + b"\n"):
        for at, field in np.argwhere(~np.isfinite(values))[:1].tolist():
            raise FileFormatError(
                f"{path}, line {first + at}, field {field + 2}: the weight of {block[at]!r} "
                f"and {genes[field]!r} is missing. Expected a number; download the file again."
            )
        for line, factor in enumerate(block, first):
            if factors.setdefault(factor, line) != line:
                raise FileFormatError(
                    f"{path}, line {line}: the factor {shown(factor)} is in line "
                    f"{factors[factor]} already. Remove one of the lines."
                )
        weights.append(values)
    return list(factors), genes, np.concatenate(weights)


def _read_edges(
    path: Path, stream: IO[bytes], delimiter: bytes | None, header: bytes, second: bytes
) -> _Network:
    """Read lines of 3 or 4 fields: factor, gene, perhaps the motif, which is ignored, and weight.

    The first line is a header where its weight is no number.
    """
    fields = header.split(delimiter)
    if len(fields) not in (3, 4):
        raise FileFormatError(
            f"{path}, line 1: expected factor, gene, perhaps the motif, and weight, found "
            f"{len(fields)} fields. For a table with a column for each gene, pass ",
            Setting("layout", "wide"),
            ".",
        )
    has_header = not is_number(fields[-1].strip(b'" ').decode(errors="replace"))
    motif = [Column("motif")] if len(fields) == 4 else []
    columns = [
        Column("factor", "text"),
        Column("gene", "text"),
        *motif,
        Column("weight", "decimal"),
    ]
    reader = FieldReader(
        str(path), delimiter, columns, _ADVICE, line=2 if has_header else 1, quoting=True
    )
    head = second + b"\n" if has_header else header + b"\n" + second + b"\n"
    factors, genes = NameCodes(str(path)), NameCodes(str(path))
    pieces: list[_Piece] = []
    for first, values in reader.blocks(stream, head):
        rows = factors.codes(values["factor"]).astype(np.int32)
        places = genes.codes(values["gene"]).astype(np.int32)
        pieces.append((first, rows, places, values["weight"]))
    return factors.names, genes.names, _dense(path, factors.names, genes.names, pieces)


def _dense(
    path: Path, factors: list[str], genes: list[str], pieces: list[_Piece]
) -> NDArray[np.float64]:
    """Return the matrix of the weights; the pieces are gone afterwards."""
    weights = np.full((len(factors), len(genes)), np.nan)
    while pieces:
        first, rows, columns, values = pieces.pop(0)
        cells = rows.astype(np.int64) * weights.shape[1] + columns
        repeated = ~np.isnan(weights[rows, columns])
        order = np.argsort(cells, kind="stable")
        repeated[order[1:][cells[order[1:]] == cells[order[:-1]]]] = True
        if repeated.any():
            at = int(np.flatnonzero(repeated)[0])
            raise FileFormatError(
                f"{path}, line {first + at}: the pair {shown(factors[rows[at]])}, "
                f"{shown(genes[columns[at]])} comes a second time. Remove one of the lines."
            )
        weights[rows, columns] = values
    return weights
