"""Measures of a factorization (Sec. 4): how well U ∘ V reconstructs A, how Boolean iterates are.

Every measure of a reconstruction takes the matrix and the two factors, never the product itself.
Cells of A that are missing (NaN or masked) count in none of them: all
sums, ‖A‖₁ and ``|A|`` run over the known cells.
Rows and columns may be weighted: a cell in row i and column j then counts ``sample_weight[i]``
times ``feature_weight[j]`` in all of them.
Two formulas of the paper lack a piece and are mended here: the similarity its "1 −", the relative
loss its inverse.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbmf.boolean.coverage import Cover
from elbmf.boolean.line_weights import LineWeights, weighted_cover
from elbmf.boolean.product import hamming_distance
from elbmf.matrix.boolean_matrix import as_matrix

__all__ = [
    "HammingProcess",
    "boolean_gap",
    "hamming_loss",
    "loss_gap",
    "measures",
    "measures_of",
    "recall",
    "relative_loss",
    "similarity",
]


def hamming_loss(
    A: Any, U: Any, V: Any, *, sample_weight: Any = None, feature_weight: Any = None
) -> int:
    """Count the wrong cells, ‖A − U ∘ V‖₁ (Eq. bmf); with weights, add up what they weigh."""
    return _counts(A, U, V, sample_weight, feature_weight).loss


def relative_loss(
    A: Any, U: Any, V: Any, *, sample_weight: Any = None, feature_weight: Any = None
) -> float:
    """‖A‖₁⁻¹ ‖A − U ∘ V‖₁: 0 is perfect, 1 is what empty factors reach (Sec. 4.2).

    For a matrix without ones: 0 when nothing is covered, else infinite.
    """
    return _relative_loss(_counts(A, U, V, sample_weight, feature_weight))


def similarity(
    A: Any, U: Any, V: Any, *, sample_weight: Any = None, feature_weight: Any = None
) -> float:
    """``1 − |A|⁻¹ ‖A − U ∘ V‖₁``: the share of cells that are right (Sec. 4.1).

    It is 1 for a matrix of which nothing is known.
    """
    return _similarity(_counts(A, U, V, sample_weight, feature_weight))


def recall(
    A: Any, U: Any, V: Any, *, sample_weight: Any = None, feature_weight: Any = None
) -> float:
    """‖A‖₁⁻¹ ‖A ⊙ (U ∘ V)‖₁: the share of ones that are covered (Eq. recall).

    Given the noise-free truth A* in place of A, this is the paper's recall*. It is 1 for a matrix
    without ones.
    """
    return _recall(_counts(A, U, V, sample_weight, feature_weight))


def measures(
    A: Any,
    U: Any,
    V: Any,
    truth: Any = None,
    n_jobs: int | None = None,
    *,
    sample_weight: Any = None,
    feature_weight: Any = None,
) -> dict[str, float]:
    """Compute all measures of a reconstruction at once.

    Parameters
    ----------
    A : matrix of shape (n, m)
    U : matrix of shape (n, k)
    V : matrix of shape (k, m)
    truth : matrix of shape (n, m), optional
        The noise-free A*, for recall*. It has missing cells of its own or none: those that are
        missing in A only are counted, for the truth of what was not seen is known.
    n_jobs : int, optional
        Threads. All cores by default.
    sample_weight, feature_weight : array-like of length n and m, optional
        What each row and each column weighs; 1 by default.

    Returns
    -------
    dict
        ``loss``, ``relative_loss``, ``similarity``, ``recall``, ``precision``, with ``truth`` also
        ``recall_star``.
    """
    weights = sample_weight, feature_weight
    result = measures_of(_counts(A, U, V, *weights, n_jobs))
    if truth is not None:
        result["recall_star"] = _recall(_counts(truth, U, V, *weights, n_jobs))
    return result


def _counts(
    A: Any,
    U: Any,
    V: Any,
    sample_weight: Any = None,
    feature_weight: Any = None,
    n_jobs: int | None = None,
) -> Cover:
    """Count what is covered, with weights if there are any."""
    A = as_matrix(A)
    lines = LineWeights.of(A.shape, sample_weight, feature_weight)
    return weighted_cover(A, U, V, lines, n_jobs)


def measures_of(counts: Cover) -> dict[str, float]:
    """Compute all measures from what is counted already, see `measures`."""
    return {
        "loss": counts.loss,
        "relative_loss": _relative_loss(counts),
        "similarity": _similarity(counts),
        "recall": _recall(counts),
        "precision": counts.hits / counts.covered if counts.covered else 1.0,
    }


def _relative_loss(counts: Cover) -> float:
    if counts.ones:
        return counts.loss / counts.ones
    return float("inf") if counts.loss else 0.0


def _similarity(counts: Cover) -> float:
    return 1 - counts.loss / counts.cells if counts.cells else 1.0


def _recall(counts: Cover) -> float:
    return counts.hits / counts.ones if counts.ones else 1.0


def boolean_gap(U: ArrayLike, V: ArrayLike) -> float:
    """Sum over both factors of the mean distance of their entries to 0 or 1 (Sec. 4.1)."""

    def mean_distance(x: NDArray[np.float64]) -> float:
        return float(np.minimum(np.abs(x), np.abs(x - 1)).mean()) if x.size else 0.0

    return sum(mean_distance(np.asarray(x, dtype=np.float64)) for x in (U, V))


def loss_gap(relaxed_loss: float, rounded_loss: float) -> float:
    """Difference between the relaxed loss and that of the rounded factors (Sec. 4.1)."""
    return abs(relaxed_loss - rounded_loss)


class HammingProcess:
    """Cumulative share of cells that flip from one rounded reconstruction to the next (Sec. 4.1).

    Parameters
    ----------
    n_jobs : int, optional
        Threads. All cores by default.

    Attributes
    ----------
    total : float
        ``Σ |A|⁻¹ ‖B_t − B_{t+1}‖₁`` over the factors seen so far.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.total = 0.0
        self._n_jobs = n_jobs
        self._last: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None = None

    def update(self, U: NDArray[np.bool_], V: NDArray[np.bool_]) -> float:
        """Take the next rounded factors, return the new total."""
        if self._last is not None:
            cells = U.shape[0] * V.shape[1]
            self.total += hamming_distance(*self._last, U, V, self._n_jobs) / max(cells, 1)
        self._last = (U.copy(), V.copy())
        return self.total

    def resume(self, total: float, U: NDArray[np.bool_], Vt: NDArray[np.bool_]) -> None:
        """Go on from a total and the factors seen last, V transposed."""
        self.total, self._last = total, (U, np.ascontiguousarray(Vt.T))
