"""Fast reading of delimited text: numbers and names of known columns, block by block."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError, Setting
from elbmf.io.files import count_lines, line_blocks
from elbmf.io.kernels import fields as kernels
from elbmf.io.text.lines import CellError, finite_number, parse_cell, shown
from elbmf.io.text.naming import NameCodes, Span
from elbmf.io.text.numerals import Numerals

__all__ = ["Column", "FieldReader", "Fields", "header_fields"]

_KINDS = {
    "skip": kernels.SKIP,
    "text": kernels.TEXT,
    "optional": kernels.TEXT,
    "whole": kernels.WHOLE,
    "decimal": kernels.NUMBER,
    "cell": kernels.CELL,
}
_EXPECTED = {"whole": "a whole number", "decimal": "a number such as 3.5", "text": "a name"}
_DELIMITERS = {b"\t": "tabs", b",": "commas", b";": "semicolons", b"::": "'::'", b" ": "spaces"}

# Numbers that are not plain, to be read by Python: how many at a time, how many distinct texts of
# them are remembered; and columns that a message names.
_UNREAD = 1 << 15
_MOST_TEXTS = 1 << 16
_MOST_NAMED = 20

_QUOTE = ord('"')
_QUOTED = re.compile(rb'"(?:[^"]|"")*"?')


@dataclass(frozen=True)
class Column:
    """A column of a file.

    Parameters
    ----------
    name : str
        What it is called in messages, and by which its values are asked for; may be empty.
    kind : {"whole", "decimal", "cell", "text", "optional", "skip"}
        How to read it. A decimal is any finite number; a cell may also be missing, or say yes or no
        (see `parse_cell`); optional is a text that may be empty.
    """

    name: str
    kind: str = "skip"


@dataclass(frozen=True)
class Fields:
    """What was read of some lines: NaN where a number is missing, and each column of texts."""

    numbers: NDArray[np.float64]
    texts: list[Span]


class FieldReader:
    r"""Reads the lines of a file whose columns are known, and says where one is bad.

    Parameters
    ----------
    file : str
        What to call the file in messages.
    delimiter : bytes or None
        What stands between two fields: one byte or more; None for any number of blanks and tabs.
    columns : sequence of Column
        All columns of the file, in order.
    advice : str or callable
        What to do about a file that is not like this, a sentence; or what gives the pieces of one,
        from the number of the bad field, from 0, or None for a bad line, and its text.
    line : int
        Number of the line that comes next, now and as an attribute later.
    quoting : bool
        Whether fields may be in double quotes, and then contain delimiters and line ends.
    numerals : Numerals, optional
        How numbers are written; by default, with a point.

    Examples
    --------
    >>> from elbmf.io.text.fields import Column, FieldReader
    >>> columns = [Column("user", "whole"), Column("date"), Column("stars", "decimal")]
    >>> reader = FieldReader("ratings.csv", b",", columns, "Download it again.")
    >>> values = reader.read(b"7,2005,3.5\n9,2004,5\n")
    >>> values["user"].tolist(), values["stars"].tolist()
    ([7, 9], [3.5, 5.0])
    """

    def __init__(
        self,
        file: str,
        delimiter: bytes | None,
        columns: Sequence[Column],
        advice: str | Callable[[int | None, str], Sequence[str | Setting]],
        line: int = 1,
        *,
        quoting: bool = False,
        numerals: Numerals | None = None,
    ) -> None:
        self.file = file
        self.columns = tuple(columns)
        self.line = line
        self._delimiter = delimiter
        self._delimiter_bytes = np.frombuffer(delimiter or b"", dtype=np.uint8)
        self._advice = advice
        self._quoting = quoting
        self._numerals = numerals
        self._kinds = np.array([_KINDS[column.kind] for column in columns], dtype=np.int64)
        self._number_fields = np.flatnonzero(self._kinds >= kernels.WHOLE)
        self._text_fields = np.flatnonzero(self._kinds == kernels.TEXT)
        self._any_decimal = any(column.kind == "decimal" for column in columns)
        self._forget()

    def _forget(self) -> None:
        """Begin to remember what texts say."""
        self._known = NameCodes(self.file)
        self._numbers: list[float] = []

    def read(self, block: bytes) -> dict[str, Any]:
        """Read whole lines that follow those read before.

        Parameters
        ----------
        block : bytes
            The lines. Blank lines at its end are left out.

        Returns
        -------
        dict
            For each column that is not skipped, by its name, an array with an entry for each line,
            or a `Span` for texts.
        """
        fields = self.cut(block)
        values: dict[str, Any] = {}
        for field, numbers in zip(self._number_fields.tolist(), fields.numbers.T, strict=True):
            column = self.columns[field]
            values[column.name] = numbers.astype(np.int64) if column.kind == "whole" else numbers
        for field, texts in zip(self._text_fields.tolist(), fields.texts, strict=True):
            values[self.columns[field].name] = texts
        return values

    def cut(self, block: bytes) -> Fields:
        """Read whole lines as `read` does; returns the columns by their positions."""
        data = np.frombuffer(block, dtype=np.uint8)
        self._decide(block)
        plain = data if self._numerals is None else self._numerals.plain(data)
        room = count_lines(block) + 1
        numbers = np.empty((room, self._number_fields.size))
        bounds = np.empty((self._text_fields.size, room, 2), dtype=np.int64)
        unread = np.empty((max(_UNREAD, self._number_fields.size), 3), dtype=np.int64)
        lines = at = 0
        any_doubled = False
        problem = kernels.FULL
        while problem == kernels.FULL:
            lines, at, field, problem, skipped, doubled = kernels.split_lines(
                plain,
                at,
                lines,
                self._delimiter_bytes,
                self._quoting,
                self._kinds,
                numbers,
                bounds,
                unread,
            )
            any_doubled = any_doubled or doubled
            if skipped:
                self._read_others(data, unread[:skipped], numbers)
        if problem != kernels.FINE and block[at:].strip(b"\r\n" if self._delimiter else None):
            raise self._error(block, at, field, problem)
        texts = [Span(data, each[:lines], self.line) for each in bounds]
        self._check_names(texts)
        if any_doubled:
            texts = [_undoubled(each) for each in texts]
        self.line += room - 1 if not block or block.endswith(b"\n") else room
        return Fields(numbers[:lines], texts)

    def blocks(self, stream: IO[bytes], head: bytes = b"") -> Iterator[tuple[int, dict[str, Any]]]:
        """Read a stream to its end; yields for each block its first line and its values.

        The head is whole lines that were taken from it already, and are read first.
        """
        for block in chain([head] if head else [], line_blocks(stream, quoting=self._quoting)):
            first = self.line
            yield first, self.read(block)

    def bad_value(self, line: int, name: str, value: object, expected: str) -> FileFormatError:
        """Return the error of a field that was read but cannot be right."""
        field = [column.name for column in self.columns].index(name)
        return self._bad_field(line, field, f"expected {expected}, found {value}", str(value))

    def _decide(self, block: bytes) -> None:
        """Find out how numbers are written, before any is read; raise where that stays unclear."""
        numerals = self._numerals
        if numerals is None:
            return
        all_numbers = self._number_fields.size == self._kinds.size
        unclear = numerals.look(
            (at, text)
            for at, text in numerals.candidates(block)
            if all_numbers or self._is_number(self._field_at(block, at))
        )
        if unclear is not None:
            at, text = unclear
            field = self._field_at(block, at)
            error = numerals.unclear(text)
            line = self.line + block.count(b"\n", 0, at)
            raise self._bad_field(line, field, str(error), text, error.advice)

    def _is_number(self, field: int) -> bool:
        return field < self._kinds.size and bool(self._kinds[field] >= kernels.WHOLE)

    def _field_at(self, block: bytes, at: int) -> int:
        """Return the number of the field that a position is in."""
        line = block[block.rfind(b"\n", 0, at) + 1 : at]
        if self._delimiter is None:
            return len(line.split())
        return _QUOTED.sub(b"", line).count(self._delimiter)

    def _read_others(
        self, data: NDArray[np.uint8], unread: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> None:
        """Read the numbers that are no plain ones; each distinct text is looked at once."""
        if len(self._known) > _MOST_TEXTS:
            self._forget()
        texts = Span(data, np.ascontiguousarray(unread[:, 1:]), self.line)
        known = len(self._known)
        codes = self._known.codes(texts)
        for code, text in enumerate(self._known.decoded(known, len(self._known)), known):
            try:
                self._numbers.append(self._parsed(text))
            except CellError as error:
                row = int(np.argmax(codes == code))
                field = int(self._number_fields[unread[row, 0] % numbers.shape[1]])
                self._forget()
                line = texts.line_of(row)
                raise self._bad_field(line, field, str(error), text, error.advice) from error
        numbers.reshape(-1)[unread[:, 0]] = np.array(self._numbers)[codes]

    def _parsed(self, text: str) -> float:
        if not self._any_decimal:
            return parse_cell(text, self._numerals)
        number = finite_number(text)
        if number is None:
            found = shown(text) if text else "nothing"
            raise CellError(f"expected {_EXPECTED['decimal']}, found {found}")
        return number

    def _check_names(self, texts: Sequence[Span]) -> None:
        """Raise where a text is empty that may not be."""
        for field, each in zip(self._text_fields.tolist(), texts, strict=True):
            if self.columns[field].kind == "text" and each.empty.any():
                line = each.line_of(int(np.argmax(each.empty)))
                bad = f"expected {_EXPECTED['text']}, found nothing"
                raise self._bad_field(line, field, bad, "")

    def _bad_field(
        self,
        line: int,
        field: int,
        problem: str,
        text: str,
        advice: tuple[str | Setting, ...] = (),
    ) -> FileFormatError:
        name = self.columns[field].name
        where = f"field {field + 1}" + (f" ({name})" if name else "")
        return FileFormatError(
            f"{self.file}, line {line}, {where}: {problem}. ",
            *(advice or self._advised(field, text)),
        )

    def _advised(self, field: int | None, text: str) -> Sequence[str | Setting]:
        return (self._advice,) if isinstance(self._advice, str) else self._advice(field, text)

    def _error(self, block: bytes, begin: int, field: int, problem: int) -> FileFormatError:
        """Return the error of the line that begins at a position."""
        line = self.line + block.count(b"\n", 0, begin)
        text = block[begin:].partition(b"\n")[0].removesuffix(b"\r")
        fields = self._fields(block[begin:], text)
        if b"\0" in text or text.startswith((b"\xff\xfe", b"\xfe\xff")):
            return FileFormatError(
                f"{self.file}, line {line}: expected text, found NUL bytes in {shown(text)}. Save "
                "it as UTF-8, not as UTF-16. ",
                *self._advised(None, ""),
            )
        if problem == kernels.OPEN_QUOTE:
            bad = "the quote that opens it is not closed, or not at its end"
            return self._bad_field(line, field, bad, "")
        if problem == kernels.STRAY_RETURN:
            bad = "it has a carriage return that ends no line; lines must end with a line feed"
            return self._bad_field(line, field, bad, "")
        if problem == kernels.NOT_WHOLE and len(fields) == len(self.columns):
            cell = fields[field]
            most = f" of at most {kernels.MOST_DIGITS} digits" if cell.isdigit() else ""
            found = shown(cell.encode(errors="surrogateescape")) if cell else "nothing"
            bad = f"expected {_EXPECTED['whole']}{most}, found {found}"
            return self._bad_field(line, field, bad, cell)
        return self._other_fields(line, fields, text, last=begin + len(text) == len(block))

    def _other_fields(
        self, line: int, fields: list[str], text: bytes, *, last: bool
    ) -> FileFormatError:
        """Return the error of a line with too few fields or too many."""
        count = len(self.columns)
        names = [column.name for column in self.columns]
        named = f" ({', '.join(names)})" if count <= _MOST_NAMED and all(names) else ""
        delimiter = "blanks" if self._delimiter is None else repr(self._delimiter.decode())
        found = f"{len(fields)}: {shown(text)}" if text.strip() else "a blank line"
        hint = ""
        if len(fields) == 1 < count:
            others = [word for other, word in _DELIMITERS.items() if text.count(other) == count - 1]
            hint = f" Its fields seem to be separated by {others[0]}." if others else ""
        if last and len(fields) < count and not hint:
            hint = " It is the last line: the file seems to be cut off."
        return FileFormatError(
            f"{self.file}, line {line}: expected {count} fields{named} separated by {delimiter}, "
            f"found {found}.{hint} ",
            *self._advised(None, text.decode(errors="replace")),
        )

    def _fields(self, rest: bytes, text: bytes) -> list[str]:
        """Return the fields of a line, by what begins with it and what ends with it."""
        delimiter = None if self._delimiter is None else self._delimiter.decode()
        if self._quoting and delimiter is not None and b'"' in text:
            with suppress(csv.Error):
                lines = io.StringIO(rest.decode(errors="surrogateescape"), newline="")
                return next(csv.reader(lines, delimiter=delimiter))
        return text.decode(errors="surrogateescape").split(delimiter)


def _undoubled(texts: Span) -> Span:
    """Return texts with one quote for two in those that are in quotes."""
    block, line = texts.block, texts.line
    plain = [
        text.replace(b'""', b'"') if begin and block[begin - 1] == _QUOTE else text
        for text, begin in zip(texts, texts.bounds[:, 0].tolist(), strict=True)
    ]
    return Span.of(plain, line)


def header_fields(
    file: str, line: bytes, delimiter: bytes, needed: Sequence[str] = ()
) -> list[str]:
    """Return the names of the columns in the first line of a file; some must be there."""
    names = [
        name.decode("utf-8", "backslashreplace").strip().strip('"')
        for name in line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n").split(delimiter)
    ]
    missing = [name for name in needed if name not in names]
    if missing:
        raise FileFormatError(
            f"{file}, line 1: expected a header with the columns {', '.join(needed)} separated by "
            f"{delimiter.decode()!r}, found {shown(line.rstrip())}, without "
            f"{', '.join(missing)}. Give the file as its owner publishes it."
        )
    return names
