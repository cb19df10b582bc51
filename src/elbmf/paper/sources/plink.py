"""Genotypes in the binary format of plink 1: NAME.bed, NAME.bim and NAME.fam."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from elbmf.errors import FileFormatError
from elbmf.io.files import open_raw, reading
from elbmf.io.text.lines import decoded, shown
from elbmf.paper.kernels.genotypes import MISSING
from elbmf.paper.sources.columns import ColumnsInTurn
from elbmf.paper.sources.places import open_published
from elbmf.paper.sources.published import Lines, check_distinct
from elbmf.paper.sources.variants import VariantFilter, Variants, variant_name

__all__ = ["read"]

_MAGIC = b"\x6c\x1b"
_BY_VARIANT = 1
_HEADER_BYTES = 3
_FIELDS = 6
_CELLS_AT_ONCE = 1 << 22

# Two bits to a person, the lowest first: both alleles A1, unknown, one of each, both A2.
_PAIRS = (np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3
# The four people of a byte in one word: looking up one is much faster than four.
_CARRIES = np.array([1, MISSING, 1, 0], dtype=np.uint8)[_PAIRS].view(np.uint32).ravel()
_FIRST_ALLELES = np.array([2, 0, 1, 0])[_PAIRS].sum(axis=1, dtype=np.uint8)
_UNKNOWN = np.array([0, 1, 0, 0])[_PAIRS].sum(axis=1, dtype=np.uint8)


def read(path: Path, wanted: VariantFilter, missing: str) -> Variants:
    """Read the three files of plink; see `elbmf.paper.sources.genomes.load`.

    Parameters
    ----------
    path : Path
        Any of the three.
    wanted : VariantFilter
        Which variants to keep.
    missing : {"unknown", "zero"}
        What becomes of unknown genotypes.
    """
    bed, bim, fam = (path.with_suffix(suffix) for suffix in (".bed", ".bim", ".fam"))
    people = [fields[1] for fields in _table(fam, "people")]
    check_distinct(fam, None, "person", people)
    names, right_kind = [], []
    for chromosome, identifier, _, position, first, second in _table(bim, "variants"):
        names.append(variant_name(identifier, chromosome, position, second, first))
        right_kind.append(wanted.keeps_alleles(second, first))
    width = (len(people) + 3) // 4
    _check(bed, len(names), len(people), width)
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


def _table(path: Path, kind: str) -> list[list[str]]:
    """Return the fields of each line of a file without a header."""
    rows = []
    with open_published(path) as stream:
        lines = Lines(path, stream)
        for line in lines:
            fields = decoded(path, lines.number, line).split()
            if len(fields) != _FIELDS:
                raise FileFormatError(
                    f"{path}, line {lines.number}: expected {_FIELDS} fields separated by blanks, "
                    f"found {len(fields)}: {shown(line)}. The line is cut off or not of plink; "
                    "write the files again with plink --make-bed."
                )
            rows.append(fields)
    if not rows:
        raise FileFormatError(f"{path}: the file is empty, expected a line for each of the {kind}.")
    return rows


def _check(bed: Path, variants: int, people: int, width: int) -> None:
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
