"""Primp: proximal steps with a Λ-shaped regulariser, then the best pair of thresholds."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from elbmf.binarizers import Binarize
from elbmf.boolean.product import Bools
from elbmf.estimators.base import BooleanFactorizer, FittedFactors
from elbmf.estimators.relaxer import CONSTRAINTS, Relaxer, relax_once
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.palm import State
from elbmf.relaxation.regularizers import Primp as LambdaShaped
from elbmf.relaxation.rounding import round_on_grid
from elbmf.relaxation.schedules import Printed
from elbmf.relaxation.trace import TraceLevel
from elbmf.utils.progress import FitProgress

__all__ = ["Primp"]

# The grid of thresholds: steps of .01. Above 1 there is nothing, which is the last resort.
_STEPS = 100


class Primp(BooleanFactorizer):
    """Boolean matrix factorization by proximal steps away from ½, and the best of many roundings.

    Minimises ½‖A − UV‖² + φ(U) + φ(V) by PALM, where ``φ(x) = κ(1 − |1 − 2x|)`` on [0, 1] and
    infinite elsewhere: it costs nothing at 0 and at 1, and most at ½. What is between them in the
    end is rounded: of all pairs of thresholds, one for U and one for V, in steps of 0.01, the one
    that loses least is taken.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number of components k. ``"auto"`` chooses the one that gives the shortest description of
        the data (MDL), which takes several times as long.
    kappa : float, default=0.01
        Weight κ of the regulariser.
    beta : float, default=0.9
        Inertia β in [0, 1); 0 for the steps of the authors.
    init : {"auto", "svd", "random"} or (U, V), default="auto"
        Positive parts of the leading singular vectors with a little noise, or uniform random
        factors as of the authors. ``"auto"`` is ``"svd"`` on up to ten million ones, else
        ``"random"``.

        In Python also your own, of shapes (n, k) and (k, m).
    max_iter : int, default=1500
        Epochs at most.
    tol : float, default=1e-6
        Change of the loss, relative to the number of ones, that counts as none: after twenty
        epochs without any, the run has converged. It has also when the factors are Boolean but for
        this.
    trace : {"basic", "full"}, default="basic"
        What `history_` records; ``"full"`` adds, for rounding at ½, loss gap and Hamming process,
        at some cost.
    dtype : {"float32", "float64"}, default="float32"
        Number type of the relaxed factors.
    refine : bool, default=False
        Improve the factors by Boolean local search afterwards, never for the worse.
    binarize : float, str or transformer, optional
        For input that is not 0/1: a threshold, above which entries are ones, or ``nonzero``,
        ``positive``, ``zscore[:CUTOFF][:SCOPE]`` (1.645) or ``quantile[:SHARE][:SCOPE]`` (0.05),
        of ``columns`` (default), ``rows`` or ``all``.

        In Python also a transformer.
    callback : callable, optional
        Called with a `FitProgress` after each epoch, which is a `State` and has the relaxed
        factors; a true return value ends the fit at once, with the factors as they are, rounded.
    n_jobs : int, optional
        Threads. All cores by default, and for -1; the result does not depend on it.
    memory_limit : float or str, optional
        Memory that the fit may take beyond that of the program itself, in bytes or as ``"300MB"``
        or ``"2GiB"``. Data that needs more is worked on from the disk; the result is the same.
    device : {"cpu", "cuda", "mps"}, optional
        Do the epochs with torch on this device. By default, with our own kernels on the processor.
    checkpoint : path, optional
        A folder in which to keep where the fit is. A fit that was interrupted goes on from there
        when it is called again with the same data and parameters, to the same end. One that has
        ended leaves its result there, until another fit is given the folder.
    checkpoint_every : int, default=20
        Epochs from one checkpoint to the next. Fewer are written where they would take more than
        a twentieth of the time.
    random_state : int, RandomState instance or None
        Seed of the start.

    Attributes
    ----------
    components_, membership_, n_components_, reconstruction_err_, n_iter_, stop_reason_, history_, \
stages_
        As of every method, see `BooleanFactorizer`. An iteration is an epoch.

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
        **BooleanFactorizer._parameter_constraints,
        **CONSTRAINTS,
        "dtype": [StrOptions({"float32", "float64"})],
        "kappa": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 10,
        *,
        kappa: float = 0.01,
        beta: float = 0.9,
        init: Any = "auto",
        max_iter: int = 1500,
        tol: float = 1e-6,
        trace: TraceLevel = "basic",
        dtype: str = "float32",
        refine: bool = False,
        binarize: Binarize = None,
        callback: Callable[[FitProgress], Any] | None = None,
        n_jobs: int | None = None,
        memory_limit: float | str | None = None,
        device: str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kappa = kappa
        self.beta = beta
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.trace = trace
        self.dtype = dtype
        self.refine = refine
        self.binarize = binarize
        self.callback = callback
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.random_state = random_state

    @property
    def _relaxer(self) -> Relaxer:
        schedule = Printed(self.kappa, lam=0, rate=1, beta=self.beta, start="svd", dtype=self.dtype)
        return Relaxer.of(self, LambdaShaped(), schedule)

    def _lend(self, A: BooleanMatrix) -> AbstractContextManager[BooleanMatrix]:
        return self._relaxer.lend(A, self.n_components)

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        return relax_once(self, self._relaxer, A, generator, self._rounded)

    def _rounded(self, A: BooleanMatrix, state: State) -> tuple[Bools, Bools]:
        thresholds = (np.arange(1, _STEPS + 1) / _STEPS).astype(state.U.dtype)
        U, V, _ = round_on_grid(A, state.U, state.Vt, thresholds, n_jobs=self._threads)
        return U, V
