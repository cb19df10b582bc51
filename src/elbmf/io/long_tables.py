"""Long tables of names and numbers, written piece by piece: csv, tsv and parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import InputError, Setting
from elbmf.io.formats.parquet import pyarrow_modules
from elbmf.io.text.lines import harmless, quoted

__all__ = ["LONG_TABLES", "Add", "check_escaping", "check_long_table", "open_table"]

Names: TypeAlias = Mapping[str, Sequence[str]]
"""For each column of names its title and the names; columns that are not here hold numbers."""

Add: TypeAlias = Callable[[Sequence[NDArray[np.int64]]], None]
"""Appends lines, given by columns: the numbers, or the positions of names."""

_PARQUET = "writing parquet files"


@contextmanager
def _text_table(
    delimiter: str, path: Path, titles: Sequence[str], names: Names, escape_formulas: bool
) -> Iterator[Add]:
    fields = {
        title: quoted([harmless(name) if escape_formulas else name for name in known], delimiter)
        for title, known in names.items()
    }

    def texts(title: str, values: NDArray[np.int64]) -> Any:
        known = fields.get(title)
        return map(str if known is None else known.__getitem__, values.tolist())

    with open(path, "w", encoding="utf-8", newline="") as stream:
        stream.write(delimiter.join(titles) + "\n")

        def add(columns: Sequence[NDArray[np.int64]]) -> None:
            parts = [texts(title, each) for title, each in zip(titles, columns, strict=True)]
            stream.writelines(delimiter.join(line) + "\n" for line in zip(*parts, strict=True))

        yield add


@contextmanager
def _parquet_table(
    path: Path, titles: Sequence[str], names: Names, escape_formulas: bool
) -> Iterator[Add]:
    pyarrow, parquet = pyarrow_modules(_PARQUET)
    known = {title: pyarrow.array(each, pyarrow.string()) for title, each in names.items()}
    kinds = [pyarrow.string() if title in known else pyarrow.int64() for title in titles]
    schema = pyarrow.schema(list(zip(titles, kinds, strict=True)))
    with parquet.ParquetWriter(path, schema) as writer:

        def add(columns: Sequence[NDArray[np.int64]]) -> None:
            arrays = [
                known[title].take(pyarrow.array(each)) if title in known else pyarrow.array(each)
                for title, each in zip(titles, columns, strict=True)
            ]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))

        yield add


_WRITERS: dict[str, Callable[..., AbstractContextManager[Add]]] = {
    "csv": partial(_text_table, ","),
    "tsv": partial(_text_table, "\t"),
    "parquet": _parquet_table,
}

LONG_TABLES = tuple(_WRITERS)
"""The kinds of tables, which are also the suffixes of their files."""


def is_text_table(kind: str) -> bool:
    """Tell whether a kind of table is text, which a spreadsheet may open."""
    return kind != "parquet"


def check_escaping(kind: str) -> None:
    """Raise where formulas are to be escaped in what no spreadsheet opens as text."""
    if not (kind in LONG_TABLES and is_text_table(kind)):
        raise InputError(
            Setting("escape_formulas", True),
            f" is for csv and tsv, which spreadsheets open; the format is {kind}. Leave it out, "
            "or choose another format.",
        )


def check_long_table(kind: str) -> None:
    """Raise where a kind of table needs a package that is missing."""
    if kind == "parquet":
        pyarrow_modules(_PARQUET)


def open_table(
    path: Path,
    kind: str,  # One of `LONG_TABLES`
    titles: Sequence[str],
    names: Names,
    *,
    escape_formulas: bool = False,  # Put a single quote before names that begin like a formula
) -> AbstractContextManager[Add]:
    """Begin a table, to which pieces are added."""
    chosen = {title: names[title] for title in titles if title in names}
    return _WRITERS[kind](path, titles, chosen, escape_formulas)
