"""Boolean algebra on bit-packed rows: 64 cells to an unsigned word, counted with popcount.

Two packings are used. *Memberships* are the components of one row or column (k bits, usually one
word); *stretches* are the columns of one component (m bits, m/64 words).
"""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.kernels.simd import popcount

__all__ = [
    "changed_cells",
    "component_hits",
    "count_hits",
    "covered_cells",
    "describe_rows",
    "improve_rows",
    "product_indices",
]


@kernel()
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


@kernel()
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


@kernel()
def _unite(membership, stretches, union):
    """OR the stretches of the components that are on; return how many are."""
    count = 0
    for l in range(membership.shape[0]):
        if membership[l]:
            if count == 0:
                for w in range(union.shape[0]):
                    union[w] = stretches[l, w]
            else:
                for w in range(union.shape[0]):
                    union[w] |= stretches[l, w]
            count += 1
    return count


@kernel()
def covered_cells(memberships, low, high, stretches, counts):
    """Count the covered cells of rows ``low`` to ``high`` into ``counts``."""
    union = np.empty(stretches.shape[1], dtype=np.uint64)
    for i in range(low, high):
        total = 0
        if _unite(memberships[i], stretches, union):
            for w in range(union.shape[0]):
                total += popcount(union[w])
        counts[i] = total


@kernel()
def product_indices(memberships, low, high, stretches, indptr, indices):
    """Write the columns that rows ``low`` to ``high`` cover into ``indices``, ascending."""
    union = np.empty(stretches.shape[1], dtype=np.uint64)
    for i in range(low, high):
        at = indptr[i]
        if _unite(memberships[i], stretches, union):
            for w in range(union.shape[0]):
                word = union[w]
                while word:
                    bit = popcount((word & (~word + np.uint64(1))) - np.uint64(1))
                    indices[at] = 64 * w + bit
                    at += 1
                    word &= word - np.uint64(1)


@kernel()
def changed_cells(memberships, stretches, other_memberships, other_stretches, low, high):
    """Count the cells of rows ``low`` to ``high`` that only one of two products covers."""
    union = np.zeros(stretches.shape[1], dtype=np.uint64)
    other = np.zeros(stretches.shape[1], dtype=np.uint64)
    total = 0
    for i in range(low, high):
        if not _unite(memberships[i], stretches, union):
            union[:] = 0
        if not _unite(other_memberships[i], other_stretches, other):
            other[:] = 0
        for w in range(union.shape[0]):
            total += popcount(union[w] ^ other[w])
    return total


@kernel()
def _fill_row(indptr, indices, i, row):
    """Pack the ones of row ``i``."""
    row[:] = 0
    for e in range(indptr[i], indptr[i + 1]):
        j = np.int64(indices[e])
        row[j >> 6] |= np.uint64(1) << np.uint64(j & 63)


@kernel()
def _find_candidates(indptr, indices, i, columns, member, candidates):
    """List the components that row ``i`` is in or has a one in; no other can lower its loss.

    ``columns`` are packed memberships. Returns how many there are.
    """
    count = 0
    for w in range(columns.shape[1]):
        touched = np.uint64(0)
        for e in range(indptr[i], indptr[i + 1]):
            touched |= columns[indices[e], w]
        for l in range(64 * w, min(64 * w + 64, member.shape[0])):
            if member[l] or (touched >> np.uint64(l - 64 * w)) & np.uint64(1):
                candidates[count] = l
                count += 1
    return count


@kernel()
def _gain(stretch, row, union):
    """Ones less zeros that a component would newly cover."""
    gain = 0
    for w in range(row.shape[0]):
        fresh = stretch[w] & ~union[w]
        gain += 2 * popcount(fresh & row[w]) - popcount(fresh)
    return gain


@kernel()
def _build_greedily(row, stretches, candidates, member, union):
    """Switch on the component that gains most, again and again, starting from none."""
    union[:] = 0
    while True:
        best = -1
        best_gain = 0
        for l in candidates:
            if not member[l]:
                gain = _gain(stretches[l], row, union)
                if gain > best_gain:
                    best = l
                    best_gain = gain
        if best < 0:
            break
        member[best] = True
        for w in range(union.shape[0]):
            union[w] |= stretches[best, w]


@kernel()
def _switch_singly(row, stretches, candidates, member, union, later):
    """Sweep over the components, switching each to what is best given the others.

    ``later[c]`` is the union of the candidates from the ``c``-th on that are on; before it there
    is ``union``, which in the end is all that is covered.
    """
    words = stretches.shape[1]
    count = candidates.shape[0]
    changed = True
    while changed:
        changed = False
        later[count] = 0
        for c in range(count - 1, -1, -1):
            l = candidates[c]
            if member[l]:
                for w in range(words):
                    later[c, w] = later[c + 1, w] | stretches[l, w]
            else:
                later[c] = later[c + 1]
        union[:] = 0
        for c in range(count):
            l = candidates[c]
            gain = 0
            for w in range(words):
                fresh = stretches[l, w] & ~(union[w] | later[c + 1, w])
                gain += 2 * popcount(fresh & row[w]) - popcount(fresh)
            # A gain of zero switches off: the same loss with fewer components.
            if member[l] != (gain > 0):
                member[l] = gain > 0
                changed = True
            if member[l]:
                for w in range(words):
                    union[w] |= stretches[l, w]


@kernel()
def describe_rows(indptr, indices, low, high, columns, stretches, memberships):
    """Choose for each row the components that describe it best, the components being fixed.

    Greedy first, then single switches. ``columns`` and ``stretches`` are the components, packed
    both ways. The rows of ``memberships``, an all-false array, are filled in for rows ``low`` to
    ``high``.
    """
    k, words = stretches.shape
    row = np.empty(words, dtype=np.uint64)
    union = np.empty(words, dtype=np.uint64)
    later = np.empty((k + 1, words), dtype=np.uint64)
    space = np.empty(k, dtype=np.int64)
    for i in range(low, high):
        member = memberships[i]
        candidates = space[: _find_candidates(indptr, indices, i, columns, member, space)]
        if candidates.shape[0]:
            _fill_row(indptr, indices, i, row)
            _build_greedily(row, stretches, candidates, member, union)
            _switch_singly(row, stretches, candidates, member, union, later)


@kernel()
def _distance(row, union):
    """Count the cells in which a row differs from what is covered."""
    total = 0
    for w in range(row.shape[0]):
        total += popcount(row[w] ^ union[w])
    return total


@kernel()
def improve_rows(indptr, indices, low, high, columns, stretches, memberships, prefer_described):
    """Improve the memberships of rows ``low`` to ``high``.

    Each row keeps the better of two: its own membership improved by single switches, and the one
    that `describe_rows` would give it. When they are equally good, ``prefer_described`` decides.

    Returns
    -------
    changed : int
        Bits that changed.
    gained : int
        By how much the loss went down.
    """
    k, words = stretches.shape
    row = np.empty(words, dtype=np.uint64)
    union = np.empty(words, dtype=np.uint64)
    later = np.empty((k + 1, words), dtype=np.uint64)
    space = np.empty(k, dtype=np.int64)
    own = np.empty(k, dtype=np.bool_)
    described = np.empty(k, dtype=np.bool_)
    changed = 0
    gained = 0
    for i in range(low, high):
        own[:] = memberships[i]
        candidates = space[: _find_candidates(indptr, indices, i, columns, own, space)]
        if candidates.shape[0] == 0:
            continue
        _fill_row(indptr, indices, i, row)
        if not _unite(own, stretches, union):
            union[:] = 0
        old_loss = _distance(row, union)
        _switch_singly(row, stretches, candidates, own, union, later)
        own_loss = _distance(row, union)
        described[:] = False
        _build_greedily(row, stretches, candidates, described, union)
        _switch_singly(row, stretches, candidates, described, union, later)
        described_loss = _distance(row, union)
        better = described_loss < own_loss
        if better or (prefer_described and described_loss == own_loss):
            own[:] = described
        for l in range(k):
            changed += np.int64(memberships[i, l] != own[l])
        memberships[i] = own
        gained += old_loss - min(own_loss, described_loss)
    return changed, gained
