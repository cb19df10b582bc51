"""Opening files for reading and writing: gzip undone, errors made clear, writes atomic."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from elbmf.errors import DiskFullError, FileFormatError, InputError
from elbmf.io.table import TableError
from elbmf.utils.atomic import atomic_file, named_if_full

__all__ = [
    "GZIP_MAGIC",
    "count_lines",
    "first_bytes",
    "line_blocks",
    "open_bytes",
    "open_raw",
    "reading",
    "reason",
    "replacing",
    "unzipped",
    "watching",
    "writing",
]

GZIP_MAGIC = b"\x1f\x8b"
_LINE_FEED = ord("\n")
_BLOCK_BYTES = 4 << 20

# Some ten million cells. A small gzipped file may hold a line that no memory does.
_LONGEST_LINE = 1 << 25


def reason(error: BaseException) -> str:
    """Return the message of a foreign error as one line without a full stop, nor addresses."""
    said = re.sub(r" at 0x[0-9a-f]+", "", " ".join(str(error).split()))
    return said.rstrip(".") or type(error).__name__


@contextmanager
def reading(path: Path, kind: str | None = None) -> Iterator[None]:
    """Turn the errors of opening or reading a file into clear ones.

    With the kind of file that it should be, whatever else a library says of what it cannot read
    becomes an error of the file, too. It is the one place where that happens, so that no reader has
    to know what the libraries below it may raise.
    """
    try:
        yield
    except TableError as error:
        if kind is None:
            raise
        raise FileFormatError(f"{path}: ", *error.parts) from error
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: there is no such file. Check the spelling and the folder."
        ) from error
    except IsADirectoryError as error:
        raise InputError(f"{path}: is a folder, expected a file. Name a file inside it.") from error
    except PermissionError as error:
        raise InputError(
            f"{path}: may not be read (permission denied). Change its permissions or copy it."
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileFormatError(
            f"{path}: the compressed data is damaged or cut off ({reason(error)}). "
            "Copy or download the file again."
        ) from error
    except OSError as error:
        raise InputError(f"{path}: could not be read: {error.strerror or error}.") from error
    except MemoryError as error:
        if kind is None:
            raise
        raise InputError(
            f"{path}: not enough memory for what the file announces ({reason(error)}). If that is "
            "not its size, write the file again."
        ) from error
    except (ImportError, NameError):
        raise  # What this package lacks, or does wrong.
    except Exception as error:
        if kind is None:
            raise
        said = reason(error) if isinstance(error, ValueError) else f"{_name(error)}{reason(error)}"
        raise FileFormatError(
            f"{path}: not a valid {kind} file, or cut off: {said}. Copy or write it again."
        ) from error


def _name(error: Exception) -> str:
    """Return what an error is called that says too little without, such as a KeyError."""
    name = type(error).__name__
    return "" if str(error).count(" ") or not str(error) else f"{name} "


# Called with a file, how many of its bytes were read, and how many it has.
_Watcher = Callable[[Path, int, int], None]
_WATCHER: ContextVar[_Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(watcher: _Watcher) -> Iterator[None]:
    """Call a function with each file that `open_raw` opens within, and how far it has been read.

    It is told the path, the number of bytes read and the size of the file, about once a megabyte.
    """
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


class _Watched(io.FileIO):
    """A file that tells how far it has been read."""

    def __init__(self, path: Path, watcher: _Watcher) -> None:
        super().__init__(path, "rb")
        self._path, self._watcher = path, watcher
        self._size = os.fstat(self.fileno()).st_size

    def readinto(self, buffer: Any) -> int | None:
        count = super().readinto(buffer)
        self._watcher(self._path, self.tell(), self._size)
        return count


def open_raw(path: Path) -> io.BufferedReader:
    """Open a file for reading bytes as they are; who is `watching` is told."""
    watcher = _WATCHER.get()
    if watcher is None:
        return open(path, "rb")
    return io.BufferedReader(_Watched(path, watcher), 1 << 20)


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes; gzip is recognised by content and undone."""
    with reading(path), open_raw(path) as raw, unzipped(raw) as stream:
        yield stream


@contextmanager
def unzipped(raw: Any) -> Iterator[IO[bytes]]:
    """Undo gzip, if the content of a buffered stream is gzipped."""
    if raw.peek(2)[:2] != GZIP_MAGIC:
        yield raw
        return
    with gzip.GzipFile(fileobj=raw) as zipped:
        yield cast(IO[bytes], zipped)


def first_bytes(path: Path, count: int = 4096, expected: str = "a matrix") -> tuple[bytes, bool]:
    """Return how the content of a file begins, and whether it was gzipped.

    Raises where it is no regular file, or empty; ``expected`` says what an empty one lacks.
    """
    with reading(path):
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError
        if not stat.S_ISREG(status.st_mode):
            raise InputError(
                f"{path}: is not a regular file but a pipe or device. "
                "Save the data to a file and read that."
            )
        if status.st_size == 0:
            raise FileFormatError(f"{path}: the file is empty (0 bytes), expected {expected}.")
        with open(path, "rb") as raw:
            gzipped = raw.read(2) == GZIP_MAGIC
    with open_bytes(path) as stream:
        head = stream.read(count)
    if not head:
        raise FileFormatError(f"{path}: is empty once decompressed, expected {expected}.")
    return head, gzipped


def line_blocks(stream: Any, *, quoting: bool = False) -> Iterator[bytes]:
    """Cut a text stream into blocks of whole lines, a few megabytes each.

    With ``quoting``, line ends between double quotes belong to a field, which a block never cuts.
    """
    lines = 0
    while True:
        parts: list[bytes] = []
        try:
            size = 0
            while size < _BLOCK_BYTES and (part := stream.read1(_BLOCK_BYTES - size)):
                parts.append(part)
                size += len(part)
            # One line more than needed, so that a first block holds at least two lines.
            parts += _line(stream), _line(stream)
            if quoting:
                quotes = sum(part.count(b'"') for part in parts)
                while quotes % 2 and (line := _line(stream, before=sum(map(len, parts)))):
                    parts.append(line)
                    quotes += line.count(b'"')
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            lines += sum(map(count_lines, parts))
            raise EOFError(f"{reason(error)}; line {lines} is the last whole one") from error
        block = b"".join(parts)
        if not block:
            return
        lines += count_lines(block)
        yield block


def _line(stream: Any, before: int = 0) -> bytes:
    """Read a line, or what is left of one; raise where it has no end."""
    line: bytes = stream.readline(_LONGEST_LINE)
    if len(line) + before >= _LONGEST_LINE:
        raise TableError(
            f"expected lines of text, found one of more than {_LONGEST_LINE} bytes, or a quote "
            "that is not closed. Check the file, or write it as npz."
        )
    return line


def count_lines(block: bytes) -> int:
    """Return how many lines end in a block."""
    return int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == _LINE_FEED))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the errors of writing a file or folder into clear ones."""
    try:
        yield
    except DiskFullError:
        raise
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: cannot be written, the folder {path.parent} does not exist. Create it first."
        ) from error
    except NotADirectoryError as error:
        raise InputError(
            f"{path}: cannot be written, {path.parent} is not a folder. Choose another place."
        ) from error
    except PermissionError as error:
        raise InputError(
            f"{path}: may not be written (permission denied). "
            "Choose another place or change the permissions of its folder."
        ) from error
    except OSError as error:
        if error.errno in DiskFullError.NUMBERS:
            raise named_if_full(error, path) from error
        raise InputError(f"{path}: could not be written: {error.strerror or error}.") from error


@contextmanager
def replacing(path: Path, *, compress: bool) -> Iterator[IO[bytes]]:
    """Open a stream whose content becomes the file at the end, or not at all on an error."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path}: is a folder, expected the name of a file to write.")
    with writing(path), atomic_file(target) as raw:
        if compress:
            # No name and no time inside: equal data gives equal files.
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as zipped:
                yield cast(IO[bytes], zipped)
        else:
            yield raw
