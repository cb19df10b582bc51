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
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import DiskFullError, FileFormatError, InputError, NewerVersionError
from elbmf.kernels.patterns import PADDING
from elbmf.matrix.array_files import ArrayNote, ArrayWriter, Stamp, StoredArray
from elbmf.matrix.boolean_matrix import BooleanMatrix, Pattern
from elbmf.matrix.paging import MemoryKeeper, scratch_array
from elbmf.matrix.stored_pattern import StoredPattern, new_key, require_apart
from elbmf.utils.atomic import replace_folder, sync_file, temporary_folder
from elbmf.utils.leftovers import OwnFolder
from elbmf.utils.notes import Count, Notes, read_note
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
        self._overwrite = overwrite
        self._require_free()
        place = Path(os.path.abspath(self.path))
        place.parent.mkdir(parents=True, exist_ok=True)
        self._own = OwnFolder(place)
        self.part = self._own.path
        self._note: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "arrays": {}}
        self._open: dict[str, ArrayWriter] = {}

    def _require_free(self) -> None:
        if self.path.exists() or self.path.is_symlink():
            if not (self.path / NOTE).is_file():
                raise InputError(f"{self.path}: exists and is not a matrix folder. Move it away.")
            if not self._overwrite:
                raise InputError(f"{self.path}: already exists. Choose another name.")

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
        was_there = self.part.exists()
        self._own.release()
        if isinstance(error, FileNotFoundError) and not was_there:
            raise InputError(
                f"{self.path}: could not be written, for somebody has removed {self.part}, where "
                "it was built. Start again."
            ) from error
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(self.path.parent, f"{self.path.name}", error) from error

    def _finish(self) -> None:
        for name, writer in self._open.items():
            self._note["arrays"][name] = writer.close()
        with (self.part / NOTE).open("w") as file:
            json.dump(self._note, file, indent=1)
            sync_file(file)
        for name in self._open:
            # Whatever is written to it later will have another time, however coarse the clock.
            path = self.part / f"{name}.npy"
            before = path.stat().st_mtime_ns - 2 * _TICK
            os.utime(path, ns=(before, before))
        stamps = DiskMatrix(self.part).stamps()
        # It may have come about meanwhile.
        self._require_free()
        replace_folder(self.part, Path(os.path.abspath(self.path)))
        self._own.release()
        note_as_looked_at(stamps)


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


Stamps = tuple[Stamp, ...]

# Folders that this process wrote or has looked at, the last of them; it need not do so again.
_LOOKED_AT: deque[Stamps] = deque(maxlen=100)

# What there is only when the files were looked at.
_VERIFIED = frozenset(("indptr", "indices", "missing", "_lines"))

# Clocks of files may be so coarse, in nanoseconds: what is changed twice in that time may have the
# same time.
_TICK = 2_000_000_000


def note_as_looked_at(stamps: Stamps) -> None:
    """Note that files need not be looked at again as long as they have these times."""
    if time.time_ns() - max(stamp.changed for stamp in stamps) >= _TICK:
        _LOOKED_AT.append(stamps)


@dataclass
class _MatrixNote(Notes):
    """What the file that names the others says."""

    format: str
    version: Count
    shape: tuple[Count, Count]
    ones: Count
    missing: Count
    arrays: dict[str, ArrayNote]


def read_matrix_note(folder: Path) -> _MatrixNote:
    """Read the note of a matrix folder."""
    path = folder / NOTE
    if not path.exists():
        raise FileFormatError(
            f"{folder}: expected a matrix folder, which has a file {NOTE}; it has none. Make one "
            f"with: elbmf convert DATA {folder}"
        )

    def check(note: Any) -> None:
        if not isinstance(note, dict) or note.get("format") != _FORMAT:
            raise FileFormatError(f"{path}: does not describe a matrix folder. {_REMEDY}")
        version = note.get("version")
        if isinstance(version, int) and version > _VERSION:
            raise NewerVersionError(path, version, _VERSION)

    return read_note(_MatrixNote, path, _REMEDY, check)


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
        If it is no such folder, or a file is missing or not as long as it should be. What the files
        hold is looked at when it is first used, see `verify`.
    """

    in_memory = False

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._note = note = read_matrix_note(self.path)
        self.shape, self.ones, self.n_missing = note.shape, note.ones, note.missing
        self._stored = {
            missing: (self._pattern(0, missing=missing), self._pattern(1, missing=missing))
            for missing in ((False, True) if note.missing else (False,))
        }

    def _pattern(self, side: int, *, missing: bool) -> "StoredPattern":
        """Open one side, and compare the sizes of its files with what is noted."""
        ones = self._note.missing if missing else self._note.ones
        n, other = self.shape[side], self.shape[1 - side]

        def opened(what: str, dtype: Any, length: int) -> StoredArray:
            name = array_name(side, what, missing=missing)
            if name not in self._note.arrays:
                raise FileFormatError(
                    f"{self.path / NOTE}: does not name the array {name!r}. {_REMEDY}"
                )
            noted = self._note.arrays[name]
            path = self.path / f"{name}.npy"
            return StoredArray.open(path, noted, _REMEDY, [dtype], length)

        return StoredPattern(
            opened(_STARTS, np.int64, n + 1),
            opened(_ONES, BooleanMatrix.index_type(other), ones + PADDING),
            SIDES[side][:-1],
            ones,
            other,
        )

    def __getattr__(self, name: str) -> Any:
        """Look at what the files hold before anybody else does: see `verify`."""
        if name not in _VERIFIED or "_stored" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        self.verify()
        return vars(self)[name]

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

    def starts(self, axis: int, *, missing: bool = False) -> NDArray[np.int64]:
        """Return where each row (0) or column (1) starts; for that, the ones are not looked at."""
        if "_lines" in vars(self):
            return super().starts(axis, missing=missing)
        pattern = self._stored[missing][axis]
        with ThreadPoolExecutor(available_cores()) as pool:
            pattern.verify_starts(pool)
        return pattern.mapped[0]

    def _checksums(self) -> list[list[int]]:
        """Return those of the files of the rows, as they are noted."""
        names = (
            array_name(0, what, missing=missing)
            for missing in self._stored
            for what in (_STARTS, _ONES)
        )
        return [list(self._note.arrays[name].crc32) for name in names]

    def verify(self) -> None:
        """See, the first time, that the files hold what was written, and that this is a matrix.

        Every block is compared with its checksum. Where lines start and their ones must be in
        order and in range, the rows and the columns must have the same ones, and none of them may
        be missing. Of a folder that this process wrote, or has looked at before, only the sizes
        and times of the files are compared with what they were.

        Raises
        ------
        FileFormatError
            If something is wrong; says where.
        """
        for array in self.files():
            array.require_unchanged()
        if "_lines" in vars(self):
            return
        stamps = self.stamps()
        if stamps not in _LOOKED_AT:
            self.look()
            note_as_looked_at(stamps)
        found = [self._matrix(sides) for sides in self._stored.values()]
        super().__init__(self.shape, found[0].indptr, found[0].indices, *found[1:])
        self._lines.update(found[0]._lines)

    def look(self) -> None:
        """Look at all that the files hold, whether that was done before or not; see `verify`."""
        with ThreadPoolExecutor(available_cores()) as pool:
            for missing, sides in self._stored.items():
                for pattern in sides:
                    pattern.verify_starts(pool)
                keys = new_key(), new_key()
                rows, columns = (
                    pattern.verify_ones(pool, keys[side], keys[1 - side])
                    for side, pattern in enumerate(sides)
                )
                if rows != columns:
                    what = "missing cells" if missing else "ones"
                    raise FileFormatError(
                        f"{self.path}: the {what} by rows are not those by columns. {_REMEDY}"
                    )
        if len(self._stored) > 1:
            ones, others = (sides[0].mapped for sides in self._stored.values())
            require_apart(ones, others, self.path, _REMEDY)

    def _matrix(self, stored: tuple[StoredPattern, StoredPattern]) -> BooleanMatrix:
        """Return the ones or the missing cells, which were looked at."""
        sides = {side: pattern.mapped for side, pattern in enumerate(stored)}
        starts, ones = sides[0]
        matrix = BooleanMatrix(self.shape, starts, ones[: int(starts[-1])])
        matrix._lines.update(sides)
        return matrix

    def files(self) -> list[StoredArray]:
        """Return all files of arrays."""
        return [array for sides in self._stored.values() for each in sides for array in each.files]

    @property
    def size(self) -> int:
        """Bytes of these files."""
        return sum(array.stamp.size for array in self.files())

    def stamps(self) -> Stamps:
        """Return what tells that files have changed."""
        return tuple(array.stamp for array in self.files())

    def piece(self, side: int, low: int, high: int) -> tuple[Pattern, Pattern | None]:
        """Copy some rows (0) or columns (1) into memory, and their missing cells if there are any.

        Only these are looked at, as `verify` looks at everything; and not whether the other side
        has the same ones.

        Raises
        ------
        FileFormatError
            If something is wrong; says where.
        """
        ones, *others = (sides[side].piece(low, high) for sides in self._stored.values())
        for missing in others:
            require_apart(ones, missing, self.path, _REMEDY)
            return ones, missing
        return ones, None


def _names_path(folder: Path, side: int) -> Path:
    return folder / f"{SIDES[side]}.names.json"


def _read_names(folder: Path, side: int) -> Iterator[str] | None:
    path = _names_path(folder, side)
    if path.is_file():
        return _names_in(path)
    if path.exists():
        raise FileFormatError(f"{path}: is no file. {_REMEDY}")
    if not folder.exists():
        raise FileFormatError(f"{folder}: is not there any more. Start again with what is.")
    return None


def _names_in(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                name = json.loads(line)
                if not isinstance(name, str):
                    raise ValueError(f"expected names, found {line.strip():.40}")
                name.encode()
                yield name
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path}: is damaged ({error}). Convert the data again.") from None


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
            again = PagedMatrix(A.path, keeper)
            if again.stamps() != A.stamps():
                raise FileFormatError(
                    f"{A.path}: has been replaced since it was opened. Start again."
                )
            yield again
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
