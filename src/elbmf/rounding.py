"""From relaxed factors to Boolean ones: the projection that ends Alg. 2, and one that loses less.

The projection rounds at ½. Factors that are not yet Boolean may have settled on other scales, which
the relaxation leaves free, as (U·D)(D⁻¹·V) = UV. `round_by_loss` balances the scales first and
takes the pair of thresholds that costs least.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.balance import balancing_scale
from elbmf.refine import LocalSearch
from elbmf.regularizers import ELB
from elbmf.step import Summary, Tally

__all__ = ["project", "round_by_loss"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.floating[Any]]


def project(X: Floats) -> Bools:
    """⌊prox_{0.5, λ'}(X)⌉ with λ' beyond all bounds: the nearest Boolean matrix."""
    return np.rint(ELB("paper").prox(X, 0.5, np.inf)).astype(np.bool_)


def round_by_loss(
    local: LocalSearch, U: Floats, Vt: Floats, n_thresholds: int = 19
) -> tuple[Bools, Bools]:
    """Round relaxed factors at the thresholds, one for U and one for V, that cost least.

    All thresholds for U are evaluated in one go for each threshold for V: as the threshold sinks,
    only the cells that components add are counted.

    Parameters
    ----------
    local : LocalSearch
        The data, and what errors cost.
    U : ndarray of shape (n, k)
    Vt : ndarray of shape (m, k)
        Relaxed factors, V transposed.
    n_thresholds : int
        Evenly spread between 0 and 1; an odd number, so that ½ is one of them.

    Returns
    -------
    U : ndarray of bool, of shape (n, k)
    V : ndarray of bool, of shape (k, m)
        Never worse than the projection of the balanced or of the given factors.
    """
    scale = balancing_scale(Summary.of(U, Tally()), Summary.of(Vt, Tally())).astype(U.dtype)
    balanced_U, balanced_Vt = U * scale, Vt / scale
    thresholds = np.linspace(0, 1, n_thresholds + 2)[1:-1].astype(U.dtype)
    levels = np.searchsorted(thresholds, balanced_U).astype(np.uint8)
    costs = np.array(
        [
            local.threshold_costs(levels, threshold < balanced_Vt.T, n_thresholds)
            for threshold in thresholds
        ]
    )
    plain = project(U), np.ascontiguousarray(project(Vt).T)
    if local.pack(*plain).cost <= costs.min():
        return plain
    for_V, for_U = np.unravel_index(np.argmin(costs), costs.shape)
    V = np.ascontiguousarray(thresholds[for_V] < balanced_Vt.T)
    return levels > for_U, V
