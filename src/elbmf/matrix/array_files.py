"""Arrays in npy files, written piece by piece, with a checksum for each block of bytes.

What `ArrayWriter` returns of a file is noted elsewhere; by that note the file is opened later, and
verified.
"""

import ast
import io
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from elbmf.errors import FileFormatError, InputError
from elbmf.matrix.paging import map_file
from elbmf.utils.atomic import sync_file
from elbmf.utils.notes import Count, Notes, require_file

__all__ = [
    "BLOCK",
    "ArrayNote",
    "ArrayWriter",
    "Stamp",
    "StoredArray",
    "checksums_of",
    "read_arrays",
]

# Bytes that have a checksum of their own.
BLOCK = 1 << 24

# Bytes that are read at once to be looked at, while they are at hand.
_AT_ONCE = 1 << 20

# Types of arrays in npz files.
_PLAIN = re.compile(r"[<>|=](?:b1|[iu][1248]|f[248]|U\d{1,9})")

# Those that are written here have some hundred bytes.
_LONGEST_HEADER = 1 << 12


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


@dataclass
class ArrayNote(Notes):
    """What `ArrayWriter.close` returned of an array, and others noted.

    Parameters
    ----------
    dtype : str
        Type of its entries.
    length : int
        How many there are.
    crc32 : list of int
        The checksum of each block.
    shape : list of int, optional
        Where it has more dimensions than one.
    """

    dtype: str
    length: Count
    crc32: Sequence[Count]
    shape: Sequence[Count] = ()

    def check(self, where: str) -> None:
        """Compare shape and length."""
        if self.shape and math.prod(self.shape) != self.length:
            raise InputError(
                f"{where}.length must be {math.prod(self.shape)} for the shape {self.shape}, found "
                f"{self.length}"
            )


Look = Callable[[int, NDArray[Any]], str]
"""Looks at a run of entries, given the place of the first, and the entry before it and these.

Returns what is wrong, if anything.
"""


def read_arrays(stream: BinaryIO) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file, as `numpy.savez` writes them.

    No more is allocated than what the file holds.

    Raises
    ------
    ValueError
        If it is no such file, or has anything but numbers and text in it.
    """
    try:
        with zipfile.ZipFile(stream) as archive:
            return {
                member.filename.removesuffix(".npy"): _member(archive, member)
                for member in archive.infolist()
            }
    except (
        zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error,
        OverflowError, KeyError,
    ) as error:  # fmt: skip
        raise ValueError(f"no npz file, or damaged: {error}") from error


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """Return an array of an npz file."""
    with archive.open(member) as file:
        header = _header(cast(BinaryIO, file))
        data = file.read()
    descr, shape, in_columns = (header.get(each) for each in ("descr", "shape", "fortran_order"))
    if not (isinstance(descr, str) and _PLAIN.fullmatch(descr) and isinstance(shape, tuple)):
        raise ValueError(f"{member.filename!r:.40} is no array of numbers or text")
    dtype = np.dtype(descr)
    fitting = all(type(length) is int and length >= 0 for length in shape)
    if not fitting or math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError(f"{member.filename!r:.40} is not as long as it says")
    order: Literal["F", "C"] = "F" if in_columns else "C"
    return np.frombuffer(bytearray(data), dtype).reshape(shape, order=order)


class Stamp(NamedTuple):
    """What tells that a file has changed."""

    file: tuple[int, int]  # Which it is
    size: int
    changed: int  # When

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        """Return that of a file."""
        return cls((found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns)


class StoredArray(NamedTuple):
    """An array in a file that is as its note says, but for the entries."""

    path: Path
    dtype: np.dtype[Any]
    length: int
    checksums: Sequence[int]
    offset: int  # Where the entries begin
    stamp: Stamp
    remedy: str  # What to do where they are not as they should be

    @classmethod
    def open(
        cls,
        path: Path,
        noted: ArrayNote,
        remedy: str,
        dtypes: Iterable[Any],  # What may be written there
        length: int | None = None,  # Where it is known
    ) -> Self:
        """Compare a file with its note, and with what it should be.

        Raises
        ------
        FileFormatError
            If the file is missing, no npy file, of another type or shape, or not as long as it
            should be.
        """
        known = {np.dtype(each).str: np.dtype(each) for each in dtypes}
        dtype = known.get(noted.dtype)
        if dtype is None:
            raise FileFormatError(
                f"{path}: expected entries of type {' or '.join(known)}, its note says "
                f"{noted.dtype!r:.40}. {remedy}"
            )
        if length is not None and noted.length != length:
            raise FileFormatError(
                f"{path}: expected {length} entries, its note says {noted.length}. {remedy}"
            )
        size = noted.length * dtype.itemsize
        blocks = -(-size // BLOCK)
        if len(noted.crc32) != blocks:
            raise FileFormatError(
                f"{path}: expected {blocks} checksums in its note, found {len(noted.crc32)}. "
                f"{remedy}"
            )
        require_file(path, remedy)
        try:
            with path.open("rb") as file:
                stamp = Stamp.of(os.fstat(file.fileno()))
                header = _header(file)
                offset = file.tell()
        except ValueError as error:
            raise FileFormatError(f"{path}: expected an npy file ({error}). {remedy}") from None
        shape = tuple(noted.shape) or (noted.length,)
        wanted = {"descr": dtype.str, "fortran_order": False, "shape": shape}
        if header != wanted or offset % dtype.itemsize:
            raise FileFormatError(
                f"{path}: expected an npy file that says {wanted}, found {header!r:.99}. {remedy}"
            )
        if stamp.size - offset != size:
            raise FileFormatError(
                f"{path}: expected {size} bytes of data, found {stamp.size - offset}: the file is "
                f"truncated or not of this folder. {remedy}"
            )
        return cls(path, dtype, noted.length, noted.crc32, offset, stamp, remedy)

    def map(self) -> NDArray[Any]:
        """Open it without reading it; what is looked at is read.

        Returns
        -------
        ndarray
            Of one dimension, see `elbmf.matrix.paging.map_file`.
        """
        if not self.length:
            return np.empty(0, self.dtype)
        with self._opened():
            return map_file(self.path, self.dtype, self.offset, self.length)

    def blocks(self, first: int = 0, last: int | None = None) -> range:
        """Return the numbers of the blocks that some entries lie in."""
        size = self.dtype.itemsize
        last = self.length if last is None else last
        return range(first * size // BLOCK, -(-last * size // BLOCK))

    def verify(self, number: int, look: Look | None = None) -> None:
        """Compare a block with its checksum, and let it be looked at.

        It is read, and not mapped: a file that shrinks meanwhile is an error then, and the memory
        is not filled.

        Raises
        ------
        FileFormatError
            If it differs; says where.
        """
        size = self.dtype.itemsize
        begin, end = number * BLOCK, min((number + 1) * BLOCK, self.length * size)
        # The entry before each piece stands before it.
        buffer = np.zeros(size + min(_AT_ONCE, end - begin), np.uint8)
        checksum, seen, wrong = 0, 0, ""
        with self._opened() as file:
            file.seek(self.offset + begin - (size if begin else 0))
            if begin:
                file.readinto(buffer[:size].data)
            for at in range(begin, end, _AT_ONCE):
                count = min(_AT_ONCE, end - at)
                piece = buffer[size : size + count]
                seen += _read_into(file, piece.data)
                checksum = zlib.crc32(piece.data, checksum)
                if look is not None and not wrong:
                    wrong = look(at // size, buffer[: size + count].view(self.dtype))
                buffer[:size] = buffer[count : count + size].copy()
        if seen != end - begin or checksum != self.checksums[number]:
            raise FileFormatError(
                f"{self.path}: the bytes from {begin} on are not those that were written (their "
                f"checksum differs). The file is damaged. {self.remedy}"
            )
        if wrong:
            raise FileFormatError(f"{self.path}: {wrong}. {self.remedy}")

    @contextmanager
    def _opened(self) -> Iterator[io.FileIO]:
        """Open the file again, which must be the same as before."""
        try:
            with self.path.open("rb", buffering=0) as file:
                if Stamp.of(os.fstat(file.fileno())) == self.stamp:
                    yield file
                    return
        except (FileNotFoundError, NotADirectoryError):
            pass
        raise FileFormatError(
            f"{self.path}: has been removed, replaced or written to since it was opened. Start "
            "again when nobody does so."
        )

    def require_unchanged(self) -> None:
        """Raise where the file is not as it was when it was opened.

        One that was replaced or removed is still there for whom had it open.

        Raises
        ------
        FileFormatError
            If somebody writes to it.
        """
        with suppress(FileNotFoundError, NotADirectoryError):
            now = Stamp.of(self.path.stat())
            if now != self.stamp and now.file == self.stamp.file:
                raise FileFormatError(
                    f"{self.path}: has been written to since it was opened. Start again when "
                    "nobody does."
                )


def _read_into(file: io.RawIOBase, target: memoryview) -> int:
    """Read as many bytes as there is room for, or as there are; return how many."""
    done = 0
    while done < target.nbytes:
        count = file.readinto(target[done:])
        if not count:
            break
        done += count
    return done


def _header(file: BinaryIO) -> dict[str, Any]:
    """Return what an npy file says of itself, and go to where its data begins."""
    if npy.read_magic(file) != (1, 0):
        raise ValueError("its version is not 1.0")
    length = int.from_bytes(file.read(2), "little")
    if length > _LONGEST_HEADER:
        raise ValueError("its header is too long")
    try:
        header = ast.literal_eval(file.read(length).decode("latin1"))
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError("its header is damaged") from error
    if not isinstance(header, dict):
        raise ValueError("its header is damaged")
    return header
