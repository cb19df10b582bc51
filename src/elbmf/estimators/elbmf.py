"""ELBMF: elastic Boolean matrix factorization by proximal gradient descent (Sec. 2, Alg. 2)."""

import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from elbmf.boolean import cover
from elbmf.engines import Engine, MemoryEngine
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer, FittedFactors
from elbmf.kernels.steps import HUGE
from elbmf.matrix import BooleanMatrix
from elbmf.palm import State, ipalm
from elbmf.refine import refine
from elbmf.regularizers import ELB, ProxVariant
from elbmf.rounding import project
from elbmf.schedules import Annealed, Printed, Schedule
from elbmf.slabs import cut
from elbmf.step import StepRule
from elbmf.stopping import StopRule
from elbmf.tracing import Trace, TraceLevel

__all__ = ["ELBMF"]

_LOG = logging.getLogger(__name__)

# What κ, λ and ν are when only some of them are given: the authors' own defaults.
_AUTHORS_KAPPA, _AUTHORS_LAM, _AUTHORS_RATE = 0.01, 0.02, 1.02

# What goes with the default schedule: inertia, and a start so small that the first half-step
# forgets U₀ and makes U from the data. Measured in benchmarks/quality.py.
_BETA = 0.9
_START_SCALE = 1e-3

# Runs with the default schedule, on matrices with up to so many ones; one run on larger ones.
_RUNS = 3
_ONES_FOR_SEVERAL_RUNS = 10_000_000

# Epochs without any change after which nothing is expected to change any more.
_PATIENCE = 20


class ELBMF(BooleanFactorizer):
    """Boolean matrix factorization by an elastic relaxation that is annealed until it is Boolean.

    Finds Boolean U and V such that U ∘ V is as close to a 0/1 matrix A as possible: iPALM on
    ‖A − UV‖² + R(U) + R(V), where R pulls every entry towards 0 or 1, more strongly with every
    epoch (Problem 2, Alg. 2). The default schedule needs no tuning.

    Parameters
    ----------
    n_components : int, default=10
        Number of components k.
    kappa : float, optional
        l₁ coefficient κ. When any of ``kappa``, ``lam`` and ``rate`` is given, they behave as the
        paper prints them, the others being 0.01, 0.02 and 1.02; when none is, the strength of the
        regularisation follows the Lipschitz constant and binds within ``max_iter`` epochs.
    lam : float, optional
        l₂ coefficient λ.
    rate : float or callable, optional
        Regularisation rate: a float c ≥ 1 stands for ν_t = c^t; a callable maps t to ν_t.
    beta : float, optional
        Inertia β in [0, 1): 0.9 with the default schedule, 0 with the printed one.
    prox : {"exact", "paper", "alternative"}, default="exact"
        Proximal operator: the true minimiser, Eq. elprox as printed, or Eq. elprox_alt.
    step : {"spectral", "authors"}, default="spectral"
        Step size: 1/L with the spectral norm, or the authors' Frobenius rule.
    init : "random" or (U, V), default="random"
        Uniform random factors (scaled down with the default schedule, so that the first step makes
        U from the data), or your own, of shapes (n, k) and (k, m).
    n_init : int or "auto", default="auto"
        Runs from different random starts, of which the best is kept. ``"auto"`` is 3 with the
        default schedule on matrices of up to ten million ones, else 1; it is always 1 for your own
        initial factors.
    max_iter : int, default=500
        Epochs of a run at most. The default schedule spreads over them.
    tol : float, default=1e-6
        Boolean gap at which the factors count as Boolean, and change of the loss, relative to the
        number of ones, that counts as none.
    refine : bool, default=True
        Improve the rounded factors by Boolean local search, never for the worse. `fit_transform`
        then agrees with `transform` but for rows where the search found something better. Without
        it, the factors are those of the paper's algorithm alone.
    trace : {"basic", "full"}, default="basic"
        What `history_` records; ``"full"`` adds loss gap and Hamming process at some cost.
    dtype : {"float32", "float64"}, default="float32"
        Number type of the relaxed factors.
    binarize : float, optional
        Threshold for input that is not 0/1: entries above it are ones.
    callback : callable, optional
        Called with the `State` after each epoch; a true return value ends the fit at once, with the
        factors as they are, rounded.
    n_jobs : int, optional
        Threads. All cores by default, and for -1; the result does not depend on it.
    random_state : int, RandomState instance or None
        Seed of the random start.

    Attributes
    ----------
    components_, membership_, reconstruction_err_, n_iter_, stop_reason_, history_
        As of every method, see `BooleanFactorizer`; of the best run.
    run_losses_ : list of int
        Loss of every run.

    References
    ----------
    S. Dalleiger, J. Vreeken. Efficiently Factorizing Boolean Matrices using Proximal Gradient
    Descent. NeurIPS 2022.

    Examples
    --------
    >>> from elbmf import ELBMF
    >>> A = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    >>> model = ELBMF(n_components=2, random_state=0).fit(A)
    >>> model.reconstruction_err_
    0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BooleanFactorizer._parameter_constraints,
        "kappa": [Interval(Real, 0, None, closed="left"), None],
        "lam": [Interval(Real, 0, None, closed="left"), None],
        "rate": [Interval(Real, 1, None, closed="left"), callable, None],
        "beta": [Interval(Real, 0, 1, closed="left"), None],
        "prox": [StrOptions(set(get_args(ProxVariant)))],
        "step": [StrOptions(set(get_args(StepRule)))],
        "init": [StrOptions({"random"}), tuple, list],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "refine": ["boolean"],
        "trace": [StrOptions(set(get_args(TraceLevel)))],
        "dtype": [StrOptions({"float32", "float64"})],
        "callback": [callable, None],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        kappa: float | None = None,
        lam: float | None = None,
        rate: float | Callable[[int], float] | None = None,
        beta: float | None = None,
        prox: ProxVariant = "exact",
        step: StepRule = "spectral",
        init: Any = "random",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 500,
        tol: float = 1e-6,
        refine: bool = True,
        trace: TraceLevel = "basic",
        dtype: str = "float32",
        binarize: float | None = None,
        callback: Callable[[State], Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kappa = kappa
        self.lam = lam
        self.rate = rate
        self.beta = beta
        self.prox = prox
        self.step = step
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.refine = refine
        self.trace = trace
        self.dtype = dtype
        self.binarize = binarize
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        best: FittedFactors | None = None
        runs = self._runs(A)
        losses: list[int] = []
        with MemoryEngine(cut(A), self._threads) as engine:
            for run in range(1, runs + 1):
                fitted = self._run(A, engine, generator, run, runs)
                stopped = fitted.stop_reason == "callback"
                if self.refine and not stopped:
                    fitted.U, fitted.V = refine(A, fitted.U, fitted.V, self._threads)
                loss = cover(A, fitted.U, fitted.V, self._threads).loss
                if best is None or loss < min(losses):
                    best = fitted
                losses.append(loss)
                if stopped or loss == 0:
                    break
        assert best is not None  # there is at least one run
        _LOG.info("losses of the runs: %s", losses)
        self.run_losses_ = losses
        self._warn_unless_boolean(best)
        return best

    def _run(
        self,
        A: BooleanMatrix,
        engine: Engine,
        generator: np.random.Generator,
        run: int,
        runs: int,
    ) -> FittedFactors:
        """Iterate from one start until the stop rule says so, then project."""
        schedule = self._schedule()
        annealed = isinstance(schedule, Annealed)
        beta = self.beta if self.beta is not None else _BETA if annealed else 0.0
        trace = Trace(A, self.trace, self._threads)
        stop = StopRule(self.tol, _PATIENCE, self.max_iter, A.ones)
        epochs = ipalm(
            engine,
            *self._start(A, generator),
            schedule=schedule,
            regularizer=ELB(self.prox),
            beta=beta,
            balance=annealed,
            step=self.step,
            dtype=np.dtype(self.dtype),
        )
        for state in epochs:
            trace.record(state)
            reason = stop(state)
            if self.callback is not None and self.callback(replace(state, run=run, runs=runs)):
                reason = "callback"
            if reason is not None:
                break
        assert reason is not None  # the loop above has no other end
        _LOG.info("run %d: %d epochs (%s), gap %.2g", run, state.epoch, reason, state.gap)
        return FittedFactors(
            U=project(state.U),
            V=np.ascontiguousarray(project(state.Vt).T),
            n_iter=state.epoch,
            stop_reason=reason,
            history=trace.history(),
        )

    def _runs(self, A: BooleanMatrix) -> int:
        if not isinstance(self.init, str):
            return 1
        if self.n_init != "auto":
            return self.n_init
        several = isinstance(self._schedule(), Annealed) and A.ones <= _ONES_FOR_SEVERAL_RUNS
        return _RUNS if several else 1

    def _schedule(self) -> Schedule:
        if self.kappa is None and self.lam is None and self.rate is None:
            return Annealed(self.max_iter)
        return Printed(
            kappa=_AUTHORS_KAPPA if self.kappa is None else self.kappa,
            lam=_AUTHORS_LAM if self.lam is None else self.lam,
            rate=_AUTHORS_RATE if self.rate is None else self.rate,
        )

    def _start(
        self, A: BooleanMatrix, generator: np.random.Generator
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return U₀ and V₀ᵀ."""
        (n, m), k = A.shape, self.n_components
        if isinstance(self.init, str):
            number = np.dtype(self.dtype)
            scale = number.type(_START_SCALE if isinstance(self._schedule(), Annealed) else 1)
            U, Vt = (generator.random((length, k), dtype=number) for length in (n, m))
            for factor in (U, Vt):
                factor *= scale
            return U, Vt
        if len(self.init) != 2:
            raise InputError(f"init must be 'random' or a pair (U, V); got {len(self.init)} items.")
        U, V = (_real_array(name, factor) for name, factor in zip("UV", self.init, strict=True))
        for name, factor, shape in (("U", U, (n, k)), ("V", V, (k, m))):
            if factor.shape != shape:
                raise InputError(
                    f"init: {name} must have shape {shape} for n_components={k} and a {n}×{m} "
                    f"matrix; got {factor.shape}."
                )
            if not np.isfinite(factor).all():
                raise InputError(f"init: {name} has entries that are not finite. Replace them.")
            if np.abs(factor).max(initial=0) > HUGE:
                raise InputError(
                    f"init: {name} has entries beyond ±{HUGE:g}; expected values around 0 and 1. "
                    "Scale it down."
                )
        return U, V.T

    def _warn_unless_boolean(self, fitted: FittedFactors) -> None:
        """Say what to change when the projection had to do the rounding."""
        if fitted.stop_reason not in ("stalled", "max_iter"):
            return
        remedy = "Raise max_iter."
        if not isinstance(self._schedule(), Annealed):
            remedy = (
                "Raise rate or lam so that λ_t grows further, raise max_iter, or leave kappa, lam "
                "and rate unset for the schedule that ends Boolean by itself."
            )
        gap, lam = fitted.history["gap"][-1], fitted.history["lam"][-1]
        warnings.warn(
            f"Stopped after {fitted.n_iter} epochs ({fitted.stop_reason}) with a Boolean gap of "
            f"{gap:.2g} (tol={self.tol:g}) at λ_t={lam:.3g}; the factors were rounded, which may "
            f"cost some loss. {remedy}",
            ConvergenceWarning,
            stacklevel=2,
        )


def _real_array(name: str, factor: Any) -> NDArray[np.float64]:
    """Return an initial factor as numbers, or say why it is none."""
    dense = factor.toarray() if sparse.issparse(factor) else np.asarray(factor)
    if dense.dtype.kind not in "biuf":
        raise InputError(f"init: {name} must be a matrix of real numbers; got {dense.dtype}.")
    return dense.astype(np.float64)
