"""Gene expression of cancer patients: The Cancer Genome Atlas, as UCSC Xena publishes it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbmf.binarizers.transformers import Z_UPPER_5_PERCENT
from elbmf.errors import FileFormatError
from elbmf.io import LabelledMatrix
from elbmf.io.text.lines import decoded
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.kernels.genotypes import MISSING
from elbmf.paper.sources.places import first_file, open_published
from elbmf.paper.sources.published import (
    ColumnsInTurn,
    SmallTable,
    check_distinct,
    check_share,
    high_values,
    numbered,
    numeric_blocks,
    read_line,
)

__all__ = ["load"]

_LABEL_FILES = (
    "TCGA_phenotype_denseDataOnlyDownload.tsv*",
    "Survival_SupplementalTable_S1_*",
    "*clinicalMatrix*",
)
_SAMPLE_COLUMNS = ("sample", "sampleID", "sample_id", "Sample ID")
_TYPE_COLUMNS = (
    "cancer type abbreviation",
    "_primary_disease",
    "primary disease or tissue",
    "cancer type",
    "cancer_type",
    "_cohort",
)


def load(
    path: str | os.PathLike[str],
    *,
    labels: str | os.PathLike[str] | None = None,
    label_column: str | None = None,
    z: float = Z_UPPER_5_PERCENT,
    upper: float | None = None,
    log: bool = False,
    missing: str = "unknown",
) -> PreparedData:
    r"""Read gene expressions of TCGA: samples × genes.

    A one is a high expression: higher than most of the same gene.

    Parameters
    ----------
    path : path-like
        The expressions as UCSC Xena publishes them, gzipped or not, such as ``HiSeqV2.gz``: fields
        separated by tabs, the first line names the samples, every other one a gene and its values.
    labels : path-like, optional
        Table with the cancer type of each sample, such as
        ``TCGA_phenotype_denseDataOnlyDownload.tsv`` or ``Survival_SupplementalTable_S1``; found if
        it is beside the expressions.
    label_column : str, optional
        Column of that table to take for the cancer type; by default the first it has of
        ``cancer type abbreviation``, ``_primary_disease`` and the like.
    z : float, default=1.645
        Values with a z-score above this, among those of the same gene, become ones.
    upper : float, optional
        Make ones of this share of the values of each gene instead, the highest of them, e.g. 0.05.
    log : bool, default=False
        Take log10(x + 1) of the values first; for files of raw counts. Those of Xena are
        logarithms already: log2(x + 1). The base makes no difference to z-scores.
    missing : {"unknown", "zero"}, default="unknown"
        What becomes of values that are NA: missing cells, or zeros.

    Returns
    -------
    PreparedData
        Rows are samples, columns are genes. Row labels: ``cancer type`` and, where the table says
        it, ``sample type``; empty for samples that the table does not have.

    Notes
    -----
    The paper has 10459 samples and 20530 genes, which is how many the files ``HiSeqV2`` of Xena
    have; that of the cohort "TCGA Pan-Cancer (PANCAN)" has all cancer types. The paper's density of
    5.007% points to z-scores above 1.645 for each gene, since ``upper=0.05`` makes ones of at most
    523 samples for each, which is 5.0005%. Values below 0, which the removal of batch effects
    leaves in raw counts, are 0 for the logarithm.

    References
    ----------
    .. [1] M. Goldman et al., Visualizing and interpreting cancer genomics data via the Xena
       platform, Nature Biotechnology 38, 2020.
    .. [2] L. Liang, K. Zhu, S. Lu, BEM: mining coregulation patterns in transcriptomics via Boolean
       matrix factorization, Bioinformatics 36(13), 2020.
    """
    check_share("upper", upper)
    source = Path(path)
    genes: list[str] = []
    with open_published(source) as stream:
        samples = _samples(source, read_line(source, stream, 1, "a line that names the samples"))
        columns = ColumnsInTurn(len(samples), missing)
        for _, names, values in numeric_blocks(source, stream, b"\t", len(samples)):
            genes += names
            columns.add(_high(values, z, upper, log))
    if not genes:
        raise FileFormatError(
            f"{source}: found the names of {len(samples)} samples and no gene below them. The file "
            "is cut off; download it again."
        )
    genes, notes = numbered(genes, "genes")
    notes += columns.notes("values")
    row_labels, label_notes = _labels(source, labels, label_column, samples)
    matrix = LabelledMatrix(columns.build(), samples, genes)
    return PreparedData(matrix, row_labels=row_labels, notes=notes + label_notes)


def _samples(path: Path, header: bytes) -> list[str]:
    names = decoded(path, 1, header).split("\t")
    if len(names) < 2:
        raise FileFormatError(
            f"{path}, line 1: expected the names of samples separated by tabs, found none. "
            "Name the file of expressions that UCSC Xena publishes; replace other separators by "
            "tabs."
        )
    samples = [name.strip().strip('"') for name in names[1:]]
    check_distinct(path, 1, "sample", samples)
    return samples


def _high(
    values: NDArray[np.float64], z: float, upper: float | None, log: bool
) -> NDArray[np.uint8]:
    """Return 1 for high values, 0 for others and `MISSING` for those that are not known."""
    codes = np.where(np.isnan(values), np.uint8(MISSING), np.uint8(0))
    known = np.flatnonzero((codes == 0).any(axis=1))
    if known.size:
        rows = values[known]
        if log:
            rows = np.log10(np.maximum(rows, 0) + 1)
        codes[known] += high_values(rows, z, upper)
    return codes


def _labels(
    source: Path,
    path: str | os.PathLike[str] | None,
    column: str | None,
    samples: list[str],
) -> tuple[dict[str, list[str]], list[str]]:
    found = first_file(source.parent, _LABEL_FILES) if path is None else Path(path)
    if found is None:
        return {}, []
    table = SmallTable(found)
    sample_column = next((n for n in _SAMPLE_COLUMNS if n in table.header), table.header[0])
    wanted = _TYPE_COLUMNS if column is None else (column,)
    type_column = table.column(wanted, "the cancer type")
    row_labels = {"cancer type": table.labels(sample_column, type_column, samples)}
    if "sample_type" in table.header:
        row_labels["sample type"] = table.labels(sample_column, "sample_type", samples)
    unknown = row_labels["cancer type"].count("")
    notes = [f"{found.name} does not have the cancer type of {unknown} samples."] if unknown else []
    return row_labels, notes
