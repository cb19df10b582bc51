"""Tables of labels: a header, and for each row of a matrix its name and what is known about it."""

from __future__ import annotations

import os
from pathlib import Path

from elbmf.errors import FileFormatError
from elbmf.io.files import first_bytes, open_bytes
from elbmf.io.text.layout import guess_delimiter
from elbmf.io.text.lines import DelimitedText

__all__ = ["read_labels"]


def read_labels(path: str | os.PathLike[str]) -> dict[str, dict[str, str]]:
    """Read labels of rows from a delimited text file.

    Parameters
    ----------
    path : path-like
        The first line names the columns. The first field of each other line is the name of a row,
        the others are labels; an empty one is not known. It may be gzipped.

    Returns
    -------
    dict of str to dict of str to str
        For each column but the first, the label of each row by name.
    """
    source = Path(path)
    first_bytes(source, expected="a table of labels")
    text = DelimitedText(source, "\t", "utf-8")
    header: list[str] | None = None
    names: dict[str, int] = {}
    columns: list[list[str]] = []
    with open_bytes(source) as stream:
        for first_line, block in text.blocks(stream):
            decoded = text.decode(block, first_line)
            if header is None:
                preferred = "," if source.name.lower().endswith((".csv", ".csv.gz")) else "\t"
                text = DelimitedText(source, guess_delimiter(decoded, preferred), "utf-8")
            for line, fields in text.records(decoded, first_line):
                if header is None:
                    header = _checked_header(source, fields)
                    columns = [[] for _ in header[1:]]
                    continue
                if len(fields) != len(header):
                    raise FileFormatError(
                        f"{source}, line {line}: expected {len(header)} fields as in the header, "
                        f"found {len(fields)}. Complete the line or remove it."
                    )
                if names.setdefault(fields[0], line) != line:
                    raise FileFormatError(
                        f"{source}, line {line}: the row {fields[0]!r} is already in line "
                        f"{names[fields[0]]}. Remove one of them."
                    )
                for column, field in zip(columns, fields[1:], strict=True):
                    column.append(field.strip())
    if header is None or not names:
        raise FileFormatError(f"{source}: has no line below its header, expected labels of rows.")
    return {
        title: dict(zip(names, column, strict=True))
        for title, column in zip(header[1:], columns, strict=True)
    }


def _checked_header(source: Path, fields: list[str]) -> list[str]:
    if len(fields) < 2:
        raise FileFormatError(
            f"{source}, line 1: expected the titles of at least two columns, the names of rows and "
            f"their labels, found {len(fields)}. Check what separates the fields."
        )
    if len(set(fields)) < len(fields):
        repeated = next(title for at, title in enumerate(fields) if title in fields[:at])
        raise FileFormatError(
            f"{source}, line 1: there are two columns {repeated!r}. Rename or remove one."
        )
    return fields
