"""Sets of genes in the GMT format of MSigDB: name, description and members, separated by tabs."""

from __future__ import annotations

import os
from pathlib import Path

from elbmf.analysis.enrichment import NamedSet
from elbmf.errors import FileFormatError
from elbmf.io.files import first_bytes, line_blocks, open_bytes
from elbmf.io.text.lines import DelimitedText

__all__ = ["read_gmt"]


def read_gmt(path: str | os.PathLike[str]) -> list[NamedSet]:
    """Read named sets from a GMT file.

    Parameters
    ----------
    path : path-like
        Each line holds the name of a set, a description and the members, separated by tabs. It
        may be gzipped.

    Returns
    -------
    list of NamedSet
        In the order of the file. Members that are empty, as after tabs at the end of a line, are
        left out, and repeated ones kept once.

    Raises
    ------
    FileFormatError
        When a line has fewer than two tabs or no name, or two sets have the same name.
    """
    source = Path(path)
    first_bytes(source, expected="sets of genes")
    text = DelimitedText(source, "\t", "utf-8")
    sets: list[NamedSet] = []
    lines: dict[str, int] = {}
    line = 0
    with open_bytes(source) as stream:
        for block in line_blocks(stream):
            decoded = text.decode(block, line + 1).removeprefix("\ufeff")
            for content in decoded.removesuffix("\n").split("\n"):
                line += 1
                if not content.strip():
                    continue
                found = _named_set(source, line, content)
                earlier = lines.setdefault(found.name, line)
                if earlier != line:
                    raise FileFormatError(
                        f"{source}, line {line}: the set {found.name!r} is already in line "
                        f"{earlier}. Give it another name or remove one."
                    )
                sets.append(found)
    if not sets:
        raise FileFormatError(f"{source}: has no line with a set of genes.")
    return sets


def _named_set(source: Path, line: int, content: str) -> NamedSet:
    fields = [field.strip() for field in content.split("\t")]
    if len(fields) < 3:
        raise FileFormatError(
            f"{source}, line {line}: expected a name, a description and genes, separated by tabs "
            f"(GMT), found {len(fields)} field{'s' if len(fields) > 1 else ''}. Save the sets in "
            "the GMT format."
        )
    if not fields[0]:
        raise FileFormatError(
            f"{source}, line {line}: the name of the set is empty, expected text before the first "
            "tab."
        )
    return NamedSet(fields[0], fields[1], tuple(dict.fromkeys(filter(None, fields[2:]))))
