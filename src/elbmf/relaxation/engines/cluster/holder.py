"""What a worker holds: some slabs, what is worked out on them, and copies of its neighbour's work.

A plain object in the memory of the worker. It is told to perform an operation on its slabs, as many
at a time as it has threads, and answers with the results, added up as far as they meet in the tree
of `elbmf.relaxation.engines.base`. Slabs count the changes made to them: what has missed one, or
would be changed twice, says so.
"""

import pickle
import traceback
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines.base import TreeSum
from elbmf.utils.aligned import aligned_empty
from elbmf.utils.threads import SingleThreadedBlas

__all__ = ["Failure", "HeldSlab", "Order", "SlabHolder", "call_holder", "holder_at"]


@dataclass
class HeldSlab:
    """A slab on a worker."""

    number: int  # Which slab
    piece: BooleanMatrix  # The data: a row for each line, a column for each resident row
    shared: dict[str, Any]  # What the slabs of a worker have in common
    turn: int = 0  # Changes so far
    # What operations have left here for the next ones. Its method ``copies`` returns a function,
    # and values; called with a `HeldSlab` and these, the function brings that to the same state.
    work: Any = field(default=None, repr=False)


class Order(NamedTuple):
    """What to do with every slab."""

    operation: Callable[..., Any]  # Called with a `HeldSlab` and the arguments
    arguments: tuple[Any, ...]  # The same for every slab
    # Adds two results; by default they are handed back one by one
    fold: Callable[[Any, Any], Any] | None
    turn: int  # Changes that a slab has seen when the order is carried out, this one included
    changes: bool  # Whether this is a change; the first one may come at any turn
    token: str | None = None  # Names arguments that the workers have received before
    waits: bool = False  # Leave the results on the worker, as its `SlabHolder.outcome`


@dataclass(frozen=True)
class Failure:
    """What went wrong on a worker."""

    error: Exception | None  # The error, if it can travel
    text: str  # What there is to read of it
    out_of_step: bool = False  # Whether a slab was not there or not as it should be

    @classmethod
    def of(cls, error: Exception) -> "Failure":
        """Wrap an error."""
        text = "".join(traceback.format_exception(error))
        try:
            travelled = pickle.loads(pickle.dumps(error))
        except Exception:
            travelled = None
        return cls(travelled, text, isinstance(error, OutOfStepError))


class OutOfStepError(RuntimeError):
    """A slab is not there, or has missed a change."""


# Of every fit, by its name and the address of the worker. Weak: what no fit refers to any more,
# because it has ended or its client is gone, is given up.
_HOLDERS: "weakref.WeakValueDictionary[tuple[str, str], SlabHolder]" = weakref.WeakValueDictionary()


def holder_at(fit: str, address: str) -> "SlabHolder":
    """Return what a worker holds for a fit."""
    try:
        return _HOLDERS[fit, address]
    except KeyError:
        raise OutOfStepError(f"{address} holds nothing of the fit {fit}") from None


class SlabHolder:
    """The slabs of one fit on one worker."""

    def __init__(
        self,
        fit: str,  # Name of the fit
        address: str,  # Of the worker
        threads: int,  # Slabs that are worked on at once
    ) -> None:
        self._slabs: dict[int, HeldSlab] = {}
        self._kept: dict[int, tuple[int, Any]] = {}
        self._shared: dict[str, Any] = {}
        self._received: tuple[str, tuple[Any, ...]] = ("", ())
        self._outcome: dict[Any, Any] = {}
        self._pool = ThreadPoolExecutor(threads)
        # Linear algebra inside a slab stays on the slab's own thread.
        blas = SingleThreadedBlas()
        self._release = weakref.finalize(self, _release, self._pool, blas)
        _HOLDERS[fit, address] = self

    def take(self, number: int, piece: BooleanMatrix) -> None:
        """Take in a slab, in place of an earlier state of it."""
        self._slabs[number] = HeldSlab(number, piece, self._shared)

    def slab(self, number: int) -> HeldSlab:
        """Return one of the slabs."""
        try:
            return self._slabs[number]
        except KeyError:
            raise OutOfStepError(f"slab {number} is not here") from None

    def perform(
        self,
        order: Order,
        numbers: Iterable[int],
        count: int,  # Slabs of the whole matrix
        apart: Mapping[int, tuple[Any, ...]] | None = None,  # Arguments of each slab of its own
    ) -> Any:
        """Carry out an order on some slabs.

        Returns
        -------
        dict, bool or Failure
            Results by slab; or, folded, parts of their sum as of `TreeSum.parts`. True if they are
            to wait.
        """
        try:
            self._outcome = self._perform(order, sorted(numbers), count, apart or {})
        except Exception as error:
            return Failure.of(error)
        return True if order.waits else self.outcome()

    def receive(self, token: str, arguments: tuple[Any, ...]) -> bool:
        """Take in the arguments of orders to come."""
        self._received = (token, arguments)
        return True

    def pass_on(self, token: str, arguments: tuple[Any, ...] | None) -> tuple[Any, ...]:
        """Take in arguments, if they have not come by another way, and return them."""
        if arguments is not None:
            self.receive(token, arguments)
        return self.received(token)

    def received(self, token: str) -> tuple[Any, ...]:
        """Return what was received last."""
        found, arguments = self._received
        if found != token:
            raise OutOfStepError("other arguments have come")
        return arguments

    def outcome(self) -> dict[Any, Any]:
        """Return the results of the last order."""
        return self._outcome

    def _perform(
        self, order: Order, numbers: list[int], count: int, apart: Mapping[int, tuple[Any, ...]]
    ) -> dict[Any, Any]:
        slabs = [self.slab(number) for number in numbers]
        before = order.turn - order.changes
        for held in slabs:
            if before and held.turn != before:
                raise OutOfStepError(f"slab {held.number} is at {held.turn}, not {before}")
        received = order.arguments if order.token is None else self.received(order.token)
        arguments = tuple(map(_aligned, received))
        # What a slab that fails on the way has seen is unknown.
        for held in slabs:
            held.turn = -1
        results = TreeSum(count, order.fold) if order.fold else None

        def work(held: HeldSlab) -> Any:
            result = order.operation(held, *arguments, *apart.get(held.number, ()))
            held.turn = order.turn
            if results is None:
                return held.number, result
            results.put(held.number, result)
            return None

        done = list(self._pool.map(work, slabs))
        return dict(done) if results is None else results.parts

    def copies(self, numbers: Iterable[int]) -> dict[int, tuple[int, Any]]:
        """Return copies of what is worked out on some slabs, with their turns."""
        return {
            number: (self.slab(number).turn, self.slab(number).work.copies()) for number in numbers
        }

    def keep(self, copies: Mapping[int, tuple[int, Any]]) -> bool:
        """Keep copies for another worker."""
        self._kept.update(copies)
        return True

    def kept(self, numbers: Iterable[int]) -> dict[int, tuple[int, Any]]:
        """Hand out what is kept of some slabs."""
        return {number: self._kept[number] for number in numbers}

    def restore(self, copies: Mapping[int, tuple[int, Any]]) -> dict[int, int]:
        """Take over what was kept of some slabs; return their turns."""
        for number, (turn, arrays) in copies.items():
            held = self.slab(number)
            put_back, values = arrays
            put_back(held, values)
            held.turn = turn
        return {number: turn for number, (turn, _) in copies.items()}

    def close(self) -> None:
        """Release the slabs and the threads."""
        self._slabs.clear()
        self._kept.clear()
        self._shared.clear()
        self._received, self._outcome = ("", ()), {}
        self._release()


def _release(pool: ThreadPoolExecutor, blas: SingleThreadedBlas) -> None:
    pool.shutdown(wait=True)
    blas.release()


def _aligned(argument: Any) -> Any:
    """Move an array to a cache line: wherever it has been received, that is not there."""
    if not isinstance(argument, np.ndarray) or argument.ctypes.data % 64 == 0:
        return argument
    moved: NDArray[Any] = aligned_empty(argument.shape, argument.dtype)
    moved[...] = argument
    return moved


def call_holder(fit: str, address: str, method: str, *arguments: Any) -> Any:
    """Call a method of what a worker holds for a fit.

    As tasks, such calls pass on what one worker hands out to the next, and to nobody else.
    """
    return getattr(holder_at(fit, address), method)(*arguments)
