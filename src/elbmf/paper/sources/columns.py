"""Matrices that are read column by column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.errors import InputError
from elbmf.kernels.patterns import transpose_pattern
from elbmf.paper.kernels.genotypes import MISSING

__all__ = ["ColumnsInTurn"]


class ColumnsInTurn:
    """Collects a matrix from its columns; only one block of them is dense at any time.

    Parameters
    ----------
    rows : int
        How many rows there are.
    missing : {"unknown", "zero"}
        Whether missing cells are kept as such or become zeros.

    Attributes
    ----------
    missing_cells : int
        How many were seen.
    """

    def __init__(self, rows: int, missing: str) -> None:
        if missing not in ("unknown", "zero"):
            raise InputError(f"missing must be 'unknown' or 'zero'; got {missing!r}.")
        self._rows = rows
        self._keep_missing = missing == "unknown"
        self._narrow = np.uint16 if rows <= 1 << 16 else np.int32
        self._ones: list[tuple[NDArray, NDArray]] = []
        self._missing: list[tuple[NDArray, NDArray]] = []
        self.missing_cells = 0

    def add(self, block: NDArray[np.uint8]) -> None:
        """Append columns, which are the rows of a block of 0, 1 and `MISSING`."""
        self._ones.append(self._pattern(block == 1))
        missing = block == MISSING
        self.missing_cells += int(np.count_nonzero(missing))
        if self._keep_missing:
            self._missing.append(self._pattern(missing))

    def notes(self, kind: str) -> list[str]:
        """Return what to say of missing cells, if there are any; they are of a kind."""
        kept = "are missing cells" if self._keep_missing else "became zeros"
        note = f"{self.missing_cells} {kind} are not known and {kept}."
        return [note] if self.missing_cells else []

    def _pattern(self, marks: NDArray[np.bool_]) -> tuple[NDArray, NDArray]:
        places = np.flatnonzero(marks) % self._rows
        return np.count_nonzero(marks, axis=1), places.astype(self._narrow)

    def build(self) -> sparse.csr_array:
        """Return the matrix: bool, or single precision with NaN where cells are missing."""
        ones = self._transposed(self._ones, bool)
        if not self._keep_missing or not self.missing_cells:
            return ones
        missing = self._transposed(self._missing, np.float32)
        missing.data[:] = np.nan
        return sparse.csr_array(ones.astype(np.float32) + missing)

    def _transposed(self, pieces: list[tuple[NDArray, NDArray]], dtype: type) -> sparse.csr_array:
        sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(counts for counts, _ in pieces)])
        starts = np.zeros(self._rows + 1, dtype=np.int64)
        for _, piece in pieces:
            starts[1:] += np.bincount(piece, minlength=self._rows)
        places = np.concatenate([np.empty(0, dtype=self._narrow), *(piece for _, piece in pieces)])
        pieces.clear()
        indptr, starts = np.cumsum(sizes), np.cumsum(starts)
        indices = np.empty(places.size, dtype=np.int32)
        transpose_pattern(indptr, places, starts[:-1].copy(), indices)
        if places.size < 1 << 31:
            # scipy widens the indices to the type of these.
            starts = starts.astype(np.int32)
        shape = (self._rows, indptr.size - 1)
        return sparse.csr_array((np.ones(places.size, dtype), indices, starts), shape=shape)
