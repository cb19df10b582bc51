"""What row and column sums alone make of a matrix: how many ones to expect in a block of it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from elbmf.analysis.support import line_ones
from elbmf.boolean.product import boolean_factors
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["ExpectedOnes"]

# Rows and columns are fitted in turn until the sums are as close as this, or for so many rounds.
_CLOSE, _MOST_ROUNDS = 1e-3, 200

# Log-odds stay finite for lines that are full or empty, and change by little at a time.
_MOST_LOG_ODDS, _LONGEST_STEP = 30.0, 2.0


class ExpectedOnes:
    """The matrix of independent cells that has the row and column sums of another on average.

    A cell is a one with odds that are those of its row times those of its column: of all such
    matrices, the one of largest entropy. Lines with equal sums have equal odds, so that there is
    one number for each pair of different sums, however large the matrix is. A line with missing
    cells counts as one without that has the same share of ones.

    Parameters
    ----------
    A : BooleanMatrix
        The other.
    """

    def __init__(self, A: BooleanMatrix) -> None:
        self._shape = A.shape
        self._kinds: list[NDArray[np.int64]] = []
        sums, counts = [], []
        for axis in (0, 1):
            ones, length = line_ones(A, axis), A.shape[1 - axis]
            known = length - np.diff(A.missing_lines(axis)[0])
            filled = np.rint(ones * (length / np.maximum(known, 1)))
            found, kinds, count = np.unique(filled, return_inverse=True, return_counts=True)
            self._kinds.append(kinds)
            sums.append(found)
            counts.append(count.astype(np.float64))
        self._chances = _fitted(sums, counts)

    def within(self, U: Any, V: Any) -> NDArray[np.float64]:
        """Return the ones to expect in each of k components, missing cells included."""
        U, V = boolean_factors(U, V, self._shape)
        rows, columns = (
            np.array([np.bincount(kinds[line], minlength=count) for line in lines])
            for lines, kinds, count in zip((U.T, V), self._kinds, self._chances.shape, strict=True)
        )
        return np.sum((rows @ self._chances) * columns, axis=1) if len(V) else np.zeros(0)


def _fitted(
    sums: list[NDArray[np.float64]], counts: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the chance of a one for each kind of row and column, by Newton's steps in turn."""
    log_odds = [np.zeros(len(each)) for each in sums]
    for _ in range(_MOST_ROUNDS):
        furthest = 0.0
        for axis in (0, 1):
            chances = expit(log_odds[axis][:, None] + log_odds[1 - axis])
            short = sums[axis] - chances @ counts[1 - axis]
            slope = np.maximum((chances * (1 - chances)) @ counts[1 - axis], 1e-9)
            step = np.clip(short / slope, -_LONGEST_STEP, _LONGEST_STEP)
            log_odds[axis] = np.clip(log_odds[axis] + step, -_MOST_LOG_ODDS, _MOST_LOG_ODDS)
            furthest = max(furthest, float(np.abs(short).max(initial=0.0)))
        if furthest < _CLOSE:
            break
    return expit(log_odds[0][:, None] + log_odds[1])
