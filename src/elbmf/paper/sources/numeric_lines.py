"""Lines of a text table that begin with a name and go on with numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError
from elbmf.io.cells import CellError, parse_cell
from elbmf.io.kernels.decimals import parse_decimals

__all__ = ["NumericLines", "cut_name"]


def cut_name(line: bytes, delimiter: bytes) -> tuple[bytes, bytes]:
    """Return the first field of a line, without the quotes around it, and the rest."""
    if line.startswith(b'"'):
        name, _, rest = line[1:].partition(b'"' + delimiter)
        return name.removesuffix(b'"') if not rest else name, rest
    name, _, rest = line.partition(delimiter)
    return name, rest


class NumericLines:
    """Reads the numbers of lines that all have equally many.

    Parameters
    ----------
    path : Path
        The file, for messages.
    delimiter : bytes
        One character.
    width : int
        How many numbers a line has.
    """

    def __init__(self, path: Path, delimiter: bytes, width: int) -> None:
        self._path = path
        self._delimiter = delimiter
        self._width = width
        self._unread = np.empty((width, 3), dtype=np.int64)

    def read(self, number: int, text: bytes, values: NDArray[np.float64]) -> None:
        """Read a line behind its name into an array; missing values become NaN.

        Parameters
        ----------
        number : int
            Of the line, for messages.
        text : bytes
            The numbers.
        values : ndarray
            Told them.
        """
        found, unread = parse_decimals(
            np.frombuffer(text, dtype=np.uint8), self._delimiter[0], values, self._unread
        )
        if found != self._width or (not text and self._width):
            raise FileFormatError(
                f"{self._path}, line {number}: expected a name and {self._width} numbers separated "
                f"by {self._delimiter.decode()!r}, as the header has it, found {found} numbers. "
                "The line is cut off, or fields are separated by something else; download the "
                "file again."
            )
        for field, start, end in self._unread[:unread].tolist():
            cell = text[start:end].decode(errors="replace").strip().removeprefix('"')
            try:
                values[field] = parse_cell(cell.removesuffix('"'))
            except CellError as error:
                raise FileFormatError(
                    f"{self._path}, line {number}, field {field + 2}: {error}. Expected a number, "
                    "or NA where it is missing. Correct it or download the file again."
                ) from error
