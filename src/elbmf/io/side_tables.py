"""Tables beside a matrix file: names and labels of its rows and columns.

Next to ``NAME.npz`` or any other matrix file, ``NAME.rows.tsv.gz`` and ``NAME.cols.tsv.gz`` have a
header and a line for each row or column, in their order. The column ``id`` holds its name, all
others are labels.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from elbmf.errors import FileFormatError
from elbmf.io.files import open_bytes, replacing

__all__ = ["ID", "SIDES", "names_beside", "read_side", "write_side"]

SIDES = (".rows.tsv.gz", ".cols.tsv.gz")
"""How the names of the tables of rows and of columns end."""

ID = "id"
"""The column that holds names."""


def names_beside(path: Path, axis: int, count: int) -> list[str] | None:
    """Return the names of rows (axis 0) or columns (1) from the table beside a matrix file.

    None where there is no such table, or it has no column ``id``.
    """
    stem = Path(path.name.removesuffix(".gz")).stem
    table = path.with_name(stem + SIDES[axis])
    return read_side(table, count).get(ID) if table.is_file() else None


def write_side(path: Path, columns: dict[str, list[str]]) -> None:
    """Write a table, titles to columns of the same length."""
    with replacing(path, compress=True) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        # The writer does not quote a carriage return by itself; the reader ends a line there.
        returns = any("\r" in value for values in columns.values() for value in values)
        writer = csv.writer(
            text,
            delimiter="\t",
            lineterminator="\n",
            quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL,
        )
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        text.flush()
        text.detach()


def read_side(path: Path, count: int) -> dict[str, list[str]]:
    """Return the columns of a table by their titles; the matrix has so many rows or columns."""
    with open_bytes(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        try:
            lines = list(csv.reader(text, delimiter="\t"))
        except (UnicodeDecodeError, csv.Error) as error:
            raise FileFormatError(f"{path}: not a table of UTF-8 text: {error}.") from error
    if not lines:
        raise FileFormatError(f"{path}: is empty, expected a header and names.")
    header, *body = lines
    if len(body) != count:
        raise FileFormatError(
            f"{path}: expected {count} lines below the header, as the matrix has, found "
            f"{len(body)}. Write it again, or move it away if it belongs to another matrix."
        )
    for number, fields in enumerate(body, 2):
        if len(fields) != len(header):
            raise FileFormatError(
                f"{path}, line {number}: expected {len(header)} fields, as in the header, found "
                f"{len(fields)}. Write it again."
            )
    return {title: [fields[at] for fields in body] for at, title in enumerate(header)}
