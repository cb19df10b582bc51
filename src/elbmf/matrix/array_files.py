"""Arrays in npy files, written piece by piece, with a checksum for each block of bytes.

What `ArrayWriter` returns of a file is noted elsewhere; by that note the file is opened later, and
verified.
"""

import zlib
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from elbmf.errors import FileFormatError
from elbmf.matrix.checksums import BLOCK, Checksums, bytes_of
from elbmf.matrix.paging import map_file
from elbmf.utils.atomic import sync_file

__all__ = ["ArrayWriter", "Block", "blocks_of", "map_array"]


class ArrayWriter:
    """Writes an array piece by piece to an npy file, with checksums.

    Parameters
    ----------
    path : Path
        The file.
    dtype : dtype
        Type of the entries.
    shape : int or tuple of int, optional
        Entries that there will be, where that is known; rows come one after the other.
    """

    def __init__(self, path: Path, dtype: Any, shape: int | tuple[int, ...] | None = None) -> None:
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
        self._file.close()

    def _write_header(self, shape: tuple[int, ...]) -> None:
        header = {"descr": npy.dtype_to_descr(self._dtype), "fortran_order": False}
        npy.write_array_header_1_0(self._file, {**header, "shape": shape})


def map_array(path: Path, noted: dict[str, Any], remedy: str) -> NDArray[Any]:
    """Open an array without reading it; what is looked at is read.

    Parameters
    ----------
    path : Path
        The file.
    noted : dict
        What `ArrayWriter.close` returned.
    remedy : str
        What to do where the file is not as it should be.

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
