"""Votes of rows on the columns of components: for a column where it is one, else against it."""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.kernels.sets import has, lowest, unite_into
from elbmf.search.kernels.lines import open_line

__all__ = ["count_votes"]


@kernel()
def count_votes(lines, memberships, component_bits, ones, zeros):
    """Count how the members of each component vote on each of its columns.

    A line has a vote on a cell that it knows and that no other of its components covers.

    Parameters
    ----------
    lines : Lines
        The rows.
    memberships, component_bits : ndarray of uint64
        Components of each row, and columns of each component, packed.
    ones, zeros : ndarray of int64, of shape (k, m)
        Votes for and against are added here.
    """
    k, words = component_bits.shape
    row = np.empty(words, dtype=np.uint64)
    missing = np.empty(words, dtype=np.uint64)
    once = np.empty(words, dtype=np.uint64)
    twice = np.empty(words, dtype=np.uint64)
    for i in range(memberships.shape[0]):
        open_line(lines, i, row, missing)
        once[:] = 0
        twice[:] = missing
        for l in range(k):
            if has(memberships[i], l):
                for w in range(words):
                    twice[w] |= once[w] & component_bits[l, w]
                unite_into(once, component_bits[l])
        for l in range(k):
            if has(memberships[i], l):
                for w in range(words):
                    word = component_bits[l, w] & ~twice[w]
                    while word:
                        position = lowest(word)
                        if row[w] & (word & (~word + np.uint64(1))):
                            ones[l, 64 * w + position] += 1
                        else:
                            zeros[l, 64 * w + position] += 1
                        word &= word - np.uint64(1)
