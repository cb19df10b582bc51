"""Fast reading of delimited text: numbers and names of chosen columns, a block of lines at a time.

For files of millions of lines whose columns are known. What may be anything is read by
`elbmf.io.delimited`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError
from elbmf.io.cells import finite_number, shown
from elbmf.io.delimited_text import decoded
from elbmf.io.kernels import text as kernels
from elbmf.io.kernels.decimals import MOST_DIGITS
from elbmf.io.kernels.naming import hash_slots, number_names
from elbmf.io.names import unpack_names
from elbmf.io.streams import count_lines, line_blocks

__all__ = ["Column", "FieldReader", "NameCodes", "Span", "header_fields"]

_KINDS = {
    "skip": kernels.SKIP,
    "whole": kernels.WHOLE,
    "decimal": kernels.DECIMAL,
    "text": kernels.TEXT,
    "optional": kernels.OPTIONAL,
}
_TEXTS = ("text", "optional")
_EXPECTED = {
    "whole": "a whole number",
    "decimal": "a number such as 3.5",
    "text": "a name",
}
_NEWLINE = ord("\n")
_NAMES_AT_ONCE = 1 << 14
_DELIMITERS = {b"\t": "tabs", b",": "commas", b";": "semicolons", b"::": "'::'", b" ": "spaces"}


@dataclass(frozen=True)
class Column:
    """A column of a file.

    Parameters
    ----------
    name : str
        What it is called in messages, and by which its values are asked for.
    kind : {"whole", "decimal", "text", "optional", "skip"}
        How to read it. A decimal is any finite number, optional a text that may be empty.
    """

    name: str
    kind: str = "skip"


@dataclass(frozen=True)
class Span:
    """Texts in a block: where they begin and end, as rows of ``bounds``, and the first line."""

    block: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    line: int

    @classmethod
    def of(cls, texts: Sequence[bytes], line: int) -> Span:
        """Return texts that are given one by one."""
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        block = np.frombuffer(b"".join(texts), dtype=np.uint8)
        return cls(block, np.column_stack([ends[:-1], ends[1:]]), line)

    def text(self, row: int) -> bytes:
        """Return one of the texts."""
        begin, end = self.bounds[row].tolist()
        return self.block[begin:end].tobytes()

    def line_of(self, row: int) -> int:
        """Return the line that one of the texts is in; fields in quotes may span several."""
        before = self.block[: int(self.bounds[row, 0])]
        return self.line + int(np.count_nonzero(before == _NEWLINE))


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
    advice : str
        What to do about a file that is not like this, a sentence.
    line : int
        Number of the first line that will be read.
    quoting : bool
        Whether fields may be in double quotes, and then contain delimiters and line ends.

    Attributes
    ----------
    line : int
        Number of the line that comes next.

    Examples
    --------
    >>> from elbmf.io.fields import Column, FieldReader
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
        advice: str,
        line: int = 1,
        *,
        quoting: bool = False,
    ) -> None:
        self.file = file
        self.columns = tuple(columns)
        self.line = line
        self._delimiter = delimiter
        self._delimiter_bytes = np.frombuffer(delimiter or b"", dtype=np.uint8)
        self._advice = advice
        self._quoting = quoting
        self._kinds = np.array([_KINDS[column.kind] for column in columns], dtype=np.int64)
        self._wholes, self._decimals, self._texts = (
            [column.name for column in columns if column.kind in kinds]
            for kinds in (("whole",), ("decimal",), _TEXTS)
        )

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
        data = np.frombuffer(block, dtype=np.uint8)
        room = count_lines(block) + 1
        wholes = np.empty((len(self._wholes), room), dtype=np.int64)
        decimals = np.empty((len(self._decimals), room), dtype=np.float64)
        spans = np.empty((len(self._texts), room, 2), dtype=np.int64)
        unread = np.empty((len(self._decimals) * room, 5), dtype=np.int64)
        lines, begin, field, problem, skipped = kernels.split_lines(
            data,
            self._delimiter_bytes,
            self._quoting,
            self._kinds,
            wholes,
            decimals,
            spans,
            unread,
        )
        for row, column, line_begin, start, end in unread[:skipped].tolist():
            number = finite_number(block[start:end].decode(errors="replace"))
            if number is None:
                raise self._error(data, line_begin, column, kernels.NO_NUMBER)
            decimals[self._decimals.index(self.columns[column].name), row] = number
        if problem != kernels.FINE and block[begin:].strip(b"\r\n" if self._delimiter else None):
            raise self._error(data, begin, field, problem)
        values: dict[str, Any] = {}
        for names, array in ((self._wholes, wholes), (self._decimals, decimals)):
            values |= {name: row[:lines] for name, row in zip(names, array, strict=True)}
        for name, bounds in zip(self._texts, spans, strict=True):
            values[name] = Span(data, bounds[:lines], self.line)
        self.line += room - 1 if not block or block.endswith(b"\n") else room
        return values

    def blocks(self, stream: IO[bytes], head: bytes = b"") -> Iterator[tuple[int, dict[str, Any]]]:
        """Read a stream to its end; yields for each block its first line and its values.

        Parameters
        ----------
        stream : binary stream
            The text.
        head : bytes
            Whole lines that were taken from it already, and are to be read first.
        """
        for block in chain([head] if head else [], line_blocks(stream, quoting=self._quoting)):
            first = self.line
            yield first, self.read(block)

    def bad_value(self, line: int, name: str, value: object, expected: str) -> FileFormatError:
        """Return the error of a field that was read but cannot be right."""
        field = [column.name for column in self.columns].index(name)
        return FileFormatError(
            f"{self.file}, line {line}, field {field + 1} ({name}): expected {expected}, "
            f"found {value}. {self._advice}"
        )

    def _error(
        self, data: NDArray[np.uint8], begin: int, field: int, problem: int
    ) -> FileFormatError:
        """Return the error of the line that begins at a position."""
        count = len(self.columns)
        bounds = np.empty((count, 2), dtype=np.int64)
        found, end = kernels.cut_line(data, begin, self._delimiter_bytes, self._quoting, bounds)
        cut_off = end == data.size
        text = data[begin:end].tobytes().removesuffix(b"\r")
        line = self.line + int(np.count_nonzero(data[:begin] == _NEWLINE))
        where = f"{self.file}, line {line}"
        hint = ""
        if found != count or problem == kernels.OPEN_QUOTE:
            names = ", ".join(column.name for column in self.columns)
            delimiter = "blanks" if self._delimiter is None else repr(self._delimiter.decode())
            what = "a blank line" if not text else f"{found}: {shown(text)}"
            message = (
                f"{where}: expected {count} fields ({names}) separated by {delimiter}, "
                f"found {what}."
            )
            if problem == kernels.OPEN_QUOTE:
                hint = f" The quote that opens field {field + 1} is not closed."
            elif found == 1 < count:
                others = [
                    word
                    for other, word in _DELIMITERS.items()
                    if other != self._delimiter and text.count(other) == count - 1
                ]
                hint = f" Its fields seem to be separated by {others[0]}." if others else ""
        else:
            column = self.columns[field]
            value = data[slice(*bounds[field])].tobytes()
            found_text = "nothing" if problem == kernels.EMPTY else shown(value)
            size = f" of at most {MOST_DIGITS} digits" if problem == kernels.TOO_LARGE else ""
            message = (
                f"{where}, field {field + 1} ({column.name}): expected "
                f"{_EXPECTED[column.kind]}{size}, found {found_text}."
            )
        if b"\0" in text or text.startswith((b"\xff\xfe", b"\xfe\xff")):
            hint = " It has NUL bytes: save it as UTF-8, not as UTF-16."
        elif cut_off and found < count and not hint:
            hint = " It is the last line: the file seems to be cut off."
        return FileFormatError(f"{message}{hint} {self._advice}")


def header_fields(
    file: str, line: bytes, delimiter: bytes, needed: Sequence[str] = ()
) -> list[str]:
    """Return the names of the columns in a header.

    Parameters
    ----------
    file : str
        What to call the file in messages.
    line : bytes
        The first line of the file.
    delimiter : bytes
        What stands between two names.
    needed : sequence of str
        Names that must be there.
    """
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


class NameCodes:
    """Numbers names in the order in which they first come, at millions per second.

    Parameters
    ----------
    file : str
        What to call the file in messages.

    Notes
    -----
    Iterating gives the names, by their numbers. They are kept as bytes: a name takes some 30 to 40
    bytes beside its own.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._count = 0
        self._slots = np.full(1 << 12, -1, dtype=np.int64)
        self._bounds = np.zeros((1 << 11) + 1, dtype=np.int64)
        self._text = np.empty(1 << 16, dtype=np.uint8)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        for first in range(0, self._count, _NAMES_AT_ONCE):
            yield from self.decoded(first, min(first + _NAMES_AT_ONCE, self._count))

    @property
    def names(self) -> list[str]:
        """All names, by their numbers."""
        return self.decoded(0, self._count)

    @property
    def nbytes(self) -> int:
        """Memory that the names take."""
        arrays = (self._slots, self._bounds, self._text)
        return sum(array.nbytes for array in arrays)

    def decoded(self, first: int, last: int) -> list[str]:
        """Return the names from one number to before another."""
        bounds = self._bounds[first : last + 1]
        return unpack_names(self._text[bounds[0] : bounds[-1]], bounds - bounds[0])

    def codes(self, names: Span) -> NDArray[np.int64]:
        """Return the numbers of names, known or new."""
        codes = np.empty(names.bounds.shape[0], dtype=np.int64)
        known = self._count
        done = 0
        while True:
            done, self._count = number_names(
                names.block,
                names.bounds,
                done,
                codes,
                self._slots,
                self._bounds,
                self._text,
                self._count,
            )
            if done == codes.size:
                break
            longest = int(np.diff(names.bounds, axis=1).max())
            self._make_room(longest)
        self._check_text(known, names, codes)
        return codes

    def _make_room(self, longest: int) -> None:
        """Grow whatever is full."""
        room = self._bounds.size - 1
        if self._count == room:
            self._bounds = _grown(self._bounds, 2 * room + 1)
            self._slots = np.full(4 * room, -1, dtype=np.int64)
            hash_slots(self._bounds, self._text, self._count, self._slots)
        if self._bounds[self._count] + longest > self._text.size:
            self._text = _grown(self._text, 2 * self._text.size + longest)

    def _check_text(self, known: int, names: Span, codes: NDArray[np.int64]) -> None:
        """Raise where a name that is new is no text."""
        text = self._text[self._bounds[known] : self._bounds[self._count]]
        if not text.tobytes().isascii():
            # In the order in which they come, so that the first that is no text is told.
            for code in range(known, self._count):
                name = self._text[slice(*self._bounds[code : code + 2])].tobytes()
                try:
                    name.decode()
                except UnicodeDecodeError:
                    decoded(self._file, names.line_of(int(np.argmax(codes == code))), name)


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    result = np.empty(size, dtype=array.dtype)
    result[: array.size] = array
    return result
