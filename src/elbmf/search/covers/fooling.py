"""Lower bounds for covers: ones no two of which fit in one biclique need one each.

Such ones are called a fooling set.
"""

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.product import pack
from elbmf.search.covers.kernels.independence import find_independent, mark_compatible
from elbmf.search.covers.reduction import Table
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING

__all__ = ["fooling_set"]


def fooling_set(table: Table, moves: int, seed: int, alarm: Alarm) -> NDArray[np.int64]:
    """Return the rows and columns of required ones no two of which fit in one biclique.

    It has at most one of each line, so that of very many ones some of each line are looked at:
    those that fit with the fewest cells.
    """
    ones = np.argwhere(table.required)
    if not len(ones):
        return ones
    sizes = [table.allowed.sum(axis=axis, dtype=np.int64) for axis in (1, 0)]
    reach = sizes[0][ones[:, 0]] * sizes[1][ones[:, 1]]
    # By their places in the lines of the shorter side, and then by what they fit with.
    line = ones[:, int(np.argmin(table.required.shape))]
    order = np.lexsort((reach, line))
    place = np.empty_like(order)
    place[order] = np.arange(len(ones)) - np.searchsorted(line[order], line[order])
    ones = ones[np.lexsort((reach, place))[: TUNING.ones_to_fool]]
    count = len(ones)
    words = -(-count // 64)
    compatible = np.zeros((count, words), dtype=np.uint64)
    mark_compatible(pack(table.allowed), ones, compatible)
    sets = np.zeros((2, words), dtype=np.uint64)
    numbers = np.zeros((2, count), dtype=np.int64)
    find_independent(compatible, moves, np.uint64(seed), alarm.flag, *sets, *numbers)
    chosen = np.unpackbits(sets[1].view(np.uint8), bitorder="little")[:count]
    return ones[chosen.astype(bool)]
