"""Weights of rows and columns: a line of weight 3 counts as if it were there three times."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import Cover, Weights, cover
from elbmf.boolean.product import Bools, boolean_factors, pack
from elbmf.errors import InputError, Line, Setting
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.paging import available_memory
from elbmf.utils.text import size_text

__all__ = ["LineWeights", "weighted_cover"]

Floats = NDArray[np.float64]
Copies = NDArray[np.int64]

# What a line is called, and where its weight is given.
_LINES = (("row", "sample_weight"), ("column", "feature_weight"))

# The sums of products of two weights have to be finite.
_LARGEST = 1e100

# There are so many copies of a line on average at most: more would take more time than the ratios
# of weights can be worth.
_MOST_COPIES = 32

# Ratios of weights that are as close as this are the same.
_SAME = 1e-9

# A difference of sums that is smaller, relative to them, is what rounding has left.
_DUST = 1e-12

# What a one of the repeated matrix takes while it is made, and the share of the memory for that.
_BYTES_PER_ONE = 16
_SHARE_OF_MEMORY = 0.5

# Cells and ones that are looked at together.
_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class LineWeights:
    """How much rows and columns count: a cell in row i and column j counts wᵢ·vⱼ.

    What looks for factors knows no such weights. It is given a matrix that has each line as often
    as it weighs, and what it finds for the copies of a line is made one again.

    Parameters
    ----------
    given : pair of ndarray or None
        Weights of the rows and of the columns; None where each counts once.
    """

    given: tuple[Floats | None, Floats | None]

    @classmethod
    def of(
        cls, shape: tuple[int, int], sample_weight: Any = None, feature_weight: Any = None
    ) -> "LineWeights | None":
        """Read weights of the lines of a matrix; None where there are none.

        Raises
        ------
        InputError
            If they are not one number of at least 0 for each line, or all of them 0.
        """
        if sample_weight is None and feature_weight is None:
            return None
        rows, columns = (
            None if weights is None else _read(weights, axis, shape[axis])
            for axis, weights in enumerate((sample_weight, feature_weight))
        )
        return cls((rows, columns))

    @cached_property
    def rows(self) -> Copies | None:
        """Copies of each row; None for one of each."""
        return None if self.given[0] is None else _copies(self.given[0])

    @cached_property
    def columns(self) -> Copies | None:
        """Copies of each column; None for one of each."""
        return None if self.given[1] is None else _copies(self.given[1])

    @property
    def in_copies(self) -> "LineWeights":
        """The numbers of copies, as weights."""
        rows, columns = (
            None if each is None else each.astype(np.float64) for each in (self.rows, self.columns)
        )
        return LineWeights((rows, columns))

    @property
    def of_columns(self) -> "LineWeights | None":
        """The weights of the columns alone."""
        return None if self.given[1] is None else LineWeights((None, self.given[1]))

    @property
    def sides(self) -> list[str]:
        """Which lines are weighted: rows, columns or both."""
        named = zip(_LINES, self.given, strict=True)
        return [f"{noun}s" for (noun, _), weights in named if weights is not None]

    @property
    def are_copies(self) -> bool:
        """Whether the weights are the numbers of copies themselves."""
        sides = zip((self.rows, self.columns), self.given, strict=True)
        return all(copies is None or bool((copies == weights).all()) for copies, weights in sides)

    def require_copies(self, *why: str | Setting) -> None:
        """Raise unless the weights are the numbers of copies themselves."""
        if not self.are_copies:
            raise InputError(
                *why, ", weights of rows and columns must be whole numbers, on average "
                f"{_MOST_COPIES} at most. Round them first."
            )  # fmt: skip

    def roundings(self) -> Iterator[str]:
        """Say where the numbers of copies are not in the ratios of the weights."""
        for axis, copies in enumerate((self.rows, self.columns)):
            weights, (noun, _) = self.given[axis], _LINES[axis]
            if weights is None or copies is None:
                continue
            counted = np.flatnonzero(weights)
            unit = weights.sum() / copies.sum()
            change = np.abs(copies[counted] * unit - weights[counted]) / weights[counted]
            if change.max() > _SAME:
                at = counted[change.argmax()]
                yield (
                    f"Weights of {noun}s were rounded: the fit takes whole copies of {noun}s, "
                    f"{_MOST_COPIES} on average at most, so that {noun} {at} of weight "
                    f"{weights[at]:g} counts as {copies[at] * unit:.3g}. Small whole numbers are "
                    "taken as they are."
                )

    # --- copies ---

    def repeat(self, A: Any) -> BooleanMatrix:
        """Return the matrix with all copies of its lines, in memory.

        Raises
        ------
        InputError
            If the matrix is not in one place, or there is no room for the copies.
        """
        if not A.in_one_place:
            raise InputError(
                "Weights of rows and columns need data in one place; this is on a cluster. Fit a "
                "sample of the rows in memory, or leave the weights out."
            )
        self._require_room(A)

        def repeated(pattern: BooleanMatrix) -> Any:
            return pattern.to_csr()[self._copied(0)][:, self._copied(1)]

        missing = None if A.missing is None else repeated(A.missing)
        return BooleanMatrix.from_array(repeated(A), missing=missing)

    def spread(self, U: Bools, V: Bools) -> tuple[Bools, Bools]:
        """Return factors with all copies of their lines."""
        return U[self._copied(0)], self.spread_columns(V)

    def spread_columns(self, V: Bools) -> Bools:
        """Return a factor with all copies of its columns."""
        return np.ascontiguousarray(V[:, self._copied(1)])

    def join(self, A: BooleanMatrix, U: Bools, V: Bools, weights: Weights) -> tuple[Bools, Bools]:
        """Make the copies of each line one: that whose memberships cost least.

        First of rows, given the columns, then of columns, given the rows: that costs no more.

        Parameters
        ----------
        A : BooleanMatrix
            With all copies, as are the factors.
        U, V : ndarray of bool
        weights : Weights
            What the two kinds of error cost.

        Returns
        -------
        U, V : ndarray of bool
            Of the lines themselves; those of weight 0 are in no component.
        """
        U = _cheapest(A, 0, U, V, self.rows, weights)
        Vt = np.ascontiguousarray(V.T)
        Vt = _cheapest(A, 1, Vt, U[self._copied(0)].T, self.columns, weights)
        return U, np.ascontiguousarray(Vt.T)

    def _copied(self, axis: int) -> Any:
        """Return which line each copy is of."""
        copies = (self.rows, self.columns)[axis]
        return slice(None) if copies is None else np.repeat(np.arange(copies.size), copies)

    def _require_room(self, A: BooleanMatrix) -> None:
        ones = float(A.ones + A.n_missing)
        for copies in (self.rows, self.columns):
            ones *= 1.0 if copies is None else float(copies.mean())
        if _BYTES_PER_ONE * ones > _SHARE_OF_MEMORY * available_memory():
            raise InputError(
                f"With copies of its rows and columns, as many as they weigh, the matrix would "
                f"have about {ones:.2g} ones and take {size_text(_BYTES_PER_ONE * ones)} of "
                "memory, which is too much. Take smaller whole numbers as weights, or fewer rows."
            )

    # --- measures ---

    def cover(self, A: Any, U: Any, V: Any) -> Cover:
        """Compare a matrix with a Boolean product, as `elbmf.boolean.cover` does.

        The counts are sums of weights: whole numbers, where all weights are.
        """
        if not A.in_one_place:
            raise InputError(
                "Weights of rows and columns need data in one place; this is on a cluster. Measure "
                "without them."
            )
        U, V = boolean_factors(U, V, A.shape)
        rows, columns = (
            np.ones(length) if weights is None else weights
            for length, weights in zip(A.shape, self.given, strict=True)
        )
        missed, hits = _missed_and_hits(A, 0, U, V, columns)
        unseen, masked = _missed_and_hits(A.missing, 0, U, V, columns)
        covered = _covered(U, V, columns)
        extra = (rows * (covered - masked - hits)).sum()
        if extra < _DUST * (rows * covered).sum():
            extra = 0.0
        missed, hits = (rows * missed).sum(), (rows * hits).sum()
        cells = rows.sum() * columns.sum() - (rows * (unseen + masked)).sum()
        counts = [cells, hits + missed, hits + extra, hits]
        whole = all(weights is None or _are_whole(weights) for weights in self.given)
        # Beyond, not all whole numbers are floats.
        kind: Any = int if whole and cells < 1 << 53 else float
        return Cover(*map(kind, counts))


def weighted_cover(
    A: Any, U: Any, V: Any, lines: LineWeights | None, n_jobs: int | None = None
) -> Cover:
    """Compare a matrix with a Boolean product, whose lines may be weighted."""
    return cover(A, U, V, n_jobs) if lines is None else lines.cover(A, U, V)


def _read(weights: Any, axis: int, length: int) -> Floats:
    noun, name = _LINES[axis]
    try:
        values = np.asarray(weights)
        shape = values.shape
    except ValueError:  # lists of several lengths
        values, shape = np.empty(0), None
    if shape != (length,):
        came = "lists of several lengths" if shape is None else f"an array of shape {shape}"
        raise InputError(
            Setting(name), f" must be a number for each of the {length} {noun}s; got {came}."
        )
    if values.dtype.kind not in "biuf":
        raise InputError(Setting(name), f" must be numbers; got entries of type {values.dtype}.")
    found = values.astype(np.float64)
    bad = np.flatnonzero(~((found >= 0) & (found <= _LARGEST)))
    if bad.size:
        raise InputError(
            Setting(name),
            f" must be numbers from 0 to {_LARGEST:g}; got {found[bad[0]]:g} for ",
            Line(axis, int(bad[0])),
            f". A weight of 0 leaves a {noun} out.",
        )
    if not found.any():
        raise InputError(
            Setting(name), f" is zero for every {noun}, so nothing counts. Give some a weight."
        )
    return found


def _are_whole(weights: Floats) -> bool:
    return bool((weights == np.rint(weights)).all())


def _copies(weights: Floats) -> Copies:
    """Return whole numbers in the ratio of the weights, or nearly so where they would be large."""
    counted = weights > 0
    if _are_whole(weights) and weights[counted].mean() <= _MOST_COPIES:
        return weights.astype(np.int64)
    shares = weights / weights.max()
    least, mean = shares[counted].min(), shares[counted].mean()
    for fewest in range(1, int(_MOST_COPIES * least / mean) + 1):
        copies = np.rint(shares * (fewest / least))
        if np.allclose(copies * (least / fewest), shares, rtol=_SAME, atol=0):
            return copies.astype(np.int64)
    copies = np.maximum(np.rint(shares * (_MOST_COPIES / mean)), 1)
    return np.where(counted, copies, 0).astype(np.int64)


def _cheapest(
    A: BooleanMatrix,  # With all copies
    axis: int,
    U: Bools,  # Of the copies along this axis
    V: Bools,  # Of the lines across
    copies: Copies | None,
    weights: Weights,
) -> Bools:
    """Return, for each line, the memberships of the copy of it that costs least; the first does."""
    if copies is None:
        return U
    line = np.repeat(np.arange(copies.size), copies)
    best = np.cumsum(copies) - copies  # The first copy of each
    if not np.array_equal(U, U[best[line]]):
        once = np.ones(V.shape[1])
        missed, hits = _missed_and_hits(A, axis, U, V, once)
        _, masked = _missed_and_hits(A.missing, axis, U, V, once)
        extra = _covered(U, V, once) - masked - hits
        costs = weights.missed * missed + weights.extra * extra
        order = np.lexsort((costs, line))
        best = order[best.clip(max=order.size - 1)]
    joined = np.zeros((copies.size, U.shape[1]), dtype=np.bool_)
    joined[copies > 0] = U[best[copies > 0]]
    return joined


def _missed_and_hits(
    A: BooleanMatrix | None, axis: int, U: Bools, V: Bools, weights: Floats
) -> tuple[Floats, Floats]:
    """Sum up the weights of the ones of each line that are not covered, and of those that are."""
    missed, hits = np.zeros(U.shape[0]), np.zeros(U.shape[0])
    if A is None:
        return missed, hits
    indptr, indices = A.lines(axis) if axis else (A.indptr, A.indices)
    lines, others = pack(U), pack(V.T)
    for start in range(0, A.ones, _AT_ONCE):
        across = indices[start : min(start + _AT_ONCE, A.ones)]
        line = np.searchsorted(indptr, np.arange(start, start + across.size), side="right") - 1
        covered = (lines[line] & others[across]).any(axis=1)
        for sums, counted in ((missed, ~covered), (hits, covered)):
            sums += np.bincount(line, weights[across] * counted, sums.size)
    return missed, hits


def _covered(U: Bools, V: Bools, weights: Floats) -> Floats:
    """Sum up the weights of what each row covers, working on the distinct rows and columns."""
    rows, row_of = _distinct(U)
    columns, column_of = _distinct(V.T)
    sums = np.bincount(column_of, weights, len(columns))
    left, right = rows.astype(np.float32), columns.T.astype(np.float32)
    covered = np.empty(len(rows))
    at_once = max(1, _AT_ONCE // len(columns))
    for start in range(0, len(rows), at_once):
        piece = slice(start, start + at_once)
        covered[piece] = ((left[piece] @ right > 0) * sums).sum(axis=1)
    return covered[row_of]


def _distinct(U: Bools) -> tuple[Bools, NDArray[np.intp]]:
    """Return the distinct rows, and which of them each row is."""
    _, first, which = np.unique(pack(U), axis=0, return_index=True, return_inverse=True)
    return U[first], which.reshape(-1)
