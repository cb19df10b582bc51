"""Non-negative matrix factorization, rounded: without any pull towards 0 and 1."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from elbmf.binarizers import Binarize
from elbmf.boolean.coverage import cover
from elbmf.boolean.product import Bools
from elbmf.estimators.base import BooleanFactorizer, FittedFactors
from elbmf.estimators.relaxer import CONSTRAINTS, Relaxer, relax_once
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.palm import State
from elbmf.relaxation.regularizers import ElasticNet
from elbmf.relaxation.rounding import balanced, project
from elbmf.relaxation.schedules import Printed
from elbmf.relaxation.trace import TraceLevel
from elbmf.utils.progress import FitProgress

__all__ = ["RoundedNMF"]


class RoundedNMF(BooleanFactorizer):
    """Boolean matrix factorization by rounding a non-negative one.

    Minimises ½‖A − UV‖² + r(U) + r(V) over non-negative U and V by the same epochs as `ELBMF`,
    where r(x) = κx + λx²/2 is an elastic net; then brings them to one scale, clamps them to [0, 1]
    and rounds at ½.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number of components k. ``"auto"`` chooses the one that gives the shortest description of
        the data (MDL), which takes several times as long.
    l1 : float, default=0
        l₁ coefficient κ.
    l2 : float, default=0
        l₂ coefficient λ.
    beta : float, default=0.9
        Inertia β in [0, 1).
    balance : bool, default=True
        Bring each component to one scale in U and V before rounding: their product does not tell
        which share of it either has, and rounding at ½ depends on that. Else, they are rounded as
        the epochs leave them, as in the paper.
    init : {"auto", "svd", "random"} or (U, V), default="auto"
        Positive parts of the leading singular vectors with a little noise, or uniform random
        factors. ``"auto"`` is ``"svd"`` on up to ten million ones, else ``"random"``.

        In Python also your own, of shapes (n, k) and (k, m).
    max_iter : int, default=1500
        Epochs at most.
    tol : float, default=1e-6
        Change of the loss, relative to the number of ones, that counts as none: after twenty
        epochs without any, the run has converged.
    trace : {"basic", "full"}, default="basic"
        What `history_` records, the relaxed loss ‖A − UV‖² among it; ``"full"`` adds loss gap and
        Hamming process at some cost.
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
        **BooleanFactorizer._parameter_constraints,
        **CONSTRAINTS,
        "dtype": [StrOptions({"float32", "float64"})],
        "l1": [Interval(Real, 0, None, closed="left")],
        "l2": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, 1, closed="left")],
        "balance": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 10,
        *,
        l1: float = 0.0,
        l2: float = 0.0,
        beta: float = 0.9,
        balance: bool = True,
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
        self.l1 = l1
        self.l2 = l2
        self.beta = beta
        self.balance = balance
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
        schedule = Printed(self.l1, self.l2, rate=1, beta=self.beta, start="svd", dtype=self.dtype)
        return Relaxer.of(self, ElasticNet(), schedule)

    def _lend(self, A: BooleanMatrix) -> AbstractContextManager[BooleanMatrix]:
        return self._relaxer.lend(A, self.n_components)

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        return relax_once(self, self._relaxer, A, generator, self._rounded)

    def _rounded(self, A: BooleanMatrix, state: State) -> tuple[Bools, Bools]:
        relaxed = balanced(state.U, state.Vt) if self.balance else (state.U, state.Vt)
        # Clamping to [0, 1] first would move no entry across ½.
        U, V = project(relaxed[0]), np.ascontiguousarray(project(relaxed[1]).T)
        if cover(A, U, V, self._threads).loss > A.ones:
            return np.zeros_like(U), np.zeros_like(V)
        return U, V
