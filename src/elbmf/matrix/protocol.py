"""What every matrix can do, wherever its cells are: in memory, on disk or on a cluster.

Measures, estimators and engines ask for no more than this. A new kind of data is a class that
derives from `Matrix`, and an engine that takes it.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["Matrix"]

Bools = NDArray[np.bool_]
T = TypeVar("T")


@runtime_checkable
class Matrix(Protocol):
    """An n×m matrix of zeros and ones, some of whose cells may be missing.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns.
    ones : int
        Number of ones, ‖A‖₁.
    n_missing : int
        Number of missing cells, which are neither ones nor zeros.
    in_memory : bool
        Whether the cells are in the memory of this process; if not, they may be larger than it.
    in_one_place : bool
        Whether this process reaches all cells. Those of a matrix that is spread over machines are
        only reached by `sum_over_pieces` and `map_rows`.
    """

    shape: tuple[int, int]
    ones: int
    n_missing: int
    in_memory: ClassVar[bool] = True
    in_one_place: ClassVar[bool] = True

    @property
    def cells(self) -> int:
        """Number of cells, ``|A|`` = n·m, whether they are known or missing."""
        return self.shape[0] * self.shape[1]

    @property
    def known(self) -> int:
        """Number of cells that are not missing."""
        return self.cells - self.n_missing

    @property
    def density(self) -> float:
        """Share of ones among the known cells."""
        return self.ones / self.known if self.known else 0.0

    @abstractmethod
    def fingerprint(self) -> str:
        """Return a text that differs for matrices that differ."""

    def verify(self) -> None:
        """Compare the cells with their checksums, where they have any.

        Raises
        ------
        FileFormatError
            If they differ; says where.
        """
        return

    @abstractmethod
    def sum_over_pieces(
        self,
        count: "Callable[[BooleanMatrix, Bools, Bools, int | None], T]",
        U: Bools,
        V: Bools,
        n_jobs: int | None = None,
    ) -> T:
        """Count something in every piece of the matrix, where that piece is, and add it up.

        Parameters
        ----------
        count : callable
            Takes a piece, which is in memory, the rows of U and the columns of V that belong to
            it, and a number of threads. A piece may be transposed, and the factors with it. The
            function is sent to other machines, so it is one of a module.
        U : ndarray of bool, of shape (n, k)
        V : ndarray of bool, of shape (k, m)
        n_jobs : int, optional
            Threads, where the cells are here. All cores by default.
        """

    @abstractmethod
    def map_rows(
        self, function: Callable[..., NDArray[Any]], *arguments: Any, n_jobs: int | None = None
    ) -> NDArray[Any]:
        """Compute something for each row, where that row is.

        Parameters
        ----------
        function : callable
            Takes a `BooleanMatrix` of some of the rows, the arguments, and a number of threads.
            Returns an array with one entry for each of these rows. Like that of
            `sum_over_pieces`, it is one of a module.
        *arguments
            Passed on.
        n_jobs : int, optional
            Threads, where the cells are here. All cores by default.

        Returns
        -------
        ndarray
            The entries of all rows, in order.
        """
