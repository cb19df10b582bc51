"""The starts of a fit, and the search on from them.

Starts are ways to get at components: quick ones (`elbmf.search.starts`), after which there is a
result, and the runs of the relaxation. What they lead to is refined, reduced to the components that
are asked for, and becomes a population (`elbmf.search.population`), which is improved until its
work or its time is used up.
"""

import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Protocol, Self, TypeVar

import numpy as np

from elbmf.boolean.fitted import FittedFactors
from elbmf.boolean.packed import PackedFactors
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.annealing import can_anneal, sweeps_of
from elbmf.search.climber import Individual
from elbmf.search.evolution import Search
from elbmf.search.exact import solve_exactly
from elbmf.search.local import LocalSearch
from elbmf.search.population import Population
from elbmf.search.short_relaxation import epoch_work
from elbmf.search.starts import STARTS, Circumstances, Start
from elbmf.utils.progress import FitProgress
from elbmf.utils.tuning import TUNING

__all__ = ["Memory", "Pace", "Portfolio", "planned_runs", "search_work"]

T = TypeVar("T")


def planned_runs(
    A: BooleanMatrix,
    # Components that are asked for, and epochs to spend
    k: int,
    epochs: int,
    *,
    refine: bool,  # Whether the runs will be pooled
    quick_runs: bool,  # Whether runs of fewer epochs are whole runs, too
) -> list[tuple[int, int]]:
    """Return the components of each run, and its epochs at most, when nothing is said of them."""
    if not quick_runs or A.ones > TUNING.ones_for_several_runs:
        return [(k, epochs)]
    if not refine:
        return [(k, epochs)] * TUNING.runs
    more = round(TUNING.overshoot * k)
    if more > min(A.shape):
        return [(k, epochs)]
    share = epochs if A.ones * k < TUNING.small else epochs / 2
    return [(k, math.ceil(share)), (more, math.ceil(share / TUNING.overshoot))]


class Pace:
    """How many epochs runs may have, so that all of them end in their part of a time limit."""

    def __init__(
        self,
        A: BooleanMatrix,
        runs: list[tuple[int, int]],  # Components and epochs of each
        deadline: float,  # Of the fit, as of `time.perf_counter`
    ) -> None:
        self._A, self._runs = A, runs
        now = time.perf_counter()
        self.deadline = math.inf  # Of the runs
        if deadline < math.inf:
            self.deadline = now + TUNING.relaxation_in_time * (deadline - now)
        self._slower = 1.0  # By which the last run was slower than estimated

    def epochs(self, run: int) -> int:
        """Return what a run may have, counted from 1; 0 if that is too few to be worth it."""
        seconds = [epochs * self._seconds(k) for k, epochs in self._runs[run - 1 :]]
        wanted = self._runs[run - 1][1]
        share = (self.deadline - time.perf_counter()) / sum(seconds)
        if share >= 1:
            return wanted
        epochs = math.ceil(share * wanted)
        fewest = TUNING.fewest_epochs if run == 1 else TUNING.share_of_later_run * wanted
        return epochs if epochs >= fewest else 0

    def lacks_time_for_singular_vectors(self, k: int) -> bool:
        """Tell whether singular vectors would take too much of the time that is left."""
        seconds = TUNING.singular_vectors * sum(self._A.shape) * k**2 / 1e9
        return seconds > TUNING.singular_vectors_in_time * (self.deadline - time.perf_counter())

    def note(self, run: int, epochs: int, seconds: float) -> None:
        """Let what a run took tell what the next will take."""
        self._slower *= seconds / (epochs * self._seconds(self._runs[run - 1][0]))

    def _seconds(self, k: int) -> float:
        """Estimate what an epoch takes."""
        return self._slower * epoch_work(self._A, k) / 1e9


def search_work(A: BooleanMatrix, k: int, epochs: int, effort: float) -> float:
    """Estimate what the search of a fit may take, about in nanoseconds."""
    epoch = epoch_work(A, k)
    work = TUNING.search_to_relaxation * epochs * epoch
    longer = TUNING.more_annealing if can_anneal(A, k) else TUNING.more_search
    more = longer * work * (1 - TUNING.epoch / epoch)
    more = max(more, min(TUNING.more_on_small * more, TUNING.small_search))
    return effort * max(work, min(work + more, TUNING.longest_search))


class Memory(Protocol):
    """What a portfolio keeps, so that another process can go on; see `Session`."""

    reduced: list[PackedFactors]
    work: int
    # Which run the search goes on from, and where it is, if it had begun
    place: tuple[int, Population] | None

    def keep_reduced(self, factors: PackedFactors, work: int) -> None:
        """Keep what another run was reduced to, after so much work."""

    def keeper(self, run: int, epoch: float) -> Callable[[Population], None] | None:
        """Return what keeps the place of a search, about every so many epochs."""

    def write(self) -> None:
        """Keep all there is, now."""


class Portfolio:
    """Starts of one fit, and the search on from them.

    Within its context, starts are carried out and refined beside what else the fit does.
    """

    def __init__(
        self,
        local: LocalSearch,  # The data, and the coordinate descent on it; its alarm ends all
        k: int,  # Components to end with
        generator: np.random.Generator,  # For the population
        # What the search may take, about in nanoseconds, see `search_work`, and what it may take to
        # start. A time limit counts instead of either
        work: float,
        start_work: float,
        began: float,  # When the fit began, as of `time.perf_counter`
        # Told of the progress; a true return value ends the search
        tell: Callable[[FitProgress], bool] = lambda report: False,
    ) -> None:
        self.local = local
        self.k = k
        self.found: list[PackedFactors] = []  # What the quick starts have led to
        self._quick_starts: list[PackedFactors] = []  # Those, as they were before any climbed
        self._tell = tell
        self._began = began
        self._limited = local.alarm.deadline < math.inf
        if self._limited:
            work, start_work = math.inf, 1e9 * (local.alarm.deadline - time.perf_counter())
        self._sweeps = sweeps_of(local, k, TUNING.share_of_annealing * start_work)
        if self._sweeps:
            long = min(1.0, start_work / TUNING.longest_search)
            work *= 1 + (TUNING.annealed_longer - 1) * long
        self._work, self._start_work = work, start_work
        self._search = Search(local, k, generator, work, self._observe)
        self.stopped = False  # Whether it was told to end
        self._epochs = 0
        self._beside = ThreadPoolExecutor(1)
        self._starting: list[Future[PackedFactors | None]] = []
        self._refining: list[Future[tuple[PackedFactors, int]]] = []
        self._runs_ended = False  # Whether the runs have ended
        self._relaxing = False  # Whether more of them are worth their while
        self._ahead = ThreadPoolExecutor(1)
        self._climbing: Future[PackedFactors] | None = None
        self._best_ahead: Individual | None = None  # What that has led to by now

    def __enter__(self) -> Self:
        self._search.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._runs_ended = True
        # First, for it rings the alarm that ends what the others do.
        self._search.__exit__(*exception)
        self._beside.shutdown(cancel_futures=True)
        self._ahead.shutdown()

    def begin(self) -> None:
        """Carry out the quick starts; after the first there is a result.

        The others go on beside what follows. With a time limit, the best of them climbs as long as
        there is nothing else.
        """
        first = self._start(STARTS[0], 1.0)
        assert first is not None
        self.found = [first]
        shares = [TUNING.start_in_time] + [TUNING.other_starts_in_time] * len(STARTS)
        self._starting = [
            self._beside.submit(self._start, start, share)
            for start, share in zip(STARTS[1:], shares, strict=False)
        ]
        if self._limited:
            self._climbing = self._ahead.submit(self._climb, list(self._starting))
        else:
            self._starting.append(self._beside.submit(self._refined, first))

    def go_on(self, population: Population) -> None:
        """Take what a search was at for all there is: its starts and runs are not needed again."""
        best = population.best
        self.found = [self.local.pack(*best.to_arrays(self.local.A.shape))]

    def _climb(self, starting: list[Future[PackedFactors | None]]) -> PackedFactors:
        """Climb from the best of the starts until the runs have ended."""
        found = [each for start in starting if (each := start.result()) is not None] + self.found
        least = min(found, key=lambda each: each.cost)

        def over(best: Individual) -> bool:
            self._best_ahead = best
            return self._runs_ended

        return self._search.climb_beside(least, over)

    def _start(self, start: Start, share: float) -> PackedFactors | None:
        """Carry out a quick start within a share of the time, and refine it unless it is the first.

        Not if that time is over already.
        """
        until = math.inf
        if self._limited:
            until = self._began + share * (self.local.alarm.deadline - self._began)

        def stop(work: int) -> bool:
            late = time.perf_counter() > until
            return late or (not self._limited and work > TUNING.share_of_start * self._start_work)

        if self.found and stop(0):
            return None
        found = start(Circumstances(self.local, self.k, stop))
        if found is None:
            return None
        factors = self.local.pack(*found)
        return self._refined(factors) if self.found else factors

    def _refined(self, factors: PackedFactors) -> PackedFactors:
        refined = self.local.pack(*factors.to_arrays())
        self.local.descend(refined)
        return refined

    def _collect_starts(self) -> None:
        """Wait for the starts."""
        self._runs_ended = True
        found = [start.result() for start in self._starting]
        self.found = [each for each in found if each is not None] or self.found
        self._quick_starts = list(self.found)
        if self._climbing is not None:
            self.found.append(self._climbing.result())
        self._starting = []

    def take(self, run: FittedFactors) -> None:
        """Refine what a run has found, beside what follows, and reduce it to k components."""
        self._refining.append(self._beside.submit(self._reduced, run))

    def _reduced(self, run: FittedFactors) -> tuple[PackedFactors, int]:
        factors = self.local.pack(run.U, run.V)
        run.stages = {"rounding": factors.cost}
        work = self.local.descend(factors)
        run.stages["refinement"] = factors.cost
        if factors.n_slots > self.k:
            factors, its_work = self._search.reduced(factors)
            work += its_work
            run.stages["reduction"] = factors.cost
        return factors, work

    def more_runs_pay(self, run: FittedFactors) -> bool:
        """Tell whether a run, the last that was taken, is quick or not far above the quick starts.

        With a time limit, it is not waited long for what either leads to.
        """
        if self.local.A.ones * self.k < TUNING.small:
            return True
        patience = None
        if self._limited:
            left = self.local.alarm.deadline - time.perf_counter()
            patience = TUNING.patience_in_time * max(0.0, left)
        wait(self._starting, patience)
        costs = [start.cost for each in self._starting if (start := _result(each)) is not None]
        most = (1 + TUNING.above_quick_starts) * min(costs, default=math.inf)
        if run.cost <= most:
            return True
        wait(self._refining, patience)
        refined = _result(self._refining[-1])
        return refined is None or refined[0].cost <= most

    def improve(self, runs: list[FittedFactors], memory: Memory) -> FittedFactors:
        """Search on from what the quick starts and the runs, all of them taken, have found."""
        self._epochs = runs[-1].n_iter if runs else 0
        position, start = memory.place or self._started(runs, memory)
        best = _copy(runs[position]) if runs else FittedFactors(*self.found[0].to_arrays())
        keeper = memory.keeper(position, epoch_work(self.local.A, self.k))
        if not isinstance(start, Population):
            least = min(start, key=lambda each: each.cost)
            start.insert(0, self._solved(least, best, self._start_work))
        if isinstance(start, Population) or best.bound < start[0].cost:
            factors = self._search.improve(
                start,
                keeper,
                relaxing=self._relaxing,
                sweeps=self._sweeps,
                interruptible=True,
            )
            factors = self._solved(factors, best, self._work)
        else:
            factors = start[0]
        if self.stopped:
            memory.write()
            best.stop_reason = "callback"
        elif self._search.aborted:
            best.stop_reason = "interrupted"
        elif not runs:
            best.stop_reason = "time_limit"
        return self._ended(best, "search", factors)

    def _solved(self, factors: PackedFactors, fitted: FittedFactors, work: float) -> PackedFactors:
        """Return better factors, or prove that there are none, in a share of the work."""
        local, k = self.local, self.k
        small = k <= TUNING.components_to_prove and local.A.cells <= TUNING.cells_to_prove
        if not small or self._search.interrupted or fitted.bound == factors.cost:
            return factors
        most = TUNING.share_of_proof * work
        exact = solve_exactly(local, k, factors.cost, most, lambda: local.alarm.rung)
        self._search.work += exact.work
        fitted.bound = max(fitted.bound, exact.bound)
        if exact.U is None or exact.V is None:
            return factors
        return local.pack(exact.U, exact.V)

    def make_do(self, best: FittedFactors | None, reason: str) -> FittedFactors:
        """Make the best of what there is in little time, for somebody has ended the fit.

        Of the runs, if there are any, ``best`` is the best.
        """
        local, found = self.local, self._so_far()
        if self._best_ahead is not None:
            found.append(local.pack(*self._best_ahead.to_arrays(local.A.shape)))
        if best is None:
            best = FittedFactors(*found[0].to_arrays())
        elif reason == "interrupted":
            # At once.
            found += [local.pack(best.U, best.V)] if best.U.shape[1] <= self.k else []
        else:
            factors = local.pack(best.U, best.V)
            if factors.n_slots > self.k:
                factors, _ = self._search.reduced(factors)
            elif local.A.cells <= TUNING.cells_in_no_time:
                local.descend(factors, TUNING.turns_at_last)
            found.append(factors)
        best.stop_reason = reason
        return self._ended(best, "refinement", min(found, key=lambda each: each.cost))

    @property
    def least(self) -> int:
        """What the best so far costs."""
        costs = [each.cost for each in self._so_far()]
        return min(costs if self._best_ahead is None else [*costs, self._best_ahead.cost])

    def _so_far(self) -> list[PackedFactors]:
        """Return what was found so far, without waiting for any more."""
        found = list(self.found)
        found += [begun for start in self._starting if (begun := _result(start)) is not None]
        found += [reduced[0] for run in self._refining if (reduced := _result(run)) is not None]
        return found

    def _started(
        self, runs: list[FittedFactors], memory: Memory
    ) -> tuple[int, list[PackedFactors]]:
        """Collect what the starts have led to; tell which of the runs was the best."""
        search, reduced = self._search, list(memory.reduced)
        search.work += memory.work
        for refining in self._refining:
            factors, work = refining.result()
            reduced.append(factors)
            search.work += work
            if not search.interrupted:
                memory.keep_reduced(factors, search.work)
        self._collect_starts()
        position = 0
        if reduced:
            self._relaxing = self._relaxation_pays(reduced)
            run_losses = [factors.cost for factors in reduced]
            position = int(np.argmin(run_losses))
            runs[position].run_losses = run_losses
        known = [*reduced, *self.found]
        return position, [*known, *self._pooled(reduced), *self._from_below(known)]

    def _relaxation_pays(self, reduced: list[PackedFactors]) -> bool:
        """Tell whether the runs have led to less than the quick starts, and others are cheap."""
        A = self.local.A
        work = TUNING.epochs_of_newcomer * epoch_work(A, self.k)
        if work > TUNING.share_of_newcomer * self._start_work:
            return False
        costs = [each.cost for each in self._quick_starts]
        return min(each.cost for each in reduced) < min(costs, default=0)

    def _pooled(self, reduced: list[PackedFactors]) -> list[PackedFactors]:
        """Pool what the runs have led to, and all there is."""
        search = self._search
        pools = [pool for pool in (reduced, [*reduced, *self.found]) if len(pool) > 1]
        if search.over or min(each.cost for each in pools[-1]) == 0:
            return []
        # Not of the work, which more of must not change the way of the search.
        most = TUNING.share_of_pool * self._start_work
        with ThreadPoolExecutor(self.local.n_jobs) as pool:
            found = list(pool.map(lambda pool: search.reduced(*pool, most_work=most), pools))
        search.work += sum(work for _, work in found)
        return [factors for factors, _ in found]

    def _from_below(self, known: list[PackedFactors]) -> list[PackedFactors]:
        """Search for what covers no zero, where so little is left that to cover one hardly pays.

        As such a search has less to try, it gets further.
        """
        local, search = self.local, self._search
        least = min(each.cost for each in known)
        left = TUNING.nearly_covered * local.weights.missed * local.A.ones
        if search.over or not 0 < least <= left or local.weights == local.from_below.weights:
            return []
        below, starts = local.from_below, []
        for each in known:
            V = each.to_arrays()[1]
            starts.append(below.pack(np.zeros((local.A.shape[0], V.shape[0]), np.bool_), V))
            search.work += below.descend(starts[-1])
        # Not of the work, which more of must not change the way of the search.
        most = TUNING.share_from_below * self._start_work

        def observe(cost: int, progress: float) -> bool:
            return self._observe(least, search.progress)

        with Search(below, self.k, np.random.default_rng(0), most, observe) as other:
            found = local.pack(*other.improve(starts, interruptible=True).to_arrays())
        search.aborted = other.aborted
        search.work += other.work + local.descend(found)
        return [found]

    def _observe(self, cost: int, progress: float) -> bool:
        report = FitProgress(
            iteration=self._epochs,
            loss=cost,
            best=cost,
            seconds=time.perf_counter() - self._began,
            stage="search",
            progress=progress,
        )
        self.stopped = self.stopped or self._tell(report)
        return self.stopped

    def _ended(self, best: FittedFactors, stage: str, factors: PackedFactors) -> FittedFactors:
        best.stages[stage] = best.cost = factors.cost
        U, V = factors.to_arrays()
        more = self.k - U.shape[1]
        best.U, best.V = np.pad(U, ((0, 0), (0, more))), np.pad(V, ((0, more), (0, 0)))
        return best


def _copy(run: FittedFactors) -> FittedFactors:
    """Return a run to go on from, for what is kept of it stays as it is."""
    return replace(run, stages=dict(run.stages))


def _result(future: Future[T]) -> T | None:
    """Return what there is already."""
    return future.result() if future.done() and not future.cancelled() else None
