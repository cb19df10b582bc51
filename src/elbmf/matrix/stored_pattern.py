"""One side of a matrix in files: where its lines start, and their ones; looked at before use.

Kernels take lines at their word, and write where these say. So nobody gets at the lines of a file,
which may come from anywhere, before they were looked at.
"""

import secrets
from concurrent.futures import Executor
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError
from elbmf.kernels.patterns import PADDING
from elbmf.kernels.stored_lines import count_common, look_at_lines
from elbmf.matrix.array_files import StoredArray
from elbmf.matrix.boolean_matrix import Pattern
from elbmf.matrix.paging import forget

__all__ = ["Key", "StoredPattern", "new_key", "require_apart"]

Key = tuple[np.uint32, np.uint32, np.uint32]
"""What tells lines and entries apart, see `elbmf.kernels.stored_lines`."""

# Entries that are looked at in one go.
_AT_ONCE = 1 << 18


def new_key() -> Key:
    """Return a key that nobody could foresee when a file was written."""
    bits, *factors = (secrets.randbits(32) for _ in range(3))
    return np.uint32(bits), np.uint32(factors[0] | 1), np.uint32(factors[1] | 1)


class StoredPattern:
    """The rows or the columns of a matrix, or those of its missing cells, in two files."""

    def __init__(
        self,
        starts: StoredArray,
        ones: StoredArray,
        line: str,  # What a line is called
        total: int,  # How many ones there are
        length: int,  # What their positions are below
    ) -> None:
        self.starts, self.ones = starts, ones
        self._line, self._total, self._length = line, total, length

    @property
    def files(self) -> tuple[StoredArray, StoredArray]:
        """Both files."""
        return self.starts, self.ones

    @cached_property
    def mapped(self) -> Pattern:
        """The lines as they are, whether they were looked at or not."""
        return self.starts.map(), self.ones.map()

    def verify_starts(self, pool: Executor) -> None:
        """Look at where lines start."""
        list(pool.map(lambda number: self.starts.verify(number, self._look), self.starts.blocks()))

    def _look(self, first: int, starts: NDArray[np.int64]) -> str:
        own = starts if first else starts[1:]
        beyond = first + starts.size - 1 == self.starts.length and own[-1] != self._total
        if beyond or (not first and own[0] != 0) or (own[1:] < own[:-1]).any():
            return f"expected where lines start, in order from 0 to {self._total}; it is not"
        return ""

    def verify_ones(self, pool: Executor, of_lines: Key, of_entries: Key) -> int:
        """Look at the ones, when the starts were; return what tells them from others.

        Those by columns have the same number if they are the same, and the keys are exchanged.
        """
        starts, _ = self.mapped
        totals: list[int] = []

        def look(first: int, run: NDArray[Any]) -> str:
            count = min(max(self._total - first, 0), run.size - 1)
            if run[1 + count :].any():
                return f"expected {PADDING} zeros behind {self._total} positions"
            total = np.zeros(1, np.uint64)
            wrong = self._first_wrong(starts, first, run[: 1 + count], of_lines, of_entries, total)
            totals.append(int(total[0]))
            return wrong

        list(pool.map(lambda number: self.ones.verify(number, look), self.ones.blocks()))
        forget(starts)
        return sum(totals) % (1 << 64)

    def _first_wrong(
        self,
        starts: NDArray[np.int64],
        first: int,
        run: NDArray[Any],  # The entry before the first, and these
        of_lines: Key,
        of_entries: Key,
        total: NDArray[np.uint64],
        line: int = 0,  # The first that starts are of
    ) -> str:
        at = max(int(np.searchsorted(starts, first, side="right")) - 1, 0)
        found = look_at_lines(starts, at, first, run, self._length, of_lines, of_entries, total)
        if found < 0:
            return ""
        return (
            f"the positions in {self._line} {line + found} must ascend and be below {self._length}"
        )

    def piece(self, low: int, high: int) -> Pattern:
        """Copy some lines, and look at the copy."""
        all_starts, all_ones = self.mapped
        for number in self.starts.blocks(low, high + 1):
            self.starts.verify(number)
        starts = np.array(all_starts[low : high + 1])
        # Not by their differences, which may be beyond 64 bits.
        in_order = (
            starts[0] >= 0 and starts[-1] <= self._total and (starts[1:] >= starts[:-1]).all()
        )
        if not in_order or (low == 0 and starts[0] != 0):
            raise self._wrong(self.starts, f"{self._line}s {low} to {high} start out of order")
        first, last = int(starts[0]), int(starts[-1])
        for number in self.ones.blocks(first, last):
            self.ones.verify(number)
        starts -= first
        ones = np.zeros(last - first + PADDING, dtype=all_ones.dtype)
        ones[: last - first] = all_ones[first:last]
        key, total = new_key(), np.zeros(1, np.uint64)
        for at in range(0, last - first, _AT_ONCE):
            before = ones[max(at - 1, 0) : at + 1][:1]
            run = np.concatenate([before, ones[at : min(at + _AT_ONCE, last - first)]])
            wrong = self._first_wrong(starts, at, run, key, key, total, low)
            if wrong:
                raise self._wrong(self.ones, wrong)
        return starts, ones

    def _wrong(self, array: StoredArray, what: str) -> FileFormatError:
        return FileFormatError(f"{array.path}: {what}. {array.remedy}")


def require_apart(ones: Pattern, missing: Pattern, path: Path, remedy: str) -> None:
    """Raise where ones are missing cells, too; both were looked at.

    Raises
    ------
    FileFormatError
        If there is such a one.
    """
    (starts, entries), (other_starts, others) = ones, missing
    edges = np.searchsorted(starts, np.arange(0, int(starts[-1]), _AT_ONCE), side="right") - 1
    edges = np.unique([0, *edges, starts.size - 1])
    for low, high in pairwise(edges.tolist()):
        lines = slice(low, high + 1)
        if count_common(starts[lines], entries, other_starts[lines], others):
            raise FileFormatError(
                f"{path}: some ones in rows {low} to {high - 1} are missing cells, too. {remedy}"
            )
        forget(entries)
        forget(others)
