"""Gene regulatory networks of the GRAND database, as PANDA infers them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.binarizers.zscores import Z_UPPER_5_PERCENT, above_zscore, upper_share
from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io import LabelledMatrix
from elbmf.io.text.lines import decoded, is_number, shown
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.sources.edges import read_edges
from elbmf.paper.sources.numeric_lines import NumericLines
from elbmf.paper.sources.places import open_published
from elbmf.paper.sources.published import Lines, check_distinct, check_share

__all__ = ["load"]

_SCOPES = ("network", "gene", "factor")
_LAYOUTS = ("auto", "wide", "edges")
_EXPECTED = (
    "a gene regulatory network: a table of transcription factors and genes, or lines of "
    "factor, gene and weight"
)


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

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from elbmf.paper.sources import grand
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "network.csv"
    ...     _ = path.write_text(",A2M,BRCA1,TP53\nAHR,0.1,-2.0,9.5\nSP1,-0.3,0.2,0.4\n")
    ...     network = grand.load(path, upper=0.2)
    >>> network.matrix.row_names, network.matrix.values.toarray().astype(int).tolist()
    (['AHR', 'SP1'], [[0, 0, 1], [0, 0, 0]])
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
    marks = above_zscore(by_scope, z) if upper is None else upper_share(by_scope, upper)
    return marks.T if scope == "gene" else marks.reshape(weights.shape)


def _read(path: Path, layout: str) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Return the factors, the genes and the weights; NaN where a pair has none."""
    with open_published(path) as stream:
        lines = Lines(path, stream)
        header = lines.first(_EXPECTED)
        second = lines.first(_EXPECTED)
        delimiter = _delimiter(path, second)
        if layout == "auto":
            layout = "edges" if _is_edge(second, delimiter) else "wide"
        if layout == "wide":
            return _read_wide(lines, delimiter or b" ", header, second)
    return read_edges(path, delimiter)


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
    lines: Lines, delimiter: bytes, header: bytes, second: bytes
) -> tuple[list[str], list[str], NDArray[np.float64]]:
    names = [
        field.strip().strip('"')
        for field in decoded(lines.path, 1, header).split(delimiter.decode())
    ]
    width = second.count(delimiter)
    if len(names) not in (width, width + 1):
        raise FileFormatError(
            f"{lines.path}, line 2: expected a factor and its weights for the {len(names) - 1} "
            f"genes of the header, separated by {delimiter.decode()!r}, found {width} weights. If "
            "the file has one line for each interaction, pass ",
            Setting("layout", "edges"),
            ".",
        )
    genes = names[len(names) - width :]
    check_distinct(lines.path, 1, "gene", genes)
    reader = NumericLines(lines.path, delimiter, width)
    factors: dict[str, int] = {}
    rows: list[NDArray[np.float64]] = []
    line = second
    while True:
        factor, values = reader.read(lines.number, line)
        if not np.isfinite(values).all():
            field = int(np.flatnonzero(~np.isfinite(values))[0])
            raise FileFormatError(
                f"{lines.path}, line {lines.number}, field {field + 2}: the weight of {factor!r} "
                f"and {genes[field]!r} is missing. Expected a number; download the file again."
            )
        if factors.setdefault(factor, lines.number) != lines.number:
            raise FileFormatError(
                f"{lines.path}, line {lines.number}: the factor {shown(factor)} is in line "
                f"{factors[factor]} already. Remove one of the lines."
            )
        rows.append(values)
        following = next(lines, None)
        if following is None:
            return list(factors), genes, np.stack(rows)
        line = following
