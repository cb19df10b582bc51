"""Matrix Market files: coordinates or arrays, pattern, integer or real, any symmetry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import contains
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError
from elbmf.io.entries import Ending, Entries, EntryStream, check_announced, stored_entries
from elbmf.io.files import count_lines, line_blocks, open_bytes
from elbmf.io.formats.format import Format
from elbmf.io.kernels.whole import whole_lines
from elbmf.io.table import LabelledMatrix
from elbmf.io.text.fields import Column, FieldReader
from elbmf.io.text.lines import shown

__all__ = ["MATRIX_MARKET", "stream_matrix_market", "write_matrix_market"]

_MAGIC = b"%%MatrixMarket"
_ADVICE = "Check the file, or copy it again."

# What the first line may say after the magic word.
_OBJECTS = ("matrix",)
_FORMS = ("coordinate", "array")
_FIELDS = ("pattern", "integer", "unsigned-integer", "real", "double")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
_WORDS = (_OBJECTS, _FORMS, _FIELDS, _SYMMETRIES)

# No remark has more bytes, and a size that is not absurd no more digits.
_LONGEST, _MOST_DIGITS = 1 << 20, 30
_EXACT_WHOLE = 2.0**53


@dataclass(frozen=True)
class _Head:
    """What the lines before the entries say."""

    coordinates: bool
    field: str
    symmetry: str
    shape: tuple[int, int]
    count: int  # of the lines that follow
    line: int  # that says so


def stream_matrix_market(path: Path, expected: tuple[int, int] | None = None) -> EntryStream:
    """Stream a Matrix Market file, gzipped or not; a pattern becomes a boolean matrix.

    Where files beside it tell of what shape it is expected to be, it has to be of that one.
    """
    with open_bytes(path) as stream:
        head = _head(path, stream)
        if expected not in (None, head.shape):
            raise FileFormatError(
                f"{path}, line {head.line}: expected a matrix of {expected[0]} rows and "
                f"{expected[1]} columns, as the files beside it have, found {head.shape[0]} and "
                f"{head.shape[1]}. Copy the whole folder again."
            )
        # A line has at least a digit and its end, and those of coordinates twice that.
        data = head.count * (4 if head.coordinates else 2)
        told = expected is None
        check_announced(path, head.shape, told=(told, told), data=data)
        columns = [Column("row", "whole"), Column("column", "whole")] if head.coordinates else []
        columns += [] if head.field == "pattern" else [Column("value", "decimal")]
        reader = FieldReader(str(path), None, columns, _ADVICE, head.line + 1)
        found = 0
        for block in line_blocks(stream):
            first = reader.line
            fields = _fields(reader, block)
            size = next(iter(fields.values())).size
            if found + size > head.count:
                found += size
                break
            rows, columns_of = _places(reader, first, fields, head, found)
            values = _values(reader, first, fields, head)
            found += size
            yield from _mirrored(rows, columns_of, values, head.symmetry)
    if found != head.count:
        more = " or more" if found > head.count else ""
        raise FileFormatError(
            f"{path}: expected {head.count} entries, as line {head.line} says, found {found}"
            f"{more}. {_ADVICE}"
        )
    return Ending(head.shape)


def _head(path: Path, stream: IO[bytes]) -> _Head:
    """Read the first line, remarks, and the sizes."""
    magic, *words = stream.readline(_LONGEST).decode("ascii", "replace").lower().split() or [""]
    if "complex" in words or "hermitian" in words:
        raise FileFormatError(
            f"{path}, line 1: expected pattern, integer or real numbers, found complex ones. "
            "Write the file without imaginary parts."
        )
    known = len(words) == len(_WORDS) and all(map(contains, _WORDS, words))
    if magic != _MAGIC.decode().lower() or not known or words[1:3] == ["array", "pattern"]:
        expected = " ".join("|".join(each) for each in _WORDS)
        raise FileFormatError(
            f"{path}, line 1: expected {_MAGIC.decode()} {expected}, found "
            f"{shown(' '.join([magic, *words]))}. {_ADVICE}"
        )
    _, form, field, symmetry = words
    line, text = 1, b"%"
    while text.startswith(b"%") or (text and not text.strip()):
        line, text = line + 1, stream.readline(_LONGEST)
    sizes = text.split()
    coordinates = form == "coordinate"
    if len(sizes) != 2 + coordinates or not all(
        each.isdigit() and len(each) <= _MOST_DIGITS for each in sizes
    ):
        sizes_of = "rows, columns and entries" if coordinates else "rows and columns"
        raise FileFormatError(
            f"{path}, line {line}: expected the numbers of {sizes_of}, found "
            f"{shown(text.strip())}. {_ADVICE}"
        )
    n, m, *entries_said = map(int, sizes)
    if symmetry != "general" and n != m:
        raise FileFormatError(
            f"{path}, line {line}: expected as many rows as columns, as the matrix is {symmetry}, "
            f"found {n} and {m}. {_ADVICE}"
        )
    count = n * m
    if coordinates:
        count = entries_said[0]
    elif symmetry != "general":
        count = n * (n + 1) // 2 - (n if symmetry == "skew-symmetric" else 0)
    return _Head(coordinates, field, symmetry, (n, m), count, line)


def _fields(reader: FieldReader, block: bytes) -> dict[str, NDArray[Any]]:
    """Read the lines of some entries; they may be blank, and have numbers such as NaN."""
    first = reader.line
    lines_in = count_lines(block) + (not block.endswith(b"\n"))
    whole = np.empty((len(reader.columns), lines_in), dtype=np.int64)
    if whole_lines(np.frombuffer(block, dtype=np.uint8), whole):
        reader.line += lines_in
        return {column.name: each for column, each in zip(reader.columns, whole, strict=True)}
    try:
        return reader.read(block)
    except FileFormatError:
        lines = [line.split() for line in block.split(b"\n")]
        names = [column.name for column in reader.columns]
        try:
            found = np.array([line for line in lines if line], dtype=np.float64)
            fields = dict(zip(names, found.reshape(-1, len(names)).T, strict=True))
        except ValueError:
            fields = {}
        places = [fields[name] for name in names if name != "value"] if fields else [np.array(0.5)]
        if not all(np.array_equal(each, np.floor(each)) for each in places):
            raise
        reader.line = first + count_lines(block)
        return fields


def _places(
    reader: FieldReader, first: int, fields: dict[str, NDArray[Any]], head: _Head, found: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows and columns of entries that come after so many, from 0."""
    if not head.coordinates:
        at = np.arange(found, found + fields["value"].size)
        n = head.shape[0]
        if head.symmetry == "general":
            columns, rows = np.divmod(at, n)
            return rows, columns
        # Each column begins at the diagonal, or below it.
        below = head.symmetry == "skew-symmetric"
        starts = np.concatenate([[0], np.cumsum(np.arange(n, 0, -1) - below)])
        columns = np.searchsorted(starts, at, side="right") - 1
        return at - starts[columns] + columns + below, columns
    places = []
    for name, most in zip(("row", "column"), head.shape, strict=True):
        numbers: Any = fields[name]
        outside = np.flatnonzero((numbers < 1) | (numbers > most))
        if outside.size:
            bad = int(outside[0])
            expected = f"a number from 1 to {most}"
            raise reader.bad_value(first + bad, name, numbers[bad], expected)
        places.append(numbers.astype(np.int64, copy=False) - 1)
    return places[0], places[1]


def _values(
    reader: FieldReader, first: int, fields: dict[str, NDArray[Any]], head: _Head
) -> NDArray[Any] | None:
    values = fields.get("value")
    if values is None or "integer" not in head.field:
        return None if values is None else values.astype(np.float64, copy=False)
    if values.dtype == np.int64:
        return values
    with np.errstate(invalid="ignore"):
        whole = np.abs(values) <= _EXACT_WHOLE
    whole &= np.floor(values) == values
    if not whole.all():
        at = int(np.argmin(whole))
        raise reader.bad_value(first + at, "value", values[at], "a whole number")
    return values.astype(np.int64)


def _mirrored(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: NDArray[Any] | None,
    symmetry: str,
) -> Iterator[Entries]:
    """Yield entries, and those that a symmetry adds."""
    own = np.ones(rows.size, dtype=bool) if values is None else values
    yield stored_entries(rows, columns, own)
    if symmetry != "general":
        mirrored = rows != columns
        others = own[mirrored] if symmetry == "symmetric" or values is None else -own[mirrored]
        yield stored_entries(columns[mirrored], rows[mirrored], others)


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
    stream=stream_matrix_market,
    write=write_matrix_market,
    text=True,
    magic=(_MAGIC, _MAGIC.lower()),
    keeps_names=False,
)
