"""Where slabs come from: a folder that all workers reach, or the blocks of a Dask collection.

A slab is read by a task on the worker that is to hold it, where its values are looked at, too; all
that comes back is how many ones there are. It can be read again, elsewhere.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from elbmf.errors import FileFormatError
from elbmf.matrix.boolean_matrix import BooleanMatrix, NotBooleanError, Pattern
from elbmf.matrix.on_disk import DiskMatrix
from elbmf.relaxation.engines.cluster.connection import Connection
from elbmf.relaxation.engines.cluster.holder import Failure, holder_at

__all__ = ["Blocks", "Folder", "Reading", "Source"]


class Reading(NamedTuple):
    """What is known of a slab that was read."""

    number: int  # Which slab
    lines: int  # How many lines it has
    # Its ones and missing cells
    ones: int = 0
    missing: int = 0
    # Entries that are not 0/1, as `NotBooleanError` takes them, counted within the slab
    bad: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Source(ABC):
    """Slabs that workers can read."""

    axis: int  # The side that is streamed, 0 for rows
    n_resident: int  # Length of the other one

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of slabs."""

    @abstractmethod
    def read(
        self, cluster: Connection, fit: str, address: str, numbers: Iterable[int]
    ) -> list[Any]:
        """Have a worker take in some slabs; return futures of each `Reading`, or `Failure`."""


@dataclass(frozen=True)
class Folder(Source):
    """A matrix folder that workers reach by the same path."""

    path: Path
    edges: Sequence[int]  # Where it is cut

    @property
    def count(self) -> int:
        """Number of slabs."""
        return len(self.edges) - 1

    def read(
        self, cluster: Connection, fit: str, address: str, numbers: Iterable[int]
    ) -> list[Any]:
        """Have a worker read some lines of the folder."""
        runs, path = list(pairwise(self.edges)), os.fspath(self.path)
        return [
            cluster.submit(
                address, _read_lines, fit, address, number, path, self.axis, *runs[number]
            )
            for number in numbers
        ]


@dataclass(frozen=True)
class Blocks(Source):
    """Blocks of a Dask array or data frame."""

    blocks: list[list[Any]]  # Of each slab
    masks: list[list[Any]] | None  # Of the missing cells
    binarize: float | None  # As `BooleanMatrix.from_array` has it

    @property
    def count(self) -> int:
        """Number of slabs."""
        return len(self.blocks)

    def read(
        self, cluster: Connection, fit: str, address: str, numbers: Iterable[int]
    ) -> list[Any]:
        """Have a worker compute some blocks and look at them."""
        from dask import delayed

        take = delayed(_read_blocks, pure=False)
        tasks = [
            take(
                *(fit, address, number, self.axis, self.binarize, self.blocks[number]),
                self.masks[number] if self.masks else None,
            )
            for number in numbers
        ]
        computed = cluster.client.compute(tasks, workers=[address], allow_other_workers=False)
        return list(computed)


def _read_lines(
    fit: str, address: str, number: int, path: str, axis: int, low: int, high: int
) -> Reading | Failure:
    try:
        stored = DiskMatrix(path)
        piece = _piece(stored.shape[1 - axis], *stored.piece(axis, low, high))
    except (FileFormatError, OSError) as error:
        message = f"{error} (On {address}: all workers must reach the folder by the same path.)"
        return Failure(FileFormatError(message), message)
    except Exception as error:
        return Failure.of(error)
    return _taken(fit, address, number, piece)


def _read_blocks(
    fit: str,
    address: str,
    number: int,
    axis: int,
    binarize: float | None,
    blocks: list[Any],
    masks: list[Any] | None,
) -> Reading | Failure:
    try:
        X = _joined(blocks, axis)
        missing = None if masks is None else _joined(masks, axis)
        try:
            A = BooleanMatrix.from_array(X, binarize, missing)
        except NotBooleanError as error:
            return Reading(number, X.shape[axis], bad=error.entries)
        missing = None if A.missing is None else A.missing.lines(axis)
        piece = _piece(A.shape[1 - axis], A.lines(axis), missing)
    except Exception as error:
        return Failure.of(error)
    return _taken(fit, address, number, piece)


def _taken(fit: str, address: str, number: int, piece: BooleanMatrix) -> Reading:
    holder_at(fit, address).take(number, piece)
    return Reading(number, piece.shape[0], piece.ones, piece.n_missing)


def _piece(n_resident: int, lines: Pattern, missing: Pattern | None) -> BooleanMatrix:
    """Make a matrix of padded lines, without another copy of them."""
    starts, ones = lines
    shape = (starts.size - 1, n_resident)
    mask = None if missing is None else _piece(n_resident, missing, None)
    piece = BooleanMatrix(shape, starts, ones[: int(starts[-1])], mask)
    piece._lines[0] = lines
    return piece


def _joined(blocks: list[Any], axis: int) -> Any:
    """Return blocks that follow each other as one matrix."""
    matrices = [_values(block) for block in blocks]
    if len(matrices) == 1:
        return matrices[0]
    if all(map(sparse.issparse, matrices)):
        return sparse.vstack(matrices) if axis == 0 else sparse.hstack(matrices)
    if any(map(np.ma.isMaskedArray, matrices)):
        return np.ma.concatenate(matrices, axis=axis)
    return np.concatenate(matrices, axis=axis)


def _values(block: Any) -> Any:
    """Return the entries of a block, NaN where a data frame has none."""
    if not hasattr(block, "dtypes"):
        return block
    # Types of pandas' own have a mark of their own for what is missing.
    if all(isinstance(dtype, np.dtype) for dtype in block.dtypes):
        return block.to_numpy()
    return block.to_numpy(dtype=np.float64, na_value=np.nan)
