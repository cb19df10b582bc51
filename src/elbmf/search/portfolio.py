"""The runs of a fit, pooled: which runs to make, and what to make of them.

Each run of the relaxation ends in Boolean factors. They are refined, reduced to the components that
are asked for, and recombined, with single rows and columns beside them; from the best of that the
search goes on (`elbmf.search.moves`) until its work or its time is used up.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from elbmf.boolean.fitted import FittedFactors
from elbmf.boolean.packed import PackedFactors
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.local import LocalSearch
from elbmf.search.moves import Search, SearchPosition, make_do, single_lines
from elbmf.utils.progress import FitProgress
from elbmf.utils.tuning import TUNING

__all__ = ["Memory", "Portfolio", "epoch_work", "planned_runs", "search_work"]


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


def epoch_work(A: BooleanMatrix, k: int) -> float:
    """Estimate what an epoch takes, about in nanoseconds."""
    ones = min(A.ones, A.cells / 8)
    return TUNING.epoch + k * (TUNING.epoch_per_one * ones + TUNING.epoch_per_line * sum(A.shape))


def search_work(A: BooleanMatrix, k: int, epochs: int, effort: float) -> float:
    """Estimate what the search of a fit may take, about in nanoseconds."""
    return effort * TUNING.search_to_relaxation * epochs * epoch_work(A, k)


class Memory(Protocol):
    """What a portfolio keeps, so that another process can go on; see `Session`."""

    reduced: list[PackedFactors]
    work: int
    # Which run the search goes on from, and where it is, if it had begun
    place: tuple[int, SearchPosition] | None

    def keep_reduced(self, factors: PackedFactors, work: int) -> None:
        """Keep what another run was reduced to, after so much work."""

    def keeper(self, run: int, epoch: float) -> Callable[[SearchPosition], None] | None:
        """Return what keeps the place of a search, about every so many epochs."""

    def write(self) -> None:
        """Keep all there is, now."""


@dataclass
class Portfolio:
    """Runs of one fit, and the search on from them."""

    local: LocalSearch  # The data, and the coordinate descent on it
    k: int  # Components to end with
    generator: np.random.Generator  # For the choice of moves
    work: float  # What the search may take, about in nanoseconds, see `search_work`
    began: float  # When the fit began, as of `time.perf_counter`
    # Seconds from then on until which to search, in place of ``work``
    time_limit: float | None = None
    # Told of the progress; a true return value ends the search
    tell: Callable[[FitProgress], bool] = lambda report: False

    def improve(self, runs: list[FittedFactors], memory: Memory) -> FittedFactors:
        """Refine what the runs have found, recombine it, and search on from there."""
        stopped = False
        work, deadline = self.work, math.inf
        if self.time_limit is not None:
            work, deadline = math.inf, self.began + self.time_limit

        def observe(cost: int, progress: float) -> bool:
            nonlocal stopped
            report = FitProgress(
                iteration=runs[-1].n_iter,
                loss=cost,
                seconds=time.perf_counter() - self.began,
                stage="search",
                progress=progress,
            )
            stopped = self.tell(report)
            return stopped

        with Search(self.local, self.generator, work, deadline, observe) as search:
            position, start = memory.place or self._recombined(search, runs, memory)
            best = runs[position]
            factors = search.improve(
                start, memory.keeper(position, epoch_work(self.local.A, self.k))
            )
        if stopped:
            memory.write()
            best.stop_reason = "callback"
        return self._ended(best, "search", factors)

    def make_do(self, best: FittedFactors) -> FittedFactors:
        """Make the best of one run in little time, for a callback has ended the fit."""
        factors = self.local.pack(best.U, best.V, with_spare=True)
        return self._ended(best, "refinement", make_do(self.local, factors, self.k))

    def _recombined(
        self, search: Search, runs: list[FittedFactors], memory: Memory
    ) -> tuple[int, PackedFactors | SearchPosition]:
        """Refine what the runs have found, and recombine it; tell which of them was the best."""
        k, local, reduced = self.k, self.local, list(memory.reduced)
        search.work += memory.work
        for run in runs[len(reduced) :]:
            factors = local.pack(run.U, run.V, with_spare=True)
            run.stages = {"rounding": factors.cost}
            local.descend(factors)
            run.stages["refinement"] = factors.cost
            reduced.append(search.reduce(factors, k))
            run.stages["reduction"] = reduced[-1].cost
            if search.interrupted:
                break
            memory.keep_reduced(reduced[-1], search.work)
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

    @staticmethod
    def _ended(best: FittedFactors, stage: str, factors: PackedFactors) -> FittedFactors:
        best.stages[stage] = best.cost = factors.cost
        best.U, best.V = factors.to_arrays()
        return best
