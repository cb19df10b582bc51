"""AnnData files (h5ad): the matrix X or a layer, and the names of observations and variables.

They are read and written with h5py alone. Needs the extra ``h5ad``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from elbmf.errors import FileFormatError, InputError
from elbmf.io.apart import apart, done_apart
from elbmf.io.entries import (
    Ending,
    EntryStream,
    Stored,
    check_announced,
    compressed_entries,
    dense_entries,
    row_slices,
)
from elbmf.io.files import reading, reason
from elbmf.io.formats.format import Format
from elbmf.io.table import LabelledMatrix
from elbmf.utils.extras import optional_module

__all__ = [
    "H5AD",
    "axis_names",
    "edited",
    "inside",
    "mark",
    "obs_titles",
    "opened",
    "part_of",
    "read_obs",
    "stored_in",
    "stream_h5ad",
    "strings_in",
    "write_h5ad",
]

# How sparse matrices are stored, and whether that is by columns.
_SPARSE_KINDS = {"csr_matrix": False, "csr": False, "csc_matrix": True, "csc": True}

# Bytes by which a file in memory grows, and room for what HDF5 notes of what is added to one.
_GROWS = 1 << 22
_BESIDE_ARRAYS = 1 << 20

# What names were called in files of old versions.
_INDEX = ("index", "_index")

# Links within a file that lead to one another.
_MOST_LINKS = 16


@contextmanager
def opened(path: Path, kind: str = "h5ad") -> Iterator[Any]:
    """Open a file of HDF5; what is wrong with it becomes an error that names the file."""
    h5py = optional_module("h5py", extra="h5ad", purpose=f"reading {kind} files")
    with reading(path), open(path, "rb"):
        pass  # A file that may not be read is reported as that, not as damaged.
    with reading(path, kind):
        try:
            with h5py.File(path, "r") as file:
                yield file
        except OSError as error:
            raise ValueError(reason(error)) from error


def stream_h5ad(path: Path, *, layer: str | None = None) -> EntryStream:
    """Stream the matrix X of a h5ad file, or a layer: observations by variables."""
    optional_module("h5py", extra="h5ad", purpose="reading h5ad files")
    return apart(path, "h5ad", _streamed(path, layer))


def _streamed(path: Path, layer: str | None) -> EntryStream:
    with opened(path) as file:
        node = _matrix_node(path, file, layer)
        row_names, column_names = (axis_names(path, file, axis) for axis in ("obs", "var"))
        told = row_names is None, column_names is None
        if hasattr(node, "keys"):
            by_columns, shape = _sparse_shape(path, node, layer or "X")
            n, m = shape if len(shape) == 2 else (0, 0)
            check_announced(path, shape, told=(told[0] and by_columns, told[1] and not by_columns))
            parts = (part_of(path, node, part) for part in ("indptr", "indices", "data"))
            stored = [stored_in(path, part) for part in parts]
            yield from compressed_entries(stored, (n, m), by_columns=by_columns)
        else:
            n, m = _dense_shape(path, node, layer or "X")
            check_announced(path, (n, m), told=told, data=n * m * node.dtype.itemsize)
            for piece in row_slices(n, m):
                yield dense_entries(node[piece], piece.start)
        return Ending((n, m), row_names, column_names)


def stored_in(path: Path, node: Any) -> Stored:
    """Return an array of one dimension, to be read bit by bit."""
    if node.shape is None or len(node.shape) != 1:
        raise ValueError(f"expected {node.name} to have one dimension, found {node.shape}")
    size = int(node.shape[0])
    check_announced(path, (0, 0), data=size * node.dtype.itemsize)
    at = 0

    def read(count: int) -> np.ndarray:
        nonlocal at
        at += count
        taken: np.ndarray = node[at - count : at]
        return taken

    return Stored(read, size, node.dtype)


def _matrix_node(path: Path, file: Any, layer: str | None) -> Any:
    group = inside(file, "layers")
    layers = list(group) if hasattr(group, "keys") else []
    has = f"Layers it has: {', '.join(layers) or 'none'}."
    if layer is not None:
        if layer not in layers:
            raise InputError(f"{path}: there is no layer {layer!r}. {has}")
        return part_of(path, group, layer)
    node = inside(file, "X")
    if node is None or _text(node.attrs.get("encoding-type")) == "null":
        raise FileFormatError(
            f"{path}: has no matrix X; expected the h5ad layout of AnnData. {has} "
            "Name one with the option layer."
        )
    return node


def _sparse_shape(path: Path, node: Any, name: str) -> tuple[bool, tuple[int, ...]]:
    """Return whether a sparse matrix is stored by columns, and its shape."""
    kind = _text(node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "")))
    shape = node.attrs.get("shape", node.attrs.get("h5sparse_shape"))
    if kind not in _SPARSE_KINDS or shape is None:
        raise FileFormatError(
            f"{path}: {name} is stored as {kind or 'an unmarked group'!r}, expected "
            "csr_matrix, csc_matrix or a dense array. Convert it with anndata."
        )
    return _SPARSE_KINDS[kind], tuple(int(each) for each in np.ravel(shape))


def _dense_shape(path: Path, node: Any, name: str) -> tuple[int, int]:
    if node.ndim != 2:
        raise FileFormatError(
            f"{path}: {name} has {node.ndim} dimensions, expected 2. Write it again with a recent "
            "anndata."
        )
    if node.dtype.kind not in "biuf":
        # Also text, records and references, which have no numbers.
        raise FileFormatError(
            f"{path}: expected boolean or real numbers in {name}, found the type {node.dtype}. "
            "Convert it to bool, int or float first."
        )
    n, m = node.shape
    return n, m


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def axis_names(path: Path, file: Any, axis: str) -> list[str] | None:
    """Return the names along an axis; None where the file has none."""
    frame = inside(file, axis)
    if frame is None:
        return None
    if not hasattr(frame, "keys"):
        # Before version 0.7, data frames were tables of records.
        for field in _INDEX:
            if field in (frame.dtype.names or ()):
                return [_text(name) for name in _column(path, frame)[field].tolist()]
        return None
    for field in (_text(frame.attrs.get("_index", "_index")), "index"):
        node = inside(frame, field)
        if node is not None:
            return strings_in(path, node, f"{axis}/{field}")
    return None


def strings_in(path: Path, node: Any, name: str) -> list[str]:
    """Return text that is stored plainly, with categories, or with a mask; none may be missing."""
    found = _strings(path, node, name)
    if None in found:
        raise FileFormatError(
            f"{path}, {name}: the name at position {found.index(None)} is missing. Fill it in, and "
            "write the file again."
        )
    return [each for each in found if each is not None]


def _strings(path: Path, node: Any, name: str) -> list[str | None]:
    """Return text, None where one is missing."""
    if not hasattr(node, "keys"):
        return [_text(value) for value in _column(path, node).tolist()]
    parts = {part: inside(node, part) for part in ("codes", "categories", "values", "mask")}
    if parts["codes"] is not None and parts["categories"] is not None:
        known = [*_strings(path, parts["categories"], name), None]
        codes = _column(path, parts["codes"])
        if codes.size and (codes.min() < -1 or codes.max() >= len(known) - 1):
            at = int(np.argmax((codes < -1) | (codes >= len(known) - 1)))
            raise FileFormatError(
                f"{path}, {name}: expected codes of {len(known) - 1} categories, from 0, or -1 for "
                f"one that is missing, found {codes[at]} at position {at}. Write the file again."
            )
        return [known[code] for code in codes.tolist()]
    if parts["values"] is None:
        raise FileFormatError(f"{path}: the names in {name} are stored in an unknown way.")
    values = _strings(path, parts["values"], name)
    if parts["mask"] is None:
        return values
    hidden = _column(path, parts["mask"]).tolist()
    if len(hidden) != len(values):
        raise FileFormatError(
            f"{path}, {name}: expected a mask of {len(values)} names, found one of {len(hidden)}. "
            "Write the file again."
        )
    return [None if out else value for value, out in zip(values, hidden, strict=True)]


def _column(path: Path, node: Any) -> Any:
    """Read an array of one dimension whole, unless it cannot be as long as it says."""
    if node.shape is None or len(node.shape) != 1:
        raise ValueError(f"expected {node.name} to have one dimension, found {node.shape}")
    check_announced(
        path, (node.shape[0], 0), told=(False, False), data=node.shape[0] * node.dtype.itemsize
    )
    return node[...]


def read_obs(path: Path) -> tuple[list[str], dict[str, list[str]]]:
    """Read the names of the observations of a h5ad file, and their columns of text or categories.

    Also those of truth values; not known is empty. Columns of numbers, and what lies in other
    files, are left out.
    """
    optional_module("h5py", extra="h5ad", purpose="reading h5ad files")
    names, columns = done_apart(path, "h5ad", partial(_obs_in, path))
    return names, columns


def _obs_in(path: Path) -> tuple[list[str], dict[str, list[str]]]:
    with opened(path) as file:
        frame = inside(file, "obs")
        names = axis_names(path, file, "obs")
        if names is None:
            raise FileFormatError(
                f"{path}: has no names of observations; expected the h5ad layout of AnnData."
            )
        if hasattr(frame, "keys"):
            found = {title: _labels(path, inside(frame, title)) for title in _listed(frame)}
        else:
            kinds, records = frame.dtype, _column(path, frame)
            titles = [title for title in kinds.names or () if kinds[title].kind in "SUO"]
            found = {title: records[title].tolist() for title in titles if title not in _INDEX}
        return names, {
            title: [_text(value) for value in values]
            for title, values in found.items()
            if values is not None and len(values) == len(names)
        }


def obs_titles(path: Path) -> list[str]:
    """Return the titles of all columns that observations of a h5ad file have, of whatever kind."""
    optional_module("h5py", extra="h5ad", purpose="reading h5ad files")
    return done_apart(path, "h5ad", partial(_titles_in, path))


def _titles_in(path: Path) -> list[str]:
    with opened(path) as file:
        frame = inside(file, "obs")
        if frame is None:
            return []
        if hasattr(frame, "keys"):
            return _listed(frame)
        return [title for title in frame.dtype.names or () if title not in _INDEX]


def _listed(frame: Any) -> list[str]:
    """Return the titles of the columns of a data frame, in their order."""
    index = _text(frame.attrs.get("_index", "_index"))
    order = [_text(title) for title in frame.attrs.get("column-order", ())]
    titles = order or list(frame)
    known = set(frame)
    return [title for title in titles if title in known and title != index]


def inside(group: Any, name: str, links: int = 0) -> Any:
    """Return what is in the file itself under a name, None where there is nothing.

    Whatever leads to other files is never followed, also on the way to the name: external links,
    and arrays that are stored elsewhere or put together of others.
    """
    node = group.file if name.startswith("/") else group
    for step in filter(None, name.split("/")):
        link: Any = node.get(step, getlink=True) if hasattr(node, "keys") else None
        kind = type(link).__name__
        if kind == "SoftLink" and links < _MOST_LINKS:
            node = inside(node, str(getattr(link, "path", "")), links + 1)
        elif kind == "HardLink":
            node = node[step]
        else:
            return None
    if getattr(node, "external", None) or getattr(node, "is_virtual", False):
        return None
    return node


def part_of(path: Path, group: Any, name: str) -> Any:
    """Return what is in the file itself under a name; raise where there is nothing."""
    node = inside(group, name)
    if node is None:
        raise FileFormatError(
            f"{path}: expected {name!r} in the group {group.name!r}, found none in the file "
            "itself. Copy the file again."
        )
    return node


def _labels(path: Path, node: Any) -> list[str] | None:
    """Return the labels in a column, None where it has others than text or truth values."""
    if node is None:
        return None
    if hasattr(node, "keys"):
        parts = [inside(node, part) for part in ("categories", "values")]
        inner = next((each for each in parts if each is not None), None)
        known = inner is not None and (parts[0] is not None or _is_told(inner))
        return [each or "" for each in _strings(path, node, node.name)] if known else None
    return [_text(each) for each in _column(path, node).tolist()] if _is_told(node) else None


def _is_told(node: Any) -> bool:
    """Whether an array has text or truth values."""
    return not hasattr(node, "keys") and node.dtype.kind in "SUOb"


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
    stream=stream_h5ad,
    write=write_h5ad,
    magic=(b"\x89HDF\r\n\x1a\n",),
    option_help={"layer": "which layer of an h5ad file, instead of X"},
)
