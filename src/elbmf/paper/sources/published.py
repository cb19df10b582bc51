"""What loaders of published files share: the lines of files, small tables, names, options."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError, InputError
from elbmf.io.files import line_blocks
from elbmf.io.text.fields import Column, FieldReader
from elbmf.io.text.layout import guess_delimiter
from elbmf.io.text.lines import DelimitedText, decoded, shown
from elbmf.paper.sources.places import open_published

__all__ = [
    "Lines",
    "SmallTable",
    "check_distinct",
    "check_share",
    "find_column",
    "numbered",
    "numeric_blocks",
    "read_line",
    "told_apart",
]


class Lines:
    """The lines of an open text file, without their ends; blank ones at the end are left out.

    Parameters
    ----------
    path : Path
        The file, for messages.
    stream : binary stream
        The text.

    Attributes
    ----------
    number : int
        The number of the line that came last.
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

    def find(self, names: Sequence[str]) -> str | None:
        """Return the first of the names that is a column."""
        return next((name for name in names if name in self.header), None)

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
                f"{self.path}: has nothing of any of the {len(names)} names, such as "
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


def check_share(name: str, value: float | None) -> None:
    """Raise where an option is no share."""
    if value is not None and not 0 <= value <= 1:
        raise InputError(f"{name} must be a share between 0 and 1; got {value!r}.")
