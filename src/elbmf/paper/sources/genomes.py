"""Genetic variants of people: the 1000 Genomes Project."""

from __future__ import annotations

import os
from pathlib import Path

from elbmf.errors import FileFormatError, InputError
from elbmf.io import LabelledMatrix
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.sources import plink, vcf
from elbmf.paper.sources.places import first_file
from elbmf.paper.sources.published import SmallTable, check_share, numbered
from elbmf.paper.sources.variants import VariantFilter

__all__ = ["load"]

_PLINK_SUFFIXES = (".bed", ".bim", ".fam")


def load(
    path: str | os.PathLike[str],
    *,
    panel: str | os.PathLike[str] | None = None,
    min_frequency: float = 0.0,
    max_frequency: float = 1.0,
    snps_only: bool = False,
    missing: str = "unknown",
) -> PreparedData:
    r"""Read genotypes, such as those of the 1000 Genomes Project: people × variants.

    A one is a person that carries the variant on at least one chromosome.

    Parameters
    ----------
    path : path-like
        Genotypes: a VCF file, gzipped or not, or a binary file of plink, ``NAME.bed``, with
        ``NAME.bim`` and ``NAME.fam`` beside it.
    panel : path-like, optional
        Table with the population of each person, ``integrated_call_samples_v3.20130502.ALL.panel``;
        found if a file that ends in ``.panel`` is beside the genotypes.
    min_frequency : float, default=0
        Leave out variants that are less frequent than this among the alleles that are known.
    max_frequency : float, default=1
        Leave out variants that are more frequent than this. A minor allele frequency of at least
        0.05 is ``min_frequency=0.05`` and ``max_frequency=0.95``.
    snps_only : bool, default=False
        Leave out variants in which not exactly one base is replaced by another.
    missing : {"unknown", "zero"}, default="unknown"
        What becomes of genotypes that are not known: missing cells, or zeros.

    Returns
    -------
    PreparedData
        Rows are people, columns are variants, called by their id or, where they have none, by
        ``CHROMOSOME:POSITION:REF:ALT``. Row labels, with a panel: ``population`` and
        ``super-population``; empty for people that the panel does not have.

    Notes
    -----
    In VCF files, every allele but the reference is the variant, also where there are several.
    Phases are ignored, and so is how many chromosomes there are. A genotype of which only a part is
    known counts if that part is the variant, and else is missing. In files of plink the variant is
    the first allele (A1), which is the alternative or the less frequent one.

    The paper takes the data "from the authors of Binaps", 226 623 variants with 10.4% ones, without
    saying how they were chosen; variants by frequency and kind can be had here, thinning by linkage
    is best done with plink before.

    References
    ----------
    .. [1] The 1000 Genomes Project Consortium, A global reference for human genetic variation,
       Nature 526, 2015.
    .. [2] J. Fischer, J. Vreeken, Differentiable pattern set mining, KDD 2021.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from elbmf.paper.sources import genomes
    >>> head = "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT HG1 HG2 HG3"
    >>> line = "22 16050075 rs1 A G 100 PASS . GT 0|0 0|1 1|1"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "chr22.vcf"
    ...     _ = path.write_text(f"{head}\n{line}\n".replace(" ", "\t"))
    ...     people = genomes.load(path)
    >>> people.matrix.column_names, people.matrix.values.toarray().T.astype(int).tolist()
    (['rs1'], [[0, 1, 1]])
    """
    check_share("min_frequency", min_frequency)
    check_share("max_frequency", max_frequency)
    if min_frequency > max_frequency:
        raise InputError(
            f"min_frequency must not be above max_frequency; got {min_frequency} and "
            f"{max_frequency}."
        )
    source = Path(path)
    wanted = VariantFilter(min_frequency, max_frequency, snps_only)
    by_plink = source.suffix.lower() in _PLINK_SUFFIXES
    people, kept, columns, seen = (plink if by_plink else vcf).read(source, wanted, missing)
    if not kept:
        raise FileFormatError(
            f"{source}: none of the {seen} variants is left. Widen min_frequency and "
            "max_frequency, or download the file again if it should have some."
        )
    names, name_notes = numbered(kept, "variants")
    left_out = seen - len(kept)
    notes = []
    if left_out:
        notes.append(f"{left_out} of {seen} variants were left out by frequency or kind.")
    notes += columns.notes("genotypes") + name_notes
    matrix = LabelledMatrix(columns.build(), people, names)
    row_labels, panel_notes = _populations(source, panel, people)
    return PreparedData(matrix, row_labels=row_labels, notes=notes + panel_notes)


def _populations(
    source: Path, path: str | os.PathLike[str] | None, people: list[str]
) -> tuple[dict[str, list[str]], list[str]]:
    found = first_file(source.parent, ("*.panel",)) if path is None else Path(path)
    if found is None:
        return {}, []
    table = SmallTable(found)
    sample = table.column(("sample", "Sample name", "IID"), "the names of people")
    row_labels = {
        labelling: table.labels(sample, table.column(names, f"the {labelling}"), people)
        for labelling, names in (
            ("population", ("pop", "Population code")),
            ("super-population", ("super_pop", "Superpopulation code")),
        )
    }
    unknown = row_labels["population"].count("")
    notes = [f"{found.name} does not have {unknown} of the people."] if unknown else []
    return row_labels, notes
