"""Which lines are equal: they have the same ones, and the same missing cells."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.sets import has

__all__ = ["Twins", "hash_lines", "link_twins", "name_groups"]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Twins(NamedTuple):
    """Which lines of one side are equal.

    Parameters
    ----------
    first : ndarray of uint64
        The first of each group of equal lines, packed.
    following : ndarray of int64
        The next line of the group; below zero after the last.
    copies : ndarray of int64
        How many lines the group of a first line has.
    """

    first: NDArray[np.uint64]
    following: NDArray[np.int64]
    copies: NDArray[np.int64]


@helper(allocates=False, forceinline=True)
def _hash_part(word, indptr, indices, i):
    """Let a line of a pattern change a number."""
    word = (word + np.uint64(1)) * _FACTOR
    for e in range(indptr[i], indptr[i + 1]):
        word = (word ^ np.uint64(indices[e])) * _FACTOR
        word ^= word >> np.uint64(29)
    return word


@helper(allocates=False, forceinline=True)
def _same_part(indptr, indices, i, j):
    """Tell whether two lines of a pattern are equal."""
    length = indptr[i + 1] - indptr[i]
    if indptr[j + 1] - indptr[j] != length:
        return False
    for e in range(length):
        if indices[indptr[i] + e] != indices[indptr[j] + e]:
            return False
    return True


@kernel(allocates=False)
def hash_lines(lines, hashes):
    """Give each of the ``lines`` a number: the same to equal ones, and rarely to others."""
    for i in range(hashes.shape[0]):
        word = _hash_part(np.uint64(0), lines.indptr, lines.indices, i)
        if lines.missing_indptr.shape[0]:
            word = _hash_part(word, lines.missing_indptr, lines.missing_indices, i)
        hashes[i] = word


@kernel(allocates=False)
def link_twins(lines, hashes, order, first, following, copies):
    """Link each of the ``lines`` to the next that is equal, and count them at the first.

    Parameters
    ----------
    hashes : ndarray of uint64
        As of `hash_lines`.
    order : ndarray of int64
        All lines by their hashes, and of the same hash in order.
    first, following, copies
        As of `Twins`; to be filled, ``first`` from zeros.
    """
    leader = last = np.int64(-1)
    for i in order:
        following[i] = -1
        copies[i] = 0
        equal = leader >= 0 and hashes[i] == hashes[leader]
        # Those that only have the same hash count as different: at worst, more lines are looked at.
        equal = equal and _same_part(lines.indptr, lines.indices, i, leader)
        if equal and lines.missing_indptr.shape[0]:
            equal = _same_part(lines.missing_indptr, lines.missing_indices, i, leader)
        if equal:
            following[last] = i
        else:
            leader = i
            first[i >> 6] |= np.uint64(1) << np.uint64(i & 63)
        copies[leader] += 1
        last = i


@kernel(allocates=False)
def name_groups(twins, group_of):
    """Tell each line which group of equal lines it is in, counted by their first ones."""
    count = 0
    for i in range(group_of.shape[0]):
        line = np.int64(i) if has(twins.first, i) else np.int64(-1)
        while line >= 0:
            group_of[line] = count
            line = twins.following[line]
        count += has(twins.first, i)
