"""The text of delimited files: encoding, blocks of lines, records, quotes, and what a cell says."""

from __future__ import annotations

import codecs
import csv
import io
import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.files import count_lines, line_blocks, reading, reason
from elbmf.io.text.numerals import CellError, Numerals, looks_numeric

__all__ = [
    "DELIMITERS",
    "UTF16_MARKS",
    "CellError",
    "DelimitedText",
    "cell_text",
    "check_delimiter",
    "check_encoding",
    "decoded",
    "finite_number",
    "harmless",
    "is_missing",
    "is_number",
    "is_text",
    "letters_in",
    "parse_cell",
    "quoted",
    "shown",
    "utf8_stream",
]

DELIMITERS = (",", ";", "\t")
"""What may be found out to separate fields."""

_SHOWN_BEFORE = 20
# As spreadsheets write them in English, German and French.
_BOOLEANS = dict.fromkeys(("true", "yes", "wahr", "ja", "vrai", "oui"), 1.0)
_BOOLEANS |= dict.fromkeys(("false", "no", "falsch", "nein", "faux", "non"), 0.0)
_LETTERS = {"y": 1.0, "j": 1.0, "n": 0.0}
_MISSING = {"", "na", "nan", "null", "?"}
# With some a missing value, with others a plain no, so neither is guessed.
_UNCLEAR = {"n/a", "#n/a", "none", "nil", ".", "-"}
_WRITTEN_MISSING = "NA"
# Beyond, not every whole number is a float.
_EXACT_WHOLE = 2.0**53
_MOST_SHOWN = 60


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
    """Whether a cell is a finite number, however it is written, or true, false, yes or no."""
    try:
        return not math.isnan(parse_cell(cell))
    except CellError:
        return looks_numeric(cell)


def is_text(cell: str) -> bool:
    """Whether a cell is neither a number, finite or not, nor a sign for a missing value or no."""
    if is_missing(cell) or is_number(cell) or cell.strip().lower() in _UNCLEAR:
        return False
    try:
        return "_" in cell or not math.isinf(float(cell))
    except ValueError:
        return True


def parse_cell(cell: str, numerals: Numerals | None = None) -> float:
    """Return the number in a cell: true and yes are 1, false and no 0, a missing value is NaN.

    Without numerals, numbers are written as in Python.
    """
    text = cell.strip()
    if (
        numerals is not None
        and numerals.ones
        and (is_missing(text) or text.lower() in numerals.ones)
    ):
        if text and text.lower() not in numerals.ones:
            raise CellError(f"the cell is {shown(cell)}, where marks leave only empty cells")
        return float(bool(text))
    if text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if is_missing(text):
        return math.nan
    if text.lower() in _UNCLEAR:
        raise CellError(f"the cell is {shown(cell)}, which may mean 0 or a missing value")
    value = finite_number(text)
    if numerals is not None and (value is None or "." in text):
        value = numerals.number(text)
    if value is None:
        raise CellError(f"the cell is {shown(cell)}, which is not a finite number")
    return value


def letters_in(cells: Iterable[Any]) -> dict[Hashable, float]:
    """Return what Y, J and N say in a column that has nothing else beside missing cells.

    Elsewhere they may say anything, such as a base of a genome, and nothing is returned.
    """
    known: dict[Hashable, float] = {}
    for cell in cells:
        text = "" if cell is None or str(cell) == "<NA>" else str(cell)
        if text.strip().lower() in _LETTERS:
            known[cell] = _LETTERS[text.strip().lower()]
        elif not is_missing(text):
            return {}
    return known


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


@dataclass
class DelimitedText:
    """How to take a delimited text file apart: by one ASCII character, in an encoding.

    The encoding "auto" is UTF-8 or, if the first characters beyond ASCII are none of it, that of
    Windows in Western Europe, where these make words of it.
    """

    path: Path
    delimiter: str
    encoding: str = "auto"

    def decode(self, data: bytes, first_line: int) -> str:
        """Decode bytes that begin at a given line of the file."""
        if self.encoding == "auto" and not data.isascii():
            self.encoding = "utf-8" if not _is_western(data) else _WESTERN
        latin = Setting("encoding", "latin-1")
        advice = ("Save the file as UTF-8 or name its encoding, such as ", latin, ".")
        known = "utf-8" if self.encoding == "auto" else self.encoding
        return decoded(self.path, first_line, data, known, advice)

    def utf8(self, data: bytes, first_line: int) -> bytes:
        """Return bytes of the file in UTF-8, or raise where they are no text in its encoding."""
        if self.encoding == "auto":
            self.decode(data, first_line)
        if self.encoding != "auto" and codecs.lookup(self.encoding).name != "utf-8":
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


_WESTERN = "cp1252"
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""How text in UTF-16 begins."""

# What may stand between two letters of a word.
_JOINING = "’'·-–\u00a0"


def _is_western(data: bytes) -> bool:
    """Whether bytes are no UTF-8, but words in the encoding of Windows in Western Europe.

    Other encodings read as this one give signs or capitals within words, or words of hardly
    anything but accented letters.
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        pass
    else:
        return False
    try:
        text = data.decode(_WESTERN)
    except UnicodeDecodeError:
        return False
    odd = [at for at, character in enumerate(text) if character > "\x7f"]
    for at in odd:
        before, here, after = text[at - 1 : at], text[at], text[at + 1 : at + 2]
        if here.isalpha():
            if here.isupper() and (before.islower() or (before.isalpha() and after.islower())):
                return False
        elif before.isalpha() and after.isalpha() and here not in _JOINING:
            return False
    letters = sum(text[at].isalpha() for at in odd)
    words = {at for at in odd if text[at].isalpha()}
    beside = sum(
        (at - 1 not in words and text[at - 1 : at].isalpha())
        or (at + 1 not in words and text[at + 1 : at + 2].isalpha())
        for at in words
    )
    return 2 * beside >= letters


class _Recoded(io.RawIOBase):
    """The bytes of a stream in another encoding, in UTF-8."""

    def __init__(self, stream: IO[bytes], path: Path, encoding: str) -> None:
        super().__init__()
        self._stream, self._path, self._encoding = stream, path, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._ended:
            data = self._stream.read(1 << 16)
            self._ended = not data
            try:
                self._ready = self._decoder.decode(data, final=not data).encode()
            except UnicodeError as error:
                raise FileFormatError(
                    f"{self._path}: expected text in UTF-16, as its first bytes say or the "
                    f"encoding does; found something else: {reason(error)}. Save it as UTF-8."
                ) from error
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


def utf8_stream(stream: Any, path: Path, encoding: str) -> tuple[Any, str]:
    """Return a stream of text in an encoding that contains ASCII, and that encoding.

    That is the stream itself, unless it is UTF-16: as its first bytes or its encoding say.
    """
    with reading(path):
        wide = stream.peek(2)[:2] in UTF16_MARKS
    if encoding == "auto" and wide:
        encoding = "utf-16"
    if encoding == "auto" or _contains_ascii(encoding):
        return stream, encoding
    return io.BufferedReader(_Recoded(stream, path, encoding), 1 << 16), "utf-8"


def _contains_ascii(encoding: str) -> bool:
    return "0,\n".encode(encoding) == b"0,\n"


def check_delimiter(delimiter: str) -> str:
    """Return the delimiter if it is one that lines can be cut at, or "auto"."""
    if delimiter == "auto":
        return delimiter
    if not (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()) or (
        delimiter.isalnum() or delimiter in '"\r\n+-.\0'
    ):
        raise InputError(
            "delimiter must be 'auto' or one ASCII character that is no letter, digit, quote, "
            f"sign or line end, got {delimiter!r}."
        )
    return delimiter


def check_encoding(encoding: str) -> str:
    """Return the encoding if it exists, and is UTF-16 or writes digits as ASCII does."""
    if encoding == "auto":
        return encoding
    try:
        compatible = _contains_ascii(encoding) or codecs.lookup(encoding).name.startswith("utf-16")
    except (LookupError, TypeError) as error:
        raise InputError(
            f"there is no text encoding {encoding!r}. Usual ones are 'utf-8' and 'latin-1'."
        ) from error
    if not compatible:
        raise InputError(
            f"the encoding {encoding!r} does not contain ASCII. Save the file as UTF-8."
        )
    return encoding


_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def harmless(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula: if need be, after a single quote."""
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


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
