"""Where a fit is, kept in a folder: the last two checkpoints, each there whole or not at all.

    checkpoint-7.json       what fit it is, where it was, and its arrays with their checksums
    checkpoint-7.U.npy      arrays, written block of rows by block of rows
    checkpoint-6.json, …    the one before

The json file comes last, under another name first. Until then, the two that were there are left as
they are; afterwards, the older of them is removed.
"""

import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import (
    FileFormatError,
    InputError,
    NewerVersionError,
    OtherWorkError,
    differing,
)
from elbmf.matrix.array_files import ArrayNote, ArrayWriter, StoredArray
from elbmf.ranks.step_folder import remove_steps
from elbmf.relaxation.half_step import Rows
from elbmf.utils.atomic import atomic_file, own_part_of, try_writing
from elbmf.utils.notes import Count, Notes, read_note

__all__ = [
    "Checkpoint",
    "CheckpointFolder",
    "DamagedCheckpointError",
    "OtherFitError",
    "has_checkpoint",
    "noted_fit",
    "remove_checkpoint",
]

_FORMAT, _VERSION = "elbmf checkpoint", 1
_NAME = re.compile(r"checkpoint-(\d{1,18})\.(?:json|json\..+|.+\.npy)")
_NOTE = re.compile(r"checkpoint-(\d{1,18})\.json")
_ARRAY = re.compile(r"\w+(\.\w+)?")
_REMEDY = "Remove it."

# Of arrays: relaxed factors, bits one by one, and bits in words.
_TYPES = (np.float32, np.float64, np.uint8, np.uint64)

# Entries of an array that are held in memory at once.
_ENTRIES_AT_ONCE = 1 << 20


class OtherFitError(OtherWorkError):
    """A folder has the checkpoint of another fit, which has not ended."""

    holds = "the checkpoint of another fit"
    remedy = "Go on with the same data and parameters, choose another folder, or remove this one."


class DamagedCheckpointError(FileFormatError):
    """No checkpoint in a folder can be used."""


class Checkpoint(NamedTuple):
    """What a fit keeps of itself."""

    facts: dict[str, Any]  # As json can hold them; ``"finished"`` tells whether the fit has ended
    arrays: Mapping[str, Rows]  # What is larger, by name
    damage: str = ""  # Why it is not the last one that was written, where a later one was


T = TypeVar("T")


def _as_it_is(kept: Checkpoint) -> Any:
    return kept


@dataclass
class CheckpointNote(Notes):
    """What the json file of a checkpoint holds."""

    format: str
    version: Count
    crc32: Count
    fit: dict[str, Any]
    facts: dict[str, Any]
    arrays: dict[str, ArrayNote]


class CheckpointFolder:
    """The checkpoints of one fit.

    Raises
    ------
    InputError
        If nothing can be written there.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],  # Made if it is not there
        fit: dict[str, Any],  # What tells the fit from others: data and parameters
    ) -> None:
        self.folder = Path(folder)
        self._fit = json.loads(json.dumps(fit, default=str))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            try_writing(self.folder)
        except OSError as error:
            raise InputError(
                f"{self.folder}: checkpoints cannot be written there ({error.strerror or error}). "
                "Choose another folder, or change its permissions."
            ) from error
        self._latest = max((number for _, number in _files(self.folder)), default=0)
        self._good: int | None = None

    def read(self, understand: Callable[[Checkpoint], T] = _as_it_is) -> T | None:
        """Return the last checkpoint that is not damaged, if there is any.

        That of another fit that has ended is none. One of which ``understand`` raises an InputError
        is damaged.

        Raises
        ------
        OtherFitError
            If there is that of another fit.
        DamagedCheckpointError
            If all are damaged.
        """
        damages: list[str] = []
        for number in _numbers(self.folder):
            path = self.folder / f"checkpoint-{number}.json"
            try:
                note = _read_note(path)
                others = differing(note.fit, self._fit)
                if others and note.facts.get("finished") is not True:
                    raise OtherFitError(self.folder, others)
                if others:
                    return None
                kept = Checkpoint(note.facts, self._arrays(number, note), " ".join(damages))
            except NewerVersionError:
                raise
            except FileFormatError as error:
                damages.append(str(error))
                continue
            try:
                understood = understand(kept)
            except InputError as error:
                damages.append(f"{path}: {error}. {_REMEDY}")
                continue
            self._good = number
            return understood
        if damages:
            raise DamagedCheckpointError(
                f"{self.folder}: no checkpoint in it can be used, so that the fit would have to "
                f"start over. {' '.join(damages)}"
            )
        return None

    def _arrays(self, number: int, note: "CheckpointNote") -> dict[str, NDArray[Any]]:
        found = {}
        for name, noted in note.arrays.items():
            if not _ARRAY.fullmatch(name):
                raise FileFormatError(
                    f"{self.folder}: {name!r:.40} is not the name of an array of a checkpoint."
                )
            stored = StoredArray.open(self._path(number, name), noted, _REMEDY, _TYPES)
            for block in stored.blocks():
                stored.verify(block)
            found[name] = stored.map().reshape(noted.shape or noted.length)
        return found

    def write(self, checkpoint: Checkpoint) -> None:
        """Add a checkpoint, and remove all but the one before.

        Raises
        ------
        OSError
            If it cannot be written. Then those that were there are left, and nothing of this one.
        """
        number = self._latest + 1
        try:
            content = {
                "format": _FORMAT,
                "version": _VERSION,
                "fit": self._fit,
                "facts": checkpoint.facts,
                "arrays": {
                    name: _write_array(self._path(number, name), rows)
                    for name, rows in checkpoint.arrays.items()
                },
            }
            text = json.dumps({"crc32": _checksum(content), **content})
            path = self.folder / f"checkpoint-{number}.json"
            # It must be there for good before another goes.
            with atomic_file(path, temporary=own_part_of(path), sync=True) as file:
                file.write(text.encode())
        except BaseException:
            _remove(path for path, own in _files(self.folder) if own == number)
            raise
        _remove(path for path, own in _files(self.folder) if own not in (number, self._good))
        self._latest = self._good = number

    def _path(self, number: int, name: str) -> Path:
        return self.folder / f"checkpoint-{number}.{name}.npy"


def has_checkpoint(folder: Path) -> bool:
    """Whether a fit keeps checkpoints in a folder."""
    return bool(_numbers(folder))


def noted_fit(folder: Path) -> dict[str, Any]:
    """Return what tells the fit in a folder from others; nothing if that cannot be read."""
    for number in _numbers(folder):
        with suppress(FileFormatError):
            return _read_note(folder / f"checkpoint-{number}.json").fit
    return {}


def remove_checkpoint(folder: Path) -> None:
    """Remove what a fit keeps in a folder, and the folder if nothing else is in it."""
    if folder.is_dir():
        # First what names the others.
        _remove(sorted((path for path, _ in _files(folder)), key=lambda path: path.suffix))
        remove_steps(folder)
        with suppress(OSError):
            folder.rmdir()


def _files(folder: Path) -> list[tuple[Path, int]]:
    """Return the files of checkpoints in a folder, each with the number of its checkpoint."""
    if not folder.is_dir():
        return []
    matches = ((path, _NAME.fullmatch(path.name)) for path in folder.iterdir())
    return [(path, int(match[1])) for path, match in matches if match]


def _numbers(folder: Path) -> list[int]:
    """Return the numbers of the checkpoints in a folder, the last one first."""
    return sorted(
        (number for path, number in _files(folder) if _NOTE.fullmatch(path.name)), reverse=True
    )


def _remove(paths: Any) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()


def _checksum(content: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def _read_note(path: Path) -> "CheckpointNote":
    """Return what a checkpoint says of its fit, its facts, and what it notes of its arrays."""

    def check(content: Any) -> None:
        sound = isinstance(content, dict) and content.get("format") == _FORMAT
        if sound:
            rest = {name: value for name, value in content.items() if name != "crc32"}
            sound = _checksum(rest) == content.get("crc32")
        if not sound:
            raise FileFormatError(f"{path}: is damaged. {_REMEDY}")
        version = content.get("version")
        if isinstance(version, int) and version > _VERSION:
            raise NewerVersionError(path, version, _VERSION)

    return read_note(CheckpointNote, path, _REMEDY, check)


def _write_array(path: Path, rows: Rows) -> dict[str, Any]:
    """Write rows, wherever they are, block by block; return what to note of them."""
    blocks = _blocks(rows)
    first = next(blocks)
    writer = ArrayWriter(path, first.dtype, tuple(rows.shape))
    try:
        writer.write(first)
        for block in blocks:
            writer.write(block)
        return {**writer.close(), "shape": list(rows.shape)}
    except BaseException:
        writer.abandon()
        raise


def _blocks(rows: Rows) -> Iterator[NDArray[Any]]:
    at_once = max(1, _ENTRIES_AT_ONCE // max(1, int(np.prod(rows.shape[1:]))))
    for start in range(0, rows.shape[0], at_once):
        yield np.asarray(rows[slice(start, min(start + at_once, rows.shape[0]))])
