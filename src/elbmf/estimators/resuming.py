"""What a fit keeps of itself now and then, so that another goes on from there to the same end.

Kept is what the rest of the fit depends on: the two last iterates of both factors, what stop rule
and trace remember, the state of the random generator, what finished runs have led to, and the place
of the search that follows them.
"""

import hashlib
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf._version import __version__
from elbmf.boolean.fitted import FittedFactors
from elbmf.boolean.packed import PackedFactors, factors_from_bytes, factors_to_bytes
from elbmf.estimators.checkpoints import Checkpoint, CheckpointFolder
from elbmf.estimators.schedule_flags import flat_parameters
from elbmf.estimators.warning import warn_caller
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.half_step import Iterate, Rows
from elbmf.relaxation.palm import State
from elbmf.relaxation.stopping import StopRule
from elbmf.relaxation.trace import Trace
from elbmf.search.population import Population

if TYPE_CHECKING:
    from elbmf.estimators.base import BooleanFactorizer

__all__ = ["Begun", "Session", "identity"]

_LOG = logging.getLogger(__name__)

_FACTORS = ("U", "Vt")

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
        kept = folder.read() if folder is not None else None
        if kept is not None and (repeats or not kept.facts["finished"]):
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
            repeats=seed is not None,
        )

    def begun(self, trace: Trace, stop: StopRule) -> Begun | None:
        """Return where the next run is, if it had begun; trace and stop rule are brought there."""
        epochs = self._epochs
        if epochs is None:
            return None
        U, Vt = (
            Iterate(self._iterates[name], self._iterates.get(f"{name}.previous"))
            for name in _FACTORS
        )
        trace.resume(_arrays(epochs["history"]), U, Vt)
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

    def _resume(self, kept: Checkpoint) -> None:
        if kept.damage:
            warn_caller(
                f"The last checkpoint cannot be used: {kept.damage} The fit goes on from the one "
                "before it."
            )
        facts, arrays = kept.facts, dict(kept.arrays)
        self.began -= facts["seconds"]
        self._state = self._generator.bit_generator.state = facts["generator"]
        self._epochs = facts["epochs"]
        bits, words = (np.asarray(arrays.pop(name, ())) for name in ("runs", "packed"))
        if facts["place"] is not None:
            run, numbers = facts["place"]
            self.place = (run, Population.from_arrays(numbers, arrays))
        self._iterates = {} if self.place else arrays
        found, packed = [], []
        for noted in facts["runs"]:
            fitted, bits = _fitted(noted, bits)
            found.append(fitted)
        for noted in facts["packed"]:
            packed.append(PackedFactors.from_bytes(words, **noted))
            words = words[packed[-1].to_bytes().size :]
        if facts["finished"]:
            (self.result,) = found
        else:
            self.runs = found
        self.reduced, self.work = packed, facts["work"]
        _LOG.info("goes on after %.1f seconds, %d runs", facts["seconds"], len(self.runs))


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


def _fitted(noted: dict[str, Any], bits: NDArray[Any]) -> tuple[FittedFactors, NDArray[Any]]:
    """Undo `_facts`, with the first of some bits; return the others, too."""
    n, k, m = noted["shape"]
    U, V = factors_from_bytes(bits, n, k, m)
    facts = {name: noted[name] for name in noted if name not in ("shape", "history")}
    fitted = FittedFactors(U, V, history=_arrays(noted["history"]), **facts)
    return fitted, bits[factors_to_bytes(U, V).size :]


def _lists(history: dict[str, NDArray[Any]]) -> dict[str, list[Any]]:
    return {name: values.tolist() for name, values in history.items()}


def _arrays(history: dict[str, list[Any]]) -> dict[str, NDArray[Any]]:
    return {name: np.asarray(values) for name, values in history.items()}
