"""CSV and TSV files of pairs: each line names a row, a column and perhaps a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.chosen import Choice, chosen_fields
from elbmf.io.entries import Ending, Entries
from elbmf.io.table import LabelledMatrix
from elbmf.io.text.fields import Column, FieldReader
from elbmf.io.text.lines import DelimitedText, cell_text, quoted
from elbmf.io.text.naming import NameCodes
from elbmf.io.text.numerals import Numerals

__all__ = ["PairReader", "check_pair_names", "pair_lines"]

_ROLES = ("the row", "the column", "the value")


class PairReader:
    """Reads the blocks of a file of pairs, of two or three fields.

    Rows and columns come in the order in which they first appear.

    Parameters
    ----------
    text : DelimitedText
        The file.
    first : sequence of str
        Fields of its first line.
    numerals : Numerals, optional
        How numbers are written.
    header : bool
        Whether the first line has titles.
    columns, drop : choices
        Titles of the fields that are read, row and column first, and of those that are not; or
        else names of columns of the matrix, which is up to the caller: see ``choice``.
    """

    def __init__(
        self,
        text: DelimitedText,
        first: Sequence[str],
        numerals: Numerals | None = None,
        *,
        header: bool = False,
        columns: Choice = None,
        drop: Choice = None,
    ) -> None:
        chosen = list(range(len(first)))
        if header:
            chosen, columns, drop = chosen_fields(first, columns, drop)
        self.choice = {"columns": columns, "drop": drop}
        if len(chosen) not in (2, 3):
            raise FileFormatError(*_too_many(text, first, len(chosen), header=header))
        self.text = text
        self._names = (NameCodes(str(text.path)), NameCodes(str(text.path)))
        # Names come in the order of the file.
        self._turned = chosen[0] > chosen[1]
        self._chosen = chosen
        roles = dict(zip(chosen, _ROLES, strict=False))
        self._fields = FieldReader(
            str(text.path),
            text.delimiter.encode(),
            [Column(roles.get(at, ""), _kind(chosen, at, len(first))) for at in range(len(first))],
            self._advice,
            quoting=True,
            numerals=numerals,
        )
        self._any = False
        self._any_values = len(chosen) == 2

    def entries(self, first_line: int, block: bytes) -> Entries:
        """Return the entries of a block of lines that begins at a given line of the file."""
        self._any = True
        block = self.text.utf8(block, first_line)
        self._fields.line = first_line
        fields = self._fields.cut(block)
        rows, columns = (
            names.codes(texts)
            for names, texts in zip(
                self._names, fields.texts[::-1] if self._turned else fields.texts, strict=True
            )
        )
        values = fields.numbers[:, 0] if fields.numbers.shape[1] else None
        if values is not None and not self._any_values:
            # Only the text tells what is empty from what says that it is missing.
            self._any_values = not np.isnan(values).all() or any(
                record[self._chosen[2]].strip()
                for _, record in self.text.records(block.decode(), first_line)
            )
        return Entries(rows, columns, values)

    def ending(self) -> Ending:
        """Return shape and names, when all blocks were read."""
        if not self._any:
            raise FileFormatError(
                f"{self.text.path}: found a header and no pairs below it. If the first line is a "
                "pair, pass ",
                Setting("header", False),
                ".",
            )
        if not self._any_values:
            raise FileFormatError(
                f"{self.text.path}: field {self._chosen[2] + 1} (the value) is empty in every "
                "line. Remove the extra delimiter, or write NA where values are missing."
            )
        rows, columns = self._names
        return Ending((len(rows), len(columns)), rows, columns, untyped=True)

    def _advice(self, field: int | None, text: str) -> tuple[str | Setting, ...]:
        if field is None:
            return ("Complete or remove the line.",)
        if field in self._chosen[:2]:
            return ("Fill in the empty name, or remove the line.",)
        return (
            "Values must be 0 or 1, true or false, or numbers, empty or NA where one is missing. "
            "If the first line is a header, pass ",
            Setting("header", True),
            ".",
        )


def _kind(chosen: Sequence[int], at: int, count: int) -> str:
    if at not in chosen:
        return "skip"
    return "text" if at in chosen[:2] else "cell"


def _too_many(
    text: DelimitedText, first: Sequence[str], chosen: int, *, header: bool
) -> tuple[str | Setting, ...]:
    """Say that a line has no pair, and how two of its fields are made one."""
    expected = "expected pairs, which have 2 fields (row, column) or 3 (row, column, value)"
    if chosen < len(first):
        titles = ", ".join(map(repr, first))
        return (
            f"{text.path}: {expected}, but {chosen} of its fields are chosen. Name those for row "
            f"and column, of {titles}, with ",
            Setting("columns"),
            ".",
        )
    told: tuple[str | Setting, ...] = ()
    if len(first) > 2:
        titles = f"{first[0]},{first[-1]}" if header or len(set(first)) == len(first) else "A,B"
        told = (
            " Choose those for row and column by their titles in the first line, such as ",
            Setting("columns", titles),
            ".",
        )
    return (
        f"{text.path}, line 1: {expected} separated by {text.delimiter!r}, found {len(first)}.",
        *told,
        " For a table with one column per field, use ",
        Setting("layout", "wide"),
        ".",
    )


def check_pair_names(table: LabelledMatrix, what: str = "pairs") -> None:
    """Raise where names do not identify rows and columns, as pairs need, or what is like pairs."""
    for kind, names in (("row", table.row_labels()), ("column", table.column_labels())):
        if "" in names:
            raise InputError(f"{what} cannot be written: a {kind} name is empty. Give it a name.")
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise InputError(
                f"{what} cannot be written: the {kind} name {repeated!r} is used more than once. "
                "Make the names distinct."
            )


def pair_lines(table: LabelledMatrix, delimiter: str) -> Iterator[str]:
    """Yield the lines of a file of pairs, the header first; names must be distinct and not empty.

    Rows and columns without entries do not appear in such a file.
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
