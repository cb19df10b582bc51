"""Fast reading of delimited text: numbers and names of chosen columns, a block of lines at a time.

For files of millions of lines whose columns are known; quotes have no meaning here. What may be
anything is read by `elbmf.io.delimited`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError
from elbmf.io.names import unpack_names
from elbmf.io.streams import line_blocks
from elbmf.kernels import text as kernels

__all__ = ["Column", "FieldReader", "NameCodes", "Span", "header_fields"]

_KINDS = {
    "skip": kernels.SKIP,
    "whole": kernels.WHOLE,
    "decimal": kernels.DECIMAL,
    "text": kernels.TEXT,
}
_EXPECTED = {
    "whole": "a whole number",
    "decimal": "a number such as 3.5",
    "text": "a name",
    "skip": "any text",
}
_SHOWN = 60
_DELIMITERS = {b"\t": "tabs", b",": "commas", b";": "semicolons", b"::": "'::'", b" ": "spaces"}


@dataclass(frozen=True)
class Column:
    """A column of a file.

    Parameters
    ----------
    name : str
        What it is called in messages, and by which its values are asked for.
    kind : {"whole", "decimal", "text", "skip"}
        How to read it.
    """

    name: str
    kind: str = "skip"


@dataclass(frozen=True)
class Span:
    """Texts in a block: where they begin and end, as rows of ``bounds``, and the first line."""

    block: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    line: int


class FieldReader:
    r"""Reads the lines of a file whose columns are known, and says where one is bad.

    Parameters
    ----------
    file : str
        What to call the file in messages.
    delimiter : bytes
        What stands between two fields: one byte or more.
    columns : sequence of Column
        All columns of the file, in order.
    advice : str
        What to do about a file that is not like this, a sentence.
    line : int
        Number of the first line that will be read.

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
        self, file: str, delimiter: bytes, columns: Sequence[Column], advice: str, line: int = 1
    ) -> None:
        self.file = file
        self.columns = tuple(columns)
        self.line = line
        self._delimiter = delimiter
        self._advice = advice
        self._kinds = np.array([_KINDS[column.kind] for column in columns], dtype=np.int64)
        self._named: dict[str, list[str]] = {
            kind: [column.name for column in columns if column.kind == kind] for kind in _KINDS
        }

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
        room = block.count(b"\n") + 1
        named = self._named
        wholes = np.empty((len(named["whole"]), room), dtype=np.int64)
        decimals = np.empty((len(named["decimal"]), room), dtype=np.float64)
        spans = np.empty((len(named["text"]), room, 2), dtype=np.int64)
        delimiter = np.frombuffer(self._delimiter, dtype=np.uint8)
        lines, position, field, problem = kernels.split_lines(
            data, delimiter, self._kinds, wholes, decimals, spans
        )
        if problem != kernels.FINE and block[_line_start(block, position) :].strip(b"\r\n"):
            raise self._error(block, lines, position, field, problem)
        values: dict[str, Any] = {}
        for names, array in ((named["whole"], wholes), (named["decimal"], decimals)):
            values |= {name: row[:lines] for name, row in zip(names, array, strict=True)}
        for name, bounds in zip(named["text"], spans, strict=True):
            values[name] = Span(data, bounds[:lines], self.line)
        self.line += room - 1 if not block or block.endswith(b"\n") else room
        return values

    def blocks(self, stream: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Read a stream to its end; yields for each block its first line and its values."""
        for block in line_blocks(stream):
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
        self, block: bytes, lines: int, position: int, field: int, problem: int
    ) -> FileFormatError:
        start = _line_start(block, position)
        end = block.find(b"\n", position)
        cut_off = end < 0
        text = block[start : len(block) if cut_off else end].removesuffix(b"\r")
        where = f"{self.file}, line {self.line + lines}"
        count = len(self.columns)
        hint = ""
        found = text.count(self._delimiter) + 1
        if found != count:
            names = ", ".join(column.name for column in self.columns)
            what = "a blank line" if not text else f"{found}: {_shown(text)}"
            message = (
                f"{where}: expected {count} fields ({names}) separated by "
                f"{self._delimiter.decode()!r}, found {what}."
            )
            others = [
                word
                for other, word in _DELIMITERS.items()
                if other != self._delimiter and text.count(other) == count - 1 > 0 and found == 1
            ]
            if others:
                hint = f" Its fields seem to be separated by {others[0]}."
        else:
            column = self.columns[field]
            value = text[position - start :].partition(self._delimiter)[0]
            found_text = "nothing" if problem == kernels.EMPTY else _shown(value)
            size = " of at most 18 digits" if problem == kernels.TOO_LARGE else ""
            message = (
                f"{where}, field {field + 1} ({column.name}): expected "
                f"{_EXPECTED[column.kind]}{size}, found {found_text}."
            )
        if b"\0" in text or text.startswith((b"\xff\xfe", b"\xfe\xff")):
            hint = " It has NUL bytes: save it as UTF-8, not as UTF-16."
        elif cut_off and found < count and not hint:
            hint = " It is the last line: the file seems to be cut off."
        return FileFormatError(f"{message}{hint} {self._advice}")


def _line_start(block: bytes, position: int) -> int:
    return block.rfind(b"\n", 0, position) + 1


def _shown(text: bytes) -> str:
    try:
        shown = text.decode()
    except UnicodeDecodeError:
        return repr(text[:_SHOWN])[1:]
    return repr(shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…")


def header_fields(file: str, line: bytes, delimiter: bytes, needed: Sequence[str]) -> list[str]:
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
            f"{delimiter.decode()!r}, found {_shown(line.rstrip())}, without "
            f"{', '.join(missing)}. Give the file as its owner publishes it."
        )
    return names


class NameCodes:
    """Numbers names in the order in which they first come, at millions per second.

    Parameters
    ----------
    file : str
        What to call the file in messages.
    kind : str
        What the names are of, for messages.
    """

    def __init__(self, file: str, kind: str) -> None:
        self._file, self._kind = file, kind
        self._count = 0
        self._slots = np.full(1 << 12, -1, dtype=np.int32)
        self._hashes = np.empty(1 << 11, dtype=np.uint64)
        self._lines = np.empty(1 << 11, dtype=np.int64)
        self._bounds = np.zeros((1 << 11) + 1, dtype=np.int64)
        self._text = np.empty(1 << 16, dtype=np.uint8)

    def __len__(self) -> int:
        return self._count

    def codes(self, names: Span) -> NDArray[np.int64]:
        """Return the numbers of names, known or new."""
        codes = np.empty(names.bounds.shape[0], dtype=np.int64)
        done = 0
        while True:
            done, self._count = kernels.number_names(
                names.block,
                names.bounds,
                done,
                names.line,
                codes,
                self._slots,
                self._hashes,
                self._bounds,
                self._text,
                self._lines,
                self._count,
            )
            if done == codes.size:
                return codes
            longest = int(np.diff(names.bounds, axis=1).max())
            self._make_room(longest)

    def _make_room(self, longest: int) -> None:
        """Grow whatever is full."""
        if self._count == self._hashes.size:
            size = 2 * self._hashes.size
            self._hashes = _grown(self._hashes, size)
            self._lines = _grown(self._lines, size)
            self._bounds = _grown(self._bounds, size + 1)
            self._slots = np.full(2 * size, -1, dtype=np.int32)
            kernels.hash_slots(self._hashes, self._count, self._slots)
        if self._bounds[self._count] + longest > self._text.size:
            self._text = _grown(self._text, 2 * self._text.size + longest)

    def names(self) -> list[str]:
        """Return all names, by their numbers."""
        text = self._text[: self._bounds[self._count]]
        bounds = self._bounds[: self._count + 1]
        try:
            return unpack_names(text, bounds)
        except UnicodeDecodeError:
            pass
        for code in range(self._count):
            name = text[bounds[code] : bounds[code + 1]].tobytes()
            try:
                name.decode()
            except UnicodeDecodeError as error:
                raise FileFormatError(
                    f"{self._file}, line {self._lines[code]}: the name of a {self._kind}, "
                    f"{_shown(name)}, is not UTF-8 text. Save the file as UTF-8."
                ) from error
        raise AssertionError("names that cannot be decoded together can be decoded apart")


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    result = np.empty(size, dtype=array.dtype)
    result[: array.size] = array
    return result
