"""From rank to rank as a method gets there, and ``n_components="auto"``: the rank that pays."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elbmf.boolean.coverage import cover
from elbmf.boolean.fitted import FittedFactors
from elbmf.boolean.packed import PackedFactors
from elbmf.boolean.product import Bools
from elbmf.estimators.resuming import Session, identity
from elbmf.estimators.warning import warn_caller
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import CRITERIA, TWO_RATES, savings
from elbmf.ranks.path import (
    Factors,
    FinishedSteps,
    Nested,
    Prefixes,
    RankPath,
    RankProgress,
    Stepper,
)
from elbmf.ranks.step_folder import StepFolder, remove_steps
from elbmf.search.evolution import Search
from elbmf.search.local import LocalSearch
from elbmf.utils.tuning import TUNING

if TYPE_CHECKING:
    from elbmf.estimators.base import BooleanFactorizer

__all__ = [
    "Refit",
    "Stopped",
    "WarmStarts",
    "at_best_rank",
    "finished_factors",
    "fitted_greedily",
    "prefixes",
    "rank_path",
]

# How n_components="auto" chooses: among the ranks up to this, and twice as many as long as the last
# of them is the best.
_CRITERION = "mdl"
_FIRST_RANKS = 32


class Stopped(Exception):
    """The callback ended a fit, and with it the search for a rank."""

    def __init__(self, factors: Factors) -> None:
        super().__init__()
        self.factors = factors


@dataclass
class Refit:
    """A method that factorizes one matrix at any rank, from nothing."""

    method: "BooleanFactorizer"
    A: BooleanMatrix
    # Returns parameters to set at a rank
    parameters: Callable[[int], dict[str, Any]] = lambda rank: {}
    n_iter: int = 0  # Iterations that took so far

    def __call__(self, rank: int, generator: np.random.Generator) -> Factors:
        """Factorize at a rank."""
        model = copy.copy(self.method)
        model.set_params(n_components=rank, **self.parameters(rank))
        if hasattr(model, "checkpoint"):
            # What is kept of a search over ranks are its steps, of which this fit is one.
            model.checkpoint = None
        fitted = model._factorize(self.A, generator)
        self.n_iter += fitted.n_iter
        factors = finished_factors(model, self.A, fitted)
        if fitted.stop_reason == "interrupted":
            raise KeyboardInterrupt
        if fitted.was_stopped:
            raise Stopped(factors)
        return factors


class WarmStarts(Stepper):
    """Steps that start from the factors of a neighbouring rank."""

    def __init__(
        self,
        local: LocalSearch,  # The data and the descent
        refit: Refit,
        work: Callable[[int], float],  # What the search of a fit at a given rank may take
        effort: float,  # As of the fits
    ) -> None:
        super().__init__(refit, lambda: refit.n_iter)
        self._local = local
        self._work = work
        self._least_polish = effort * TUNING.least_polish

    def shrink(self, factors: Factors, rank: int, generator: np.random.Generator) -> Factors:
        """Drop the least useful components, let the others adapt, and search a little."""
        with self._search(rank, generator) as search:
            return _unpacked(search.improve([search.reduce(self._packed(factors))]))

    def grow(self, factors: Factors, rank: int, generator: np.random.Generator) -> Factors:
        """Seed components on what is uncovered, and search a little."""
        with self._search(rank, generator) as search:
            return _unpacked(search.improve([self._packed(factors)]))

    def polish(self, found: Sequence[Factors], generator: np.random.Generator) -> Factors:
        """Search on from all that was found at a rank."""
        rank = found[0].rank
        work = max(TUNING.share_of_polish * self._work(rank), self._least_polish)
        with Search(self._local, rank, generator, work) as search:
            polished = search.improve([self._packed(factors) for factors in found])
        self._local.settle(polished)
        return _unpacked(polished)

    def _search(self, rank: int, generator: np.random.Generator) -> Search:
        return Search(self._local, rank, generator, TUNING.share_of_step * self._work(rank))

    def _packed(self, factors: Factors) -> PackedFactors:
        """Pack factors, and let them adapt."""
        packed = self._local.pack(factors.U, factors.V)
        self._local.descend(packed)
        return packed


def _unpacked(found: PackedFactors) -> Factors:
    return Factors(*found.to_arrays(), found.cost)


def finished_factors(
    method: "BooleanFactorizer", A: BooleanMatrix, fitted: FittedFactors
) -> Factors:
    """Return what a method has found as the factors of a rank: refined, with their cost."""
    fitted = method._refined(A, fitted)
    cost = cover(A, fitted.U, fitted.V, method._threads).cost(method._weights(A.shape))
    return Factors(fitted.U, fitted.V, cost)


def prefixes(
    method: "BooleanFactorizer",
    A: BooleanMatrix,
    # Returns one or several sequences of so many components, of which each rank takes the one that
    # costs least there
    find: Callable[[int], Sequence[Nested]],
) -> Prefixes:
    """Return the steps of a method whose components do not depend on how many follow."""

    def finish(U: Bools, V: Bools) -> Factors:
        return finished_factors(method, A, FittedFactors(U, V))

    return Prefixes(find, finish)


def fitted_greedily(nested: Nested, *, stopped: bool = False) -> FittedFactors:
    """Hand back components that were found one after the other."""
    costs = nested.costs[1 : nested.found + 1]
    if stopped:
        reason = "callback"
    elif nested.costs[-1] == 0:
        reason = "exact"
    else:
        reason = "n_components" if nested.found == nested.U.shape[1] else "no gain"
    return FittedFactors(nested.U, nested.V, nested.found, reason, {"cost": costs})


def at_best_rank(method: "BooleanFactorizer", A: BooleanMatrix, seed: int) -> FittedFactors:
    """Choose the number of components by the length of the description (MDL).

    With a ``checkpoint``, finished steps are kept there until the search has ended.
    """
    folder = getattr(method, "checkpoint", None)
    if folder is None:
        return _chosen(method, A, seed)
    session = Session.of(method, A, np.random.default_rng(seed))
    finished = None
    if session.result is None:
        given = method.random_state is not None
        note = identity(method, A) | ({"random_state": seed} if given else {})
        finished = StepFolder(folder, note)
        seed = seed if given else finished.remember_seed(seed)
    fitted = session.conclude(lambda: _chosen(method, A, seed, finished))
    if session.result is not None:
        remove_steps(Path(folder))
    return fitted


def _chosen(
    method: "BooleanFactorizer", A: BooleanMatrix, seed: int, finished: FinishedSteps | None = None
) -> FittedFactors:
    stepper = method._stepper(A)
    path = rank_path(method, A, stepper, seed, finished)
    most = min(_FIRST_RANKS, *A.shape)
    reason = "rank chosen"
    try:
        path.zoom(most, _CRITERION)
        while path.best(_CRITERION) == most < min(A.shape):
            most = min(2 * most, *A.shape)
            path.zoom(most, _CRITERION)
    except Stopped as stopped:
        reason = "callback"
        path.factors.setdefault(stopped.factors.rank, stopped.factors)
    best = path.best(_CRITERION)
    if reason != "callback":
        best = _paying(method, path, best, stepper.fewest)
    if best == 0 and reason != "callback":
        warn_caller(
            "No number of components describes the matrix more briefly than none at all: it "
            "may hold no groups. n_components='auto' returns one component, which is empty."
        )
    table = {
        "rank": np.array(path.ranks),
        "loss": np.array([path.counts(rank).errors for rank in path.ranks]),
        _CRITERION: np.array(path.values(_CRITERION)),
    }
    U, V, _ = path.factors[best]
    if best == 0:
        # Factors have at least one component, which may be empty.
        n, m = A.shape
        U, V = np.zeros((n, 1), np.bool_), np.zeros((1, m), np.bool_)
    return FittedFactors(U, V, stepper.n_iter(), reason, table)


def rank_path(
    method: "BooleanFactorizer",
    A: BooleanMatrix,
    stepper: Stepper,
    seed: int,
    finished: FinishedSteps | None = None,
    observe: Callable[[RankProgress], Any] | None = None,
) -> RankPath:
    """Return the path of a method, by criteria that take errors as the method does."""
    criteria = TWO_RATES if method._has_rates else CRITERIA
    return RankPath(A, stepper, seed, finished, observe, method._threads, criteria)


def _paying(method: "BooleanFactorizer", path: RankPath, rank: int, fewest: int) -> int:
    """Leave out components that save nothing beside the others; return how many are left.

    By the criterion they are not worth having, however the path has come by them.
    """
    while rank > fewest:
        U, V, _ = path.factors[rank]
        given = (path.A, U, V, method._threads)
        order, saved = savings(*given, two_rates=method._has_rates)
        kept = np.sort(order[(saved > 0) | (order < fewest)])
        if len(kept) == rank:
            break
        weights = method._weights(path.A.shape)
        cost = cover(path.A, U[:, kept], V[kept], method._threads).cost(weights)
        path.drop(rank, kept, cost)
        rank = len(kept)
    return rank
