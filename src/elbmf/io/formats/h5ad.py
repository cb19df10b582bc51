"""AnnData files (h5ad): the matrix X or a layer, and the names of observations and variables.

They are read and written with h5py alone. Needs the extra ``h5ad``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from elbmf.errors import FileFormatError, InputError
from elbmf.io.entries import (
    Ending,
    EntryStream,
    Take,
    compressed_entries,
    dense_entries,
    row_slices,
)
from elbmf.io.files import reading, reason
from elbmf.io.formats.format import Format
from elbmf.io.formats.numpy_files import checked_sparse
from elbmf.io.table import CsrBuilder, LabelledMatrix
from elbmf.utils.extras import optional_module

__all__ = [
    "H5AD",
    "axis_names",
    "edited",
    "inside",
    "mark",
    "obs_titles",
    "opened",
    "read_h5ad",
    "read_obs",
    "stream_h5ad",
    "strings_in",
    "taking",
    "write_h5ad",
]

_SPARSE_KINDS = {
    "csr_matrix": sparse.csr_array,
    "csr": sparse.csr_array,
    "csc_matrix": sparse.csc_array,
    "csc": sparse.csc_array,
}

# Bytes by which a file in memory grows, and room for what HDF5 notes of what is added to one.
_GROWS = 1 << 22
_BESIDE_ARRAYS = 1 << 20

# What names were called in files of old versions.
_INDEX = ("index", "_index")


@contextmanager
def opened(path: Path, kind: str = "h5ad") -> Iterator[Any]:
    """Open a file of HDF5; what is wrong with it becomes an error that names the file."""
    h5py = optional_module("h5py", extra="h5ad", purpose=f"reading {kind} files")
    with reading(path), open(path, "rb"):
        pass  # A file that may not be read is reported as that, not as damaged.
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, KeyError, RuntimeError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise FileFormatError(
            f"{path}: not a valid {kind} file, or cut off: {reason(error)}. Copy or write it again."
        ) from error


def read_h5ad(path: Path, *, layer: str | None = None) -> LabelledMatrix:
    """Read the matrix X of a h5ad file or a layer: rows are observations, columns are variables."""
    with opened(path) as file:
        values = _read_matrix(path, _matrix_node(path, file, layer), layer or "X")
        names = [axis_names(path, file, axis) for axis in ("obs", "var")]
        return LabelledMatrix(values, *names)


def stream_h5ad(path: Path, *, layer: str | None = None) -> EntryStream:
    """Stream the matrix X of a h5ad file, or a layer."""
    with opened(path) as file:
        node = _matrix_node(path, file, layer)
        row_names, column_names = (axis_names(path, file, axis) for axis in ("obs", "var"))
        if hasattr(node, "keys"):
            kind, (n, m) = _sparse_kind(path, node, layer or "X")
            by_columns = _SPARSE_KINDS[kind] is sparse.csc_array
            indptr, indices, data = (taking(node[part]) for part in ("indptr", "indices", "data"))
            shape = (m, n) if by_columns else (n, m)
            for entries in compressed_entries(indptr, indices, data, shape):
                yield entries.transposed() if by_columns else entries
        else:
            n, m = _dense_shape(path, node, layer or "X")
            for piece in row_slices(n, m):
                yield dense_entries(node[piece], piece.start)
        return Ending((n, m), row_names, column_names)


def taking(node: Any) -> Take:
    """Return what reads an array bit by bit."""
    at = 0

    def take(count: int) -> np.ndarray:
        nonlocal at
        at += count
        taken: np.ndarray = node[at - count : at]
        return taken

    return take


def _matrix_node(path: Path, file: Any, layer: str | None) -> Any:
    layers = list(file["layers"]) if "layers" in file else []
    has = f"Layers it has: {', '.join(layers) or 'none'}."
    if layer is not None:
        if layer not in layers:
            raise InputError(f"{path}: there is no layer {layer!r}. {has}")
        return file["layers"][layer]
    if "X" not in file or file["X"].attrs.get("encoding-type") == "null":
        raise FileFormatError(
            f"{path}: has no matrix X; expected the h5ad layout of AnnData. {has} "
            "Name one with the option layer."
        )
    return file["X"]


def _read_matrix(path: Path, node: Any, name: str) -> Any:
    if hasattr(node, "keys"):
        kind, shape = _sparse_kind(path, node, name)
        parts = tuple(node[part][...] for part in ("data", "indices", "indptr"))
        return checked_sparse(_SPARSE_KINDS[kind](parts, shape=shape))
    n, m = _dense_shape(path, node, name)
    builder = CsrBuilder(m)
    for piece in row_slices(n, m):
        builder.add(node[piece])
    return builder.build()


def _sparse_kind(path: Path, node: Any, name: str) -> tuple[str, tuple[int, int]]:
    """Return how a sparse matrix is stored, and its shape."""
    kind = _text(node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "")))
    shape = node.attrs.get("shape", node.attrs.get("h5sparse_shape"))
    if kind not in _SPARSE_KINDS or shape is None:
        raise FileFormatError(
            f"{path}: {name} is stored as {kind or 'an unmarked group'!r}, expected "
            "csr_matrix, csc_matrix or a dense array. Convert it with anndata."
        )
    n, m = map(int, shape)
    return kind, (n, m)


def _dense_shape(path: Path, node: Any, name: str) -> tuple[int, int]:
    if node.ndim != 2:
        raise FileFormatError(
            f"{path}: {name} has {node.ndim} dimensions, expected 2. Write it again with a recent "
            "anndata."
        )
    n, m = node.shape
    return n, m


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def axis_names(path: Path, file: Any, axis: str) -> list[str] | None:
    """Return the names along an axis; None where the file has none."""
    if axis not in file:
        return None
    frame = file[axis]
    if not hasattr(frame, "keys"):
        # Before version 0.7, data frames were tables of records.
        for field in _INDEX:
            if field in (frame.dtype.names or ()):
                return [_text(name) for name in frame[field].tolist()]
        return None
    for field in (_text(frame.attrs.get("_index", "_index")), "index"):
        if field in frame:
            return strings_in(path, frame[field], f"{axis}/{field}")
    return None


def strings_in(path: Path, node: Any, name: str) -> list[str]:
    """Return text that is stored plainly, with categories, or with a mask."""
    if not hasattr(node, "keys"):
        return [_text(value) for value in node[...].tolist()]
    if "codes" in node and "categories" in node:
        categories = strings_in(path, node["categories"], name)
        return [categories[code] for code in node["codes"][...].tolist()]
    if "values" in node:
        return strings_in(path, node["values"], name)
    raise FileFormatError(f"{path}: the names in {name} are stored in an unknown way.")


def read_obs(path: Path) -> tuple[list[str], dict[str, list[str]]]:
    """Read the names of the observations of a h5ad file, and their columns of text or categories.

    Also those of truth values; not known is empty. Columns of numbers, and what lies in other
    files, are left out.
    """
    with opened(path) as file:
        frame: Any = inside(file, "obs") if "obs" in file else None
        names = _own_names(path, file, frame)
        if names is None:
            raise FileFormatError(
                f"{path}: has no names of observations; expected the h5ad layout of AnnData."
            )
        if hasattr(frame, "keys"):
            found = {title: _labels(inside(frame, title)) for title in _listed(frame)}
        else:
            kinds = frame.dtype
            titles = [title for title in kinds.names or () if kinds[title].kind in "SUO"]
            found = {title: frame[title].tolist() for title in titles if title not in _INDEX}
        return names, {
            title: [_text(value) for value in values]
            for title, values in found.items()
            if values is not None and len(values) == len(names)
        }


def obs_titles(path: Path) -> list[str]:
    """Return the titles of all columns that observations of a h5ad file have, of whatever kind."""
    with opened(path) as file:
        frame: Any = inside(file, "obs") if "obs" in file else None
        if frame is None:
            return []
        if hasattr(frame, "keys"):
            return _listed(frame)
        return [title for title in frame.dtype.names or () if title not in _INDEX]


def _own_names(path: Path, file: Any, frame: Any) -> list[str] | None:
    """Return the names of observations, unless they are in another file."""
    if frame is None:
        return None
    index = _text(frame.attrs.get("_index", "_index"))
    elsewhere = hasattr(frame, "keys") and index in frame and inside(frame, index) is None
    return None if elsewhere else axis_names(path, file, "obs")


def _listed(frame: Any) -> list[str]:
    """Return the titles of the columns of a data frame, in their order."""
    index = _text(frame.attrs.get("_index", "_index"))
    order = [_text(title) for title in frame.attrs.get("column-order", ())]
    titles = order or list(frame)
    return [title for title in titles if title in frame and title != index]


def inside(group: Any, name: str) -> Any:
    """Return what is in the file itself under a name, None where a link leads to another file."""
    link = group.get(name, getlink=True)
    if not hasattr(link, "filename"):
        node = group[name]
        if not getattr(node, "external", None) and not getattr(node, "is_virtual", False):
            return node
    return None


def _labels(node: Any) -> list[str] | None:
    """Return the labels in a column, None where it has others than text or truth values."""
    if node is None:
        return None
    if hasattr(node, "keys"):
        parts = {name: inside(node, name) for name in node}
        if parts.get("codes") is not None and parts.get("categories") is not None:
            known = _labels_of(parts["categories"], numbers=True)
            # Not known is coded as -1.
            return known and [known[code] if code >= 0 else "" for code in parts["codes"][...]]
        if parts.get("values") is None or parts.get("mask") is None:
            return None
        values, hidden = _labels_of(parts["values"]), parts["mask"][...]
        return values and ["" if out else one for one, out in zip(values, hidden, strict=True)]
    return _labels_of(node)


def _labels_of(node: Any, *, numbers: bool = False) -> list[str] | None:
    if hasattr(node, "keys"):
        return _labels(node)
    values = node[...]
    if values.dtype.kind in "SUO":
        return [_text(value) for value in values.tolist()]
    told = values.dtype.kind == "b" or numbers
    return [str(value) for value in values.tolist()] if told else None


def write_h5ad(stream: IO[bytes], table: LabelledMatrix) -> None:
    """Write a minimal h5ad file: X and the names, "0", "1", ... where there are none."""
    h5py = optional_module("h5py", extra="h5ad", purpose="writing h5ad files")
    values = table.values
    # In memory, where there always is room: HDF5 does not survive a full disk, nor do signals come
    # through when it calls Python to write.
    with h5py.File("made", "w", driver="core", backing_store=False, block_size=_GROWS) as file:
        mark(file, "anndata", "0.1.0")
        group = file.create_group("X")
        mark(group, "csr_matrix", "0.1.0")
        group.attrs["shape"] = np.array(values.shape, dtype=np.int64)
        for part in ("data", "indices", "indptr"):
            array = getattr(values, part)
            packing = {"compression": "gzip"} if array.size else {}
            group.create_dataset(part, data=array, **packing)
        strings = h5py.string_dtype()
        for axis, names in (("obs", table.row_labels()), ("var", table.column_labels())):
            frame = file.create_group(axis)
            mark(frame, "dataframe", "0.2.0")
            frame.attrs["_index"] = "_index"
            frame.attrs.create("column-order", np.array([], dtype=object), dtype=strings)
            index = frame.create_dataset("_index", data=np.array(names, object), dtype=strings)
            mark(index, "string-array", "0.2.0")
        for empty in ("layers", "obsm", "obsp", "uns", "varm", "varp"):
            mark(file.create_group(empty), "dict", "0.1.0")
        file.flush()
        image = file.id.get_file_image()
    stream.write(image)


@contextmanager
def edited(stream: IO[bytes], added: int) -> Iterator[Any]:
    """Open a file that is being written, to which so many bytes of arrays will be added at most.

    All the room that it may take is claimed before, for HDF5 does not survive a full disk.
    """
    h5py = optional_module("h5py", extra="h5ad", purpose="writing h5ad files")
    stream.flush()
    if hasattr(os, "posix_fallocate"):
        # What is left of it is given back when the file is closed.
        size = os.fstat(stream.fileno()).st_size
        os.posix_fallocate(stream.fileno(), size, _BESIDE_ARRAYS + 2 * added)
    with h5py.File(stream.name, "r+") as file:
        yield file


def mark(node: Any, kind: str, version: str) -> None:
    """Say how a group or array is to be read."""
    node.attrs["encoding-type"] = kind
    node.attrs["encoding-version"] = version


H5AD = Format(
    name="h5ad",
    suffixes=(".h5ad",),
    description="AnnData, observations by variables",
    read=read_h5ad,
    write=write_h5ad,
    stream=stream_h5ad,
    magic=(b"\x89HDF\r\n\x1a\n",),
    option_help={"layer": "which layer of an h5ad file, instead of X"},
)
