"""The text of CSV and TSV files: blocks of lines, decoding, fields, quotes and the delimiter."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.cells import is_text, shown
from elbmf.io.header import Record
from elbmf.io.streams import count_lines, line_blocks

__all__ = [
    "DelimitedText",
    "check_encoding",
    "decoded",
    "guess_delimiter",
    "quoted",
    "sample_lines",
]

_DELIMITERS = (",", ";", "\t")
_SAMPLE_RECORDS = 50
_SAMPLE_CHARACTERS = 1 << 20
_SHOWN_BEFORE = 20


def decoded(
    file: str | Path,
    first_line: int,
    data: bytes,
    encoding: str = "utf-8",
    advice: Sequence[str | Setting] = ("Save the file as UTF-8.",),
) -> str:
    """Decode bytes of a file; where that fails, the error says in which line.

    Parameters
    ----------
    file : str or Path
        What to call the file.
    first_line : int
        The line in which the bytes begin.
    data : bytes
        The bytes.
    encoding : str
        Their encoding.
    advice : sequence of str or Setting
        What to do about a file in another encoding: the pieces of a sentence.
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
    """How to take a delimited text file apart.

    Parameters
    ----------
    path : Path
        The file, for messages.
    delimiter : str
        One ASCII character.
    encoding : str
        Encoding of the names.
    """

    path: Path
    delimiter: str
    encoding: str

    def decode(self, data: bytes, first_line: int) -> str:
        """Decode bytes that begin at a given line of the file."""
        latin = Setting("encoding", "latin-1")
        advice = ("Save the file as UTF-8 or name its encoding, such as ", latin, ".")
        return decoded(self.path, first_line, data, self.encoding, advice)

    def records(self, text: str, first_line: int) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the fields of each record of a text."""
        if '"' not in text and text.count("\r") == text.count("\r\n"):
            # Without quotes, lines are records, and cutting them is faster than the csv module.
            for number, line_text in enumerate(text.removesuffix("\n").split("\n"), first_line):
                plain = line_text.removesuffix("\r")
                yield number, plain.split(self.delimiter) if plain else []
            return
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

    def sample(self, block: bytes) -> list[Record]:
        """Return the first records of the file's first block."""
        lines = sample_lines(self.decode(block, 1))
        sample: list[Record] = []
        for line, fields in self.records("".join(lines), 1):
            sample.append(Record(line, fields))
        starts = [record.line for record in sample] + [len(lines) + 1]
        return [
            Record(
                record.line,
                record.fields,
                first_quoted=lines[record.line - 1].startswith('"'),
                last_quoted=lines[following - 2].rstrip("\r\n").endswith('"'),
            )
            for record, following in zip(sample, starts[1:], strict=True)
        ]

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


def sample_lines(text: str) -> list[str]:
    """Return the first lines of a text: whole records, at least two, unless they are huge."""
    lines: list[str] = []
    size = quotes = 0
    for line in io.StringIO(text):
        complete = quotes % 2 == 0
        if (
            complete
            and len(lines) >= 2
            and (size > _SAMPLE_CHARACTERS or len(lines) >= _SAMPLE_RECORDS)
        ):
            break
        lines.append(line)
        size += len(line)
        quotes += line.count('"')
    return lines


def guess_delimiter(text: str, preferred: str) -> str:
    """Return the delimiter that cuts the first lines into equally many fields.

    Parameters
    ----------
    text : str
        The beginning of the file.
    preferred : str
        What the format of the file suggests; kept unless another one fits and this does not.
    """
    lines = sample_lines(text)
    candidates = [preferred, *(other for other in _DELIMITERS if other != preferred)]
    for candidate in candidates:
        if _cuts_evenly(lines, candidate):
            return candidate
    if any(preferred in line for line in lines):
        return preferred
    return max(candidates, key=lines[-1].count)


def _cuts_evenly(lines: Iterable[str], delimiter: str) -> bool:
    try:
        reader = csv.reader(iter(lines), delimiter=delimiter, strict=True)
        widths = [len(fields) for fields in islice(reader, 20)]
    except csv.Error:
        return False
    others = set(widths[1:]) or {widths[0]}
    # A header may lack the field above the row names.
    return len(others) == 1 and max(others) > 1 and max(others) - widths[0] in (0, 1)


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
    special = {*_DELIMITERS, delimiter, '"', "\r", "\n"}
    if all(is_text(name) and name == name.strip() and special.isdisjoint(name) for name in names):
        return names
    return ['"' + name.replace('"', '""') + '"' for name in names]
