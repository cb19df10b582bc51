"""The largest set of ones no two of which fit in one biclique.

A local search for independent sets: one that has just one neighbour in the set takes its place,
or now and then one that has more, and whatever has none left joins.
"""

import numpy as np

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.randomness import random_word
from elbmf.kernels.sets import copy_into, has, lowest

__all__ = ["find_independent", "mark_compatible"]

_ONE = np.uint64(1)

# Of so many moves, one is made that makes the set smaller.
_MOVES_PER_SETBACK = 64


@kernel(allocates=False)
def mark_compatible(lines, ones, compatible):
    """Find out which ones fit in one biclique with which others.

    Parameters
    ----------
    lines : ndarray of uint64, of shape (n, words)
        The cells that may be covered, packed by rows.
    ones : ndarray of int64, of shape (E, 2)
        Rows and columns.
    compatible : ndarray of uint64, of shape (E, ceil(E / 64))
        Becomes the others that each fits with; all zero before.
    """
    for e in range(ones.shape[0]):
        i, j = ones[e, 0], ones[e, 1]
        for f in range(e):
            if has(lines[i], ones[f, 1]) and has(lines[ones[f, 0]], j):
                compatible[e, f >> 6] |= _ONE << np.uint64(f & 63)
                compatible[f, e >> 6] |= _ONE << np.uint64(e & 63)


@helper(allocates=False)
def _switch(compatible, v, members, neighbours, by):
    """Let one join the set or leave it; count its neighbours' neighbours in it."""
    members[v >> 6] ^= _ONE << np.uint64(v & 63)
    for y in range(compatible.shape[1]):
        word = compatible[v, y]
        while word:
            neighbours[64 * y + lowest(word)] += by
            word &= word - _ONE


@helper(allocates=False)
def _join(compatible, u, members, neighbours):
    """Let those join that only one that has left kept away; return how many."""
    count = 0
    for y in range(compatible.shape[1]):
        word = compatible[u, y]
        while word:
            v = 64 * y + lowest(word)
            word &= word - _ONE
            if neighbours[v] == 0 and not has(members, v):
                _switch(compatible, v, members, neighbours, 1)
                count += 1
    return count


@kernel(allocates=False)
def find_independent(compatible, moves, key, alarm, members, best, neighbours, tabu):
    """Look for a large set no two of which are compatible; return its size.

    Parameters
    ----------
    compatible : ndarray of uint64
        See `mark_compatible`.
    moves : int
        How many to make.
    key : uint64
        Of the random numbers.
    alarm : ndarray of uint8
        Whether to end.
    members, best : ndarray of uint64, of shape (ceil(E / 64),)
        The set, all zero before, and the best one in the end.
    neighbours, tabu : ndarray of int64, of shape (E,)
        Neighbours in the set of each, and the move before which it may not join; zero before.
    """
    count = neighbours.shape[0]
    size, largest = 0, 0
    start = np.int64(random_word(key, 0) >> _ONE) % count
    for step in range(count):
        v = (start + step) % count
        if neighbours[v] == 0:
            _switch(compatible, v, members, neighbours, 1)
            size += 1
    for move in range(moves + 1):
        if size > largest:
            largest = size
            copy_into(best, members)
        if alarm[0] or move == moves:
            break
        wanted = 2 if move % _MOVES_PER_SETBACK == _MOVES_PER_SETBACK - 1 else 1
        v = np.int64(random_word(key, 2 * move + 2) >> _ONE) % count
        place = -1
        for _ in range(count):
            if 0 < neighbours[v] <= wanted and tabu[v] <= move:
                place = v
                break
            v = v + 1 if v + 1 < count else 0
        if place < 0:
            if wanted == 2:
                break
            continue
        _switch(compatible, place, members, neighbours, 1)
        size += 1
        for y in range(members.shape[0]):
            word = members[y] & compatible[place, y]
            while word:
                u = 64 * y + lowest(word)
                word &= word - _ONE
                _switch(compatible, u, members, neighbours, -1)
                tabu[u] = move + 7 + np.int64(random_word(key, 2 * move + 3) % np.uint64(13))
                size += _join(compatible, u, members, neighbours) - 1
    return largest
