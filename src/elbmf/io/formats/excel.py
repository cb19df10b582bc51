"""Workbooks of spreadsheets: xlsx, xls and ods, of which one sheet is read. Extra ``excel``.

A sheet is read as a csv of the same cells would be: with or without a header and names of rows,
wide or as pairs. Numbers are those that are stored, however they are shown; text that only looks
like a number, as in ``7,5``, is read as in a csv. Empty rows and columns around the table are left
out. What would be read wrong is refused: merged cells, dates among numbers, errors of formulas.
"""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, Literal

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.apart import done_apart
from elbmf.io.chosen import Choice
from elbmf.io.entries import Ending, EntryStream
from elbmf.io.files import open_raw, reading, reason
from elbmf.io.formats.delimited import stream_lines
from elbmf.io.formats.format import Format
from elbmf.io.text.numerals import CellError, Numerals, looks_numeric
from elbmf.utils.extras import optional_module

__all__ = ["EXCEL", "LINE_END", "sheet_lines", "stream_excel"]

_DELIMITER = ","
# No workbook can hold this character.
LINE_END = "\x01"
"""What stands for a line end within a cell."""
_LETTERS = 26
# A workbook is read at once, and the XML in it is long.
_PATIENCE = 5


def stream_excel(
    path: Path,
    *,
    header: bool | Literal["auto"] = "auto",
    row_names: bool | Literal["auto"] = "auto",
    layout: str = "wide",
    decimal: str = "auto",
    thousands: str = "auto",
    marks: str = "",
    sheet: str | None = None,
    columns: Choice = None,
    drop: Choice = None,
) -> EntryStream:
    """Stream a sheet of a workbook.

    Parameters
    ----------
    path : Path
        The workbook.
    header, row_names : bool or "auto"
        Whether the first line names the columns, and the first column the rows.
    layout : {"wide", "pairs", "auto"}
        As of a csv.
    decimal, thousands : str
        Marks of numbers that are stored as text.
    marks : str
        As of a csv.
    sheet : str, optional
        Its name; by default the only one that has anything in it.
    columns, drop : str or sequence of str
        Names of columns to read, or to leave out.
    """
    first_line, lines = sheet_lines(path, sheet, decimal, thousands)
    ending = yield from stream_lines(
        path,
        first_line,
        lines,
        header=header,
        row_names=row_names,
        layout=layout,
        delimiter=_DELIMITER,
        encoding="utf-8",
        decimal=".",
        marks=marks,
        columns=columns,
        drop=drop,
    )
    row_titles, column_titles = (
        None if each is None else [name.replace(LINE_END, "\n") for name in each]
        for each in (ending.row_names, ending.column_names)
    )
    return Ending(ending.shape, row_titles, column_titles, untyped=True)


def sheet_lines(
    path: Path,
    sheet: str | None = None,
    decimal: str = "auto",
    thousands: str = "auto",
    *,
    texts: bool = False,
) -> tuple[int, bytes]:
    """Return the cells of a sheet as lines of a csv in UTF-8, and the number of its first row.

    Texts that look like numbers become numbers, unless ``texts`` says that they stay.
    """
    optional_module("python_calamine", extra="excel", purpose="reading workbooks")
    read = partial(_sheet_lines, path, sheet, decimal, thousands, texts)
    first_line, lines = done_apart(path, "excel", read, patience=_PATIENCE)
    return first_line, lines.encode()


def _sheet_lines(
    path: Path, sheet: str | None, decimal: str, thousands: str, texts: bool
) -> tuple[int, str]:
    with _opened(path) as workbook:
        name, found = _sheet(path, workbook, sheet)
        rows = found.to_python(skip_empty_area=False)
        merged = found.merged_cell_ranges or ()
    _check_formulas(path, name)
    filled = [at for at, row in enumerate(rows) if any(map(_is_filled, row))]
    top, bottom = filled[0], filled[-1] + 1
    used = [at for at in range(len(rows[0])) if any(_is_filled(row[at]) for row in rows[top:])]
    left, right = used[0], used[-1] + 1
    where = f"{path}, sheet {name!r}"
    if merged:
        (first_row, first_column), (last_row, last_column) = merged[0]
        raise FileFormatError(
            f"{where}: the cells {_place(first_row, first_column)}:"
            f"{_place(last_row, last_column)} are merged, so that it is not clear which rows and "
            "columns have what is in them. Unmerge them, and fill in each cell."
        )
    title = [cell for cell in rows[top] if _is_filled(cell)]
    if len(title) == 1 and right - left > 2 and bottom - top > 1:
        raise FileFormatError(
            f"{where}, line {top + 1}: has a single cell, {str(title[0])[:60]!r}, above a table of "
            f"{right - left} columns. Remove what stands above the table."
        )
    cells = [row[left:right] for row in rows[top:bottom]]
    if not texts:
        _read_texts(cells, where, top, left, Numerals("\t", decimal, thousands))
    lines = (_DELIMITER.join(map(_field, row)) for row in cells)
    return top + 1, "\n".join(lines) + "\n"


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    calamine = optional_module("python_calamine", extra="excel", purpose="reading workbooks")
    with reading(path), open_raw(path) as stream:
        try:
            with calamine.load_workbook(stream) as workbook:
                yield workbook
        except calamine.PasswordError as error:
            raise FileFormatError(
                f"{path}: is protected by a password. Save it without one."
            ) from error
        except calamine.CalamineError as error:
            raise FileFormatError(
                f"{path}: not a valid workbook (excel): {reason(error)}. It may be cut off, or "
                "another archive, such as one of the format npz. Save or copy it again."
            ) from error


def _sheet(path: Path, workbook: Any, name: str | None) -> tuple[str, Any]:
    """Return the sheet that is named, or the only one that has anything in it."""
    names = list(workbook.sheet_names)
    listing = ", ".join(map(repr, names))
    if name is not None:
        if name not in names:
            raise InputError(
                f"{path}: there is no sheet {name!r}. It has {listing}. Correct the name."
            )
        names = [name]
    sheets = {each: workbook.get_sheet_by_name(each) for each in names if _is_table(workbook, each)}
    filled = {each: found for each, found in sheets.items() if found.start is not None}
    if not filled:
        raise FileFormatError(f"{path}: expected a table, found nothing in {listing}.")
    if len(filled) > 1:
        raise InputError(
            f"{path}: has more than one sheet: {', '.join(map(repr, filled))}. Name the one to "
            "read: ",
            Setting("sheet", next(iter(filled))),
            ".",
        )
    return next(iter(filled.items()))


def _is_table(workbook: Any, name: str) -> bool:
    """Whether a sheet has cells, and not just a chart."""
    kinds = {each.name: each.typ for each in workbook.sheets_metadata}
    return str(kinds[name]).endswith("WorkSheet")


def _is_filled(cell: Any) -> bool:
    return not (cell is None or (isinstance(cell, str) and not cell.strip()))


def _place(row: int, column: int) -> str:
    """Return what a spreadsheet calls a cell."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, _LETTERS)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row + 1}"


def _read_texts(
    cells: list[list[Any]], where: str, top: int, left: int, numerals: Numerals
) -> None:
    """Make numbers of texts that only look like some, below the first line and beside names."""
    texts = [
        (row, column, cell.strip())
        for row, line in enumerate(cells)
        for column, cell in enumerate(line)
        if row and isinstance(cell, str) and looks_numeric(cell)
    ]
    unclear = [numerals.decide(text) for *_, text in texts]
    for (row, column, text), doubtful in zip(texts, unclear, strict=True):
        if doubtful or not text.isdigit():
            try:
                value = numerals.number(text)
            except CellError as error:
                raise FileFormatError(
                    f"{where}, cell {_place(top + row, left + column)}, stored as text: {error}. ",
                    *error.advice,
                ) from error
            # The first column may have names, which stay as they are.
            cells[row][column] = value if column and value is not None else text


def _field(cell: Any) -> str:
    """Return a cell as a field of a csv: text in quotes, all else without."""
    if cell is None or cell == "":
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | float):
        return str(int(cell)) if float(cell).is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        cell = cell.date()
    text = cell.isoformat() if isinstance(cell, datetime.date | datetime.time) else str(cell)
    for end in ("\r\n", "\r", "\n"):
        text = text.replace(end, LINE_END)
    return '"' + text.replace('"', '""') + '"'


_SHEET_ID = re.compile(rb'<sheet\b[^>]*\bname="([^"]*)"[^>]*\br:id="([^"]*)"')
_TARGET = re.compile(rb"<Relationship\b[^>]*>")
_ATTRIBUTE = re.compile(rb'\b(Id|Target)="([^"]*)"')
# An empty cell, which closes itself, is not the begin of the next one.
_CELL = re.compile(rb"<c\b([^>]*[^/>])>(.*?)</c>", re.DOTALL)
_REFERENCE = re.compile(rb'\br="([A-Z]+[0-9]+)"')
_VALUE = re.compile(rb"<v>([^<]*)</v>")


def _check_formulas(path: Path, sheet: str) -> None:
    """Raise where cells of an xlsx have errors, or formulas without the value they gave.

    These would pass for empty cells; #N/A is one that is missing.
    """
    content = _sheet_content(path, sheet)
    if b't="e"' not in content and b"<f" not in content:
        return
    for attributes, inside in _CELL.findall(content):
        value = _VALUE.search(inside)
        said = value[1].decode(errors="replace") if value else ""
        bad = ""
        if b't="e"' in attributes and said not in ("#N/A", ""):
            bad = f"has the error {said}. Correct it, or empty the cell if its value is missing."
        elif b"<f" in inside and not said and b't="str"' not in attributes:
            bad = (
                "has a formula whose value was not stored. Open and save the file in a "
                "spreadsheet, or replace formulas by their values."
            )
        if bad:
            found = _REFERENCE.search(attributes)
            place = found[1].decode() if found else "?"
            raise FileFormatError(f"{path}, sheet {sheet!r}: the cell {place} {bad}")


def _sheet_content(path: Path, sheet: str) -> bytes:
    """Return the XML of a sheet of an xlsx, nothing where the file is none."""
    if not zipfile.is_zipfile(path):
        return b""
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        if not {"xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= names:
            return b""
        sheets = _SHEET_ID.findall(archive.read("xl/workbook.xml"))
        wanted = {_plain(name): key for name, key in sheets}.get(sheet)
        for each in _TARGET.findall(archive.read("xl/_rels/workbook.xml.rels")):
            told = dict(_ATTRIBUTE.findall(each))
            if told.get(b"Id") == wanted:
                target = told.get(b"Target", b"").decode()
                member = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
                return archive.read(member) if member in names else b""
    return b""


def _plain(name: bytes) -> str:
    """Return text of XML without its escapes."""
    return unescape(name.decode(errors="replace"))


EXCEL = Format(
    name="excel",
    suffixes=(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    description="sheet of a workbook",
    stream=stream_excel,
    magic=(b"PK\x03\x04", b"\xd0\xcf\x11\xe0"),
    option_help={
        "header": "the first line names the columns",
        "row_names": "the first field of a line names the row",
        "layout": "wide (a table) or pairs (a row and a column per line)",
        "decimal": "decimal mark of numbers, . or , (default: found out)",
        "thousands": "mark between thousands: . , ' space or none (default: found out)",
        "marks": "what is a 1 in a table where empty cells are 0, such as x",
        "sheet": "sheet of a workbook (default: the only one that is not empty)",
        "columns": "names of columns to read, all others being left out",
        "drop": "names of columns to leave out",
    },
)
