"""A population of factorizations: crossed, improved, and renewed.

Every start of a fit leads to one factorization, which is a local optimum. The best of them climb by
exchanging components, as long as that helps; newcomers join them. Then two are crossed by matching
their components and taking some from either; the child climbs to the next local optimum, and takes
the place of the parent that it is more like, unless that is better. When children help no more,
the best is left with variants of itself, some of whose components are grown anew: such a family has
more in common than members that came from different starts, whose components often differ
altogether. When families help no more, newcomers that are relaxations begin another population.

Where annealing is of use, all but the starts are annealed: newcomers from a high temperature,
children from lower ones in place of climbing. That makes good children of parents that have little
in common. So there are no families, but one population of newcomers after the other, and the best
of all joins each of them when its children help no more.

What a search may take is counted in steps of its inner loops, about a nanosecond each, and not
measured: it ends at the same place on any machine and for any number of threads. A longer search
goes the same way first, and ends only where it refines its best, so that it never ends higher.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np

from elbmf.boolean.packed import PackedFactors
from elbmf.errors import FileFormatError
from elbmf.search.annealing import Annealer, is_annealable, scattered
from elbmf.search.climber import Climber, Individual, Terrain
from elbmf.search.local import LocalSearch
from elbmf.search.population import Population, Task, everyone, place_of
from elbmf.search.short_relaxation import epoch_work, relax
from elbmf.utils.alarm import Alarm
from elbmf.utils.threads import SingleThreadedBlas, available_cores
from elbmf.utils.tuning import TUNING

__all__ = ["Search"]

T = TypeVar("T")

_NEVER = np.iinfo(np.int64).max


class Search:
    """The search for better Boolean factors until the work or the time is used up."""

    def __init__(
        self,
        local: LocalSearch,  # The data and the descent; its alarm ends the search
        k: int,  # Components to have
        generator: np.random.Generator,  # For the choice of parents and newcomers
        most_work: float,  # Work to do, about in nanoseconds of one thread
        # Called after every round with the least cost so far and the share of the work that is
        # done; a true return value ends the search
        observe: Callable[[int, float], Any] | None = None,
    ) -> None:
        self.work = 0
        self._local = local
        self._k = k
        self._most_work = most_work
        self._terrain = Terrain.of(local)
        self._began = time.perf_counter()
        self._alarm = Alarm(local.alarm.deadline)
        self._observe = observe
        self._least = _NEVER
        self.aborted = False  # Whether Ctrl-C was pressed
        self._stopped = False
        self._generator = generator
        # Whether refining takes no longer than climbing, so that everyone is refined.
        self._small = local.A.cells <= TUNING.cells_to_refine_all
        self._pool = ThreadPoolExecutor(local.n_jobs or available_cores())
        self._climbers: SimpleQueue[Climber] = SimpleQueue()
        self._annealers: SimpleQueue[Annealer] = SimpleQueue()

    def __enter__(self) -> "Search":
        self._alarm.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._alarm.__exit__()
        self._alarm.ring()
        self._pool.shutdown(cancel_futures=True)
        self._observe = None  # whoever observes it may well have it, too

    @property
    def over(self) -> bool:
        """Whether the work is done, the time is up, or somebody said so."""
        return self.interrupted or self.work >= self._most_work

    @property
    def interrupted(self) -> bool:
        """Whether the time is up or somebody said so, whatever the work."""
        return self._stopped or self.aborted or self._local.alarm.rung

    @property
    def progress(self) -> float:
        """Share of the work or of the time, whichever is nearer to its end."""
        if self.over:
            return 1.0
        spent = (time.perf_counter() - self._began) / (self._alarm.deadline - self._began)
        return min(max(self.work / self._most_work, spent), 1.0)

    def reduce(self, *factors: PackedFactors) -> PackedFactors:
        """Pool components that adapt, and drop the least useful one by one until k are left."""
        reduced, work = self.reduced(*factors)
        self.work += work
        return reduced

    def reduced(
        self, *factors: PackedFactors, most_work: float = np.inf
    ) -> tuple[PackedFactors, int]:
        """Do the same, beside the search; return the work, too.

        After so much work, components adapt no more.
        """
        pairs = [each.to_arrays() for each in factors]
        pool = Individual.of(np.hstack([U for U, _ in pairs]), np.vstack([V for _, V in pairs]))
        climber = Climber(self._terrain, max(pool.rows.shape[0], self._k), self._alarm)
        reduced, work = climber.climb_from(pool, self._k, 0, most_work=most_work)
        packed = self._packed(reduced)
        return packed, work + self._local.descend(packed)

    def climb_beside(
        self, factors: PackedFactors, over: Callable[[Individual], bool]
    ) -> PackedFactors:
        """Climb from factors until somebody says that it is over, beside the search.

        Who says so is shown the best so far.
        """
        climber = Climber(self._terrain, self._k, self._alarm)
        best, seed = self._individual(factors), 0
        exchanges = self._exchanges(TUNING.first_exchanges)
        while not over(best) and best.cost and not self.interrupted:
            found, _ = climber.climb_from(best, self._k, seed, exchanges)
            best = min(found, best, key=lambda each: each.cost)
            seed += 1
        return self._packed(best)

    def improve(
        self,
        start: Sequence[PackedFactors] | Population,
        keep: Callable[[Population], Any] | None = None,
        *,
        relaxing: bool = False,  # Whether newcomers are relaxations
        sweeps: int = 0,  # Of the annealing of newcomers, if there is to be any
        # Whether Ctrl-C ends it with the best so far, and is not raised any more
        interruptible: bool = False,
    ) -> PackedFactors:
        """Search from factors of up to k components, or from where another search was.

        Before every round, ``keep`` is told where it is; from there, another search goes on in the
        same way if its generator is brought to the same state.
        """
        if isinstance(start, Population):
            annealed = start.sweeps or any(task.sweeps for task in start.waiting)
            if annealed and not is_annealable(self._local, self._k):
                raise FileFormatError(
                    "The checkpoint is damaged: it is not of this fit. Remove it."
                )
            population, self.work = start, start.work
            self._least = min(each.cost for each in everyone(start))
        else:
            population = self._founded(start, relaxing, sweeps)
        self._terrain.compile()
        # Here, for a limit that one of the pool's own threads sets does not hold there: relaxations
        # would take twenty times as long.
        blas = SingleThreadedBlas() if population.relaxing else None
        running = deque(map(self._begun, population.waiting))
        try:
            while population.best.cost and not self.interrupted:
                planned = self._planned(population)
                if self.over and population.refined_at == self.work:
                    break
                for task in planned:
                    population.waiting.append(task)
                    running.append(self._begun(task))
                if keep is not None:
                    population.work = self.work
                    keep(population)
                self._round(population, running.popleft())
        except KeyboardInterrupt:
            self.aborted = True
            if not interruptible:
                raise
        finally:
            # What is still running would come too late.
            self._alarm.ring()
            for future in running:
                future.cancel()
            wait(running)
            self._alarm.reset()
            if blas is not None:
                blas.release()
        return self._packed(min(everyone(population), key=lambda each: each.cost))

    def _founded(self, starts: Sequence[PackedFactors], relaxing: bool, sweeps: int) -> Population:
        """Make a population of the starts, each of which is to climb."""
        members = sorted(map(self._individual, starts), key=lambda each: each.cost)
        if sweeps:
            # Those that are annealed come when the starts are crossed.
            size, newcomers = len(members), TUNING.annealed_population
        else:
            size = TUNING.components_of_population // self._k
            size = min(max(size, TUNING.smallest_population), TUNING.first_population)
            size = round(TUNING.more_relaxations * size) if relaxing else size
            newcomers = 2 * size
        population = Population(members, members[0], size, relaxing=relaxing, newcomers=newcomers)
        population.sweeps = sweeps
        population.climbing = list(members)
        population.waiting.extend(map(self._climb, members))
        population.refined_at = self.work
        self._report(population)
        return population

    # --- what to try ---

    def _planned(self, population: Population) -> list[Task]:
        """Return what to work on beside what is being worked on.

        That must not depend on the number of threads.
        """
        members, waiting, climbing = population.members, population.waiting, population.climbing
        tasks: list[Task] = []
        if climbing:
            # The one of them that is climbed from the least.
            while len(waiting) + len(tasks) < TUNING.climbs_at_once:
                busy = [task.start for task in (*waiting, *tasks)]
                start = min(climbing, key=lambda each: sum(each is other for other in busy))
                tasks.append(self._climb(start))
            return tasks
        missing = population.size - len(members) - sum(not task.parents for task in waiting)
        done = len(members) == 1 and missing <= 0
        patience = TUNING.patience_annealed if population.sweeps else TUNING.patience
        if done or (population.fruitless >= patience * len(members) and len(members) > 1):
            if waiting:
                # Children of those who are about to step aside.
                return tasks
            self._begin_anew(population)
            members = population.members
            missing = population.size - len(members)
        alone = population.family or len(members) < 2
        for place in range(TUNING.children_at_once - len(waiting)):
            if missing > 0 and (place % 2 == 0 or alone):
                tasks.append(self._newcomer(population))
                missing -= 1
            elif len(members) > 1:
                tasks.append(self._child(population))
        return tasks

    def _begin_anew(self, population: Population) -> None:
        """Let the best of the members have a family, or newcomers begin another population.

        Newcomers that are grown would get nowhere by themselves: then there are only families.
        Where members are annealed there are none; the best of all meets those that do not beat it.
        """
        self._refine_best(population)
        best, members = population.best, population.members
        gained = population.least - members[0].cost > TUNING.little_gain * members[0].cost
        population.barren = 0 if gained or not population.family else population.barren + 1
        renewed = population.relaxing and population.barren >= TUNING.barren_families
        population.family = not renewed and not population.sweeps
        population.least = members[0].cost
        population.fruitless = 0
        if population.family:
            population.members, population.size = [members[0]], TUNING.family_size
        elif population.sweeps and all(each.cost > best.cost for each in members):
            members.append(best)
        else:
            population.members, population.size = [], population.newcomers
            population.newcomers = min(2 * population.newcomers, TUNING.largest_population)

    def _climb(self, member: Individual) -> Task:
        """Exchange components of a member."""
        exchanges = self._exchanges(TUNING.first_exchanges)
        return Task(member, self._seed(), exchanges, parents=(member,))

    def _newcomer(self, population: Population) -> Task:
        """Grow some components of the best anew, or all of them, or relax from a random start.

        Or anneal what comes from there, or from lines that were drawn.
        """
        if population.sweeps:
            heat = float(self._generator.choice(TUNING.heats)) / self._k
            relaxed = population.relaxing and bool(self._generator.random() < TUNING.share_relaxed)
            start = population.best
            if not relaxed:
                start = scattered(self._local, self._k, self._generator)
            sweeps = population.sweeps
            return Task(start, self._seed(), 0, relaxed=relaxed, sweeps=sweeps, heat=heat)
        exchanges = self._exchanges(TUNING.exchanges)
        if population.family:
            best = min(population.members, key=lambda each: each.cost)
            anew = self._some(self._generator.choice(TUNING.shares_varied))
            return Task(best, self._seed(), exchanges, anew)
        if population.relaxing:
            return Task(population.best, self._seed(), exchanges, relaxed=True)
        exchanges = self._exchanges(TUNING.first_exchanges)
        return Task(population.best, self._seed(), exchanges, range(self._k))

    def _child(self, population: Population) -> Task:
        """Cross two members. Where relaxations are the members, most have nothing to exchange."""
        draw, members = self._generator, population.members
        first, second = (members[place] for place in draw.choice(len(members), 2, replace=False))
        share = draw.choice(TUNING.shares_crossed)
        child = first.crossed(second, draw.random(self._k), share)
        if population.sweeps:
            sweeps = max(1, round(TUNING.sweeps_of_child * population.sweeps))
            heat = float(draw.choice(TUNING.heats_of_child)) / self._k
            parents = (first, second)
            return Task(child, self._seed(), 0, parents=parents, sweeps=sweeps, heat=heat)
        if population.relaxing and draw.random() >= TUNING.children_that_exchange:
            return Task(child, self._seed(), 0, parents=(first, second))
        mutated = self._some(TUNING.share_mutated if draw.random() < TUNING.mutations else 0)
        exchanges = self._exchanges(TUNING.exchanges)
        return Task(child, self._seed(), exchanges, mutated, (first, second))

    def _some(self, share: float) -> list[int]:
        """Draw a share of the components: at least one, unless it is none."""
        count = max(1, round(share * self._k)) if share else 0
        return [int(l) for l in self._generator.permutation(self._k)[:count]]

    def _exchanges(self, share: float) -> int:
        return max(TUNING.fewest_exchanges, round(share * self._k))

    def _seed(self) -> int:
        return int(self._generator.integers(1 << 62))

    # --- how it goes ---

    def _begun(self, task: Task) -> Future[tuple[Individual, int]]:
        """Begin to climb, beside others."""
        return self._pool.submit(self._climbed, task)

    def _climbed(self, task: Task) -> tuple[Individual, int]:
        start, before = self._relaxed(task.seed) if task.relaxed else (task.start, 0)
        found, work = self._annealed(start, task) if task.sweeps else self._exchanged(start, task)
        work += before
        if self._small:
            factors = self._packed(found)
            work += self._local.descend(factors)
            found = self._individual(factors)
        return found, work

    def _exchanged(self, start: Individual, task: Task) -> tuple[Individual, int]:
        """Exchange components; return what that leads to, and the work."""
        climber = _spare_of(self._climbers) or Climber(self._terrain, self._k, self._alarm)
        given = (start, self._k, task.seed, task.exchanges, task.reseeded)
        found = climber.climb_from(*given, least_work=TUNING.least_climb)
        self._climbers.put(climber)
        return found

    def _annealed(self, start: Individual, task: Task) -> tuple[Individual, int]:
        """Anneal factors; return what that leads to, and the work."""
        annealer = _spare_of(self._annealers) or Annealer(self._local, self._k, self._alarm)
        found = annealer.annealed(start, task.sweeps, task.heat, task.seed)
        self._annealers.put(annealer)
        return found

    def _relaxed(self, seed: int) -> tuple[Individual, int]:
        """Relax from a random start; return what that leads to, and the work."""
        epochs = TUNING.epochs_of_newcomer
        factors = relax(self._local, self._k, epochs, seed, lambda: self._alarm.rung)
        return Individual.of(*factors), round(epochs * epoch_work(self._local.A, self._k))

    def _round(self, population: Population, first: Future[tuple[Individual, int]]) -> None:
        """Wait for what was begun first, and find its place."""
        found, work = first.result()
        self.work += work + TUNING.task_overhead
        task, members = population.waiting.popleft(), population.members
        if not task.parents:
            if population.family and any(found.cost == each.cost for each in members):
                population.size -= 1  # It may well be the same.
            else:
                members.append(found)
        elif task.parents[0] is task.start:
            self._climb_on(population, task.start, found)
        else:
            population.fruitless += 1
            if _takes_place(members, found, task.parents) > TUNING.little_gain * found.cost:
                population.fruitless = 0
        if self.work >= population.refined_at * TUNING.refined_after and not self.interrupted:
            self._refine_best(population)
        population.work = self.work
        self._report(population)

    def _climb_on(self, population: Population, start: Individual, found: Individual) -> None:
        """Let a member climb as long as that helps enough, and it is among the best."""
        members, climbing = population.members, population.climbing
        gained = found.cost < start.cost and _takes_place(members, found, (start,))
        enough = gained > TUNING.little_climb * found.cost
        if enough and sum(each.cost < found.cost for each in members) < TUNING.climbing_starts:
            climbing.append(found)
        climbing[:] = [
            each for each in climbing if each is not start and place_of(members, each) >= 0
        ]

    def _refine_best(self, population: Population) -> None:
        """Refine the best member, and put it first."""
        members, climbing = population.members, population.climbing
        members.sort(key=lambda each: each.cost)
        if members[0].cost < population.best.cost:
            refined = self._individual(self._refined(members[0]))
            climbing[:] = [refined if each is members[0] else each for each in climbing]
            members[0] = population.best = refined
        population.refined_at = self.work

    def _refined(self, individual: Individual) -> PackedFactors:
        factors = self._packed(individual)
        self.work += self._local.descend(factors)
        return factors

    def _individual(self, factors: PackedFactors) -> Individual:
        """Pack factors by component, with empty ones up to k."""
        U, V = factors.to_arrays()
        more = self._k - U.shape[1]
        U, V = np.pad(U, ((0, 0), (0, more))), np.pad(V, ((0, more), (0, 0)))
        return Individual.of(U, V, factors.cost)

    def _packed(self, individual: Individual) -> PackedFactors:
        return self._local.pack(*individual.to_arrays(self._local.A.shape))

    def _report(self, population: Population) -> None:
        """Tell who observes how far we are, and heed what they say."""
        least = min(each.cost for each in everyone(population))
        self._least = min(self._least, least)
        if self._observe is not None and not self._stopped:
            self._stopped = bool(self._observe(self._least, self.progress))


def _spare_of(queue: SimpleQueue[T]) -> T | None:
    """Take one that no thread uses at the moment, if there is any."""
    try:
        return queue.get_nowait()
    except Empty:
        return None


def _takes_place(
    members: list[Individual], found: Individual, parents: tuple[Individual, ...]
) -> int:
    """Let one take the place of a parent that is no better, rather of the one it is like.

    If no parent is left, of the member that it is like. Not if there is another that costs the
    same, which may well be the same. Returns by how much it costs less, 0 if it has no place.
    """
    if any(found.cost == each.cost for each in members):
        return 0
    places = [place for parent in parents if (place := place_of(members, parent)) >= 0]
    places = places or [min(range(len(members)), key=lambda place: found.distance(members[place]))]
    for place in sorted(places, key=lambda place: found.distance(members[place])):
        gained = members[place].cost - found.cost
        if gained > 0:
            members[place] = found
            return gained
    return 0
