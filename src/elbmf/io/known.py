"""What is known of rows and columns: labels, weights, and sets of genes in the GMT format.

A table of labels has a header, and for each row of a matrix its name and what is known about it;
``obs`` of an h5ad file will do as well. A table of weights has two columns, names of rows or
columns and numbers. A line of a GMT file, as of MSigDB, has a name, a description and members,
separated by tabs.
"""

from __future__ import annotations

import csv
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.analysis.enrichment import NamedSet
from elbmf.analysis.labels import MOST_GROUPS
from elbmf.errors import FileFormatError
from elbmf.io.chosen import UnknownColumnsError
from elbmf.io.files import first_bytes, line_blocks, open_bytes
from elbmf.io.formats.h5ad import H5AD, read_obs
from elbmf.io.matching import first_few, nearest_names, unknown_lines
from elbmf.io.side_tables import SideTable
from elbmf.io.text.lines import DelimitedText, check_encoding, utf8_stream
from elbmf.io.text.numerals import CellError, Numerals

__all__ = [
    "group_columns",
    "has_obs",
    "is_blank",
    "read_gmt",
    "read_label_column",
    "read_labels",
    "read_pairs",
    "read_weights",
]


def read_gmt(
    path: str | os.PathLike[str], *, delimiter: str = "\t", encoding: str = "auto"
) -> list[NamedSet]:
    """Read named sets from a GMT file.

    Parameters
    ----------
    path : path-like
        Each line holds the name of a set, a description and the members, separated by tabs. It
        may be gzipped.
    delimiter : str
        What separates them instead.
    encoding : str
        Encoding of the text, found out by default.

    Returns
    -------
    list of NamedSet
        In the order of the file. Members that are empty, as after tabs at the end of a line, are
        left out, and repeated ones kept once.

    Raises
    ------
    FileFormatError
        When a line has fewer than two tabs or no name, or two sets have the same name.
    """
    source = Path(path)
    first_bytes(source, expected="sets of genes")
    check_encoding(encoding)
    sets: list[NamedSet] = []
    lines: dict[str, int] = {}
    line = 0
    with open_bytes(source) as raw:
        stream, encoding = utf8_stream(raw, source, encoding)
        text = DelimitedText(source, delimiter, encoding)
        for block in line_blocks(stream):
            decoded = text.decode(block, line + 1).removeprefix("\ufeff")
            for content in decoded.removesuffix("\n").split("\n"):
                line += 1
                if not content.strip():
                    continue
                found = _named_set(source, line, content, delimiter)
                earlier = lines.setdefault(found.name, line)
                if earlier != line:
                    raise FileFormatError(
                        f"{source}, line {line}: the set {found.name!r} is already in line "
                        f"{earlier}. Give it another name or remove one."
                    )
                sets.append(found)
    if not sets:
        raise FileFormatError(f"{source}: has no line with a set of genes.")
    return sets


def _named_set(source: Path, line: int, content: str, delimiter: str) -> NamedSet:
    plain = delimiter == "\t"
    fields = content.split("\t") if plain else next(csv.reader([content], delimiter=delimiter))
    fields = [field.strip() for field in fields]
    if len(fields) < 3:
        raise FileFormatError(
            f"{source}, line {line}: expected a name, a description and genes, separated by tabs "
            f"(GMT), found {len(fields)} field{'s' if len(fields) > 1 else ''}. Save the sets in "
            "the GMT format."
        )
    if not fields[0]:
        raise FileFormatError(
            f"{source}, line {line}: the name of the set is empty, expected text before the first "
            "tab."
        )
    return NamedSet(fields[0], fields[1], tuple(dict.fromkeys(filter(None, fields[2:]))))


def read_labels(path: str | os.PathLike[str], **options: Any) -> dict[str, dict[str, str]]:
    """Read labels of rows from csv, tsv, a sheet of a workbook, or ``obs`` of an h5ad file.

    Parameters
    ----------
    path : path-like
        The first line names the columns. The first field of each other line is the name of a row,
        the others are labels; an empty one is not known. It may be gzipped. Of an h5ad file, the
        columns of ``obs`` are read that hold text, categories or truth values.
    **options
        How it is laid out, where that is not found out: ``delimiter``, ``encoding``, ``sheet``.

    Returns
    -------
    dict of str to dict of str to str
        For each column but the first, the label of each row by name.
    """
    source = Path(path)
    if has_obs(source):
        return _columns_of_obs(source)
    return _named_columns(SideTable(source, "a table of labels", **options), "rows", "labels")


def read_label_column(
    path: str | os.PathLike[str], column: str, count: int, **options: Any
) -> list[str]:
    """Read the labels that a column of a table gives to so many rows, in their order."""
    source = Path(path)
    (_, header), *body = SideTable(source, "a table of labels", **options)
    if column not in header:
        raise UnknownColumnsError("column", [column], header).within(f"{source}: ")
    if len(body) != count:
        raise FileFormatError(
            f"{source}: expected {count} lines below the header, one for each row, found "
            f"{len(body)}. Name a table of labels."
        )
    place = header.index(column)
    for line, fields in body:
        if len(fields) != len(header):
            raise _other_fields(source, line, header, fields)
    return [fields[place].strip() for _, fields in body]


def _other_fields(source: Path, line: int, header: list[str], fields: list[str]) -> FileFormatError:
    return FileFormatError(
        f"{source}, line {line}: expected {len(header)} fields as in the header, found "
        f"{len(fields)}. Complete the line or remove it."
    )


def has_obs(path: Path) -> bool:
    """Tell whether labels are those in an h5ad file, by its content."""
    if not path.is_file():
        return False
    head, _ = first_bytes(path, expected="a table of labels")
    return head.startswith(H5AD.magic)


def group_columns(labellings: dict[str, dict[str, str]]) -> list[str]:
    """Return which columns sort rows into groups: few values, more than one, and many rows each."""
    found = []
    for title, labels in labellings.items():
        values = {label for label in labels.values() if label}
        if 1 < len(values) <= min(MOST_GROUPS, len(labels) // 2):
            found.append(title)
    return found


def _columns_of_obs(source: Path) -> dict[str, dict[str, str]]:
    names, columns = read_obs(source)
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise FileFormatError(
            f"{source}: there are two observations {repeated!r}. Make their names unique with "
            "adata.obs_names_make_unique()."
        )
    if not columns:
        raise FileFormatError(
            f"{source}: obs has no column of text or categories, expected labels of its "
            "observations."
        )
    return {title: dict(zip(names, column, strict=True)) for title, column in columns.items()}


def _named_columns(table: SideTable, lines: str, values: str) -> dict[str, dict[str, str]]:
    """Read what a table says of names: the values of each of its columns but the first."""
    header: list[str] | None = None
    names: dict[str, int] = {}
    columns: list[list[str]] = []
    source = table.source
    for line, fields in table:
        if header is None:
            header = _checked_header(source, fields, f"the names of {lines} and their {values}")
            columns = [[] for _ in header[1:]]
            continue
        if not names and len(fields) == len(header) + 1:
            # R leaves out the title above the names.
            header, columns = ["", *header], [[], *columns]
        if len(fields) != len(header):
            raise _other_fields(source, line, header, fields)
        if names.setdefault(fields[0], line) != line:
            raise FileFormatError(
                f"{source}, line {line}: {fields[0]!r} is already in line "
                f"{names[fields[0]]}. Remove one of them."
            )
        for column, field in zip(columns, fields[1:], strict=True):
            column.append(field.strip())
    if header is None or not names:
        raise FileFormatError(
            f"{source}: has no line below its header, expected {values} of {lines}."
        )
    return {
        title: dict(zip(names, column, strict=True))
        for title, column in zip(header[1:], columns, strict=True)
    }


def read_weights(
    path: str | os.PathLike[str], names: Sequence[str], noun: str = "row", **options: Any
) -> NDArray[np.float64]:
    """Read weights of rows or columns from a table: csv, tsv or a sheet of a workbook.

    Parameters
    ----------
    path : path-like
        A header, then in each line a name and a weight. It may be gzipped.
    names : sequence of str
        Names of the rows or columns of a matrix.
    noun : str
        What they are.
    **options
        How it is laid out, where that is not found out: ``delimiter``, ``encoding``, ``decimal``,
        ``thousands``, ``sheet``.

    Returns
    -------
    ndarray of float64
        The weight of each name; 1 for those that the file does not have.

    Raises
    ------
    FileFormatError
        If the file is no such table, has a weight that is not a number of at least 0, or a name
        that is none of those given.
    """
    table = SideTable(Path(path), "a table of weights", **options)
    found = _named_columns(table, f"{noun}s", "weights")
    title, *others = found
    if others or _number(title) is not None:
        came = f"the number {title}" if not others else f"{1 + len(found)} columns"
        raise FileFormatError(
            f"{path}, line 1: expected a header of two columns, names and weights, such as "
            f"{noun},weight; found {came}. Add the header, and leave other columns out."
        )
    by_name = _weights(path, table, found[title])
    for name, (weight, text) in by_name.items():
        if weight is None or not 0 <= weight < np.inf:
            raise FileFormatError(
                f"{path}: the weight of {name!r} must be a number of at least 0, found {text!r}. "
                f"A weight of 0 leaves a {noun} out."
            )
    given = list(by_name)
    unknown = [given[at] for at in unknown_lines(given, names)]
    if unknown:
        raise FileFormatError(
            f"{path}: the matrix has no {noun} {first_few(unknown)}. "
            f"{_called(unknown[0], names, noun)} Correct the name or leave the line out."
        )
    weights = [by_name[name][0] if name in by_name else 1 for name in names]
    return np.array(weights, dtype=np.float64)


def read_pairs(
    path: str | os.PathLike[str],
    names: tuple[Sequence[str], Sequence[str]],
    nouns: tuple[str, str] = ("row", "column"),
    **options: Any,
) -> NDArray[np.int64]:
    """Read pairs of names from a table: csv, tsv or a sheet of a workbook.

    Parameters
    ----------
    path : path-like
        Two names in each line. The first line is a header if neither of its fields is a name that
        is known. It may be gzipped, or empty.
    names : pair of sequences of str
        The names that are known of either.
    nouns : pair of str
        What they are.
    **options
        How it is laid out, where that is not found out: ``delimiter``, ``encoding``, ``sheet``.

    Returns
    -------
    ndarray of int64, of shape (pairs, 2)
        Their places among the names; a name that is there several times stands for all of them.

    Warns
    -----
    UserWarning
        If there are none, or the first line is taken for a header.
    """
    source = Path(path)
    found: list[tuple[int, ...]] = []
    places: list[dict[str, list[int]]] = [{}, {}]
    for side, own in enumerate(names):
        for at, name in enumerate(own):
            places[side].setdefault(name, []).append(at)
    expected = f"pairs of {nouns[0]} and {nouns[1]}"
    for line, fields in () if is_blank(source) else SideTable(source, expected, **options):
        if len(fields) != 2:
            raise FileFormatError(
                f"{source}, line {line}: expected two names, {nouns[0]} and {nouns[1]}, found "
                f"{len(fields)} field{'s' * (len(fields) != 1)}. Check what separates them."
            )
        unknown = [side for side in (0, 1) if fields[side] not in places[side]]
        if line == 1 and len(unknown) == 2:
            warnings.warn(
                f"{source}: line 1 is taken for a header: {fields[0]!r} is no {nouns[0]}, and "
                f"{fields[1]!r} no {nouns[1]}.",
                stacklevel=2,
            )
            continue
        for side in unknown:
            raise FileFormatError(
                f"{source}, line {line}: the matrix has no {nouns[side]} {fields[side]!r}. "
                f"{_called(fields[side], names[side], nouns[side])} Correct the name or leave the "
                "line out."
            )
        found += product(*(places[side][fields[side]] for side in (0, 1)))
    if not found:
        warnings.warn(
            f"{source}: has no {expected}, so there are no rules in it.",
            stacklevel=2,
        )
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _called(name: str, known: Sequence[str], noun: str) -> str:
    """Say which names are near to one that is not known, or else what some are."""
    nearest = nearest_names(name, known)
    if nearest:
        return f"The nearest are {first_few(nearest)}."
    return f"Its {noun}s are called {first_few(known)}."


def is_blank(source: Path) -> bool:
    """Tell whether there is a file, and nothing in it but white space."""
    if not source.is_file() or source.stat().st_size == 0:
        return source.is_file()
    with open_bytes(source) as stream:
        return not any(block.strip() for block in line_blocks(stream))


def _weights(
    path: str | os.PathLike[str], table: SideTable, texts: dict[str, str]
) -> dict[str, tuple[float | None, str]]:
    """Return the number in each text, None where there is none, beside the text."""
    numerals = Numerals(table.delimiter, table.decimal, table.thousands)
    name = ""
    try:
        names = list(texts)
        unclear = numerals.look(enumerate(texts.values()))
        if unclear is not None:
            name = names[unclear[0]]
            raise numerals.unclear(unclear[1])
        found = {}
        for name, text in texts.items():
            number = numerals.number(text)
            found[name] = (_number(text) if number is None else number), text
    except CellError as error:
        raise FileFormatError(
            f"{path}: the weight of {name!r}: {error}. ", *error.advice
        ) from error
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _checked_header(source: Path, fields: list[str], expected: str) -> list[str]:
    if len(fields) < 2:
        raise FileFormatError(
            f"{source}, line 1: expected the titles of at least two columns, {expected}, found "
            f"{len(fields)}. Check what separates the fields."
        )
    if len(set(fields)) < len(fields):
        repeated = next(title for at, title in enumerate(fields) if title in fields[:at])
        raise FileFormatError(
            f"{source}, line 1: there are two columns {repeated!r}. Rename or remove one."
        )
    return fields
