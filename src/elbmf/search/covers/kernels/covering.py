"""Covering the same ones by ever fewer bicliques.

When a biclique is done without, some ones are uncovered. One of them after the other is put into a
biclique, which loses all rows and columns that do not go with it, and whatever only these covered
is uncovered in turn. What a biclique has just lost does not come back to it for some time. This is
a tabu search for a colouring of the ones, in which some may be without a colour.

References
----------
I. Blöchliger, N. Zufferey. A graph coloring heuristic using partial solutions and a reactive tabu
scheme. Computers & Operations Research 35(3), 2008.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.randomness import draw, random_word
from elbmf.kernels.sets import copy_into, has, lowest

__all__ = ["Bicliques", "Ground", "shrink"]

# Uncovered ones of which the best is looked for.
_TRIALS = 6

# Moves for which something is tabu: a number up to this, and a share of the uncovered ones.
_TENURE = 10
_TENURE_PER_ONE = 0.6

_ALL = ~np.uint64(0)
_ONE = np.uint64(1)


class Ground(NamedTuple):
    """What may be covered, and what must.

    Parameters
    ----------
    lines, across : ndarray of uint64
        What may, packed by rows and by columns.
    required : ndarray of uint64
        What must, packed by rows.
    """

    lines: NDArray[np.uint64]
    across: NDArray[np.uint64]
    required: NDArray[np.uint64]


class Bicliques(NamedTuple):
    """Bicliques, and what they cover.

    Parameters
    ----------
    rows, columns : ndarray of uint64, of shape (k, words)
        Those of each biclique, packed.
    memberships : ndarray of uint64, of shape (n, ceil(k / 64))
        The bicliques of each row.
    covered, once : ndarray of uint64, of shape (n, words)
        Cells that are covered, and those that just one biclique covers.
    uncovered : ndarray of int64, of shape (required ones, 2)
        Row and column of the required ones that are not covered: as many as there are.
    row_set, column_set : ndarray of uint64
        Buffers for a set of rows, and for one of columns.
    tabu : ndarray of int64
        By the hash of a one and a biclique, the move up to which the one may not come back.
    best_rows, best_columns : ndarray of uint64
        The last bicliques that covered everything.
    random : ndarray of uint64, of shape (2,)
        Key of the random numbers, and how many were drawn.
    state : ndarray of int64, of shape (5,)
        How many ones are uncovered, moves, work, most work, and how many bicliques are the best.
    alarm : ndarray of uint8, of shape (1,)
        Whether to end.
    """

    rows: NDArray[np.uint64]
    columns: NDArray[np.uint64]
    memberships: NDArray[np.uint64]
    covered: NDArray[np.uint64]
    once: NDArray[np.uint64]
    uncovered: NDArray[np.int64]
    row_set: NDArray[np.uint64]
    column_set: NDArray[np.uint64]
    tabu: NDArray[np.int64]
    best_rows: NDArray[np.uint64]
    best_columns: NDArray[np.uint64]
    random: NDArray[np.uint64]
    state: NDArray[np.int64]
    alarm: NDArray[np.uint8]


@helper(allocates=False)
def _slot(tabu, i, j, l):
    """Return where it is kept whether a one may come to a biclique."""
    key = np.uint64(i) << np.uint64(40) ^ np.uint64(j) << np.uint64(20) ^ np.uint64(l)
    return np.int64(random_word(key, 0) % np.uint64(tabu.shape[0]))


@helper(allocates=False)
def _mask_row(cover, i):
    """Find out what is covered in a row, and what of it once."""
    covered, once = cover.covered[i], cover.once[i]
    covered[:] = 0
    once[:] = 0
    for y in range(cover.memberships.shape[1]):
        word = cover.memberships[i, y]
        while word:
            columns = cover.columns[64 * y + lowest(word)]
            word &= word - _ONE
            for w in range(columns.shape[0]):
                # Until the end, what is covered twice or more.
                once[w] |= covered[w] & columns[w]
                covered[w] |= columns[w]
            cover.state[2] += columns.shape[0]
    for w in range(covered.shape[0]):
        once[w] = covered[w] & ~once[w]


@helper(allocates=False)
def _renew_row(ground, cover, i, l):
    """Do the same after a biclique has changed; list what is uncovered since, which is tabu."""
    state = cover.state
    # What was uncovered before is in the list already.
    before = cover.column_set
    for w in range(before.shape[0]):
        before[w] = ground.required[i, w] & cover.covered[i, w]
    _mask_row(cover, i)
    for w in range(before.shape[0]):
        word = before[w] & ~cover.covered[i, w]
        while word:
            j = 64 * w + lowest(word)
            word &= word - _ONE
            cover.uncovered[state[0], 0] = i
            cover.uncovered[state[0], 1] = j
            state[0] += 1
            tenure = draw(cover.random, _TENURE) + np.int64(_TENURE_PER_ONE * state[0])
            cover.tabu[_slot(cover.tabu, i, j, l)] = state[1] + tenure


@helper(allocates=False)
def _loss(ground, cover, l, i, j, most):
    """Count the ones that only this biclique covers, and would not with a cell in it.

    More than so many need not be counted.
    """
    lost = np.int64(0)
    columns = cover.columns[l]
    for y in range(cover.rows.shape[1]):
        word = cover.rows[l, y]
        while word and lost <= most:
            r = 64 * y + lowest(word)
            word &= word - _ONE
            stays = has(ground.across[j], r)
            for w in range(columns.shape[0]):
                alone = ground.required[r, w] & cover.once[r, w] & columns[w]
                if stays:
                    alone &= ~ground.lines[i, w]
                lost += popcount(alone)
            cover.state[2] += 4 + columns.shape[0]
    return lost


@helper(allocates=False)
def _close(lines, given, closed):
    """Let a set be the cells that all given lines have."""
    closed[:] = _ALL
    count = 0
    for y in range(given.shape[0]):
        word = given[y]
        while word:
            line = lines[64 * y + lowest(word)]
            word &= word - _ONE
            for w in range(closed.shape[0]):
                closed[w] &= line[w]
            count += closed.shape[0]
    return count


@helper(allocates=False)
def _move(ground, cover, l, i, j):
    """Put a cell into a biclique, without what does not go with it, but with all that does."""
    rows, columns, state = cover.rows[l], cover.columns[l], cover.state
    mark = _ONE << np.uint64(l & 63)
    # The rows that are affected, those of before and after.
    affected = cover.row_set
    for y in range(rows.shape[0]):
        affected[y] = rows[y]
        word = rows[y]
        while word:
            r = 64 * y + lowest(word)
            word &= word - _ONE
            cover.memberships[r, l >> 6] &= ~mark
        rows[y] &= ground.across[j, y]
    rows[i >> 6] |= _ONE << np.uint64(i & 63)
    for w in range(columns.shape[0]):
        columns[w] &= ground.lines[i, w]
    columns[j >> 6] |= _ONE << np.uint64(j & 63)
    if draw(cover.random, 2):
        state[2] += _close(ground.across, columns, rows)
        state[2] += _close(ground.lines, rows, columns)
    else:
        state[2] += _close(ground.lines, rows, columns)
        state[2] += _close(ground.across, columns, rows)
    for y in range(rows.shape[0]):
        affected[y] |= rows[y]
        word = rows[y]
        while word:
            r = 64 * y + lowest(word)
            word &= word - _ONE
            cover.memberships[r, l >> 6] |= mark
    for y in range(rows.shape[0]):
        word = affected[y]
        while word:
            r = 64 * y + lowest(word)
            word &= word - _ONE
            _renew_row(ground, cover, r, l)
            state[2] += 10
    left = 0
    for place in range(state[0]):
        i, j = cover.uncovered[place, 0], cover.uncovered[place, 1]
        if not has(cover.covered[i], j):
            cover.uncovered[left, 0] = i
            cover.uncovered[left, 1] = j
            left += 1
    state[2] += 3 * state[0]
    state[0] = left


@helper(allocates=False)
def _drop_least_useful(ground, cover, k):
    """Do without the biclique that covers fewest ones alone; the last takes its place."""
    least, fewest, ties = np.int64(0), np.int64(-1), 0
    for l in range(k):
        count = np.int64(0)
        for y in range(cover.rows.shape[1]):
            word = cover.rows[l, y]
            while word:
                r = 64 * y + lowest(word)
                word &= word - _ONE
                for w in range(cover.columns.shape[1]):
                    alone = ground.required[r, w] & cover.once[r, w] & cover.columns[l, w]
                    count += popcount(alone)
                cover.state[2] += 4 + cover.columns.shape[1]
        ties = ties + 1 if count == fewest else 1
        if fewest < 0 or count < fewest or (count == fewest and draw(cover.random, ties) == 0):
            least, fewest = l, count
    last = k - 1
    affected = cover.row_set
    for y in range(cover.rows.shape[1]):
        affected[y] = cover.rows[least, y]
    for l in (least, last):
        for y in range(cover.rows.shape[1]):
            word = cover.rows[l, y]
            while word:
                r = 64 * y + lowest(word)
                word &= word - _ONE
                cover.memberships[r, l >> 6] &= ~(_ONE << np.uint64(l & 63))
    for y in range(cover.rows.shape[1]):
        cover.rows[least, y] = cover.rows[last, y]
        cover.rows[last, y] = 0
        word = cover.rows[least, y] if least != last else np.uint64(0)
        while word:
            r = 64 * y + lowest(word)
            word &= word - _ONE
            cover.memberships[r, least >> 6] |= _ONE << np.uint64(least & 63)
    for w in range(cover.columns.shape[1]):
        cover.columns[least, w] = cover.columns[last, w]
        cover.columns[last, w] = 0
    for y in range(cover.rows.shape[1]):
        word = affected[y]
        while word:
            r = 64 * y + lowest(word)
            word &= word - _ONE
            _renew_row(ground, cover, r, last)


@helper(allocates=False)
def _is_over(cover):
    return cover.alarm[0] != 0 or cover.state[2] >= cover.state[3]


@helper(allocates=False)
def _best_move(ground, cover, k):
    """Choose an uncovered one, and the biclique in which it costs least; return both."""
    state, random = cover.state, cover.random
    place, biclique, least, ties = np.int64(-1), np.int64(-1), np.int64(1 << 40), 0
    for _ in range(min(_TRIALS, state[0])):
        trial = draw(random, state[0])
        i, j = cover.uncovered[trial, 0], cover.uncovered[trial, 1]
        for l in range(k):
            lost = _loss(ground, cover, l, i, j, least)
            if lost > least:
                continue
            if lost and cover.tabu[_slot(cover.tabu, i, j, l)] > state[1]:
                continue
            ties = ties + 1 if lost == least else 1
            if lost < least or draw(random, ties) == 0:
                place, biclique, least = trial, l, lost
        state[2] += 10 * k
        if least == 0:
            break
    if place < 0:
        place, biclique = draw(random, state[0]), draw(random, k)
    return place, biclique


@kernel(allocates=False, error_model="numpy")
def shrink(ground, cover, k, fewest):
    """Cover the same by fewer bicliques, until there are as few as wanted, or it is over.

    Parameters
    ----------
    ground : Ground
    cover : Bicliques
        Of which only the first ``k`` rows and columns need be set; they must cover all.
    k : int
        How many there are.
    fewest : int
        How many to be content with.
    """
    state = cover.state
    cover.memberships[:, :] = 0
    for l in range(k):
        for y in range(cover.rows.shape[1]):
            word = cover.rows[l, y]
            while word:
                r = 64 * y + lowest(word)
                word &= word - _ONE
                cover.memberships[r, l >> 6] |= _ONE << np.uint64(l & 63)
    for i in range(cover.memberships.shape[0]):
        _mask_row(cover, i)
    state[0] = 0
    while True:
        if state[0] == 0:
            for l in range(k):
                copy_into(cover.best_rows[l], cover.rows[l])
                copy_into(cover.best_columns[l], cover.columns[l])
            state[4] = k
            if k <= fewest:
                break
            _drop_least_useful(ground, cover, k)
            k -= 1
        elif _is_over(cover):
            break
        else:
            place, l = _best_move(ground, cover, k)
            state[1] += 1
            _move(ground, cover, l, cover.uncovered[place, 0], cover.uncovered[place, 1])
    return k
