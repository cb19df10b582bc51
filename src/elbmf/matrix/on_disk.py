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
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import DiskFullError, FileFormatError, InputError
from elbmf.kernels.patterns import PADDING
from elbmf.matrix.array_files import BLOCK, ArrayWriter, Block, blocks_of, map_array
from elbmf.matrix.boolean_matrix import BooleanMatrix, Pattern
from elbmf.matrix.paging import MemoryKeeper, scratch_array
from elbmf.utils.atomic import part_of, replace_folder, sync_file, temporary_folder, unfinished
from elbmf.utils.threads import available_cores

__all__ = [
    "NOTE",
    "DiskMatrix",
    "FolderWriter",
    "PagedMatrix",
    "array_name",
    "memory_needed",
    "paged",
    "store",
]

NOTE = "matrix.json"
_FORMAT, _VERSION = "elbmf matrix", 1
SIDES = ("rows", "columns")
_STARTS, _ONES = "starts", "ones"
_MISSING = "missing"
_REMEDY = "Convert the data again."
_NAMES_AT_ONCE = 1 << 13


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
                raise InputError(f"{self.path}: exists and is not a matrix folder. Move it away.")
            if not overwrite:
                raise InputError(f"{self.path}: already exists. Choose another name.")
        self.part = part_of(self.path)
        if self.part.exists():
            shutil.rmtree(self.part)
        self._kept = ExitStack()
        self._kept.enter_context(unfinished(self.part))
        self.part.mkdir(parents=True)
        self._note: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "arrays": {}}
        self._open: dict[str, ArrayWriter] = {}

    def array(self, name: str, dtype: Any, length: int | None = None) -> ArrayWriter:
        """Begin an array, by a name as of `array_name`; its length may show later."""
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

    def names(self, side: int, names: Iterable[str] | None) -> None:
        """Write the names of the rows or the columns, if they have any."""
        if names is not None:
            following = iter(names)
            with _names_path(self.part, side).open("w", encoding="utf-8") as file:
                while some := list(islice(following, _NAMES_AT_ONCE)):
                    # A list with line ends in place of commas.
                    file.write(json.dumps(some, separators=("\n", ":"))[1:-1] + "\n")

    def written_names(self, side: int) -> Iterator[str] | None:
        """Return the names that were written, if there are any."""
        return _read_names(self.part, side)

    def note(self, shape: tuple[int, int], ones: int, missing: int = 0) -> None:
        """Say what the matrix is; the last thing to do."""
        self._note |= {"shape": list(shape), "ones": ones, "missing": missing}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        with self._kept:
            if kind is not None:
                self._give_up(error)
                return
            try:
                self._finish()
            except BaseException as late:
                self._give_up(late)
                raise

    def _give_up(self, error: BaseException) -> None:
        for writer in self._open.values():
            writer.abandon()
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(self.path.parent, f"{self.path.name}", error) from error

    def _finish(self) -> None:
        for name, writer in self._open.items():
            self._note["arrays"][name] = writer.close()
        with (self.part / NOTE).open("w") as file:
            json.dump(self._note, file, indent=1)
            sync_file(file)
        replace_folder(self.part, self.path)


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
) -> "DiskMatrix":
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
        for pattern, missing in ((A, False), (A.missing, True)):
            if pattern is not None:
                for side in (0, 1):
                    starts, ones = pattern.lines(side)
                    whole = [ones[: int(starts[-1])]]
                    writer.pattern(side, starts, whole, A.shape[1 - side], missing=missing)
        writer.names(0, row_names)
        writer.names(1, column_names)
        writer.note(A.shape, A.ones, A.n_missing)
    return DiskMatrix(path)


class DiskMatrix(BooleanMatrix):
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

    in_memory = False

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._verified = False
        self._note = _read_note(self.path)
        n, m = (int(length) for length in self._note["shape"])
        missing = None
        if self._note["missing"]:
            sides = self._sides(missing=True)
            starts, ones = sides[0]
            missing = BooleanMatrix((n, m), starts, ones[: self._note["missing"]])
            missing._lines.update(sides)
        sides = self._sides()
        starts, ones = sides[0]
        super().__init__((n, m), starts, ones[: self._note["ones"]], missing)
        self._lines.update(sides)

    def names(self, side: int, first: int | None = None) -> list[str] | None:
        """Return the names of the rows (0) or the columns (1), if they have any.

        Parameters
        ----------
        side : int
            Which.
        first : int, optional
            Only so many of them.
        """
        lines = _read_names(self.path, side)
        if lines is None:
            return None
        names = list(islice(lines, first))
        if first is None and len(names) != self.shape[side]:
            raise FileFormatError(
                f"{_names_path(self.path, side)}: expected {self.shape[side]} names, one a line; "
                f"found {len(names)}. Convert the data again."
            )
        return names

    def _checksums(self) -> list[list[int]]:
        """Return those of the files of the rows, as they are noted."""
        names = (
            array_name(0, what, missing=missing)
            for missing in (False, True)
            for what in (_STARTS, _ONES)
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

    def verify_lines(self, side: int, low: int, high: int) -> None:
        """Compare the blocks that some rows (0) or columns (1) lie in with their checksums.

        Raises
        ------
        FileFormatError
            If one differs; says where.
        """
        for missing, pattern in ((False, self), (True, self.missing)):
            if pattern is None:
                continue
            starts, ones = pattern.lines(side)
            self._verify(array_name(side, _STARTS, missing=missing), starts, low, high + 1)
            first, last = int(starts[low]), int(starts[high])
            self._verify(array_name(side, _ONES, missing=missing), ones, first, last)

    def _verify(self, name: str, array: NDArray[Any], first: int, last: int) -> None:
        """Compare the blocks of some entries of an array with their checksums."""
        noted = self._note["arrays"][name]
        blocks = list(blocks_of(self.path / f"{name}.npy", noted, _REMEDY))
        size = array.itemsize
        for block in blocks[first * size // BLOCK : -(-last * size // BLOCK)]:
            block.verify()

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


def _names_path(folder: Path, side: int) -> Path:
    return folder / f"{SIDES[side]}.names.json"


def _read_names(folder: Path, side: int) -> Iterator[str] | None:
    path = _names_path(folder, side)
    return _names_in(path) if path.exists() else None


def _names_in(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                yield str(json.loads(line))
    except ValueError as error:
        raise FileFormatError(f"{path}: is damaged ({error}). Convert the data again.") from None


def _read_note(folder: Path) -> dict[str, Any]:
    path = folder / NOTE
    try:
        note = json.loads(path.read_text())
        known = note["format"] == _FORMAT and {"shape", "ones", "missing", "arrays"} <= {*note}
        version = note["version"]
    except FileNotFoundError:
        raise FileFormatError(
            f"{folder}: expected a matrix folder, which has a file {NOTE}; it has none. Make one "
            f"with: elbmf convert DATA {folder}"
        ) from None
    except (ValueError, KeyError, TypeError, NotADirectoryError):
        known = False
    if not known:
        raise FileFormatError(f"{path}: does not describe a matrix folder. Convert the data again.")
    if version > _VERSION:
        raise FileFormatError(
            f"{path}: has version {version}, which is newer than this program knows "
            f"({_VERSION}). Install a newer elbmf."
        )
    return dict(note)


# Bytes of an index as the local search has it, on either side.
_WIDE = 4

# Copies of the sums over the resident side that a fit may have.
_PRODUCTS = 32


class PagedMatrix(DiskMatrix):
    """A stored matrix, of which only a part is in memory at any time.

    Parameters
    ----------
    path : path
        The folder of the matrix.
    keeper : MemoryKeeper
        Sees to it.
    """

    def __init__(self, path: str | os.PathLike[str], keeper: MemoryKeeper) -> None:
        super().__init__(path)
        self._keeper = keeper
        beside = self.path.absolute().parent
        self.scratch = beside if os.access(beside, os.W_OK) else Path(tempfile.gettempdir())
        for pattern in (self, self.missing):
            if pattern is not None:
                for array in (array for side in (0, 1) for array in pattern.lines(side)):
                    keeper.keep(array)

    def allocate(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return zeros that live in a scratch file."""
        array = scratch_array(self.scratch, shape, dtype)
        self._keeper.keep(array)
        return array


@contextmanager
def paged(A: BooleanMatrix, limit: int) -> Iterator[PagedMatrix]:
    """Lend a matrix as one that is worked on from the disk.

    Parameters
    ----------
    A : BooleanMatrix
        If it is not stored already, it is written to a folder of its own for this time.
    limit : int
        Bytes by which the program may grow.
    """
    with MemoryKeeper(limit) as keeper:
        if isinstance(A, DiskMatrix):
            A.verify()
            yield PagedMatrix(A.path, keeper)
            return
        with temporary_folder() as folder:
            path = folder / "data.matrix"
            store(A, path)
            yield PagedMatrix(path, keeper)


def memory_needed(A: BooleanMatrix, k: int, itemsize: int) -> int:
    """Estimate the bytes that a fit takes in memory.

    Parameters
    ----------
    A : BooleanMatrix
        The data.
    k : int
        Components.
    itemsize : int
        Bytes of a number of the relaxed factors.
    """
    short, long = sorted(A.shape)
    cells_as_bits = A.cells // 8
    # The slabs, or the same cells as bits where that is less; both sides for the local search.
    indices = A.ones * np.dtype(A.index_type(short)).itemsize
    data = min(indices, cells_as_bits) + 2 * _WIDE * A.ones
    data += 3 * _WIDE * A.n_missing
    # Two iterates of each factor, and the products with the data.
    return data + k * itemsize * (2 * long + (2 + _PRODUCTS) * short)
