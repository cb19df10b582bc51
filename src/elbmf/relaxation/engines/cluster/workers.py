"""All workers that hold slabs of a matrix: told what to do, and replaced when they are gone.

Orders go to each worker directly and come back with its results; the workers' own schedule is not
asked, which would take longer than an epoch on small data. Orders that change something are noted.
When a worker is gone, its slabs are read again elsewhere, what was worked out on them is taken
from the last copy that a neighbour keeps, and the orders since then are carried out again, for
these slabs alone: nothing that follows can tell.
"""

import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import deepcopy
from typing import Any

from elbmf.errors import ClusterError
from elbmf.relaxation.engines.base import TreeSum
from elbmf.relaxation.engines.cluster.connection import Connection
from elbmf.relaxation.engines.cluster.holder import Order, SlabHolder, call_holder
from elbmf.relaxation.engines.cluster.placement import (
    address_book,
    next_in_ring,
    share_out,
    tree_runs,
)
from elbmf.relaxation.engines.cluster.sources import Reading, Source
from elbmf.relaxation.engines.cluster.trees import merged, spread
from elbmf.utils.text import size_text

__all__ = ["Workers"]

_LOG = logging.getLogger(__name__)

# Seconds that a worker may take to release what it holds.
_PATIENCE = 5.0

# Changes between copies, at least; and the share of the time that making them may take.
_CHANGES_PER_COPY = 10
_TIME_FOR_COPIES = 0.05

# Bytes of orders to keep where no neighbour can keep copies.
_MOST_ORDERS = 1 << 28

# Times that a slab may lose its worker.
_MOST_LOSSES = 3

# Up to here workers are asked one by one; more of them pass on what they get.
_FEW_WORKERS = 4

Apart = Callable[[int], tuple[Any, ...]]


class Workers:
    """The workers of a cluster and the slabs they hold."""

    def __init__(self, client: Any, source: Source) -> None:
        self.source = source
        self.readings: dict[int, Reading] = {}  # What is known of each slab
        self._cluster = Connection(client, self._advice)
        self._fit = uuid.uuid4().hex
        self._holders: dict[str, Any] = {}
        self._homes: dict[int, str] = {}
        self._losses: Counter[int] = Counter()
        self._first: tuple[Order, Apart] | None
        self._forget_orders()
        workers = self._cluster.present(wait=True)
        self._homes = tree_runs(source.count, workers)
        for address in set(self._homes.values()):
            self._hold(address, workers[address])
        lost = self._read(range(source.count))
        if lost:
            self._restore(lost)

    @property
    def count(self) -> int:
        """Workers that hold slabs."""
        return len(set(self._homes.values()))

    def begin(
        self,
        # Called with a `HeldSlab`, the arguments and what ``apart`` returns for its number
        operation: Callable[..., Any],
        *arguments: Any,  # The same for every slab
        apart: Apart,  # Returns further arguments for a slab
    ) -> None:
        """Make the first change, which needs none before it; earlier ones are forgotten."""
        self._forget_orders()
        order = Order(operation, arguments, None, 1, True)
        self._first = (order, apart)
        self._carry_out(order, apart, range(self.source.count))
        self._turn = 1

    def change(
        self,
        operation: Callable[..., Any],
        *arguments: Any,
        fold: Callable[[Any, Any], Any] | None = None,
    ) -> Any:
        """Have every slab changed; return the results by slab, or their sum."""
        order = Order(operation, arguments, fold, self._turn + 1, True)
        results = self._carry_out(order, None, range(self.source.count))
        self._turn += 1
        self._orders.append(order)
        self._copy_now_and_then()
        return self._total(order, results)

    def ask(
        self,
        operation: Callable[..., Any],
        *arguments: Any,
        fold: Callable[[Any, Any], Any] | None = None,
        numbers: Iterable[int] | None = None,
        apart: Apart | None = None,
    ) -> Any:
        """Have some or all slabs looked at; return the results by slab, or their sum."""
        order = Order(operation, arguments, fold, self._turn, False)
        everything = range(self.source.count)
        results = self._carry_out(order, apart, everything if numbers is None else numbers)
        return self._total(order, results)

    def close(self) -> None:
        """Have the workers release what they hold."""
        waiting = [self._cluster.call(holder, "close") for holder in self._holders.values()]
        for future in filter(None, waiting):
            with suppress(OSError):  # the worker is gone
                future.result(timeout=_PATIENCE)
        self._holders.clear()

    # Orders.

    def _total(self, order: Order, results: list[dict[Any, Any]]) -> Any:
        if order.fold is None:
            merged = {number: result for part in results for number, result in part.items()}
            return dict(sorted(merged.items()))
        tree: TreeSum[Any] = TreeSum(self.source.count, order.fold)
        for part in results:
            for (step, position), term in part.items():
                tree.put(position, term, step)
        return tree.total

    def _carry_out(
        self, order: Order, apart: Apart | None, numbers: Iterable[int]
    ) -> list[dict[Any, Any]]:
        """Give an order to all that hold these slabs, until each of these has answered."""
        left, results, whole = set(numbers), [], True
        while left:
            answers = self._order(order, apart, left)
            for address, answer in answers.items():
                if answer is not None:
                    results.append(answer)
                    left -= {number for number in left if self._homes[number] == address}
            if left:
                whole = False
                # On this machine, what has come back may be memory that is about to be used again.
                results = deepcopy(results)
                self._restore(left)
        if not whole and self._keepers:
            self._exposed = True
            self._copy()
        return results

    def _order(
        self, order: Order, apart: Apart | None, numbers: Iterable[int]
    ) -> dict[str, dict[Any, Any] | None]:
        """Give an order; the answers by address, None where a worker is gone."""
        book = address_book(self._homes, numbers)
        many = order.fold is not None and len(book) > _FEW_WORKERS
        if many:
            holders = {address: self._holders[address] for address in book}
            order = spread(self._cluster, self._fit, holders, order)._replace(waits=True)
        calls = {}
        for address, own in book.items():
            others = None if apart is None else {number: apart(number) for number in own}
            calls[address] = self._cluster.call(
                self._holders[address], "perform", order, own, self.source.count, others
            )
        answers = {address: self._cluster.answer(call, address) for address, call in calls.items()}
        return self._merged(order, answers) if many else answers

    def _merged(self, order: Order, answers: dict[str, Any]) -> dict[str, dict[Any, Any] | None]:
        """Have the workers add up their results; fetch them all if that fails."""
        assert order.fold is not None
        there = [address for address, answer in answers.items() if answer is not None]
        parts = merged(self._cluster, self._fit, there, self.source.count, order.fold)
        if parts is not None:
            return {**answers, **{address: {} for address in there}, there[0]: parts}
        fetched = {
            address: self._cluster.asked(self._holders[address], "outcome", address)
            for address in there
        }
        return {**answers, **fetched}

    # Slabs.

    def _hold(self, address: str, threads: int) -> bool:
        """Have a worker begin to hold slabs, if it does not yet; False if it is gone."""
        if address not in self._holders:
            arguments = (self._fit, address, threads)
            begun = self._cluster.submit(address, SlabHolder, *arguments, actor=True)
            holder = self._cluster.answer(begun, address)
            if holder is None:
                return False
            # By itself it belongs to the newest connection, which may be to another cluster.
            holder._client, holder._future = self._cluster.client, begun
            self._holders[address] = holder
        return True

    def _read(self, numbers: Iterable[int]) -> set[int]:
        """Have slabs read where they are to be; return those that were lost with a worker."""
        lost = set()
        calls: list[tuple[int, str, Any]] = []
        for address, own in address_book(self._homes, numbers).items():
            if address in self._holders:
                futures = self.source.read(self._cluster, self._fit, address, own)
                calls += [(n, address, future) for n, future in zip(own, futures, strict=True)]
            else:
                lost |= set(own)
        for number, address, call in calls:
            reading = self._cluster.answer(call, address)
            if reading is None:
                lost.add(number)
            else:
                self.readings[number] = reading
        if lost:
            # Blocks that are wanted from a worker that is gone would be waited for by all others.
            self._cluster.give_up([call for number, _, call in calls if number in lost])
        for _, _, call in calls:
            # A late answer leaves references to its future. Were it still wanted when its worker is
            # lost, the same blocks could be read nowhere else.
            call.release()
        return lost

    def _restore(self, numbers: set[int]) -> None:
        """Bring slabs to where all others are, on workers that are there."""
        while numbers:
            _LOG.warning("lost slabs %s with their workers", sorted(numbers))
            self._losses.update(numbers)
            if max(self._losses[number] for number in numbers) > _MOST_LOSSES:
                raise ClusterError(
                    f"Slabs lost their workers {_MOST_LOSSES + 1} times; as a rule these run out "
                    f"of memory. {self._advice()}"
                )
            workers = self._cluster.present(wait=True)
            for address in set(self._holders) - set(workers):
                del self._holders[address]
            elsewhere = {n: home for n, home in self._homes.items() if n not in numbers}
            self._homes.update(share_out(numbers, workers, elsewhere))
            there = all(
                self._hold(address, workers[address])
                for address in {self._homes[number] for number in numbers}
            )
            if there and self._rebuilt(numbers):
                return

    def _rebuilt(self, numbers: set[int]) -> bool:
        """Read slabs and carry out all orders again; False if that ended with a worker."""
        if self._read(numbers):
            return False
        if self._first is None:
            return True
        if not self._recoverable:
            raise ClusterError(
                "The only worker was lost, and there was none to keep copies of its work. Start "
                "two or more, and fit again."
            )
        turns = dict.fromkeys(numbers, 1)
        if not all(answer is not None for answer in self._order(*self._first, numbers).values()):
            return False
        if self._keepers:
            restored = self._take_copies(numbers)
            if restored is None:
                return False
            turns.update(restored)
        for order in self._orders:
            behind = [number for number in numbers if turns[number] < order.turn]
            answers = self._order(order, None, behind)
            if not all(answer is not None for answer in answers.values()):
                return False
        return True

    # Copies.

    def _forget_orders(self) -> None:
        self._first = None
        # Since the oldest copy that is needed, or since the first.
        self._orders: list[Order] = []
        self._turn = 0
        self._keepers: dict[int, str] = {}
        self._recoverable = True
        # Whether copies were lost together with the worker that kept them.
        self._exposed = False
        self._last_copy = time.perf_counter()
        self._cost_of_copy = 0.0

    def _copy_now_and_then(self) -> None:
        kept = sum(getattr(part, "nbytes", 0) for order in self._orders for part in order.arguments)
        elapsed = time.perf_counter() - self._last_copy
        cheap = self._cost_of_copy <= _TIME_FOR_COPIES * elapsed
        due = len(self._orders) >= _CHANGES_PER_COPY and cheap
        if self._exposed or due or kept > _MOST_ORDERS:
            self._copy()
            if self._orders and kept > _MOST_ORDERS:
                _LOG.warning("a single worker is left: if it is lost, so is the fit")
                self._recoverable = False
                self._orders.clear()

    def _copy(self) -> None:
        """Let each worker keep copies of what its neighbour has worked out."""
        began = time.perf_counter()
        calls = []
        workers = self._cluster.present()
        for address, own in address_book(self._homes, self._homes).items():
            keeper = next_in_ring(address, workers)
            if keeper is None or not self._hold(keeper, workers[keeper]):
                return
            made = self._task(address, "copies", own)
            calls.append((own, keeper, self._task(keeper, "keep", made), address))
        for own, keeper, call, address in calls:
            if self._cluster.answer(call, keeper, address) is None:
                # The next order finds out who is gone.
                return
            self._keepers.update(dict.fromkeys(own, keeper))
        self._orders.clear()
        self._exposed = False
        self._last_copy = time.perf_counter()
        self._cost_of_copy = self._last_copy - began

    def _take_copies(self, numbers: Iterable[int]) -> dict[int, int] | None:
        """Restore slabs from their copies; return their turns, None if a worker is gone."""
        turns: dict[int, int] = {}
        for address, own in address_book(self._homes, numbers).items():
            with_copies = [number for number in own if number in self._keepers]
            for keeper, kept in address_book(self._keepers, with_copies).items():
                if keeper not in self._cluster.present():
                    raise ClusterError(
                        f"Both the worker of some slabs and {keeper}, which kept the copies of "
                        "its work, were lost before others could be made. Fit again."
                    )
                restored = self._task(address, "restore", self._task(keeper, "kept", kept))
                answer = self._cluster.answer(restored, address, keeper)
                if answer is None:
                    return None
                turns.update(answer)
        return turns

    def _task(self, address: str, method: str, *arguments: Any) -> Any:
        return self._cluster.submit(address, call_holder, self._fit, address, method, *arguments)

    def _advice(self) -> str:
        largest = max(self.readings.values(), key=lambda reading: reading.ones, default=None)
        size = (
            ""
            if largest is None
            else (
                f" The largest slab has {largest.lines} lines and {largest.ones} ones, about "
                f"{size_text(4 * largest.ones)}."
            )
        )
        return f"Give workers more memory, start more of them, or cut smaller slabs.{size}"
