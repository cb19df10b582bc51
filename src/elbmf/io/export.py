"""Saved results for other systems: components by name, as JSON or as long tables.

``component_columns``
    component, column: which columns a component has; as roles, which permissions.
``row_components``
    row, component: which components a row has; as roles, which users have them.
``cells``
    row, column, component: which components explain a one; several lines where several do.
``extra_cells``, ``missed_cells``
    row, column: the zeros that are covered, and the ones that are not.

Components count from 0, as the columns of U do. A line has one pair or triple: nothing is joined.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from elbmf.errors import InputError, Setting
from elbmf.io.entries import table_entries
from elbmf.io.export_cells import cell_blocks
from elbmf.io.files import replacing
from elbmf.io.folders import filling
from elbmf.io.long_tables import LONG_TABLES, Add, check_escaping, check_long_table, open_table
from elbmf.io.model import SavedModel
from elbmf.io.names import NAME_FIELDS, check_names
from elbmf.io.plain import json_text
from elbmf.io.table import LabelledMatrix
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["CELL_TABLES", "EXPORT_FILES", "export_format", "export_result", "matrix_beside"]

_JSON = "json"
_FORMAT, _FORMAT_VERSION = "elbmf-components", 1

_FACTOR_TABLES = {
    "component_columns": ("component", "column"),
    "row_components": ("row", "component"),
}
_CELL_TABLES = {
    "cells": ("row", "column", "component"),
    "extra_cells": ("row", "column"),
    "missed_cells": ("row", "column"),
}

CELL_TABLES = tuple(_CELL_TABLES)
"""The tables for which the data is needed."""

EXPORT_FILES = tuple(
    f"{name}.{kind}" for name, kind in product({**_FACTOR_TABLES, **_CELL_TABLES}, LONG_TABLES)
)
"""What exporting to a folder replaces or removes."""


def export_result(
    path: str | os.PathLike[str],
    model: SavedModel,
    data: Any = None,
    *,
    format: str | None = None,
    escape_formulas: bool = False,
    overwrite: bool = False,
) -> list[Path]:
    r"""Write the components of a saved result for other systems.

    As JSON it is one file: each component with the names of its rows and columns and how many these
    are, and what the result was made from. In the other formats it is a folder of long tables:
    ``component_columns``, ``row_components`` and, with the data, ``cells``, ``extra_cells`` and
    ``missed_cells``; see `elbmf.io.export`.

    Parameters
    ----------
    path : path-like
        The file or folder to make, as a whole or not at all.
    model : SavedModel
        What to export. Where rows or columns have no names, their positions from 0 stand for them.
    data : array-like, sparse matrix or BooleanMatrix, optional
        The matrix that the result was made from, rows and columns in the order of the model. It is
        needed for the tables of cells, which are left out without it. Missing cells are in none.
    format : {"json", "csv", "tsv", "parquet"}, optional
        By default JSON where the path ends in ``.json``, and csv where it has no suffix.
    escape_formulas : bool
        Whether a single quote is put before names that a spreadsheet would take for a formula, in
        csv and tsv: those that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return.
    overwrite : bool
        Whether a file, or the tables in a folder, are replaced. Other files in a folder are left
        alone.

    Returns
    -------
    list of Path
        The files that were written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from elbmf.io import SavedModel, export_result
    >>> U, V = np.eye(2, dtype=bool), np.array([[1, 1, 0], [0, 0, 1]], dtype=bool)
    >>> roles = SavedModel(U, V, ["ann", "bob"], ["read", "write", "pay"])
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "roles"
    >>> _ = export_result(folder, roles, U @ V, format="csv")
    >>> print((folder / "component_columns.csv").read_text())
    component,column
    0,read
    0,write
    1,pay
    <BLANKLINE>
    """
    target = Path(path)
    chosen = export_format(target, format)
    if escape_formulas:
        check_escaping(chosen)
    for field in NAME_FIELDS:
        check_names(getattr(model, field) or (), field)
    if chosen == _JSON:
        if data is not None:
            raise InputError(
                "JSON holds the components, for which no data is needed; the cells that they "
                "explain are in tables. Leave the data out, or choose another format, such as ",
                Setting("format", "csv"),
                ".",
            )
        _write_json(target, model, overwrite=overwrite)
        return [target]
    check_long_table(chosen)
    A = None if data is None else matrix_beside(model, data)
    with filling(target, EXPORT_FILES, "tables", overwrite=overwrite) as folder:
        names = _write_tables(folder, model, A, chosen, escape_formulas)
    return [target / name for name in names]


def export_format(path: Path, name: str | None = None) -> str:
    """Return the format that is named, or else that of a suffix."""
    known = (_JSON, *LONG_TABLES)
    if name is not None and name not in known:
        raise InputError(f"there is no format {name!r} to export to. Choose {_either(known)}.")
    suffix = path.suffix.lower()
    if name is None and suffix not in ("", f".{_JSON}"):
        raise InputError(
            f"{path}: expected a name that ends in .{_JSON}, or one without a suffix for a folder "
            f"of csv tables, found {path.suffix!r}. Choose another name, or set ",
            Setting("format"),
            f" to {_either(known)}.",
        )
    return name or (_JSON if suffix else "csv")


def _either(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _write_json(target: Path, model: SavedModel, *, overwrite: bool) -> None:
    if target.exists() and not overwrite:
        raise InputError(
            f"{target}: exists. Choose another name, or pass ",
            Setting("overwrite", True),
            " to replace it.",
        )
    rows, components, columns = model.shape
    document = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "shape": {"rows": rows, "components": components, "columns": columns},
        "made_from": _origin(model),
        "components": [
            {
                "component": number,
                "row_count": len(its_rows),
                "column_count": len(its_columns),
                "rows": its_rows,
                "columns": its_columns,
            }
            for number, (its_rows, its_columns) in enumerate(model.components())
        ],
    }
    with replacing(target, compress=False) as stream:
        stream.write(json_text(document).encode())


def _origin(model: SavedModel) -> dict[str, Any]:
    """Return what the result notes of its data and of how it was made; empty where it does not."""
    info, data = model.info.to_json(), model.info.data.to_json()
    found = {key: data[key] for key in ("file", "ones", "missing") if key in data}
    return found | {key: info[key] for key in ("method", "seed", "command") if key in info}


def matrix_beside(model: SavedModel, data: Any) -> BooleanMatrix:
    """Return the matrix that a result was made from, or raise where it has another shape."""
    A = BooleanMatrix.from_array(data)
    rows, _, columns = model.shape
    if A.shape != (rows, columns):
        raise InputError(
            f"the data must have the rows and columns of the result, {rows}×{columns}; got "
            f"{A.shape[0]}×{A.shape[1]}. Give the matrix that the result was made from."
        )
    return A


def _write_tables(
    folder: Path, model: SavedModel, A: BooleanMatrix | None, kind: str, escape_formulas: bool
) -> list[str]:
    """Write the tables; returns the names of the files."""
    names = {
        "row": LabelledMatrix(model.U, model.row_names).row_labels(),
        "column": LabelledMatrix(model.V, None, model.column_names).column_labels(),
    }
    titles = _FACTOR_TABLES if A is None else {**_FACTOR_TABLES, **_CELL_TABLES}
    with ExitStack() as stack:
        tables: dict[str, Add] = {
            name: stack.enter_context(
                open_table(
                    folder / f"{name}.{kind}", kind, its, names, escape_formulas=escape_formulas
                )
            )
            for name, its in titles.items()
        }
        for name, factor in (("component_columns", model.V), ("row_components", model.U)):
            for block in table_entries(LabelledMatrix(factor)):
                tables[name]([each.astype(np.int64) for each in (block.rows, block.columns)])
        if A is not None:
            for cells in cell_blocks(A, model.U, model.V):
                for name, columns in zip(CELL_TABLES, cells, strict=True):
                    tables[name](columns)
    return [f"{name}.{kind}" for name in titles]
