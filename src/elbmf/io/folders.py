"""Folders of files that belong together, which appear as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from elbmf.errors import InputError, Setting
from elbmf.io.files import writing
from elbmf.utils.atomic import (
    move_into_place,
    only_remains,
    replace_folder,
    sync_files,
)
from elbmf.utils.leftovers import OwnFolder
from elbmf.utils.signals import undisturbed

__all__ = ["filling"]


@contextmanager
def filling(
    target: Path,  # The folder to create; it may exist if it is empty
    names: Sequence[str],  # Of all files that it may have, that which ties them together last
    what: str,  # What they are together, for messages
    *,
    overwrite: bool,  # Whether such files in an existing folder are replaced
) -> Iterator[Path]:
    """Make a folder to write files in, which are moved to their place in the end.

    In a folder that exists, they are moved in one by one, in the order of their names; those that
    are not there any more are removed, and other files left alone.
    """
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: is a file, expected the name of a folder for the {what}.")
    with writing(target):
        occupied = target.is_dir() and not only_remains(target)
    if occupied and not overwrite:
        raise InputError(
            f"{target}: the folder exists and is not empty. Choose another name, or pass ",
            Setting("overwrite", True),
            f" to replace the {what} in it.",
        )
    # A folder that exists stays: it may be the one we are in, or a mounted one.
    exists = target.is_dir()
    place = target.absolute()
    with writing(target), OwnFolder(place / names[-1] if exists else place) as temporary:
        yield temporary
        sync_files(temporary)
        if exists:
            _replace_files(temporary, target, names)
        else:
            replace_folder(temporary, place)


def _replace_files(source: Path, target: Path, names: Sequence[str]) -> None:
    """Move the new files over the old ones."""
    with undisturbed():
        for name in names:
            if (source / name).exists():
                move_into_place(source / name, target / name)
            else:
                # What is left of the previous files would contradict the new ones.
                (target / name).unlink(missing_ok=True)
