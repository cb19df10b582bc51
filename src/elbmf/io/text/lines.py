"""The text of delimited files: encoding, blocks of lines, records, quotes, and what a cell says."""

from __future__ import annotations

import codecs
import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.files import count_lines, line_blocks

__all__ = [
    "DELIMITERS",
    "CellError",
    "DelimitedText",
    "cell_text",
    "check_encoding",
    "decoded",
    "finite_number",
    "is_missing",
    "is_number",
    "is_text",
    "parse_cell",
    "quoted",
    "shown",
]

DELIMITERS = (",", ";", "\t")
"""What may be found out to separate fields."""

_SHOWN_BEFORE = 20
_BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_MISSING = {"", "na", "nan", "null", "?"}
# With some a missing value, with others a plain no, so neither is guessed.
_UNCLEAR = {"n/a", "#n/a", "none", "nil", ".", "-"}
_WRITTEN_MISSING = "NA"
# Beyond, not every whole number is a float.
_EXACT_WHOLE = 2.0**53
_MOST_SHOWN = 60


class CellError(ValueError):
    """A cell holds no number; the message says what it holds, not where."""


def shown(text: str | bytes) -> str:
    """Return what a message says of a text: in quotes, not too long, with codes for odd bytes."""
    try:
        plain = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError:
        return repr(text[:_MOST_SHOWN]).removeprefix("b")
    return repr(plain if len(plain) <= _MOST_SHOWN else plain[: _MOST_SHOWN - 1] + "…")


def is_missing(cell: str) -> bool:
    """Whether a cell is empty or says that its value is missing: NA, NaN, null or ?."""
    return cell.strip().lower() in _MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number, or true, false, yes or no."""
    try:
        return not math.isnan(parse_cell(cell))
    except CellError:
        return False


def is_text(cell: str) -> bool:
    """Whether a cell is neither a number, finite or not, nor a sign for a missing value or no."""
    if is_missing(cell) or is_number(cell) or cell.strip().lower() in _UNCLEAR:
        return False
    try:
        return "_" in cell or not math.isinf(float(cell))
    except ValueError:
        return True


def parse_cell(cell: str) -> float:
    """Return the number in a cell: true and yes are 1, false and no 0, a missing value is NaN."""
    text = cell.strip()
    if text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if is_missing(text):
        return math.nan
    if text.lower() in _UNCLEAR:
        raise CellError(f"the cell is {shown(cell)}, which may mean 0 or a missing value")
    value = finite_number(text)
    if value is None:
        raise CellError(f"the cell is {shown(cell)}, which is not a finite number")
    return value


def finite_number(text: str) -> float | None:
    """Return the number that a text is; None where it is none, or not finite."""
    try:
        # float() alone would take the digit separators of Python source, as in 1_000.
        value = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def cell_text(value: float) -> str:
    """Return how a number or a missing value is written, so that `parse_cell` reads it back."""
    if math.isnan(value):
        return _WRITTEN_MISSING
    whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_WHOLE
    return repr(int(value) if whole else value)


def decoded(
    file: str | Path,
    first_line: int,
    data: bytes,
    encoding: str = "utf-8",
    advice: Sequence[str | Setting] = ("Save the file as UTF-8.",),
) -> str:
    """Decode bytes of a file that begin at a line; where that fails, the error says in which line.

    The advice is what to do about a file in another encoding: the pieces of a sentence.
    """
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = first_line + data[: error.start].count(b"\n")
        begin = max(data.rfind(b"\n", 0, error.start) + 1, error.start - _SHOWN_BEFORE)
        around = data[begin : error.start + _SHOWN_BEFORE].partition(b"\n")[0]
        raise FileFormatError(
            f"{file}, line {line}: expected text in the encoding {encoding}, found the byte "
            f"0x{data[error.start]:02x} in {shown(around)}. ",
            *advice,
        ) from error


@dataclass(frozen=True)
class DelimitedText:
    """How to take a delimited text file apart: by one ASCII character, in an encoding."""

    path: Path
    delimiter: str
    encoding: str

    def decode(self, data: bytes, first_line: int) -> str:
        """Decode bytes that begin at a given line of the file."""
        latin = Setting("encoding", "latin-1")
        advice = ("Save the file as UTF-8 or name its encoding, such as ", latin, ".")
        return decoded(self.path, first_line, data, self.encoding, advice)

    def utf8(self, data: bytes, first_line: int) -> bytes:
        """Return bytes of the file in UTF-8, or raise where they are no text in its encoding."""
        if codecs.lookup(self.encoding).name != "utf-8":
            return self.decode(data, first_line).encode()
        if not data.isascii():
            self.decode(data, first_line)
        return data

    def records(self, text: str, first_line: int) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the fields of each record of a text."""
        reader = csv.reader(io.StringIO(text), delimiter=self.delimiter, strict=True)
        line = first_line
        try:
            for fields in reader:
                yield line, fields
                line = first_line + reader.line_num
        except csv.Error as error:
            raise FileFormatError(
                f"{self.path}, line {line}: the fields or their quotes cannot be told apart "
                f"({error}). Every quote that opens a field must be closed at its end, and lines "
                "must end with a line feed."
            ) from error

    def blocks(self, stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole records, each with the number of its first line.

        Blank lines at the end of the file are left out; the byte order mark is, too.
        """
        line = 1
        blank_line = 0
        for number, raw in enumerate(line_blocks(stream, quoting=True)):
            block = raw.removeprefix(codecs.BOM_UTF8) if number == 0 else raw
            body = _without_trailing_blank_lines(block)
            if body and blank_line:
                raise FileFormatError(
                    f"{self.path}, line {blank_line}: the line is blank, expected fields "
                    f"separated by {self.delimiter!r}. Remove the line."
                )
            if body:
                yield line, body
            if len(body) < len(block) and not blank_line:
                blank_line = line + count_lines(body)
            line += count_lines(block)


def _without_trailing_blank_lines(block: bytes) -> bytes:
    end = len(block)
    while end:
        start = block.rfind(b"\n", 0, end - 1) + 1
        if block[start:end].strip(b" \r\n"):
            break
        end = start
    return block[:end]


def check_encoding(encoding: str) -> str:
    """Return the encoding if it exists and writes digits and line ends as ASCII does."""
    try:
        compatible = "0,\n".encode(encoding) == b"0,\n"
    except (LookupError, TypeError) as error:
        raise InputError(
            f"there is no text encoding {encoding!r}. Usual ones are 'utf-8' and 'latin-1'."
        ) from error
    if not compatible:
        raise InputError(
            f"the encoding {encoding!r} does not contain ASCII. Save the file as UTF-8."
        )
    return encoding


def quoted(names: Iterable[str], delimiter: str) -> list[str]:
    """Return names as fields: all in quotes if one of them needs it, else all plain.

    Quotes are needed for delimiters, quotes and line ends, and also for names that would pass
    for numbers or missing values, so that a reader can tell them from data.
    """
    names = list(names)
    special = {*DELIMITERS, delimiter, '"', "\r", "\n"}
    if all(is_text(name) and name == name.strip() and special.isdisjoint(name) for name in names):
        return names
    return ['"' + name.replace('"', '""') + '"' for name in names]
