"""Reading a matrix file of any format."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from elbmf.errors import FileFormatError, InputError
from elbmf.io.formats import check_content, format_of
from elbmf.io.streams import reason
from elbmf.io.table import LabelledMatrix, TableError

__all__ = ["read"]


def read(
    path: str | os.PathLike[str], *, format: str | None = None, **options: Any
) -> LabelledMatrix:
    """Read a matrix from a file.

    Parameters
    ----------
    path : path-like
        The file. Gzipped text is recognised by content.
    format : str, optional
        Name of the format (see `FORMATS`); by default the suffix of the file decides.
    **options
        Options of the format, see ``Format.read_options``.

    Returns
    -------
    LabelledMatrix
        The matrix and the names of its rows and columns, where the file has them. Missing cells
        (NaN, null, in text also empty ones, NA and ?) are stored as NaN.
    """
    source = Path(path)
    chosen = format_of(source, format)
    chosen.check_options(options, action="read")
    check_content(source, chosen)
    try:
        return chosen.read(source, **options)
    except TableError as error:
        raise FileFormatError(f"{source}: {error}") from error
    except MemoryError as error:
        raise InputError(
            f"{source}: not enough memory for the matrix that the file announces "
            f"({reason(error)}). If that is not its size, write the file again."
        ) from error
