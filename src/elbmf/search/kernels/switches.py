"""What it would gain to switch one component on or off, for lines of which only a part is here.

The lines of one side are spread over several places, and a row of the other side has cells in all
of them. In each place it is counted what only that component would cover; sums of these counts tell
what a switch gains.
"""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.kernels.sets import common, has

__all__ = ["add_marked", "add_uncovered"]


@kernel(allocates=False)
def add_marked(indptr, indices, memberships, others, l, weight, scores):
    """Add a weight to the scores of rows, once for each marked cell that component ``l`` would win.

    These are the cells that the pattern names, in lines that are in component ``l``, which no
    component covers.

    Parameters
    ----------
    indptr, indices : ndarray
        The marked cells of each line.
    memberships : ndarray of uint64, of shape (lines, words)
        The components of each line, packed.
    others : ndarray of uint64, of shape (rows, words)
        The components of each row, packed, without ``l``.
    """
    for i in range(memberships.shape[0]):
        if has(memberships[i], l):
            for e in range(indptr[i], indptr[i + 1]):
                row = np.int64(indices[e])
                if not common(memberships[i], others[row]):
                    scores[row] += weight


@kernel(allocates=False)
def add_uncovered(patterns, repeats, others, l, weight, scores):
    """Add a weight to the scores of rows, once for each cell that component ``l`` would win.

    Like `add_marked`, but for all cells. Lines in the same components count together: pattern p
    stands for ``repeats[p]`` of them.
    """
    for p in range(patterns.shape[0]):
        if has(patterns[p], l):
            for row in range(others.shape[0]):
                if not common(patterns[p], others[row]):
                    scores[row] += weight * repeats[p]
