"""Names in blocks of text, numbered in the order in which they first come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError
from elbmf.io.kernels.naming import hash_slots, number_names
from elbmf.io.names import unpack_names
from elbmf.io.text.lines import decoded, shown

__all__ = ["NameCodes", "Span"]

_NEWLINE = ord("\n")
_NAMES_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class Span:
    """Texts in a block: where they begin and end, as rows of ``bounds``, and the first line."""

    block: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    line: int

    @classmethod
    def of(cls, texts: Sequence[bytes], line: int) -> Span:
        """Return texts that are given one by one."""
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        block = np.frombuffer(b"".join(texts), dtype=np.uint8)
        return cls(block, np.column_stack([ends[:-1], ends[1:]]), line)

    def __len__(self) -> int:
        return self.bounds.shape[0]

    def __iter__(self) -> Iterator[bytes]:
        data = self.block.data
        for begin, end in self.bounds.tolist():
            yield bytes(data[begin:end])

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Which of the texts are."""
        empty: NDArray[np.bool_] = self.bounds[:, 0] == self.bounds[:, 1]
        return empty

    def text(self, row: int) -> bytes:
        """Return one of the texts."""
        begin, end = self.bounds[row].tolist()
        return self.block[begin:end].tobytes()

    def line_of(self, row: int) -> int:
        """Return the line that one of the texts is in; fields in quotes may span several."""
        before = self.block[: int(self.bounds[row, 0])]
        return self.line + int(np.count_nonzero(before == _NEWLINE))


class NameCodes:
    """Numbers names in the order in which they first come, at millions per second.

    Parameters
    ----------
    file : str
        What to call the file in messages.

    Notes
    -----
    Iterating gives the names, by their numbers. They are kept as bytes: a name takes some 30 to 40
    bytes beside its own.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._count = 0
        self._slots = np.full(1 << 12, -1, dtype=np.int64)
        self._bounds = np.zeros((1 << 11) + 1, dtype=np.int64)
        self._text = np.empty(1 << 16, dtype=np.uint8)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        for first in range(0, self._count, _NAMES_AT_ONCE):
            yield from self.decoded(first, min(first + _NAMES_AT_ONCE, self._count))

    @property
    def names(self) -> list[str]:
        """All names, by their numbers."""
        return self.decoded(0, self._count)

    @property
    def nbytes(self) -> int:
        """Memory that the names take."""
        arrays = (self._slots, self._bounds, self._text)
        return sum(array.nbytes for array in arrays)

    def decoded(self, first: int, last: int) -> list[str]:
        """Return the names from one number to before another."""
        bounds = self._bounds[first : last + 1]
        return unpack_names(self._text[bounds[0] : bounds[-1]], bounds - bounds[0])

    def codes(self, names: Span) -> NDArray[np.int64]:
        """Return the numbers of names, known or new."""
        codes = np.empty(len(names), dtype=np.int64)
        known = self._count
        done = 0
        while True:
            done, self._count = number_names(
                names.block,
                names.bounds,
                done,
                codes,
                self._slots,
                self._bounds,
                self._text,
                self._count,
            )
            if done == codes.size:
                break
            longest = int(np.diff(names.bounds, axis=1).max())
            self._make_room(longest)
        self._check_text(known, names, codes)
        return codes

    def _make_room(self, longest: int) -> None:
        """Grow whatever is full."""
        room = self._bounds.size - 1
        if self._count == room:
            self._bounds = _grown(self._bounds, 2 * room + 1)
            self._slots = np.full(4 * room, -1, dtype=np.int64)
            hash_slots(self._bounds, self._text, self._count, self._slots)
        if self._bounds[self._count] + longest > self._text.size:
            self._text = _grown(self._text, 2 * self._text.size + longest)

    def _check_text(self, known: int, names: Span, codes: NDArray[np.int64]) -> None:
        """Raise where a name that is new is no text."""
        text = self._text[self._bounds[known] : self._bounds[self._count]].tobytes()
        if not text.isascii() or b"\0" in text:
            # In the order in which they come, so that the first that is no text is told.
            for code in range(known, self._count):
                name = self._text[slice(*self._bounds[code : code + 2])].tobytes()
                try:
                    name.decode()
                    odd = b"\0" in name
                except UnicodeDecodeError:
                    odd = True
                if odd:
                    line = names.line_of(int(np.argmax(codes == code)))
                    decoded(self._file, line, name)
                    raise FileFormatError(
                        f"{self._file}, line {line}: expected text, found the name {shown(name)} "
                        "with a NUL character. Check the file, or copy it again."
                    )


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    result = np.empty(size, dtype=array.dtype)
    result[: array.size] = array
    return result
