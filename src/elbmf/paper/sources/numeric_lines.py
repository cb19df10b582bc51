"""Lines of a text table that begin with a name and go on with numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbmf.io.text.fields import Column, FieldReader
from elbmf.io.text.lines import decoded

__all__ = ["NumericLines"]


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
        columns = [Column("", "optional"), *[Column("", "cell")] * width]
        self._path, self._width = path, width
        self._reader = FieldReader(str(path), delimiter, columns, self._advice, quoting=True)

    def read(self, number: int, line: bytes) -> tuple[str, NDArray[np.float64]]:
        """Return the name and the numbers of a line; missing values are NaN.

        Parameters
        ----------
        number : int
            Of the line, for messages.
        line : bytes
            The line, which is not blank.
        """
        self._reader.line = number
        fields = self._reader.cut(line)
        return decoded(self._path, number, fields.texts[0].text(0)).strip(), fields.numbers[0]

    def _advice(self, field: int | None, text: str) -> tuple[str, ...]:
        if field is not None:
            return ("Expected a number, or NA where it is missing; download the file again.",)
        return (
            f"The header asks for a name and {self._width} numbers: the line is cut off, or fields "
            "are separated by something else. Download the file again.",
        )
