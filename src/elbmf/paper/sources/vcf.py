"""Genotypes in the Variant Call Format."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from elbmf.errors import FileFormatError
from elbmf.io.text.lines import decoded, shown
from elbmf.paper.kernels.genotypes import read_genotypes
from elbmf.paper.sources.columns import ColumnsInTurn
from elbmf.paper.sources.places import open_published
from elbmf.paper.sources.published import Lines, check_distinct
from elbmf.paper.sources.variants import VariantFilter, Variants, variant_name

__all__ = ["read"]

_FIXED = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO"]
_BEFORE_PEOPLE = len(_FIXED) + 1
_VARIANTS_AT_ONCE = 256


def read(path: Path, wanted: VariantFilter, missing: str) -> Variants:
    """Read a VCF file; see `elbmf.paper.sources.genomes.load`.

    Parameters
    ----------
    path : Path
        The file, gzipped or not.
    wanted : VariantFilter
        Which variants to keep.
    missing : {"unknown", "zero"}
        What becomes of unknown genotypes.
    """
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
                    variant_name(identifier, chromosome, position, reference, alternatives)
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
