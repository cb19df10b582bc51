"""Cells that no component covers."""

import numpy as np

from elbmf.kernels.compiling import helper
from elbmf.kernels.randomness import draw
from elbmf.kernels.sets import common

__all__ = ["uncovered_cell"]


@helper(allocates=False)
def uncovered_cell(cells, memberships, random, work, tries):
    """Draw an uncovered cell of some, such as the ones, that are given as a pattern by rows.

    After so many tries they are few, and the first after a random row will do. Returns its row and
    its column, below zero if there is none.
    """
    indptr, indices, rows, columns = cells.indptr, cells.indices, memberships[0], memberships[1]
    n, total = rows.shape[0], indices.shape[0]
    for _ in range(tries if total else 0):
        e = draw(random, total)
        low, high = 0, n
        while high - low > 1:
            middle = (low + high) // 2
            if indptr[middle] <= e:
                low = middle
            else:
                high = middle
        work[0] += 20
        if not common(rows[low], columns[indices[e]]):
            return low, np.int64(indices[e])
    begin = draw(random, n)
    work[0] += 2 * total
    for step in range(n):
        i = (begin + step) % n
        for e in range(indptr[i], indptr[i + 1]):
            if not common(rows[i], columns[indices[e]]):
                return i, np.int64(indices[e])
    return -1, -1
