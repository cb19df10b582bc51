"""A cover that is taken apart and grown again: what covers what, and what is left."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.randomness import random_word, to_unit_interval
from elbmf.kernels.sets import has, lowest

__all__ = ["ONE", "Regrowth", "count_alone", "count_in", "flip", "is_over", "size_of", "uniform"]

ONE = np.uint64(1)


class Regrowth(NamedTuple):
    """A cover that is taken apart and grown again.

    Parameters
    ----------
    lines, across : ndarray of uint64
        What may be covered, packed by rows and by columns.
    required : ndarray of uint64
        What must be, packed by rows.
    rows, columns : ndarray of uint64, of shape (most, words)
        Those of each biclique, packed.
    best_rows, best_columns : ndarray of uint64, of the same shape
        Those of the smallest cover.
    pool_rows, pool_columns : ndarray of uint64, of shape (size, words)
        Bicliques to choose from.
    scores : ndarray of float64, of shape (max(size, most),)
        What each of them is worth, and other numbers for each.
    counts : ndarray of int16, of shape (n, m)
        How many bicliques cover each cell.
    left, left_across : ndarray of uint64
        What must be and is not covered, packed by rows and by columns.
    ones : ndarray of int64, of shape (2, max(n, m))
        What may be covered of each row, and of each column.
    ones_left : ndarray of int64, of the same shape
        What is left to cover of each.
    uncovered : ndarray of int64, of shape (required ones, 2)
        What is left to cover, and some that is not.
    row_set, column_set, seen : ndarray of uint64
        Buffers for a set of rows, and for two of columns.
    random : ndarray of uint64, of shape (2,)
        Key of the random numbers, and how many were drawn.
    state : ndarray of int64, of shape (3,)
        Work, most work, and how many bicliques are the best.
    alarm : ndarray of uint8, of shape (1,)
        Whether to end.
    """

    lines: NDArray[np.uint64]
    across: NDArray[np.uint64]
    required: NDArray[np.uint64]
    rows: NDArray[np.uint64]
    columns: NDArray[np.uint64]
    best_rows: NDArray[np.uint64]
    best_columns: NDArray[np.uint64]
    pool_rows: NDArray[np.uint64]
    pool_columns: NDArray[np.uint64]
    scores: NDArray[np.float64]
    counts: NDArray[np.int16]
    left: NDArray[np.uint64]
    left_across: NDArray[np.uint64]
    ones: NDArray[np.int64]
    ones_left: NDArray[np.int64]
    uncovered: NDArray[np.int64]
    row_set: NDArray[np.uint64]
    column_set: NDArray[np.uint64]
    seen: NDArray[np.uint64]
    random: NDArray[np.uint64]
    state: NDArray[np.int64]
    alarm: NDArray[np.uint8]


@helper(allocates=False)
def uniform(random):
    """Draw a number in (0, 1]."""
    word = random_word(random[0], random[1])
    random[1] += ONE
    return 1.0 - to_unit_interval(word)


@helper(allocates=False)
def size_of(packed):
    """Count the elements of a packed set."""
    count = 0
    for w in range(packed.shape[0]):
        count += popcount(packed[w])
    return count


@helper(allocates=False)
def flip(packed, l):
    """Take an element into a packed set, or out of it."""
    packed[l >> 6] ^= ONE << np.uint64(l & 63)


@helper(allocates=False)
def count_in(growth, rows, columns, by):
    """Count the cells of a biclique in, or out again."""
    cells = 0
    for y in range(rows.shape[0]):
        row_word = rows[y]
        while row_word:
            i = 64 * y + lowest(row_word)
            row_word &= row_word - ONE
            for w in range(columns.shape[0]):
                word = columns[w]
                while word:
                    j = 64 * w + lowest(word)
                    word &= word - ONE
                    before = growth.counts[i, j]
                    growth.counts[i, j] = before + by
                    cells += 1
                    if (before == 0 or before + by == 0) and has(growth.required[i], j):
                        flip(growth.left[i], j)
                        flip(growth.left_across[j], i)
                        growth.ones_left[0, i] -= by
                        growth.ones_left[1, j] -= by
    growth.state[0] += 3 * cells


@helper(allocates=False)
def count_alone(growth, l):
    """Count the ones that only this biclique covers."""
    alone = cells = 0
    for y in range(growth.rows.shape[1]):
        row_word = growth.rows[l, y]
        while row_word:
            i = 64 * y + lowest(row_word)
            row_word &= row_word - ONE
            for w in range(growth.columns.shape[1]):
                word = growth.columns[l, w] & growth.required[i, w]
                while word:
                    j = 64 * w + lowest(word)
                    word &= word - ONE
                    alone += growth.counts[i, j] == 1
                    cells += 1
    growth.state[0] += 2 * cells
    return alone


@helper(allocates=False)
def is_over(growth):
    """Tell whether to leave it at that."""
    return growth.alarm[0] != 0 or growth.state[0] >= growth.state[1]
