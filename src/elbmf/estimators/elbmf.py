"""ELBMF: elastic Boolean matrix factorization by proximal gradient descent (Sec. 2, Alg. 2)."""

import logging
import math
import os
import time
from collections.abc import Callable
from itertools import islice
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, Options, StrOptions

from elbmf.binarizers import Binarize
from elbmf.boolean.coverage import Weights, cover
from elbmf.boolean.packed import PackedFactors
from elbmf.errors import InputError, Placeholder, Setting
from elbmf.estimators.base import FittedFactors
from elbmf.estimators.distributed import ClusterFactorizer
from elbmf.estimators.relaxed import Relaxation, singular_vectors_are_quick
from elbmf.estimators.resuming import Session
from elbmf.estimators.streamed import SampledFactorizer
from elbmf.estimators.warm import WarmSteps
from elbmf.estimators.warning import warn_caller
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import savings
from elbmf.ranks.path import Steps
from elbmf.relaxation.engines import Engine, open_engine
from elbmf.relaxation.engines.cluster import DaskMatrix
from elbmf.relaxation.half_step import Rows, StepRule
from elbmf.relaxation.regularizers import ELB, ProxVariant
from elbmf.relaxation.rounding import project, round_by_loss
from elbmf.relaxation.schedules import Annealed, Printed, Schedule
from elbmf.relaxation.trace import TraceLevel
from elbmf.search.local import LocalSearch
from elbmf.search.moves import Place, Search, make_do, single_lines
from elbmf.utils.progress import FitProgress

__all__ = ["ELBMF"]

_LOG = logging.getLogger(__name__)

# What κ, λ and ν are when only some of them are given: the authors' own defaults.
_AUTHORS_KAPPA, _AUTHORS_LAM, _AUTHORS_RATE = 0.01, 0.02, 1.02

# What goes with the default schedule: inertia, and a start so small that the first half-step
# forgets U₀ and makes U from the data. Measured in benchmarks/quality.py.
_BETA = 0.9
_START_SCALE = 1e-3

# Runs with the default schedule without refinement, on matrices with up to so many ones; one run
# on larger ones.
_RUNS = 3
_ONES_FOR_SEVERAL_RUNS = 10_000_000

# What a search may take at effort 1: so many times the epochs of a run. An epoch takes about so
# many nanoseconds in all, for each one (or eight cells) and for each line, the latter two times k.
_SEARCH_TO_RELAXATION = 1.6
_EPOCH, _EPOCH_PER_ONE, _EPOCH_PER_LINE = 3e5, 0.18, 3.5

# With refinement, a second run has so many times the components, of which the least useful are
# dropped in the end. On planted tiles the first finds more, on real data the second. Each takes
# half of the time, unless that is too short to matter: ones times components below this.
_OVERSHOOT = 1.5
_SMALL = 500_000

# Runs that are pooled at a rank on the path to the best one, on data as small as that.
_RUNS_ON_SMALL = 8

# What a relaxation of a sample in `partial_fit` may take: epochs, and share of the effort.
_EPOCHS_ON_SAMPLE = 200
_EFFORT_ON_SAMPLE = 0.15

# Factors with a larger gap than this are rounded by loss, and not at ½.
_NOT_BOOLEAN = 1e-3


class _FiniteEffort(Interval):
    """Values of ``effort``; a message about any other names what to set for an endless search."""

    def __init__(self) -> None:
        super().__init__(Real, 0, None, closed="left")

    @property
    def parts(self) -> tuple[str | Setting, ...]:
        """Return what the values are, in the pieces of a message."""
        seconds = Setting("time_limit", Placeholder("SECONDS"))
        return (super().__str__(), " (to search until a time is up, set ", seconds, ")")

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


class ELBMF(SampledFactorizer, ClusterFactorizer):
    """Boolean matrix factorization by an elastic relaxation that is annealed until it is Boolean.

    Finds Boolean U and V such that U ∘ V is as close to a 0/1 matrix A as possible: iPALM on
    ‖A − UV‖² + R(U) + R(V), where R pulls every entry towards 0 or 1, more strongly with every
    epoch (Problem 2, Alg. 2). The default schedule needs no tuning.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number of components k. ``"auto"`` chooses the one that gives the shortest description of
        the data (MDL), which takes several times as long.

        In Python, `RankSearch` shows how the loss and other criteria depend on it.
    kappa : float, optional
        l₁ coefficient κ. When any of ``kappa``, ``lam`` and ``rate`` is given, they behave as the
        paper prints them, the others being 0.01, 0.02 and 1.02; when none is, the strength of the
        regularisation follows the Lipschitz constant and binds within ``max_iter`` epochs.
    lam : float, optional
        l₂ coefficient λ.
    rate : float or callable, optional
        Regularisation rate: c ≥ 1 stands for ν_t = c^t.

        In Python also a callable that maps t to ν_t.
    beta : float, optional
        Inertia β in [0, 1): 0.9 with the default schedule, 0 with the printed one.
    prox : {"exact", "paper", "alternative"}, default="exact"
        Proximal operator: the true minimiser, Eq. elprox as printed, or Eq. elprox_alt.
    step : {"spectral", "authors"}, default="spectral"
        Step size: 1/L with the spectral norm, or the authors' Frobenius rule.
    init : {"auto", "svd", "random"} or (U, V), default="auto"
        Positive parts of the leading singular vectors with a little noise, or uniform random
        factors (either scaled down with the default schedule, so that the first step makes U from
        the data). ``"auto"`` is ``"svd"`` with the default schedule on up to ten million ones, but
        after the first of ``n_init`` runs ``"random"``.

        In Python also your own, of shapes (n, k) and (k, m).
    n_init : int or "auto", default="auto"
        Runs from different starts, whose components are pooled when ``refine`` is on; else the
        best is kept. ``"auto"``, with the default schedule and up to ten million ones, is two runs
        that share ``max_iter`` on all but small data, the second with half as many components
        again, of which the least useful are dropped; or 3 runs when ``refine`` is off. Else, it is
        1, as it always is for your own initial factors.
    max_iter : int, default=500
        Epochs of a run at most. The default schedule spreads over them.
    tol : float, default=1e-6
        Boolean gap at which the factors count as Boolean, and change of the loss, relative to the
        number of ones, that counts as none.
    refine : bool, default=True
        Improve the rounded factors by Boolean local search, never for the worse. Without it, the
        factors are those of the paper's algorithm alone.

        In Python, `fit_transform` then agrees with `transform` but for rows where the search found
        something better.
    effort : float, default=1
        How long to search for better components after that, in multiples of about the time that
        the relaxation takes; 0 for not at all. More effort never ends with a higher loss, and the
        same effort always ends at the same place.
    time_limit : float, optional
        Seconds, from the beginning of the fit, until which to search, in place of ``effort``. The
        relaxation is not cut short. How far the search gets then depends on the machine.
    extra_weight : float, default=1
        What a covered zero costs, when an uncovered one costs 1. Infinity allows no covered zero at
        all: a factorization from below.
    trace : {"basic", "full"}, default="basic"
        What `history_` records; ``"full"`` adds loss gap and Hamming process at some cost.
    dtype : {"float32", "float64"}, default="float32"
        Number type of the relaxed factors.
    binarize : float, str or transformer, optional
        For input that is not 0/1: a threshold, above which entries are ones, or ``nonzero``,
        ``positive``, ``zscore[:CUTOFF][:SCOPE]`` (1.645) or ``quantile[:SHARE][:SCOPE]`` (0.05),
        of ``columns`` (default), ``rows`` or ``all``.

        In Python also a transformer.
    callback : callable, optional
        Called with a `State` after each epoch; a true return value ends the fit, with the factors
        as they are, rounded. With ``refine``, a few turns of local search make the best of them,
        which take about as long as some ten epochs.
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
        Epochs from one checkpoint to the next; in the search, about the time of so many. Fewer
        are written where they would take more than a twentieth of the time.
    random_state : int, RandomState instance or None
        Seed of the random start.

    Attributes
    ----------
    components_, membership_, n_components_, reconstruction_err_, n_iter_, stop_reason_, history_
        As of every method, see `BooleanFactorizer`; of the best run.
    run_losses_ : list of int
        Loss of every run, before the search.
    bits_saved_ : ndarray of float64, of shape (n_components,)
        Bits by which each component shortens the description of the data, given those before it
        (see `elbmf.ranks.criteria.savings`): the most first, as a rule. Only with ``refine``.
    stages_ : dict of str to int
        What the factors cost after each stage: ``"rounding"``, ``"refinement"`` (of the best run),
        ``"reduction"`` (to the components asked for, where a run had more),
        ``"recombination"`` (of all runs, with single rows and columns) and ``"search"``. It is
        their loss, unless ``extra_weight`` makes errors cost something else.
    n_rows_seen_, n_batches_ : int
        Rows read and calls of `partial_fit`, only after it. Of the above there are then only
        ``components_`` and ``n_components_``.

    Notes
    -----
    `partial_fit` keeps a uniform sample of the rows that have come, up to 4096 of them and four
    million ones, and the components. Each time a part of the sample is new, it chooses anew among
    the components at hand, what a search makes of them, and what a relaxation of the sample finds;
    in a stream longer than the sample, only among those that pay in rows other than the ones they
    were made from. ``init`` must not be factors of your own; ``n_init``, ``time_limit``,
    ``callback`` and ``checkpoint`` are of `fit` alone; ``max_iter`` and ``effort`` count less.

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
        **ClusterFactorizer._parameter_constraints,
        "kappa": [Interval(Real, 0, None, closed="left"), None],
        "lam": [Interval(Real, 0, None, closed="left"), None],
        "rate": [Interval(Real, 1, None, closed="left"), callable, None],
        "beta": [Interval(Real, 0, 1, closed="left"), None],
        "prox": [StrOptions(set(get_args(ProxVariant)))],
        "step": [StrOptions(set(get_args(StepRule)))],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "effort": [_FiniteEffort()],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "extra_weight": [Interval(Real, 0, None, closed="neither"), Options(Real, {np.inf})],
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 10,
        *,
        kappa: float | None = None,
        lam: float | None = None,
        rate: float | Callable[[int], float] | None = None,
        beta: float | None = None,
        prox: ProxVariant = "exact",
        step: StepRule = "spectral",
        init: Any = "auto",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 500,
        tol: float = 1e-6,
        refine: bool = True,
        effort: float = 1.0,
        time_limit: float | None = None,
        extra_weight: float = 1.0,
        trace: TraceLevel = "basic",
        dtype: str = "float32",
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
        self.effort = effort
        self.time_limit = time_limit
        self.extra_weight = extra_weight
        self.trace = trace
        self.dtype = dtype
        self.binarize = binarize
        self.callback = callback
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.random_state = random_state

    def _find(
        self, A: BooleanMatrix, generator: np.random.Generator, session: Session
    ) -> FittedFactors:
        if isinstance(A, DaskMatrix):
            fitted = self._find_on_cluster(A, generator, session)
            self._warn_unless_boolean(fitted)
            return fitted
        weights = self._weights(A.shape)
        local = LocalSearch(A, weights, self._threads) if self.refine else None
        runs = session.runs
        with open_engine(A, weights.relaxed, self._where) as engine:
            plan = self._plan(A)
            for run, (k, epochs) in islice(enumerate(plan, start=1), len(runs), None):
                if runs and (runs[-1][0].stop_reason == "callback" or runs[-1][1] == 0):
                    break
                fitted = self._run(A, k, epochs, engine, generator, run, len(plan), local, session)
                session.keep_run(fitted, cover(A, fitted.U, fitted.V, self._threads).cost(weights))
        stopped = runs[-1][0].stop_reason == "callback"
        if local is not None and not stopped:
            best = self._improve(local, [run for run, _ in runs], generator, session)
        else:
            best, cost = min(runs, key=lambda run: run[1])
            best.stages = {"rounding": cost}
            best.run_losses = [cost for _, cost in runs]
        if stopped:
            # It ends the fit, whichever run was the best until then.
            best.stop_reason = "callback"
        if local is not None and stopped:
            factors = make_do(local, local.pack(best.U, best.V, with_spare=True), self._rank)
            best.U, best.V = factors.to_arrays()
            best.stages["refinement"] = factors.cost
        _LOG.info("losses of the runs: %s, of the stages: %s", best.run_losses, best.stages)
        return best

    def _refined(self, A: BooleanMatrix, fitted: FittedFactors) -> FittedFactors:
        """Leave the factors: they were refined before the runs were recombined."""
        self._warn_unless_boolean(fitted)
        return fitted

    def _arranged(self, A: BooleanMatrix, fitted: FittedFactors) -> FittedFactors:
        """Put the components that shorten the description most first.

        In this order, each row gets what `transform` would give it, unless it has better: of
        memberships that are equally good, which one that is depends on the order.
        """
        if not self.refine or isinstance(A, DaskMatrix):
            return fitted
        order, self.bits_saved_ = savings(A, fitted.U, fitted.V, self._threads)
        fitted.U, fitted.V = fitted.U[:, order], fitted.V[order]
        if fitted.stop_reason == "callback":
            return fitted
        local = LocalSearch(A, self._weights(A.shape), self._threads)
        factors = local.pack(fitted.U, fitted.V)
        local.settle(factors)
        before, (fitted.U, fitted.V) = (fitted.U, fitted.V), factors.to_arrays()
        if fitted.stages:
            fitted.stages["search"] = factors.cost
        if not all(map(np.array_equal, before, (fitted.U, fitted.V))):
            in_order = savings(A, fitted.U, fitted.V, self._threads, in_order=True)
            self.bits_saved_ = in_order.saved
        return fitted

    def _steps(self, A: BooleanMatrix) -> Steps:
        """From rank to rank by local search, or without refinement by starting anew."""
        if not self.refine:
            return super()._steps(A)
        local = LocalSearch(A, self._weights(A.shape), self._threads)

        def parameters(rank: int) -> dict[str, Any]:
            # A path comes from more components anyway: a run that starts with more adds little to
            # it. But runs from other starts find what it has missed.
            small = A.ones * rank < _SMALL
            return {"n_init": _RUNS_ON_SMALL if small else 1} if self.n_init == "auto" else {}

        fit = self._refitting(A, parameters)
        return WarmSteps(local, fit, lambda rank: self._search_work(A, rank), self.effort)

    @property
    def _sample_parameters(self) -> dict[str, Any]:
        if not isinstance(self.init, str):
            raise InputError(
                "partial_fit cannot start from factors of your own, for rows come and go; got "
                "init=(U, V). Set init to 'auto', 'svd' or 'random', or use fit."
            )
        quick = {"max_iter": min(self.max_iter, _EPOCHS_ON_SAMPLE)} if self._annealed else {}
        effort = _EFFORT_ON_SAMPLE * self.effort
        of_a_fit = dict.fromkeys(("time_limit", "callback", "checkpoint"))
        return {**quick, **of_a_fit, "n_init": 1, "effort": effort}

    def _work_on_sample(self, sample: BooleanMatrix) -> float:
        return _EFFORT_ON_SAMPLE * self._search_work(sample, self._rank)

    def _improve(
        self,
        local: LocalSearch,
        runs: list[FittedFactors],
        generator: np.random.Generator,
        session: Session,
    ) -> FittedFactors:
        """Refine what the runs have found, recombine it, and search on from there."""
        stopped = False
        work, deadline = self._search_work(local.A, self._rank), np.inf
        if self.time_limit is not None:
            work, deadline = np.inf, session.began + self.time_limit

        def observe(cost: int, progress: float) -> bool:
            nonlocal stopped
            report = FitProgress(
                iteration=runs[-1].n_iter,
                loss=cost,
                seconds=time.perf_counter() - session.began,
                stage="search",
                progress=progress,
            )
            stopped = self._tell(report)
            return stopped

        with Search(local, generator, work, deadline, observe) as search:
            position, start = session.place or self._recombined(search, runs, session)
            best = runs[position]
            keep = session.keeper(position, self._epoch_work(local.A, self._rank))
            factors = search.improve(start, keep)
        if stopped:
            session.write()
            best.stop_reason = "callback"
        best.stages["search"] = factors.cost
        best.U, best.V = factors.to_arrays()
        return best

    def _recombined(
        self, search: Search, runs: list[FittedFactors], session: Session
    ) -> tuple[int, PackedFactors | Place]:
        """Refine what the runs have found, and recombine it; tell which of them was the best."""
        k, local, reduced = self._rank, search.local, list(session.reduced)
        search.work += session.work
        for fitted in runs[len(reduced) :]:
            factors = local.pack(fitted.U, fitted.V, with_spare=True)
            fitted.stages = {"rounding": factors.cost}
            local.descend(factors)
            fitted.stages["refinement"] = factors.cost
            reduced.append(search.reduce(factors, k))
            fitted.stages["reduction"] = reduced[-1].cost
            if search.interrupted:
                break
            session.keep_reduced(reduced[-1], search.work)
        run_losses = [factors.cost for factors in reduced]
        position = int(np.argmin(run_losses))
        best, factors = runs[position], reduced[position]
        best.run_losses = run_losses
        if factors.cost and not search.over:
            child = search.recombine([*reduced, *single_lines(local, k)], k)
            if child.cost < factors.cost:
                factors = child
        best.stages["recombination"] = factors.cost
        return position, factors

    def _run(
        self,
        A: BooleanMatrix,
        k: int,
        epochs_at_most: int,
        engine: Engine,
        generator: np.random.Generator,
        run: int,
        runs: int,
        local: LocalSearch | None,
        session: Session,
    ) -> FittedFactors:
        """Iterate from one start until the stop rule says so, then round."""
        state, reason, history = self._relax(
            A, k, epochs_at_most, engine, generator, run, runs, session
        )
        if local is not None and state.gap > _NOT_BOOLEAN:
            U, V = round_by_loss(local.A, state.U, state.Vt, local.weights, local.n_jobs)
        else:
            U, Vt = state.mapped(project)
            V = np.ascontiguousarray(Vt.T)
        return FittedFactors(U, V, state.iteration, reason, history)

    def _weights(self, shape: tuple[int, int]) -> Weights:
        return Weights.of(self.extra_weight, shape)

    def _plan(self, A: BooleanMatrix) -> list[tuple[int, int]]:
        """Return the components of each run, and its epochs at most."""
        k = self._rank
        run = (k, self.max_iter)
        if not isinstance(self.init, str):
            return [run]
        if self.n_init != "auto":
            return [run] * self.n_init
        if not self._annealed or A.ones > _ONES_FOR_SEVERAL_RUNS:
            return [run]
        if not self.refine:
            return [run] * _RUNS
        more = round(_OVERSHOOT * k)
        if more > min(A.shape):
            return [run]
        epochs = self.max_iter if A.ones * k < _SMALL else self.max_iter / 2
        return [(k, math.ceil(epochs)), (more, math.ceil(epochs / _OVERSHOOT))]

    def _search_work(self, A: BooleanMatrix, k: int) -> float:
        """Estimate what the search may take, about in nanoseconds."""
        return self.effort * _SEARCH_TO_RELAXATION * self.max_iter * self._epoch_work(A, k)

    @staticmethod
    def _epoch_work(A: BooleanMatrix, k: int) -> float:
        """Estimate what an epoch takes, about in nanoseconds."""
        ones = min(A.ones, A.cells / 8)
        return _EPOCH + k * (_EPOCH_PER_ONE * ones + _EPOCH_PER_LINE * sum(A.shape))

    @property
    def _annealed(self) -> bool:
        """Whether the schedule is the default one."""
        return self.kappa is None and self.lam is None and self.rate is None

    def _relaxation(self, epochs: int) -> Relaxation:
        beta = self.beta
        if beta is None:
            beta = _BETA if self._annealed else 0.0
        return Relaxation(
            ELB(self.prox), self._schedule(epochs), beta, balance=self._annealed, step=self.step
        )

    def _schedule(self, epochs: int) -> Schedule:
        if self._annealed:
            return Annealed(epochs)
        return Printed(
            kappa=_AUTHORS_KAPPA if self.kappa is None else self.kappa,
            lam=_AUTHORS_LAM if self.lam is None else self.lam,
            rate=_AUTHORS_RATE if self.rate is None else self.rate,
        )

    def _start(
        self, A: BooleanMatrix, k: int, generator: np.random.Generator, run: int
    ) -> tuple[Rows, Rows]:
        if not isinstance(self.init, str):
            return self._given_start(A, k)
        kind = self.init
        if kind == "auto":
            first = run == 1 or (self.refine and self.n_init == "auto")
            quick = self._annealed and first and singular_vectors_are_quick(A)
            kind = "svd" if quick else "random"
        scale = _START_SCALE if self._annealed else 1.0
        return self._drawn_start(A, k, generator, kind, scale)

    def _warn_unless_boolean(self, fitted: FittedFactors) -> None:
        """Say what to change when the projection had to do the rounding."""
        if fitted.stop_reason not in ("stalled", "max_iter"):
            return
        remedy = "Raise max_iter."
        if not self._annealed:
            remedy = (
                "Raise rate or lam so that λ_t grows further, raise max_iter, or leave kappa, lam "
                "and rate unset for the schedule that ends Boolean by itself."
            )
        gap, lam = fitted.history["gap"][-1], fitted.history["lam"][-1]
        warn_caller(
            f"Stopped after {fitted.n_iter} epochs ({fitted.stop_reason}) with a Boolean gap of "
            f"{gap:.2g} (tol={self.tol:g}) at λ_t={lam:.3g}; the factors were rounded, which may "
            f"cost some loss. {remedy}",
            ConvergenceWarning,
        )
