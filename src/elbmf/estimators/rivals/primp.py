"""Primp: proximal steps with a Λ-shaped regulariser, then the best pair of thresholds."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from elbmf.boolean.product import Bools
from elbmf.estimators.base import estimator
from elbmf.estimators.relaxer import OneRunFactorizer, Relaxer
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.palm import State
from elbmf.relaxation.regularizers import Primp as LambdaShaped
from elbmf.relaxation.rounding import round_on_grid
from elbmf.relaxation.schedules import Printed
from elbmf.utils.constraints import Interval

__all__ = ["Primp"]

# The grid of thresholds: steps of .01. Above 1 there is nothing, which is the last resort.
_STEPS = 100


@estimator
class Primp(OneRunFactorizer):
    """Boolean matrix factorization by proximal steps away from ½, and the best of many roundings.

    Minimises ½‖A − UV‖² + φ(U) + φ(V) by PALM, where ``φ(x) = κ(1 − |1 − 2x|)`` on [0, 1] and
    infinite elsewhere: it costs nothing at 0 and at 1, and most at ½. What is between them in the
    end is rounded: of all pairs of thresholds, one for U and one for V, in steps of 0.01, the one
    that loses least is taken.

    Parameters
    ----------
    n_components
    kappa : float, default=0.01
        Weight κ of the regulariser.
    beta : float, default=0.9
        Inertia β in [0, 1); 0 for the steps of the authors.
    init : {"auto", "svd", "random"} or (U, V), default="auto"
        Positive parts of the leading singular vectors with a little noise, or uniform random
        factors as of the authors. ``"auto"`` is ``"svd"`` on up to ten million ones, else
        ``"random"``.

        In Python also your own, of shapes (n, k) and (k, m).
    tol : float, default=1e-6
        Change of the loss, relative to the number of ones, that counts as none: after twenty
        epochs without any, the run has converged. It has also when the factors are Boolean but for
        this.
    trace : {"basic", "full"}, default="basic"
        What `history_` records; ``"full"`` adds, for rounding at ½, loss gap and Hamming process,
        at some cost.

    Notes
    -----
    The authors minimise a relaxed description length and let the rank grow, some components at a
    time, until some stay empty. Here the rank is given, or chosen by ``n_components="auto"``, and
    what is minimised is the loss, both by the epochs and by the thresholds. All 10 000 pairs of
    thresholds are evaluated exactly, in one pass over the rows. Of pairs that are equally good, the
    one with the lowest threshold for V is taken, and with that the lowest for U. A row then gets
    what `transform` would give it, if that costs the same.

    References
    ----------
    S. Hess, K. Morik, N. Piatkowski. The PRIMPING routine: Tiling through proximal alternating
    linearized minimization. Data Mining and Knowledge Discovery 31, 2017.

    Examples
    --------
    >>> from elbmf import Primp
    >>> A = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    >>> Primp(n_components=2, random_state=0).fit(A).reconstruction_err_
    0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kappa": [Interval(Real, 0, None, closed="left")],
    }

    kappa: float = 0.01

    @property
    def _relaxer(self) -> Relaxer:
        schedule = Printed(self.kappa, lam=0, rate=1, beta=self.beta, start="svd", dtype=self.dtype)
        return Relaxer(self, LambdaShaped(), schedule)

    def _rounded(self, A: BooleanMatrix, state: State) -> tuple[Bools, Bools]:
        thresholds = (np.arange(1, _STEPS + 1) / _STEPS).astype(state.U.dtype)
        U, V, _ = round_on_grid(A, state.U, state.Vt, thresholds, n_jobs=self._threads)
        return U, V
