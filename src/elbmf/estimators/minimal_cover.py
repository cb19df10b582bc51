"""The fewest components that explain a matrix, and whether fewer could."""

import math
import time
from dataclasses import field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import Weights
from elbmf.boolean.line_weights import LineWeights, weighted_cover
from elbmf.boolean.product import Bools, pack
from elbmf.errors import InputError, Line, Setting
from elbmf.estimators.base import BooleanFactorizer, FittedFactors, estimator
from elbmf.estimators.constrained import ConstraintParameters, listed, unmet
from elbmf.io.model_info import ModelInfo
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import savings
from elbmf.search.constrained.constraints import Constraints
from elbmf.search.constrained.fewest import FewestWithin
from elbmf.search.constrained.search import ConstrainedSearch, with_fixed
from elbmf.search.covers.reduction import Table
from elbmf.search.covers.search import CoverSearch
from elbmf.search.covers.with_errors import drop_components
from elbmf.search.local import LocalSearch
from elbmf.utils.alarm import Alarm
from elbmf.utils.constraints import Interval, Options
from elbmf.utils.progress import FitProgress
from elbmf.utils.tuning import TUNING

__all__ = ["MinimalCover"]

# Seconds by which a time limit may be exceeded.
_GRACE = 0.2


@estimator
class MinimalCover(ConstraintParameters, BooleanFactorizer):
    """The fewest components that cover every one and no zero, or leave a few wrong cells.

    The matrix is reduced to the ones that are hard to cover, which are then covered by fewer and
    fewer components. A lower bound on their number is proved by sets of ones no two of which fit in
    one component, and on small tables by integer programming.

    Parameters
    ----------
    max_loss : int, default=0
        How many wrong cells are allowed; with weights of rows or columns, what they may weigh.
    extra_weight : float, default=inf
        What a covered zero costs, when an uncovered one costs 1. With infinity no zero is covered,
        whatever ``max_loss`` is.
    binarize
    effort : float, default=1
        How long to search, as for `ELBMF`: more effort never ends with more components.
    time_limit : float, optional
        Seconds to search, instead of ``effort``. The search ends earlier if it is proved that there
        is nothing better.
    n_jobs
    callback : callable, optional
        Called with a `FitProgress` after each round of the search: ``n_components`` is the number
        of components so far, ``at_least`` the number that is proved to be needed. A true return
        value ends the fit with the best so far.
    random_state

    Attributes
    ----------
    n_components_ : int
        Components found.
    lower_bound_ : int
        Components that are provably needed.
    proved_ : bool
        Whether these are the same.
    n_iter_ : int
        Rounds of the search.
    stop_reason_ : str
        ``"proved"``, ``"effort"``, ``"time_limit"``, ``"callback"`` or ``"interrupted"``.

    Notes
    -----
    Missing entries may be covered, but need not be.

    References
    ----------
    A. Ene, W. Horne, N. Milosavljevic, P. Rao, R. Schreiber, R. E. Tarjan. Fast exact and heuristic
    methods for role minimization problems. SACMAT 2008.

    Examples
    --------
    >>> from elbmf import MinimalCover
    >>> A = [[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1]]
    >>> model = MinimalCover().fit(A)
    >>> model.n_components_, model.proved_
    (2, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_loss": [Interval(Integral, 0, None, closed="left")],
        "extra_weight": [Interval(Real, 0, None, closed="neither"), Options(Real, {np.inf})],
        "effort": [Interval(Real, 0, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
    }

    # What it is to find out, and what would not change it: no parameters.
    n_components: None = field(default=None, init=False)
    refine: bool = field(default=False, init=False)
    max_loss: int = 0
    extra_weight: float = np.inf
    effort: float = 1.0
    time_limit: float | None = None

    bits_saved_: NDArray[np.float64] = field(init=False)
    lower_bound_: int = field(init=False)
    proved_: bool = field(init=False)

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        began = time.perf_counter()
        if self._is_constrained:
            # Both raise before anything takes long.
            self._check_forbidden(self._original(A), self._constraints(self._original(A), None))
        limited = self.time_limit is not None
        deadline = began + self.time_limit if self.time_limit is not None else math.inf
        work = math.inf if limited else self.effort * TUNING.covering
        rounds = _Rounds(self, began)
        # A cover is all there is to find, or where the search for fewer with errors begins.
        share = TUNING.cover_in_time if self.max_loss or self._is_constrained else 1.0
        until = began + share * (deadline - began)
        with Alarm(deadline) as alarm, Alarm(until) as first:
            search = CoverSearch(_table(A), first, self._threads)
            try:
                search.improve(work, int(generator.integers(1 << 31)), rounds.tell)
            except KeyboardInterrupt:
                rounds.reason = "interrupted"
            U, V = search.cover()
            at_least = search.at_least
            if self._is_constrained:
                # What is fixed counts among the components.
                at_least = max(self._at_least(search, A), self._n_fixed)
                U, V = self._within(A, U, V, at_least, generator, work, rounds, alarm)
            elif self.max_loss:
                at_least = self._at_least(search, A)
                if not rounds.reason:
                    local = LocalSearch(A, self._weights(A.shape), self._threads, alarm)

                    def tell(size: int, share: float) -> bool:
                        return rounds.tell(size, at_least, share)

                    given = (self.max_loss, at_least, generator, work, tell)
                    U, V, interrupted = drop_components(local, U, V, *given)
                    rounds.reason = rounds.reason or "interrupted" * interrupted
        fitted = FittedFactors(U, V, rounds.count, rounds.reason, bound=at_least)
        if not rounds.reason:
            proved = V.shape[0] == at_least
            fitted.stop_reason = "proved" if proved else "time_limit" if limited else "effort"
        return fitted

    def _check_forbidden(self, A: BooleanMatrix, constraints: Constraints) -> None:
        """Raise where more ones may not be covered than may stay uncovered."""
        if constraints.forbidden is None:
            return
        ones = constraints.forbidden.to_csr().multiply(A.to_csr()).tocoo()
        lines, weigh = self._lines, np.ones(ones.nnz)
        if lines is not None:
            for copies, at in ((lines.rows, ones.row), (lines.columns, ones.col)):
                weigh = weigh if copies is None else weigh * copies[at]
        uncovered = math.ceil(weigh.sum())
        if uncovered <= self.max_loss:
            return
        cell = Line(0, int(ones.row[0])), " and ", Line(1, int(ones.col[0]))
        many = ("forbidden cells are ones", "them") if ones.nnz > 1 else ("of them is a one", "it")
        raise InputError(
            Setting("forbidden_cells"), f": {ones.nnz} {many[0]}, which a cover cannot leave out; "
            "the first is that in ", *cell, f". Allow {many[1]} to stay uncovered with ",
            Setting("max_loss", uncovered), ", or correct the data."
        )  # fmt: skip

    def _within(
        self,
        A: BooleanMatrix,
        U: Bools,
        V: Bools,  # A cover that keeps to none of the constraints
        at_least: int,
        generator: np.random.Generator,
        work: float,
        rounds: "_Rounds",
        alarm: Alarm,
    ) -> tuple[Bools, Bools]:
        """Return the fewest components that keep to the constraints."""
        weights, lines = self._weights(A.shape), self._lines
        if lines is not None:
            (U, V), A = lines.join(A, U, V, weights), self._original(A)
        constraints = self._constraints(A, None)
        seed, local = int(generator.integers(1 << 62)), LocalSearch(A, weights, self._threads)

        def enough(U: Bools, V: Bools) -> bool:
            few = weighted_cover(A, U, V, lines, self._threads).loss <= self.max_loss
            return few and not len(constraints.uncovered(U, V))

        # What line by line takes, where each kind of row has a component.
        kinds = np.unique(pack(Table.of(A).required), axis=0).shape[0]
        line_by_line = TUNING.settling * A.shape[0] * kinds

        def late() -> bool:
            spare = alarm.deadline + _GRACE - time.perf_counter()
            return spare < line_by_line / 2

        def fewest(rules: Constraints, alarm: Alarm) -> FewestWithin:
            search = ConstrainedSearch(A, weights, rules, lines, alarm)
            given = (A, search, rules, self.max_loss, enough)
            return FewestWithin(*given, lambda: alarm.rung, late)

        def covered(rules: Constraints) -> tuple[Bools, Bools] | None:
            now = time.perf_counter()
            share = TUNING.first_within_time * (alarm.deadline - now)
            with Alarm(min(now + share, alarm.deadline - line_by_line)) as first:
                return fewest(rules, first).cover(*with_fixed(local, rules.fixed, U, V), seed)

        found = covered(constraints)
        if found is None and (alarm.rung or late()):
            raise InputError(
                "No components were found within ",
                Setting("time_limit", self.time_limit),
                " that leave so few wrong cells as ",
                Setting("max_loss", self.max_loss),
                " allows and keep to ",
                *listed(constraints.in_force),
                ". Give it more time, or relax one of these.",
            )
        if found is None:
            why = ("no components were found that leave so few wrong cells",)
            wish = Setting("max_loss", self.max_loss)
            raise unmet(constraints, wish, why, lambda others: covered(others) is not None)
        if not rounds.reason:
            # Then it is still to be put in order.
            with Alarm(alarm.deadline - TUNING.settling * found[0].size) as last:
                U, V, interrupted = fewest(constraints, last).drop(
                    *found,
                    at_least,
                    generator,
                    work,
                    lambda size, share: rounds.tell(size, at_least, share),
                )
            found = U, V
            rounds.reason = rounds.reason or "interrupted" * interrupted
        return found if lines is None else lines.spread(*found)

    def _line_weights(
        self, A: BooleanMatrix, sample_weight: Any, feature_weight: Any
    ) -> LineWeights | None:
        lines = super()._line_weights(A, sample_weight, feature_weight)
        if self.max_loss and lines is not None:
            lines.require_copies("With ", Setting("max_loss", self.max_loss))
        return lines

    def _at_least(self, search: CoverSearch, A: BooleanMatrix) -> int:
        """Return how many components it takes with wrong cells.

        With one more component for each uncovered one, there would be a cover. Where zeros may be
        covered, of t ones of a fooling set in one component no two fit together, so that it covers
        at least t(t − 1)/2 zeros, no fewer than the t − 1 wrong cells of leaving the others out.
        """
        if not self.max_loss:
            return search.at_least
        known = search.at_least if self.extra_weight == np.inf else search.fooled
        return max(int(A.ones > self.max_loss), known - self.max_loss)

    def _arranged(self, A: BooleanMatrix, fitted: FittedFactors) -> FittedFactors:
        """Put the components that shorten the description most first."""
        found = fitted.V.shape[0]
        self.lower_bound_ = fitted.bound
        self.proved_ = fitted.bound == found
        if not found:
            # As of other methods, factors have at least one component, which may be empty.
            fitted.U = np.zeros((A.shape[0], 1), np.bool_)
            fitted.V = np.zeros((1, A.shape[1]), np.bool_)
        order, self.bits_saved_ = savings(A, fitted.U, fitted.V, self._threads)
        return self._in_order(A, fitted, order)

    def _recall(self, info: ModelInfo) -> None:
        self.lower_bound_ = info.components_at_least or 0
        self.proved_ = self.lower_bound_ == self.n_components_

    def _weights(self, shape: tuple[int, int]) -> Weights:
        return Weights.of(self.extra_weight, shape)


class _Rounds:
    """What is told of the rounds of a search, and why it ended, if somebody said so."""

    def __init__(self, model: MinimalCover, began: float) -> None:
        self._model, self._began = model, began
        self.count = 0
        self.reason = ""

    def tell(self, size: int, at_least: int, share: float) -> bool:
        """Tell the callback of the best so far."""
        self.count += 1
        report = FitProgress(
            iteration=self.count,
            loss=0,
            seconds=time.perf_counter() - self._began,
            stage="round",
            progress=share,
            n_components=size,
            at_least=at_least,
        )
        if self._model._observe(report):
            self.reason = "callback"
        return bool(self.reason)


def _table(A: BooleanMatrix) -> Table:
    """Return what may be covered and what must, cell by cell."""
    if A.cells > TUNING.cells_to_cover:
        raise InputError(
            f"MinimalCover takes up to {TUNING.cells_to_cover:,} cells, and the matrix has "
            f"{A.cells:,}. GreConD(n_components=None) covers it, too, with more components."
        )
    return Table.of(A)
