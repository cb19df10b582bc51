"""The formats csv and tsv: wide tables or pairs, with or without names.

What is left on "auto" is detected by the rules in `elbmf.io.header`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal

from elbmf.errors import FileFormatError, InputError
from elbmf.io.delimited_pairs import PairReader, pair_lines
from elbmf.io.delimited_text import DelimitedText, check_encoding, guess_delimiter
from elbmf.io.delimited_wide import WideReader, wide_lines
from elbmf.io.entries import EntryStream
from elbmf.io.format import Format, options_of
from elbmf.io.header import (
    AmbiguousHeaderError,
    Record,
    detect_header,
    detect_pairs_header,
    detect_row_names,
    only_pairs,
)
from elbmf.io.streams import open_bytes
from elbmf.io.table import LabelledMatrix

__all__ = [
    "CSV",
    "TSV",
    "WideLayout",
    "after_header",
    "holds_pairs",
    "read_delimited",
    "stream_delimited",
    "wide_layout",
    "write_delimited",
]

_LAYOUTS = ("wide", "pairs")
_AUTO = "auto"


def read_delimited(
    preferred: str,
    path: Path,
    *,
    header: bool | Literal["auto"] = "auto",
    row_names: bool | Literal["auto"] = "auto",
    layout: str = "wide",
    delimiter: str = "auto",
    encoding: str = "utf-8",
) -> LabelledMatrix:
    """Read a delimited text file.

    Parameters
    ----------
    preferred : str
        The delimiter that the format suggests.
    path : Path
        The file, gzipped or not.
    header : bool or "auto"
        Whether the first line names the columns.
    row_names : bool or "auto"
        Whether the first field of each line names the row. Wide tables only; pairs always do.
    layout : {"wide", "pairs", "auto"}
        One field per column, or one line ``row,column[,value]`` per entry; "auto" takes a file
        for pairs that would be no 0/1 table: lines of 2 or 3 fields, the second not 0/1.
    delimiter : str
        One ASCII character; "auto" takes that of the format unless the first lines are evenly cut
        by another of comma, semicolon and tab only.
    encoding : str
        Encoding of the names.
    """
    with _opened(
        preferred,
        path,
        header=header,
        row_names=row_names,
        layout=layout,
        delimiter=delimiter,
        encoding=encoding,
    ) as (reader, blocks):
        for line, block in blocks:
            reader.add(line, block)
        return reader.table()


def stream_delimited(preferred: str, path: Path, **options: Any) -> EntryStream:
    """Stream a delimited text file; as `read_delimited` reads it, and with its options."""
    with _opened(preferred, path, **_OPTIONS | options) as (reader, blocks):
        for line, block in blocks:
            yield reader.entries(line, block)
        return reader.ending()


def holds_pairs(chosen: Format, path: Path, **options: Any) -> bool:
    """Whether to take a file of one of these formats for pairs, with ``layout="auto"``."""
    preferred = "," if chosen is CSV else "\t"
    options = _OPTIONS | options | {"layout": _AUTO}
    with _opened(preferred, path, **options) as (reader, _):
        return isinstance(reader, PairReader)


@contextmanager
def _opened(
    preferred: str,
    path: Path,
    *,
    header: bool | Literal["auto"],
    row_names: bool | Literal["auto"],
    layout: str,
    delimiter: str,
    encoding: str,
) -> Iterator[tuple[WideReader | PairReader, Iterator[tuple[int, bytes]]]]:
    """Open a file; gives its reader, and its blocks below the header with their first lines."""
    _check_choice("header", header, (True, False, "auto"))
    _check_choice("row_names", row_names, (True, False, "auto"))
    _check_choice("layout", layout, (*_LAYOUTS, _AUTO))
    check_encoding(encoding)
    if delimiter != "auto":
        _check_delimiter(delimiter)
    with open_bytes(path, ahead=True) as stream:
        text = DelimitedText(path, preferred if delimiter == "auto" else delimiter, encoding)
        blocks = text.blocks(stream)
        line, block = next(blocks, (1, b""))
        if not block:
            raise FileFormatError(f"{path}: holds blank lines only, expected a table.")
        text = _delimited(path, line, block, preferred, delimiter, encoding)
        sample = text.sample(block)
        reader: WideReader | PairReader
        if layout == "pairs" or (layout == _AUTO and only_pairs(sample)):
            has_header = detect_pairs_header(sample) if header == "auto" else header
            reader = PairReader(text, sample)
        else:
            wide = _wide_layout(text, sample, header, row_names)
            has_header, reader = wide.header, wide.reader()
        if has_header:
            block, line = after_header(block, line, sample)
        yield reader, chain([(line, block)] if block else [], blocks)


_OPTIONS = options_of(read_delimited)


@dataclass(frozen=True)
class WideLayout:
    """How a wide table is laid out, as its first lines tell.

    Parameters
    ----------
    text : DelimitedText
        The file.
    sample : list of Record
        Its first records.
    header, row_names : bool
        Whether it has a header line and a first column of row names.
    """

    text: DelimitedText
    sample: list[Record]
    header: bool
    row_names: bool

    def reader(self) -> WideReader:
        """Return what reads lines of data."""
        return WideReader(self.text, self.sample, header=self.header, row_names=self.row_names)


def wide_layout(
    path: Path,
    block: bytes,
    preferred: str,
    *,
    line: int = 1,
    header: bool | Literal["auto"] = "auto",
    row_names: bool | Literal["auto"] = "auto",
    delimiter: str = "auto",
    encoding: str = "utf-8",
) -> WideLayout:
    """Find out how a wide table is laid out.

    Parameters
    ----------
    path : Path
        The file, for messages.
    block : bytes
        Its first lines.
    preferred : str
        The delimiter that the format suggests.
    line : int
        Number of the first line.
    header, row_names, delimiter, encoding
        As of `read_delimited`.
    """
    check_encoding(encoding)
    if delimiter != "auto":
        _check_delimiter(delimiter)
    text = _delimited(path, line, block, preferred, delimiter, encoding)
    return _wide_layout(text, text.sample(block), header, row_names)


def _wide_layout(
    text: DelimitedText,
    sample: list[Record],
    header: bool | Literal["auto"],
    row_names: bool | Literal["auto"],
) -> WideLayout:
    named_rows = detect_row_names(sample) if row_names == "auto" else row_names
    try:
        has_header = detect_header(sample, row_names=named_rows) if header == "auto" else header
    except AmbiguousHeaderError as error:
        place = f"{text.path}, line {sample[0].line}: "
        raise FileFormatError(place, *error.parts, ".") from None
    return WideLayout(text, sample, has_header, named_rows)


def _delimited(
    path: Path, line: int, block: bytes, preferred: str, delimiter: str, encoding: str
) -> DelimitedText:
    """Return how to take a file apart that begins with a block."""
    text = DelimitedText(path, preferred if delimiter == "auto" else delimiter, encoding)
    if delimiter != "auto":
        return text
    return DelimitedText(path, guess_delimiter(text.decode(block, line), preferred), encoding)


def after_header(block: bytes, line: int, sample: list[Record]) -> tuple[bytes, int]:
    """Return what comes after the header in the first block, and the line it begins at."""
    data_line = sample[1].line if len(sample) > 1 else line + block.count(b"\n") + 1
    return _from_line(block, data_line), data_line


def _from_line(block: bytes, line: int) -> bytes:
    """Return the part of the first block that begins at a given line, if any."""
    pieces = block.split(b"\n", line - 1)
    return pieces[-1] if len(pieces) == line else b""


def write_delimited(
    preferred: str,
    stream: IO[bytes],
    table: LabelledMatrix,
    *,
    layout: str = "wide",
    delimiter: str = "auto",
) -> None:
    """Write a delimited text file in UTF-8, with a header and row names where there are names.

    Parameters
    ----------
    preferred : str
        The delimiter that the format suggests.
    stream : binary stream
        Where to write.
    table : LabelledMatrix
        What to write.
    layout : {"wide", "pairs"}
        One field per column, or one line ``row,column[,value]`` per entry that is not zero.
    delimiter : str
        One ASCII character; "auto" takes that of the format.
    """
    _check_choice("layout", layout, _LAYOUTS)
    separator = preferred if delimiter == "auto" else _check_delimiter(delimiter)
    lines: Iterator[str] = (wide_lines if layout == "wide" else pair_lines)(table, separator)
    while chunk := "".join(islice(lines, 256)):
        stream.write(chunk.encode())


def _check_choice(option: str, value: object, choices: tuple[object, ...]) -> None:
    # 1 and 0 equal True and False, and are not meant.
    if not any(
        value is choice or (isinstance(value, str) and value == choice) for choice in choices
    ):
        allowed = ", ".join(map(repr, choices))
        raise InputError(f"{option} must be one of {allowed}, got {value!r}.")


def _check_delimiter(delimiter: str) -> str:
    if not (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()) or (
        delimiter.isalnum() or delimiter in '"\r\n+-.\0'
    ):
        raise InputError(
            "delimiter must be 'auto' or one ASCII character that is no letter, digit, quote, "
            f"sign or line end, got {delimiter!r}."
        )
    return delimiter


CSV = Format(
    name="csv",
    suffixes=(".csv",),
    description="comma-separated table or pairs",
    read=partial(read_delimited, ","),
    stream=partial(stream_delimited, ","),
    write=partial(write_delimited, ","),
    text=True,
)
TSV = Format(
    name="tsv",
    suffixes=(".tsv", ".tab"),
    description="tab-separated table or pairs",
    read=partial(read_delimited, "\t"),
    stream=partial(stream_delimited, "\t"),
    write=partial(write_delimited, "\t"),
    text=True,
)
