"""What loaders of published files share: the lines of files, small tables, names, options."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from elbmf.errors import FileFormatError, InputError
from elbmf.io.files import line_blocks
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
        self._blocks = self._read(stream)
        self._waiting: Iterator[bytes] = iter(())

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        for line in self._waiting:
            self.number += 1
            return line
        self._waiting = iter(next(self._blocks))
        return next(self)

    def _read(self, stream: IO[bytes]) -> Iterator[list[bytes]]:
        total = blanks = 0
        for number, raw in enumerate(line_blocks(stream)):
            text = raw.removeprefix(codecs.BOM_UTF8) if number == 0 else raw
            lines = text.removesuffix(b"\n").split(b"\n")
            if b"\r" in text:
                lines = [line.removesuffix(b"\r") for line in lines]
            filled = len(lines)
            while filled and not lines[filled - 1]:
                filled -= 1
            if (blanks and filled) or b"" in lines[:filled]:
                blank = total + 1 if blanks else total + lines.index(b"") + 1
                raise FileFormatError(
                    f"{self.path}, line {blank}: the line is blank, expected data. Remove the line."
                )
            blanks += len(lines) - filled
            total += filled
            if filled:
                yield lines[:filled]

    def first(self, expected: str) -> bytes:
        """Return the next line, which there must be."""
        for line in self:
            return line
        raise FileFormatError(
            f"{self.path}: the file is empty or ends after line {self.number}, expected "
            f"{expected}. Download it again."
        )


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

    def mapping(self, key: str, value: str) -> dict[str, str]:
        """Return one column by another; a key that repeats must have the same value."""
        at_key, at_value = self.header.index(key), self.header.index(value)
        mapping: dict[str, str] = {}
        for line, fields in self._records:
            if len(fields) <= at_key or len(fields) <= at_value:
                raise FileFormatError(
                    f"{self.path}, line {line}: expected {len(self.header)} fields, found "
                    f"{len(fields)}. The file is cut off, or fields are parted in different ways; "
                    "download it again."
                )
            name, label = fields[at_key].strip(), fields[at_value].strip()
            if mapping.setdefault(name, label) != label:
                raise FileFormatError(
                    f"{self.path}, line {line}: {shown(name)} has the {value} {shown(label)}, but "
                    f"{shown(mapping[name])} further up. Keep one of the lines."
                )
        return mapping

    def labels(self, key: str, value: str, names: Sequence[str]) -> list[str]:
        """Return a column for each of the names; empty where the table does not have one."""
        mapping = self.mapping(key, value)
        found = [mapping.get(name, "") for name in names]
        if not any(found):
            example = next(iter(mapping), "")
            raise FileFormatError(
                f"{self.path}: has nothing of any of the {len(names)} names, such as "
                f"{shown(names[0])}; found names such as {shown(example)} in the column {key!r}. "
                "Name the table that belongs to the data."
            )
        return found


def find_column(
    path: Path, header: Sequence[str], names: Sequence[str], purpose: str, advice: str
) -> str:
    """Return the first of the names that is in a header, which one must be.

    Parameters
    ----------
    path : Path
        The file, for messages.
    header : sequence of str
        The names in its first line.
    names : sequence of str
        What the column may be called.
    purpose : str
        What is in the column.
    advice : str
        What to do where there is none, a sentence.
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
    """Return names that are `told_apart` by numbers, and a note where there are some.

    Parameters
    ----------
    names : sequence of str
        The names.
    kind : str
        What they are of, in the plural.
    """
    distinct = told_apart(names)
    changed = sum(new != old for new, old in zip(distinct, names, strict=True))
    note = f"{changed} {kind} have the name of another; they got a number behind it."
    return distinct, [note] if changed else []


def check_share(name: str, value: float | None) -> None:
    """Raise where an option is no share."""
    if value is not None and not 0 <= value <= 1:
        raise InputError(f"{name} must be a share between 0 and 1; got {value!r}.")
