"""Sums of floating-point numbers in one fixed order: the order of a binary tree over the slabs.

Rounding makes a sum depend on its order. Here slabs 0 and 1 are added, 2 and 3, then the two sums,
and so on, wherever the slabs are and whichever is ready first: every engine gets the same bits, and
each needs to move or keep only a few sums at a time.
"""

from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, Generic, TypeVar

__all__ = ["TreeSum", "merges"]

T = TypeVar("T")


def merges(count: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of positions: add the second to the first, one pair after the other."""
    step = 1
    while step < count:
        for position in range(0, count - step, 2 * step):
            yield position, position + step
        step *= 2


class TreeSum(Generic[T]):
    """Adds up what comes in any order, as `merges` says; at most a few terms wait at a time.

    Parameters
    ----------
    count : int
        Number of terms.
    add : callable
        Returns the sum of two terms; it may change them.
    """

    def __init__(self, count: int, add: Callable[[T, T], T]) -> None:
        self._count = count
        self._add = add
        self._waiting: dict[tuple[int, int], T] = {}
        self._lock = Lock()

    def put(self, position: int, term: T, step: int = 1) -> None:
        """Take a term; add it to its neighbour if that is here already. Safe from any thread.

        With another ``step``, the term is what another such sum has as a `part`.
        """
        while step < self._count:
            first = position % (2 * step) == 0
            other = position + step if first else position - step
            if other < self._count:
                with self._lock:
                    if (step, other) not in self._waiting:
                        self._waiting[step, position] = term
                        return
                    neighbour = self._waiting.pop((step, other))
                pair: Any = (term, neighbour) if first else (neighbour, term)
                term = self._add(*pair)
                position = min(position, other)
            step *= 2
        self._waiting[step, 0] = term

    @property
    def parts(self) -> dict[tuple[int, int], T]:
        """The sums so far, by their step and their first position, which wait for others."""
        return dict(self._waiting)

    @property
    def total(self) -> T:
        """The sum, when all terms have come."""
        (total,) = self._waiting.values()
        return total
