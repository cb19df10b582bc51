"""The part of a method that relaxes the factors to real numbers and descends by iPALM.

A method says which regulariser it has, which schedule, and how it rounds; the loop over epochs,
with trace, stop rule, checkpoints and callback, is here.
"""

import logging
import os
import time
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.boolean.fitted import FittedFactors
from elbmf.boolean.product import Bools
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer, estimator, lent
from elbmf.estimators.resuming import Begun, Session
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import memory_needed, paged
from elbmf.matrix.paging import available_memory
from elbmf.relaxation.engines import DEVICES, Engine, Where, open_engine
from elbmf.relaxation.half_step import Iterate, Rows
from elbmf.relaxation.kernels.half_step import HUGE
from elbmf.relaxation.palm import State, ipalm
from elbmf.relaxation.regularizers import Regularizer
from elbmf.relaxation.schedules import Schedule
from elbmf.relaxation.starts import singular_start, uniform_start
from elbmf.relaxation.stopping import StopReason, StopRule
from elbmf.relaxation.trace import Trace, TraceLevel
from elbmf.search.local import agree
from elbmf.utils.constraints import HasMethods, Interval, StrOptions
from elbmf.utils.sizes import SizeText, bytes_of
from elbmf.utils.text import size_text
from elbmf.utils.tuning import TUNING

__all__ = ["OneRunFactorizer", "RelaxationParameters", "Relaxed", "Relaxer"]

_LOG = logging.getLogger(__name__)

# Components to reckon with where their number is yet to be found.
_RANK_UNKNOWN = 32

# Of the memory that is free, what a fit of stored data may take where nothing is said.
_SHARE_OF_MEMORY = 0.5


@estimator
class RelaxationParameters:
    """What a method that relaxes takes beside the common parameters.

    Parameters
    ----------
    init : {"auto", "svd", "random"} or (U, V), default="auto"
        Positive parts of the leading singular vectors with a little noise, or uniform random
        factors. ``"auto"`` is ``"svd"`` on up to ten million ones, else ``"random"``.

        In Python also your own, of shapes (n, k) and (k, m).
    max_iter : int, default=1500
        The most epochs.
    tol : float, default=1e-6
        Change of the loss, relative to the number of ones, that counts as no change: after twenty
        epochs without any, the run has converged.
    trace : {"basic", "full"}, default="basic"
        What `history_` records; ``"full"`` adds loss gap and Hamming process at some cost.
    callback : callable, optional
        Called after each epoch with a `FitProgress`, which is a `State` and has the relaxed
        factors. A true return value ends the fit at once with the current factors, rounded.
    memory_limit : float or str, optional
        Memory that the fit may take on top of the program itself, in bytes or as ``"300MB"`` or
        ``"2GiB"``. Data that needs more is processed from disk; the result is the same.
    device : str, optional
        Run the epochs with torch on this device: ``cpu``, ``cuda`` or ``mps``. By default, our own
        kernels run on the processor.
    checkpoint : path, optional
        A folder that records how far the fit is. If it was interrupted, the same call with the same
        data and parameters continues from there and ends with the same result. A finished fit
        leaves its result there until another fit uses the folder.
    checkpoint_every : int, default=20
        Epochs from one checkpoint to the next. Fewer are written if they would take more than a
        twentieth of the time.
    random_state : int, RandomState instance or None
        Seed of the start.

    Attributes
    ----------
    n_iter_ : int
        Epochs done.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "init": [StrOptions({"auto", "svd", "random"}), tuple, list],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "trace": [StrOptions(set(get_args(TraceLevel)))],
        "memory_limit": [Interval(Real, 0, None, closed="neither"), SizeText(), None],
        "device": [StrOptions(DEVICES), None],
        "checkpoint": [str, HasMethods("__fspath__"), None],
        "checkpoint_every": [Interval(Integral, 1, None, closed="left")],
    }

    init: Any = "auto"
    max_iter: int = 1500
    tol: float = 1e-6
    trace: TraceLevel = "basic"
    memory_limit: float | str | None = None
    device: str | None = None
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: int = 20


class Relaxed(NamedTuple):
    """What the epochs of a run led to: the last state, why it was the last, and the trace."""

    state: State
    reason: StopReason
    history: dict[str, NDArray[Any]]

    def rounded(self, U: Bools, V: Bools) -> FittedFactors:
        """Hand back what the state was rounded to."""
        return FittedFactors(U, V, self.state.iteration, self.reason, self.history)


@dataclass(frozen=True)
class Relaxer:
    """Runs of iPALM, each from a start until the stop rule or the callback ends it."""

    method: Any  # Whose it is, with `RelaxationParameters`
    regularizer: Regularizer  # What is added to ‖A − UV‖²
    schedule: Schedule  # How strong that is, and what goes with it

    def lend(self, A: BooleanMatrix) -> AbstractContextManager[BooleanMatrix]:
        """Lend the data, from the disk if there is not enough memory for it."""
        if self.method.memory_limit is not None:
            limit = bytes_of(self.method.memory_limit)
        elif not A.in_memory:
            limit = int(_SHARE_OF_MEMORY * available_memory())
        else:
            return lent(A)
        k = self.method.n_components
        k = k if isinstance(k, Integral) else _RANK_UNKNOWN
        needed = memory_needed(A, int(k), np.dtype(self.schedule.dtype).itemsize)
        if needed <= limit:
            return lent(A)
        _LOG.info("needs about %s of memory: worked on from the disk", size_text(needed))
        return paged(A, limit)

    def open(self, A: Any, weight_of_ones: float = 1.0) -> Engine:
        """Return the engine for some data."""
        return open_engine(A, weight_of_ones, Where(self.method._threads, self.method.device))

    def relax(
        self,
        A: BooleanMatrix,
        engine: Engine,
        # Components, and epochs at most
        k: int,
        epochs: int,
        generator: np.random.Generator,
        session: Session,  # Where the run may have begun, and where it is kept
        *,
        weight_of_ones: float = 1.0,  # ω, what a one weighs where a zero weighs 1
        # Which run it is, and of how many
        run: int = 1,
        runs: int = 1,
        at_random: bool = False,  # Whether no other start will do, unless one was given
        deadline: float = np.inf,  # When to end in any case, as of `time.perf_counter`
        best: Callable[[], int | None] = lambda: None,  # What the best Boolean factors cost by now
    ) -> Relaxed:
        """Iterate from one start until the stop rule or the callback says so."""
        method, schedule = self.method, self.schedule.over(epochs)
        trace = Trace(A, method.trace, method._threads, weight_of_ones)
        stop = StopRule(method.tol, TUNING.epochs_without_change, epochs, weight_of_ones * A.ones)
        begun = session.begun(trace, stop, k)
        if begun is None:
            U, Vt = self._start(A, k, generator, at_random)
            begun = Begun(Iterate(U), Iterate(Vt))
            del U, Vt
        states = ipalm(
            engine,
            begun.U,
            begun.Vt,
            schedule=schedule,
            regularizer=self.regularizer,
            epoch=begun.epoch,
            seconds=begun.seconds,
        )
        del begun  # it may be large
        for state in states:
            A.verify()  # Files that it is read from must stay as they were.
            trace.record(state)
            reason = stop(state)
            progress = (run - 1 + state.iteration / epochs) / runs
            report = replace(state, run=run, runs=runs, progress=progress, best=best())
            stopped = method._tell(report)
            if reason is None:
                session.keep_epoch(state, trace, stop, at_once=stopped)
            if stopped:
                reason = "callback"
            elif reason is None and time.perf_counter() > deadline:
                reason = "time_limit"
            if reason is not None:
                break
        assert reason is not None  # the loop above has no other end
        _LOG.info("run %d: %d epochs (%s), gap %.2g", run, state.iteration, reason, state.gap)
        return Relaxed(state, reason, trace.history())

    def _start(
        self, A: BooleanMatrix, k: int, generator: np.random.Generator, at_random: bool
    ) -> tuple[Rows, Rows]:
        """Return U₀ and V₀ᵀ: as given, from the singular vectors, if there are any, or noise."""
        kind = self.method.init
        if not isinstance(kind, str):
            return _given_start(kind, A, k)
        if kind == "auto":
            quick = A.ones <= TUNING.ones_for_singular_vectors
            kind = self.schedule.start if quick else "random"
        number, scale = np.dtype(self.schedule.dtype), self.schedule.start_scale
        if kind == "svd" and A.ones and not at_random:
            return singular_start(A, k, generator, number, scale)
        return uniform_start(A.shape, k, generator, number, scale)


@estimator
class OneRunFactorizer(RelaxationParameters, BooleanFactorizer):
    """A method that factorizes by one run, which stays relaxed until its end, and is then rounded.

    Parameters
    ----------
    beta : float, default=0.9
        Inertia β in [0, 1).
    dtype : {"float32", "float64"}, default="float32"
        Number type of the relaxed factors.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "beta": [Interval(Real, 0, 1, closed="left")],
        "dtype": [StrOptions({"float32", "float64"})],
    }

    beta: float = 0.9
    dtype: str = "float32"

    @property
    @abstractmethod
    def _relaxer(self) -> Relaxer:
        """What relaxes."""

    @abstractmethod
    def _rounded(self, A: BooleanMatrix, state: State) -> tuple[Bools, Bools]:
        """Make Boolean factors of the last iterates."""

    def _lend(self, A: BooleanMatrix) -> AbstractContextManager[BooleanMatrix]:
        return self._relaxer.lend(A)

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        session = Session.of(self, A, generator)

        def find() -> FittedFactors:
            relaxer = self._relaxer
            with relaxer.open(A) as engine:
                relaxed = relaxer.relax(A, engine, self._rank, self.max_iter, generator, session)
                fitted = relaxed.rounded(*self._rounded(A, relaxed.state))
            if not fitted.was_stopped:
                weights = self._weights(A.shape)
                fitted.U = agree(A, fitted.U, fitted.V, weights, self._threads)
            # Only what was to become Boolean can stall.
            fitted.stop_reason = "converged" if relaxed.reason == "stalled" else relaxed.reason
            return fitted

        return session.conclude(find)


def _given_start(init: Any, A: BooleanMatrix, k: int) -> tuple[Rows, Rows]:
    """Return U₀ and V₀ᵀ as they were given, or say what is wrong with them."""
    n, m = A.shape
    if len(init) != 2:
        raise InputError(
            f"init must be 'auto', 'svd', 'random' or a pair (U, V); got {len(init)} items."
        )
    U, V = (_real_array(name, factor) for name, factor in zip("UV", init, strict=True))
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


def _real_array(name: str, factor: Any) -> NDArray[np.float64]:
    """Return an initial factor as numbers, or say why it is none."""
    dense = factor.toarray() if sparse.issparse(factor) else np.asarray(factor)
    if dense.dtype.kind not in "biuf":
        raise InputError(f"init: {name} must be a matrix of real numbers; got {dense.dtype}.")
    return dense.astype(np.float64)
