"""Files: matrices in many formats, and saved models.

`read` and `write` choose the format by the suffix of the file or by name; each format lives
in a file of its own and is listed in `FORMATS`. `to_folder` makes a matrix folder of a file that
does not fit into memory. `save_model` and `load_model` keep results;
`read_gmt` and `read_labels` read what is known about columns and rows.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from elbmf.errors import InputError
from elbmf.io.format import Format
from elbmf.io.formats import FORMATS, format_of
from elbmf.io.gmt import read_gmt
from elbmf.io.label_tables import read_labels
from elbmf.io.matrix_folder import FolderTable, boolean_values, is_matrix_folder
from elbmf.io.model import MODEL_FILES, SavedModel, load_model, save_model
from elbmf.io.model_info import DataInfo, ModelInfo
from elbmf.io.names import check_names
from elbmf.io.reading import read
from elbmf.io.streaming import DEFAULT_MEMORY, to_folder
from elbmf.io.streams import replacing
from elbmf.io.table import LabelledMatrix

__all__ = [
    "DEFAULT_MEMORY",
    "FORMATS",
    "MODEL_FILES",
    "DataInfo",
    "FolderTable",
    "Format",
    "LabelledMatrix",
    "ModelInfo",
    "SavedModel",
    "boolean_values",
    "format_of",
    "is_matrix_folder",
    "load_model",
    "read",
    "read_gmt",
    "read_labels",
    "save_model",
    "to_folder",
    "write",
]


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
    _check_names(table)
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


def _check_names(table: LabelledMatrix) -> None:
    """Refuse the names that no text can hold: NUL characters and lone surrogates."""
    for field in ("row_names", "column_names"):
        check_names(getattr(table, field) or (), field, without="\0")
