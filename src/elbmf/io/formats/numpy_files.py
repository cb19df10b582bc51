"""The numpy formats npz (sparse, or one array, with names) and npy (one dense array).

A written npz is one that ``scipy.sparse.load_npz`` reads; the names lie beside the matrix in
arrays of their own, see `elbmf.io.names`. Nothing is ever unpickled.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from elbmf.errors import FileFormatError, InputError
from elbmf.io.entries import (
    ENTRIES_AT_ONCE,
    Ending,
    EntryStream,
    Take,
    compressed_entries,
    dense_entries,
    row_slices,
    stored_entries,
    table_entries,
)
from elbmf.io.files import open_raw, reading, reason
from elbmf.io.formats.format import Format
from elbmf.io.names import NAME_FIELDS, names_in, packed_names
from elbmf.io.table import CsrBuilder, LabelledMatrix

__all__ = [
    "NPY",
    "NPZ",
    "checked_sparse",
    "read_npy",
    "read_npz",
    "stream_npy",
    "stream_npz",
    "write_npy",
    "write_npz",
]

# The arrays of the kinds of sparse matrices that can be streamed.
_SPARSE_PARTS = {
    "csr": ("indptr", "indices", "data"),
    "csc": ("indptr", "indices", "data"),
    "coo": ("row", "col", "data"),
}


@contextmanager
def _numpy_errors(path: Path, kind: str) -> Iterator[None]:
    try:
        with reading(path):
            yield
    except FileFormatError:
        raise
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, InputError):
            raise
        if "pickle" in str(error) or "Python objects" in str(error):
            raise FileFormatError(
                f"{path}: expected numbers, found Python objects, which are never unpickled "
                "because that can run code. Save the array with a dtype of bool, int or float."
            ) from error
        raise FileFormatError(
            f"{path}: not a valid {kind} file, or cut off: {reason(error)}. Write or copy it again."
        ) from error


def read_npz(path: Path, *, key: str | None = None) -> LabelledMatrix:
    """Read a npz file: a scipy sparse matrix, or a dense 2-d array, and names if it has them.

    ``key`` says which array to take; it is needed only where several have two dimensions.
    """
    # Opened here, since numpy leaves the file open when it turns out to be no archive.
    with (
        _numpy_errors(path, "npz"),
        open(path, "rb") as stream,
        np.load(stream, allow_pickle=False) as archive,
    ):
        if key is None and {"format", "shape", "data"} <= set(archive.files):
            matrix: Any = checked_sparse(sparse.load_npz(path))
        else:
            matrix = _only_matrix(path, archive, key)
            _check_array(path, matrix.shape, matrix.dtype)
        names = [names_in(archive, field) for field in NAME_FIELDS]
        return LabelledMatrix(matrix, *names)


def checked_sparse(matrix: Any) -> Any:
    """Return a sparse matrix whose index arrays are known to be in range.

    Index arrays from a file could otherwise point outside of the memory of the matrix.
    """
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return matrix


def _only_matrix(path: Path, archive: Any, key: str | None) -> np.ndarray:
    if key is not None:
        if key not in archive.files:
            raise InputError(
                f"{path}: has no array {key!r}. Arrays it has: {', '.join(archive.files)}."
            )
        return archive[key]
    found = [name for name in archive.files if archive[name].ndim == 2]
    if len(found) == 1:
        return archive[found[0]]
    arrays = ", ".join(f"{name} {archive[name].shape}" for name in archive.files) or "none"
    advice = "Choose one with the option key." if found else "Save a 2-d array or a sparse matrix."
    raise FileFormatError(
        f"{path}: expected a scipy sparse matrix or one array with 2 dimensions, found "
        f"{len(found)} such arrays. Arrays and their shapes: {arrays}. {advice}"
    )


def _check_array(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if len(shape) != 2:
        raise FileFormatError(
            f"{path}: expected an array with 2 dimensions, found one of shape {shape}. "
            "Reshape it to rows and columns."
        )
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    if dtype.kind not in "biuf":
        raise FileFormatError(
            f"{path}: expected an array of booleans or real numbers, found the type "
            f"{dtype}. Convert it to bool, int or float."
        )


def stream_npz(path: Path, *, key: str | None = None) -> EntryStream:
    """Stream a npz file; one that holds a dense array is read whole."""
    with _numpy_errors(path, "npz"), open(path, "rb") as stream, ExitStack() as members:
        with np.load(stream, allow_pickle=False) as arrays:
            kind = arrays["format"].item() if key is None and "format" in arrays.files else ""
            kind = kind.decode() if isinstance(kind, bytes) else str(kind)
            parts = _SPARSE_PARTS.get(kind, ("data",))
            if {"shape", *parts} <= set(arrays.files) and len(parts) == 3:
                shape: tuple[int, ...] = tuple(arrays["shape"].tolist())
                row_names, column_names = (names_in(arrays, field) for field in NAME_FIELDS)
            else:
                return (yield from table_entries(read_npz(path, key=key)))
        archive = members.enter_context(zipfile.ZipFile(stream))
        first, second, data = (
            _taking(members.enter_context(archive.open(f"{part}.npy"))) for part in parts
        )
        n, m = shape
        if kind == "csr":
            yield from compressed_entries(first, second, data, (n, m))
        elif kind == "csc":
            for entries in compressed_entries(first, second, data, (m, n)):
                yield entries.transposed()
        else:
            while (rows := first(ENTRIES_AT_ONCE)).size:
                columns, values = second(rows.size), data(rows.size)
                if not (_within(rows, n) and _within(columns, m)):
                    raise ValueError("an index is outside of the matrix")
                yield stored_entries(rows, columns, values)
        return Ending((n, m), row_names, column_names)


def _within(numbers: np.ndarray, length: int) -> bool:
    return bool(numbers.min() >= 0 and numbers.max() < length)


def _taking(stream: IO[bytes]) -> Take:
    """Return what reads an array with one dimension bit by bit."""
    shape, _, dtype = _header(stream)
    if len(shape) != 1 or dtype.hasobject:
        raise ValueError("an array of the matrix is not a list of numbers")

    def take(count: int) -> np.ndarray:
        data = stream.read(count * dtype.itemsize)
        return np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)

    return take


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read what a npy file says of its array: shape, whether columns come first, and type."""
    version = np.lib.format.read_magic(stream)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"version {version} of the npy format is not known")
    return readers[version](stream)


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


def read_npy(path: Path) -> LabelledMatrix:
    """Read a npy file that holds one 2-d array, a block of rows at a time."""
    with _numpy_errors(path, "npy"):
        # Only the header says whether mapping is possible: it is not for objects or no cells.
        array = _mapped(path)
        _check_array(path, array.shape, array.dtype)
        builder = CsrBuilder(array.shape[1])
        for piece in row_slices(*array.shape):
            builder.add(np.asarray(array[piece]))
        return LabelledMatrix(builder.build())


def stream_npy(path: Path) -> EntryStream:
    """Stream a npy file."""
    with _numpy_errors(path, "npy"), open_raw(path) as stream:
        shape, by_columns, dtype = _header(stream)
        _check_array(path, shape, dtype)
        lines, length = shape[::-1] if by_columns else shape
        for piece in row_slices(lines, length):
            size = (piece.stop - piece.start) * length * dtype.itemsize
            data = stream.read(size)
            if len(data) < size:
                raise ValueError("there are fewer cells than its header says")
            entries = dense_entries(np.frombuffer(data, dtype).reshape(-1, length), piece.start)
            yield entries.transposed() if by_columns else entries
        return Ending((shape[0], shape[1]))


def _mapped(path: Path) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        if "empty" in str(error):
            return np.load(path, allow_pickle=False)
        raise


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
    read=read_npz,
    write=write_npz,
    stream=stream_npz,
    magic=(b"PK\x03\x04", b"PK\x05\x06"),
    option_help={"key": "which array of an npz file"},
)
NPY = Format(
    name="npy",
    suffixes=(".npy",),
    description="dense array of numpy",
    read=read_npy,
    write=write_npy,
    stream=stream_npy,
    magic=(b"\x93NUMPY",),
    keeps_names=False,
)
