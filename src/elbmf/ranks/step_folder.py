"""Finished steps of a search for the rank, kept in a folder: the next search goes on from there."""

import json
import os
import re
from collections.abc import Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from elbmf.boolean.packed import factors_from_bytes, factors_to_bytes
from elbmf.errors import FileFormatError, OtherWorkError, differing
from elbmf.matrix.array_files import read_arrays
from elbmf.ranks.path import Factors, PathStep
from elbmf.utils.atomic import atomic_file, own_part_of
from elbmf.utils.notes import load_json

__all__ = ["OtherSearchError", "StepFolder", "has_steps", "remove_steps"]

_NOTE, _SEED = "search.json", "seed.json"
_STEPS = "*-*-*.npz"
_STEP = re.compile(r"([a-z]+)-(\d{1,18})-(\d{1,18})\.npz")
_REMEDY = "Choose another folder, or remove this one."
_HIDDEN, _RUN = "hidden", "run-"


class OtherSearchError(OtherWorkError):
    """A folder has the steps of another search."""

    holds = "the steps of another search"
    remedy = "Choose another folder, or remove this one."


class StepFolder(MutableMapping[PathStep, Factors | None]):
    """A mapping that lives in a folder, a file for each step.

    Raises
    ------
    OtherSearchError
        If the folder has the steps of another search.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],  # Made if it is not there
        note: dict[str, Any],  # What the steps depend on: data and parameters
    ) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(note, indent=2, sort_keys=True, default=str)
        path = self._folder / _NOTE
        if not path.exists():
            _write(path, text.encode())
            return
        try:
            before = load_json(path, _REMEDY)
        except FileFormatError:  # not a note of a search, or damaged
            before = {}
        if before != json.loads(text):
            before = before if isinstance(before, dict) else {}
            raise OtherSearchError(self._folder, differing(before, json.loads(text)))

    def with_hidden_cells(self, note: dict[str, Any]) -> "StepFolder":
        """Return the folder within this one for the steps of a search with hidden cells."""
        return StepFolder(self._folder / _HIDDEN, note)

    def of_run(self, run: int, note: dict[str, Any]) -> "StepFolder":
        """Return the folder within this one for the steps of a run on a part of the data."""
        return StepFolder(self._folder / f"{_RUN}{run}", note)

    def remember_seed(self, seed: int) -> int:
        """Return the seed that was noted here before; if none was, note this one."""
        path = self._folder / _SEED
        if not path.exists():
            _write(path, json.dumps(seed).encode())
        noted = load_json(path, _REMEDY)
        if type(noted) is not int or noted < 0:
            raise FileFormatError(f"{path}: expected a seed, found {noted!r:.40}. {_REMEDY}")
        return noted

    def _path(self, step: PathStep) -> Path:
        return self._folder / f"{step.kind}-{step.start}-{step.rank}.npz"

    def __getitem__(self, step: PathStep) -> Factors | None:
        try:
            with self._path(step).open("rb") as file:
                stored = read_arrays(file)
            if not stored["found"].all():
                return None
            n, k, m = (int(length) for length in stored["shape"].astype(np.int64))
            if min(n, k, m) < 0:
                raise ValueError("no shape")
            cost = int(stored["cost"].astype(np.int64))
            return Factors(*factors_from_bytes(stored["bits"], n, k, m), cost)
        except (OSError, ValueError, TypeError, KeyError, MemoryError):
            # A file that is not there, or no good: the step is to be done again.
            raise KeyError(step) from None

    def __setitem__(self, step: PathStep, factors: Factors | None) -> None:
        arrays: dict[str, Any] = {"found": factors is not None}
        if factors is not None:
            arrays |= {
                "bits": factors_to_bytes(factors.U, factors.V),
                "shape": [*factors.U.shape, factors.V.shape[1]],
                "cost": factors.cost,
            }
        path = self._path(step)
        # In a thread, which Ctrl-C does not end in the midst: numpy fails over half an archive.
        with (
            atomic_file(path, temporary=own_part_of(path), sync=True) as file,
            ThreadPoolExecutor(1) as writer,
        ):
            writer.submit(np.savez_compressed, file, **arrays).result()

    def __delitem__(self, step: PathStep) -> None:
        self[step]
        self._path(step).unlink()

    def __iter__(self) -> Iterator[PathStep]:
        for path in sorted(self._folder.glob(_STEPS)):
            match = _STEP.fullmatch(path.name)
            if match is not None:
                yield PathStep(match[1], int(match[2]), int(match[3]))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def has_steps(folder: Path) -> bool:
    """Whether a search has begun to keep its steps in a folder."""
    return (folder / _NOTE).exists()


def remove_steps(folder: Path) -> None:
    """Remove what a search keeps in a folder, and nothing else that may be there."""
    for place in (folder / _HIDDEN, *folder.glob(f"{_RUN}*"), folder):
        if has_steps(place):
            # The note goes last: until then, the rest is known to be a search's.
            for path in (*place.glob(_STEPS), *place.glob("*.part"), place / _SEED, place / _NOTE):
                path.unlink(missing_ok=True)
            if not any(place.iterdir()):
                place.rmdir()


def _write(path: Path, content: bytes) -> None:
    with atomic_file(path, temporary=own_part_of(path), sync=True) as file:
        file.write(content)
