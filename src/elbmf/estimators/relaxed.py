"""What methods share that relax the factors to real numbers, descend by iPALM, and round.

A method says which regulariser it has and how strong that is, where it starts from, and how it
rounds; the loop over epochs, with trace, stop rule and callback, is here.
"""

import logging
import os
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from elbmf.boolean.product import Bools
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer, FittedFactors
from elbmf.estimators.resuming import Begun, Session, identity
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import memory_needed, paged
from elbmf.matrix.paging import available_memory
from elbmf.ranks.kept import StepFolder, remove_steps
from elbmf.ranks.path import Factors, FinishedSteps
from elbmf.relaxation.engines import DEVICES, Engine, Where, open_engine
from elbmf.relaxation.half_step import Iterate, Rows, StepRule
from elbmf.relaxation.kernels.half_step import HUGE
from elbmf.relaxation.palm import State, ipalm
from elbmf.relaxation.regularizers import Regularizer
from elbmf.relaxation.schedules import Schedule
from elbmf.relaxation.starts import singular_start, uniform_start
from elbmf.relaxation.stopping import StopReason, StopRule
from elbmf.relaxation.trace import Trace, TraceLevel
from elbmf.search.local import agree
from elbmf.utils.sizes import SizeText, bytes_of
from elbmf.utils.text import size_text

__all__ = [
    "Relaxation",
    "RelaxedFactorizer",
    "Run",
    "SingleRunFactorizer",
    "singular_vectors_are_quick",
]

_LOG = logging.getLogger(__name__)

Floats = NDArray[np.floating[Any]]

# Singular vectors take longer than epochs on more ones than this.
_ONES_FOR_SINGULAR_VECTORS = 10_000_000

# Components to reckon with where their number is yet to be found.
_RANK_UNKNOWN = 32

# Of the memory that is free, what a fit of stored data may take where nothing is said.
_SHARE_OF_MEMORY = 0.5

# Epochs without any change after which nothing is expected to change any more.
_PATIENCE = 20


def singular_vectors_are_quick(A: BooleanMatrix) -> bool:
    """Tell whether to start from singular vectors when nothing else is said."""
    return A.ones <= _ONES_FOR_SINGULAR_VECTORS


@dataclass(frozen=True)
class Relaxation:
    """What a method minimises in place of the Boolean loss, and by which steps.

    Parameters
    ----------
    regularizer : Regularizer
        What is added to ‖A − UV‖².
    schedule : Schedule
        How strong that is.
    beta : float
        Inertia.
    balance : bool
        Bring U and V to the same scale before every epoch.
    step : {"spectral", "authors"}
        Step size rule.
    """

    regularizer: Regularizer
    schedule: Schedule
    beta: float = 0.0
    balance: bool = False
    step: StepRule = "spectral"


class Run(NamedTuple):
    """What the epochs led to: the last state, why it was the last, and the trace."""

    state: State
    reason: StopReason
    history: dict[str, NDArray[Any]]


class RelaxedFactorizer(BooleanFactorizer):
    """Base of the methods that relax the factors, descend and round.

    A method implements `_relaxation` and calls `_relax` for each of its runs. Beside the common
    parameters it has ``init``, ``max_iter``, ``tol``, ``trace``, ``dtype``, ``memory_limit``,
    ``device``, ``checkpoint`` and ``checkpoint_every``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BooleanFactorizer._parameter_constraints,
        "init": [StrOptions({"auto", "svd", "random"}), tuple, list],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "trace": [StrOptions(set(get_args(TraceLevel)))],
        "dtype": [StrOptions({"float32", "float64"})],
        "memory_limit": [Interval(Real, 0, None, closed="neither"), SizeText(), None],
        "device": [StrOptions(DEVICES), None],
        "checkpoint": [str, HasMethods("__fspath__"), None],
        "checkpoint_every": [Interval(Integral, 1, None, closed="left")],
    }

    init: Any
    max_iter: int
    tol: float
    trace: TraceLevel
    dtype: str
    memory_limit: float | str | None
    device: str | None
    checkpoint: str | os.PathLike[str] | None
    checkpoint_every: int

    @abstractmethod
    def _relaxation(self, epochs: int) -> Relaxation:
        """Return what a run of so many epochs minimises."""

    @abstractmethod
    def _find(
        self, A: BooleanMatrix, generator: np.random.Generator, session: Session
    ) -> FittedFactors:
        """Factorize, or do what is left of that."""

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        session = Session.of(self, A, generator)
        return session.conclude(lambda: self._find(A, generator, session))

    def _factorize_at_best_rank(
        self, A: BooleanMatrix, seed: int, finished: FinishedSteps | None = None
    ) -> FittedFactors:
        if self.checkpoint is None:
            return super()._factorize_at_best_rank(A, seed, finished)
        session = Session.of(self, A, np.random.default_rng(seed))
        if session.result is None:
            given = self.random_state is not None
            note = identity(self, A) | ({"random_state": seed} if given else {})
            finished = StepFolder(self.checkpoint, note)
            seed = seed if given else finished.remember_seed(seed)
        find = super()._factorize_at_best_rank
        fitted = session.conclude(lambda: find(A, seed, finished))
        if session.result is not None:
            remove_steps(Path(self.checkpoint))
        return fitted

    def _refitting(
        self, A: BooleanMatrix, parameters: Callable[[int], dict[str, Any]] = lambda rank: {}
    ) -> Callable[[int, np.random.Generator], Factors]:
        # What is kept of a search over ranks are its steps, of which each such fit is one.
        return super()._refitting(A, lambda rank: {**parameters(rank), "checkpoint": None})

    @property
    def _where(self) -> Where:
        """Where slabs may live."""
        return Where(self._threads, self.device)

    def _placed(self, A: BooleanMatrix) -> AbstractContextManager[BooleanMatrix]:
        """Lend the data from the disk, if there is not enough memory for it."""
        if self.memory_limit is not None:
            limit = bytes_of(self.memory_limit)
        elif not A.in_memory:
            limit = int(_SHARE_OF_MEMORY * available_memory())
        else:
            return super()._placed(A)
        k = _RANK_UNKNOWN if self.n_components == "auto" else self._rank
        needed = memory_needed(A, k, np.dtype(self.dtype).itemsize)
        if needed <= limit:
            return super()._placed(A)
        _LOG.info("needs about %s of memory: worked on from the disk", size_text(needed))
        return paged(A, limit)

    def _start(
        self, A: BooleanMatrix, k: int, generator: np.random.Generator, run: int
    ) -> tuple[Rows, Rows]:
        """Return U₀ and V₀ᵀ of a run."""
        if not isinstance(self.init, str):
            return self._given_start(A, k)
        quick = singular_vectors_are_quick(A)
        kind = self.init if self.init != "auto" else "svd" if quick else "random"
        return self._drawn_start(A, k, generator, kind)

    def _relax(
        self,
        A: BooleanMatrix,
        k: int,
        epochs_at_most: int,
        engine: Engine,
        generator: np.random.Generator,
        run: int = 1,
        runs: int = 1,
        session: Session | None = None,
    ) -> Run:
        """Iterate from one start until the stop rule or the callback says so."""
        session = session or Session(generator)
        relaxation = self._relaxation(epochs_at_most)
        weight_of_ones = self._weights(A.shape).relaxed
        trace = Trace(A, self.trace, self._threads, weight_of_ones)
        stop = StopRule(self.tol, _PATIENCE, epochs_at_most, weight_of_ones * A.ones)
        begun = session.begun(trace, stop)
        if begun is None:
            U, Vt = self._start(A, k, generator, run)
            begun = Begun(Iterate(U), Iterate(Vt))
            del U, Vt
        epochs = ipalm(
            engine,
            begun.U,
            begun.Vt,
            schedule=relaxation.schedule,
            regularizer=relaxation.regularizer,
            beta=relaxation.beta,
            balance=relaxation.balance,
            step=relaxation.step,
            dtype=np.dtype(self.dtype),
            epoch=begun.epoch,
            seconds=begun.seconds,
        )
        del begun  # it may be large
        for state in epochs:
            trace.record(state)
            reason = stop(state)
            progress = (run - 1 + state.iteration / epochs_at_most) / runs
            stopped = self._tell(replace(state, run=run, runs=runs, progress=progress))
            if reason is None:
                session.keep_epoch(state, trace, stop, at_once=stopped)
            if stopped:
                reason = "callback"
            if reason is not None:
                break
        assert reason is not None  # the loop above has no other end
        _LOG.info("run %d: %d epochs (%s), gap %.2g", run, state.iteration, reason, state.gap)
        return Run(state, reason, trace.history())

    def _drawn_start(
        self,
        A: BooleanMatrix,
        k: int,
        generator: np.random.Generator,
        kind: str,
        scale: float = 1.0,
    ) -> tuple[Rows, Rows]:
        """Make U₀ and V₀ᵀ from the singular vectors, if there are any, or from noise."""
        number = np.dtype(self.dtype)
        if kind == "svd" and A.ones:
            return singular_start(A, k, generator, number, scale)
        return uniform_start(A.shape, k, generator, number, scale)

    def _given_start(self, A: BooleanMatrix, k: int) -> tuple[Rows, Rows]:
        """Return U₀ and V₀ᵀ as they were given, or say what is wrong with them."""
        n, m = A.shape
        if len(self.init) != 2:
            raise InputError(
                "init must be 'auto', 'svd', 'random' or a pair (U, V); "
                f"got {len(self.init)} items."
            )
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


class SingleRunFactorizer(RelaxedFactorizer):
    """Base of the methods that have one run and stay relaxed until its end."""

    @abstractmethod
    def _rounded(self, A: BooleanMatrix, state: State) -> tuple[Bools, Bools]:
        """Make Boolean factors of the last iterates."""

    def _find(
        self, A: BooleanMatrix, generator: np.random.Generator, session: Session
    ) -> FittedFactors:
        with open_engine(A, where=self._where) as engine:
            state, reason, history = self._relax(
                A, self._rank, self.max_iter, engine, generator, session=session
            )
            U, V = self._rounded(A, state)
        if reason != "callback":
            U = agree(A, U, V, self._weights(A.shape), self._threads)
        # Only what was to become Boolean can stall.
        why = "converged" if reason == "stalled" else reason
        return FittedFactors(U, V, state.iteration, why, history)


def _real_array(name: str, factor: Any) -> NDArray[np.float64]:
    """Return an initial factor as numbers, or say why it is none."""
    dense = factor.toarray() if sparse.issparse(factor) else np.asarray(factor)
    if dense.dtype.kind not in "biuf":
        raise InputError(f"init: {name} must be a matrix of real numbers; got {dense.dtype}.")
    return dense.astype(np.float64)
