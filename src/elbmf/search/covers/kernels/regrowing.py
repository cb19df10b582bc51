"""Covers that are taken apart in places and grown again.

A biclique grows from an uncovered one. It has *room*: the rows that have all of its columns, and
the columns that have all of its rows. The line that joins next is the one that fits the room far
better than chance would have it, by how many uncovered ones it has in all. (By counts alone, long
lines would join first, and the biclique would end as one of them.) Of many bicliques, the one that
covers most for each of its lines is taken, as a biclique has to do with many lines where a line by
itself covers just its own ones.

References
----------
R. Ruiz, T. Stützle. A simple and effective iterated greedy algorithm for the permutation flowshop
scheduling problem. European Journal of Operational Research 177(3), 2007.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.randomness import draw, random_word, to_unit_interval
from elbmf.kernels.sets import copy_into, has, lowest

__all__ = ["Regrowth", "regrow"]

# Share of the bicliques that are taken out at a time, at most.
_SHARE_OUT = 0.4

# Of two bicliques that cover so many ones alone and none, the second is this much likelier to go.
_KEPT_FOR = 3.0

# How much chance every other biclique leaves to lines that fit less well.
_NOISE = 0.3

_ONE = np.uint64(1)


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
def _uniform(random):
    """Draw a number in (0, 1]."""
    word = random_word(random[0], random[1])
    random[1] += _ONE
    return 1.0 - to_unit_interval(word)


@helper(allocates=False)
def _size(packed):
    count = 0
    for w in range(packed.shape[0]):
        count += popcount(packed[w])
    return count


@helper(allocates=False)
def _flip(packed, l):
    packed[l >> 6] ^= _ONE << np.uint64(l & 63)


@helper(allocates=False)
def _count(growth, rows, columns, by):
    """Count the cells of a biclique in, or out again."""
    cells = 0
    for y in range(rows.shape[0]):
        row_word = rows[y]
        while row_word:
            i = 64 * y + lowest(row_word)
            row_word &= row_word - _ONE
            for w in range(columns.shape[0]):
                word = columns[w]
                while word:
                    j = 64 * w + lowest(word)
                    word &= word - _ONE
                    before = growth.counts[i, j]
                    growth.counts[i, j] = before + by
                    cells += 1
                    if (before == 0 or before + by == 0) and has(growth.required[i], j):
                        _flip(growth.left[i], j)
                        _flip(growth.left_across[j], i)
                        growth.ones_left[0, i] -= by
                        growth.ones_left[1, j] -= by
    growth.state[0] += 3 * cells


@helper(allocates=False)
def _alone(growth, l):
    """Count the ones that only this biclique covers."""
    alone = cells = 0
    for y in range(growth.rows.shape[1]):
        row_word = growth.rows[l, y]
        while row_word:
            i = 64 * y + lowest(row_word)
            row_word &= row_word - _ONE
            for w in range(growth.columns.shape[1]):
                word = growth.columns[l, w] & growth.required[i, w]
                while word:
                    j = 64 * w + lowest(word)
                    word &= word - _ONE
                    alone += growth.counts[i, j] == 1
                    cells += 1
    growth.state[0] += 2 * cells
    return alone


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
    size, chosen = _size(room), np.int64(-1)
    for y in range(rooms.shape[0]):
        word = rooms[y] & ~fitting[y]
        while word:
            l = 64 * y + lowest(word)
            word &= word - _ONE
            ones, ones_left = growth.ones[side, l], growth.ones_left[side, l]
            fits = _surprise(lines[l], left[l], room, size, ones, ones_left, length)
            growth.state[0] += 8 + 2 * room.shape[0]
            if fits == np.inf:
                _flip(fitting, l)
                continue
            if noise:
                fits -= noise * np.log(_uniform(growth.random))
            if fits > best:
                chosen, best = l, fits
    return chosen, best


@helper(allocates=False)
def _grow(growth, i, j, rows, columns, noise):
    """Let a biclique that cannot be extended grow from a one."""
    fitting_rows, fitting_columns = growth.row_set, growth.column_set
    copy_into(rows, growth.across[j])
    copy_into(columns, growth.lines[i])
    fitting_rows[:] = 0
    fitting_columns[:] = 0
    _flip(fitting_rows, i)
    _flip(fitting_columns, j)
    while True:
        row, best = _most_surprising(growth, 0, rows, fitting_rows, columns, -np.inf, noise)
        column, _ = _most_surprising(growth, 1, columns, fitting_columns, rows, best, noise)
        if column >= 0:
            _flip(fitting_columns, column)
            for y in range(rows.shape[0]):
                rows[y] &= growth.across[column, y]
        elif row >= 0:
            _flip(fitting_rows, row)
            for w in range(columns.shape[0]):
                columns[w] &= growth.lines[row, w]
        else:
            break


@helper(allocates=False)
def _worth(growth, rows, columns):
    """Return how many uncovered ones a biclique covers, for each line that has any of them."""
    seen = growth.seen
    seen[:] = 0
    fresh = lines = 0
    for y in range(rows.shape[0]):
        word = rows[y]
        while word:
            i = 64 * y + lowest(word)
            word &= word - _ONE
            count = 0
            for w in range(columns.shape[0]):
                here = growth.left[i, w] & columns[w]
                seen[w] |= here
                count += popcount(here)
            fresh += count
            lines += count > 0
            growth.state[0] += 4 + columns.shape[0]
    return fresh / (lines + _size(seen)) if fresh else 0.0


@helper(allocates=False)
def _take_out(growth, k):
    """Take some bicliques out, those rather that cover little alone; return how many are left."""
    scores = growth.scores
    for l in range(k):
        scores[l] = -np.log(_uniform(growth.random)) * (_KEPT_FOR + _alone(growth, l))
    out = max(2, np.int64(_SHARE_OUT * _uniform(growth.random) * k))
    for _ in range(min(out, k)):
        least = 0
        for l in range(k):
            if scores[l] < scores[least]:
                least = l
        k = _remove(growth, least, k)
        scores[least] = scores[k]
        growth.state[0] += k
    return k


@helper(allocates=False)
def _remove(growth, l, k):
    """Take a biclique out; the last takes its place. Return how many are left."""
    _count(growth, growth.rows[l], growth.columns[l], -1)
    copy_into(growth.rows[l], growth.rows[k - 1])
    copy_into(growth.columns[l], growth.columns[k - 1])
    return k - 1


@helper(allocates=False)
def _list_uncovered(growth):
    """List what is left to cover; return how much it is."""
    count = 0
    for i in range(growth.left.shape[0]):
        for w in range(growth.left.shape[1]):
            word = growth.left[i, w]
            while word:
                growth.uncovered[count, 0] = i
                growth.uncovered[count, 1] = 64 * w + lowest(word)
                word &= word - _ONE
                count += 1
        growth.state[0] += growth.left.shape[1]
    return count


@helper(allocates=False)
def _is_over(growth):
    return growth.alarm[0] != 0 or growth.state[0] >= growth.state[1]


@helper(allocates=False)
def _cover_rest(growth, k, tries):
    """Add bicliques until all is covered; return how many there are, and whether it is."""
    pool, scores = growth.pool_rows.shape[0], growth.scores
    uncovered = growth.uncovered
    left = _list_uncovered(growth)
    while True:
        best = least = 0
        for p in range(pool):
            scores[p] = _worth(growth, growth.pool_rows[p], growth.pool_columns[p])
        for attempt in range(tries):
            e = np.int64(0)
            while left:
                e = draw(growth.random, left)
                if has(growth.left[uncovered[e, 0]], uncovered[e, 1]):
                    break
                left -= 1
                uncovered[e, 0], uncovered[e, 1] = uncovered[left, 0], uncovered[left, 1]
            if left == 0:
                return k, True
            least = 0
            for p in range(pool):
                if scores[p] < scores[least]:
                    least = p
            rows, columns = growth.pool_rows[least], growth.pool_columns[least]
            i, j = uncovered[e, 0], uncovered[e, 1]
            _grow(growth, i, j, rows, columns, _NOISE if attempt & 1 else 0.0)
            scores[least] = _worth(growth, rows, columns)
        for p in range(pool):
            if scores[p] > scores[best]:
                best = p
        if k == growth.rows.shape[0] or _is_over(growth):
            return k, False
        copy_into(growth.rows[k], growth.pool_rows[best])
        copy_into(growth.columns[k], growth.pool_columns[best])
        _count(growth, growth.rows[k], growth.columns[k], 1)
        k += 1


@helper(allocates=False)
def _without_needless(growth, k):
    """Take out bicliques that cover nothing alone; return how many are left."""
    for l in range(k - 1, -1, -1):
        if _alone(growth, l) == 0:
            k = _remove(growth, l, k)
    return k


@helper(allocates=False)
def _copy(target, source, k):
    for l in range(k):
        copy_into(target[l], source[l])


@kernel(allocates=False, error_model="numpy")
def regrow(growth, k, from_scratch, fewest, tries):
    """Cover the same by fewer bicliques, until there are as few as wanted, or it is over.

    Parameters
    ----------
    growth : Regrowth
        Of which the first ``k`` rows and columns need be set, and the same as the best; they must
        cover all. The arrays up to ``required`` and ``ones`` are set, and the others zero.
    k : int
        How many there are.
    from_scratch : bool
        Whether to begin with none of them.
    fewest : int
        How many to be content with.
    tries : int
        How many bicliques grow before one is taken.
    """
    state = growth.state
    for i in range(growth.left.shape[0]):
        for w in range(growth.left.shape[1]):
            word = growth.required[i, w]
            growth.left[i, w] = word
            while word:
                j = 64 * w + lowest(word)
                word &= word - _ONE
                _flip(growth.left_across[j], i)
                growth.ones_left[0, i] += 1
                growth.ones_left[1, j] += 1
    if from_scratch:
        k = 0
    for l in range(k):
        _count(growth, growth.rows[l], growth.columns[l], 1)
    while not _is_over(growth) and state[2] > fewest:
        k = _take_out(growth, k)
        k, covered = _cover_rest(growth, k, tries)
        if covered:
            k = _without_needless(growth, k)
        if covered and k <= state[2]:
            _copy(growth.best_rows, growth.rows, k)
            _copy(growth.best_columns, growth.columns, k)
            state[2] = k
        else:
            while k:
                k = _remove(growth, k - 1, k)
            k = state[2]
            _copy(growth.rows, growth.best_rows, k)
            _copy(growth.columns, growth.best_columns, k)
            for l in range(k):
                _count(growth, growth.rows[l], growth.columns[l], 1)
    return state[2]
