"""Counts as Cell Ranger of 10x Genomics writes them: a folder of three files, or one of HDF5.

Both have a line for each feature, mostly a gene, and a column for each barcode, which is a cell.
They are read the other way round, cells by genes. HDF5 needs the extra ``h5ad``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import FileFormatError, InputError
from elbmf.io.apart import apart
from elbmf.io.entries import Ending, Entries, EntryStream, compressed_entries
from elbmf.io.files import open_bytes, reading
from elbmf.io.formats.format import Format
from elbmf.io.formats.h5ad import inside, opened, part_of, stored_in, strings_in
from elbmf.io.formats.matrix_market import stream_matrix_market
from elbmf.utils.extras import optional_module

__all__ = [
    "TENX_FOLDER",
    "TENX_H5",
    "stream_tenx_folder",
    "stream_tenx_h5",
]

_GENES = "Gene Expression"
_MATRICES = ("matrix.mtx.gz", "matrix.mtx")
# Before version 3, there were no features but genes.
_FEATURES = ("features.tsv.gz", "features.tsv", "genes.tsv.gz", "genes.tsv")
_BARCODES = ("barcodes.tsv.gz", "barcodes.tsv")

_NAMES = ("symbol", "id")


@dataclass(frozen=True)
class _Lines:
    """The features of a matrix: which are kept, and what these are called; and its barcodes."""

    kept: NDArray[np.intp] | None  # None for all
    count: int  # of all features
    names: list[str]
    barcodes: list[str]

    @classmethod
    def of(
        cls,
        ids: Sequence[str],
        symbols: Sequence[str],
        wanted: NDArray[np.bool_] | None,
        barcodes: list[str],
        names: str,
    ) -> _Lines:
        """Choose features and name them; ``wanted`` are all where it is None."""
        if names not in _NAMES:
            raise InputError(f"names must be 'symbol' or 'id'; got {names!r}.")
        kept = None if wanted is None or wanted.all() else np.flatnonzero(wanted)
        chosen = list(symbols if names == "symbol" else ids)
        chosen = chosen if kept is None else [chosen[at] for at in kept]
        return cls(kept, len(ids), _unique(chosen), barcodes)

    def of_kept(self, entries: Entries) -> Entries:
        """Return entries of barcodes by all features without those that are not kept."""
        if self.kept is None:
            return entries
        place = np.full(self.count, -1, dtype=np.int64)
        place[self.kept] = np.arange(len(self.kept))
        columns = place[entries.columns]
        some = columns >= 0
        values = None if entries.values is None else entries.values[some]
        return Entries(entries.rows[some], columns[some], values, entries.repeated)

    def ending(self) -> Ending:
        """Return how a stream of them ends."""
        return Ending((len(self.barcodes), len(self.names)), self.barcodes, self.names)


def _genes(kinds: Sequence[str] | None, all_features: bool) -> NDArray[np.bool_] | None:
    """Tell which features are wanted: genes, unless there are none or all are asked for."""
    if kinds is None or all_features or _GENES not in kinds:
        return None
    return np.array(kinds) == _GENES


def _unique(names: list[str]) -> list[str]:
    """Return names of which the second has -1 behind it, the third -2, and so on."""
    taken, uses = set(names), Counter[str]()
    first: set[str] = set()
    found = []
    for name in names:
        unused = name
        if name in first:
            while unused in taken:
                uses[name] += 1
                unused = f"{name}-{uses[name]}"
            taken.add(unused)
        first.add(name)
        found.append(unused)
    return found


def stream_tenx_folder(
    path: Path, *, names: str = "symbol", all_features: bool = False
) -> EntryStream:
    """Stream the folder of a matrix with its features and barcodes."""
    lines = _lines_of_folder(path, names, all_features)
    source = _file_of(path, _MATRICES)
    expected = lines.count, len(lines.barcodes)
    with reading(source, "mtx"), closing(stream_matrix_market(source, expected)) as stream:
        for block in stream:
            yield lines.of_kept(block.transposed())
    return lines.ending()


def _lines_of_folder(path: Path, names: str, all_features: bool) -> _Lines:
    source = _file_of(path, _FEATURES)
    fields = _fields(source)
    for number, line in enumerate(fields, 1):
        if len(line) < 2:
            raise FileFormatError(
                f"{source}, line {number}: expected an id and a name, separated by a tab, found "
                f"{len(line)} field. Copy the file again."
            )
    ids, symbols = ([line[at] for line in fields] for at in (0, 1))
    kinds = [line[2] for line in fields] if all(len(line) > 2 for line in fields) else None
    barcodes = [line[0] for line in _fields(_file_of(path, _BARCODES))]
    return _Lines.of(ids, symbols, _genes(kinds, all_features), barcodes, names)


def _file_of(folder: Path, names: Sequence[str]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise FileFormatError(
        f"{folder}: expected a file {names[0]} in it, as Cell Ranger writes it, found none. Copy "
        "the whole folder."
    )


def _fields(path: Path) -> list[list[str]]:
    with open_bytes(path) as stream:
        try:
            text = stream.read().decode()
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{path}: expected UTF-8 text: {error}.") from error
    return [line.rstrip("\r").split("\t") for line in text.split("\n") if line.strip()]


def stream_tenx_h5(
    path: Path, *, genome: str | None = None, names: str = "symbol", all_features: bool = False
) -> EntryStream:
    """Stream the matrix of a HDF5 file of Cell Ranger, of version 2 or later."""
    optional_module("h5py", extra="h5ad", purpose="reading 10x h5 files")
    return apart(path, "10x h5", _streamed(path, genome, names, all_features))


def _streamed(path: Path, genome: str | None, names: str, all_features: bool) -> EntryStream:
    with opened(path, "10x h5") as file:
        group, lines = _group(path, file, genome, names, all_features)
        parts = (part_of(path, group, name) for name in ("indptr", "indices", "data"))
        stored = [stored_in(path, part) for part in parts]
        # What is stored by columns of barcodes is, the other way round, stored by rows.
        for entries in compressed_entries(stored, (len(lines.barcodes), lines.count)):
            yield lines.of_kept(entries)
        return lines.ending()


def _group(
    path: Path, file: Any, genome: str | None, names: str, all_features: bool
) -> tuple[Any, _Lines]:
    """Return the group with the matrix, and its lines."""
    inner = [name for name in file if hasattr(inside(file, name), "keys")]
    chosen = "matrix"
    if "matrix" not in inner:
        # Before version 3, each genome has a group of its own.
        genomes = [name for name in inner if {"genes", "barcodes"} <= set(inside(file, name))]
        if not genomes:
            raise FileFormatError(
                f"{path}: expected a file of the format 10x-h5, with a group 'matrix', found "
                f"{', '.join(map(repr, inner)) or 'no group'}. If it is of the format h5ad, say "
                "so, or let its name end in .h5ad."
            )
        if genome is None and len(genomes) > 1:
            raise InputError(
                f"{path}: has counts of {len(genomes)} genomes: {', '.join(genomes)}. Name one "
                "with the option genome."
            )
        chosen = genomes[0] if genome is None else genome
        if chosen not in genomes:
            raise InputError(f"{path}: has no genome {genome!r}. It has {', '.join(genomes)}.")
    group = inside(file, chosen)

    def texts(*place: str) -> list[str]:
        node = group
        for name in place:
            node = part_of(path, node, name)
        return strings_in(path, node, "/".join(place))

    barcodes = texts("barcodes")
    if chosen == "matrix" and "features" in set(group):
        has_kinds = "feature_type" in set(part_of(path, group, "features"))
        kinds = texts("features", "feature_type") if has_kinds else None
        wanted = _genes(kinds, all_features)
        if genome is not None:
            of = np.array(texts("features", "genome"))
            wanted = (of == genome) & (True if wanted is None else wanted)
            if not wanted.any():
                known = ", ".join(sorted({*of.tolist()} - {""}))
                raise InputError(f"{path}: has no genome {genome!r}. It has {known}.")
        told = texts("features", "id"), texts("features", "name")
        return group, _Lines.of(*told, wanted, barcodes, names)
    return group, _Lines.of(texts("genes"), texts("gene_names"), None, barcodes, names)


_OPTIONS = {
    "names": "what genes of 10x files are called by: symbol (the default) or id",
    "all_features": "read features of 10x files that are no genes, too, such as antibodies",
    "genome": "which genome of a 10x h5 file",
}

TENX_FOLDER = Format(
    name="10x",
    suffixes=(".10x",),
    description="folder of Cell Ranger, read as cells by genes",
    stream=stream_tenx_folder,
    folder=True,
    marks=_MATRICES,
    option_help=_OPTIONS,
)

TENX_H5 = Format(
    name="10x-h5",
    suffixes=(".h5",),
    description="HDF5 file of Cell Ranger, read as cells by genes",
    stream=stream_tenx_h5,
    magic=(b"\x89HDF\r\n\x1a\n",),
    option_help=_OPTIONS,
)
