"""Covers that grow around a fooling set.

Where there is a cover of no more bicliques than there are ones in the set, each has one of them,
which leaves little to choose: many other ones fit with one of them only.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.product import Bools
from elbmf.search.covers.kernels.growing import Growth, grow_bicliques
from elbmf.search.covers.reduction import Table
from elbmf.utils.alarm import Alarm

__all__ = ["Grown", "grow_cover"]


class Grown(NamedTuple):
    """A cover, if there is one of so few bicliques, and about how many nanoseconds it took."""

    U: Bools | None
    V: Bools | None
    work: int


def grow_cover(
    table: Table, seeds: NDArray[np.int64], most: int, most_work: int, alarm: Alarm
) -> Grown:
    """Cover all required ones by at most so many bicliques, some around the given seeds."""
    n, m = table.allowed.shape

    def none(*shape: int) -> Bools:
        return np.zeros(shape, dtype=np.bool_)

    growth = Growth(
        allowed=table.allowed,
        rows=none(most, n),
        columns=none(most, m),
        row_room=none(most, n),
        column_room=none(most, m),
        covered=none(n, m),
        fits=np.zeros((n, m), dtype=np.int32),
        alarm=alarm.flag,
    )
    size, work = grow_bicliques(growth, seeds, np.argwhere(table.required), most_work)
    if size < 0:
        return Grown(None, None, work)
    return Grown(np.ascontiguousarray(growth.rows[:size].T), growth.columns[:size], work)
