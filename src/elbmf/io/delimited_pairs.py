"""CSV and TSV files of pairs: each line names a row, a column and perhaps a value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from elbmf.errors import FileFormatError, InputError
from elbmf.io.cells import CellError, CellValues, cell_text
from elbmf.io.delimited_text import DelimitedText, quoted
from elbmf.io.header import Record
from elbmf.io.table import LabelledMatrix, compact, csr_from_pairs

__all__ = ["PairReader", "check_pair_names", "pair_lines"]


class PairReader:
    """Collects the blocks of a file of pairs into a sparse matrix.

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
                "For a table with one column per field, use layout='wide'."
            )
        self._row_codes: dict[str, int] = {}
        self._column_codes: dict[str, int] = {}
        self._rows: list[np.ndarray] = []
        self._columns: list[np.ndarray] = []
        self._values: list[np.ndarray] = []
        self._parsed = CellValues()
        self._has_values = False

    def add(self, first_line: int, block: bytes) -> None:
        """Append a block of lines that begins at a given line of the file."""
        rows: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        row_codes, column_codes = self._row_codes, self._column_codes
        for line, fields in self.text.records(self.text.decode(block, first_line), first_line):
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
            rows.append(row_codes.setdefault(fields[0], len(row_codes)))
            columns.append(column_codes.setdefault(fields[1], len(column_codes)))
            if self.fields == 3:
                self._has_values = self._has_values or bool(fields[2].strip())
                try:
                    values.append(self._parsed[fields[2]])
                except CellError as error:
                    raise FileFormatError(
                        f"{self.text.path}, line {line}, field 3 (the value): {error}. Values "
                        "must be 0 or 1, true or false, or numbers, empty or NA where one is "
                        "missing. If the first line is a header, pass header=True."
                    ) from error
        self._rows.append(np.array(rows, dtype=np.int64))
        self._columns.append(np.array(columns, dtype=np.int64))
        self._values.append(np.array(values, dtype=np.float64))

    def table(self) -> LabelledMatrix:
        """Return the matrix of all blocks."""
        if not self._rows:
            raise FileFormatError(
                f"{self.text.path}: found a header and no pairs below it. If the first line is a "
                "pair, pass header=False."
            )
        if self.fields == 3 and not self._has_values:
            raise FileFormatError(
                f"{self.text.path}: field 3 (the value) is empty in every line. Remove the "
                "delimiter too many, or write NA where values are missing."
            )
        rows, columns = np.concatenate(self._rows), np.concatenate(self._columns)
        values = np.concatenate(self._values) if self.fields == 3 else None
        row_names, column_names = list(self._row_codes), list(self._column_codes)
        shape = (len(row_names), len(column_names))
        matrix, conflict = csr_from_pairs(rows, columns, values, shape)
        if conflict is not None:
            raise FileFormatError(
                f"{self.text.path}: the pair ({row_names[conflict[0]]!r}, "
                f"{column_names[conflict[1]]!r}) comes with different values. Keep one of them."
            )
        matrix = sparse.csr_array((compact(matrix.data), matrix.indices, matrix.indptr), shape)
        return LabelledMatrix(matrix, row_names, column_names)


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
