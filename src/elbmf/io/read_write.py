"""Reading and writing a matrix file of any format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from elbmf.errors import InputError
from elbmf.io.chosen import Choice, of_chosen_columns
from elbmf.io.collected import collected
from elbmf.io.entries import EntryStream, check_announced
from elbmf.io.files import reading, replacing
from elbmf.io.formats import check_content, format_of
from elbmf.io.formats.format import Format
from elbmf.io.names import NAME_FIELDS, check_names
from elbmf.io.side_tables import names_beside
from elbmf.io.table import LabelledMatrix

__all__ = ["entries_in", "read", "write"]


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: Choice = None,
    drop: Choice = None,
    transpose: bool = False,
    **options: Any,
) -> LabelledMatrix:
    """Read a matrix from a file.

    Parameters
    ----------
    path : path-like
        The file. Gzipped text is recognised by content.
    format : str, optional
        Name of the format (see `FORMATS`); by default the suffix of the file decides.
    columns, drop : str or list of str, optional
        Names of columns of the file to read, or to leave out, such as ``drop=["age", "sex"]``. In a
        name, ``*`` stands for any characters and ``?`` for one; ``"age,sex"`` are two names.
    transpose : bool, default=False
        Whether to exchange rows and columns.
    **options
        Options of the format, see ``Format.read_options``.

    Returns
    -------
    LabelledMatrix
        The matrix and the names of its rows and columns, where the file has them, or else tables
        beside it (see `elbmf.io.side_tables`). Missing cells
        (NaN, null, in text also empty ones, NA and ?) are stored as NaN.
    """
    source = Path(path)
    chosen = format_of(source, format)
    chosen.check_options(options, action="read")
    # Tables of text have to know, for what is left out may be no numbers.
    knows = "drop" in chosen.read_options
    if knows and (columns or drop):
        options |= {"columns": columns, "drop": drop}
    if chosen.opened is not None:
        check_content(source, chosen)
        table = chosen.opened(source)
    else:
        with reading(source, chosen.name):
            table = collected(source, entries_in(source, chosen, options))
    table = table if chosen.folder else _with_names(table, source)
    if (columns or drop) and not knows:
        try:
            table = of_chosen_columns(table, columns, drop)
        except InputError as error:
            raise error.within(f"{source}: ") from error
    return table.transposed() if transpose else table


def entries_in(source: Path, chosen: Format, options: Mapping[str, Any]) -> EntryStream:
    """Stream a file: the one way in which any is read, be it into memory or to disk.

    What is wrong with it becomes an error that names it, and the shape and the names are checked.
    """
    check_content(source, chosen)
    with reading(source, chosen.name):
        ending = yield from chosen.stream(source, **options)
        if not chosen.folder:
            check_announced(source, ending.shape, told=(False, False))
        ending.check_names()
    return ending


def _with_names(table: LabelledMatrix, source: Path) -> LabelledMatrix:
    """Take the names that the file itself lacks from the tables beside it, if there are any."""
    found = {
        field: names
        for axis, field in enumerate(NAME_FIELDS)
        if getattr(table, field) is None
        and (names := names_beside(source, axis, table.shape[axis])) is not None
    }
    return replace(table, **found) if found else table


def write(
    path: str | os.PathLike[str],
    table: LabelledMatrix,
    *,
    format: str | None = None,
    **options: Any,
) -> None:
    """Write a matrix to a file or folder, which is replaced as a whole or not touched at all.

    Parameters
    ----------
    path : path-like
        The file; a text format is gzipped where the name ends in ``.gz``.
    table : LabelledMatrix
        The matrix and its names. Formats that cannot hold names (``Format.keeps_names``)
        leave them out; those that cannot hold missing cells (``Format.keeps_missing``) are
        refused where there are any.
    format : str, optional
        Name of the format (see `FORMATS`); by default the suffix of the file decides.
    **options
        Options of the format, see ``Format.write_options``.
    """
    target = Path(path)
    chosen = format_of(target, format)
    if chosen.write is None:
        raise InputError(f"{target}: files of the format {chosen.name} can only be read.")
    chosen.check_options(options, action="write")
    for field in NAME_FIELDS:
        check_names(getattr(table, field) or (), field, without="\0")
    if table.n_missing and not chosen.keeps_missing:
        raise InputError(
            f"{target}: the matrix has {table.n_missing} missing cells, which files of the format "
            f"{chosen.name} cannot hold. Write another format, such as csv or npz, or fill them "
            "in first."
        )
    if chosen.folder:
        chosen.write(target, table, **options)
        return
    with replacing(target, compress=chosen.text and target.suffix.lower() == ".gz") as stream:
        chosen.write(stream, table, **options)
