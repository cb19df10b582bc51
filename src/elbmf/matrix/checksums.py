"""Checksums of arrays, one for each block of bytes, as their files would have them."""

import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "Checksums", "bytes_of", "checksums_of"]

# Bytes that have a checksum of their own.
BLOCK = 1 << 24


class Checksums:
    """Checksums of blocks of bytes that come in pieces."""

    def __init__(self) -> None:
        self._of_blocks: list[int] = []
        self._last, self._in_last = 0, 0

    def add(self, data: memoryview) -> None:
        """Take the next bytes."""
        while data.nbytes:
            piece = data[: BLOCK - self._in_last]
            self._last = zlib.crc32(piece, self._last)
            self._in_last += piece.nbytes
            if self._in_last == BLOCK:
                self._of_blocks.append(self._last)
                self._last, self._in_last = 0, 0
            data = data[piece.nbytes :]

    @property
    def values(self) -> list[int]:
        """The checksum of each block, the last of which may be shorter."""
        return [*self._of_blocks, *([self._last] if self._in_last else [])]


def checksums_of(arrays: Iterable[NDArray[Any]], dtype: Any) -> list[int]:
    """Return the checksums of arrays, one after the other, as if they were in one file.

    Parameters
    ----------
    arrays : iterable of ndarray
        Of one dimension.
    dtype : dtype
        Type in which they would be written.
    """
    checksums, at_once = Checksums(), BLOCK // 16
    for array in arrays:
        for start in range(0, array.size, at_once):
            checksums.add(bytes_of(array[start : start + at_once], dtype))
    return checksums.values


def bytes_of(entries: NDArray[Any], dtype: Any) -> memoryview:
    """Return the bytes of some entries, as a file has them."""
    return np.ascontiguousarray(entries, dtype=dtype).reshape(-1).view(np.uint8).data
