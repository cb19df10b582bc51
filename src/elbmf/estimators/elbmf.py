"""ELBMF: elastic Boolean matrix factorization by proximal gradient descent (Sec. 2, Alg. 2)."""

import logging
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from elbmf.engines import MemoryEngine
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer, FittedFactors
from elbmf.matrix import BooleanMatrix
from elbmf.palm import State, ipalm
from elbmf.regularizers import ELB, ProxVariant
from elbmf.rounding import project
from elbmf.schedules import Annealed, Printed, Schedule
from elbmf.slabs import cut
from elbmf.step import StepRule
from elbmf.stopping import StopReason, StopRule
from elbmf.tracing import Trace, TraceLevel

__all__ = ["ELBMF"]

_LOG = logging.getLogger(__name__)

# What κ, λ and ν are when only some of them are given: the authors' own defaults.
_AUTHORS_KAPPA, _AUTHORS_LAM, _AUTHORS_RATE = 0.01, 0.02, 1.02

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
    beta : float, default=0.0
        Inertia β in [0, 1).
    prox : {"exact", "paper", "alternative"}, default="exact"
        Proximal operator: the true minimiser, Eq. elprox as printed, or Eq. elprox_alt.
    step : {"spectral", "authors"}, default="spectral"
        Step size: 1/L with the spectral norm, or the authors' Frobenius rule.
    init : "random" or (U, V), default="random"
        Uniform random factors, or your own, of shapes (n, k) and (k, m).
    max_iter : int, default=500
        Epochs at most. The default schedule spreads over them.
    tol : float, default=1e-6
        Boolean gap at which the factors count as Boolean, and change of the loss, relative to the
        number of ones, that counts as none.
    trace : {"basic", "full"}, default="basic"
        What `history_` records; ``"full"`` adds loss gap and Hamming process at some cost.
    dtype : {"float32", "float64"}, default="float32"
        Number type of the relaxed factors.
    binarize : float, optional
        Threshold for input that is not 0/1: entries above it are ones.
    callback : callable, optional
        Called with the `State` after each epoch; a true return value stops the run.
    n_jobs : int, optional
        Threads. All cores by default; the result does not depend on it.
    random_state : int, RandomState instance or None
        Seed of the random start.

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
        "beta": [Interval(Real, 0, 1, closed="left")],
        "prox": [StrOptions(set(get_args(ProxVariant)))],
        "step": [StrOptions(set(get_args(StepRule)))],
        "init": [StrOptions({"random"}), tuple, list],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
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
        beta: float = 0.0,
        prox: ProxVariant = "exact",
        step: StepRule = "spectral",
        init: Any = "random",
        max_iter: int = 500,
        tol: float = 1e-6,
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
        self.max_iter = max_iter
        self.tol = tol
        self.trace = trace
        self.dtype = dtype
        self.binarize = binarize
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        U, Vt = self._start(A, generator)
        trace = Trace(A, self.trace)
        stop = StopRule(self.tol, _PATIENCE, self.max_iter, A.ones)
        with MemoryEngine(cut(A), self.n_jobs) as engine:
            epochs = ipalm(
                engine,
                U,
                Vt,
                schedule=self._schedule(),
                regularizer=ELB(self.prox),
                beta=self.beta,
                step=self.step,
                dtype=np.dtype(self.dtype),
            )
            for state in epochs:
                trace.record(state)
                reason = stop(state)
                if self.callback is not None and self.callback(state):
                    reason = reason or "callback"
                if reason is not None:
                    break
        assert reason is not None  # the loop above has no other end
        _LOG.info("stopped after %d epochs (%s), gap %.2g", state.epoch, reason, state.gap)
        self._warn_unless_boolean(state, reason)
        return FittedFactors(
            U=project(state.U),
            V=np.ascontiguousarray(project(state.Vt).T),
            n_iter=state.epoch,
            stop_reason=reason,
            history=trace.history(),
        )

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
            return generator.random((n, k), dtype=number), generator.random((m, k), dtype=number)
        if len(self.init) != 2:
            raise InputError(f"init must be 'random' or a pair (U, V); got {len(self.init)} items.")
        U, V = (np.asarray(factor, dtype=np.float64) for factor in self.init)
        for name, factor, shape in (("U", U, (n, k)), ("V", V, (k, m))):
            if factor.shape != shape:
                raise InputError(
                    f"init: {name} must have shape {shape} for n_components={k} and a {n}×{m} "
                    f"matrix; got {factor.shape}."
                )
            if not np.isfinite(factor).all():
                raise InputError(f"init: {name} has entries that are not finite. Replace them.")
        return U, V.T

    def _warn_unless_boolean(self, state: State, reason: StopReason) -> None:
        """Say what to change when the projection had to do the rounding."""
        if reason in ("boolean", "settled", "callback"):
            return
        if isinstance(self._schedule(), Annealed):
            remedy = "Raise max_iter."
        else:
            remedy = (
                "Raise rate or lam so that λ_t grows further, raise max_iter, or leave kappa, lam "
                "and rate unset for the schedule that ends Boolean by itself."
            )
        warnings.warn(
            f"Stopped after {state.epoch} epochs ({reason}) with a Boolean gap of "
            f"{state.gap:.2g} (tol={self.tol:g}) at λ_t={state.lam:.3g}; the factors were rounded, "
            f"which may cost some loss. {remedy}",
            ConvergenceWarning,
            stacklevel=4,
        )
