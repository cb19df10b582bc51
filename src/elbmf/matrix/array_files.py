"""Arrays in npy files, written piece by piece, with a checksum for each block of bytes.

What `ArrayWriter` returns of a file is noted elsewhere; by that note the file is opened later, and
verified.
"""

import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from elbmf.errors import FileFormatError
from elbmf.matrix.paging import map_file
from elbmf.utils.atomic import sync_file

__all__ = ["BLOCK", "ArrayWriter", "Block", "blocks_of", "checksums_of", "map_array"]

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


class ArrayWriter:
    """Writes an array piece by piece to an npy file, with checksums."""

    def __init__(
        self,
        path: Path,
        dtype: Any,  # Type of the entries
        # Entries that there will be, where that is known; rows come one after the other
        shape: int | tuple[int, ...] | None = None,
    ) -> None:
        self._file: BinaryIO = path.open("wb")
        self._dtype = np.dtype(dtype)
        self._shape = (shape,) if isinstance(shape, int) else shape
        self._written = 0
        self._write_header(self._shape or (0,))
        self._checksums = Checksums()

    def write(self, entries: NDArray[Any]) -> None:
        """Append some entries."""
        data = bytes_of(entries, self._dtype)
        self._file.write(data)
        self._written += entries.size
        self._checksums.add(data)

    def close(self) -> dict[str, Any]:
        """Finish the file and return what to note of it."""
        if self._shape is None:
            # As long as before: a header has room for any length.
            self._file.seek(0)
            self._write_header((self._written,))
        sync_file(self._file)
        self._file.close()
        length = self._written
        assert self._shape is None or length == np.prod(self._shape)
        return {"dtype": self._dtype.str, "length": length, "crc32": self._checksums.values}

    def abandon(self) -> None:
        """Close the file as it is."""
        with suppress(OSError):  # What is still to be written has no room, either.
            self._file.close()

    def _write_header(self, shape: tuple[int, ...]) -> None:
        header = {"descr": npy.dtype_to_descr(self._dtype), "fortran_order": False}
        npy.write_array_header_1_0(self._file, {**header, "shape": shape})


def checksums_of(
    arrays: Iterable[NDArray[Any]],  # Of one dimension
    dtype: Any,  # Type in which they would be written
) -> list[int]:
    """Return the checksums of arrays, one after the other, as if they were in one file."""
    checksums, at_once = Checksums(), BLOCK // 16
    for array in arrays:
        for start in range(0, array.size, at_once):
            checksums.add(bytes_of(array[start : start + at_once], dtype))
    return checksums.values


def bytes_of(entries: NDArray[Any], dtype: Any) -> memoryview:
    """Return the bytes of some entries, as a file has them."""
    return np.ascontiguousarray(entries, dtype=dtype).reshape(-1).view(np.uint8).data


def map_array(
    path: Path,
    noted: dict[str, Any],  # What `ArrayWriter.close` returned
    remedy: str,  # What to do where the file is not as it should be
) -> NDArray[Any]:
    """Open an array without reading it; what is looked at is read.

    Returns
    -------
    ndarray
        Of one dimension, see `elbmf.matrix.paging.map_file`.

    Raises
    ------
    FileFormatError
        If the file is missing, no npy file, or not as long as it should be.
    """
    expected = noted["length"] * np.dtype(noted["dtype"]).itemsize
    try:
        offset = _offset(path, remedy)
        found = path.stat().st_size - offset
    except FileNotFoundError:
        raise FileFormatError(f"{path}: is missing. {remedy}") from None
    if found != expected:
        raise FileFormatError(
            f"{path}: expected {expected} bytes of data, found {found}: the file is truncated "
            f"or not of this folder. {remedy}"
        )
    return map_file(path, noted["dtype"], offset, noted["length"])


class Block(NamedTuple):
    """A block of an array's file; the fields are those of `map_array`."""

    path: Path
    number: int
    checksum: int
    remedy: str

    def verify(self) -> None:
        """Compare the block with its checksum.

        Raises
        ------
        FileFormatError
            If it differs; says where.
        """
        with self.path.open("rb") as file:
            file.seek(_offset(self.path, self.remedy) + self.number * BLOCK)
            if zlib.crc32(file.read(BLOCK)) != self.checksum:
                raise FileFormatError(
                    f"{self.path}: the bytes from {self.number * BLOCK} on are not those that were "
                    f"written (their checksum differs). The file is damaged. {self.remedy}"
                )


def blocks_of(path: Path, noted: dict[str, Any], remedy: str) -> list[Block]:
    """Return the blocks of a file, by what `ArrayWriter.close` returned."""
    return [Block(path, number, checksum, remedy) for number, checksum in enumerate(noted["crc32"])]


def _offset(path: Path, remedy: str) -> int:
    """Return where the data of an npy file begins."""
    with path.open("rb") as file:
        try:
            npy.read_magic(file)
        except ValueError as error:
            raise FileFormatError(f"{path}: expected an npy file ({error}). {remedy}") from None
        # What the header says is noted elsewhere, with checksums; only its length is of interest.
        length = int.from_bytes(file.read(2), "little")
        return file.tell() + length
