"""Small files of every format, ways to damage them, and what reading makes of one.

A file that was damaged may be read or refused, by all ways alike: into memory, and from disk to
disk. `disagreement` says how a file broke that.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import mmwrite

from elbmf.errors import InputError, MissingExtraError
from elbmf.io import LabelledMatrix, read, to_folder, write

__all__ = ["damaged", "damages", "disagreement", "good_files"]

ROWS = [f"row{i}" for i in range(9)]
COLUMNS = ["TP53", "MYC", "é", "a b", "c,d", "0"]
CELLS = (np.random.default_rng(5).random((len(ROWS), len(COLUMNS))) < 0.4).astype(np.int8)
CELLS[0], CELLS[:, 0] = 1, 1
VALUES = CELLS * np.linspace(0.5, 2, CELLS.size).reshape(CELLS.shape)


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def good_files(folder: Path) -> list[Path]:
    """Write files of all formats that can be written here, of several kinds each."""
    plain = sparse.csr_array(CELLS.astype(bool))
    table = LabelledMatrix(plain, ROWS, COLUMNS)
    valued = LabelledMatrix(sparse.csr_array(VALUES), ROWS, COLUMNS)
    items = LabelledMatrix(plain, ROWS, [f"i{j}" for j in range(len(COLUMNS))])
    found = []

    def add(name: str, make: Callable[[Path], object]) -> None:
        path = folder / name
        make(path)
        found.append(path)

    for name, each in (("wide.csv", table), ("valued.csv", valued), ("wide.tsv.gz", table)):
        add(name, lambda path, each=each: write(path, each))
    add("items.dat", lambda path: write(path, items))
    add("users.rmp", lambda path: write(path, items))
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        matrix = plain.astype(np.int8).asformat(kind)
        add(f"{kind}.npz", lambda path, matrix=matrix: sparse.save_npz(path, matrix))
    add("named.npz", lambda path: write(path, valued))
    add("dense.npz", lambda path: np.savez(path, cells=CELLS, row_names=np.array(ROWS)))
    add("rows.npy", lambda path: np.save(path, VALUES))
    add("columns.npy", lambda path: np.save(path, np.asfortranarray(CELLS)))
    add("bool.npy", lambda path: np.save(path, CELLS.astype(bool)))
    add("pattern.mtx", lambda path: write(path, LabelledMatrix(plain)))
    add("real.mtx.gz", lambda path: write(path, LabelledMatrix(valued.values)))
    add("array.mtx", lambda path: mmwrite(path, CELLS.astype(int)))
    square = (CELLS[:6, :6] | CELLS[:6, :6].T).astype(int)
    add("both.mtx", lambda path: mmwrite(path, sparse.coo_array(square), symmetry="symmetric"))
    if _has("pyarrow"):
        add("wide.parquet", lambda path: write(path, table))
        add("pairs.parquet", lambda path: write(path, valued, layout="pairs"))
    if _has("h5py"):
        add("sparse.h5ad", lambda path: write(path, table))
        add("dense.h5ad", _dense_h5ad)
        add("counts.h5", _counts)
    if _has("openpyxl"):
        add("sheet.xlsx", _sheet)
    return found


def _dense_h5ad(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=VALUES, chunks=(4, 3), compression="gzip")
        file["obs/_index/codes"] = np.arange(len(ROWS), dtype=np.int8)
        file["obs/_index/categories"] = ROWS
        file["var/_index"] = COLUMNS


def _counts(path: Path) -> None:
    import h5py

    counts = sparse.csc_array(CELLS.T.astype(np.int32))
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix")
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(counts, part)
        group["shape"] = counts.shape
        group["barcodes"] = np.array(ROWS, "S")
        for title in ("id", "name"):
            group[f"features/{title}"] = np.array([f"g{j}" for j in range(len(COLUMNS))], "S")


def _sheet(path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["row", *COLUMNS])
    for name, cells in zip(ROWS, CELLS.tolist(), strict=True):
        book.active.append([name, *cells])
    book.save(path)


def _place(data: bytes, generator: np.random.Generator) -> int:
    # Headers are more telling than what follows them.
    end = min(len(data), 256) if generator.random() < 0.4 else len(data)
    return int(generator.integers(max(end, 1)))


def _flipped(data: bytes, generator: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(int(generator.choice([1, 1, 2, 8]))):
        at = _place(data, generator)
        changed[at] ^= 1 << int(generator.integers(8))
    return bytes(changed)


def _cut(data: bytes, generator: np.random.Generator) -> bytes:
    return data[: _place(data, generator)]


def _lacking(data: bytes, generator: np.random.Generator) -> bytes:
    at = _place(data, generator)
    return data[:at] + data[at + int(generator.integers(1, 9)) :]


def _inserted(data: bytes, generator: np.random.Generator) -> bytes:
    at = _place(data, generator)
    odd = (
        b"\0",
        b"\n",
        b" ",
        b"-",
        b"9",
        b"\xff" * 4,
        b"\xff",
        b"NaN",
        b",",
        b'"',
        b"\t",
        b"1e999",
    )
    return data[:at] + odd[int(generator.integers(len(odd)))] + data[at:]


def _swapped(data: bytes, generator: np.random.Generator) -> bytes:
    first, second = sorted(_place(data, generator) for _ in range(2))
    size = int(generator.integers(1, 9))
    middle = data[first + size : second]
    return (
        data[:first]
        + data[second : second + size]
        + middle
        + data[first : first + size]
        + (data[second + size :])
    )


def _doubled(data: bytes, generator: np.random.Generator) -> bytes:
    at = _place(data, generator)
    piece = data[at : at + int(generator.integers(1, 40))]
    return data[:at] + piece + data[at:]


def _renumbered(data: bytes, generator: np.random.Generator) -> bytes:
    """Change a number that is written in digits, mostly one near the begin."""
    numbers = [each.span() for each in re.finditer(rb"\d+", data[: 1 << 12])]
    if not numbers:
        return _overwritten(data, generator)
    begin, end = numbers[int(len(numbers) * generator.random() ** 3)]
    other = (b"0", b"-1", b"1", b"2", b"99", b"4000000000", b"1" + b"0" * 18, b"9" * 25, b"1.5")
    return data[:begin] + other[int(generator.integers(len(other)))] + data[end:]


def _overwritten(data: bytes, generator: np.random.Generator) -> bytes:
    """Write a telling number over some bytes."""
    at = _place(data, generator)
    size = int(generator.choice([1, 2, 4, 8]))
    value = int(generator.choice([0, 1, -1, 127, 255, 1 << 15, 1 << 31, 1 << 62])) % (1 << 8 * size)
    return data[:at] + value.to_bytes(size, "little") + data[at + size :]


_KINDS = (
    _flipped,
    _cut,
    _lacking,
    _inserted,
    _swapped,
    _doubled,
    _renumbered,
    _overwritten,
)


def damaged(data: bytes, generator: np.random.Generator) -> bytes:
    """Return the content of a file with some damage, in half of all packed ones to what is in it.

    There, checksums are right, so that what reads the content sees it.
    """
    kind = _KINDS[int(generator.integers(len(_KINDS)))]
    if generator.random() < 0.5:
        if data.startswith(b"\x1f\x8b"):
            return gzip.compress(kind(gzip.decompress(data), generator), mtime=0)
        if data.startswith(b"PK\x03\x04"):
            return _inner_damaged(data, kind, generator)
    return kind(data, generator)


def _inner_damaged(
    data: bytes, kind: Callable[..., bytes], generator: np.random.Generator
) -> bytes:
    """Damage one member of a zip archive."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(changed, "w") as new:
        chosen = old.namelist()[int(generator.integers(len(old.namelist())))]
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, kind(content, generator) if name == chosen else content)
    return changed.getvalue()


def damages(data: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """Yield the content of a file with damages, the same ones for a seed."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        yield damaged(data, generator)


def _outcome(make: Callable[[], object]) -> tuple[object, str | None]:
    """Return what a call gives, or the message of the error that says what is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return make(), None
    except MissingExtraError:
        raise
    except InputError as error:
        return None, str(error)


def disagreement(path: Path) -> str | None:
    """Read a file, convert it to npz and to a matrix folder, and say what does not fit, if it does.

    Any other error than one that names the file in one line is raised.
    """
    table, refused = _outcome(lambda: read(path))
    folder = path.with_name("converted.matrix")
    disk, said = _outcome(lambda: to_folder(path, folder, binarize="nonzero"))
    for message in filter(None, (refused, said)):
        if "\n" in message or str(path) not in message:
            return f"not a line that names the file: {message!r}"
    if refused is not None:
        return None if refused == said else f"read: {refused}; converted: {said}"
    assert isinstance(table, LabelledMatrix)
    if said is not None:
        empty = 0 in table.shape and "the matrix is empty" in said
        infinite = table.values.dtype.kind == "f" and np.isinf(table.values.data).any()
        return None if empty or infinite else f"read: {table.shape}; converted: {said}"
    missing = np.isnan(table.values.data) if table.values.dtype.kind == "f" else False
    expected = table.values.astype(bool).toarray()
    if np.any(missing):
        hidden = sparse.csr_array((missing, table.values.indices, table.values.indptr), table.shape)
        hidden = hidden.toarray()
        found = (
            disk.missing.to_csr().toarray() if disk.missing is not None else np.zeros_like(hidden)
        )
        if not np.array_equal(found, hidden):
            return "other cells are missing"
        expected &= ~hidden
    elif disk.missing is not None:
        return "cells are missing on disk alone"
    if disk.shape != table.shape or not np.array_equal(disk.to_csr().toarray(), expected):
        return f"read: {table.shape}, {table.values.nnz}; converted: {disk.shape}, {disk.ones}"
    if (disk.names(0), disk.names(1)) != (table.row_names, table.column_names):
        return "other names"
    kept = path.with_name("converted.npz")
    write(kept, table)
    again = read(kept)
    if again.values.dtype != table.values.dtype or (again.values != table.values).nnz > np.sum(
        missing
    ):
        return "npz holds something else"
    return None
