"""Text read row by row: a few rows at a time, of a file, a pipe or standard input.

FIMI transactions and wide tables (csv, tsv) can be read so; nothing is kept of the rows that were.
"""

from __future__ import annotations

import codecs
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from elbmf.errors import FileFormatError, InputError
from elbmf.io.files import open_bytes, reading, unzipped
from elbmf.io.formats import format_of
from elbmf.io.formats.delimited import WideReader, begin_wide
from elbmf.io.formats.fimi import FIMI, ItemCodes, sorted_positions
from elbmf.io.formats.format import Format
from elbmf.io.text.lines import check_encoding, utf8_stream

__all__ = ["STDIN", "RowBatches", "open_rows", "row_format"]

STDIN = "-"
"""What stands for standard input in place of the name of a file."""

_DELIMITERS = {"csv": ",", "tsv": "\t"}


class RowBatches(ABC):
    """Rows as they come, in batches; ``lines`` counts the lines of those so far.

    The path is what the stream is called in messages.
    """

    def __init__(self, stream: IO[bytes], path: Path, batch_rows: int) -> None:
        self.path = path
        self.lines = 0
        self._stream = stream
        self._batch_rows = batch_rows
        self._gathered: list[bytes] = []
        self._complete = 0

    def read(self) -> sparse.csr_array | None:
        """Return the next batch of rows, or None at the end.

        Where an exception ends the wait for rows, those that came are still there for `rest`.
        """
        while self._complete < self._batch_rows and (line := self._stream.readline()):
            self._gathered.append(line)
            self._complete += self._ends_row(line)
        return self.rest()

    def rest(self) -> sparse.csr_array | None:
        """Return the rows that came since the last batch, without waiting for more."""
        if not self._gathered:
            return None
        block, count = b"".join(self._gathered), len(self._gathered)
        self._gathered, self._complete = [], 0
        rows = self._parsed(block, self.lines + 1)
        self.lines += count
        return rows

    @abstractmethod
    def columns(self) -> tuple[list[str] | None, list[int]]:
        """Return the names of the columns so far, if any, and the order to put columns in."""

    @abstractmethod
    def _ends_row(self, line: bytes) -> bool:
        """Tell whether a line is the last of its row."""

    @abstractmethod
    def _parsed(self, block: bytes, first_line: int) -> sparse.csr_array | None:
        """Return the rows of some lines."""


class _Transactions(RowBatches):
    """FIMI transactions; the columns are the items in the order in which they first come."""

    def __init__(self, stream: IO[bytes], path: Path, batch_rows: int) -> None:
        super().__init__(stream, path, batch_rows)
        self._codes = ItemCodes(path)

    def columns(self) -> tuple[list[str] | None, list[int]]:
        names = self._codes.names()
        order = sorted_positions(names)
        return [names[position] for position in order], order

    def _ends_row(self, line: bytes) -> bool:
        return True

    def _parsed(self, block: bytes, first_line: int) -> sparse.csr_array | None:
        rows, columns, count = self._codes.read(block, first_line - 1)
        # Before any item has come there is one column all the same: no matrix does without.
        shape = (count, max(1, len(self._codes)))
        matrix = sparse.csr_array((np.ones(rows.size, dtype=np.int8), (rows, columns)), shape=shape)
        matrix.data[:] = 1
        return matrix


class _Table(RowBatches):
    """A wide table: the first lines tell how it is laid out."""

    def __init__(
        self, preferred: str, stream: IO[bytes], path: Path, batch_rows: int, **options: Any
    ) -> None:
        super().__init__(stream, path, batch_rows)
        self._preferred = preferred
        self._options = options
        self._reader: WideReader | None = None
        self._quotes = 0
        self._blank_line = 0

    def columns(self) -> tuple[list[str] | None, list[int]]:
        if self._reader is None:
            return None, []
        return self._reader.column_names, list(range(self._reader.columns))

    def _ends_row(self, line: bytes) -> bool:
        self._quotes += line.count(b'"')
        return self._quotes % 2 == 0

    def _parsed(self, block: bytes, first_line: int) -> sparse.csr_array | None:
        self._quotes = 0
        if first_line == 1:
            block = block.removeprefix(codecs.BOM_UTF8)
        if not block.strip():
            # Blank lines may end a file.
            self._blank_line = self._blank_line or first_line
            return None
        if self._blank_line:
            raise FileFormatError(
                f"{self.path}, line {self._blank_line}: the line is blank, expected fields. "
                "Remove the line."
            )
        block = block.rstrip(b"\r\n") + b"\n"
        if self._reader is None:
            self._reader, first_line, block = begin_wide(
                self._preferred, self.path, first_line, block, **self._options
            )
        return self._reader.batch(first_line, block)


def row_format(path: str, name: str | None = None) -> Format:
    """Return the format of rows to read one by one, or raise where it has no such rows.

    Where neither a name nor a suffix tells, it is FIMI.
    """
    file = Path(path)
    known = name is not None or (path != STDIN and (file.suffix or file.is_file()))
    chosen = format_of(file, name) if known else FIMI
    if chosen is not FIMI and chosen.name not in _DELIMITERS:
        raise InputError(
            f"{path}: files of the format {chosen.name} cannot be read row by row; fimi, csv and "
            "tsv can. Convert it, or read it as a whole."
        )
    return chosen


@contextmanager
def open_rows(
    path: str, *, format: str | None = None, batch_rows: int = 256, **options: Any
) -> Iterator[RowBatches]:
    """Open rows that are read a few at a time, of a file or pipe, gzipped or not, or of `STDIN`.

    A table has the options header, row_names, delimiter and encoding, as for `read`.
    """
    chosen = row_format(path, format)
    layout = options.pop("layout", "wide")
    if layout != "wide":
        raise InputError(
            f"layout must be 'wide' where rows are read one by one, got {layout!r}: the entries of "
            "a row may be anywhere in the file. Read it as a whole."
        )
    if chosen is FIMI and options:
        raise InputError(
            f"{', '.join(options)}: not for the format fimi, in which a line is a list of items."
        )
    with _opened(path) as stream:
        file = Path("standard input" if path == STDIN else path)
        if chosen is FIMI:
            yield _Transactions(stream, file, batch_rows)
        else:
            check_encoding(options.get("encoding", "auto"))
            rows, encoding = utf8_stream(stream, file, options.pop("encoding", "auto"))
            options["encoding"] = encoding
            yield _Table(_DELIMITERS[chosen.name], rows, file, batch_rows, **options)


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    if path != STDIN:
        with open_bytes(Path(path)) as stream:
            yield stream
    else:
        with reading(Path("standard input")), unzipped(sys.stdin.buffer) as stream:
            yield stream
