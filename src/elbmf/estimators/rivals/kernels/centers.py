"""Centres of rows in a stream: each has sketches of its members' columns, and a cluster.

The cluster of a centre are the columns that enough of its members have. For each column, the
centres whose clusters have it are kept as a packed set, so that a row meets only the centres that
it shares a column with.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.estimators.rivals.kernels.sketches import Merging, Sketches, count_in, merge_into
from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.sets import has, lowest

__all__ = ["State", "cluster_columns", "gains_of_clusters", "regroup", "take_rows"]


class State(NamedTuple):
    """The centres: all that is known of the rows read so far."""

    total: NDArray[np.int64]  # Centres there are; of length 1
    members: NDArray[np.int64]  # Rows that joined each; of length s
    ones: Sketches  # In how many of the members each column is one
    missing: Sketches  # In how many it is missing; without room when none is
    sizes: NDArray[np.int64]  # Columns of each cluster; of length s
    # What covering the members by the cluster saves: ones less zeros; of length s
    saved: NDArray[np.int64]
    # For each column the centres whose clusters have it, packed; of shape (m, ceil(s / 64))
    holders: NDArray[np.uint64]


@helper()
def _join(state, c, columns, counts, missing, missing_counts, members, share, size, merging):
    """Let a row, or a group of rows with these counts, join centre ``c``."""
    holders, word, mark = state.holders, c >> 6, np.uint64(1) << np.uint64(c & 63)
    own_columns, own_counts = state.ones.columns[c], state.ones.counts[c]
    for e in range(state.ones.lengths[c]):
        holders[own_columns[e], word] &= ~mark
    merge_into(state.ones, c, columns, counts, size, merging)
    if missing.shape[0]:
        merge_into(state.missing, c, missing, missing_counts, size, merging)
    state.members[c] += members
    some_missing = state.missing.lengths[c] > 0
    known = state.members[c]
    count, saved = 0, 0
    for e in range(state.ones.lengths[c]):
        column = own_columns[e]
        if some_missing:
            known = state.members[c] - count_in(state.missing, c, column)
        if own_counts[e] >= share * known:
            holders[column, word] |= mark
            count += 1
            saved += 2 * own_counts[e] - known
    state.sizes[c], state.saved[c] = count, saved


@helper()
def _count_shared(state, columns, shared):
    """Count for each centre how many of some columns its cluster has."""
    holders = state.holders
    for c in range(state.total[0]):
        shared[c] = 0
    for e in range(columns.shape[0]):
        column = columns[e]
        for w in range(holders.shape[1]):
            word = holders[column, w]
            while word:
                shared[64 * w + lowest(word)] += 1
                word &= word - np.uint64(1)


@helper()
def _closest(state, columns, missing, similarity, shared, unknown):
    """Find the centre whose cluster is most similar to some columns: |R ∩ S| / |R ∪ S|.

    Columns that are ``missing`` count for nothing. Of equals, it is the first; -1 if none is as
    similar as it has to be.
    """
    _count_shared(state, columns, shared)
    _count_shared(state, missing, unknown)
    best, highest = -1, 0.0
    for c in range(state.total[0]):
        if shared[c]:
            found = shared[c] / (columns.shape[0] + state.sizes[c] - unknown[c] - shared[c])
            if found >= similarity and found > highest:
                best, highest = c, found
    return best


@kernel()
def take_rows(
    # Patterns of the ones and of the missing cells
    rows,
    missing,
    # Which rows to read
    low,
    high,
    state,
    similarity,  # What a row needs to join a centre
    share,  # Of a centre's members that are to have a column of its cluster
    size,  # Counters that stay in a sketch
):
    """Let each row join the centre most similar to it, or be the first of a new one.

    Returns
    -------
    int
        The row for which there was no room; ``high`` when all were read. Rows without a one join
        nothing.
    """
    s, m = state.members.shape[0], state.holders.shape[0]
    shared, unknown = np.empty(s, dtype=np.int64), np.empty(s, dtype=np.int64)
    once = np.ones(m, dtype=np.int64)
    room = m + state.ones.columns.shape[1]
    merging = Merging(np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64))
    for i in range(low, high):
        columns = rows[1][rows[0][i] : rows[0][i + 1]]
        gaps = missing[1][missing[0][i] : missing[0][i + 1]]
        if columns.shape[0] == 0:
            continue
        c = _closest(state, columns, gaps, similarity, shared, unknown)
        if c < 0:
            if state.total[0] == s:
                return i
            c = state.total[0]
            state.total[0] += 1
        # Not the literal, for which it would be compiled as well.
        _join(state, c, columns, once, gaps, once, np.int64(1), share, size, merging)
    return high


@kernel()
def cluster_columns(state, c, columns):
    """List the columns of the cluster of centre ``c``, ascending; return how many there are."""
    own, holders = state.ones.columns[c], state.holders
    word, mark = c >> 6, np.uint64(1) << np.uint64(c & 63)
    count = 0
    for e in range(state.ones.lengths[c]):
        if holders[own[e], word] & mark:
            columns[count] = own[e]
            count += 1
    return count


@kernel()
def regroup(state, order, fresh, most, similarity, share, size):
    """Let centres join each other as rows do: one by one, into a ``fresh`` state, emptied first.

    A centre is compared by its cluster, and joins with all its members. One that is similar to
    none is left out when there are as many as there may be. Returns whether any was.
    """
    fresh.total[0] = 0
    fresh.holders[:] = 0
    for numbers in (fresh.members, fresh.ones.lengths, fresh.missing.lengths):
        numbers[:] = 0
    s, m = state.members.shape[0], state.holders.shape[0]
    shared, unknown = np.empty(s, dtype=np.int64), np.empty(s, dtype=np.int64)
    cluster = np.empty(m, dtype=np.int32)
    room = m + state.ones.columns.shape[1]
    merging = Merging(np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64))
    ones, missing = state.ones, state.missing
    some_left_out = False
    for other in order:
        columns = cluster[: cluster_columns(state, other, cluster)]
        c = _closest(fresh, columns, cluster[:0], similarity, shared, unknown)
        if c < 0:
            if fresh.total[0] == most:
                some_left_out = True
                continue
            c = fresh.total[0]
            fresh.total[0] += 1
        _join(
            fresh,
            c,
            ones.columns[other, : ones.lengths[other]],
            ones.counts[other],
            missing.columns[other, : missing.lengths[other]],
            missing.counts[other],
            state.members[other],
            share,
            size,
            merging,
        )
    return some_left_out


@kernel()
def gains_of_clusters(
    state,
    clusters,  # The columns of each cluster
    centers,
    covered,  # Columns covered already, for each centre, packed
    gains,  # The rows of these centres are written
):
    """Count what covering the members of some centres by each cluster would gain.

    That is ones less zeros, in the columns that are not covered yet; it may be negative.
    """
    ones, missing = state.ones, state.missing
    worth = np.zeros(state.holders.shape[0], dtype=np.int64)
    for a in centers:
        for e in range(ones.lengths[a]):
            worth[ones.columns[a, e]] += 2 * ones.counts[a, e]
        for e in range(missing.lengths[a]):
            worth[missing.columns[a, e]] += missing.counts[a, e]
        for b in range(gains.shape[1]):
            gain = np.int64(0)
            for e in range(clusters[0][b], clusters[0][b + 1]):
                column = clusters[1][e]
                if not has(covered[a], column):
                    gain += worth[column] - state.members[a]
            gains[a, b] = gain
        for e in range(ones.lengths[a]):
            worth[ones.columns[a, e]] = 0
        for e in range(missing.lengths[a]):
            worth[missing.columns[a, e]] = 0
