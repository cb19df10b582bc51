"""From relaxed factors to Boolean ones: the projection that ends Alg. 2, and two that lose less.

The projection rounds at ½. `round_on_grid` takes the pair of thresholds, one for U and one for V,
that costs least. Factors that are not yet Boolean may have settled on other scales, which the
relaxation leaves free, as (U·D)(D⁻¹·V) = UV: `round_by_loss` balances the scales first.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import Weights, cover
from elbmf.boolean.product import Bools
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.half_step import Summary, Tally, balancing_scale
from elbmf.relaxation.kernels.thresholds import add_changes
from elbmf.relaxation.regularizers import ELB
from elbmf.utils.threads import over_ranges

__all__ = ["balanced", "project", "round_by_loss", "round_on_grid", "threshold_costs"]

Floats = NDArray[np.floating[Any]]

# Rows whose entries are compared with all thresholds at once.
_ROWS_AT_ONCE = 1 << 14


def project(X: Floats) -> Bools:
    """⌊prox_{0.5, λ'}(X)⌉ with λ' beyond all bounds: the nearest Boolean matrix."""
    return np.rint(ELB("paper").prox(X, 0.5, np.inf)).astype(np.bool_)


def balanced(U: Floats, Vt: Floats) -> tuple[Floats, Floats]:
    """Bring each component to one scale in U and V, transposed; their product stays the same."""
    scale = balancing_scale(Summary.of(U, Tally()), Summary.of(Vt, Tally())).astype(U.dtype)
    return U * scale, Vt / scale


def threshold_costs(
    A: BooleanMatrix,  # The data; missing cells count for nothing
    U: Floats,
    Vt: Floats,  # Relaxed factors, V transposed
    thresholds: Floats,  # Ascending; up to 255 of them
    weights: Weights | None = None,  # What the two kinds of error cost; both 1 by default
    n_jobs: int | None = None,  # Threads. All cores by default; the result does not depend on it.
) -> NDArray[np.int64]:
    """Count what relaxed factors cost when they are on above a threshold, for all pairs of these.

    All of them in one pass over the rows, which takes about as long as it takes to look at each
    cell once for each component that reaches the lowest threshold both in its row and its column.

    Returns
    -------
    ndarray of int64, of shape (thresholds, thresholds)
        At ``[v, u]``, the cost with V on above threshold v and U above threshold u.
    """
    weights = weights or Weights()
    count = thresholds.size
    levels = _levels(U, thresholds)
    of_V = np.ascontiguousarray(_levels(Vt, thresholds).T)
    components, columns = np.nonzero(of_V)
    starts = np.searchsorted(components, np.arange(of_V.shape[0] + 1))
    above = (starts, columns.astype(np.uint32), of_V[components, columns], of_V.shape[1])
    ones = (A.indptr, A.indices)
    missing = (A.indptr[:0], A.indices[:0])
    if A.missing is not None:
        missing = (A.missing.indptr, A.missing.indices)

    def look(low: int, high: int) -> NDArray[np.int64]:
        changes = np.zeros((count + 1, count + 1), dtype=np.int64)
        add_changes(ones, missing, low, high, levels, above, weights.missed, weights.extra, changes)
        return changes

    changes = np.sum(over_ranges(look, A.shape[0], n_jobs), axis=0)
    # At a threshold of V, all changes up to it have happened; at one of U, all entries above it
    # are on.
    at_V = np.cumsum(changes, axis=1)[:, :count]
    at_both: NDArray[np.int64] = np.cumsum(at_V[:0:-1], axis=0)[::-1].T
    return weights.missed * A.ones + at_both


def round_on_grid(
    # As for `threshold_costs`
    A: BooleanMatrix,
    U: Floats,
    Vt: Floats,
    thresholds: Floats,
    weights: Weights | None = None,
    n_jobs: int | None = None,
) -> tuple[Bools, Bools, int]:
    """Round relaxed factors at the thresholds, one for U and one for V, that cost least.

    Returns
    -------
    U : ndarray of bool, of shape (n, k)
    V : ndarray of bool, of shape (k, m)
        Of pairs that cost the same, the one with the lowest threshold for V, and with that the
        lowest for U.
    cost : int
        What they cost.
    """
    costs = threshold_costs(A, U, Vt, thresholds, weights, n_jobs)
    for_V, for_U = np.unravel_index(np.argmin(costs), costs.shape)
    V = np.ascontiguousarray((Vt > thresholds[for_V]).T)
    return thresholds[for_U] < U, V, int(costs[for_V, for_U])


def round_by_loss(
    # As for `threshold_costs`
    A: BooleanMatrix,
    U: Floats,
    Vt: Floats,
    weights: Weights | None = None,
    n_jobs: int | None = None,
    # Evenly spread between 0 and 1; an odd number, so that ½ is one of them
    n_thresholds: int = 19,
) -> tuple[Bools, Bools]:
    """Round relaxed factors, brought to one scale, at the thresholds that cost least.

    Returns
    -------
    U : ndarray of bool, of shape (n, k)
    V : ndarray of bool, of shape (k, m)
        Never worse than the projection of the balanced or of the given factors.
    """
    thresholds = np.linspace(0, 1, n_thresholds + 2)[1:-1].astype(U.dtype)
    weights = weights or Weights()
    *found, cost = round_on_grid(A, *balanced(U, Vt), thresholds, weights, n_jobs)
    plain = project(U), np.ascontiguousarray(project(Vt).T)
    if cover(A, *plain, n_jobs).cost(weights) <= cost:
        return plain
    return found[0], found[1]


def _levels(X: Floats, thresholds: Floats) -> NDArray[np.uint8]:
    """Return how many of the thresholds each entry exceeds."""
    levels = np.empty(X.shape, dtype=np.uint8)
    for start in range(0, X.shape[0], _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        levels[rows] = np.searchsorted(thresholds, X[rows])
    return levels
