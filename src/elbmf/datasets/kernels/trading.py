"""Trades between lines of a matrix, which leave all row and column sums as they are (curveball)."""

import numpy as np

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.randomness import draw, random_word, to_unit_interval

__all__ = ["trade"]

# Whose a place is that one or both of two lines have; one that is free may be of either.
_FREE, _FIRST, _SECOND, _BOTH = 0, 1, 2, 3


@kernel()
def trade(indptr, indices, hole_indptr, holes, sweeps, seed):
    """Let all lines of a matrix trade ones with one another, in place, for so many sweeps.

    In a sweep, lines meet in random pairs, each line once; of an odd number, one is left out. Two
    that meet share out anew the places that exactly one of them has, each keeping its number. A
    place that is a hole in either of them stays as it is. Lines are ascending before and after.
    """
    n = indptr.shape[0] - 1
    random = np.array([seed, 0], dtype=np.uint64)
    order = np.arange(n)
    longest = 0
    for i in range(n):
        longest = max(longest, indptr[i + 1] - indptr[i])
    places, owners = np.empty(2 * longest, indices.dtype), np.empty(2 * longest, np.uint8)
    for _ in range(sweeps):
        for i in range(n - 1, 0, -1):
            other = draw(random, i + 1)
            order[i], order[other] = order[other], order[i]
        for pair in range(n // 2):
            a, b = order[2 * pair], order[2 * pair + 1]
            first = indices[indptr[a] : indptr[a + 1]]
            second = indices[indptr[b] : indptr[b + 1]]
            first_holes = holes[hole_indptr[a] : hole_indptr[a + 1]]
            second_holes = holes[hole_indptr[b] : hole_indptr[b + 1]]
            count, free, wanted = _meet(first, second, first_holes, second_holes, places, owners)
            if 0 < wanted < free:
                _share_out(first, second, places[:count], owners, free, wanted, random)


@helper(allocates=False)
def _meet(first, second, first_holes, second_holes, places, owners):
    """List the places of two lines, ascending, and whose they are.

    Returns how many there are, how many of them are free, and how many of these the first has.
    """
    a = b = first_hole = second_hole = count = free = wanted = 0
    while a < first.shape[0] or b < second.shape[0]:
        of_first = a < first.shape[0] and (b >= second.shape[0] or first[a] <= second[b])
        of_second = b < second.shape[0] and (a >= first.shape[0] or second[b] <= first[a])
        place = first[a] if of_first else second[b]
        a += of_first
        b += of_second
        owner = (_FIRST if of_first else 0) | (_SECOND if of_second else 0)
        first_hole = _advance(first_holes, first_hole, place)
        second_hole = _advance(second_holes, second_hole, place)
        if not (
            owner == _BOTH
            or _is_at(first_holes, first_hole, place)
            or _is_at(second_holes, second_hole, place)
        ):
            owner = _FREE
            free += 1
            wanted += of_first
        places[count] = place
        owners[count] = owner
        count += 1
    return count, free, wanted


@helper(allocates=False)
def _share_out(first, second, places, owners, free, wanted, random):
    """Give so many of the free places to the first line and the others to the second."""
    to_first = to_second = 0
    for at, place in enumerate(places):
        owner = owners[at]
        if owner == _FREE:
            # Each choice of so many places among those left is as likely as any other.
            chance = to_unit_interval(random_word(random[0], random[1]))
            random[1] += np.uint64(1)
            owner = _FIRST if chance * free < wanted else _SECOND
            wanted -= owner == _FIRST
            free -= 1
        if owner & _FIRST:
            first[to_first] = place
            to_first += 1
        if owner & _SECOND:
            second[to_second] = place
            to_second += 1


@helper(allocates=False)
def _advance(line, at, place):
    """Return where an ascending line reaches a place, from a position on."""
    while at < line.shape[0] and line[at] < place:
        at += 1
    return at


@helper(allocates=False)
def _is_at(line, at, place):
    return at < line.shape[0] and line[at] == place
