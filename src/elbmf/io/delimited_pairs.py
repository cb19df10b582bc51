"""CSV and TSV files of pairs: each line names a row, a column and perhaps a value."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.cells import CellError, cell_text, parse_cell
from elbmf.io.delimited_text import DelimitedText, quoted
from elbmf.io.entries import Ending, Entries
from elbmf.io.fields import NameCodes, Span
from elbmf.io.header import Record
from elbmf.io.kernels.pairs import split_pairs
from elbmf.io.streams import count_lines
from elbmf.io.table import LabelledMatrix, compact, csr_from_pairs

__all__ = ["PairReader", "check_pair_names", "conflicting_pair", "pair_lines"]

# Distinct texts of values that are remembered.
_MOST_TEXTS = 1 << 16


class PairReader:
    """Reads the blocks of a file of pairs.

    Rows and columns come in the order in which they first appear.

    Parameters
    ----------
    text : DelimitedText
        The file.
    sample : list of Record
        Its first records.
    """

    def __init__(self, text: DelimitedText, sample: list[Record]) -> None:
        self.text = text
        self.fields = len(sample[0].fields)
        if self.fields not in (2, 3):
            raise FileFormatError(
                f"{text.path}, line 1: expected pairs, which have 2 fields (row, column) or 3 "
                f"(row, column, value) separated by {text.delimiter!r}, found {self.fields}. "
                "For a table with one column per field, use ",
                Setting("layout", "wide"),
                ".",
            )
        self._names = (NameCodes(str(text.path)), NameCodes(str(text.path)))
        self._values = _ValueTexts(str(text.path))
        self._utf8 = codecs.lookup(text.encoding).name == "utf-8"
        self._added: list[Entries] = []
        self._any = False
        self._any_values = False

    def add(self, first_line: int, block: bytes) -> None:
        """Append a block of lines that begins at a given line of the file."""
        self._added.append(self.entries(first_line, block))

    def table(self) -> LabelledMatrix:
        """Return the matrix of all blocks that were added."""
        ending = self.ending()
        entries = _joined(self._added)
        self._added.clear()
        row_names, column_names = (names.names for names in self._names)
        matrix, conflict = csr_from_pairs(
            entries.rows, entries.columns, entries.values, ending.shape
        )
        if conflict is not None:
            raise conflicting_pair(
                self.text.path, row_names[conflict[0]], column_names[conflict[1]]
            )
        csr = sparse.csr_array((compact(matrix.data), matrix.indices, matrix.indptr), ending.shape)
        return LabelledMatrix(csr, row_names, column_names)

    def entries(self, first_line: int, block: bytes) -> Entries:
        """Return the entries of a block of lines that begins at a given line of the file."""
        self._any = True
        if not self._utf8:
            block = self.text.decode(block, first_line).encode()
        elif not block.isascii():
            self.text.decode(block, first_line)  # raises where it is no text
        data = np.frombuffer(block, dtype=np.uint8)
        room = count_lines(block) + 1
        spans = np.empty((2, room, 2), dtype=np.int64)
        values = np.empty(room if self.fields == 3 else 0)
        unread = np.empty((values.size, 3), dtype=np.int64)
        parts: list[Entries] = []
        at, records = 0, 1
        delimiter = ord(self.text.delimiter)
        while at < data.size:
            lines, at, skipped = split_pairs(
                data, at, delimiter, self.fields == 3, spans, values, unread
            )
            if lines:
                self._any_values = self._any_values or skipped < lines
                self._read_values(Span(data, unread[:skipped, 1:], first_line), unread, values)
                rows, columns = (
                    names.codes(Span(data, bounds[:lines], first_line))
                    for names, bounds in zip(self._names, spans, strict=True)
                )
                parts.append(Entries(rows, columns, values[:lines].copy() if values.size else None))
            if at < data.size:
                # Few lines are not simple, or many: then ever more are taken together.
                end = _records_end(block, at, records)
                line = first_line + count_lines(block[:at])
                try:
                    parts.append(self._any_entries(block[at:end], line))
                except FileFormatError:
                    # Quotes within plain fields make the end of a record hard to tell.
                    parts.append(self._any_entries(block[at:], line))
                    end = len(block)
                at, records = end, 2 * records
        return parts[0] if len(parts) == 1 else _joined(parts)

    def ending(self) -> Ending:
        """Return shape and names, when all blocks were read."""
        if not self._any:
            raise FileFormatError(
                f"{self.text.path}: found a header and no pairs below it. If the first line is a "
                "pair, pass ",
                Setting("header", False),
                ".",
            )
        if self.fields == 3 and not self._any_values:
            raise FileFormatError(
                f"{self.text.path}: field 3 (the value) is empty in every line. Remove the "
                "delimiter too many, or write NA where values are missing."
            )
        rows, columns = self._names
        return Ending((len(rows), len(columns)), rows, columns)

    def _read_values(self, texts: Span, unread: np.ndarray, values: np.ndarray) -> None:
        """Read the values that are no plain numbers."""
        if texts.bounds.shape[0]:
            try:
                numbers, any_text = self._values.numbers(texts)
            except CellError as error:
                raise self._bad_value(texts.line_of(error.args[1]), error) from error
            values[unread[: numbers.size, 0]] = numbers
            self._any_values = self._any_values or any_text

    def _any_entries(self, block: bytes, first_line: int) -> Entries:
        """Read lines of any form, and say what is wrong with them."""
        names: tuple[list[bytes], list[bytes]] = ([], [])
        values: list[float] = []
        for line, fields in self.text.records(block.decode(), first_line):
            if len(fields) != self.fields:
                found = f"{len(fields)}" if fields else "a blank line"
                raise FileFormatError(
                    f"{self.text.path}, line {line}: expected {self.fields} fields, as in the "
                    f"first line, found {found}. Complete or remove the line."
                )
            if not fields[0] or not fields[1]:
                which = "row (field 1)" if not fields[0] else "column (field 2)"
                raise FileFormatError(
                    f"{self.text.path}, line {line}: the name of the {which} is empty. "
                    "Fill it in or remove the line."
                )
            for known, name in zip(names, fields[:2], strict=True):
                known.append(name.encode())
            if self.fields == 3:
                self._any_values = self._any_values or bool(fields[2].strip())
                try:
                    values.append(parse_cell(fields[2]))
                except CellError as error:
                    raise self._bad_value(line, error) from error
        rows, columns = (
            codes.codes(Span.of(some, first_line))
            for codes, some in zip(self._names, names, strict=True)
        )
        return Entries(rows, columns, np.array(values) if self.fields == 3 else None)

    def _bad_value(self, line: int, error: CellError) -> FileFormatError:
        return FileFormatError(
            f"{self.text.path}, line {line}, field 3 (the value): {error.args[0]}. Values "
            "must be 0 or 1, true or false, or numbers, empty or NA where one is "
            "missing. If the first line is a header, pass ",
            Setting("header", True),
            ".",
        )


class _ValueTexts:
    """The numbers of texts, each distinct text parsed once, as long as they are not too many."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._any_text = False
        self._forget()

    def numbers(self, texts: Span) -> tuple[np.ndarray, bool]:
        """Return the numbers, and whether a text was not blank, now or before.

        A `CellError` is told the position of the text, too.
        """
        if len(self._codes) > _MOST_TEXTS:
            self._forget()
        known = len(self._codes)
        codes = self._codes.codes(texts)
        for code, text in enumerate(self._codes.decoded(known, len(self._codes)), known):
            self._any_text = self._any_text or bool(text.strip())
            try:
                self._numbers.append(parse_cell(text))
            except CellError as error:
                raise CellError(str(error), int(np.argmax(codes == code))) from error
        return np.array(self._numbers)[codes], self._any_text

    def _forget(self) -> None:
        self._codes = NameCodes(self._file)
        self._numbers: list[float] = []


def _records_end(block: bytes, at: int, records: int) -> int:
    """Return where some records end; line ends within quotes end none."""
    quotes = 0
    while at < len(block) and records:
        end = block.find(b"\n", at) + 1 or len(block)
        quotes += block.count(b'"', at, end)
        records -= quotes % 2 == 0
        at = end
    return at


def _joined(parts: list[Entries]) -> Entries:
    values = [part.values for part in parts if part.values is not None]
    return Entries(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.columns for part in parts]),
        np.concatenate(values) if values else None,
    )


def conflicting_pair(path: Path, row: str, column: str) -> FileFormatError:
    """Return the error of a pair that comes with different values."""
    return FileFormatError(
        f"{path}: the pair ({row!r}, {column!r}) comes with different values. Keep one of them."
    )


def check_pair_names(table: LabelledMatrix) -> None:
    """Raise where names do not identify rows and columns, as pairs need."""
    for kind, names in (("row", table.row_labels()), ("column", table.column_labels())):
        if "" in names:
            raise InputError(f"pairs cannot be written: a {kind} name is empty. Give it a name.")
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise InputError(
                f"pairs cannot be written: the {kind} name {repeated!r} is used more than once. "
                "Make the names distinct."
            )


def pair_lines(table: LabelledMatrix, delimiter: str) -> Iterator[str]:
    """Yield the lines of a file of pairs, the header first.

    Rows and columns without entries do not appear in such a file.

    Parameters
    ----------
    table : LabelledMatrix
        What to write; its names must be distinct and not empty.
    delimiter : str
        The character between the fields.
    """
    check_pair_names(table)
    rows = quoted(table.row_labels(), delimiter)
    columns = quoted(table.column_labels(), delimiter)
    binary = table.values.dtype == bool
    yield delimiter.join(["row", "column"] if binary else ["row", "column", "value"]) + "\n"
    entries = table.values.tocoo()
    for row, column, value in zip(
        entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True
    ):
        fields = [rows[row], columns[column]]
        yield delimiter.join(fields if binary else [*fields, cell_text(value)]) + "\n"
