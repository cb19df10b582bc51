"""What loaders of published files share: lines, columns, small tables, names, options."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.errors import FileFormatError, InputError
from elbmf.io.files import line_blocks
from elbmf.io.text.fields import Column, FieldReader
from elbmf.io.text.layout import guess_delimiter
from elbmf.io.text.lines import DelimitedText, decoded, shown
from elbmf.kernels.patterns import transpose_pattern
from elbmf.paper.kernels.genotypes import MISSING
from elbmf.paper.sources.places import open_published

__all__ = [
    "ColumnsInTurn",
    "Lines",
    "SmallTable",
    "check_distinct",
    "check_share",
    "find_column",
    "high_values",
    "numbered",
    "numeric_blocks",
    "read_line",
    "told_apart",
]


class Lines:
    """The lines of an open text file, without their ends; blank ones at the end are left out.

    ``number`` is that of the line that came last.
    """

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self.path = path
        self.number = 0
        self._lines = self._read(stream)

    def __iter__(self) -> Iterator[bytes]:
        return self._lines

    def _read(self, stream: IO[bytes]) -> Iterator[bytes]:
        blank = False
        for block in line_blocks(stream):
            text = block if self.number else block.removeprefix(codecs.BOM_UTF8)
            for line in text.removesuffix(b"\n").split(b"\n"):
                filled = line.removesuffix(b"\r")
                if blank and filled:
                    raise FileFormatError(
                        f"{self.path}, line {self.number + 1}: the line is blank, expected data. "
                        "Remove the line."
                    )
                blank = not filled
                if filled:
                    self.number += 1
                    yield filled


def read_line(path: Path, stream: IO[bytes], number: int, expected: str) -> bytes:
    """Return the next line of a file, which there must be, without its end."""
    line = stream.readline()
    if not line:
        raise FileFormatError(
            f"{path}: the file is empty or ends after line {number - 1}, expected {expected}. "
            "Download it again."
        )
    return line.removeprefix(codecs.BOM_UTF8).rstrip(b"\r\n")


def numeric_blocks(
    path: Path, stream: IO[bytes], delimiter: bytes, width: int, head: bytes = b""
) -> Iterator[tuple[int, list[str], NDArray[np.float64]]]:
    """Read the lines below a header, of a name and so many numbers each, block by block.

    Yields the number of the first line, the names, and the numbers, NaN where one is missing.
    ``head`` are lines that were taken from the stream already.
    """

    def advice(field: int | None, text: str) -> tuple[str, ...]:
        if field is not None:
            return ("Expected a number, or NA where it is missing; download the file again.",)
        return (
            f"The header asks for a name and {width} numbers: the line is cut off, or fields "
            "are separated by something else. Download the file again.",
        )

    columns = [Column("", "optional"), *[Column("", "cell")] * width]
    reader = FieldReader(str(path), delimiter, columns, advice, line=2, quoting=True)
    for block in chain([head] if head else [], line_blocks(stream, quoting=True)):
        first = reader.line
        fields = reader.cut(block)
        names = [decoded(path, line, text) for line, text in enumerate(fields.texts[0], first)]
        yield first, [name.strip() for name in names], fields.numbers


class ColumnsInTurn:
    """Collects a matrix of so many rows from its columns; only one block of these is dense.

    Missing cells, of which it has seen so many, are kept as such ("unknown") or become zeros.
    """

    def __init__(self, rows: int, missing: str) -> None:
        if missing not in ("unknown", "zero"):
            raise InputError(f"missing must be 'unknown' or 'zero'; got {missing!r}.")
        self._rows = rows
        self._keep_missing = missing == "unknown"
        self._narrow = np.uint16 if rows <= 1 << 16 else np.int32
        self._ones: list[tuple[NDArray, NDArray]] = []
        self._missing: list[tuple[NDArray, NDArray]] = []
        self.missing_cells = 0

    def add(self, block: NDArray[np.uint8]) -> None:
        """Append columns, which are the rows of a block of 0, 1 and `MISSING`."""
        self._ones.append(self._pattern(block == 1))
        missing = block == MISSING
        self.missing_cells += int(np.count_nonzero(missing))
        if self._keep_missing:
            self._missing.append(self._pattern(missing))

    def notes(self, kind: str) -> list[str]:
        """Return what to say of missing cells, if there are any; they are of a kind."""
        kept = "are missing cells" if self._keep_missing else "became zeros"
        note = f"{self.missing_cells} {kind} are not known and {kept}."
        return [note] if self.missing_cells else []

    def _pattern(self, marks: NDArray[np.bool_]) -> tuple[NDArray, NDArray]:
        places = np.flatnonzero(marks) % self._rows
        return np.count_nonzero(marks, axis=1), places.astype(self._narrow)

    def build(self) -> sparse.csr_array:
        """Return the matrix: bool, or single precision with NaN where cells are missing."""
        ones = self._transposed(self._ones, bool)
        if not self._keep_missing or not self.missing_cells:
            return ones
        missing = self._transposed(self._missing, np.float32)
        missing.data[:] = np.nan
        return sparse.csr_array(ones.astype(np.float32) + missing)

    def _transposed(self, pieces: list[tuple[NDArray, NDArray]], dtype: type) -> sparse.csr_array:
        sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(counts for counts, _ in pieces)])
        starts = np.zeros(self._rows + 1, dtype=np.int64)
        for _, piece in pieces:
            starts[1:] += np.bincount(piece, minlength=self._rows)
        places = np.concatenate([np.empty(0, dtype=self._narrow), *(piece for _, piece in pieces)])
        pieces.clear()
        indptr, starts = np.cumsum(sizes), np.cumsum(starts)
        indices = np.empty(places.size, dtype=np.int32)
        transpose_pattern(indptr, places, starts[:-1].copy(), indices)
        if places.size < 1 << 31:
            # scipy widens the indices to the type of these.
            starts = starts.astype(np.int32)
        shape = (self._rows, indptr.size - 1)
        return sparse.csr_array((np.ones(places.size, dtype), indices, starts), shape=shape)


class SmallTable:
    """A table with a header that says something of each row or column, such as a phenotype.

    Parameters
    ----------
    path : Path
        Fields parted by tabs or commas, the first line names the columns.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open_published(path) as stream:
            data = stream.read().removeprefix(codecs.BOM_UTF8)
        text = decoded(path, 1, data)
        if not text.strip():
            raise FileFormatError(f"{path}: the file is empty, expected a table with a header.")
        delimiter = guess_delimiter(text[: 1 << 20], "\t")
        records = DelimitedText(path, delimiter, "utf-8").records(text, 1)
        # The panel of the 1000 Genomes has tabs behind its header that its lines lack.
        self.header = [name.strip() for name in next(records)[1]]
        while self.header and not self.header[-1]:
            self.header.pop()
        self._records = [(line, fields) for line, fields in records if fields]

    def column(self, names: Sequence[str], purpose: str) -> str:
        """Return the first of the names that is a column, which one must be."""
        advice = "Name the file or the column that has it."
        return find_column(self.path, self.header, names, purpose, advice)

    def labels(self, key: str, value: str, names: Sequence[str]) -> list[str]:
        """Return a column for each of the names in another; empty where the table has none.

        A name that repeats must have the same label.
        """
        at_key, at_value = self.header.index(key), self.header.index(value)
        labels: dict[str, str] = {}
        for line, fields in self._records:
            if len(fields) <= max(at_key, at_value):
                raise FileFormatError(
                    f"{self.path}, line {line}: expected {len(self.header)} fields, found "
                    f"{len(fields)}. The file is cut off, or fields are parted in different ways; "
                    "download it again."
                )
            name, label = fields[at_key].strip(), fields[at_value].strip()
            if labels.setdefault(name, label) != label:
                raise FileFormatError(
                    f"{self.path}, line {line}: {shown(name)} has the {value} {shown(label)}, but "
                    f"{shown(labels[name])} further up. Keep one of the lines."
                )
        found = [labels.get(name, "") for name in names]
        if not any(found):
            raise FileFormatError(
                f"{self.path}: has none of the {len(names)} names, such as "
                f"{shown(names[0])}; found names such as {shown(next(iter(labels), ''))} in the "
                f"column {key!r}. Name the table that belongs to the data."
            )
        return found


def find_column(
    path: Path, header: Sequence[str], names: Sequence[str], purpose: str, advice: str
) -> str:
    """Return the first of the names that is in the header of a file, which one must be.

    An error says what is in the column, its purpose, and ends with a sentence of advice.
    """
    for name in names:
        if name in header:
            return name
    raise FileFormatError(
        f"{path}, line 1: expected {purpose} in a column called {' or '.join(map(repr, names))}, "
        f"found the columns {shown(', '.join(header))}. {advice}"
    )


def check_distinct(path: Path, line: int | None, kind: str, names: Sequence[str]) -> None:
    """Raise where the same thing is named twice, in a line or the lines, or has an empty name."""
    where = f"{path}" if line is None else f"{path}, line {line}"
    unit = "line" if line is None else "number"
    if "" in names:
        raise FileFormatError(
            f"{where}: the {kind} of {unit} {list(names).index('') + 1} has an empty name. Give it "
            "one."
        )
    if len(set(names)) < len(names):
        repeated = Counter(names).most_common(1)[0][0]
        places = [place for place, name in enumerate(names, 1) if name == repeated]
        raise FileFormatError(
            f"{where}: the {kind} {shown(repeated)} comes twice, as {unit} {places[0]} and "
            f"{places[1]}. Remove one of them."
        )


def told_apart(names: Sequence[str], ids: Sequence[str] | None = None) -> list[str]:
    """Return names of which no two are equal.

    Parameters
    ----------
    names : sequence of str
        Names, "" where there is none: the id then is the name.
    ids : sequence of str, optional
        Ids, no two of which are equal: names that come twice are followed by theirs. Without ids,
        all but the first are followed by a number: ``A``, ``A (2)``.
    """
    if ids is not None:
        times = Counter(names)
        names = [
            own if not name else f"{name} [{own}]" if times[name] > 1 else name
            for name, own in zip(names, ids, strict=True)
        ]
    taken = set(names)
    if len(taken) == len(names):
        return list(names)
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        unique = name
        while seen[name] > 1 and unique in taken:
            unique = f"{name} ({seen[name]})"
            if unique in taken:
                seen[name] += 1
        taken.add(unique)
        result.append(unique)
    return result


def numbered(names: Sequence[str], kind: str) -> tuple[list[str], list[str]]:
    """Return names that are `told_apart` by numbers, and a note of how many of a kind these are."""
    distinct = told_apart(names)
    changed = sum(new != old for new, old in zip(distinct, names, strict=True))
    note = f"{changed} {kind} have the name of another; they got a number behind it."
    return distinct, [note] if changed else []


def high_values(values: NDArray[np.float64], z: float, upper: float | None) -> NDArray[np.bool_]:
    """Return which values are high among those along the last axis: by z-score, or by share.

    Those with a z-score above ``z``, none where all values are the same; or those above the
    quantile 1 − ``upper``, which is that of z-scores as well, for these are in the same order. It
    is interpolated between neighbours, so that the high values are at most one more than the share,
    and values equal to it are not high. NaN are not high, and count for nothing.
    """
    if upper is not None:
        return values > np.nanquantile(values, 1 - upper, axis=-1, keepdims=True)
    mean = np.nanmean(values, axis=-1, keepdims=True)
    return values - mean > z * np.nanstd(values, axis=-1, keepdims=True)


def check_share(name: str, value: float | None) -> None:
    """Raise where an option is no share."""
    if value is not None and not 0 <= value <= 1:
        raise InputError(f"{name} must be a share between 0 and 1; got {value!r}.")
