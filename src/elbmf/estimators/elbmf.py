"""ELBMF: elastic Boolean matrix factorization by proximal gradient descent (Sec. 2, Alg. 2)."""

import copy
import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import field
from functools import partial
from itertools import islice
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from elbmf.analysis.doubts import doubt_text, doubts
from elbmf.boolean.below import within_ones
from elbmf.boolean.coverage import Weights, cover
from elbmf.boolean.product import Bools
from elbmf.errors import DoubtfulComponentWarning, InputError, Placeholder, Setting
from elbmf.estimators.auto_rank import Refit, WarmStarts
from elbmf.estimators.base import MOST, BooleanFactorizer, FittedFactors, estimator
from elbmf.estimators.changing import ChangeParameters, fit_near
from elbmf.estimators.constrained import CONSTRAINTS, ConstraintParameters, fit_within
from elbmf.estimators.on_cluster import (
    lent_by_cluster,
    naming_checkpoint,
    read_on_cluster,
    refined_on_cluster,
)
from elbmf.estimators.online import PartialFitMixin
from elbmf.estimators.rates import AUTO, estimate_weight, fit_with_rates, follow_rates
from elbmf.estimators.relaxer import RelaxationParameters, Relaxed, Relaxer
from elbmf.estimators.resuming import Session
from elbmf.estimators.warning import warn_caller
from elbmf.io.model_info import RATES, ModelInfo
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import savings
from elbmf.ranks.path import Stepper
from elbmf.relaxation.engines.cluster import is_distributed
from elbmf.relaxation.regularizers import REGULARIZERS, Regularizer
from elbmf.relaxation.rounding import project, round_by_loss
from elbmf.relaxation.schedules import Annealed, Schedule
from elbmf.search.local import LocalSearch
from elbmf.search.online import Review, Stream
from elbmf.search.portfolio import Pace, Portfolio, planned_runs, search_work
from elbmf.utils.alarm import Alarm
from elbmf.utils.constraints import Interval, Options, StrOptions
from elbmf.utils.late import imported
from elbmf.utils.seeds import generator_of
from elbmf.utils.tuning import TUNING

__all__ = ["ELBMF"]

_LOG = logging.getLogger(__name__)


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


@estimator
class ELBMF(
    PartialFitMixin,
    ConstraintParameters,
    ChangeParameters,
    RelaxationParameters,
    BooleanFactorizer,
):
    """Boolean matrix factorization by an elastic relaxation that is annealed until it is Boolean.

    Finds Boolean U and V such that U ∘ V is as close to a 0/1 matrix A as possible: iPALM on
    ‖A − UV‖² + R(U) + R(V), where R pulls every entry towards 0 or 1, more strongly with every
    epoch (Problem 2, Alg. 2). The default schedule needs no tuning.

    The parameters are in four groups: *what to find* (``n_components`` to ``binarize``), *how hard
    to look* (``effort`` to ``max_iter``), *the relaxation* (``regularizer`` to ``trace``), and
    *where and how it runs* (``n_jobs`` to ``random_state``).

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number of components k. ``"auto"`` chooses the number with the shortest description of the
        data (MDL), which takes several times as long.

        In Python, `RankSearch` shows how the loss and other criteria depend on it.
    extra_weight : float or "auto", default=1
        What a covered zero costs, when an uncovered one costs 1. Infinity allows no covered zero at
        all: a factorization from below. ``"auto"`` estimates how often cells in components are
        zeros and other cells are ones, and weighs the two kinds of error by their likelihood. Use
        it for sparse data, where components have many zeros.
    binarize
    effort : float, default=1
        How long to search for better components: 1 takes seconds on most tables, 2 twice as long,
        and 0 leaves the search out. More effort never ends with a higher loss, and the same effort
        always ends at the same place.
    time_limit : float, optional
        Seconds from the beginning of the fit until the search ends, instead of ``effort``. The
        relaxation gets a part of them. The result then depends on the machine.
    refine : bool, default=True
        Improve the rounded factors by Boolean local search, which never makes the loss worse.
        Without it, the factors are those of the paper's algorithm alone.

        In Python, `fit_transform` then agrees with `transform`, except for rows where the search
        found something better.
    n_init : int or "auto", default="auto"
        Runs from different starts. Their components are pooled when ``refine`` is on; otherwise the
        best run is kept. ``"auto"`` is 1, unless the schedule ends Boolean by itself and there are
        up to ten million ones. Then it is two runs, or 3 when ``refine`` is off. On all but small
        data the two share ``max_iter``, and the second has half as many components again, of which
        the least useful are dropped. For your own initial factors it is always 1.
    max_iter : int, default=500
        The most epochs of a run. The default schedule spreads over them.
    regularizer : str or Regularizer, default="elb"
        What pulls the factors towards Boolean values: ``elb``, ``elastic_net``, ``primp``,
        ``bowl``, or another name in `REGULARIZERS`.

        In Python also an object, such as ``ELB("paper")`` for the proximal operator that the paper
        prints.
    schedule : Schedule, optional
        How strongly it pulls in each epoch, and what goes with that: inertia, step sizes,
        balancing and the start. By default `Annealed`, which follows the Lipschitz constant and
        binds within ``max_iter`` epochs; ``Printed(kappa=…, lam=…, rate=…)`` is the paper's.
    init : {"auto", "svd", "random"} or (U, V), default="auto"
        Positive parts of the leading singular vectors with a little noise, or uniform random
        factors, either times the ``start_scale`` of the schedule. ``"auto"`` is the ``start`` of
        the schedule for the first of ``n_init`` runs on up to ten million ones, and ``"random"``
        otherwise.

        In Python also your own, of shapes (n, k) and (k, m).
    tol : float, default=1e-6
        Boolean gap at which the factors count as Boolean, and change of the loss, relative to the
        number of ones, that counts as no change.
    trace : {"basic", "full"}, default="basic"
        What `history_` records; ``"full"`` adds loss gap and Hamming process at some cost.
    n_jobs
    memory_limit
    device
    checkpoint
    checkpoint_every : int, default=20
        Epochs from one checkpoint to the next; in the search, about the time that these epochs
        take. Fewer are written if they would take more than a twentieth of the time.
    callback : callable, optional
        Called with a `FitProgress` after each epoch and each round of the search; after an epoch it
        is a `State`, which has the relaxed factors, too. A true return value ends the fit with the
        current factors, rounded. With ``refine``, a few turns of local search then improve them,
        which takes about as long as ten epochs.
    random_state

    Attributes
    ----------
    run_losses_ : list of int
        Loss of every run, before the search.
    bits_saved_ : ndarray of float64, of shape (n_components,)
        Bits by which each component shortens the description of the data, given those before it
        (see `elbmf.ranks.criteria.savings`). Usually the largest comes first. Only with ``refine``.
        With ``extra_weight="auto"``, under two noise rates.
    extra_weight_ : float
        What a covered zero costs: ``extra_weight``, or what ``"auto"`` has found.
    stages_ : dict of str to int
        What the factors cost after each stage: ``"rounding"``, ``"refinement"`` (of the best run),
        ``"reduction"`` (to the components asked for, if that run had more) and ``"search"``, and
        what they cost once they keep to the ``"constraints"``, if there are any. It is
        their loss, unless ``extra_weight`` makes errors cost something else.
    n_changes_ : int
        Cells of ``components_`` that differ from ``previous``, where that is given.
    lower_bound_ : int
        A proven lower bound: no factors with as many components cost less. If it equals the last of
        the stages, the factors are proven to be optimal. For up to three components on small
        tables; 0 elsewhere.

    Notes
    -----
    `partial_fit` keeps a uniform sample of the rows so far, up to 4096 of them and four million
    ones, and the components. Each time a part of the sample is new, it chooses again among the
    current components, what a search makes of them, and what a relaxation of the sample finds. In a
    stream longer than the sample, it only chooses those that pay in rows other than the ones they
    were made from. ``init`` must not be your own factors; ``n_init``, ``time_limit``, ``callback``
    and ``checkpoint`` are for `fit` alone; ``max_iter`` and ``effort`` count less.

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
        # A view: it has the names that are added later, too.
        "regularizer": [StrOptions(REGULARIZERS.keys()), Regularizer],
        "schedule": [Schedule, None],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, MOST, closed="both")],
        "effort": [_FiniteEffort()],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "extra_weight": [
            Interval(Real, 0, None, closed="neither"),
            Options(Real, {np.inf}),
            StrOptions({AUTO}),
        ],
    }

    # What to find
    extra_weight: float | Literal["auto"] = 1.0
    # How hard to look
    effort: float = 1.0
    time_limit: float | None = None
    refine: bool = True
    n_init: int | Literal["auto"] = "auto"
    max_iter: int = 500
    # The relaxation
    regularizer: str | Regularizer = "elb"
    schedule: Schedule | None = None

    bits_saved_: NDArray[np.float64] = field(init=False)
    extra_weight_: float = field(init=False)
    n_changes_: int = field(init=False)
    lower_bound_: int = field(init=False)

    # --- data: in memory, on disk, or on a cluster ---

    def _read(self, X: Any, missing: Any, reset: bool) -> Any:
        if reset:
            self.__dict__.pop("extra_weight_", None)  # It is of other data.
        if is_distributed(X):
            return read_on_cluster(self, X, missing, reset=reset)
        return super()._read(X, missing, reset)

    def _lend(self, A: Any) -> AbstractContextManager[Any]:
        if not A.in_one_place:
            return lent_by_cluster(A)
        return self._relaxer.lend(A)

    def _weights(self, shape: tuple[int, int]) -> Weights:
        return Weights.of(self._weight_of_extra(), shape)

    def _weight_of_extra(self) -> float:
        if not isinstance(self.extra_weight, str):
            return self.extra_weight
        if not hasattr(self, "extra_weight_"):
            raise InputError(
                Setting("extra_weight", AUTO), " takes all rows at once. Use fit, or set the "
                "weight that a fit of some of the rows leads to (its extra_weight_)."
            )  # fmt: skip
        return self.extra_weight_

    @property
    def _has_rates(self) -> bool:
        return self.extra_weight == AUTO

    def _recall(self, info: ModelInfo) -> None:
        self.extra_weight_ = info.extra_weight
        self.lower_bound_ = info.cost_at_least or 0

    # --- the fit ---

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        self.__dict__.pop("n_changes_", None)
        if self._has_rates and not hasattr(self, "extra_weight_"):
            return fit_with_rates(self, A, generator)
        most = min(A.shape)
        free = isinstance(self.init, str) and self.previous is None and not self._is_constrained
        if self._rank > most and free and self.refine and A.in_one_place:
            # No errors are left with as many components as this: more would only be searched.
            fewer = copy.copy(self).set_params(n_components=most)
            return _padded(fewer._factorize(A, generator), self._rank)
        find = fit_within if self._is_constrained else ELBMF._found
        find = find if self.previous is None else fit_near
        fitted = find(self, A, generator)
        self._warn_unless_boolean(fitted)
        return fitted

    def _found(self, A: Any, generator: np.random.Generator) -> FittedFactors:
        """Factorize, or do what an interrupted fit has left of that."""
        session = Session.of(self, A, generator)
        return session.conclude(lambda: self._find(A, generator, session))

    def _find(
        self, A: BooleanMatrix, generator: np.random.Generator, session: Session
    ) -> FittedFactors:
        """Relax in several runs, pool them, and search on from there."""
        weights = self._weights(A.shape)
        if not A.in_one_place:
            with naming_checkpoint(self.checkpoint):
                self._relax(A, generator, session, partial(refined_on_cluster, self))
            return _best(session.runs)
        local: LocalSearch | None = None

        def rounded(A: BooleanMatrix, relaxed: Relaxed, began: float) -> FittedFactors:
            fitted = _rounded(relaxed, local)
            fitted.cost = cover(A, fitted.U, fitted.V, self._threads).cost(weights)
            # The search has better ways to leave no zero covered.
            return fitted if self.refine else self._kept_below(A, fitted)

        if self.refine:
            with Alarm(self._deadline(session)) as alarm:
                local = LocalSearch(A, weights, self._threads, alarm)
                best = self._searched(local, generator, session, rounded)
        else:
            self._relax(A, generator, session, rounded)
            best = _best(session.runs)
        best = self._kept_below(A, best)
        if best.stop_reason != "interrupted":
            _LOG.info("losses of the runs: %s, of the stages: %s", best.run_losses, best.stages)
        return best

    def _kept_below(self, A: BooleanMatrix, fitted: FittedFactors) -> FittedFactors:
        """Let factors cover no zero, where none may be covered."""
        if self.extra_weight != np.inf:
            return fitted
        if cover(A, fitted.U, fitted.V, self._threads).extra:
            fitted.U, fitted.V = within_ones(A, fitted.U, fitted.V)
            left = cover(A, fitted.U, fitted.V, self._threads)
            fitted.cost = left.cost(self._weights(A.shape))
            for last in [*fitted.stages][-1:]:
                fitted.stages[last] = fitted.cost
        return fitted

    def _search_work(self, A: BooleanMatrix) -> float:
        """Return what the search of a fit may take, about in nanoseconds."""
        return search_work(A, self._rank, self.max_iter, self.effort)

    def _deadline(self, session: Session) -> float:
        """Return when to end in any case, as of `time.perf_counter`."""
        return np.inf if self.time_limit is None else session.began + self.time_limit

    def _searched(
        self,
        local: LocalSearch,
        generator: np.random.Generator,
        session: Session,
        rounded: Callable[[Any, Relaxed, float], FittedFactors],
    ) -> FittedFactors:
        """Search on from quick starts and from what the relaxation finds."""
        A, runs = local.A, session.runs
        works = self._search_work(A), search_work(A, self._rank, self.max_iter, 1.0)
        given = (local, self._rank, generator, *works, session.began, self._tell)
        with Portfolio(*given) as portfolio:
            try:
                if session.place is None:
                    portfolio.begin()
                    for run in runs[len(session.reduced) :]:
                        portfolio.take(run)
                    self._relax(A, generator, session, rounded, portfolio)
                else:
                    portfolio.go_on(session.place[1])
                if runs and runs[-1].was_stopped:
                    return portfolio.make_do(_best(runs), "callback")
                return portfolio.improve(runs, session)
            except KeyboardInterrupt:
                if not portfolio.found:
                    raise
                return portfolio.make_do(_best(runs) if runs else None, "interrupted")

    def _relax(
        self,
        A: BooleanMatrix,
        generator: np.random.Generator,
        session: Session,
        rounded: Callable[[Any, Relaxed, float], FittedFactors],
        portfolio: Portfolio | None = None,  # What is told of each, and searches on from there
    ) -> None:
        """Do the runs that the session has not seen yet, and round what each leads to."""
        weights, relaxer, plan = self._weights(A.shape), self._relaxer, self._plan(A)
        pace = Pace(A, plan, np.inf if portfolio is None else self._deadline(session))
        with relaxer.open(A, weights.relaxed) as engine:
            for run, (k, _) in islice(enumerate(plan, start=1), len(session.runs), None):
                if session.runs_are_over or not self._another_run_pays(session, portfolio):
                    break
                epochs, began = pace.epochs(run), time.perf_counter()
                if not epochs:
                    break
                relaxed = relaxer.relax(
                    A,
                    engine,
                    k,
                    epochs,
                    generator,
                    session,
                    weight_of_ones=weights.relaxed,
                    run=run,
                    runs=len(plan),
                    at_random=self._starts_at_random(A, run)
                    or pace.lacks_time_for_singular_vectors(k),
                    deadline=pace.deadline,
                    best=lambda: None if portfolio is None else portfolio.least,
                )
                pace.note(run, relaxed.state.iteration, time.perf_counter() - began)
                session.keep_run(rounded(A, relaxed, session.began))
                if portfolio is not None and not session.runs[-1].was_stopped:
                    portfolio.take(session.runs[-1])

    def _another_run_pays(self, session: Session, portfolio: Portfolio | None) -> bool:
        """Whether to go on with the plan, unless it was made by the caller."""
        if portfolio is None or not session.runs or self.n_init != "auto":
            return True
        return portfolio.more_runs_pay(session.runs[-1])

    def _starts_at_random(self, A: BooleanMatrix, run: int) -> bool:
        """Whether a run may not start from singular vectors."""
        later = run > 1 and self.init == "auto" and not (self.refine and self.n_init == "auto")
        return later or not A.in_one_place

    def _plan(self, A: BooleanMatrix) -> list[tuple[int, int]]:
        """Return the components of each run, and its epochs at most."""
        if not isinstance(self.init, str):
            return [(self._rank, self.max_iter)]
        if self.n_init != "auto":
            return [(self._rank, self.max_iter)] * self.n_init
        if not A.in_one_place:
            return [(self._rank, self.max_iter)]
        return planned_runs(
            A,
            self._rank,
            self.max_iter,
            refine=self.refine,
            quick_runs=self._relaxer.schedule.ends_boolean,
        )

    @property
    def _relaxer(self) -> Relaxer:
        regularizer = self.regularizer
        if isinstance(regularizer, str):
            regularizer = imported(REGULARIZERS[regularizer])()
        return Relaxer(self, regularizer, self.schedule or Annealed())

    def _arranged(self, A: BooleanMatrix, fitted: FittedFactors) -> FittedFactors:
        """Put the components that shorten the description most first.

        In this order, each row gets what `transform` would give it, unless it has better: of
        memberships that are equally good, which one that is depends on the order.
        """
        stays = self.previous is not None  # Each in the place of what it was.
        may_change = self.refine and not (stays or fitted.was_stopped or self._is_constrained)
        if self._has_rates and may_change:
            given = (A, fitted.U, fitted.V, self._weight_of_extra(), self._threads)
            before = self._weights(A.shape).missed
            fitted.U, fitted.V, self.extra_weight_ = follow_rates(*given)
            fitted.rescale(before, self._weights(A.shape).missed)
            # What was proved was so of another weight.
            fitted.bound = 0
        self.extra_weight_, self.lower_bound_ = self._weight_of_extra(), fitted.bound
        if not self.refine or not A.in_one_place:
            return fitted

        def ordered(U: Bools, V: Bools, *, stays: bool) -> tuple[Any, Any]:
            order, bits = savings(A, U, V, self._threads, in_order=stays, two_rates=self._has_rates)
            # However little others save, an empty one comes after them; what these save stays.
            last: Any = slice(None) if stays else _held_first(U[:, order], V[order])
            return order[last], bits[last]

        order, self.bits_saved_ = ordered(fitted.U, fitted.V, stays=stays)
        fitted = self._in_order(A, fitted, order)
        if not may_change:
            return fitted
        # What is above a time limit is the last word on each row, which is worth a little more.
        late = TUNING.beyond_time_limit * (np.inf if self.time_limit is None else self.time_limit)
        with Alarm(time.perf_counter() + late) as alarm:
            local = LocalSearch(A, self._weights(A.shape), self._threads, alarm)
            for left in range(TUNING.turns_of_order, 0, -1):
                factors = local.pack(fitted.U, fitted.V)
                local.settle(factors)
                settled = factors.to_arrays()
                if all(map(np.array_equal, settled, (fitted.U, fitted.V))):
                    break
                order, bits = ordered(*settled, stays=left == 1)
                if self.n_components == "auto" and bits.min() <= 0 < self.bits_saved_.min():
                    return fitted  # A number of components is not chosen for some that save none.
                (fitted.U, fitted.V), self.bits_saved_ = settled, bits
                if (np.diff(order) > 0).all():
                    break
                # Which of equally good memberships a row has may change with the order, too.
                fitted = self._in_order(A, fitted, order)
        if fitted.stages:
            fitted.stages[RATES if self._has_rates else "search"] = factors.cost
        return fitted

    def _warn_unless_boolean(self, fitted: FittedFactors) -> None:
        """Say what to change when the projection had to do the rounding."""
        if fitted.stop_reason not in ("stalled", "max_iter"):
            return
        remedy = "Raise max_iter."
        if self.schedule is not None and not self.schedule.ends_boolean:
            remedy = (
                "Raise rate or lam of the schedule so that λ_t grows further, raise max_iter, or "
                "leave the schedule unset for the one that ends Boolean by itself."
            )
        gap, lam = fitted.history["gap"][-1], fitted.history["lam"][-1]
        warn_caller(
            f"Stopped after {fitted.n_iter} epochs ({fitted.stop_reason}) with a Boolean gap of "
            f"{gap:.2g} (tol={self.tol:g}) at λ_t={lam:.3g}; the factors were rounded, which may "
            f"cost some loss. {remedy}",
            ConvergenceWarning,
        )

    def _warn_of_doubts(self) -> None:
        shape = (self.membership_.shape[0], self.components_.shape[1])
        sizes = (self.membership_.sum(axis=0).tolist(), self.components_.sum(axis=1).tolist())
        said = doubt_text(doubts(shape, *sizes, getattr(self, "bits_saved_", None)))
        if said:
            warn_caller(
                f"{said} Ask for fewer components, or set min_rows and min_columns.",
                DoubtfulComponentWarning,
            )

    # --- from rank to rank, and from batch to batch ---

    def _stepper(self, A: BooleanMatrix) -> Stepper:
        """From rank to rank by local search; without it, or with constraints, by starting anew."""
        if self.previous is not None:
            raise InputError(
                Setting("previous"), " is for a number of components that is known: set ",
                Setting("n_components"), " to it."
            )  # fmt: skip
        if self._has_rates and not hasattr(self, "extra_weight_"):
            ranks = {min(rank, *A.shape) for rank in TUNING.ranks_for_rates}
            self.extra_weight_ = estimate_weight(self, A, sorted(ranks))
        if self._is_constrained:
            if self.required_cells is not None:
                raise InputError(
                    Setting("required_cells"), " may take any number of components: set ",
                    Setting("n_components"), " to a number, or use MinimalCover."
                )  # fmt: skip
            refit = Refit(self, A)
            return Stepper(refit, lambda: refit.n_iter, self._n_fixed)
        if not self.refine:
            return super()._stepper(A)
        local = LocalSearch(A, self._weights(A.shape), self._threads)

        def parameters(rank: int) -> dict[str, Any]:
            # A path comes from more components anyway: a run that starts with more adds little to
            # it. But runs from other starts find what it has missed.
            small = A.ones * rank < TUNING.small
            runs = TUNING.runs_on_small_path if small else 1
            return {"n_init": runs} if self.n_init == "auto" else {}

        def work(rank: int) -> float:
            return search_work(A, rank, self.max_iter, self.effort)

        return WarmStarts(local, Refit(self, A, parameters), work, self.effort)

    def _learn(self, A: BooleanMatrix) -> tuple[Bools, int]:
        """Learn from a sample of the rows, after a fit of those rows as its factors have them."""
        for name in CONSTRAINTS:
            if getattr(self, name) is not None:
                raise InputError(
                    "partial_fit does not support constraints, because rows come and go; got ",
                    Setting(name), ". Leave it out, or use fit."
                )  # fmt: skip
        if not isinstance(self.init, str):
            raise InputError(
                "partial_fit cannot start from your own factors, because rows come and go; got "
                "init=(U, V). Set init to 'auto', 'svd' or 'random', or use fit."
            )
        stream = self._opened_stream(A.shape[1])
        stream.read(A, self._review(A.shape))
        return stream.components.copy(), stream.sample.n_seen

    def _widen(self, n_columns: int) -> Bools:
        stream = self._opened_stream(self.n_features_in_)
        stream.widen(n_columns)
        return stream.components.copy()

    def _opened_stream(self, n_columns: int) -> Stream:
        if not hasattr(self, "_stream"):
            self._stream = Stream(n_columns, generator_of(self.random_state))
            if hasattr(self, "membership_"):
                self._stream.recall(self.membership_, self.components_)
        return self._stream

    def _review(self, shape: tuple[int, int]) -> Review:
        """Return how components of a sample are reviewed: by a quick fit and a search."""
        epochs = self.max_iter
        if self._relaxer.schedule.ends_boolean:
            epochs = min(epochs, TUNING.epochs_on_sample)
        quick = copy.copy(self).set_params(
            n_init=1,
            max_iter=epochs,
            effort=TUNING.effort_on_sample * self.effort,
            time_limit=None,
            callback=None,
            checkpoint=None,
        )

        def relax(sample: BooleanMatrix, generator: np.random.Generator) -> tuple[Bools, Bools]:
            fitted = quick._found(sample, generator)
            return fitted.U, fitted.V

        def work(sample: BooleanMatrix) -> float:
            whole = search_work(sample, self._rank, self.max_iter, self.effort)
            return TUNING.effort_on_sample * whole

        return Review(self._rank, relax, work, self._weights(shape), self._threads)


def _held_first(U: Bools, V: Bools) -> NDArray[np.intp]:
    """Return an order that puts empty components last, and leaves the others as they are."""
    return np.argsort(~(U.any(axis=0) & V.any(axis=1)), kind="stable")


def _padded(fitted: FittedFactors, rank: int) -> FittedFactors:
    """Return a fit with empty components behind its own."""
    more = (0, rank - len(fitted.V))
    fitted.U, fitted.V = np.pad(fitted.U, ((0, 0), more)), np.pad(fitted.V, (more, (0, 0)))
    return fitted


def _best(runs: list[FittedFactors]) -> FittedFactors:
    """Return the best run; a callback that ended another one ends the fit as well."""
    best = min(runs, key=lambda run: run.cost)
    best.stages = best.stages or {"rounding": best.cost}
    best.run_losses = [run.cost for run in runs]
    if runs[-1].was_stopped:
        best.stop_reason = "callback"
    return best


def _rounded(relaxed: Relaxed, local: LocalSearch | None) -> FittedFactors:
    """Round the factors of the last epoch: by their loss, if they are not Boolean by then."""
    state = relaxed.state
    if local is not None and state.gap > TUNING.not_boolean:
        U, V = round_by_loss(local.A, state.U, state.Vt, local.weights, local.n_jobs)
        return relaxed.rounded(U, V)
    U, Vt = state.mapped(project)
    return relaxed.rounded(U, np.ascontiguousarray(Vt.T))
