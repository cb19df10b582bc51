"""Genetic variants of people: the 1000 Genomes Project."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError, InputError
from elbmf.io import LabelledMatrix
from elbmf.io.files import open_raw, reading
from elbmf.io.text.lines import decoded, shown
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.paper.kernels.genotypes import MISSING, read_genotypes
from elbmf.paper.sources.places import first_file, open_published
from elbmf.paper.sources.published import (
    ColumnsInTurn,
    Lines,
    SmallTable,
    check_distinct,
    check_share,
    numbered,
)

__all__ = ["load"]

_BASES = frozenset("ACGTNacgtn")

_FIXED = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO"]
_BEFORE_PEOPLE = len(_FIXED) + 1
_VARIANTS_AT_ONCE = 256

_PLINK_SUFFIXES = (".bed", ".bim", ".fam")
_MAGIC = b"\x6c\x1b"
_BY_VARIANT = 1
_HEADER_BYTES = 3
_COLUMNS = 6
_CELLS_AT_ONCE = 1 << 22

# Two bits to a person, the lowest first: both alleles A1, unknown, one of each, both A2.
_PAIRS = (np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3
# The four people of a byte in one word: looking up one is much faster than four.
_CARRIES = np.array([1, MISSING, 1, 0], dtype=np.uint8)[_PAIRS].view(np.uint32).ravel()
_FIRST_ALLELES = np.array([2, 0, 1, 0])[_PAIRS].sum(axis=1, dtype=np.uint8)
_UNKNOWN = np.array([0, 1, 0, 0])[_PAIRS].sum(axis=1, dtype=np.uint8)


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
    """
    check_share("min_frequency", min_frequency)
    check_share("max_frequency", max_frequency)
    if min_frequency > max_frequency:
        raise InputError(
            f"min_frequency must not be above max_frequency; got {min_frequency} and "
            f"{max_frequency}."
        )
    source = Path(path)
    wanted = _VariantFilter(min_frequency, max_frequency, snps_only)
    by_plink = source.suffix.lower() in _PLINK_SUFFIXES
    people, kept, columns, seen = (_read_plink if by_plink else _read_vcf)(source, wanted, missing)
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


_Variants = tuple[list[str], list[str], ColumnsInTurn, int]
"""What a reader finds: people, the variants it kept, who carries them, and how many it saw."""


@dataclass(frozen=True)
class _VariantFilter:
    """Which variants to keep: by their share of the known alleles, and perhaps only SNPs."""

    min_frequency: float
    max_frequency: float
    snps_only: bool

    def keeps_alleles(self, reference: str, alternatives: str) -> bool:
        """Whether these alleles, parted by commas, are of the right kind."""
        return not self.snps_only or all(
            allele in _BASES for allele in (reference, *alternatives.split(","))
        )

    def keeps_counts(
        self, alternate: NDArray[np.integer], known: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Whether variants are frequent enough and not too frequent, by counts of alleles.

        A variant of which nothing is known is not frequent.
        """
        frequency = alternate / np.maximum(known, 1)
        return (self.min_frequency <= frequency) & (frequency <= self.max_frequency)


def _variant_name(
    identifier: str, chromosome: str, position: str, reference: str, alternatives: str
) -> str:
    """Return the id of a variant, or where and what it is."""
    if identifier not in (".", ""):
        return identifier
    return f"{chromosome}:{position}:{reference}:{alternatives}"


def _read_vcf(path: Path, wanted: _VariantFilter, missing: str) -> _Variants:
    """Read genotypes in the Variant Call Format."""
    with open_published(path) as stream:
        lines = Lines(path, stream)
        people = _people(lines)
        columns = ColumnsInTurn(len(people), missing)
        codes = np.empty((_VARIANTS_AT_ONCE, len(people)), dtype=np.uint8)
        names: list[str] = []
        seen = filled = 0
        for line in lines:
            seen += 1
            fields = line.split(b"\t", _BEFORE_PEOPLE)
            if len(fields) <= _BEFORE_PEOPLE:
                raise _wrong_count(lines, len(people), len(fields))
            if fields[8] != b"GT" and not fields[8].startswith(b"GT:"):
                raise FileFormatError(
                    f"{path}, line {lines.number}, field 9 (FORMAT): expected genotypes (GT) to "
                    f"come first, found {shown(fields[8])}. Name a file that has genotypes."
                )
            head = decoded(path, lines.number, b"\t".join(fields[:5])).split("\t")
            chromosome, position, identifier, reference, alternatives = head
            count = 0 if alternatives == "." else alternatives.count(",") + 1
            genotypes = np.frombuffer(fields[9], dtype=np.uint8)
            found, alternate, known, bad = read_genotypes(genotypes, count, codes[filled])
            if bad >= 0:
                genotype = fields[9].split(b"\t")[bad]
                raise FileFormatError(
                    f"{path}, line {lines.number}, field {_BEFORE_PEOPLE + bad + 1} "
                    f"({people[bad]}): expected a genotype such as 0|1, ./. or 1, with alleles up "
                    f"to {count}, found {shown(genotype)}. Correct it or download the file again."
                )
            if found != len(people):
                raise _wrong_count(lines, len(people), _BEFORE_PEOPLE + found)
            if wanted.keeps_alleles(reference, alternatives) and wanted.keeps_counts(
                alternate, known
            ):
                names.append(
                    _variant_name(identifier, chromosome, position, reference, alternatives)
                )
                filled += 1
                if filled == _VARIANTS_AT_ONCE:
                    columns.add(codes)
                    filled = 0
        columns.add(codes[:filled])
    return people, names, columns, seen


def _wrong_count(lines: Lines, people: int, found: int) -> FileFormatError:
    return FileFormatError(
        f"{lines.path}, line {lines.number}: expected {_BEFORE_PEOPLE + people} fields separated "
        f"by tabs, as the header has them, found {found}. The line is cut off, or fields are "
        "separated by something else; download the file again."
    )


def _people(lines: Lines) -> list[str]:
    """Return the names in the header, which is behind lines of other information."""
    line = next((line for line in lines if not line.startswith(b"##")), None)
    if line is None:
        raise FileFormatError(
            f"{lines.path}: the file is empty or ends after line {lines.number}, expected "
            "genotypes below a line that begins with #CHROM. Download it again."
        )
    header = decoded(lines.path, lines.number, line).split("\t")
    if header[: len(_FIXED)] != _FIXED:
        raise FileFormatError(
            f"{lines.path}, line {lines.number}: expected the header of a VCF file, the columns "
            f"{' '.join(_FIXED)} separated by tabs, found {shown(line)}. Name a .vcf or .vcf.gz "
            "file, or a .bed file of plink."
        )
    people = header[_BEFORE_PEOPLE:]
    if not people:
        raise FileFormatError(
            f"{lines.path}, line {lines.number}: the file lists variants and names no people. "
            "Name the file of genotypes."
        )
    check_distinct(lines.path, lines.number, "person", people)
    return people


def _read_plink(path: Path, wanted: _VariantFilter, missing: str) -> _Variants:
    """Read genotypes in the binary format of plink 1: NAME.bed, NAME.bim and NAME.fam."""
    bed, bim, fam = (path.with_suffix(suffix) for suffix in _PLINK_SUFFIXES)
    people = [fields[1] for fields in _plink_table(fam, "people")]
    check_distinct(fam, None, "person", people)
    names, right_kind = [], []
    for chromosome, identifier, _, position, first, second in _plink_table(bim, "variants"):
        names.append(_variant_name(identifier, chromosome, position, second, first))
        right_kind.append(wanted.keeps_alleles(second, first))
    width = (len(people) + 3) // 4
    _check_bed(bed, len(names), len(people), width)
    columns = ColumnsInTurn(len(people), missing)
    kept: list[str] = []
    at_once = max(1, _CELLS_AT_ONCE // len(people))
    # Bits of the last byte that belong to nobody, made to say both A2.
    nobody = np.uint8(0xFF & ~(0xFF >> 2 * (4 * width - len(people))))
    with reading(bed), open_raw(bed) as stream:
        stream.seek(_HEADER_BYTES)
        for start in range(0, len(names), at_once):
            count = min(at_once, len(names) - start)
            packed = bytearray(stream.read(count * width))
            block = np.frombuffer(packed, dtype=np.uint8).reshape(count, width)
            block[:, -1] |= nobody
            unknown = _UNKNOWN[block].sum(axis=1, dtype=np.int64)
            first_alleles = _FIRST_ALLELES[block].sum(axis=1, dtype=np.int64)
            keep = wanted.keeps_counts(first_alleles, 2 * (len(people) - unknown))
            keep &= np.array(right_kind[start : start + count])
            codes = _CARRIES[block[keep]].view(np.uint8)
            columns.add(codes[:, : len(people)])
            kept.extend(names[start + place] for place in np.flatnonzero(keep))
    return people, kept, columns, len(names)


def _plink_table(path: Path, kind: str) -> list[list[str]]:
    """Return the fields of each line of a file without a header."""
    rows = []
    with open_published(path) as stream:
        lines = Lines(path, stream)
        for line in lines:
            fields = decoded(path, lines.number, line).split()
            if len(fields) != _COLUMNS:
                raise FileFormatError(
                    f"{path}, line {lines.number}: expected {_COLUMNS} fields separated by blanks, "
                    f"found {len(fields)}: {shown(line)}. The line is cut off or not of plink; "
                    "write the files again with plink --make-bed."
                )
            rows.append(fields)
    if not rows:
        raise FileFormatError(f"{path}: the file is empty, expected a line for each of the {kind}.")
    return rows


def _check_bed(bed: Path, variants: int, people: int, width: int) -> None:
    with reading(bed), open(bed, "rb") as stream:
        magic = stream.read(_HEADER_BYTES)
    if magic[:2] != _MAGIC or len(magic) < _HEADER_BYTES:
        raise FileFormatError(
            f"{bed}: expected a binary file of plink, which begins with the bytes 6c 1b 01, found "
            f"{magic.hex(' ') or 'an empty file'}. Write it with plink --make-bed, or name a VCF "
            "file. Files of regions that end in .bed are something else."
        )
    if magic[2] != _BY_VARIANT:
        raise FileFormatError(
            f"{bed}: the genotypes are stored by person (third byte {magic[2]:02x}), expected by "
            "variant (01). Write the file again with plink --make-bed."
        )
    expected, found = _HEADER_BYTES + variants * width, bed.stat().st_size
    if found != expected:
        raise FileFormatError(
            f"{bed}: expected {expected} bytes for the {variants} variants of "
            f"{bed.with_suffix('.bim').name} and the {people} people of "
            f"{bed.with_suffix('.fam').name}, found {found}. The file is "
            f"{'cut off' if found < expected else 'too long'}, or the three do not belong together."
        )
