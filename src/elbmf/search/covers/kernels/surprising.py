"""Bicliques that grow by the lines that fit better than chance would have it.

A biclique grows from an uncovered one. It has *room*: the rows that have all of its columns, and
the columns that have all of its rows. The line that joins next is the one that fits the room far
better than chance would have it, by how many uncovered ones it has in all. (By counts alone, long
lines would join first, and the biclique would end as one of them.)
"""

import numpy as np

from elbmf.kernels.compiling import helper
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.sets import copy_into, lowest
from elbmf.search.covers.kernels.regrowth import ONE, flip, size_of, uniform

__all__ = ["grow_surprising", "worth"]


@helper(allocates=False)
def _surprise(line, left, room, size, ones, ones_left, length):
    """Tell how much better a line fits in a room than by chance, in standard deviations.

    Of its cells in the room those that are covered, or need not be, tell nothing. Infinite if it
    fits as it is.
    """
    inside = fresh = 0
    for w in range(room.shape[0]):
        inside += popcount(line[w] & room[w])
        fresh += popcount(left[w] & room[w])
    if inside == size:
        return np.inf
    cells = size - (inside - fresh)
    chance = (ones_left + 0.5) / (length - (ones - ones_left) + 1.0)
    return (fresh - cells * chance) / np.sqrt(cells * chance * (1.0 - chance))


@helper(allocates=False)
def _most_surprising(growth, side, rooms, fitting, room, best, noise):
    """Look for the line of a room that fits best; those that fit as they are are marked.

    Returns the line, below zero if none is better than ``best``, and how well it fits.
    """
    lines = growth.lines if side == 0 else growth.across
    left = growth.left if side == 0 else growth.left_across
    length = growth.across.shape[0] if side == 0 else growth.lines.shape[0]
    size, chosen = size_of(room), np.int64(-1)
    for y in range(rooms.shape[0]):
        word = rooms[y] & ~fitting[y]
        while word:
            l = 64 * y + lowest(word)
            word &= word - ONE
            ones, ones_left = growth.ones[side, l], growth.ones_left[side, l]
            fits = _surprise(lines[l], left[l], room, size, ones, ones_left, length)
            growth.state[0] += 8 + 2 * room.shape[0]
            if fits == np.inf:
                flip(fitting, l)
                continue
            if noise:
                fits -= noise * np.log(uniform(growth.random))
            if fits > best:
                chosen, best = l, fits
    return chosen, best


@helper(allocates=False)
def grow_surprising(growth, i, j, rows, columns, noise):
    """Let a biclique that cannot be extended grow from a one."""
    fitting_rows, fitting_columns = growth.row_set, growth.column_set
    copy_into(rows, growth.across[j])
    copy_into(columns, growth.lines[i])
    fitting_rows[:] = 0
    fitting_columns[:] = 0
    flip(fitting_rows, i)
    flip(fitting_columns, j)
    while True:
        row, best = _most_surprising(growth, 0, rows, fitting_rows, columns, -np.inf, noise)
        column, _ = _most_surprising(growth, 1, columns, fitting_columns, rows, best, noise)
        if column >= 0:
            flip(fitting_columns, column)
            for y in range(rows.shape[0]):
                rows[y] &= growth.across[column, y]
        elif row >= 0:
            flip(fitting_rows, row)
            for w in range(columns.shape[0]):
                columns[w] &= growth.lines[row, w]
        else:
            break


@helper(allocates=False)
def worth(growth, rows, columns):
    """Return how many uncovered ones a biclique covers, for each line that has any of them."""
    seen = growth.seen
    seen[:] = 0
    fresh = lines = 0
    for y in range(rows.shape[0]):
        word = rows[y]
        while word:
            i = 64 * y + lowest(word)
            word &= word - ONE
            count = 0
            for w in range(columns.shape[0]):
                here = growth.left[i, w] & columns[w]
                seen[w] |= here
                count += popcount(here)
            fresh += count
            lines += count > 0
            growth.state[0] += 4 + columns.shape[0]
    return fresh / (lines + size_of(seen)) if fresh else 0.0
