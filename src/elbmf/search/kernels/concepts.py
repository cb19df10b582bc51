"""Formal concepts: rows that share columns, such that neither side can be extended.

A closure is the intersection of packed rows. Of these, only the words that are not empty are
followed: in sparse data, few after the first row or two.
"""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.sets import has

__all__ = ["close_concept", "concept_values", "remove_concept"]


@kernel()
def _common_words(indptr, indices, j, extent, rows, members, places, words):
    """Intersect the rows of an extent that have column ``j``.

    Writes the rows to ``members``, and the words of their intersection that are not empty, and
    where these are, to ``words`` and ``places``; returns how many there are of each, and how many
    words it looked at.
    """
    count = 0
    kept = 0
    steps = 0
    for e in range(indptr[j], indptr[j + 1]):
        i = np.int64(indices[e])
        if not extent[i]:
            continue
        members[count] = i
        if count == 0:
            steps += rows.shape[1]
            for w in range(rows.shape[1]):
                if rows[i, w]:
                    places[kept] = w
                    words[kept] = rows[i, w]
                    kept += 1
        else:
            steps += kept
            left = 0
            for p in range(kept):
                word = words[p] & rows[i, places[p]]
                if word:
                    places[left] = places[p]
                    words[left] = word
                    left += 1
            kept = left
        count += 1
    return count, kept, steps


@kernel()
def concept_values(
    # The rows that have each column, cells that may be covered among them
    indptr,
    indices,
    # Columns, and which of them to look at
    order,
    low,
    high,
    extent,  # The rows of the concept
    intent,  # Its columns, packed; none of them can be added
    # Packed rows: what may be covered, and the ones that still have to be
    rows,
    uncovered,
    copies,  # How many rows each stands for
    least,  # What a value must exceed to matter; others may be told as 0
    values,  # Where to write
):
    """Count for each column the uncovered ones of the concept that adding it to an intent gives.

    Returns the work, about in nanoseconds.
    """
    members = np.empty(extent.shape[0], dtype=np.int64)
    places = np.empty(rows.shape[1], dtype=np.int64)
    words = np.empty(rows.shape[1], dtype=np.uint64)
    work = 0
    for place in range(low, high):
        j = order[place]
        values[j] = 0
        if has(intent, j):
            continue
        count, kept, steps = _common_words(indptr, indices, j, extent, rows, members, places, words)
        total = 0
        cells = 0
        for p in range(kept):
            cells += popcount(words[p])
        for r in range(count):
            total += copies[members[r]]
        work += 10 + 2 * (indptr[j + 1] - indptr[j]) + 2 * steps
        if total * cells <= least:
            continue
        total = 0
        for r in range(count):
            i = members[r]
            ones = 0
            for p in range(kept):
                ones += popcount(words[p] & uncovered[i, places[p]])
            total += copies[i] * ones
        values[j] = total
        work += count * (2 + 2 * kept)
    return work


@kernel()
def close_concept(indptr, indices, j, extent, intent, rows):
    """Add column ``j`` to the intent of a concept: shrink its extent, and close the intent."""
    members = np.empty(extent.shape[0], dtype=np.int64)
    places = np.empty(rows.shape[1], dtype=np.int64)
    words = np.empty(rows.shape[1], dtype=np.uint64)
    count, kept, _ = _common_words(indptr, indices, j, extent, rows, members, places, words)
    extent[:] = False
    for r in range(count):
        extent[members[r]] = True
    intent[:] = 0
    for p in range(kept):
        intent[places[p]] = words[p]


@kernel()
def remove_concept(extent, intent, uncovered):
    """Take the cells of a concept out of what is uncovered."""
    for i in range(extent.shape[0]):
        if extent[i]:
            for w in range(intent.shape[0]):
                uncovered[i, w] &= ~intent[w]
