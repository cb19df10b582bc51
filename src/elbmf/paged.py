"""A matrix that is worked on from the disk, because there is not enough memory for it.

Whoever has it works with it as with any other: the arrays are mapped from files, whatever is made
that is as large as the data is mapped from scratch files, and a `MemoryKeeper` sees to it that the
pages in memory stay within the limit.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.matrix import BooleanMatrix
from elbmf.paging import MemoryKeeper, scratch_array
from elbmf.stored import StoredMatrix, store

__all__ = ["PagedMatrix", "memory_needed", "paged"]

# Bytes of an index as the local search has it, on either side.
_WIDE = 4

# Copies of the sums over the resident side that a fit may have.
_PRODUCTS = 32


class PagedMatrix(StoredMatrix):
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
        for pattern in (self, self.hidden):
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
        if isinstance(A, StoredMatrix):
            A.verify()
            yield PagedMatrix(A.path, keeper)
            return
        with tempfile.TemporaryDirectory(prefix="elbmf-") as folder:
            path = Path(folder) / "matrix.slabs"
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
    if A.hidden is not None:
        data += 3 * _WIDE * A.hidden.ones
    # Two iterates of each factor, and the products with the data.
    return data + k * itemsize * (2 * long + (2 + _PRODUCTS) * short)
