"""What a fit keeps of itself now and then, so that another goes on from there to the same end.

Kept is what the rest of the fit depends on: the two last iterates of both factors, what stop rule
and trace remember, the state of the random generator, what finished runs have led to, and the place
of the search that follows them.
"""

import copy
import hashlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from elbmf._version import __version__
from elbmf.boolean.fitted import FittedFactors
from elbmf.boolean.packed import PackedFactors, factors_from_bytes, factors_to_bytes
from elbmf.errors import InputError
from elbmf.estimators.checkpoints import Checkpoint, CheckpointFolder, DamagedCheckpointError
from elbmf.estimators.schedule_flags import flat_parameters
from elbmf.estimators.warning import warn_caller
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.half_step import Iterate, Rows
from elbmf.relaxation.palm import State
from elbmf.relaxation.stopping import StopRule
from elbmf.relaxation.trace import Trace
from elbmf.search.population import Population
from elbmf.utils.notes import ANY_NUMBER, AnyFloat, Count, Notes, Within

if TYPE_CHECKING:
    from elbmf.estimators.base import BooleanFactorizer

__all__ = ["Begun", "Session", "identity"]

_LOG = logging.getLogger(__name__)

_FACTORS = ("U", "Vt")

# Entries of an iterate that are looked at in one go.
_ENTRIES_AT_ONCE = 1 << 20

# Share of the time that checkpoints may take: where epochs are quicker than the disk, there are
# fewer than asked for, and a fraction of a second more is to be done again.
_MOST_TIME = 0.05

# Parameters on which no result depends; what is binarised is told by the data.
_IMMATERIAL = frozenset(
    (
        "binarize",
        "callback",
        "verbose",
        "checkpoint",
        "checkpoint_every",
        "memory_limit",
        "n_jobs",
        "random_state",
    )
)


def identity(
    method: "BooleanFactorizer",  # Its parameters; a function among them counts by its name
    A: BooleanMatrix,
) -> dict[str, Any]:
    """Return what tells a fit from others, but for the seed: data and parameters."""
    parameters = flat_parameters(method)
    return {
        "version": __version__,
        "data": A.fingerprint(),
        "method": type(method).__name__,
        **{key: _plain(value) for key, value in parameters.items() if key not in _IMMATERIAL},
    }


def _plain(value: Any) -> Any:
    """Return a parameter as json can hold it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, BooleanMatrix):
        return value.fingerprint()
    if isinstance(value, tuple | list) or hasattr(value, "shape"):  # factors, masks, pairs of names
        digest = hashlib.sha256()
        for factor in value if isinstance(value, tuple | list) else [value]:
            array = np.asarray(factor.toarray() if hasattr(factor, "toarray") else factor)
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    return value


class Begun(NamedTuple):
    """Where a run is to begin: at its start or, if another had begun it, after some epochs."""

    U: Iterate
    Vt: Iterate
    epoch: int = 0
    seconds: float = 0.0


class Session:
    """One fit, or what is left of it after another has begun it."""

    def __init__(
        self,
        generator: np.random.Generator,  # That of the fit; brought to where the other had left it
        # Where to keep what there is to keep; nothing is kept by default
        folder: CheckpointFolder | None = None,
        every: int = 1,  # Epochs from one checkpoint to the next
        *,
        # Of the data, and how many components there are to be, if that is known; what is kept is
        # compared with them
        shape: tuple[int, int] = (0, 0),
        rank: int | None = None,
        # Whether a fit that has ended counts as begun: it would lead to the same again
        repeats: bool = False,
    ) -> None:
        self._generator = generator
        self._folder = folder
        self._every = every
        self._warned = False
        self._affordable = -np.inf
        self._state: Any = generator.bit_generator.state
        self._epochs: dict[str, Any] | None = None
        self._iterates: dict[str, Rows] = {}
        # Which run the search goes on from, and where it is, if it had begun
        self.place: tuple[int, Population] | None = None
        # What the finished runs have led to, each with its cost
        self.runs: list[FittedFactors] = []
        # What they were refined and reduced to, those of them that were
        self.reduced: list[PackedFactors] = []
        self.work = 0  # What that took the search
        self.result: FittedFactors | None = None  # What the fit has led to, if it has ended
        # When the fit began, as of `time.perf_counter`, had it not been interrupted
        self.began = time.perf_counter()
        kept = None
        if folder is not None:
            kept = folder.read(lambda found: _Kept.of(found, shape, rank, generator))
        if kept is not None and (repeats or not kept.facts.finished):
            self._resume(kept)
        else:
            # From here on there is a fit to resume, with its seed, even if that was drawn.
            self.write()

    @classmethod
    def of(
        cls, method: "BooleanFactorizer", A: BooleanMatrix, generator: np.random.Generator
    ) -> "Session":
        """Open the session of a method that has ``checkpoint`` and ``checkpoint_every``."""
        parameters = method.get_params(deep=False)
        if parameters["checkpoint"] is None:
            return cls(generator)
        seed = method.random_state
        if isinstance(seed, np.random.RandomState):
            seed = str(generator.bit_generator.state)
        fit = {**identity(method, A), "random_state": _plain(seed)}
        return cls(
            generator,
            CheckpointFolder(parameters["checkpoint"], fit),
            parameters["checkpoint_every"],
            shape=A.shape,
            rank=None if method.n_components == "auto" else method._rank,
            repeats=seed is not None,
        )

    def begun(self, trace: Trace, stop: StopRule, k: int) -> Begun | None:
        """Return where the next run is, if it had begun; trace and stop rule are brought there.

        Raises
        ------
        DamagedCheckpointError
            If it is not of k components, or keeps another trace.
        """
        epochs = self._epochs
        if epochs is None:
            return None
        history = epochs["history"]
        if self._iterates["U"].shape[1] != k or history.keys() != trace.history().keys():
            raise DamagedCheckpointError(
                f"{self._folder.folder if self._folder else ''}: the checkpoint in it is damaged: "
                "it is of another fit than it says. Remove it."
            )
        U, Vt = (
            Iterate(self._iterates[name], self._iterates.get(f"{name}.previous"))
            for name in _FACTORS
        )
        trace.resume(_arrays(history), U, Vt)
        stop.memory = epochs["stop"]
        return Begun(U, Vt, epochs["epoch"], epochs["seconds"])

    def keep_epoch(self, state: State, trace: Trace, stop: StopRule, *, at_once: bool) -> None:
        """Keep where a run is, if it is time for that or it must be at once."""
        due = state.iteration % self._every == 0 and time.perf_counter() >= self._affordable
        if self._folder is None or not (due or at_once):
            return
        self._epochs = {
            "epoch": state.iteration,
            "seconds": state.seconds,
            "history": _lists(trace.history()),
            "stop": stop.memory,
        }
        self._iterates = {}
        for name, iterate in zip(_FACTORS, state.iterates, strict=True):
            self._iterates[name] = iterate.current
            if iterate.previous is not None:
                self._iterates[f"{name}.previous"] = iterate.previous
        self._keep(at_once=True)

    @property
    def runs_are_over(self) -> bool:
        """Whether another run would be in vain, or is not wanted."""
        if self.reduced:
            return True
        return bool(self.runs) and (self.runs[-1].was_stopped or self.runs[-1].cost == 0)

    def keep_run(self, fitted: FittedFactors) -> None:
        """Keep what a run has led to, unless a callback has ended it."""
        self.runs.append(fitted)
        if not fitted.was_stopped:
            self._epochs, self._iterates = None, {}
            self._keep()

    def keep_reduced(self, factors: PackedFactors, work: int) -> None:
        """Keep what another run was reduced to, after so much work."""
        self.reduced.append(factors)
        self.work = work
        self._keep()

    def keeper(
        self,
        run: int,  # Position of the run that the search goes on from
        epoch: float,  # About the work of an epoch
    ) -> Callable[[Population], None] | None:
        """Return what keeps the place of a search, after as much work as epochs are kept after."""
        if self._folder is None:
            return None
        due = -np.inf

        def keep(place: Population) -> None:
            nonlocal due
            self.place, self._state = (run, place), self._generator.bit_generator.state
            self.reduced = []
            if place.work >= due and time.perf_counter() >= self._affordable:
                due = place.work + self._every * epoch
                self.write()

        return keep

    def conclude(self, find: Callable[[], FittedFactors]) -> FittedFactors:
        """Return the result, found now if it was not before, and keep it, and nothing else.

        What a callback has ended is no result: another session goes on from where it was.
        """
        if self.result is not None:
            return self.result
        found = find()
        if not found.was_stopped:
            self.result, self.runs, self.reduced = found, [], []
            self._epochs, self._iterates, self.place = None, {}, None
            self._keep(at_once=True)
        return found

    def _keep(self, *, at_once: bool = False) -> None:
        """Keep what there is now, together with what comes next if it is too early to write."""
        self._state = self._generator.bit_generator.state
        if at_once or time.perf_counter() >= self._affordable:
            self.write()

    def write(self) -> None:
        """Write what there is to keep; where that fails, say so once, and go on.

        The fit is worth more than what is to save it.
        """
        if self._folder is None:
            return
        found = [*self.runs, *([self.result] if self.result else [])]
        packed, place = self.reduced, None
        population: dict[str, NDArray[Any]] = {}
        if self.place is not None:
            numbers, population = self.place[1].to_arrays()
            place = [self.place[0], numbers]
        facts: dict[str, Any] = {
            "finished": self.result is not None,
            "seconds": time.perf_counter() - self.began,
            "generator": self._state,
            "epochs": self._epochs,
            "runs": [_facts(fitted) for fitted in found],
            "work": self.work,
            "packed": [
                {name: getattr(each, name) for name in ("shape", "n_slots", "cost")}
                for each in packed
            ],
            "place": place,
        }
        arrays = {**self._iterates, **population}
        if found:
            arrays["runs"] = np.concatenate([factors_to_bytes(each.U, each.V) for each in found])
        if packed:
            arrays["packed"] = np.concatenate([each.to_bytes() for each in packed])
        began = time.perf_counter()
        try:
            self._folder.write(Checkpoint(facts, arrays))
        except OSError as error:
            _LOG.info("checkpoint not written: %s", error)
            if not self._warned:
                self._warned = True
                warn_caller(
                    f"{self._folder.folder}: a checkpoint could not be written "
                    f"({error.strerror or error}). The fit goes on, and the last checkpoint that "
                    "could be is kept. Make room on the disk."
                )
        ended = time.perf_counter()
        self._affordable = ended + (ended - began) * (1 / _MOST_TIME - 1)

    def _resume(self, kept: "_Kept") -> None:
        if kept.damage:
            warn_caller(
                f"The last checkpoint cannot be used: {kept.damage} The fit goes on from the one "
                "before it."
            )
        facts = kept.facts
        self.began -= facts.seconds
        self._state = self._generator.bit_generator.state = facts.generator
        self._epochs = None
        if facts.epochs is not None:
            names = ("epoch", "seconds", "history", "stop")
            self._epochs = {name: getattr(facts.epochs, name) for name in names}
        self._iterates = kept.iterates
        if facts.place is not None and kept.population is not None:
            self.place = (facts.place[0], kept.population)
        if facts.finished:
            (self.result,) = kept.found
        else:
            self.runs = kept.found
        self.reduced, self.work = kept.packed, facts.work
        _LOG.info("goes on after %.1f seconds, %d runs", facts.seconds, len(self.runs))


History = dict[str, Sequence[Annotated[float, ANY_NUMBER]]]


@dataclass
class _EpochsNote(Notes):
    """Where a run is, see `Session.keep_epoch`."""

    epoch: Annotated[int, Within(1)]
    seconds: Annotated[float, Within(0)]
    history: History
    stop: tuple[Count, AnyFloat, AnyFloat]

    def check(self, where: str) -> None:
        """Compare the figures with the epochs."""
        _check_history(self.history, where)
        if any(len(values) != self.epoch for values in self.history.values()):
            raise InputError(f"{where}.history must have {self.epoch} figures of each kind")


@dataclass
class _RunNote(Notes):
    """What a run has led to, but for the factors, see `_facts`."""

    shape: tuple[Count, Count, Count]
    n_iter: Count
    stop_reason: str
    history: History
    stages: dict[str, Count]
    run_losses: Sequence[Count]
    cost: Count
    bound: Count

    def check(self, where: str) -> None:
        """Look at the figures."""
        _check_history(self.history, where)


@dataclass
class _PackedNote(Notes):
    """What a run was reduced to, but for the bits."""

    shape: tuple[Count, Count]
    n_slots: Count
    cost: Count


@dataclass
class _FactsNote(Notes):
    """What `Session.write` keeps, but for arrays."""

    finished: bool
    seconds: Annotated[float, Within(0)]
    generator: dict[str, Any]
    runs: Sequence[_RunNote]
    work: Count
    packed: Sequence[_PackedNote]
    epochs: _EpochsNote | None = None
    place: tuple[Count, dict[str, Any]] | None = None


def _check_history(history: History, where: str) -> None:
    """Raise where figures are not of the same iterations, or no numbers."""
    if len({len(values) for values in history.values()}) > 1:
        raise InputError(f"{where}.history must have as many figures of each kind")
    if any(values.dtype.kind not in "if" for values in _arrays(history).values()):
        raise InputError(f"{where}.history has numbers that 64 bits cannot hold")


class _Kept(NamedTuple):
    """A checkpoint, understood: all that `Session.write` was given."""

    facts: _FactsNote
    found: list[FittedFactors]
    packed: list[PackedFactors]
    population: Population | None
    iterates: dict[str, Rows]
    damage: str

    @classmethod
    def of(
        cls,
        kept: Checkpoint,
        shape: tuple[int, int],
        rank: int | None,
        generator: np.random.Generator,
    ) -> Self:
        """Undo `Session.write`, or raise an InputError where that cannot have written it."""
        facts, arrays = _FactsNote.from_json(kept.facts, "facts"), dict(kept.arrays)
        _check_state(generator, facts.generator)
        bits, words = (
            np.asarray(arrays.pop(name, np.empty(0, np.uint8))) for name in ("runs", "packed")
        )
        found, packed = [], []
        for noted in facts.runs:
            _check_shape((noted.shape[0], noted.shape[2]), shape, "facts.runs")
            fitted, bits = _fitted(noted, bits)
            found.append(fitted)
        for each in facts.packed:
            _check_shape(each.shape, shape, "facts.packed")
            if rank is not None and each.n_slots > rank:
                raise InputError(f"facts.packed has {each.n_slots} components, not up to {rank}")
            packed.append(PackedFactors.from_bytes(words, each.shape, each.n_slots, each.cost))
            words = words[packed[-1].to_bytes().size :]
        if bits.size or words.size or (facts.finished and len(found) != 1):
            raise InputError("facts.runs and facts.packed are not all that is kept of them")
        population, iterates = None, arrays
        if facts.place is not None:
            population, iterates = Population.from_arrays(facts.place[1], arrays), {}
            population.require(shape, -1 if rank is None else rank)
            if facts.place[0] >= max(len(found), 1):
                raise InputError(f"facts.place is of run {facts.place[0]}, of {len(found)}")
        elif facts.epochs is None:
            iterates = {}
        else:
            _check_iterates(arrays, shape)
        return cls(facts, found, packed, population, iterates, kept.damage)


def _check_state(generator: np.random.Generator, state: dict[str, Any]) -> None:
    """Raise where a generator cannot be brought to a state."""
    try:
        copy.deepcopy(generator).bit_generator.state = state
    except (TypeError, ValueError, KeyError, OverflowError, AttributeError) as error:
        raise InputError("facts.generator is no state of a random generator") from error


def _check_shape(noted: tuple[int, int], shape: tuple[int, int], where: str) -> None:
    if noted != shape:
        raise InputError(f"{where} is of {noted[0]}×{noted[1]} cells, not {shape[0]}×{shape[1]}")


def _check_iterates(arrays: Mapping[str, Rows], shape: tuple[int, int]) -> None:
    """Raise where arrays are not the iterates of both factors."""
    for name, length in zip(_FACTORS, shape, strict=True):
        k = arrays[_FACTORS[0]].shape[-1] if _FACTORS[0] in arrays else 0
        for each in (name, f"{name}.previous"):
            rows: Any = arrays.get(each)
            if rows is None and each != name:
                continue
            if rows is None or rows.dtype.kind != "f" or rows.shape != (length, k) or not k:
                raise InputError(f"{each} must be the numbers of {length} lines")
            at_once = max(1, _ENTRIES_AT_ONCE // k)
            for start in range(0, length, at_once):
                if not np.isfinite(rows[start : start + at_once]).all():
                    raise InputError(f"{each} has numbers that are not finite")


def _facts(fitted: FittedFactors) -> dict[str, Any]:
    """Return all there is of a result but the factors."""
    return {
        "shape": [*fitted.U.shape, fitted.V.shape[1]],
        "n_iter": fitted.n_iter,
        "stop_reason": fitted.stop_reason,
        "history": _lists(fitted.history),
        "stages": fitted.stages,
        "run_losses": fitted.run_losses,
        "cost": fitted.cost,
        "bound": fitted.bound,
    }


def _fitted(noted: _RunNote, bits: NDArray[Any]) -> tuple[FittedFactors, NDArray[Any]]:
    """Undo `_facts`, with the first of some bits; return the others, too."""
    U, V = factors_from_bytes(bits, *noted.shape)
    fitted = FittedFactors(
        U,
        V,
        noted.n_iter,
        noted.stop_reason,
        _arrays(noted.history),
        noted.stages,
        [*noted.run_losses],
        noted.cost,
        noted.bound,
    )
    return fitted, bits[factors_to_bytes(U, V).size :]


def _lists(history: dict[str, NDArray[Any]]) -> dict[str, list[Any]]:
    return {name: values.tolist() for name, values in history.items()}


def _arrays(history: Mapping[str, Sequence[Any]]) -> dict[str, NDArray[Any]]:
    return {name: np.asarray(values) for name, values in history.items()}
