"""Writing so that a file or folder is there whole or not at all, whatever ends the program.

All is written beside its place and moved there at the end. With ``sync``, what was written has
reached the disk before it is moved: a loss of power leaves the old or the new, never half of it.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

__all__ = [
    "atomic_file",
    "move_into_place",
    "own_part_of",
    "part_of",
    "replace_folder",
    "sync_file",
    "sync_files",
    "sync_folder",
    "temporary_sibling",
]


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
    try:
        with open(written, "w+b" if temporary else "x+b") as stream:
            yield stream
            if sync:
                sync_file(stream)
        if path.exists():
            shutil.copymode(path, written)
        move_into_place(written, path, sync=sync)
    finally:
        with suppress(OSError):
            written.unlink(missing_ok=True)


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
    try:
        while True:
            if path.exists():
                former.append(path.with_name(f".{path.name}.{secrets.token_hex(6)}.former"))
                with suppress(FileNotFoundError):  # Somebody else has just moved it away.
                    path.rename(former[-1])
            try:
                written.rename(path)
                break
            except OSError as error:
                # Somebody else has just put theirs there.
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
    except OSError:
        if former and former[-1].exists() and not path.exists():
            former[-1].rename(path)
        raise
    sync_folder(path.parent)
    for each in former:
        shutil.rmtree(each, ignore_errors=True)


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
