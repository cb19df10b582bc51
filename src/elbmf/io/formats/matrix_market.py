"""Matrix Market files: coordinates or arrays, pattern, integer or real, any symmetry."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import IO, Any

import numpy as np

from elbmf.errors import FileFormatError
from elbmf.io.entries import Ending, Entries, EntryStream, stored_entries, table_entries
from elbmf.io.files import count_lines, line_blocks, open_bytes, reason
from elbmf.io.formats.format import Format
from elbmf.io.table import LabelledMatrix
from elbmf.io.text.fields import Column, FieldReader
from elbmf.io.text.lines import shown

__all__ = [
    "MATRIX_MARKET",
    "read_matrix_market",
    "stream_matrix_market",
    "write_matrix_market",
]

_MAGIC = b"%%MatrixMarket"
_ADVICE = "Check the file, or copy it again."


def read_matrix_market(path: Path) -> LabelledMatrix:
    """Read a Matrix Market file, gzipped or not; a pattern becomes a boolean matrix."""
    from scipy.io import mmread

    first_line = _first_line(path)
    with open_bytes(path) as stream:
        try:
            matrix = mmread(stream)
        except (ValueError, OverflowError, IndexError, TypeError, MemoryError) as error:
            # What is left of scipy's reader uses the stream when it goes, which ends the process
            # if the stream is closed by then.
            traceback.clear_frames(error.__traceback__)
            if isinstance(error, MemoryError):
                raise
            raise FileFormatError(
                f"{path}: not a valid Matrix Market file, or cut off: {reason(error)}. "
                "Check the line named, or copy the file again."
            ) from error
    if "pattern" in first_line:
        matrix = matrix.astype(bool)
    return LabelledMatrix(matrix)


def _first_line(path: Path) -> list[str]:
    """Return the words that say what a file is."""
    with open_bytes(path) as stream:
        words = stream.readline(1024).decode("ascii", "replace").lower().split()
    if "complex" in words or "hermitian" in words:
        raise FileFormatError(
            f"{path}, line 1: expected pattern, integer or real numbers, found complex ones. "
            "Write the file without imaginary parts."
        )
    return words


def stream_matrix_market(path: Path) -> EntryStream:
    """Stream a Matrix Market file; one that lists all cells, not entries, is read whole."""
    kind = _first_line(path)
    if "coordinate" not in kind:
        return (yield from table_entries(read_matrix_market(path)))
    pattern = "pattern" in kind
    columns = [Column("row", "whole"), Column("column", "whole")]
    columns += [] if pattern else [Column("value", "decimal")]
    with open_bytes(path) as stream:
        line, size = 0, b"%"
        while size.startswith(b"%") or (size and not size.strip()):
            line, size = line + 1, stream.readline()
        try:
            n, m, expected = map(int, size.split())
        except ValueError:
            raise FileFormatError(
                f"{path}, line {line}: expected the numbers of rows, columns and entries, found "
                f"{shown(size.strip())}. Write or copy the file again."
            ) from None
        reader = FieldReader(str(path), None, columns, _ADVICE, line + 1)
        found = 0
        for block in line_blocks(stream):
            entries = _entries(reader, block, (n, m), pattern=pattern)
            found += entries.rows.size
            yield entries
            mirrored = entries.rows != entries.columns
            if "symmetric" in kind or "skew-symmetric" in kind:
                sign = -1 if "skew-symmetric" in kind else 1
                values = None if entries.values is None else sign * entries.values[mirrored]
                at = entries.columns[mirrored], entries.rows[mirrored]
                yield Entries(*at, values, entries.repeated)
    if found != expected:
        raise FileFormatError(
            f"{path}: expected {expected} entries, as line {line} says, found {found}. {_ADVICE}"
        )
    return Ending((n, m))


def _entries(
    reader: FieldReader, block: bytes, shape: tuple[int, int], *, pattern: bool
) -> Entries:
    """Read the lines of some entries."""
    first = reader.line
    try:
        fields = reader.read(block)
    except FileFormatError:
        odd = _odd_fields(block, len(reader.columns))
        if odd is None:
            raise
        fields = odd
        reader.line = first + count_lines(block)
    rows, columns = fields["row"], fields["column"]
    for name, numbers, most in zip(("row", "column"), (rows, columns), shape, strict=True):
        outside = np.flatnonzero((numbers < 1) | (numbers > most))
        if outside.size:
            at = int(outside[0])
            raise reader.bad_value(first + at, name, numbers[at], f"a number from 1 to {most}")
    if pattern:
        return Entries(rows - 1, columns - 1, None, "sum")
    return stored_entries(rows - 1, columns - 1, fields["value"])


def _odd_fields(block: bytes, count: int) -> dict[str, np.ndarray] | None:
    """Read lines that are blank or have numbers such as NaN; None where they cannot be read."""
    lines = [line.split() for line in block.split(b"\n")]
    try:
        fields = np.array([line for line in lines if line], dtype=np.float64).reshape(-1, count)
    except ValueError:
        return None
    named = dict(zip(("row", "column", "value"), fields.T, strict=False))
    return named | {name: named[name].astype(np.int64) for name in ("row", "column")}


def write_matrix_market(stream: IO[bytes], table: LabelledMatrix) -> None:
    """Write a Matrix Market file, a boolean matrix as a pattern; there is no place for names."""
    from scipy.io import mmwrite

    values: Any = table.values
    if values.dtype == bool:
        mmwrite(stream, values.astype("int8"), field="pattern", symmetry="general")
    else:
        mmwrite(stream, values, symmetry="general")


MATRIX_MARKET = Format(
    name="mtx",
    suffixes=(".mtx",),
    description="Matrix Market",
    read=read_matrix_market,
    write=write_matrix_market,
    stream=stream_matrix_market,
    text=True,
    magic=(_MAGIC, _MAGIC.lower()),
    keeps_names=False,
)
