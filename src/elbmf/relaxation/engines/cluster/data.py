"""A matrix whose slabs are on the workers of a cluster, as the client knows it."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import add
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import ClusterError, InputError, MissingExtraError
from elbmf.matrix.boolean_matrix import BooleanMatrix, NotBooleanError
from elbmf.matrix.on_disk import DiskMatrix
from elbmf.matrix.protocol import Bools, Matrix
from elbmf.relaxation.engines.cluster.holder import HeldSlab
from elbmf.relaxation.engines.cluster.sources import Blocks, Folder, Source
from elbmf.relaxation.engines.cluster.workers import Workers
from elbmf.relaxation.slabs import longer_side, worthwhile_edges

__all__ = ["DaskMatrix", "is_distributed"]

T = TypeVar("T")

# Blocks are joined until a slab has so many cells.
_CELLS_PER_SLAB = 1 << 20


class DaskMatrix(Matrix):
    """A Boolean matrix on a cluster: its size, and who holds it.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.
    source : Source
        Its slabs, which are read when this is made.
    column_names : sequence of str, optional
        Names of the columns.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns.
    ones, n_missing : int
        Number of ones and of missing cells.
    streamed_axis : int
        The side that is cut into slabs, 0 for rows.
    edges : tuple of int
        Where it is cut.
    slab_lines : list of slice
        The lines of each slab.
    workers : Workers
        The workers.

    See Also
    --------
    DaskMatrix.from_folder : For data in a matrix folder that all workers reach.
    DaskMatrix.from_collection : For Dask arrays and data frames.
    """

    in_memory = False
    in_one_place = False

    def __init__(
        self, client: Any, source: Source, column_names: Sequence[str] | None = None
    ) -> None:
        self.column_names = None if column_names is None else list(column_names)
        self.streamed_axis = source.axis
        self.workers = Workers(client, source)
        try:
            self._note(source)
        except BaseException:
            self.close()
            raise

    def _note(self, source: Source) -> None:
        readings = [self.workers.readings[number] for number in range(source.count)]
        edges = np.cumsum([0, *(reading.lines for reading in readings)])
        self.edges = tuple(edges.tolist())
        self.slab_lines = [slice(*pair) for pair in pairwise(self.edges)]
        for reading, start in zip(readings, self.edges, strict=False):
            if reading.bad is not None:
                values, rows, columns, hint = reading.bad
                offsets = (start, 0) if source.axis == 0 else (0, start)
                raise NotBooleanError(values, rows + offsets[0], columns + offsets[1], hint)
        sides = (self.edges[-1], source.n_resident)
        self.shape = sides if source.axis == 0 else (sides[1], sides[0])
        if 0 in self.shape:
            raise InputError(f"The matrix is empty: {self.shape[0]}×{self.shape[1]} cells.")
        self.ones = sum(reading.ones for reading in readings)
        self.n_missing = sum(reading.missing for reading in readings)

    @classmethod
    def from_folder(
        cls,
        path: str | os.PathLike[str],
        client: Any = None,
        weight_of_ones: float = 1.0,
        streamed_axis: int | None = None,
    ) -> Self:
        """Open a matrix folder that all workers reach by the same path.

        It is cut as it would be in memory, into more slabs where there are more workers.

        Parameters
        ----------
        path : path
            The folder, as ``elbmf convert DATA FOLDER.matrix`` makes it.
        client : distributed.Client, optional
            The connection to the cluster; the present one by default.
        weight_of_ones : float
            What a one weighs in the loss; on which depends where to cut.
        streamed_axis : int, optional
            The side to cut along, 0 for rows; the longer one by default.
        """
        client = connected(client)
        stored = DiskMatrix(Path(path).absolute())
        axis = longer_side(stored.shape) if streamed_axis is None else streamed_axis
        threads = sum(client.nthreads().values())
        edges = worthwhile_edges(stored, weight_of_ones, axis, most=2 * threads)
        source = Folder(axis, stored.shape[1 - axis], stored.path, edges)
        return cls(client, source, stored.names(1))

    @classmethod
    def from_collection(
        cls,
        X: Any,
        client: Any = None,
        *,
        binarize: float | None = None,
        missing: Any = None,
        streamed_axis: int | None = None,
        cells_per_slab: int = _CELLS_PER_SLAB,
    ) -> Self:
        """Take a Dask array or data frame, whose blocks become slabs on the workers.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame
            As `BooleanMatrix.from_array` wants it. Blocks of an array may be sparse. Data frames,
            and arrays of which it is not known how many rows they have, are cut along the rows.
        client : distributed.Client, optional
            The connection to the cluster; the present one by default.
        binarize : float, optional
            Entries above this threshold are ones.
        missing : dask.array.Array or array-like, optional
            0/1 mask of more missing cells of an array.
        streamed_axis : int, optional
            The side to cut along, 0 for rows; the longer one of an array by default.
        cells_per_slab : int
            Neighbouring blocks of an array are joined until there are so many cells.
        """
        client = connected(client)
        if X.ndim != 2:
            raise InputError(f"Expected a matrix with rows and columns; got {X.ndim} dimension(s).")
        if hasattr(X, "to_dask_array"):
            if missing is not None:
                raise InputError("missing: set the entries of a data frame to NaN instead.")
            blocks = [[part] for part in X.to_delayed()]
            names = [name for name in X.columns if isinstance(name, str)]
            source = Blocks(0, len(X.columns), blocks, None, binarize)
            return cls(client, source, names if len(names) == len(X.columns) else None)
        return cls(client, _array_source(X, missing, binarize, streamed_axis, cells_per_slab))

    def fingerprint(self) -> str:
        """Return a text that differs for matrices that differ, or are cut elsewhere."""
        found = [list(self.shape), self.edges, list(self.workers.ask(_fingerprint).values())]
        return hashlib.sha256(json.dumps(found).encode()).hexdigest()

    def sum_over_pieces(
        self,
        count: Callable[[BooleanMatrix, Bools, Bools, int | None], T],
        U: Bools,
        V: Bools,
        n_jobs: int | None = None,
    ) -> T:
        """Count something in every slab on the workers, and add it up; see `Matrix`."""
        streamed, resident = (U, V.T) if self.streamed_axis == 0 else (V.T, U)
        total: T = self.workers.ask(
            _count,
            count,
            np.ascontiguousarray(resident),
            fold=add,
            apart=lambda number: (np.ascontiguousarray(streamed[self.slab_lines[number]]),),
        )
        return total

    def map_rows(
        self, function: Callable[..., NDArray[Any]], *arguments: Any, n_jobs: int | None = None
    ) -> NDArray[Any]:
        """Compute something for each row on the workers; see `Matrix`.

        Raises
        ------
        InputError
            If the matrix is cut along its columns.
        """
        if self.streamed_axis == 1:
            raise InputError(
                "Rows are described one by one, but the matrix is cut along its columns. Open it "
                "again, with streamed_axis=0."
            )
        return np.concatenate(list(self.workers.ask(_map_rows, function, arguments).values()))

    def close(self) -> None:
        """Have the workers release the matrix."""
        self.workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _fingerprint(held: HeldSlab) -> str:
    return held.piece.fingerprint()


def _count(held: HeldSlab, count: Callable[..., Any], resident: Bools, lines: Bools) -> Any:
    return count(held.piece, lines, np.ascontiguousarray(resident.T), 1)


def _map_rows(held: HeldSlab, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(held.piece, *arguments, 1)


def is_distributed(X: Any) -> bool:
    """Tell whether some data is on a cluster, or a Dask collection; Dask is not imported."""
    home = type(X).__module__.split(".")[0]
    return isinstance(X, DaskMatrix) or (home == "dask" and hasattr(X, "to_delayed"))


def connected(client: Any = None) -> Any:
    """Return a client, the present one by default.

    Raises
    ------
    ClusterError
        If there is none.
    """
    try:
        from distributed import get_client
    except ImportError:
        raise MissingExtraError("distributed", "dask", "Working on a cluster") from None
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError:
        raise ClusterError(
            "Dask data needs a cluster, and there is no connection to one. Make one first: "
            "from distributed import Client; client = Client('tcp://SCHEDULER:8786'), or Client() "
            "for a cluster on this machine."
        ) from None


def _array_source(
    X: Any, missing: Any, binarize: float | None, streamed_axis: int | None, cells_per_slab: int
) -> Blocks:
    """Cut an array along its longer side, at the edges of its blocks."""
    import dask.array as da

    if np.isnan(X.shape[1]):
        raise InputError(
            "The number of columns of the array is not known. Call X.compute_chunk_sizes() first."
        )
    known = not np.isnan(X.shape[0])
    axis = streamed_axis
    if axis is None:
        axis = longer_side(X.shape) if known else 0
    if not known and axis == 1:
        raise InputError(
            "The number of rows of the array is not known. Call X.compute_chunk_sizes() first."
        )
    X = X.rechunk({1 - axis: -1})
    masks = None
    if missing is not None:
        if not known or missing.shape != X.shape:
            raise InputError(
                f"missing must have the shape of the matrix, {X.shape}; got {missing.shape}."
            )
        mask = missing if hasattr(missing, "to_delayed") else da.from_array(missing, X.chunks)
        masks = mask.rechunk(X.chunks).to_delayed().ravel().tolist()
    blocks = X.to_delayed().ravel().tolist()
    n_resident = int(X.shape[1 - axis])
    groups = _groups(X.chunks[axis], -(-cells_per_slab // max(n_resident, 1)))
    if not groups or not n_resident:
        raise InputError(f"The matrix is empty: {X.shape[0]}×{X.shape[1]} cells.")
    return Blocks(
        axis,
        n_resident,
        [[blocks[i] for i in group] for group in groups],
        None if masks is None else [[masks[i] for i in group] for group in groups],
        binarize,
    )


def _groups(lengths: Sequence[float], at_least: int) -> list[list[int]]:
    """Group neighbouring blocks until each group has so many lines; blocks of none are left out."""
    groups: list[list[int]] = [[]]
    size = 0.0
    for position, length in enumerate(lengths):
        if length == 0:
            continue
        if groups[-1] and not size < at_least:
            groups.append([])
            size = 0.0
        groups[-1].append(position)
        # A length that is not known makes the sum unknown, which is not below anything.
        size += length
    return groups if groups[0] else []
