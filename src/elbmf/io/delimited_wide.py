"""Wide CSV and TSV tables: one line per row, one field per column."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from scipy import sparse

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.cells import CellError, CellValues, cell_text, is_text, parse_cell
from elbmf.io.delimited_text import DelimitedText, quoted
from elbmf.io.entries import Ending, Entries, dense_entries
from elbmf.io.header import Record
from elbmf.io.table import CsrBuilder, LabelledMatrix, compact

__all__ = ["WideReader", "wide_lines"]

_LINE_FEED, _CARRIAGE_RETURN, _ZERO, _ONE = b"\n\r01"


class WideReader:
    """Reads the blocks of a wide table.

    Parameters
    ----------
    text : DelimitedText
        The file.
    sample : list of Record
        Its first records.
    header, row_names : bool
        Whether it has a header line and a first column of row names.
    """

    def __init__(
        self, text: DelimitedText, sample: list[Record], *, header: bool, row_names: bool
    ) -> None:
        first = sample[0].fields
        one_short = (
            header and row_names and len(sample) > 1 and (len(sample[1].fields) == len(first) + 1)
        )
        self.text = text
        self.fields = len(first) + one_short
        self.named_rows = row_names
        self.columns = self.fields - row_names
        self.column_names = None
        if header:
            self.column_names = first if one_short or not row_names else first[1:]
        # Columns without a title of their own, in which no line has had anything so far: what a
        # delimiter too many in every line looks like.
        titles = None if one_short else self.column_names
        self._blank_columns = {
            column for column in range(self.columns) if not (titles and titles[column].strip())
        }
        self.row_names: list[str] = []
        self._values = CellValues()
        self._builder = CsrBuilder(self.columns)
        self._rows = 0
        if self.columns == 0:
            raise FileFormatError(
                f"{text.path}: found a single column, taken for row names, and no data. "
                f"Lines are cut at {text.delimiter!r}; name the right delimiter, or pass ",
                Setting("row_names", False),
                ".",
            )

    def add(self, first_line: int, block: bytes) -> None:
        """Append a block of lines that begins at a given line of the file."""
        self._builder.add(self._cells(first_line, block))

    def table(self) -> LabelledMatrix:
        """Return the matrix of all blocks that were added."""
        self.ending()
        built = self._builder.build()
        values = sparse.csr_array((compact(built.data), built.indices, built.indptr), built.shape)
        names = self.row_names if self.named_rows else None
        return LabelledMatrix(values, names, self.column_names)

    def entries(self, first_line: int, block: bytes) -> Entries:
        """Return the entries of a block of lines that begins at a given line of the file."""
        first_row = self._rows
        return dense_entries(self._cells(first_line, block), first_row)

    def ending(self) -> Ending:
        """Return shape and names, when all blocks were read."""
        if self._rows == 0:
            raise FileFormatError(
                f"{self.text.path}: found a header and no line of data below it. If the first "
                "line is data, pass ",
                Setting("header", False),
                ".",
            )
        if self._blank_columns:
            raise FileFormatError(
                f"{self.text.path}: field {min(self._blank_columns) + 1 + self.named_rows} has no "
                "title and is empty in every line. Remove the delimiter too many, or write NA "
                "where values are missing."
            )
        names = self.row_names if self.named_rows else None
        return Ending((self._rows, self.columns), names, self.column_names)

    def _cells(self, first_line: int, block: bytes) -> np.ndarray:
        """Read a block: its cells, as a dense array."""
        cells = self._add_single_digits(block)
        if cells is None:
            cells = self._add_records(first_line, block)
        else:
            self._blank_columns.clear()
        self._rows += cells.shape[0]
        return cells

    def _add_single_digits(self, block: bytes) -> np.ndarray | None:
        """Read a block whose cells are all the one character 0 or 1, without cutting it up.

        Such a line ends in ``2 * columns - 1`` characters of cells and delimiters. Returns None,
        and changes nothing, where a line is of any other form.
        """
        characters = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(characters == _LINE_FEED)
        if not block.endswith(b"\n"):
            ends = np.r_[ends, len(block)]
        starts = np.r_[0, ends[:-1] + 1]
        if block.endswith(b"\r\n"):
            ends = ends - 1
        width = 2 * self.columns - 1
        prefix_lengths = ends - starts - width
        if self.named_rows:
            if prefix_lengths.min() < 1:
                return None
        elif np.any(prefix_lengths != 0):
            return None
        if np.all(prefix_lengths == prefix_lengths[0]) and len(block) % len(ends) == 0:
            area = characters.reshape(len(ends), -1)[:, prefix_lengths[0] :][:, :width]
        else:
            area = characters[(ends - width)[:, None] + np.arange(width)]
        delimiter = ord(self.text.delimiter)
        # 0 and 1 differ in the last bit only.
        if np.any((area[:, 0::2] | 1) != _ONE) or np.any(area[:, 1::2] != delimiter):
            return None
        if self.named_rows:
            names = self._prefix_names(block, starts, ends - width)
            if names is None:
                return None
            self.row_names += names
        return area[:, 0::2] == _ONE

    def _prefix_names(self, block: bytes, starts: np.ndarray, ends: np.ndarray) -> list[str] | None:
        """Decode the row names before the cells; None unless each is one plain or quoted field."""
        delimiter = self.text.delimiter.encode()
        names: list[str] = []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if block[end - 1 : end] != delimiter:
                return None
            name = block[start : end - 1]
            if name[:1] == b'"' == name[-1:] and len(name) > 1:
                name = name[1:-1]
            elif delimiter in name:
                return None
            if b'"' in name or b"\r" in name:
                return None
            try:
                names.append(name.decode(self.text.encoding))
            except UnicodeDecodeError:
                return None
        return names

    def _add_records(self, first_line: int, block: bytes) -> np.ndarray:
        """Read a block field by field."""
        text = self.text.decode(block, first_line)
        current: tuple[int, list[str]] = (first_line, [])

        def rows() -> Iterator[list[str]]:
            nonlocal current
            for line, fields in self.text.records(text, first_line):
                if len(fields) != self.fields:
                    raise self._ragged(line, fields)
                if not any(map(str.strip, fields)):
                    raise FileFormatError(
                        f"{self.text.path}, line {line}: all fields are empty. Remove the line, "
                        "or write NA where values are missing."
                    )
                if self.named_rows:
                    self.row_names.append(fields.pop(0))
                if self._blank_columns:
                    self._blank_columns = {j for j in self._blank_columns if not fields[j].strip()}
                current = line, fields
                yield fields

        numbers = map(self._values.__getitem__, chain.from_iterable(rows()))
        try:
            flat = np.fromiter(numbers, dtype=np.float64)
        except CellError as error:
            raise self._bad_cell(*current) from error
        return flat.reshape(-1, self.columns)

    def _ragged(self, line: int, fields: list[str]) -> FileFormatError:
        found = f"{len(fields)}" if fields else "a blank line"
        return FileFormatError(
            f"{self.text.path}, line {line}: expected {self.fields} fields separated by "
            f"{self.text.delimiter!r}, as in the first line, found {found}. Complete or remove "
            "the line; a field that contains the delimiter must stand in quotes."
        )

    def _bad_cell(self, line: int, cells: list[str]) -> FileFormatError:
        for position, cell in enumerate(cells):
            try:
                parse_cell(cell)
            except CellError as error:
                advice: tuple[str | Setting, ...] = ()
                if is_text(cell) and position == 0 and not self.named_rows:
                    told = Setting("row_names", True)
                    advice = (" If the first column holds row names, pass ", told, ".")
                elif is_text(cell) and self.column_names is None:
                    advice = (" If the first line is a header, pass ", Setting("header", True), ".")
                elif is_text(cell):
                    advice = (
                        " Write 1 and 0 for other words; leave out a column that does not belong, "
                        "such as a diagnosis.",
                    )
                return FileFormatError(
                    f"{self.text.path}, line {line}, {self._column(position)}: {error}. Cells must "
                    "be 0 or 1, true or false, yes or no, or numbers; empty or NA where a value is "
                    "missing.",
                    *advice,
                )
        raise AssertionError("a bad cell was reported and then not found")

    def _column(self, position: int) -> str:
        label = f"field {position + 1 + self.named_rows}"
        if self.column_names is not None:
            label += f" (column {self.column_names[position]!r})"
        return label


def wide_lines(table: LabelledMatrix, delimiter: str) -> Iterator[str]:
    """Yield the lines of a wide table, the header first where columns have names.

    Parameters
    ----------
    table : LabelledMatrix
        What to write; it must have rows and columns.
    delimiter : str
        The character between the fields.
    """
    rows, columns = table.shape
    if rows == 0 or columns == 0:
        raise InputError(
            f"a matrix of shape {rows} x {columns} cannot be written as a text table, which needs "
            "at least one row and one column. Write it as npz."
        )
    names = None if table.row_names is None else quoted(table.row_names, delimiter)
    if table.column_names is not None:
        fields = quoted(table.column_names, delimiter)
        yield delimiter.join(fields if names is None else ['""', *fields]) + "\n"
    values = table.values
    # One row of zeros, in which the cells that are not zero are set and then reset.
    cells = ["0"] * columns
    binary = values.dtype == bool
    texts = ["1"] * values.nnz if binary else list(map(cell_text, values.data.tolist()))
    indices, bounds = values.indices.tolist(), values.indptr.tolist()
    for row in range(rows):
        stored = range(bounds[row], bounds[row + 1])
        for entry in stored:
            cells[indices[entry]] = texts[entry]
        line = delimiter.join(cells) + "\n"
        yield line if names is None else names[row] + delimiter + line
        for entry in stored:
            cells[indices[entry]] = "0"
