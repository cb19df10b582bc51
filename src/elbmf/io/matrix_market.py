"""Matrix Market files: coordinates or arrays, pattern, integer or real, any symmetry."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import IO, Any

from elbmf.errors import FileFormatError
from elbmf.io.format import Format
from elbmf.io.streams import open_bytes, reason
from elbmf.io.table import LabelledMatrix

__all__ = ["MATRIX_MARKET", "read_matrix_market", "write_matrix_market"]

_MAGIC = b"%%MatrixMarket"


def read_matrix_market(path: Path) -> LabelledMatrix:
    """Read a Matrix Market file; a pattern becomes a boolean matrix.

    Parameters
    ----------
    path : Path
        The file, gzipped or not.
    """
    from scipy.io import mmread

    with open_bytes(path) as stream:
        first_line = stream.readline(1024).decode("ascii", "replace").lower().split()
    if "complex" in first_line or "hermitian" in first_line:
        raise FileFormatError(
            f"{path}, line 1: expected pattern, integer or real numbers, found complex ones. "
            "Write the file without imaginary parts."
        )
    with open_bytes(path) as stream:
        try:
            matrix = mmread(stream)
        except (ValueError, OverflowError, IndexError, TypeError, MemoryError) as error:
            # What is left of scipy's reader uses the stream when it goes, which ends the process
            # if the stream is closed by then.
            traceback.clear_frames(error.__traceback__)
            if isinstance(error, MemoryError):
                raise
            raise FileFormatError(
                f"{path}: not a valid Matrix Market file, or cut off: {reason(error)}. "
                "Check the line named, or copy the file again."
            ) from error
    if "pattern" in first_line:
        matrix = matrix.astype(bool)
    return LabelledMatrix(matrix)


def write_matrix_market(stream: IO[bytes], table: LabelledMatrix) -> None:
    """Write a Matrix Market file; the format has no place for names.

    Parameters
    ----------
    stream : binary stream
        Where to write.
    table : LabelledMatrix
        What to write; a boolean matrix becomes a pattern.
    """
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
    read=read_matrix_market,
    write=write_matrix_market,
    text=True,
    magic=(_MAGIC, _MAGIC.lower()),
    keeps_names=False,
)
