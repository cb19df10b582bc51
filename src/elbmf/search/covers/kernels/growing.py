"""Growing a cover around ones that need a biclique each.

Each biclique has *room*: the rows that have all of its columns, and the columns that have all of
its rows. A one fits in where both its row and its column are. One after the other, the uncovered
one that fits in the fewest bicliques is put into the one whose room becomes least smaller for it.

References
----------
D. Brélaz. New methods to color the vertices of a graph. Communications of the ACM 22(4), 1979.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper, kernel

__all__ = ["Growth", "grow_bicliques"]


class Growth(NamedTuple):
    """Bicliques that grow.

    Parameters
    ----------
    allowed : ndarray of bool, of shape (n, m)
        What may be covered.
    rows, columns : ndarray of bool, of shapes (most, n) and (most, m)
        Those of each biclique; none before.
    row_room, column_room : ndarray of bool, of the same shapes
        Those that could join it.
    covered : ndarray of bool, of shape (n, m)
        What is covered; nothing before.
    fits : ndarray of int32, of shape (n, m)
        In how many bicliques each cell has room; none before.
    alarm : ndarray of uint8, of shape (1,)
        Whether to end.
    """

    allowed: NDArray[np.bool_]
    rows: NDArray[np.bool_]
    columns: NDArray[np.bool_]
    row_room: NDArray[np.bool_]
    column_room: NDArray[np.bool_]
    covered: NDArray[np.bool_]
    fits: NDArray[np.int32]
    alarm: NDArray[np.uint8]


@helper(allocates=False)
def _count_room(growth, l, by):
    """Count the room of a biclique in, or out again; return how much it is."""
    n, m = growth.allowed.shape
    cells = 0
    for i in range(n):
        if growth.row_room[l, i]:
            for j in range(m):
                growth.fits[i, j] += by * growth.column_room[l, j]
            cells += m
    return cells


@helper(allocates=False)
def _put(growth, l, i, j):
    """Put a cell into a biclique that has room for it; return how long it took."""
    n, m = growth.allowed.shape
    work = _count_room(growth, l, -1)
    growth.rows[l, i] = growth.columns[l, j] = True
    for r in range(n):
        growth.row_room[l, r] &= growth.allowed[r, j]
        growth.covered[r, j] |= growth.rows[l, r]
    for c in range(m):
        growth.column_room[l, c] &= growth.allowed[i, c]
        growth.covered[i, c] |= growth.columns[l, c]
    return work + _count_room(growth, l, 1) + n + m


@helper(allocates=False)
def _roomiest(growth, size, i, j):
    """Return the biclique with room for a cell that then loses least of its room."""
    n, m = growth.allowed.shape
    best, least = -1, n * m + 1
    for l in range(size):
        if growth.row_room[l, i] and growth.column_room[l, j]:
            rows = columns = rows_left = columns_left = 0
            for r in range(n):
                rows += growth.row_room[l, r]
                rows_left += growth.row_room[l, r] & growth.allowed[r, j]
            for c in range(m):
                columns += growth.column_room[l, c]
                columns_left += growth.column_room[l, c] & growth.allowed[i, c]
            lost = rows * columns - rows_left * columns_left
            if lost < least:
                best, least = l, lost
    return best


@kernel(allocates=False)
def grow_bicliques(growth, seeds, ones, most_work):
    """Cover ones by bicliques around the seeds, and more where there is no room for a one.

    Returns how many, below zero if they are too many or if it takes too long, and the work.

    Parameters
    ----------
    growth : Growth
    seeds : ndarray of int64, of shape (k, 2)
        Cells that are in bicliques of their own.
    ones : ndarray of int64, of shape (E, 2)
        What to cover; its order is lost.
    most_work : int
        About in nanoseconds.
    """
    size, left, work = 0, ones.shape[0], 0
    while left or size < seeds.shape[0]:
        if work > most_work or growth.alarm[0]:
            return -1, work
        if size < seeds.shape[0]:
            i, j, fits = seeds[size, 0], seeds[size, 1], 0
        else:
            fits, e, i, j = np.int32((1 << 31) - 1), 0, np.int64(-1), np.int64(-1)
            while e < left and fits > 1:
                r, c = ones[e, 0], ones[e, 1]
                if growth.covered[r, c]:
                    left -= 1
                    ones[e, 0], ones[e, 1] = ones[left, 0], ones[left, 1]
                    continue
                e += 1
                if growth.fits[r, c] < fits:
                    fits, i, j = growth.fits[r, c], r, c
            work += 2 * e
            if left == 0:
                break
        if fits == 0:
            if size == growth.rows.shape[0]:
                return -1, work
            growth.row_room[size] = True
            growth.column_room[size] = True
            _count_room(growth, size, 1)
            l = size
            size += 1
        else:
            l = _roomiest(growth, size, i, j)
            work += size + fits * (growth.allowed.shape[0] + growth.allowed.shape[1])
        work += _put(growth, l, i, j)
    return size, work
