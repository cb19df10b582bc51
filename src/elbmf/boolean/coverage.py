"""What a factorization covers of the data, and what its errors cost (Eq. bmf).

Products are compared with the data at its ones and missing cells only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.product import Bools, boolean_factors, pack
from elbmf.errors import InputError
from elbmf.kernels import bits
from elbmf.matrix.boolean_matrix import BooleanMatrix, as_matrix
from elbmf.utils.threads import over_ranges

__all__ = ["ComponentCover", "Cover", "GrowingCover", "Weights", "component_cover", "cover"]

# The terms of a ratio of weights, unless the ratio itself is larger.
_LARGEST_TERM = 1000

# R: in the relaxation, one kind of cell weighs at most so many times the other. Measured on planted
# tiles with noise of both kinds, rounded factors from below cost least at 100: with less they cover
# zeros (a loss of 5 times the ones at 30), with more they cover next to nothing.
_STRONGEST_RELAXED = 100.0

# Components up to which it is worth finding lines that have the same.
_LONGEST_SORTED = 1024

# Cells of a component from which threads take less time than they need to start.
_LARGE = 1 << 16


@dataclass(frozen=True)
class Weights:
    """What the two kinds of error cost, as integers, so that sums of them are exact.

    Parameters
    ----------
    missed : int
        Cost of a one that is not covered.
    extra : int
        Cost of a zero that is covered.
    """

    missed: int = 1
    extra: int = 1

    @classmethod
    def of(cls, extra_weight: float, shape: tuple[int, int]) -> "Weights":
        """Turn the cost of a covered zero, an uncovered one costing 1, into a ratio of integers.

        Parameters
        ----------
        extra_weight : float
            Above 0. Up to a thousand times more or less than 1, it becomes the nearest ratio of
            integers up to 1000. Infinity asks for a factorization from below: one covered zero
            costs more than all the ones of any row or column. A number that is larger still means
            the same, and one below the inverse that an uncovered one outweighs any row or column.
        shape : (int, int)
            Rows and columns of the matrix.

        Raises
        ------
        InputError
            If ``extra_weight`` is not above 0.
        """
        if not extra_weight > 0:
            raise InputError(
                f"extra_weight must be above 0, the cost of a covered zero relative to an "
                f"uncovered one; got {extra_weight}."
            )
        prohibitive = max(shape) + 1
        ratio = min(max(extra_weight, 1 / extra_weight), prohibitive)
        if ratio > _LARGEST_TERM:
            less, more = 1, round(ratio)
        else:
            fraction = Fraction(1 / ratio).limit_denominator(_LARGEST_TERM)
            less, more = fraction.numerator, fraction.denominator
        return cls(less, more) if extra_weight > 1 else cls(more, less)

    @property
    def relaxed(self) -> float:
        """ω, the weight of a one in the relaxation, where a zero weighs 1: missed/extra.

        It is kept within 1/R and R. Beyond that, the gradient of one kind of cell drowns in that
        of the other, and nothing is learned.
        """
        return min(max(self.missed / self.extra, 1 / _STRONGEST_RELAXED), _STRONGEST_RELAXED)


@dataclass(frozen=True)
class Cover:
    """How a product U ∘ V covers a matrix A: the counts that every measure is made of.

    None of them counts a missing cell of A. Where rows or columns are weighted, they are sums of
    weights, which may be fractions.

    Parameters
    ----------
    cells : int
        ``|A|``, n·m less the missing cells.
    ones : int
        ‖A‖₁.
    covered : int
        ‖U ∘ V‖₁ on these cells.
    hits : int
        ‖A ⊙ (U ∘ V)‖₁, the ones that are covered.
    """

    cells: int
    ones: int
    covered: int
    hits: int

    @property
    def missed(self) -> int:
        """Ones that are not covered."""
        return self.ones - self.hits

    @property
    def extra(self) -> int:
        """Zeros that are covered."""
        return self.covered - self.hits

    @property
    def loss(self) -> int:
        """‖A − U ∘ V‖₁ (Eq. bmf)."""
        return self.missed + self.extra

    def __add__(self, other: "Cover") -> "Cover":
        """Count the cells of two matrices together."""
        return Cover(
            self.cells + other.cells,
            self.ones + other.ones,
            self.covered + other.covered,
            self.hits + other.hits,
        )

    def cost(self, weights: Weights) -> int:
        """Loss in which each kind of error has its own weight."""
        return weights.missed * self.missed + weights.extra * self.extra


def cover(A: Any, U: Any, V: Any, n_jobs: int | None = None) -> Cover:
    """Compare a matrix with a Boolean product, on the cells that are not missing.

    Costs the ones and missing cells of A, and the covered cells at 64 to a word, once for each
    distinct row. A matrix that is spread over machines is compared where its pieces are.
    """
    A = as_matrix(A)
    U, V = boolean_factors(U, V, A.shape)
    return A.sum_over_pieces(_cover, U, V, n_jobs)


def _cover(A: BooleanMatrix, U: Bools, V: Bools, n_jobs: int | None) -> Cover:
    rows, columns = pack(U), pack(V.T)

    def hits(pattern: BooleanMatrix) -> int:
        indptr, indices = pattern.indptr, pattern.indices
        return sum(
            over_ranges(
                lambda low, high: bits.count_hits(indptr, indices, low, high, rows, columns),
                A.shape[0],
                n_jobs,
            )
        )

    covered = _covered(*_quicker(U, V), n_jobs)
    if A.missing is not None:
        covered -= hits(A.missing)
    return Cover(A.known, A.ones, covered, hits(A))


def _distinct(U: Bools) -> tuple[Bools, NDArray[np.int64]]:
    """Return the distinct rows of U, and how often each occurs.

    All of them where they are so long that to sort them takes longer than it saves.
    """
    if U.shape[1] > _LONGEST_SORTED:
        return np.ascontiguousarray(U), np.ones(U.shape[0], dtype=np.int64)
    _, first, repeats = np.unique(pack(U), axis=0, return_index=True, return_counts=True)
    return np.ascontiguousarray(U[first]), repeats


def _quicker(U: Bools, V: Bools) -> tuple[Bools, Bools]:
    """Return the factors, or both transposed: lines of few components are united sooner."""
    if U.sum() * V.shape[1] <= V.sum() * U.shape[0]:
        return U, V
    return V.T, U.T


def _covered(U: Bools, V: Bools, n_jobs: int | None) -> int:
    """‖U ∘ V‖₁, working on the distinct rows of U: those alike cover the same cells."""
    distinct, repeats = _distinct(U)
    counts = np.zeros(distinct.shape[0], dtype=np.int64)
    component_bits = pack(V)
    over_ranges(
        lambda low, high: bits.covered_cells(distinct, low, high, component_bits, counts),
        distinct.shape[0],
        n_jobs,
    )
    return int(counts @ repeats)


@dataclass(frozen=True)
class ComponentCover:
    """What each component covers, as arrays of length k.

    Parameters
    ----------
    rows, columns : ndarray
        Size of the component.
    cells : ndarray
        Its cells that are not missing: rows · columns where none is.
    covered : ndarray
        Ones of A inside the component.
    alone : ndarray
        Ones of A that no other component covers.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    cells: NDArray[np.int64]
    covered: NDArray[np.int64]
    alone: NDArray[np.int64]

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of the component's known cells that are ones of A; 1 if there are none."""
        return np.where(self.cells > 0, self.covered / np.maximum(self.cells, 1), 1.0)


def component_cover(A: Any, U: Any, V: Any, n_jobs: int | None = None) -> ComponentCover:
    """Count the cover of each component; costs the ones and missing cells of A."""
    A = as_matrix(A)
    U, V = boolean_factors(U, V, A.shape)
    missing, covered, alone = A.sum_over_pieces(_hits_of_components, U, V, n_jobs)
    rows, columns = U.sum(axis=0), V.sum(axis=1)
    return ComponentCover(rows, columns, rows * columns - missing, covered, alone)


def _hits_of_components(
    A: BooleanMatrix, U: Bools, V: Bools, n_jobs: int | None
) -> NDArray[np.int64]:
    """Count the missing cells in each component, its ones, and those that no other covers."""
    rows, columns = pack(U), pack(V.T)

    def hits(pattern: BooleanMatrix) -> NDArray[np.int64]:
        def count(low: int, high: int) -> NDArray[np.int64]:
            counts = np.zeros((2, U.shape[1]), dtype=np.int64)
            bits.component_hits(pattern.indptr, pattern.indices, low, high, rows, columns, *counts)
            return counts

        return np.sum(over_ranges(count, A.shape[0], n_jobs), axis=0)

    missing = np.zeros(U.shape[1], dtype=np.int64) if A.missing is None else hits(A.missing)[0]
    return np.stack([missing, *hits(A)])


class GrowingCover:
    """A cover that takes in one component after the other, and what each of the rest would add.

    Taking one in costs the ones and missing cells of A in its rows, and for each distinct row in it
    the components of that row, at 64 cells to a word. Nothing is kept but counts.

    Parameters
    ----------
    A : matrix of shape (n, m)
    U : matrix of shape (n, k)
    V : matrix of shape (k, m)
    n_jobs : int, optional
        Threads. All cores by default.

    Attributes
    ----------
    cover : Cover
        What the components taken in so far cover; nothing at first.
    taken : ndarray of bool, of length k
        Which ones these are.
    ones : ndarray of int64, of length k
        Ones of A that each component would newly cover; 0 for those taken in.
    cells : ndarray of int64, of length k
        Known cells, ones or zeros, that each component would newly cover.
    """

    def __init__(self, A: Any, U: Any, V: Any, n_jobs: int | None = None) -> None:
        A = BooleanMatrix.from_array(A)
        U, V = boolean_factors(U, V, A.shape)
        each = component_cover(A, U, V, n_jobs)
        self.cover = Cover(A.known, A.ones, 0, 0)
        self.taken = np.zeros(U.shape[1], dtype=np.bool_)
        self.ones, self.cells = each.covered, each.cells
        self._A = A
        self._n_jobs, self._large = n_jobs, each.cells >= _LARGE
        # All of their cells are ones that are in no other: those of the rest stay as they are.
        self._apart = each.rows * each.columns == each.alone
        self._rows, self._columns = pack(U), pack(V.T)
        lines, across = _quicker(U, V)
        self._distinct, self._repeats = _distinct(lines)
        self._component_bits = pack(across)

    def take(self, l: int) -> None:
        """Take in a component that is not in yet."""
        if self.taken[l]:
            raise InputError(f"Component {l} is in the cover already.")
        if self._apart[l]:
            alone = np.arange(self.taken.size) == l
            ones, cells = self.ones * alone, self.cells * alone
        else:
            ones, cells = self._fresh_hits(self._A, l), self._fresh_cells(l)
            if self._A.missing is not None:
                cells -= self._fresh_hits(self._A.missing, l)
        before = self.cover
        self.cover = Cover(
            before.cells, before.ones, before.covered + int(cells[l]), before.hits + int(ones[l])
        )
        self.ones = self.ones - ones
        self.cells = self.cells - cells
        self.taken[l] = True

    def _fresh_hits(self, pattern: BooleanMatrix, l: int) -> NDArray[np.int64]:
        taken = pack(self.taken[None])[0]

        def count(low: int, high: int) -> NDArray[np.int64]:
            counts = np.zeros(self.taken.shape, dtype=np.int64)
            indptr, indices = pattern.indptr, pattern.indices
            bits.fresh_hits(indptr, indices, low, high, self._rows, self._columns, taken, l, counts)
            return counts

        return self._sum(count, pattern.shape[0], l)

    def _fresh_cells(self, l: int) -> NDArray[np.int64]:
        def count(low: int, high: int) -> NDArray[np.int64]:
            counts = np.zeros(self.taken.shape, dtype=np.int64)
            bits.fresh_cells(
                self._distinct,
                self._repeats,
                low,
                high,
                self._component_bits,
                self.taken,
                l,
                counts,
            )
            return counts

        return self._sum(count, self._distinct.shape[0], l)

    def _sum(
        self, count: Callable[[int, int], NDArray[np.int64]], length: int, l: int
    ) -> NDArray[np.int64]:
        pieces = over_ranges(count, length, self._n_jobs if self._large[l] else 1)
        total: NDArray[np.int64] = np.sum(pieces, axis=0)
        return total
