"""A Boolean matrix on disk, once by rows and once by columns, opened without being read.

A folder of plain arrays, each an npy file, and a small json file that names them: where each line
starts, and the positions of its ones, of both sides; the same of missing cells, if there are any.
The arrays are mapped into memory: what is looked at is read, and can be forgotten again. Each block
of each file has a checksum.

    matrix.json                         shape, ones, missing cells, type, length, checksums
    rows.starts.npy, rows.ones.npy      by rows, as `BooleanMatrix.lines` has them
    columns.starts.npy, columns.ones.npy
    missing.rows.starts.npy, …          of the missing cells
    rows.names.json, columns.names.json names, one JSON text a line
"""

import errno
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from elbmf.arrayfiles import ArrayWriter, Block, blocks_of, map_array
from elbmf.errors import DiskFullError, FileFormatError, InputError
from elbmf.kernels.products import PADDING
from elbmf.matrix import BooleanMatrix, Pattern
from elbmf.threads import available_cores

__all__ = ["FolderWriter", "StoredMatrix", "store"]

NOTE = "matrix.json"
_FORMAT, _VERSION = "elbmf slabs", 1
SIDES = ("rows", "columns")
_WHAT = _STARTS, _ONES = ("starts", "ones")
_MISSING = "missing"
_REMEDY = "Convert the data again."


class FolderWriter:
    """Writes the folder of a matrix: beside its place first, so that it is there whole or not.

    Use it as a context: it ends with the folder in place, or, after an error, without a trace.

    Parameters
    ----------
    path : path
        The folder to make.
    overwrite : bool
        Replace a folder that such a writer made.
    """

    def __init__(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        self.path = Path(path)
        if self.path.exists():
            if not (self.path / NOTE).is_file():
                raise InputError(f"{self.path}: is there, and is no folder of slabs. Move it away.")
            if not overwrite:
                raise InputError(f"{self.path}: is there already. Choose another name.")
        self.part = self.path.with_name(f"{self.path.name}.part")
        if self.part.exists():
            shutil.rmtree(self.part)
        self.part.mkdir(parents=True)
        self._note: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "arrays": {}}
        self._open: dict[str, ArrayWriter] = {}

    def array(self, name: str, dtype: Any, length: int) -> ArrayWriter:
        """Begin an array, by a name as of `array_name`."""
        writer = self._open[name] = ArrayWriter(self.part / f"{name}.npy", dtype, length)
        return writer

    def pattern(
        self,
        side: int,
        starts: NDArray[np.int64],
        pieces: Iterable[NDArray[Any]],
        other: int,
        *,
        missing: bool = False,
    ) -> None:
        """Write one side whole: where its lines start, and its ones in order, piece by piece."""
        self.array(array_name(side, _STARTS, missing=missing), np.int64, starts.size).write(starts)
        ones = self.array(
            array_name(side, _ONES, missing=missing),
            BooleanMatrix.index_type(other),
            int(starts[-1]) + PADDING,
        )
        for piece in pieces:
            ones.write(piece)
        ones.write(np.zeros(PADDING))

    def names(self, side: int, names: Sequence[str] | None) -> None:
        """Write the names of the rows or the columns, if they have any."""
        if names:
            with (self.part / f"{SIDES[side]}.names.json").open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(name) + "\n" for name in names)

    def note(self, shape: tuple[int, int], ones: int, missing: int = 0) -> None:
        """Say what the matrix is; the last thing to do."""
        self._note |= {"shape": list(shape), "ones": ones, "missing": missing}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            for writer in self._open.values():
                writer.abandon()
            shutil.rmtree(self.part, ignore_errors=True)
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFullError(self.path.parent, f"{self.path.name}", error) from error
            return
        for name, writer in self._open.items():
            self._note["arrays"][name] = writer.close()
        with (self.part / NOTE).open("w") as file:
            json.dump(self._note, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        if self.path.exists():
            shutil.rmtree(self.path)
        self.part.rename(self.path)


def array_name(side: int, what: str, *, missing: bool = False) -> str:
    """Return the name of an array: of a side, its ``"starts"`` or its ``"ones"``."""
    return ".".join([*([_MISSING] if missing else []), SIDES[side], what])


def store(
    A: BooleanMatrix,
    path: str | os.PathLike[str],
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    *,
    overwrite: bool = False,
) -> "StoredMatrix":
    """Write a matrix that is in memory to a folder, and open it there.

    Parameters
    ----------
    A : BooleanMatrix
        The matrix.
    path : path
        The folder to make.
    row_names, column_names : sequence of str, optional
        Names to keep with it.
    overwrite : bool
        Replace such a folder.
    """
    with FolderWriter(path, overwrite=overwrite) as writer:
        for pattern, missing in ((A, False), (A.hidden, True)):
            if pattern is not None:
                for side in (0, 1):
                    starts, ones = pattern.lines(side)
                    whole = [ones[: int(starts[-1])]]
                    writer.pattern(side, starts, whole, A.shape[1 - side], missing=missing)
        writer.names(0, row_names)
        writer.names(1, column_names)
        writer.note(A.shape, A.ones, A.hidden.ones if A.hidden is not None else 0)
    return StoredMatrix(path)


class StoredMatrix(BooleanMatrix):
    """A matrix in a folder.

    Parameters
    ----------
    path : path
        The folder, as `store` makes it.

    Attributes
    ----------
    path : Path
        The folder.

    Raises
    ------
    FileFormatError
        If it is no such folder, or a file is missing or not as long as it should be.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._verified = False
        self._note = _read_note(self.path)
        n, m = (int(length) for length in self._note["shape"])
        hidden = None
        if self._note["missing"]:
            starts, ones = (sides := self._sides(missing=True))[0]
            hidden = BooleanMatrix((n, m), starts, ones[: self._note["missing"]])
            hidden._lines.update(sides)
        starts, ones = (sides := self._sides())[0]
        super().__init__((n, m), starts, ones[: self._note["ones"]], hidden)
        self._lines.update(sides)

    def names(self, side: int) -> list[str] | None:
        """Return the names of the rows (0) or the columns (1), if they have any."""
        path = self.path / f"{SIDES[side]}.names.json"
        if not path.exists():
            return None
        try:
            with path.open(encoding="utf-8") as file:
                names = [str(json.loads(line)) for line in file]
        except ValueError as error:
            raise FileFormatError(
                f"{path}: is damaged ({error}). Convert the data again."
            ) from None
        if len(names) != self.shape[side]:
            raise FileFormatError(
                f"{path}: expected {self.shape[side]} names, one a line; found {len(names)}. "
                "Convert the data again."
            )
        return names

    def _checksums(self) -> list[list[int]]:
        """Return those of the files of the rows, as they are noted."""
        names = (
            array_name(0, what, missing=missing) for missing in (False, True) for what in _WHAT
        )
        arrays = self._note["arrays"]
        return [arrays[name]["crc32"] for name in names if name in arrays]

    def verify(self) -> None:
        """Compare every block with its checksum, the first time.

        Raises
        ------
        FileFormatError
            If one differs; says where.
        """
        if self._verified:
            return
        blocks = [
            block
            for name, noted in self._note["arrays"].items()
            for block in blocks_of(self.path / f"{name}.npy", noted, _REMEDY)
        ]
        with ThreadPoolExecutor(available_cores()) as pool:
            list(pool.map(Block.verify, blocks))
        self._verified = True

    def _sides(self, *, missing: bool = False) -> dict[int, Pattern]:
        return {
            side: (
                self._array(array_name(side, _STARTS, missing=missing)),
                self._array(array_name(side, _ONES, missing=missing)),
            )
            for side in (0, 1)
        }

    def _array(self, name: str) -> NDArray[Any]:
        noted = self._note["arrays"].get(name)
        if noted is None:
            raise FileFormatError(
                f"{self.path / NOTE}: does not name the array {name!r}. Convert the data again."
            )
        return map_array(self.path / f"{name}.npy", noted, _REMEDY)


def _read_note(folder: Path) -> dict[str, Any]:
    path = folder / NOTE
    try:
        note = json.loads(path.read_text())
        known = note["format"] == _FORMAT and {"shape", "ones", "missing", "arrays"} <= {*note}
        version = note["version"]
    except FileNotFoundError:
        raise FileFormatError(
            f"{folder}: expected a folder of slabs, which has a file {NOTE}; it has none. Make one "
            f"with: elbmf convert DATA {folder}"
        ) from None
    except (ValueError, KeyError, TypeError, NotADirectoryError):
        known = False
    if not known:
        raise FileFormatError(f"{path}: is no note of a folder of slabs. Convert the data again.")
    if version > _VERSION:
        raise FileFormatError(
            f"{path}: has version {version}, which is newer than this program knows "
            f"({_VERSION}). Install a newer elbmf."
        )
    return dict(note)
