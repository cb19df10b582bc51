"""Where the files of a data set lie: in a folder, in a zip archive, or beside one that is given.

All are opened here, so that archives are undone on the way and who is watching is told.

Owners publish archives; people unpack them, or not, and name the archive, the folder or the file.
"""

from __future__ import annotations

import os
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import IO

from elbmf.errors import FileFormatError, InputError
from elbmf.io.files import first_bytes, open_bytes, open_raw, reading, reason

__all__ = ["Place", "archive_errors", "first_file", "open_published"]

_ZIP_MAGIC = b"PK\x03\x04"


@contextmanager
def archive_errors(path: Path) -> Iterator[None]:
    """Turn the errors of reading a file or an archive into clear ones."""
    try:
        with reading(path):
            yield
    except (zipfile.BadZipFile, tarfile.TarError) as error:
        raise FileFormatError(
            f"{path}: the archive is damaged or cut off ({reason(error)}). Download it again."
        ) from error
    except (NotImplementedError, RuntimeError) as error:
        if isinstance(error, RecursionError):
            raise
        raise FileFormatError(
            f"{path}: the archive cannot be read ({reason(error)}). Unpack it, and give the folder."
        ) from error


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive."""
    with archive_errors(path), open_raw(path) as raw, zipfile.ZipFile(raw) as archive:
        yield archive


def _files(archive: zipfile.ZipFile) -> list[str]:
    return [each.filename for each in archive.infolist() if not each.is_dir()]


@contextmanager
def open_published(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes; gzip, and zip of a single file, are undone on the way."""
    with reading(path), open(path, "rb") as raw:
        zipped = raw.read(len(_ZIP_MAGIC)) == _ZIP_MAGIC
    if not zipped:
        with open_bytes(path) as stream:
            yield stream
        return
    with _opened(path) as archive:
        names = _files(archive)
        if len(names) != 1:
            raise FileFormatError(
                f"{path}: expected an archive of one file, found {len(names)}. Unpack it and name "
                "the file."
            )
        with archive.open(names[0]) as stream:
            yield stream


def first_file(folder: Path, patterns: Sequence[str]) -> Path | None:
    """Return the first file in a folder that fits one of the patterns, the first ones first."""
    return next((path for each in patterns for path in sorted(folder.glob(each))), None)


class Place:
    """The files around a path that a user gave.

    It is a folder, which may hold the files in a folder of its own, a zip archive, or a file; only
    of the last, ``file`` is the name.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.file: str | None = None
        self._zipped = False
        self._folder = self.path
        self._names: list[str] = []
        if self.path.is_dir():
            found = [*self.path.glob("*"), *self.path.glob("*/*")]
            self._names = [each.relative_to(self.path).as_posix() for each in found]
            return
        head, gzipped = first_bytes(self.path)
        self._zipped = not gzipped and (
            head.startswith(_ZIP_MAGIC) or self.path.suffix.lower() == ".zip"
        )
        if self._zipped:
            with _opened(self.path) as archive:
                self._names = _files(archive)
        else:
            self.file = self.path.name
            self._folder = self.path.parent
            self._names = [each.name for each in self._folder.glob("*")]

    def find(self, *patterns: str) -> list[str]:
        """Return the files whose names match the first pattern that any matches, in order.

        Parameters
        ----------
        *patterns : str
            As in a shell, without regard to case; a name may also end in ``.gz``.
        """
        for pattern in patterns:
            found = [
                name
                for name in self._names
                if "__MACOSX" not in name and _matches(PurePosixPath(name).name, pattern)
            ]
            if found:
                depth = min(name.count("/") for name in found)
                return sorted(name for name in found if name.count("/") == depth)
        return []

    def need(self, what: str, *patterns: str) -> list[str]:
        """Return what `find` finds, or raise an error that says what was looked for."""
        found = self.find(*patterns)
        if not found:
            kind = "archive" if self._zipped else "folder"
            seen = ", ".join(sorted(self._names)[:5]) or "nothing"
            raise InputError(
                f"{self.path}: expected {what} ({' or '.join(patterns)}) in the {kind}, found "
                f"{seen}{', …' if len(self._names) > 5 else ''}. Give the file, or the archive or "
                "folder as its owner publishes it."
            )
        return found

    def label(self, name: str) -> str:
        """Return what to call a file in messages."""
        return f"{self.path}/{name}" if self._zipped else str(self._folder / name)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file for reading bytes; gzip is undone."""
        if not self._zipped:
            with archive_errors(self._folder / name), open_bytes(self._folder / name) as stream:
                yield stream
            return
        with _opened(self.path) as archive, archive.open(name) as stream:
            yield stream


def _matches(name: str, pattern: str) -> bool:
    name = name.lower()
    return fnmatch(name, pattern) or fnmatch(name, pattern + ".gz")
