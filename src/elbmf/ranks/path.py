"""Factorizations of one matrix at many ranks, each made from its neighbours (Sec. 4.1).

A path starts from one fit at the highest rank. From there it *shrinks*: the least useful component
is dropped, the others adapt. Then it *grows*, from no component at all: one is seeded on what is
still uncovered. Each rank keeps the better of the two, so that the loss never rises with the rank,
and the whole path costs a small multiple of one fit. The rank that a criterion then chooses, and
its neighbours, are fit from nothing, too: the choice must not hang on how a path got there.

Up to high ranks, not every rank is looked at: those that halve from the highest on are, and then
those around the best of them, ever closer.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.product import Bools
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import CRITERIA, Counts, Criterion, count

__all__ = [
    "MOST_SCANNED",
    "Factors",
    "FinishedSteps",
    "Nested",
    "PathStep",
    "Prefixes",
    "RankPath",
    "RankProgress",
    "Stepper",
]

MOST_SCANNED = 40
"""Highest rank up to which a path looks at every rank, unless told otherwise."""

# Components that are grown one after the other, at most; beyond, a fit is as quick.
_FARTHEST_GROWTH = 8

# Rounds of fits around the rank that is chosen, at most.
_MOST_ROUNDS = 4

_KINDS = ("fit", "shrink", "grow", "regrow", "polish", "reshrink")


class Factors(NamedTuple):
    """Boolean factors, of shapes (n, k) and (k, m), and what they cost."""

    U: Bools
    V: Bools
    cost: int

    @property
    def rank(self) -> int:
        """K."""
        return self.U.shape[1]


class PathStep(NamedTuple):
    """What was done to get to a rank: a fit, or a change of the factors of another rank."""

    kind: str
    start: int
    rank: int


FinishedSteps = MutableMapping[PathStep, Factors | None]
"""What finished steps have led to, None where the method could not do one."""


class Stepper:
    """How a method gets from rank to rank: here by starting anew at each.

    What else it can do, it says in the other methods; None leaves a step to a fit.
    """

    def __init__(
        self,
        # Factorizes at a given rank with a given generator
        refit: Callable[[int, np.random.Generator], Factors],
        n_iter: Callable[[], int] = lambda: 0,  # Tells the iterations that this took so far
        fewest: int = 0,  # Components that there are in any case
    ) -> None:
        self.fit = refit
        self.n_iter = n_iter
        self.fewest = fewest

    def shrink(self, factors: Factors, rank: int, generator: np.random.Generator) -> Factors | None:
        """Do with fewer components."""
        return None

    def grow(self, factors: Factors, rank: int, generator: np.random.Generator) -> Factors | None:
        """Add components, never for the worse."""
        return None

    def polish(self, found: Sequence[Factors], generator: np.random.Generator) -> Factors | None:
        """Make the best of several factors of one rank, never worse than any."""
        return None


class Nested(NamedTuple):
    """Factors whose first r components are the factors of rank r, and what each rank costs."""

    U: Bools
    V: Bools  # In both, components that were not found are empty, and the last ones
    costs: NDArray[np.int64]  # Of rank 0 to k
    found: int  # Components that are not empty

    @classmethod
    def of(cls, U: Bools, V: Bools, costs: Sequence[int], rank: int) -> "Nested":
        """Add empty components to those found, up to a rank."""
        found = U.shape[1]
        more = rank - found
        return cls(
            np.pad(U, ((0, 0), (0, more))),
            np.pad(V, ((0, more), (0, 0))),
            np.pad(np.array(costs, dtype=np.int64), (0, more), mode="edge"),
            found,
        )


class Prefixes(Stepper):
    """Steps of a method that finds one component after the other, and never changes one.

    It runs once, at the highest rank; lower ranks take its first components.
    """

    def __init__(
        self,
        # Returns sequences of a given number of components; a rank takes the first of those that
        # cost least there
        find: Callable[[int], Sequence[Nested]],
        finish: Callable[[Bools, Bools], Factors],  # Makes of U and V the factors of a rank
    ) -> None:
        super().__init__(self._first, lambda: self._iterations)
        self._find = find
        self._finish = finish
        self._longest = self._iterations = 0
        self._found: Sequence[Nested] = ()

    def _first(self, rank: int, generator: np.random.Generator) -> Factors:
        """Take the first components of the best sequence."""
        if rank > self._longest:
            self._found, self._longest = self._find(rank), rank
            self._iterations += rank
        best = min(self._found, key=lambda nested: nested.costs[rank])
        U, V = np.ascontiguousarray(best.U[:, :rank]), best.V[:rank].copy()
        return self._finish(U, V)

    def shrink(self, factors: Factors, rank: int, generator: np.random.Generator) -> Factors | None:
        """Do the same: there is no better way to leave components out."""
        return self.fit(rank, generator)


@dataclass(frozen=True)
class RankProgress:
    """How far a path is.

    Parameters
    ----------
    step : PathStep
        What was just done.
    done, total : int
        Steps; the total is a guess where not every rank is looked at.
    cost : int
        The least cost so far at that rank.
    held_out : bool
        Whether this is the path on which cells are held out.
    of_runs : bool
        Whether the steps are runs that tell how stable the components are.
    """

    step: PathStep
    done: int
    total: int
    cost: int
    held_out: bool = False
    of_runs: bool = False


class RankPath:
    """The best factorization found at each rank."""

    def __init__(
        self,
        A: BooleanMatrix,
        stepper: Stepper,  # How to get from rank to rank
        seed: int,  # Each step has a generator of its own, made from this and the step
        # Steps that need not be done again; those that are done are added
        finished: FinishedSteps | None = None,
        # Called with the `RankProgress` after each step
        observe: Callable[[RankProgress], Any] | None = None,
        n_jobs: int | None = None,  # Threads for counting
        criteria: Mapping[str, Criterion] = CRITERIA,
    ) -> None:
        self.A = A
        self._criteria = criteria
        self._stepper = stepper
        self._seed = seed
        self._finished: FinishedSteps = {} if finished is None else finished
        self._observe = observe
        self.n_jobs = n_jobs
        self._taken: set[PathStep] = set()
        self._found: dict[int, list[Factors]] = {}
        self._done = 0
        self._total = 0
        self._counts: dict[int, tuple[Factors, Counts]] = {}
        n, m = A.shape
        nothing = Factors(np.zeros((n, 0), np.bool_), np.zeros((0, m), np.bool_), A.ones)
        self.factors: dict[int, Factors] = {0: nothing}  # By rank; rank 0 is always there

    @property
    def ranks(self) -> list[int]:
        """The ranks looked at, ascending, with 0."""
        return sorted(self.factors)

    def counts(self, rank: int) -> Counts:
        """Count what criteria are made of."""
        factors = self.factors[rank]
        known = self._counts.get(rank)
        if known is None or known[0] is not factors:
            known = factors, count(self.A, factors.U, factors.V, self.n_jobs)
            self._counts[rank] = known
        return known[1]

    def values(self, criterion: str) -> list[float]:
        """Return a criterion at each of the `ranks`."""
        return [self._criteria[criterion](self.counts(rank)) for rank in self.ranks]

    def best(self, criterion: str) -> int:
        """Return the rank that a criterion chooses; the lowest of equals.

        It may be 0, unless there are components in any case.
        """
        values = zip(self.ranks, self.values(criterion), strict=True)
        allowed = [(value, rank) for rank, value in values if rank >= self._stepper.fewest]
        return min(allowed)[1] if allowed else 0

    def drop(self, rank: int, kept: NDArray[np.int64], cost: int) -> None:
        """Let some components of a rank, which cost so much, be the factors of a lower one."""
        U, V, _ = self.factors[rank]
        self.factors[len(kept)] = Factors(np.ascontiguousarray(U[:, kept]), V[kept], cost)

    def scan(self, most: int, criterion: str) -> None:
        """Look at every rank from 1 to ``most``: downwards, upwards, and again at the best."""
        self._total = 2 * most + 6
        fewest = max(1, self._stepper.fewest)
        most = max(most, fewest)
        self._take(PathStep("fit", 0, most))
        for rank in range(most - 1, fewest - 1, -1):
            if not self._take(PathStep("shrink", rank + 1, rank)):
                self._take(PathStep("fit", 0, rank))
        for rank in range(fewest, most + 1):
            if rank - 1 in self.factors:
                self._take(PathStep("grow", rank - 1, rank))
        self._confirm(criterion)

    def zoom(self, most: int, criterion: str) -> None:
        """Look at ever more ranks around the one that a criterion chooses, up to ``most``."""
        fewest = max(1, self._stepper.fewest)
        most = max(most, fewest)
        halved = [most >> fold for fold in range(most.bit_length())]
        halved = [rank for rank in halved if rank >= fewest]
        # On either side of the best, its neighbourhood is halved until it is one rank wide.
        self._total = 2 * len(halved) + 3 * max(len(halved) - 2, 0) + 6
        for above, rank in zip([None, *halved], halved, strict=False):
            self._take(PathStep("fit", 0, rank))
            if above is not None:
                self._take(PathStep("shrink", above, rank))
        while True:
            ranks, best = self.ranks, self.best(criterion)
            at = ranks.index(best)
            around = ranks[max(at - 1, 0) : at + 2]
            pairs = [(max(low, fewest - 1), high) for low, high in pairwise(around)]
            gaps = [(low, high) for low, high in pairs if high - low > 1]
            if not gaps:
                break
            for low, high in gaps:
                self._look_between(low, high)
        self._confirm(criterion)

    def visit(self, ranks: Sequence[int]) -> None:
        """Look at some ranks and no others: downwards from the highest, and upwards."""
        ascending = sorted(ranks)
        self._total = 2 * len(ascending)
        self._take(PathStep("fit", 0, ascending[-1]))
        for rank, above in reversed(list(pairwise(ascending))):
            if not self._take(PathStep("shrink", above, rank)):
                self._take(PathStep("fit", 0, rank))
        for low, rank in pairwise([self._stepper.fewest, *ascending]):
            if low in self.factors and 0 < rank - low <= _FARTHEST_GROWTH:
                self._take(PathStep("grow", low, rank))

    def look_at(self, rank: int) -> None:
        """Make sure that there are factors of a rank."""
        if rank not in self.factors:
            self._take(PathStep("fit", 0, rank))
            self._grow_again()

    def _look_between(self, low: int, high: int) -> None:
        rank = (low + high) // 2
        if not self._take(PathStep("shrink", high, rank)):
            self._take(PathStep("fit", 0, rank))
        if rank - low <= _FARTHEST_GROWTH and low in self.factors:
            self._take(PathStep("grow", low, rank))

    def _confirm(self, criterion: str) -> None:
        """Fit anew at the rank that is chosen and at those next to it, until they stay chosen."""
        fitted = {step.rank for step in self._taken if step.kind == "fit"}
        for _ in range(_MOST_ROUNDS):
            best = self.best(criterion)
            around = [rank for rank in (best + 1, best, best - 1) if rank in self.factors and rank]
            if fitted.issuperset(around):
                break
            for rank in around:
                if rank not in fitted:
                    fitted.add(rank)
                    self._take(PathStep("fit", 0, rank))
                    self._take(PathStep("polish", rank, rank))
                    if rank - 1 in self.factors and rank > 1:
                        self._take(PathStep("reshrink", rank, rank - 1))
            self._grow_again()
        self._grow_again()

    def _grow_again(self) -> None:
        """Where a rank costs no less than the one below, grow it from there."""
        for low, rank in pairwise(self.ranks):
            step = PathStep("regrow", low, rank)
            rises = low and self.factors[rank].cost >= self.factors[low].cost > 0
            if rises and (step in self._taken or not self._take(step)):
                self._pad(low, rank)

    def _pad(self, low: int, rank: int) -> None:
        """Use the factors of a lower rank, where they cost less."""
        U, V, cost = self.factors[low]
        if cost < self.factors[rank].cost:
            more = rank - low
            U = np.hstack([U, np.zeros((U.shape[0], more), np.bool_)])
            V = np.vstack([V, np.zeros((more, V.shape[1]), np.bool_)])
            self.factors[rank] = Factors(U, V, cost)

    def _take(self, step: PathStep) -> bool:
        """Do a step, unless it is finished, and keep what it leads to if that is better."""
        if not self._is_finished(step):
            seed = [self._seed, _KINDS.index(step.kind), step.start, step.rank]
            generator = np.random.default_rng(seed)
            self._finished[step] = self._do(step, generator)
        self._taken.add(step)
        found = self._finished[step]
        if found is None:
            return False
        self._found.setdefault(step.rank, []).append(found)
        known = self.factors.get(step.rank)
        if known is None or found.cost < known.cost:
            self.factors[step.rank] = found
        self._done += 1
        if self._observe is not None:
            cost = self.factors[step.rank].cost
            self._observe(RankProgress(step, self._done, max(self._total, self._done), cost))
        return True

    def _is_finished(self, step: PathStep) -> bool:
        """Whether it is known what a step leads to: factors of this matrix, if to any."""
        if step not in self._finished:
            return False
        found, (n, m) = self._finished[step], self.A.shape
        if found is None:
            return step.kind != "fit"  # which can always be done
        return (found.U.shape, found.V.shape) == ((n, step.rank), (step.rank, m))

    def _do(self, step: PathStep, generator: np.random.Generator) -> Factors | None:
        if step.kind == "fit":
            return self._stepper.fit(step.rank, generator)
        start = self.factors[step.start]
        if step.kind in ("shrink", "reshrink"):
            return self._stepper.shrink(start, step.rank, generator)
        if step.kind == "polish":
            return self._stepper.polish(self._found[step.rank], generator)
        return self._stepper.grow(start, step.rank, generator)
