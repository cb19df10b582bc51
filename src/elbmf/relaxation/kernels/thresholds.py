"""Rounding relaxed factors: what every pair of thresholds costs, in one pass over the rows."""

import numpy as np

from elbmf.kernels.compiling import helper, kernel

__all__ = ["add_changes"]


@helper(allocates=False)
def _list_by_level(levels, order):
    """List the components with a level above 0, the highest level first; return how many."""
    count = 0
    for l in range(levels.shape[0]):
        if levels[l] == 0:
            continue
        at = count
        while at > 0 and levels[order[at - 1]] < levels[l]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = l
        count += 1
    return count


@helper(allocates=False)
def _set_prices(indptr, indices, i, price, prices):
    for e in range(indptr[i], indptr[i + 1]):
        prices[indices[e]] = price


@kernel()
def add_changes(ones, missing, low, high, levels, components, one, zero, changes):
    """Add up by how much the cost of rows ``low`` to ``high`` changes, and at which thresholds.

    An entry of level a is on at the thresholds 0 to a - 1. As the threshold of U sinks, a row gains
    one component after the other, and a cell is covered up to the highest level that any of them
    has there: nothing happens but where a component raises it.

    Parameters
    ----------
    ones, missing : pair of ndarray
        Patterns of the rows, pointers and indices; pointers of ``missing`` may be empty.
    levels : ndarray of uint8, of shape (n, k)
        Levels of U.
    components : tuple
        Levels of V that are above 0: pointers for each component, columns and levels; and the
        number of all columns.
    one, zero : int
        Cost of an uncovered one and of a covered zero.
    changes : ndarray of int64, of shape (thresholds + 1, thresholds + 1)
        At ``[a, b]``, the change between threshold b - 1 and threshold b of V that the entries of
        U of level a make.
    """
    starts, columns, heights, length = components
    prices = np.full(length, zero, dtype=np.int64)
    reached = np.zeros(length, dtype=np.uint8)
    order = np.empty(levels.shape[1], dtype=np.int64)
    for i in range(low, high):
        count = _list_by_level(levels[i], order)
        if count == 0:
            continue
        _set_prices(ones[0], ones[1], i, -one, prices)
        if missing[0].shape[0]:
            _set_prices(missing[0], missing[1], i, 0, prices)
        for c in range(count):
            l = order[c]
            change = changes[levels[i, l]]
            for e in range(starts[l], starts[l + 1]):
                j = columns[e]
                if heights[e] > reached[j]:
                    change[reached[j]] += prices[j]
                    change[heights[e]] -= prices[j]
                    reached[j] = heights[e]
        reached[:] = 0
        _set_prices(ones[0], ones[1], i, zero, prices)
        if missing[0].shape[0]:
            _set_prices(missing[0], missing[1], i, zero, prices)
