"""Non-negative matrix factorization, rounded: without any pull towards 0 and 1."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from elbmf.boolean.coverage import cover
from elbmf.boolean.product import Bools
from elbmf.estimators.base import estimator
from elbmf.estimators.relaxer import OneRunFactorizer, Relaxer
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.palm import State
from elbmf.relaxation.regularizers import ElasticNet
from elbmf.relaxation.rounding import balanced, project
from elbmf.relaxation.schedules import Printed
from elbmf.utils.constraints import Interval

__all__ = ["RoundedNMF"]


@estimator
class RoundedNMF(OneRunFactorizer):
    """Boolean matrix factorization by rounding a non-negative one.

    Minimises ½‖A − UV‖² + r(U) + r(V) over non-negative U and V by the same epochs as `ELBMF`,
    where r(x) = κx + λx²/2 is an elastic net; then brings them to one scale, clamps them to [0, 1]
    and rounds at ½.

    Parameters
    ----------
    n_components
    l1 : float, default=0
        l₁ coefficient κ.
    l2 : float, default=0
        l₂ coefficient λ.
    balance : bool, default=True
        Bring each component to one scale in U and V before rounding: their product does not tell
        which share of it either has, and rounding at ½ depends on that. Else, they are rounded as
        the epochs leave them, as in the paper.
    tol : float, default=1e-6
        Change of the loss, relative to the number of ones, that counts as none: after twenty
        epochs without any, the run has converged.
    trace : {"basic", "full"}, default="basic"
        What `history_` records, the relaxed loss ‖A − UV‖² among it; ``"full"`` adds loss gap and
        Hamming process at some cost.

    Notes
    -----
    Factors that would cost more than none at all, which rounding can lead to, are emptied. A row
    gets what `transform` would give it, if that costs the same.

    References
    ----------
    P. Paatero, U. Tapper. Positive matrix factorization: A non-negative factor model with optimal
    utilization of error estimates of data values. Environmetrics 5, 1994.

    Examples
    --------
    >>> from elbmf import RoundedNMF
    >>> A = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    >>> RoundedNMF(n_components=2, random_state=0).fit(A).reconstruction_err_
    0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "l1": [Interval(Real, 0, None, closed="left")],
        "l2": [Interval(Real, 0, None, closed="left")],
        "balance": ["boolean"],
    }

    l1: float = 0.0
    l2: float = 0.0
    balance: bool = True

    @property
    def _relaxer(self) -> Relaxer:
        schedule = Printed(self.l1, self.l2, rate=1, beta=self.beta, start="svd", dtype=self.dtype)
        return Relaxer(self, ElasticNet(), schedule)

    def _rounded(self, A: BooleanMatrix, state: State) -> tuple[Bools, Bools]:
        relaxed = balanced(state.U, state.Vt) if self.balance else (state.U, state.Vt)
        # Clamping to [0, 1] first would move no entry across ½.
        U, V = project(relaxed[0]), np.ascontiguousarray(project(relaxed[1]).T)
        if cover(A, U, V, self._threads).loss > A.ones:
            return np.zeros_like(U), np.zeros_like(V)
        return U, V
