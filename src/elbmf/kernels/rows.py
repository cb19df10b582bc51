"""The row problem: which components describe one row best, the components being fixed.

A row of A and the *stretches* of the components (their columns, packed) are words of 64 cells.
With a set S of components on, the row costs ``one`` for each of its ones outside the union of S
and ``zero`` for each of its zeros inside. Cells that count for nothing are treated as covered from
the start: no component gains or loses by them. So are, when only some components are *free* to
change, the cells that the others cover.

Rows and columns are alike: *line* means either.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.bits import gather_column
from elbmf.kernels.compiling import kernel
from elbmf.kernels.simd import popcount

__all__ = [
    "DESCRIBE",
    "OWN",
    "Bits",
    "Lines",
    "common",
    "descend",
    "drop_costs",
    "improve_lines",
    "pack_lines_into_words",
    "share_cells",
    "threshold_costs",
]

OWN = 0
"""Improve a line's own membership."""

DESCRIBE = 1
"""Improve a line's own membership, but take what is found from nothing unless that is worse."""

_NO_COST = np.iinfo(np.int64).max

# A search of subsets looks at so many words in all, but at so many branches at least.
_WORDS_OF_A_SEARCH = 20_000
_FEWEST_NODES = 100


class Lines(NamedTuple):
    """One side of the data: the rows of A, or its columns.

    Parameters
    ----------
    indptr, indices : ndarray
        Where the ones are.
    words : ndarray of uint64
        The same, packed; of shape (0, 0) when the lines are too sparse for that to be worthwhile.
    hidden_indptr, hidden_indices : ndarray
        Where the cells are that count for nothing; empty when there are none.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.integer[Any]]
    words: NDArray[np.uint64]
    hidden_indptr: NDArray[np.int64]
    hidden_indices: NDArray[np.integer[Any]]


class Bits(NamedTuple):
    """Boolean factors as packed bits, and what the local search still has to look at.

    Each is a pair: for the rows, and for the columns.

    Parameters
    ----------
    memberships : pair of ndarray of uint64, of shape (length, ceil(k / 64))
        The components of each line.
    stretches : pair of ndarray of uint64, of shape (k, ceil(length / 64))
        The lines of each component.
    pending : pair of ndarray of bool, of shape (length,)
        Lines to be looked at in any case.
    stale : ndarray of uint64, of shape (2, ceil(k / 64))
        Components whose other side has changed since this side was looked at.
    """

    memberships: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    stretches: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    pending: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    stale: NDArray[np.uint64]


@kernel()
def effort_per_line(words):
    """Work it takes to go over the words of a line once: about as many nanoseconds."""
    return 6 + words // 2


@kernel()
def _set_bits(indptr, indices, i, row):
    """Set the bits that line ``i`` of a pattern names."""
    for e in range(indptr[i], indptr[i + 1]):
        j = np.int64(indices[e])
        row[j >> 6] |= np.uint64(1) << np.uint64(j & 63)


@kernel()
def pack_lines_into_words(indptr, indices, words):
    """Set the bits that a pattern names in ``words``, all zero."""
    for i in range(words.shape[0]):
        _set_bits(indptr, indices, i, words[i])


@kernel()
def _open_line(lines, i, row, base):
    """Unpack line ``i``, and into ``base`` the cells that count for nothing, set in both."""
    if lines.words.shape[0]:
        row[:] = lines.words[i]
    else:
        row[:] = 0
        _set_bits(lines.indptr, lines.indices, i, row)
    base[:] = 0
    if lines.hidden_indptr.shape[0]:
        _set_bits(lines.hidden_indptr, lines.hidden_indices, i, base)
        for w in range(row.shape[0]):
            row[w] |= base[w]


@kernel()
def _touch(lines, i, others, membership, touched):
    """Pack the components that line ``i`` is in or has a one in; no other can lower its cost."""
    for w in range(others.shape[1]):
        word = membership[w]
        for e in range(lines.indptr[i], lines.indptr[i + 1]):
            word |= others[lines.indices[e], w]
        touched[w] = word


@kernel()
def common(left, right):
    """Tell whether two packed sets have an element in common."""
    for w in range(left.shape[0]):
        if left[w] & right[w]:
            return True
    return False


@kernel()
def _list_common(left, right, elements):
    """List the elements that two packed sets have in common; return how many there are."""
    count = 0
    for w in range(left.shape[0]):
        word = left[w] & right[w]
        while word:
            bit = popcount((word & (~word + np.uint64(1))) - np.uint64(1))
            elements[count] = 64 * w + bit
            count += 1
            word &= word - np.uint64(1)
    return count


@kernel()
def _has(packed, l):
    """Tell whether a packed set has the element ``l``."""
    return (packed[l >> 6] >> np.uint64(l & 63)) & np.uint64(1) != 0


@kernel()
def _unite_into(union, stretch):
    """Add a stretch to what is covered."""
    for w in range(union.shape[0]):
        union[w] |= stretch[w]


@kernel()
def _cost(row, union, one, zero):
    """Cost of covering ``union`` when the ones are those of ``row``."""
    missed = 0
    extra = 0
    for w in range(row.shape[0]):
        missed += popcount(row[w] & ~union[w])
        extra += popcount(union[w] & ~row[w])
    return one * missed + zero * extra


@kernel()
def _discard_hopeless(lines, i, others, membership, touched, overlaps, one, zero, ones, space):
    """Keep of the components that touch line ``i`` those that might pay, judged by counts alone.

    A component pays when the ones it covers are worth more than the zeros that only it covers;
    these are at least its cells, less those it shares with any other component that touches the
    line. Components that the line is in are kept. ``overlaps`` are the numbers of shared cells,
    ``ones`` and ``space`` room for a number for each component. Returns whether any are left.
    """
    count = _list_common(touched, touched, space)
    for c in range(count):
        ones[space[c]] = 0
    for e in range(lines.indptr[i], lines.indptr[i + 1]):
        for w in range(touched.shape[0]):
            word = others[lines.indices[e], w]
            while word:
                bit = popcount((word & (~word + np.uint64(1))) - np.uint64(1))
                ones[64 * w + bit] += 1
                word &= word - np.uint64(1)
    hidden = 0
    if lines.hidden_indptr.shape[0]:
        hidden = lines.hidden_indptr[i + 1] - lines.hidden_indptr[i]
    kept = 0
    for c in range(count):
        l = space[c]
        zeros = overlaps[l, l] - ones[l] - hidden
        for d in range(count):
            if d != c:
                zeros -= overlaps[l, space[d]]
        if one * ones[l] > zero * zeros or _has(membership, l):
            kept += 1
        else:
            touched[l >> 6] &= ~(np.uint64(1) << np.uint64(l & 63))
    return kept > 0


@kernel()
def _settle_certain(row, base, stretches, one, zero, candidates, verdicts, before, later):
    """Decide the components that every best membership leaves out, or has.

    Left out is one whose ones are worth no more than the zeros that only it covers; on is one
    whose zeros are worth less than the ones that only it covers. Each decision may bring others.

    Parameters
    ----------
    candidates : ndarray
        The components; those still undecided come first in the end.
    verdicts : ndarray of int8
        By component: 0 for off, 1 for on, 2 for undecided.
    before, later : ndarray
        Room for words; ``base`` is extended by what is on.

    Returns
    -------
    int
        How many are undecided.
    """
    words = row.shape[0]
    count = candidates.shape[0]
    for l in candidates:
        verdicts[l] = 2
    settled = True
    while settled and count:
        settled = False
        later[count, :] = 0
        for c in range(count - 1, -1, -1):
            stretch = stretches[candidates[c]]
            for w in range(words):
                later[c, w] = later[c + 1, w] | stretch[w]
        before[:] = 0
        kept = 0
        for c in range(count):
            l = candidates[c]
            stretch = stretches[l]
            ones = 0
            cells = 0
            own_ones = 0
            own_cells = 0
            for w in range(words):
                fresh = stretch[w] & ~base[w]
                alone = fresh & ~(before[w] | later[c + 1, w])
                ones += popcount(fresh & row[w])
                cells += popcount(fresh)
                own_ones += popcount(alone & row[w])
                own_cells += popcount(alone)
            if one * ones <= zero * (own_cells - own_ones):
                verdicts[l] = 0
                settled = True
            elif one * own_ones > zero * (cells - ones):
                verdicts[l] = 1
                settled = True
                _unite_into(base, stretch)
            else:
                _unite_into(before, stretch)
                candidates[kept] = l
                kept += 1
        count = kept
    return count


@kernel()
def _sort_by_ones(row, base, stretches, candidates, ones):
    """Order components by the uncovered ones they would cover, most first."""
    for c in range(candidates.shape[0]):
        l = candidates[c]
        count = 0
        for w in range(row.shape[0]):
            count += popcount(stretches[l, w] & row[w] & ~base[w])
        d = c
        while d > 0 and ones[d - 1] < count:
            ones[d] = ones[d - 1]
            candidates[d] = candidates[d - 1]
            d -= 1
        ones[d] = count
        candidates[d] = l


@kernel()
def _build_greedily(row, base, stretches, candidates, one, zero, member, union):
    """Switch on the component that gains most, again and again, starting from none."""
    member[:] = False
    union[:] = base
    while True:
        best = -1
        best_gain = 0
        for c in range(candidates.shape[0]):
            if not member[c]:
                stretch = stretches[candidates[c]]
                ones = 0
                cells = 0
                for w in range(row.shape[0]):
                    fresh = stretch[w] & ~union[w]
                    ones += popcount(fresh & row[w])
                    cells += popcount(fresh)
                gain = (one + zero) * ones - zero * cells
                if gain > best_gain:
                    best = c
                    best_gain = gain
        if best < 0:
            break
        member[best] = True
        _unite_into(union, stretches[candidates[best]])


@kernel()
def _switch_singly(row, base, stretches, candidates, one, zero, member, union, later):
    """Sweep over the components, switching each to what is best given the others.

    ``later[c]`` is the union of the candidates from the ``c``-th on that are on; before it there
    is ``union``, which in the end is all that is covered. Returns the number of sweeps.
    """
    words = row.shape[0]
    count = candidates.shape[0]
    sweeps = 0
    changed = True
    while changed:
        changed = False
        sweeps += 1
        later[count, :] = 0
        for c in range(count - 1, -1, -1):
            later[c] = later[c + 1]
            if member[c]:
                _unite_into(later[c], stretches[candidates[c]])
        union[:] = base
        for c in range(count):
            stretch = stretches[candidates[c]]
            ones = 0
            cells = 0
            for w in range(words):
                fresh = stretch[w] & ~(union[w] | later[c + 1, w])
                ones += popcount(fresh & row[w])
                cells += popcount(fresh)
            # A gain of zero switches off: the same loss with fewer components.
            on = (one + zero) * ones - zero * cells > 0
            if member[c] != on:
                member[c] = on
                changed = True
            if on:
                _unite_into(union, stretch)
    return sweeps


@kernel()
def _search_subsets(
    row, base, stretches, candidates, one, zero, cost, nodes, member, union, prefix, reach, trial
):
    """Branch and bound over all subsets of the candidates, for one that costs less than ``cost``.

    ``prefix[d]`` is what the first ``d`` decisions cover, ``reach[d]`` what those left could. A
    branch ends when its covered zeros, and the ones that are out of its reach, cost too much
    already. At most ``nodes`` branches are looked at. When something better is found, ``member``
    and ``union`` become the best. Returns the least cost and the nodes that are left.
    """
    count = candidates.shape[0]
    words = row.shape[0]
    reach[count, :] = 0
    for c in range(count - 1, -1, -1):
        stretch = stretches[candidates[c]]
        for w in range(words):
            reach[c, w] = reach[c + 1, w] | stretch[w]
    prefix[0] = base
    depth = 0
    # Decisions at each depth: 0 none yet, 1 on, 2 off.
    trial[0] = 0
    while depth >= 0 and nodes > 0:
        if depth == count:
            # With nothing left to reach the bound is the cost itself, and it was below.
            cost = _cost(row, prefix[depth], one, zero)
            union[:] = prefix[depth]
            for c in range(count):
                member[c] = trial[c] == 1
            depth -= 1
            continue
        if trial[depth] == 2:
            depth -= 1
            continue
        trial[depth] += 1
        nodes -= 1
        missed = 0
        extra = 0
        stretch = stretches[candidates[depth]]
        chosen = ~np.uint64(0) if trial[depth] == 1 else np.uint64(0)
        for w in range(words):
            covered = prefix[depth, w] | (stretch[w] & chosen)
            prefix[depth + 1, w] = covered
            extra += popcount(covered & ~row[w])
            missed += popcount(row[w] & ~(covered | reach[depth + 1, w]))
        if one * missed + zero * extra < cost:
            depth += 1
            if depth < count:
                trial[depth] = 0
    return cost, nodes


@kernel()
def _polish(row, base, stretches, candidates, one, zero, nodes, member, union, stacks, trial, work):
    """Improve a membership until neither single switches nor the search find any better.

    Returns the cost; adds to ``work`` what it took.
    """
    cost = _NO_COST
    steps = 0
    while True:
        sweeps = _switch_singly(
            row, base, stretches, candidates, one, zero, member, union, stacks[0]
        )
        switched = _cost(row, union, one, zero)
        steps += 3 * sweeps * candidates.shape[0]
        if switched >= cost:
            break
        cost, left = _search_subsets(
            row,
            base,
            stretches,
            candidates,
            one,
            zero,
            switched,
            nodes,
            member,
            union,
            stacks[1],
            stacks[2],
            trial,
        )
        steps += 3 * (nodes - left)
        if cost == switched:
            break
    work[0] += steps * effort_per_line(row.shape[0])
    return cost


@kernel()
def improve_lines(
    lines,
    low,
    high,
    others,
    stretches,
    overlaps,
    free,
    stale,
    one,
    zero,
    nodes,
    how,
    memberships,
    pending,
    changed,
    work,
):
    """Improve the memberships of lines ``low`` to ``high`` in the ``free`` components.

    Looked at are only the lines that are ``pending``, which are then so no more, and those that a
    ``stale`` component touches. What is certain is settled; in the rest, a line's own membership
    is improved by single switches and by a search of all subsets as far as ``nodes`` reach, and
    ``how`` says whether also one that is built greedily from nothing.

    Parameters
    ----------
    others, stretches : ndarray of uint64
        The components: memberships and stretches of the other side, packed.
    nodes : int
        Branches to look at, at most; fewer on long lines.
    overlaps : ndarray of int64
        Cells that components share, which saves time on sparse lines; or of shape (0, 0).
    free, stale : ndarray of uint64
        Components, packed.
    one, zero : int
        Cost of an uncovered one and of a covered zero.
    memberships : ndarray of uint64
        Of these lines, packed; improved in place.
    changed : ndarray of uint64
        Components that some line entered or left are added here, packed.
    work : ndarray of int64
        What it took, about in nanoseconds, is added to its first entry.

    Returns
    -------
    gained : int
        By how much the cost went down.
    """
    k, words = stretches.shape
    nodes = min(nodes, max(_FEWEST_NODES, _WORDS_OF_A_SEARCH // words))
    room = np.empty((4, words), dtype=np.uint64)
    row, base, union, other = room[0], room[1], room[2], room[3]
    stacks = np.empty((3, k + 1, words), dtype=np.uint64)
    flags = np.empty((2, k), dtype=np.bool_)
    trial = np.empty(k + 1, dtype=np.int8)
    verdicts = np.empty(k, dtype=np.int8)
    space = np.empty(k, dtype=np.int64)
    ones = np.empty(k, dtype=np.int64)
    touched = np.empty(others.shape[1], dtype=np.uint64)
    gained = 0
    for i in range(low, high):
        work[0] += 12 + 2 * (lines.indptr[i + 1] - lines.indptr[i])
        _touch(lines, i, others, memberships[i], touched)
        if not pending[i] and not common(touched, stale):
            continue
        pending[i] = False
        if overlaps.shape[0]:
            # Judging a line by counts takes several times as long as touching it.
            work[0] += 60 + 8 * (lines.indptr[i + 1] - lines.indptr[i])
        if overlaps.shape[0] and not _discard_hopeless(
            lines, i, others, memberships[i], touched, overlaps, one, zero, ones, space
        ):
            continue
        total = _list_common(touched, free, space)
        if total == 0:
            continue
        _open_line(lines, i, row, base)
        for w in range(touched.shape[0]):
            touched[w] &= free[w]
        for l in range(k):
            if _has(memberships[i], l) and not _has(free, l):
                _unite_into(base, stretches[l])
        union[:] = base
        for l in space[:total]:
            if _has(memberships[i], l):
                _unite_into(union, stretches[l])
        old_cost = _cost(row, union, one, zero)
        count = _settle_certain(
            row, base, stretches, one, zero, space[:total], verdicts, union, stacks[0]
        )
        work[0] += 100 + (8 + 4 * total) * effort_per_line(words)
        if count:
            candidates = space[:count]
            _sort_by_ones(row, base, stretches, candidates, ones)
            own, described = flags[0, :count], flags[1, :count]
            for c in range(count):
                own[c] = _has(memberships[i], candidates[c])
            cost = _polish(
                row, base, stretches, candidates, one, zero, nodes, own, union, stacks, trial, work
            )
            if how == DESCRIBE:
                _build_greedily(row, base, stretches, candidates, one, zero, described, other)
                described_cost = _polish(
                    row,
                    base,
                    stretches,
                    candidates,
                    one,
                    zero,
                    nodes,
                    described,
                    other,
                    stacks,
                    trial,
                    work,
                )
                if described_cost <= cost:
                    own[:] = described
                    cost = described_cost
            for c in range(count):
                verdicts[candidates[c]] = own[c]
        else:
            cost = _cost(row, base, one, zero)
        gained += old_cost - cost
        for w in range(touched.shape[0]):
            word = touched[w]
            while word:
                mark = word & (~word + np.uint64(1))
                on = verdicts[64 * w + popcount(mark - np.uint64(1))] == 1
                if (memberships[i, w] & mark != 0) != on:
                    memberships[i, w] ^= mark
                    changed[w] |= mark
                word ^= mark
    return gained


@kernel()
def share_cells(stretches, overlaps):
    """Count the cells that each two components have in common."""
    for l in range(stretches.shape[0]):
        for other in range(l + 1):
            total = 0
            for w in range(stretches.shape[1]):
                total += popcount(stretches[l, w] & stretches[other, w])
            overlaps[l, other] = total
            overlaps[other, l] = total


@kernel()
def descend(lines, bits, free, one, zero, nodes, turns, first, work):
    """Let the two sides take turns in one thread until nothing changes, or for so many turns.

    ``first`` is the side that begins; only the components that are ``free`` change. Returns by how
    much the cost went down.
    """
    k = bits.stretches[0].shape[0]
    gained = 0
    changed = np.empty_like(free)
    for turn in range(turns):
        side = (first + turn) % 2
        memberships, stretches = bits.memberships[side], bits.stretches[1 - side]
        overlaps = np.empty((0, 0), dtype=np.int64)
        if lines[side].words.shape[0] == 0:
            overlaps = np.empty((k, k), dtype=np.int64)
            share_cells(stretches, overlaps)
            work[0] += k * k // 2 * effort_per_line(stretches.shape[1])
        changed[:] = 0
        gained += improve_lines(
            lines[side],
            0,
            memberships.shape[0],
            bits.memberships[1 - side],
            stretches,
            overlaps,
            free,
            bits.stale[side],
            one,
            zero,
            nodes,
            OWN,
            memberships,
            bits.pending[side],
            changed,
            work,
        )
        quiet = True
        for w in range(changed.shape[0]):
            bits.stale[side, w] = 0
            bits.stale[1 - side, w] |= changed[w]
            quiet = quiet and changed[w] == 0
        for l in range(k):
            if _has(changed, l):
                gather_column(memberships, l, bits.stretches[side][l])
                work[0] += 3 * memberships.shape[0]
        if quiet and turn > 0:
            break
    return gained


@kernel()
def drop_costs(lines, low, high, stretches, memberships, one, zero, costs, work):
    """Add to ``costs`` by how much lines ``low`` to ``high`` cost more without a component.

    What it took is added to ``work``.
    """
    k, words = stretches.shape
    row = np.empty(words, dtype=np.uint64)
    before = np.empty(words, dtype=np.uint64)
    later = np.empty((k + 1, words), dtype=np.uint64)
    space = np.empty(k, dtype=np.int64)
    for i in range(low, high):
        count = _list_common(memberships[i], memberships[i], space)
        work[0] += 8
        if count == 0:
            continue
        work[0] += 20 + (2 + 3 * count) * effort_per_line(words)
        _open_line(lines, i, row, before)
        later[count, :] = 0
        for c in range(count - 1, -1, -1):
            later[c] = later[c + 1]
            _unite_into(later[c], stretches[space[c]])
        for c in range(count):
            stretch = stretches[space[c]]
            ones = 0
            cells = 0
            for w in range(words):
                alone = stretch[w] & ~(before[w] | later[c + 1, w])
                ones += popcount(alone & row[w])
                cells += popcount(alone)
                before[w] |= stretch[w]
            costs[space[c]] += (one + zero) * ones - zero * cells


@kernel()
def threshold_costs(lines, low, high, levels, stretches, one, zero, costs):
    """Add to ``costs`` what lines ``low`` to ``high`` cost at each of several thresholds.

    ``levels[i, l]`` is how many of the thresholds, ascending, an entry exceeds. From the highest
    threshold downwards a line only ever gains components: the cells they add are all there is to
    look at.
    """
    k, words = stretches.shape
    row = np.empty(words, dtype=np.uint64)
    union = np.empty(words, dtype=np.uint64)
    for i in range(low, high):
        _open_line(lines, i, row, union)
        cost = _cost(row, union, one, zero)
        for t in range(costs.shape[0] - 1, -1, -1):
            for l in range(k):
                if levels[i, l] == t + 1:
                    stretch = stretches[l]
                    ones = 0
                    cells = 0
                    for w in range(words):
                        fresh = stretch[w] & ~union[w]
                        ones += popcount(fresh & row[w])
                        cells += popcount(fresh)
                        union[w] |= stretch[w]
                    cost -= (one + zero) * ones - zero * cells
            costs[t] += cost
