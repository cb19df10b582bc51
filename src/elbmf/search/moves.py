"""Search beyond the local optimum: components re-seeded, split, dropped and recombined.

Refinement ends where no single row or column can be improved, often with two groups merged into
one component and another component that hardly matters. A *move* fills an empty, spare component
from a badly covered row or column, or with half of another component, lets all adapt, and drops
the least useful. Moves are tried on copies, several at a time, and kept when they do not raise the
cost. Where moves help no more, half of the components are thrown away and grown anew, and the
result is recombined with the best so far.

What a search may take is counted in steps of its inner loops, about a nanosecond each, and not
measured: it ends at the same place on any machine and for any number of threads. A longer search
goes the same way first, so that it never ends higher.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.packed import PackedFactors
from elbmf.boolean.product import Bools
from elbmf.search.kernels.lines import Effort
from elbmf.search.kernels.moves import Move, Trial, count_uncovered
from elbmf.search.local import MOST_TURNS, LocalSearch
from elbmf.utils.threads import available_cores
from elbmf.utils.tuning import TUNING

__all__ = ["FEW_TURNS", "Search", "SearchPosition", "make_do", "side_by_side", "single_lines"]

# What they mean, and what set them, is told in `elbmf.utils.tuning`.
_AT_ONCE = TUNING.moves_at_once  # not the number of threads: the result must not depend on it
_ONES_IN_NO_TIME, _CELLS_IN_NO_TIME = TUNING.ones_in_no_time, TUNING.cells_in_no_time

FEW_TURNS = TUNING.few_turns
"""Turns of a descent in which most is gained."""

_NEVER = np.iinfo(np.int64).max

# Ones from which a move takes longer than handing it to a thread.
_ONES_FOR_THREADS = 3000

# Turns, one of each side, after which it shows what doing without a component costs.
_TURNS_OF_A_TRIAL = 2

# What it takes to copy the factors, for each line.
_WORK_PER_COPIED_LINE = 8


class SearchPosition(NamedTuple):
    """Where a search is, before one of its rounds."""

    # The best so far, and those that moves are made on; often they are the same object
    best: PackedFactors
    current: PackedFactors
    # Random rounds without a gain until moves are held to help no more; None while all moves are
    # tried
    left: int | None
    # Work done, and the least cost told
    work: int
    least: int


class Search:
    """Moves on Boolean factors until the work or the time is used up."""

    def __init__(
        self,
        local: LocalSearch,  # The data and the descent
        generator: np.random.Generator,  # For the choice of moves
        most_work: float,  # Work to do, about in nanoseconds of one thread
        deadline: float = np.inf,  # Time, as of `time.perf_counter`, at which to end in any case
        # Called after every round with the least cost so far and the share of the work that is
        # done; a true return value ends the search
        observe: Callable[[int, float], Any] | None = None,
    ) -> None:
        self.local = local
        self.work = 0
        self.most_work = most_work
        self._began = time.perf_counter()
        self._deadline = deadline
        self._observe = observe
        self._keep: Callable[[SearchPosition], Any] | None = None
        self._least = _NEVER
        self._stopped = False
        self._generator = generator
        small = local.A.ones < _ONES_FOR_THREADS
        threads = 1 if small else local.n_jobs or available_cores()
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def __enter__(self) -> "Search":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    @property
    def over(self) -> bool:
        """Whether the work is done, the time is up, or somebody said so."""
        return self.interrupted or self.work >= self.most_work

    @property
    def interrupted(self) -> bool:
        """Whether the time is up or somebody said so, whatever the work."""
        return self._stopped or time.perf_counter() >= self._deadline

    @property
    def progress(self) -> float:
        """Share of the work or of the time, whichever is nearer to its end."""
        if self.over:
            return 1.0
        spent = (time.perf_counter() - self._began) / (self._deadline - self._began)
        return min(max(self.work / self.most_work, spent), 1.0)

    def improve(
        self,
        start: PackedFactors | SearchPosition,
        keep: Callable[[SearchPosition], Any] | None = None,
    ) -> PackedFactors:
        """Search from factors that have a spare component and are descended, or from a place.

        Before every round, ``keep`` is told the place; from there, another search goes on in the
        same way if its generator is brought to the same state.
        """
        self._keep = keep
        if isinstance(start, SearchPosition):
            best, current, left, self.work, self._least = start
        else:
            self._least, left = start.cost, None
            best = current = self._fill(start)
        while not self.over and best.cost:
            current, left = self._climb(best, current, left), None
            if current.cost < best.cost:
                best = current
            elif current is not best and not self.over:
                current = self.recombine([best, current], best.n_slots - 1)
                if current.cost < best.cost:
                    best = current
            if not self.over:
                current = self._shake(best)
        return best

    def recombine(self, parents: list[PackedFactors], n_components: int) -> PackedFactors:
        """Pool the components of several factorizations and keep the most useful, descended.

        Components are dropped from the pool one by one, each time the one whose loss costs least.
        """
        pool = side_by_side(parents)
        U, V, work = self.local.shrink(*pool, n_components)
        self.work += work
        child = self.local.pack(U, V, with_spare=True)
        self.work += self.local.descend(child)
        return child

    def reduce(self, factors: PackedFactors, n_components: int) -> PackedFactors:
        """Drop components until so many are left, each time those whose loss costs least.

        What that is shows only when the others have adapted: either half of a group that was split
        is worth a lot, but the other half can stand in for it.
        """
        costs: dict[int, int] = dict.fromkeys(np.flatnonzero(factors.used()).tolist(), 0)
        while len(costs) > n_components and not self.interrupted:
            # What a drop costs mostly goes up with every other, so that old figures are bounds.
            fresh: dict[int, int] = {}
            while not fresh or min(fresh.values()) > min(
                (cost for l, cost in costs.items() if l not in fresh), default=_NEVER
            ):
                stale = sorted((cost, l) for l, cost in costs.items() if l not in fresh)
                some = [l for _, l in stale[:_AT_ONCE]]
                drops = [Move(0, dropped=l) for l in some]
                made = self._make(factors, drops, quick=True, nodes=0)
                fresh.update(
                    {l: each.cost - factors.cost for l, each in zip(some, made, strict=True)}
                )
                self._report([])
                if self.interrupted:
                    break
            costs.update(fresh)
            least = min(costs, key=lambda l: costs[l])
            drop = [Move(0, dropped=least)]
            (factors,) = self._make(factors, drop, reports=False, nodes=TUNING.nodes_between_drops)
            used = factors.used()
            costs = {l: cost for l, cost in costs.items() if used[l]}
        U, V, work = self.local.shrink(*factors.to_arrays(), n_components)
        self.work += work
        reduced = self.local.pack(U, V, with_spare=True)
        self.work += self.local.descend(reduced, FEW_TURNS if self.interrupted else None)
        self._report([reduced])
        return reduced

    def _fill(self, factors: PackedFactors) -> PackedFactors:
        """Give every component something to cover, as long as that lowers the cost."""
        while factors.cost and factors.used().sum() < factors.n_slots - 1 and not self.interrupted:
            better = self._carry_out(factors, self._seeds(factors)) or self._try_all(factors)
            if better is None:
                break
            factors = better
        return factors

    def _climb(
        self, best: PackedFactors, factors: PackedFactors, left: int | None
    ) -> PackedFactors:
        """Make moves until they help no more; ``left`` is as in a `SearchPosition`."""
        patience = TUNING.rounds_without_gain * factors.n_slots
        while left != 0 and factors.cost and not self.over:
            if self._keep is not None:
                self._keep(SearchPosition(best, factors, left, self.work, self._least))
            if left is None:
                better = self._try_all(factors)
                factors, left = (better, None) if better is not None else (factors, patience)
            else:
                cost = factors.cost
                factors = self._try_some(factors)
                left = patience if factors.cost < cost else left - 1
        return factors

    def _shake(self, factors: PackedFactors) -> PackedFactors:
        """Throw half of the components away and grow others, from badly covered lines or noise."""
        draw = self._generator
        U, V = factors.to_arrays()
        k = U.shape[1]
        slots = draw.permutation(k)[: max(1, k // 2)]
        for slot in slots:
            # No line need lead to the best: a few components start from nothing at all.
            noise = draw.random() < TUNING.noise
            U[:, slot] = noise & (draw.random(U.shape[0]) < 0.5)
            V[slot] = noise & (draw.random(V.shape[1]) < 0.5)
        shaken = self.local.pack(U, V, with_spare=True)
        for slot in slots:
            if not shaken.used()[slot]:
                shaken.spare = int(slot)
                seed = self._random_seed(shaken)
                if seed is None:
                    break
                (shaken,) = self._make(shaken, [seed], quick=True)
        shaken.spare = -1
        U, V = shaken.to_arrays()
        shaken = self.local.pack(U[:, :k], V[:k], with_spare=True)
        self.work += self.local.descend(shaken)
        return shaken

    def _try_all(self, factors: PackedFactors) -> PackedFactors | None:
        """Look at all splits and the worst covered lines; carry out the best while that helps."""
        splits = [
            Move(axis, component=int(component))
            for component in np.flatnonzero(factors.used())
            for axis in (0, 1)
        ]
        return self._carry_out(factors, self._seeds(factors) + splits)

    def _seeds(self, factors: PackedFactors) -> list[Move]:
        """Return the moves that start from the worst covered lines."""
        seeds = []
        for axis in (0, 1):
            uncovered = self._uncovered(factors, axis)
            worst = np.argsort(-uncovered, kind="stable")[: TUNING.seeds]
            seeds += [Move(axis, line=int(line)) for line in worst if uncovered[line]]
        return seeds

    def _carry_out(self, factors: PackedFactors, moves: list[Move]) -> PackedFactors | None:
        """Look at all of some moves; carry out the best while that helps."""
        costs: list[int] = []
        for start in range(0, len(moves), _AT_ONCE):
            some = moves[start : start + _AT_ONCE]
            costs += [made.cost for made in self._make(factors, some, quick=True)]
            # A search with more work ahead would look at all of them, and must go the same way.
            if self.interrupted:
                break
        promising = [moves[position] for position in np.argsort(costs, kind="stable")]
        better: PackedFactors | None = None
        for start in range(0, len(promising), _AT_ONCE):
            made = self._make(better or factors, promising[start : start + _AT_ONCE])
            best = self._best(made, (better or factors).cost - 1)
            better = best or better
            if best is None or self.over:
                break
        return better

    def _try_some(self, factors: PackedFactors) -> PackedFactors:
        """Make some random moves; carry out the best, if that does no harm."""
        return self._best(self._make(factors, self._random_moves(factors)), factors.cost) or factors

    def _random_moves(self, factors: PackedFactors) -> list[Move]:
        """Draw seeds by how badly they are covered, and components to split or do without."""
        draw = self._generator
        used = np.flatnonzero(factors.used())
        moves = []
        for _ in range(_AT_ONCE):
            dropped = int(draw.choice(used)) if used.size and draw.random() < 0.5 else -1
            others = used[used != dropped]
            seed = self._random_seed(factors)
            if seed is not None and (draw.random() < 0.5 or not others.size):
                moves.append(seed._replace(dropped=dropped))
            elif others.size:
                component = int(draw.choice(others))
                moves.append(Move(int(draw.integers(2)), component=component, dropped=dropped))
        return moves

    def _random_seed(self, factors: PackedFactors) -> Move | None:
        """Draw a line of either side by the number of its uncovered ones."""
        axis = int(self._generator.integers(2))
        uncovered = np.cumsum(self._uncovered(factors, axis))
        if not uncovered[-1]:
            return None
        place = self._generator.integers(uncovered[-1])
        return Move(axis, line=int(np.searchsorted(uncovered, place, side="right")))

    def _make(
        self,
        factors: PackedFactors,
        moves: list[Move],
        *,
        quick: bool = False,
        reports: bool = True,
        nodes: int | None = None,
    ) -> list[PackedFactors]:
        """Make moves, each on a copy of its own."""
        local = self.local
        effort = Effort(local.nodes if nodes is None else nodes)

        def make(move: Move) -> tuple[PackedFactors, int]:
            trial = Trial.of(factors.bits.copy(), local.A.ones)
            turns = _TURNS_OF_A_TRIAL if quick else MOST_TURNS
            spare, gained, work = local.attempt(trial, factors.spare, move, effort, turns, quick)
            made = PackedFactors(factors.shape, trial.bits, factors.cost - gained, spare)
            return made, work + _WORK_PER_COPIED_LINE * sum(factors.shape)

        made = list(self._pool.map(make, moves) if self._pool else map(make, moves))
        self.work += sum(work + TUNING.move_overhead for _, work in made)
        results = [result for result, _ in made]
        if reports and not quick:
            self._report(results)
        return results

    def _report(self, results: list[PackedFactors]) -> None:
        """Tell who observes how far we are, and heed what they say."""
        self._least = min([self._least, *(result.cost for result in results)])
        # Before there is anything with no more components than wanted, there is nothing to tell.
        if self._observe is None or self._stopped or self._least == _NEVER:
            return
        self._stopped = bool(self._observe(self._least, self.progress))

    @staticmethod
    def _best(made: list[PackedFactors], most: int) -> PackedFactors | None:
        """Return the first of the cheapest, if it costs at most so much."""
        best = min(made, key=lambda factors: factors.cost, default=None)
        return best if best is not None and best.cost <= most else None

    def _uncovered(self, factors: PackedFactors, axis: int) -> NDArray[np.int64]:
        """Count the uncovered ones of each line."""
        memberships = factors.bits.memberships
        counts = np.empty(factors.shape[axis], dtype=np.int64)
        lines = self.local.lines[axis]
        count_uncovered(lines, 0, counts.size, memberships[axis], memberships[1 - axis], counts)
        self.work += self.local.A.ones
        return counts


def side_by_side(parents: list[PackedFactors]) -> tuple[Bools, Bools]:
    """Return the components of several factorizations as those of one."""
    pairs = [parent.to_arrays() for parent in parents]
    return np.hstack([U for U, _ in pairs]), np.vstack([V for _, V in pairs])


def single_lines(local: LocalSearch, n_components: int) -> list[PackedFactors]:
    """Return two factorizations: by the columns, and by the rows, that have most ones."""
    found = []
    for axis in (1, 0):
        lines = local.lines[axis]
        longest = np.argsort(-np.diff(lines.indptr), kind="stable")[:n_components]
        alone = np.zeros((longest.size, local.A.shape[axis]), dtype=np.bool_)
        alone[np.arange(longest.size), longest] = True
        ones = np.zeros((longest.size, local.A.shape[1 - axis]), dtype=np.bool_)
        for own, line in zip(ones, longest, strict=True):
            own[lines.indices[lines.indptr[line] : lines.indptr[line + 1]]] = True
        U, V = (ones, alone) if axis else (alone, ones)
        found.append(local.pack(np.ascontiguousarray(U.T), V))
    return found


def make_do(local: LocalSearch, factors: PackedFactors, n_components: int) -> PackedFactors:
    """Make the best of components in little time: pooled with lines, dropped as they stand."""
    A, parents = local.A, [factors]
    quick = A.cells <= _CELLS_IN_NO_TIME and A.ones <= _ONES_IN_NO_TIME
    if quick:
        local.descend(factors, FEW_TURNS)
        parents += single_lines(local, n_components)
    U, V, _ = local.shrink(*side_by_side(parents), n_components)
    least = local.pack(U, V)
    local.descend(least, TUNING.turns_at_last if quick else FEW_TURNS)
    return least
