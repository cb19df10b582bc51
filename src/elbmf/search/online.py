"""Streams of rows: components from a bounded sample of the rows that have passed.

What is kept of a stream is a sample of its rows and the components, nothing that grows with the
rows. Each time a share of the sample is new, the components are reviewed: those at hand, and new
ones that a relaxation of the sample finds, are put together so that they cost least on it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import Weights
from elbmf.boolean.product import Bools, boolean_product, pack
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.evolution import Search
from elbmf.search.kernels.votes import count_votes
from elbmf.search.local import LocalSearch, describe
from elbmf.utils.tuning import TUNING

__all__ = ["Review", "RowSample", "Stream"]


class RowSample:
    """A sample of the rows of a stream, each equally likely to be in it.

    Every row draws a random number, and those with the least are kept: as many as there is room
    for.
    """

    def __init__(
        self,
        n_columns: int,  # Length of the rows
        generator: np.random.Generator,  # For the draws
    ) -> None:
        self.n_seen = 0  # Rows that have passed
        # The sample, in the order in which the rows came
        self.rows = BooleanMatrix.zeros((0, n_columns))
        self._generator = generator
        self._draws: NDArray[np.float64] = np.empty(0)

    @property
    def is_whole(self) -> bool:
        """Whether it has all the rows that have passed."""
        return self.rows.shape[0] == self.n_seen

    def add(self, A: BooleanMatrix) -> int:
        """Let rows pass; return how many of them are in the sample now."""
        draws = np.asarray(self._generator.random(A.shape[0]))
        self.n_seen += A.shape[0]
        return self._merge(A, draws)

    def add_product(self, U: Bools, V: Bools) -> None:
        """Let the rows of a Boolean product pass, of which only those that stay are made."""
        draws = np.asarray(self._generator.random(U.shape[0]))
        self.n_seen += U.shape[0]
        least = np.sort(np.argsort(draws, kind="stable")[: TUNING.rows_of_sample])
        self._merge(BooleanMatrix.from_array(boolean_product(U[least], V)), draws[least])

    def _merge(self, A: BooleanMatrix, its_draws: NDArray[np.float64]) -> int:
        at_hand = self.rows.shape[0]
        draws = np.concatenate([self._draws, its_draws])
        cells = np.concatenate([_row_cells(self.rows), _row_cells(A)])
        order = np.argsort(draws, kind="stable")[: TUNING.rows_of_sample]
        # What is cut off here could never come back: rows that pass only move the cut down.
        room = int(np.searchsorted(np.cumsum(cells[order]), TUNING.cells_of_sample, side="right"))
        kept = np.sort(order[: max(room, 1)])
        new = kept[kept >= at_hand] - at_hand
        if new.size:
            old = _selected(self.rows, kept[kept < at_hand])
            self.rows = _stacked(old, _selected(A, new))
            self._draws = draws[kept]
        return int(new.size)

    def widen(self, n_columns: int) -> None:
        """Let rows have more columns, in which those that have passed are zero."""
        self.rows = _widened(self.rows, n_columns)


@dataclass(frozen=True)
class Review:
    """How components are reviewed on a sample."""

    k: int  # Components to have
    # Finds factors of a matrix, with a generator
    relax: Callable[[BooleanMatrix, np.random.Generator], tuple[Bools, Bools]]
    # What a search for better components of a matrix may take, see `Search`
    work: Callable[[BooleanMatrix], float]
    weights: Weights  # What the two kinds of error cost
    n_jobs: int | None = None  # Threads. All cores by default; no result depends on it.

    def of(
        self, sample: RowSample, V: Bools, generator: np.random.Generator, *, relaxing: bool
    ) -> Bools:
        """Choose components of a sample, those at hand being V.

        Candidates are these, what a search makes of them, what a relaxation finds if there is to
        be one, and where that is too few, single columns.
        """
        A, k = sample.rows, self.k
        if not A.ones:
            return np.pad(V[:k], ((0, k - V[:k].shape[0]), (0, 0)))
        local = LocalSearch(A, self.weights, self.n_jobs)
        at_hand = (describe(A, V, self.weights, self.n_jobs), V) if V.any() else None
        if at_hand is not None and V.shape[0] == k and local.pack(*at_hand).cost == 0:
            return V
        with Search(local, k, generator, self.work(A)) as search:
            found = [self.relax(A, generator)] if relaxing else []
            if at_hand is not None:
                found.append(at_hand)
                if V.shape[0] == k:
                    factors = local.pack(*at_hand)
                    local.descend(factors)
                    found.append(search.improve([factors]).to_arrays())
            if not sample.is_whole:
                found = [self._those_that_pay(A, U, V) for U, V in found]
            factors_found = [local.pack(U, V) for U, V in found if V.shape[0]]
            for factors in factors_found:
                local.descend(factors)
            parents = list(factors_found)
            if any(factors.n_slots < k for factors in parents) or not parents:
                parents.append(local.pack(*_longest_columns(A, k)))
            contenders = [factors for factors in factors_found if factors.n_slots <= k]
            contenders.append(search.reduce(*parents))
        best = min(contenders, key=lambda factors: factors.cost).to_arrays()[1]
        return np.pad(best, ((0, k - best.shape[0]), (0, 0)))

    def _those_that_pay(self, A: BooleanMatrix, U: Bools, V: Bools) -> tuple[Bools, Bools]:
        pays = pay_elsewhere(A, U, V, self.weights)
        return U[:, pays], V[pays]


class Stream:
    """Components of the rows that have passed."""

    def __init__(
        self,
        n_columns: int,  # Length of the rows
        generator: np.random.Generator,  # For the sample, the relaxations and the search
    ) -> None:
        self.components = np.zeros((0, n_columns), dtype=np.bool_)  # None at first
        self.sample = RowSample(n_columns, generator)  # What is kept of the rows
        self._generator = generator
        self._new = self._new_since_relaxation = 0

    def read(self, A: BooleanMatrix, review: Review) -> None:
        """Let rows pass, and review the components when enough of the sample is new."""
        new, size = self.sample.add(A), self.sample.rows.shape[0]
        self._new += new
        self._new_since_relaxation += new
        first = self.components.shape[0] != review.k
        relaxing = first or self._new_since_relaxation >= TUNING.new_for_relaxation * size
        if relaxing or self._new >= TUNING.new_for_review * size:
            self._new = 0
            if relaxing:
                self._new_since_relaxation = 0
            self.components = review.of(
                self.sample, self.components, self._generator, relaxing=relaxing
            )

    def recall(self, U: Bools, V: Bools) -> None:
        """Begin with factors of rows that have passed, which are known by these alone."""
        self.components = V
        self.sample.add_product(U, V)

    def widen(self, n_columns: int) -> None:
        """Let rows have more columns, which no component has as yet."""
        more = n_columns - self.components.shape[1]
        self.components = np.pad(self.components, ((0, 0), (0, more)))
        self.sample.widen(n_columns)


def pay_elsewhere(
    A: BooleanMatrix,  # The sample
    U: Bools,
    V: Bools,  # Its factors
    weights: Weights | None = None,  # What the two kinds of error cost; both 1 by default
) -> Bools:
    """Tell which components would pay in rows that are like those of a sample, but not in it.

    A component that is a row of the sample pays in that row, and may in no other. So every row is
    set against what the columns of a component would be without it: those that the votes of all
    other members are for. A row votes where no other component covers it. Copies of a row have one
    vote, unless there are many.

    Returns
    -------
    ndarray of bool, of shape (k,)
    """
    weights = weights or Weights()
    voters = _voters(A)
    lines = LocalSearch(_selected(A, voters), weights).lines[0]
    ones, zeros = np.zeros((2, *V.shape), dtype=np.int64)
    count_votes(lines, pack(U[voters]), pack(V), ones, zeros)
    ones *= weights.missed
    zeros *= weights.extra
    gains = ones - zeros
    # A one counts where the others are for the column without it, a zero where they are with it.
    right = np.where(gains > weights.missed, ones, 0)
    wrong = np.where(gains > -weights.extra, zeros, 0)
    result: Bools = (right - wrong).sum(axis=1) > 0
    return result


def _voters(A: BooleanMatrix) -> NDArray[np.int64]:
    """Return the rows, of those with few copies only the first."""
    patterns = [A] if A.missing is None else [A, A.missing]
    contents = [
        tuple(each.indices[each.indptr[i] : each.indptr[i + 1]].tobytes() for each in patterns)
        for i in range(A.shape[0])
    ]
    copies = Counter(contents)
    first = {content: i for i, content in reversed(list(enumerate(contents)))}
    return np.array(
        [
            i
            for i, content in enumerate(contents)
            if copies[content] >= TUNING.copies or first[content] == i
        ]
    )


def _longest_columns(A: BooleanMatrix, count: int) -> tuple[Bools, Bools]:
    """Return the factors whose components are the columns with most ones, one each."""
    ones = np.bincount(A.indices, minlength=A.shape[1])
    longest = np.argsort(-ones, kind="stable")[:count]
    longest = longest[ones[longest] > 0]
    alone = np.zeros((longest.size, A.shape[1]), dtype=np.bool_)
    alone[np.arange(longest.size), longest] = True
    return A.to_csr()[:, longest].toarray(), alone


def _row_cells(A: BooleanMatrix) -> NDArray[np.int64]:
    """Return the number of ones and missing cells of each row."""
    cells = np.diff(A.indptr)
    return cells if A.missing is None else cells + np.diff(A.missing.indptr)


def _selected(A: BooleanMatrix, rows: NDArray[np.int64]) -> BooleanMatrix:
    """Return some rows of a matrix."""
    missing = None if A.missing is None else _selected(A.missing, rows)
    some = A.to_csr()[rows]
    return BooleanMatrix(
        (rows.size, A.shape[1]), some.indptr.astype(np.int64), some.indices, missing
    )


def _stacked(A: BooleanMatrix, B: BooleanMatrix) -> BooleanMatrix:
    """Return the rows of one matrix above those of another."""
    missing = None
    if A.missing is not None or B.missing is not None:
        missing = _stacked(*(each.missing or BooleanMatrix.zeros(each.shape) for each in (A, B)))
    shape = (A.shape[0] + B.shape[0], A.shape[1])
    indptr = np.concatenate([A.indptr, A.indptr[-1] + B.indptr[1:]])
    return BooleanMatrix(shape, indptr, np.concatenate([A.indices, B.indices]), missing)


def _widened(A: BooleanMatrix, n_columns: int) -> BooleanMatrix:
    missing = None if A.missing is None else _widened(A.missing, n_columns)
    return BooleanMatrix((A.shape[0], n_columns), A.indptr, A.indices, missing)
