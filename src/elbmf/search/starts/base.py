"""What a start of the search is: components found in little time, however many."""

from collections.abc import Callable
from typing import NamedTuple

from elbmf.boolean.product import Bools
from elbmf.search.local import LocalSearch

__all__ = ["Circumstances", "Start"]


class Circumstances(NamedTuple):
    """What a start begins with."""

    local: LocalSearch  # The data, what errors cost, and the threads
    k: int  # Components that are wanted; there may be fewer or more
    # Told the work that was done, about in nanoseconds; if true, what there is will do
    stop: Callable[[int], bool]


Start = Callable[[Circumstances], tuple[Bools, Bools] | None]
"""Returns U and V, or nothing where it does not suit the data. The first start always suits."""
