"""The numpy formats npz (sparse, or one array, with names) and npy (one dense array).

A written npz is one that ``scipy.sparse.load_npz`` reads; the names lie beside the matrix in
arrays of their own, see `elbmf.io.names`. Nothing is ever unpickled.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError, InputError
from elbmf.io.entries import (
    ENTRIES_AT_ONCE,
    Ending,
    Entries,
    EntryStream,
    Stored,
    check_announced,
    check_indices,
    check_lengths,
    check_numbers,
    check_places,
    compressed_entries,
    dense_entries,
    row_slices,
    stored_entries,
)
from elbmf.io.files import open_raw
from elbmf.io.formats.format import Format
from elbmf.io.names import NAME_FIELDS, names_in, packed_names
from elbmf.io.table import LabelledMatrix, TableError

__all__ = ["NPY", "NPZ", "stream_npy", "stream_npz", "write_npy", "write_npz"]

# The arrays of each kind of sparse matrices.
_SPARSE_PARTS = {
    "csr": ("indptr", "indices", "data"),
    "csc": ("indptr", "indices", "data"),
    "coo": ("row", "col", "data"),
    "bsr": ("indptr", "indices", "data"),
    "dia": ("offsets", "data"),
}
_AT_ONCE = 1 << 20


def stream_npz(path: Path, *, key: str | None = None) -> EntryStream:
    """Stream a npz file: a scipy sparse matrix, or a dense 2-d array, and names if it has them.

    ``key`` says which array to take; it is needed only where several have two dimensions.
    """
    with open_raw(path) as stream, _Archive(stream) as archive:
        row_names, column_names = (names_in(archive, field) for field in NAME_FIELDS)
        if key is None and {"format", "shape", "data"} <= set(archive):
            shape = yield from _sparse(path, archive, (row_names is None, column_names is None))
        else:
            found = archive.opened(_only_matrix(path, archive, key))
            shape = yield from _dense(path, found)
        archive.finish()
        return Ending(shape, row_names, column_names)


class _Header:
    """What a npy file says of its array, from its begin."""

    def __init__(self, stream: IO[bytes]) -> None:
        version = np.lib.format.read_magic(stream)
        if version not in ((1, 0), (2, 0), (3, 0)):
            raise ValueError(f"version {version} of the npy format is not known")
        # The third differs in names of fields alone, which no array of numbers has.
        read = np.lib.format.read_array_header_1_0
        read = np.lib.format.read_array_header_2_0 if version > (1, 0) else read
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Of damaged literals, which are refused or are none.
            self.shape, self.by_columns, self.dtype = read(stream)
        if any(length < 0 for length in self.shape):
            raise ValueError(f"an array has the shape {self.shape}")


class _Archive(Mapping[str, NDArray[Any]]):
    """The arrays of a npz file, each read whole if it is asked for, or else bit by bit."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(stream)
        self._opened = ExitStack()
        self._unfinished: list[IO[bytes]] = []

    def __enter__(self) -> _Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.close()
        self._zip.close()

    def __iter__(self) -> Iterator[str]:
        names = (each for each in self._zip.namelist() if each.endswith(".npy"))
        return (each.removesuffix(".npy") for each in names)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return f"{name}.npy" in self._zip.namelist()

    def __getitem__(self, name: str) -> NDArray[Any]:
        with self.opened(name) as member:
            header = _Header(member)
            if header.dtype.hasobject:
                check_numbers(header.dtype)
            data = member.read()
        # All at once, so that memory is taken for what there is, not for what is announced.
        found = np.frombuffer(data, header.dtype)
        return found.reshape(header.shape, order="F" if header.by_columns else "C")

    def opened(self, name: str) -> IO[bytes]:
        """Return a member as a stream."""
        return self._opened.enter_context(self._zip.open(f"{name}.npy"))

    def stored(self, name: str) -> Stored:
        """Return an array of one dimension, to be read bit by bit."""
        member = self.opened(name)
        self._unfinished.append(member)
        header = _Header(member)
        if len(header.shape) != 1:
            raise ValueError(f"expected {name} to have one dimension, found {len(header.shape)}")
        check_numbers(header.dtype)

        def read(count: int) -> NDArray[Any]:
            data = member.read(count * header.dtype.itemsize)
            return np.frombuffer(data, header.dtype, len(data) // header.dtype.itemsize)

        return Stored(read, header.shape[0], header.dtype)

    def finish(self) -> None:
        """Read what is left, so that the checksums are compared."""
        for member in self._unfinished:
            while member.read(_AT_ONCE):
                pass


def _only_matrix(path: Path, archive: _Archive, key: str | None) -> str:
    """Return which array is the matrix."""
    if key is not None:
        if key not in archive:
            raise InputError(f"{path}: has no array {key!r}. Arrays it has: {', '.join(archive)}.")
        return key
    shapes = {}
    for name in archive:
        with archive.opened(name) as member:
            shapes[name] = _Header(member).shape
    found = [name for name, shape in shapes.items() if len(shape) == 2]
    if len(found) == 1:
        return found[0]
    arrays = ", ".join(f"{name} {shape}" for name, shape in shapes.items()) or "none"
    advice = "Choose one with the option key." if found else "Save a 2-d array or a sparse matrix."
    raise FileFormatError(
        f"{path}: expected a scipy sparse matrix or one array with 2 dimensions, found "
        f"{len(found)} such arrays. Arrays and their shapes: {arrays}. {advice}"
    )


def _sparse(
    path: Path, archive: _Archive, unnamed: tuple[bool, bool]
) -> Generator[Entries, None, tuple[int, int]]:
    """Stream a sparse matrix as scipy saves it; returns its shape."""
    kind = archive["format"].item() if archive["format"].ndim == 0 else ""
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    if not set(_SPARSE_PARTS.get(kind, ("?",))) <= set(archive):
        raise FileFormatError(
            f"{path}: expected a sparse matrix of one of the kinds {', '.join(_SPARSE_PARTS)} with "
            f"its arrays, found the format {kind[:60]!r} and the arrays {', '.join(archive)}. Save "
            "it again with scipy.sparse.save_npz."
        )
    shape = archive["shape"]
    check_indices(shape=shape)
    n, m = sides = tuple(shape.ravel().tolist()) if shape.size == 2 else (0, 0)
    # Where lines start is stored for all of them.
    told = (unnamed[0] and kind != "csr", unnamed[1] and kind != "csc")
    check_announced(path, shape.ravel().tolist(), told=told)
    if kind in ("csr", "csc"):
        arrays = [archive.stored(part) for part in _SPARSE_PARTS[kind]]
        yield from compressed_entries(arrays, (n, m), by_columns=kind == "csc")
    elif kind == "coo":
        rows, columns, data = (archive.stored(part) for part in _SPARSE_PARTS[kind])
        check_indices(row=rows, col=columns)
        check_lengths(row=rows, col=columns, data=data)
        for start in range(0, data.size, ENTRIES_AT_ONCE):
            count = min(ENTRIES_AT_ONCE, data.size - start)
            some = [each.take(count) for each in (rows, columns, data)]
            check_places(some[0], n, "row")
            check_places(some[1], m, "column")
            yield stored_entries(*some)
    else:
        data_of = archive["data"]
        check_numbers(data_of.dtype)
        if kind == "bsr":
            yield _of_blocks(archive["indptr"], archive["indices"], data_of, (n, m))
        else:
            yield _of_diagonals(archive["offsets"], data_of, (n, m))
    return sides


def _of_blocks(
    indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], shape: tuple[int, int]
) -> Entries:
    """Return the entries of a matrix that is stored in dense blocks of one size."""
    check_indices(indptr=indptr, indices=indices)
    count, height, width = data.shape
    counts: NDArray[Any] = np.diff(indptr.astype(np.int64))
    if 0 in (height, width) or shape[0] % height or shape[1] % width:
        raise ValueError(f"blocks of {height} by {width} do not make a matrix of {shape}")
    fits = indptr.size == shape[0] // height + 1 and indptr[0] == 0 and indptr[-1] == count
    if not fits or indices.size != count or (counts < 0).any():
        raise ValueError("indptr does not fit the indices and the blocks")
    check_places(indices, shape[1] // width, "block")
    block, row, column = np.nonzero(data)
    first = np.repeat(np.arange(counts.size), counts) * height
    columns = indices.astype(np.int64)[block] * width + column
    return stored_entries(first[block] + row, columns, data[block, row, column])


def _of_diagonals(offsets: NDArray[Any], data: NDArray[Any], shape: tuple[int, int]) -> Entries:
    """Return the entries of a matrix that is stored by diagonals."""
    check_indices(offsets=offsets)
    if data.ndim != 2 or offsets.shape != data.shape[:1]:
        raise ValueError("the diagonals are not as many as the offsets")
    diagonal, columns = np.nonzero(data[:, : shape[1]])
    rows = columns - offsets.astype(np.int64)[diagonal]
    inside = (rows >= 0) & (rows < shape[0])
    diagonal, rows, columns = diagonal[inside], rows[inside], columns[inside]
    return stored_entries(rows, columns, data[diagonal, columns])


def _dense(path: Path, stream: IO[bytes]) -> Generator[Entries, None, tuple[int, int]]:
    """Stream the array of a npy file, a block of lines at a time; returns its shape."""
    header = _Header(stream)
    shape, dtype = header.shape, header.dtype
    if dtype.hasobject:
        check_numbers(dtype)
    if len(shape) != 2:
        raise TableError(
            f"expected an array with 2 dimensions, found one of shape {shape}. Reshape it to rows "
            "and columns."
        )
    if dtype.kind not in "biuf":
        raise TableError(
            f"expected an array of booleans or real numbers, found the type {dtype}. Convert it to "
            "bool, int or float."
        )
    n, m = shape
    # Without cells, nothing but the header tells how many lines there are.
    check_announced(path, shape, told=(m == 0, n == 0), data=n * m * dtype.itemsize)
    lines, length = (m, n) if header.by_columns else (n, m)
    for piece in row_slices(lines, length):
        size = (piece.stop - piece.start) * length * dtype.itemsize
        data = stream.read(size)
        if len(data) < size:
            raise ValueError("there are fewer cells than its header says")
        cells = np.frombuffer(data, dtype).reshape(piece.stop - piece.start, length)
        entries = dense_entries(cells, piece.start)
        yield entries.transposed() if header.by_columns else entries
    return n, m


def write_npz(stream: IO[bytes], table: LabelledMatrix) -> None:
    """Write a compressed npz file that ``scipy.sparse.load_npz`` reads, too."""
    values = table.values
    arrays: dict[str, Any] = {
        "format": np.array(b"csr"),
        "shape": np.array(values.shape),
        "data": values.data,
        "indices": values.indices,
        "indptr": values.indptr,
        "_is_array": np.array(True),
    }
    np.savez_compressed(stream, **arrays, **packed_names(table))


def stream_npy(path: Path) -> EntryStream:
    """Stream a npy file that holds one 2-d array."""
    with open_raw(path) as stream:
        return Ending((yield from _dense(path, stream)))


def write_npy(stream: IO[bytes], table: LabelledMatrix) -> None:
    """Write a dense npy file, a block of rows at a time; the format has no place for names."""
    values = table.values
    descr = np.lib.format.dtype_to_descr(values.dtype)
    header = {"descr": descr, "fortran_order": False, "shape": table.shape}
    np.lib.format.write_array_header_1_0(stream, header)
    for piece in row_slices(*table.shape):
        stream.write(values[piece].toarray().tobytes())


NPZ = Format(
    name="npz",
    suffixes=(".npz",),
    description="sparse matrix of scipy, or array of numpy",
    stream=stream_npz,
    write=write_npz,
    magic=(b"PK\x03\x04", b"PK\x05\x06"),
    option_help={"key": "which array of an npz file"},
)
NPY = Format(
    name="npy",
    suffixes=(".npy",),
    description="dense array of numpy",
    stream=stream_npy,
    write=write_npy,
    magic=(b"\x93NUMPY",),
    keeps_names=False,
)
