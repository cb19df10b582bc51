"""Counting into the bins of a grid, and the support that lines lend to components.

Memberships and component_bits are packed as in `elbmf.kernels.bits`.
"""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.kernels.intrinsics import popcount

__all__ = ["covered_in_bins", "ones_in_bins", "support_of_lines"]


@kernel()
def ones_in_bins(indptr, indices, places, edges, low, high, column_bins, rows, columns, ones, hits):
    """Count the ones, and those that are covered, of the rows in bins ``low`` to ``high``.

    Bin r has the rows ``places[edges[r]:edges[r + 1]]``; ``column_bins`` is -1 for a column that is
    not shown.
    """
    words = rows.shape[1]
    for r in range(low, high):
        for place in range(edges[r], edges[r + 1]):
            i = places[place]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                c = column_bins[j]
                if c < 0:
                    continue
                ones[r, c] += 1
                for w in range(words):
                    if rows[i, w] & columns[j, w]:
                        hits[r, c] += 1
                        break


@kernel()
def covered_in_bins(places, edges, low, high, rows, component_bits, bin_words, covered):
    """Count the covered cells of the rows in bins ``low`` to ``high``.

    The columns of bin c are the bits of words ``bin_words[c]`` to ``bin_words[c + 1]`` of the
    component_bits. Rows in the same components that follow each other are worked out once.
    """
    k, words = component_bits.shape
    bins = bin_words.shape[0] - 1
    union = np.zeros(words, dtype=np.uint64)
    counts = np.zeros(bins, dtype=np.int64)
    last = -1
    for r in range(low, high):
        for place in range(edges[r], edges[r + 1]):
            i = places[place]
            same = last >= 0
            if same:
                for w in range(rows.shape[1]):
                    if rows[i, w] != rows[last, w]:
                        same = False
                        break
            if not same:
                union[:] = 0
                for l in range(k):
                    if (rows[i, l >> 6] >> np.uint64(l & 63)) & np.uint64(1):
                        for w in range(words):
                            union[w] |= component_bits[l, w]
                for c in range(bins):
                    total = 0
                    for w in range(bin_words[c], bin_words[c + 1]):
                        total += popcount(union[w])
                    counts[c] = total
                last = i
            for c in range(bins):
                covered[r, c] += counts[c]


@kernel()
def support_of_lines(indptr, indices, low, high, partners, counts):
    """Count for each line and component the ones of the line among the component's partners.

    ``partners`` are the packed memberships of the lines that cross: of columns, where lines are
    rows.
    """
    words = partners.shape[1]
    for i in range(low, high):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            for w in range(words):
                word = partners[j, w]
                while word:
                    bit = popcount((word & (~word + np.uint64(1))) - np.uint64(1))
                    counts[i, 64 * w + bit] += 1
                    word &= word - np.uint64(1)
