"""Boolean algebra on bit-packed rows: 64 cells to an unsigned word, counted with popcount.

Two packings are used. *Memberships* are the components of one row or column (k bits, usually one
word); *component_bits* are the columns of one component (m bits, m/64 words).
"""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.kernels.intrinsics import popcount

__all__ = [
    "changed_cells",
    "component_hits",
    "count_hits",
    "covered_cells",
    "fresh_cells",
    "fresh_hits",
    "gather_column",
    "product_indices",
]


@kernel(allocates=False)
def count_hits(indptr, indices, low, high, rows, columns):
    """Count the ones of rows ``low`` to ``high`` that some component covers.

    ``rows`` and ``columns`` are packed memberships.
    """
    hits = 0
    words = rows.shape[1]
    if words == 1:
        for i in range(low, high):
            row = rows[i, 0]
            if row == 0:
                continue
            count = 0
            for e in range(indptr[i], indptr[i + 1]):
                count += np.int64((row & columns[indices[e], 0]) != 0)
            hits += count
    else:
        for i in range(low, high):
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                for w in range(words):
                    if rows[i, w] & columns[j, w]:
                        hits += 1
                        break
    return hits


@kernel(allocates=False)
def component_hits(indptr, indices, low, high, rows, columns, covered, alone):
    """Count for each component the ones it covers, and those that only it covers.

    ``rows`` and ``columns`` are packed memberships; the counts are added to ``covered`` and
    ``alone``.
    """
    words = rows.shape[1]
    for i in range(low, high):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            total = 0
            last = 0
            for w in range(words):
                common = rows[i, w] & columns[j, w]
                while common:
                    bit = popcount((common & (~common + np.uint64(1))) - np.uint64(1))
                    last = 64 * w + bit
                    covered[last] += 1
                    total += 1
                    common &= common - np.uint64(1)
            if total == 1:
                alone[last] += 1


@kernel(allocates=False)
def fresh_hits(indptr, indices, low, high, rows, columns, taken, l, counts):
    """Count the ones that component ``l`` covers and none of the ``taken``, and who else has them.

    Each such one of rows ``low`` to ``high`` is added to the ``counts`` of all components it is in,
    ``l`` among them. ``rows`` and ``columns`` are packed memberships, ``taken`` is packed likewise.
    """
    words = rows.shape[1]
    home = l >> 6
    mark = np.uint64(1) << np.uint64(l & 63)
    for i in range(low, high):
        if not rows[i, home] & mark:
            continue
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if not columns[j, home] & mark:
                continue
            covered = False
            for w in range(words):
                if rows[i, w] & columns[j, w] & taken[w]:
                    covered = True
                    break
            if covered:
                continue
            for w in range(words):
                common = rows[i, w] & columns[j, w]
                while common:
                    bit = popcount((common & (~common + np.uint64(1))) - np.uint64(1))
                    counts[64 * w + bit] += 1
                    common &= common - np.uint64(1)


@kernel()
def fresh_cells(memberships, repeats, low, high, component_bits, taken, l, counts):
    """Count the cells that component ``l`` covers and none of the ``taken``, and who else has them.

    Like `fresh_hits`, but for all cells and on words; row i stands for ``repeats[i]`` equal ones.
    ``memberships`` and ``taken`` are Booleans.
    """
    k, words = component_bits.shape
    fresh = np.empty(words, dtype=np.uint64)
    for i in range(low, high):
        if not memberships[i, l]:
            continue
        for w in range(words):
            fresh[w] = component_bits[l, w]
        for other in range(k):
            if memberships[i, other] and taken[other]:
                for w in range(words):
                    fresh[w] &= ~component_bits[other, w]
        for other in range(k):
            if memberships[i, other] and not taken[other]:
                total = 0
                for w in range(words):
                    total += popcount(fresh[w] & component_bits[other, w])
                counts[other] += repeats[i] * total


@kernel(inline="always")
def _unite(membership, component_bits, union):
    """OR the packed lines of the components that are on; return how many are."""
    count = 0
    for l in range(membership.shape[0]):
        if membership[l]:
            if count == 0:
                for w in range(union.shape[0]):
                    union[w] = component_bits[l, w]
            else:
                for w in range(union.shape[0]):
                    union[w] |= component_bits[l, w]
            count += 1
    return count


@kernel()
def covered_cells(memberships, low, high, component_bits, counts):
    """Count the covered cells of rows ``low`` to ``high`` into ``counts``."""
    union = np.empty(component_bits.shape[1], dtype=np.uint64)
    for i in range(low, high):
        total = 0
        if _unite(memberships[i], component_bits, union):
            for w in range(union.shape[0]):
                total += popcount(union[w])
        counts[i] = total


@kernel()
def product_indices(memberships, low, high, component_bits, indptr, indices):
    """Write the columns that rows ``low`` to ``high`` cover into ``indices``, ascending."""
    union = np.empty(component_bits.shape[1], dtype=np.uint64)
    for i in range(low, high):
        at = indptr[i]
        if _unite(memberships[i], component_bits, union):
            for w in range(union.shape[0]):
                word = union[w]
                while word:
                    bit = popcount((word & (~word + np.uint64(1))) - np.uint64(1))
                    indices[at] = 64 * w + bit
                    at += 1
                    word &= word - np.uint64(1)


@kernel()
def changed_cells(memberships, component_bits, other_memberships, other_component_bits, low, high):
    """Count the cells of rows ``low`` to ``high`` that only one of two products covers."""
    union = np.zeros(component_bits.shape[1], dtype=np.uint64)
    other = np.zeros(component_bits.shape[1], dtype=np.uint64)
    total = 0
    for i in range(low, high):
        if not _unite(memberships[i], component_bits, union):
            union[:] = 0
        if not _unite(other_memberships[i], other_component_bits, other):
            other[:] = 0
        for w in range(union.shape[0]):
            total += popcount(union[w] ^ other[w])
    return total


@kernel(allocates=False)
def gather_column(rows, c, out):
    """Pack bit ``c`` of all rows into ``out``."""
    out[:] = 0
    for r in range(rows.shape[0]):
        bit = (rows[r, c >> 6] >> np.uint64(c & 63)) & np.uint64(1)
        out[r >> 6] |= bit << np.uint64(r & 63)
