"""Counts of many columns in few counters: the sketches of Misra and Gries.

A sketch keeps columns, ascending, with a counter each. When there are more than it has room for,
the same number is taken from all counters, such that only the largest few stay above zero (Agarwal
et al., Mergeable Summaries, 2012). A counter is then never too high, and too low by at most the
total of all that was counted over the counters that stay. As long as there is room, it is exact.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import kernel

__all__ = ["Merging", "Sketches", "count_in", "merge_into"]


class Sketches(NamedTuple):
    """Several sketches of equal room."""

    columns: NDArray[np.int32]  # Those counted, ascending; of shape (s, room)
    counts: NDArray[np.int64]
    lengths: NDArray[np.int64]  # Counters in use; of length s


class Merging(NamedTuple):
    """Room to merge in, as much as a sketch and what is merged into it can need."""

    columns: NDArray[np.int64]
    counts: NDArray[np.int64]


@kernel()
def merge_into(sketches, c, columns, counts, size, merging):
    """Add counts of some columns, ascending, to sketch ``c``.

    When there is no room for all, about ``size`` of the counters stay.
    """
    own_columns, own_counts = sketches.columns[c], sketches.counts[c]
    length = sketches.lengths[c]
    total = 0
    at = 0
    for e in range(columns.shape[0]):
        column = np.int64(columns[e])
        while at < length and own_columns[at] < column:
            merging.columns[total] = own_columns[at]
            merging.counts[total] = own_counts[at]
            total += 1
            at += 1
        merging.columns[total] = column
        merging.counts[total] = counts[e]
        if at < length and own_columns[at] == column:
            merging.counts[total] += own_counts[at]
            at += 1
        total += 1
    while at < length:
        merging.columns[total] = own_columns[at]
        merging.counts[total] = own_counts[at]
        total += 1
        at += 1
    taken = np.int64(0)
    if total > own_columns.shape[0]:
        taken = np.partition(merging.counts[:total], total - size - 1)[total - size - 1]
    length = 0
    for e in range(total):
        if merging.counts[e] > taken:
            own_columns[length] = merging.columns[e]
            own_counts[length] = merging.counts[e] - taken
            length += 1
    sketches.lengths[c] = length


@kernel()
def count_in(sketches, c, column):
    """Return the count of a column in sketch ``c``; 0 if it has none."""
    low, high = np.int64(0), sketches.lengths[c]
    columns = sketches.columns[c]
    while low < high:
        middle = (low + high) // 2
        if columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    if low < sketches.lengths[c] and columns[low] == column:
        return sketches.counts[c, low]
    return np.int64(0)
