"""Writing so that a file or folder is there whole or not at all, whatever ends the program.

All is written beside its place and moved there at the end. With ``sync``, what was written has
reached the disk before it is moved: a loss of power leaves the old or the new, never half of it.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from elbmf.errors import DiskFullError
from elbmf.utils.signals import undisturbed

__all__ = [
    "atomic_file",
    "move_into_place",
    "named_if_full",
    "only_remains",
    "own_part_of",
    "part_of",
    "remove_unfinished",
    "replace_folder",
    "sync_file",
    "sync_files",
    "sync_folder",
    "temporary_folder",
    "temporary_sibling",
    "try_writing",
    "unfinished",
]

_UNFINISHED: set[Path] = set()

# Names that nothing has but what is being written, see `temporary_sibling`, `part_of` and
# `temporary_folder`.
_REMAINS = re.compile(r"\..+\.[0-9a-f]{12}\.tmp|.+\.part|\.elbmf-[0-9a-f]{16}")


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Remove a file or folder at the end of this context, if it is still there.

    It is known before it is made, so that `remove_unfinished` finds it, whatever goes wrong here.
    """
    _UNFINISHED.add(path)
    try:
        yield path
    finally:
        _remove(path)
        _UNFINISHED.discard(path)


def remove_unfinished() -> None:
    """Remove what would be removed in time if this process did not end."""
    for path in list(_UNFINISHED):
        _remove(path)


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except FileNotFoundError:
        pass
    except OSError:
        shutil.rmtree(path, ignore_errors=True)


def only_remains(folder: Path) -> bool:
    """Tell whether a folder has nothing in it but what killed processes have left."""
    return all(
        only_remains(path)
        if path.is_dir() and not path.is_symlink() and not _REMAINS.fullmatch(path.name)
        else _REMAINS.fullmatch(path.name)
        for path in folder.iterdir()
    )


@contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """Lend an empty folder, in the system's place for such, or in another folder.

    Unlike those of `tempfile`, it goes even if a signal comes while it is made.
    """
    hidden = "" if parent is None else "."
    place = Path(tempfile.gettempdir()) if parent is None else parent
    with unfinished(place / f"{hidden}elbmf-{secrets.token_hex(8)}") as path:
        path.mkdir(mode=0o700)
        yield path


def try_writing(folder: Path) -> None:
    """Raise OSError where nothing can be written in a folder."""
    with temporary_folder(folder):
        pass


def temporary_sibling(path: Path) -> Path:
    """Return an unused hidden name next to a path, on the same file system."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")


def part_of(path: Path) -> Path:
    """Return the name of what will be a file, for those who write it alone and clean up by name."""
    return path.with_name(f"{path.name}.part")


def own_part_of(path: Path) -> Path:
    """Return an unused name of what will be a file, for several who clean up by name."""
    return part_of(path.with_name(f"{path.name}.{secrets.token_hex(6)}"))


@contextmanager
def atomic_file(
    path: Path, *, temporary: Path | None = None, sync: bool = False
) -> Iterator[IO[bytes]]:
    """Open a stream whose content becomes the file at the end, or not at all on an error.

    A file that is there keeps its permissions. What is written first to ``temporary``, by default a
    `temporary_sibling`, is on the disk before it is moved if ``sync`` says so.
    """
    written = temporary_sibling(path) if temporary is None else temporary
    with unfinished(written):
        try:
            with open(written, "w+b" if temporary else "x+b") as stream:
                yield stream
                if sync:
                    sync_file(stream)
            if path.exists():
                shutil.copymode(path, written)
            move_into_place(written, path, sync=sync)
        except OSError as error:
            named = named_if_full(error, path)
            if named is error:
                raise
            raise named from error


def named_if_full(error: OSError, path: Path) -> OSError:
    """Return an error of writing, as one that names the file or folder if there was no room."""
    if error.errno not in DiskFullError.NUMBERS or isinstance(error, DiskFullError):
        return error
    return DiskFullError(path.absolute().parent, path.name, error)


def move_into_place(written: Path, path: Path, *, sync: bool = False) -> None:
    """Give a file that is complete its name, in place of one that may have it."""
    os.replace(written, path)
    if sync:
        sync_folder(path.parent)


def replace_folder(written: Path, path: Path) -> None:
    """Give a folder that is complete its name, in place of one that may have it.

    A folder cannot be replaced by another in one step: the old one is moved away before, and only
    then deleted, so that one of them is there whatever happens. Of several who do so at once, the
    last one wins.
    """
    former: list[Path] = []
    with undisturbed():
        try:
            _take_name(written, path, former)
        except OSError:
            if former and former[-1].exists() and not path.exists():
                former[-1].rename(path)
            raise
    sync_folder(path.parent)
    for each in former:
        shutil.rmtree(each, ignore_errors=True)


def _take_name(written: Path, path: Path, former: list[Path]) -> None:
    """Give a folder its name; what had it is moved away, and noted."""
    while True:
        if path.exists():
            former.append(path.with_name(f".{path.name}.{secrets.token_hex(6)}.former"))
            with suppress(FileNotFoundError):  # Somebody else has just moved it away.
                path.rename(former[-1])
        try:
            written.rename(path)
            return
        except OSError as error:
            # Somebody else has just put theirs there.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def sync_file(stream: IO[bytes] | IO[str]) -> None:
    """Wait until what was written to a file is on the disk."""
    stream.flush()
    os.fsync(stream.fileno())


def sync_files(folder: Path) -> None:
    """Wait until the files in a folder are on the disk."""
    for path in folder.iterdir():
        with path.open("r+b") as stream:
            sync_file(stream)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder outlive a loss of power, where the system can."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
