"""Associations between columns, and what covering rows by the candidates made of them gains.

The candidates are kept by column: for each column, those that have it. A row then meets only the
candidates that share a one with it, for no other can gain anything there.
"""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.sets import has, set_bits, unite_into

__all__ = [
    "add_gains",
    "count_associations",
    "list_associations",
    "pack_candidates",
    "rows_that_gain",
]


@kernel()
def _associate(rows, columns, hidden_columns, j, together, unknown, met):
    """Count for each column i how often it is one where ``j`` is, and where ``j`` is missing.

    ``rows``, ``columns`` and ``hidden_columns`` are patterns. The counts are added to ``together``
    and ``unknown``; returns how many columns were ``met`` together with ``j``.
    """
    count = 0
    for e in range(columns[0][j], columns[0][j + 1]):
        r = np.int64(columns[1][e])
        for f in range(rows[0][r], rows[0][r + 1]):
            i = np.int64(rows[1][f])
            if together[i] == 0:
                met[count] = i
                count += 1
            together[i] += 1
    for e in range(hidden_columns[0][j], hidden_columns[0][j + 1]):
        r = np.int64(hidden_columns[1][e])
        for f in range(rows[0][r], rows[0][r + 1]):
            unknown[np.int64(rows[1][f])] += 1
    return count


@kernel()
def count_associations(rows, columns, hidden_columns, low, high, threshold, counts):
    """Count for columns ``low`` to ``high`` those whose confidence in it reaches a threshold."""
    m = counts.shape[0]
    together = np.zeros(m, dtype=np.int64)
    unknown = np.zeros(m, dtype=np.int64)
    met = np.empty(m, dtype=np.int64)
    for j in range(low, high):
        count = _associate(rows, columns, hidden_columns, j, together, unknown, met)
        reached = 0
        for c in range(count):
            i = met[c]
            known = columns[0][i + 1] - columns[0][i] - unknown[i]
            if together[i] / known >= threshold:
                reached += 1
            together[i] = 0
        unknown[:] = 0
        counts[j] = reached


@kernel()
def list_associations(
    rows, columns, hidden_columns, low, high, threshold, indptr, indices, confidences
):
    """List what `count_associations` counts: the columns i, and the confidences c(i→j).

    c(i→j) is the share of ones of column j among the rows where i is one and j is known.
    """
    m = indptr.shape[0] - 1
    together = np.zeros(m, dtype=np.int64)
    unknown = np.zeros(m, dtype=np.int64)
    met = np.empty(m, dtype=np.int64)
    for j in range(low, high):
        count = _associate(rows, columns, hidden_columns, j, together, unknown, met)
        at = indptr[j]
        for c in range(count):
            i = met[c]
            known = columns[0][i + 1] - columns[0][i] - unknown[i]
            confidence = together[i] / known
            if confidence >= threshold:
                indices[at] = i
                confidences[at] = confidence
                at += 1
            together[i] = 0
        unknown[:] = 0


@kernel()
def _settled_cells(missing, i, membership, component_bits, settled):
    """Collect the cells of row ``i`` that cost nothing to cover: missing, or covered already."""
    settled[:] = 0
    set_bits(missing[0], missing[1], i, settled)
    for l in range(membership.shape[0]):
        if membership[l]:
            unite_into(settled, component_bits[l])


@kernel()
def pack_candidates(candidates, packed):
    """Pack the columns of each candidate into ``packed``, all zero."""
    for j in range(candidates[0].shape[0] - 1):
        mark = np.uint64(1) << np.uint64(j & 63)
        for f in range(candidates[0][j], candidates[0][j + 1]):
            packed[np.int64(candidates[1][f]), j >> 6] |= mark


@kernel()
def add_gains(
    # Patterns of the ones and of the missing cells
    rows,
    missing,
    chosen,  # The rows
    # Which of them to look at
    low,
    high,
    memberships,
    component_bits,  # What is covered already; columns of components, packed
    candidates,  # For each column, the candidates that have it
    packed,  # The columns of each candidate
    sizes,  # How many these are
    weights,  # What a newly covered one gains, and what a newly covered zero costs
    sign,  # 1 to add, -1 to take away
    gains,  # Where to add
):
    """Add to the gain of each candidate what some rows contribute, or take it away.

    A row contributes what covering it with the candidate would gain, if that is positive.
    """
    words = component_bits.shape[1]
    settled = np.empty(words, dtype=np.uint64)
    ones = np.zeros(sizes.shape[0], dtype=np.int64)
    met = np.empty(sizes.shape[0], dtype=np.int64)
    for r in range(low, high):
        i = chosen[r]
        _settled_cells(missing, i, memberships[i], component_bits, settled)
        count = 0
        for e in range(rows[0][i], rows[0][i + 1]):
            j = np.int64(rows[1][e])
            if has(settled, j):
                continue
            for f in range(candidates[0][j], candidates[0][j + 1]):
                c = np.int64(candidates[1][f])
                if ones[c] == 0:
                    met[count] = c
                    count += 1
                ones[c] += 1
        if count == 0:
            continue
        most_free = 0
        for w in range(words):
            most_free += popcount(settled[w])
        for p in range(count):
            c = met[p]
            gain = (weights[0] + weights[1]) * ones[c] - weights[1] * sizes[c]
            ones[c] = 0
            # Most candidates would lose even if all that is settled were theirs.
            if gain + weights[1] * most_free <= 0:
                continue
            free = 0
            if most_free:
                for w in range(words):
                    free += popcount(packed[c, w] & settled[w])
            gain += weights[1] * free
            if gain > 0:
                gains[c] += sign * gain


@kernel()
def rows_that_gain(
    rows, missing, low, high, memberships, component_bits, candidate, weights, members
):
    """Tell of rows ``low`` to ``high`` whether covering them with a packed candidate gains."""
    settled = np.empty(component_bits.shape[1], dtype=np.uint64)
    for i in range(low, high):
        _settled_cells(missing, i, memberships[i], component_bits, settled)
        cells = 0
        for w in range(settled.shape[0]):
            cells += popcount(candidate[w] & ~settled[w])
        ones = 0
        for e in range(rows[0][i], rows[0][i + 1]):
            j = np.int64(rows[1][e])
            if has(candidate, j) and not has(settled, j):
                ones += 1
        members[i] = weights[0] * ones > weights[1] * (cells - ones)
