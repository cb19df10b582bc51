"""A population of factorizations: its members, what they are to become, and how that is kept.

What is done with it is in `elbmf.search.evolution`.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.packed import require_bits
from elbmf.errors import InputError
from elbmf.search.climber import Individual
from elbmf.utils.notes import Count, Notes, Within
from elbmf.utils.tuning import TUNING

__all__ = ["Population", "Task", "everyone", "place_of"]


class Task(NamedTuple):
    """A factorization to climb from."""

    start: Individual
    seed: int
    exchanges: int
    reseeded: Sequence[int] = ()
    # Members whose place it may take; none for newcomers
    parents: tuple[Individual, ...] = ()
    relaxed: bool = False  # Whether to climb from a relaxation instead
    # How many times to look at each switch when it is annealed, and how hot it is at first
    sweeps: int = 0
    heat: float = 0.0


@dataclass
class Population:
    """Where a search is, before one of its rounds."""

    members: list[Individual]
    best: Individual  # The best so far, refined
    size: int  # Members to have
    climbing: list[Individual] = field(default_factory=list)  # Members that exchanges still help
    waiting: deque[Task] = field(default_factory=deque)  # What is being worked on, in order
    relaxing: bool = False  # Whether newcomers are relaxations
    sweeps: int = 0  # Of the annealing of newcomers, if there is any
    newcomers: int = 0  # Members to have when they are newcomers
    family: bool = False  # Whether they are variants of the best
    barren: int = 0  # Families since the last that gained something to speak of
    least: int = 0  # What the best of them cost when the family began
    fruitless: int = 0  # Children since the last that gained something to speak of
    refined_at: int = 0  # Work when the best was last refined
    work: int = 0  # Work done

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return all there is, as numbers and as arrays, for `from_arrays`."""
        starts = [task.start for task in self.waiting]
        everyone = [*self.members, self.best, *starts]
        facts: dict[str, Any] = {name: getattr(self, name) for name in _NUMBERS}
        facts["costs"] = [each.cost for each in everyone]
        facts["climbing"] = [place_of(self.members, each) for each in self.climbing]
        facts["waiting"] = [
            [
                task.seed,
                task.exchanges,
                [*task.reseeded],
                self._places(task),
                task.relaxed,
                task.sweeps,
                task.heat,
            ]
            for task in self.waiting
        ]
        rows, columns = (
            np.stack([getattr(each, side) for each in everyone]) for side in ("rows", "columns")
        )
        return facts, {"population.rows": rows, "population.columns": columns}

    def _places(self, task: Task) -> list[int]:
        """Return the places of the parents, below zero for those that are members no more."""
        return [place_of(self.members, parent) for parent in task.parents]

    @classmethod
    def from_arrays(cls, facts: Any, arrays: dict[str, Any]) -> "Population":
        """Undo `to_arrays`.

        Raises
        ------
        InputError
            If it cannot be from there.
        """
        note = PopulationNote.from_json(facts, "place")
        rows, columns = (arrays.get(f"population.{side}", _NONE) for side in ("rows", "columns"))
        k = rows.shape[1] if rows.ndim == 3 else -1
        expected = len(note.costs), k
        if any(each.ndim != 3 or each.shape[:2] != expected for each in (rows, columns)):
            raise InputError(
                f"place.costs are {len(note.costs)}, and there are not as many factors"
            )
        everyone = [*map(Individual, note.costs, rows, columns)]
        last = len(everyone) - len(note.waiting) - 1
        nobody = last < 1 and note.size < 1 and not note.waiting
        if last < 0 or nobody or any(place >= last for place in note.places(k)):
            raise InputError("place names members or components that are not there")
        members, best, starts = everyone[:last], everyone[last], everyone[last + 1 :]
        population = cls(members, best, **{name: getattr(note, name) for name in _NUMBERS})
        population.climbing = [members[place] for place in note.climbing]
        for start, (seed, exchanges, reseeded, places, relaxed, sweeps, heat) in zip(
            starts, note.waiting, strict=True
        ):
            parents = tuple(members[place] if place >= 0 else start for place in places)
            # One that climbs on is its own parent.
            start = parents[0] if len(parents) == 1 else start
            how = relaxed, sweeps, heat
            population.waiting.append(Task(start, seed, exchanges, reseeded, parents, *how))
        return population

    def require(self, shape: tuple[int, int], k: int) -> None:
        """Raise an InputError unless all of its factors are of a matrix and so many components."""
        for each in (*everyone(self), *(task.start for task in self.waiting)):
            if len(each.rows) != k:
                raise InputError(f"place has factors of {len(each.rows)} components, not {k}")
            for words, length in zip((each.rows, each.columns), shape, strict=True):
                require_bits(words, length, "the factors of place")


_NONE = np.empty(0, np.uint64)

# Those that are written have far fewer members, and exchange far fewer components.
_MANY = 1 << 16
_Few = Annotated[int, Within(0, _MANY)]
_Sweeps = Annotated[int, Within(0, TUNING.most_sweeps)]


@dataclass
class PopulationNote(Notes):
    """The numbers of a population, see there, as JSON has them.

    Parameters
    ----------
    costs : list of int
        Of the members, the best, and the start of what is waiting.
    climbing : list of int
        Places among the members.
    waiting : list
        The seed, exchanges, components to be grown anew, places of the parents, and how each is to
        be relaxed or annealed, as a `Task` has it.
    """

    size: Annotated[int, Within(-_MANY, _MANY)]
    relaxing: bool
    sweeps: _Sweeps
    newcomers: _Few
    family: bool
    barren: Count
    least: Count
    fruitless: Count
    refined_at: Count
    work: Count
    costs: Sequence[Count]
    climbing: Sequence[Count]
    waiting: Sequence[
        tuple[
            Count,
            _Few,
            Sequence[Count],
            Sequence[Annotated[int, Within(-1)]],
            bool,
            _Sweeps,
            Annotated[float, Within(0, max(TUNING.heats))],
        ]
    ]

    def places(self, k: int) -> Iterator[int]:
        """Return all places of members; those of components must be below k."""
        yield from self.climbing
        for _, _, reseeded, parents, *_ in self.waiting:
            if any(component >= k for component in reseeded) or len(parents) > 2:
                raise InputError("place names members or components that are not there")
            yield from parents


_NUMBERS = (
    "size",
    "relaxing",
    "sweeps",
    "newcomers",
    "family",
    "barren",
    "least",
    "fruitless",
    "refined_at",
    "work",
)


def everyone(population: Population) -> list[Individual]:
    """Return the members, and the best so far before them."""
    return [population.best, *population.members]


def place_of(members: Sequence[Individual], individual: Individual) -> int:
    """Return the place of a member, below zero if it is none."""
    return next((at for at, each in enumerate(members) if each is individual), -1)
