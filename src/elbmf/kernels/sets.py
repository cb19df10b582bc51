"""Packed sets: the lines of a component or the components of a line, 64 to a word.

All of these are inlined, by LLVM: for sets of a few words a call takes as long as what they do. To
have numba inline them would compile each of them again for every place where it is called.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper
from elbmf.kernels.intrinsics import popcount

__all__ = [
    "Bits",
    "common",
    "copy_into",
    "count_fresh",
    "has",
    "list_common",
    "lowest",
    "set_bits",
    "unite_from_each_on",
    "unite_into",
]


class Bits(NamedTuple):
    """Boolean factors as packed bits, and what the local search still has to look at.

    Each is a pair: for the rows, and for the columns.

    Parameters
    ----------
    memberships : pair of ndarray of uint64, of shape (length, ceil(k / 64))
        The components of each line.
    component_bits : pair of ndarray of uint64, of shape (k, ceil(length / 64))
        The lines of each component.
    pending : pair of ndarray of bool, of shape (length,)
        Lines to be looked at in any case.
    stale : ndarray of uint64, of shape (2, ceil(k / 64))
        Components whose other side has changed since this side was looked at.
    """

    memberships: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    component_bits: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    pending: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    stale: NDArray[np.uint64]


@helper(allocates=False, forceinline=True)
def lowest(word):
    """Position of the lowest bit that is set in a word, not zero."""
    return popcount((word & (~word + np.uint64(1))) - np.uint64(1))


@helper(allocates=False, forceinline=True)
def has(packed, l):
    """Tell whether a packed set has the element ``l``."""
    return (packed[l >> 6] >> np.uint64(l & 63)) & np.uint64(1) != 0


@helper(allocates=False, forceinline=True)
def set_bits(indptr, indices, i, packed):
    """Add to a packed set what line ``i`` of a pattern names."""
    for e in range(indptr[i], indptr[i + 1]):
        j = np.int64(indices[e])
        packed[j >> 6] |= np.uint64(1) << np.uint64(j & 63)


@helper(allocates=False, forceinline=True)
def common(left, right):
    """Tell whether two packed sets have an element in common."""
    for w in range(left.shape[0]):
        if left[w] & right[w]:
            return True
    return False


@helper(allocates=False, forceinline=True)
def list_common(left, right, elements):
    """List the elements that two packed sets have in common; return how many there are."""
    count = 0
    for w in range(left.shape[0]):
        word = left[w] & right[w]
        while word:
            elements[count] = 64 * w + lowest(word)
            count += 1
            word &= word - np.uint64(1)
    return count


@helper(allocates=False, forceinline=True)
def copy_into(target, source):
    """Copy a packed set into another; unlike an assignment, it cannot raise."""
    for w in range(target.shape[0]):
        target[w] = source[w]


@helper(allocates=False, forceinline=True)
def unite_into(union, packed):
    """Add a packed set to what is covered."""
    for w in range(union.shape[0]):
        union[w] |= packed[w]


@helper(allocates=False, forceinline=True)
def unite_from_each_on(component_bits, components, later, member=None):
    """Let ``later[c]`` be the union of the lines of the ``c``-th component and those after it.

    Of those that are ``member`` when that is given; the last of ``later`` is empty.
    """
    count = components.shape[0]
    later[count, :] = 0
    for c in range(count - 1, -1, -1):
        if member is None or member[c]:
            packed = component_bits[components[c]]
            for w in range(later.shape[1]):
                later[c, w] = later[c + 1, w] | packed[w]
        else:
            copy_into(later[c], later[c + 1])


@helper(allocates=False, forceinline=True)
def count_fresh(row, packed, covered, later):
    """Count the ones, and all cells, of a packed set that are not covered, nor will be later."""
    ones = 0
    cells = 0
    for w in range(row.shape[0]):
        fresh = packed[w] & ~(covered[w] | later[w])
        ones += popcount(fresh & row[w])
        cells += popcount(fresh)
    return ones, cells
