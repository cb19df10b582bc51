"""Tables of what is known of rows and columns: how they are read, and those beside a matrix file.

They are csv or tsv, laid out as `elbmf.io.read` understands them, or a sheet of a workbook.

Next to ``NAME.npz`` or any other matrix file, ``NAME.rows.tsv`` and ``NAME.cols.tsv``, gzipped or
not, have a header and a line for each row or column, in their order. The column ``id`` holds its
name, or else the first whose values are all different; all others are labels.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterator
from pathlib import Path

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.files import first_bytes, open_bytes, replacing
from elbmf.io.formats import check_content
from elbmf.io.formats.delimited import TSV
from elbmf.io.formats.excel import EXCEL, LINE_END, sheet_lines
from elbmf.io.text.layout import find_delimiter
from elbmf.io.text.lines import DelimitedText, check_delimiter, check_encoding, utf8_stream
from elbmf.io.text.numerals import check_marks

__all__ = ["ID", "SIDES", "SIDE_OPTIONS", "SideTable", "names_beside", "read_side", "write_side"]

SIDES = (".rows.tsv.gz", ".cols.tsv.gz")
"""How the names of the tables of rows and of columns end."""

ID = "id"
"""The column that holds names."""


def names_beside(path: Path, axis: int, count: int) -> list[str] | None:
    """Return the names of rows (axis 0) or columns (1) from the table beside a matrix file.

    None where there is no such table. One without names is warned of.
    """
    stem = Path(path.name.removesuffix(".gz")).stem
    packed = path.with_name(stem + SIDES[axis])
    table = packed if packed.is_file() else packed.with_suffix("")
    if not table.is_file():
        return None
    columns = read_side(table, count)
    if ID in columns:
        return columns[ID]
    for names in columns.values():
        if len(set(names)) == len(names) and all(names):
            return names
    lines = ("rows", "columns")[axis]
    warnings.warn(
        f"{table}: is not used for the names of the {lines}: it has no column {ID!r}, and each of "
        f"its columns ({', '.join(map(repr, columns))}) has a value that is empty or comes twice.",
        stacklevel=2,
    )
    return None


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
    records = list(SideTable(path, "a header and names", delimiter="\t"))
    if not records:
        raise FileFormatError(f"{path}: is empty, expected a header and names.")
    header, *body = (fields for _, fields in records)
    if len(body) != count:
        raise FileFormatError(
            f"{path}: expected {count} lines below the header, as the matrix has, found "
            f"{len(body)}. Write it again, or move it away if it belongs to another matrix."
        )
    for number, fields in records[1:]:
        if len(fields) != len(header):
            raise FileFormatError(
                f"{path}, line {number}: expected {len(header)} fields, as in the header, found "
                f"{len(fields)}. Write it again."
            )
    return {title: [fields[at] for fields in body] for at, title in enumerate(header)}


SIDE_OPTIONS = ("delimiter", "encoding", "decimal", "thousands", "sheet")
"""Options of reading a matrix that also say how to read a table beside it."""


class SideTable:
    """The lines of a table, of whatever layout: yields the number of each and its fields.

    Parameters
    ----------
    source : Path
        A csv or tsv, gzipped or not, or a workbook.
    expected : str
        What an empty file lacks.
    delimiter, encoding, decimal, thousands, sheet : str
        As for matrices, see `elbmf.io.formats.delimited.stream_delimited`.
    """

    def __init__(
        self,
        source: Path,
        expected: str,
        *,
        delimiter: str = "auto",
        encoding: str = "auto",
        decimal: str = "auto",
        thousands: str = "auto",
        sheet: str | None = None,
    ) -> None:
        check_delimiter(delimiter)
        check_encoding(encoding)
        check_marks(decimal, thousands)
        first_bytes(source, expected=expected)
        self._is_workbook = source.name.lower().endswith(EXCEL.suffixes)
        if not self._is_workbook:
            check_content(source, TSV)
        self.source = source
        self.delimiter = delimiter
        self.decimal, self.thousands = decimal, thousands
        self._encoding, self._sheet = encoding, sheet

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        source = self.source
        if self._is_workbook:
            # Numbers are stored as such, and written with a point.
            self.delimiter, self.decimal = ",", "."
            line, block = sheet_lines(source, self._sheet, texts=True)
            for number, fields in DelimitedText(source, ",", "utf-8").records(block.decode(), line):
                yield number, [field.replace(LINE_END, "\n") for field in fields]
            return
        if self._sheet is not None:
            raise InputError(
                f"{source}: is no workbook, which alone has sheets. Leave ",
                Setting("sheet"),
                " out.",
            )
        with open_bytes(source) as raw:
            stream, encoding = utf8_stream(raw, source, self._encoding)
            preferred = "," if source.name.lower().endswith((".csv", ".csv.gz")) else "\t"
            text = DelimitedText(source, preferred, encoding)
            for at, (line, block) in enumerate(text.blocks(stream)):
                if at == 0:
                    line, block = find_delimiter(text, line, block, self.delimiter)
                    self.delimiter = text.delimiter
                yield from text.records(text.decode(block, line), line)
