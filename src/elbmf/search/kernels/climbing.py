"""Climbing by components: switching lines of one component at a time, and exchanging components.

Where coordinate descent goes from line to line and weighs subsets of components, this goes from
component to component and only ever switches single lines on or off, so that little is to be
looked at after a small change: of each component, the lines that are *pending*. On data that is
not too sparse, *masks* tell for each line which cells are covered, and which of them by one
component alone; else that is found out from the memberships, for the ones of a line.

Equal lines are worked on once: the *first* of them is looked at, and the others follow it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import call_at, helper, kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.randomness import random_word
from elbmf.kernels.sets import common, copy_into, has, list_common, lowest
from elbmf.search.kernels.lines import Lines
from elbmf.search.kernels.rows import Prices

__all__ = ["Climb", "State", "Table", "Twins", "evolve", "match_components", "work_on"]

_ALL = ~np.uint64(0)

# Random ones that are looked at for an uncovered one, before all of them are.
_DRAWS = 2000

# For each component that grows from nothing in particular, so many grow from lines.
_LINES_PER_NOISE = 8

# Components of which the least useful is done without.
_RIVALS = 3

# Components that no line wants, after which no more are grown.
_FAILURES = 20

# Steps of the random numbers by which the line to split a component by is chosen.
_STEPS = 1024

# Of eight exchanges, those in which a component is dropped first, and those in which one is split.
_DROPS, _SPLITS = 2, 4


class Twins(NamedTuple):
    """Which lines of one side are equal.

    Parameters
    ----------
    first : ndarray of uint64
        The first of each group of equal lines, packed.
    following : ndarray of int64
        The next line of the group; below zero after the last.
    copies : ndarray of int64
        How many lines the group of a first line has.
    """

    first: NDArray[np.uint64]
    following: NDArray[np.int64]
    copies: NDArray[np.int64]


class Table(NamedTuple):
    """The data, each as a pair: for the rows, and for the columns.

    Parameters
    ----------
    lines : pair of Lines
        Where the ones are, and the missing cells.
    twins : pair of Twins
        Which are equal.
    words : pair of ndarray of uint64, of shape (lines, words)
        The ones and the missing cells, packed; of shape (0, 0) where masks do not pay.
    missing : pair of ndarray of uint64
        The missing cells, likewise; of shape (0, 0) also if there are none.
    prices : Prices
        Of the two kinds of error.
    """

    lines: tuple[Lines, Lines]
    twins: tuple[Twins, Twins]
    words: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    missing: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    prices: Prices


class State(NamedTuple):
    """Factors, and what they cover; each is a pair, for the rows and for the columns.

    Parameters
    ----------
    memberships, component_bits : as in `Bits`
        The factors.
    covered, once : ndarray of uint64, of shape (lines, words)
        The masks: cells that are covered, and those that just one component covers. Only those of
        first lines are kept up to date. Missing cells are covered, but not once.
    """

    memberships: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    component_bits: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    covered: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    once: tuple[NDArray[np.uint64], NDArray[np.uint64]]


class Climb(NamedTuple):
    """Factors that are being improved, how to go back, and buffers.

    Parameters
    ----------
    now, saved : State
        The factors, and what they were when they were last kept.
    pending : pair of ndarray of uint64, of shape (k, words)
        Lines that are to be looked at, for each component.
    changed : pair of ndarray of uint64
        Lines that are saved, as they have changed since.
    costs : ndarray of int64, of shape (4, k)
        What it would cost to do without each component, and whether that is out of date; both
        once more as they were when the factors were last kept.
    flipped : pair of ndarray of uint64
        Lines that were just switched.
    counts : pair of ndarray of int64
        A number for each line, all zero.
    members : ndarray of int64, of shape (k,)
        A list of components.
    random : ndarray of uint64, of shape (2,)
        Key of the random numbers, and how many were drawn.
    work : ndarray of int64, of shape (2,)
        What was done, about in nanoseconds, and after how much to end as soon as that can be.
    alarm : ndarray of uint8, of shape (1,)
        Whether to end as soon as that can be; see `Alarm`.
    """

    now: State
    saved: State
    pending: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    changed: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    costs: NDArray[np.int64]
    flipped: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    counts: tuple[NDArray[np.int64], NDArray[np.int64]]
    members: NDArray[np.int64]
    random: NDArray[np.uint64]
    work: NDArray[np.int64]
    alarm: NDArray[np.uint8]


# What to do with the pending lines of a component.
_IMPROVE, _EMPTY, _COUNT = 0, 1, 2


# --- one component ---


@helper(allocates=False, forceinline=True)
def _save(changed, i, memberships, covered, once, saved_memberships, saved_covered, saved_once):
    """Keep a line as it is, unless it has been kept already."""
    mark = np.uint64(1) << np.uint64(i & 63)
    if changed[i >> 6] & mark == 0:
        changed[i >> 6] |= mark
        copy_into(saved_memberships[i], memberships[i])
        if covered.shape[0]:
            copy_into(saved_covered[i], covered[i])
            copy_into(saved_once[i], once[i])


@helper(allocates=False, forceinline=True)
def _mask_line(membership, cells, missing, i, covered, once, low, high):
    """Find out what is covered in some words of a line, and what of that just once.

    Returns how many words were looked at.
    """
    for w in range(low, high):
        covered[w] = missing[i, w] if missing.shape[0] else np.uint64(0)
        once[w] = covered[w]
    steps = 1
    for q in range(membership.shape[0]):
        word = membership[q]
        while word:
            packed = cells[64 * q + lowest(word)]
            word &= word - np.uint64(1)
            # What is covered twice, for now.
            for w in range(low, high):
                once[w] |= covered[w] & packed[w]
                covered[w] |= packed[w]
            steps += 1
    for w in range(low, high):
        once[w] = covered[w] & ~once[w]
    return steps * (high - low)


@helper(allocates=False, forceinline=True)
def _fresh_by_list(lines, i, l, membership, others, all_cells, size, members):
    """Count the ones, and all cells, of component ``l`` in line ``i`` that no other covers."""
    cells = all_cells[l]
    home, mark = l >> 6, np.uint64(1) << np.uint64(l & 63)
    was_on = membership[home] & mark
    membership[home] &= ~mark
    ones = 0
    for e in range(lines.indptr[i], lines.indptr[i + 1]):
        j = lines.indices[e]
        if has(cells, j) and not common(membership, others[j]):
            ones += 1
    total = size
    if ones or was_on:
        count = list_common(membership, membership, members)
        if count:
            total = 0
            for w in range(cells.shape[0]):
                word = cells[w]
                if word:
                    for c in range(count):
                        word &= ~all_cells[members[c], w]
                    total += popcount(word)
        if lines.missing_indptr.shape[0]:
            for e in range(lines.missing_indptr[i], lines.missing_indptr[i + 1]):
                j = lines.missing_indices[e]
                if has(cells, j) and not common(membership, others[j]):
                    total -= 1
    membership[home] |= was_on
    return ones, total


@kernel(inline="always")
def _dismiss_hopeless(lines, across, memberships, own, cells, size, prices, pending, counts):
    """Keep of the pending lines only those that might gain by a component.

    For lines without masks: the ones that each has among the cells are counted from the other side.
    Returns the work.
    """
    work = 0
    for w in range(cells.shape[0]):
        word = cells[w]
        while word:
            j = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            for e in range(across.indptr[j], across.indptr[j + 1]):
                counts[across.indices[e]] += 1
            work += across.indptr[j + 1] - across.indptr[j]
    whole = lines.missing_indptr.shape[0] == 0
    for y in range(pending.shape[0]):
        kept = np.uint64(0)
        for i in range(64 * y, min(64 * y + 64, counts.shape[0])):
            if counts[i]:
                alone = whole and not common(memberships[i], memberships[i])
                if not alone or (prices.one + prices.zero) * counts[i] > prices.zero * size:
                    kept |= np.uint64(1) << np.uint64(i & 63)
                counts[i] = 0
        pending[y] &= kept | own[y]
    return 2 * work + counts.shape[0]


@kernel(inline="always")
def _spread(table, climb, axis, l):
    """Let the other side, and other components, know of the lines that were switched."""
    now, saved, flipped, other = climb.now, climb.saved, climb.flipped[axis], 1 - axis
    all_cells, all_own = now.component_bits[other], now.component_bits[axis]
    pending, pending_across = climb.pending[axis], climb.pending[other]
    cells, costs = all_cells[l], climb.costs
    low, high = flipped.shape[0], np.int64(0)
    for y in range(flipped.shape[0]):
        if flipped[y]:
            low = min(low, y)
            high = y + 1
    work = all_cells.shape[0] * (6 + cells.shape[0] // 2)
    covered, once = now.covered[other], now.once[other]
    if covered.shape[0]:
        memberships, missing = now.memberships[other], table.missing[other]
        first, changed = table.twins[other].first, climb.changed[other]
        before = (saved.memberships[other], saved.covered[other], saved.once[other])
        for w in range(cells.shape[0]):
            word = cells[w] & first[w]
            while word:
                j = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                _save(changed, j, memberships, covered, once, before[0], before[1], before[2])
                steps = _mask_line(
                    memberships[j], all_own, missing, j, covered[j], once[j], low, high
                )
                work += 10 + steps
    for q in range(all_cells.shape[0]):
        if q == l:
            continue
        meets = common(all_cells[q], cells)
        if meets:
            for y in range(low, high):
                pending[q, y] |= flipped[y]
        touches = False
        for y in range(low, high):
            if all_own[q, y] & flipped[y]:
                touches = True
                break
        if touches:
            for w in range(cells.shape[0]):
                pending_across[q, w] |= cells[w]
            if meets:
                costs[1, q] = 1
    costs[1, l] = 1
    return work


@kernel(allocates=False)
def work_on(table, climb, axis, l, task):
    """Improve a component, or empty it, or count what it would cost to do without it.

    To improve it, its two sides take turns, first that of ``axis``, until nothing changes. Only
    pending lines are looked at. Returns by how much the cost went down, or would go up.
    """
    gained = np.int64(0)
    quiet = 0
    while quiet < 2:
        other = 1 - axis
        now, saved, twins, lines = climb.now, climb.saved, table.twins[axis], table.lines[axis]
        prices, work = table.prices, climb.work
        memberships, others = now.memberships[axis], now.memberships[other]
        all_cells, own = now.component_bits[other], now.component_bits[axis][l]
        cells, pending, flipped = all_cells[l], climb.pending[axis][l], climb.flipped[axis]
        covered, once, rows = now.covered[axis], now.once[axis], table.words[axis]
        changed, missing = climb.changed[axis], table.missing[axis]
        before = (saved.memberships[axis], saved.covered[axis], saved.once[axis])
        masked, words = covered.shape[0] > 0, cells.shape[0]
        home, mark = l >> 6, np.uint64(1) << np.uint64(l & 63)
        size, waiting = np.int64(0), 0
        if not masked:
            for w in range(words):
                size += popcount(cells[w])
            if task == _IMPROVE:
                for y in range(pending.shape[0]):
                    waiting += popcount(pending[y] & twins.first[y])
                if waiting > 64:
                    across, counts = table.lines[other], climb.counts[axis]
                    work[0] += _dismiss_hopeless(
                        lines, across, memberships, own, cells, size, prices, pending, counts
                    )
        count = 0
        flipped[:] = 0
        for y in range(pending.shape[0]):
            word = twins.first[y] & (pending[y] if task == _IMPROVE else own[y])
            if task != _COUNT:
                pending[y] = 0
            while word:
                i = 64 * y + lowest(word)
                word &= word - np.uint64(1)
                on = memberships[i, home] & mark != 0
                ones, total = 0, 0
                if not masked:
                    length = lines.indptr[i + 1] - lines.indptr[i]
                    work[0] += 10 + 2 * length
                    ones, total = _fresh_by_list(
                        lines, i, l, memberships[i], others, all_cells, size, climb.members
                    )
                elif on:
                    for w in range(words):
                        fresh = cells[w] & once[i, w]
                        ones += popcount(fresh & rows[i, w])
                        total += popcount(fresh)
                else:
                    for w in range(words):
                        fresh = cells[w] & ~covered[i, w]
                        ones += popcount(fresh & rows[i, w])
                        total += popcount(fresh)
                work[0] += 4 + words
                gain = (prices.one + prices.zero) * ones - prices.zero * total
                if task == _COUNT:
                    gained += gain * twins.copies[i]
                    continue
                if on == (gain > 0 and task == _IMPROVE):
                    continue
                gained += (-gain if on else gain) * twins.copies[i]
                count += 1
                line = i
                while line >= 0:
                    _save(changed, line, memberships, covered, once, *before)
                    bit = np.uint64(1) << np.uint64(line & 63)
                    memberships[line, home] ^= mark
                    own[line >> 6] ^= bit
                    flipped[line >> 6] |= bit
                    line = twins.following[line]
                if masked and on:
                    membership = memberships[i]
                    work[0] += _mask_line(
                        membership, all_cells, missing, i, covered[i], once[i], np.int64(0), words
                    )
                elif masked:
                    for w in range(words):
                        once[i, w] = (once[i, w] & ~cells[w]) | (cells[w] & ~covered[i, w])
                        covered[i, w] |= cells[w]
        if task == _COUNT:
            break
        quiet += 1
        if count:
            work[0] += _spread(table, climb, axis, l)
            climb.pending[other][l, :] = _ALL
            quiet = 1
        axis = other
    return gained


# --- moves ---


@helper(allocates=False)
def _draw(random, below):
    """Draw a number from 0 to ``below``, exclusively."""
    word = random_word(random[0], random[1])
    random[1] += np.uint64(1)
    return np.int64((word >> np.uint64(1)) % np.uint64(below))


@kernel(inline="always")
def _uncovered_one(lines, memberships, random, work):
    """Draw an uncovered one; return its row and its column, below zero if there are none."""
    indptr, indices, rows, columns = lines.indptr, lines.indices, memberships[0], memberships[1]
    n, total = rows.shape[0], indices.shape[0]
    for _ in range(_DRAWS if total else 0):
        e = _draw(random, total)
        low, high = 0, n
        while high - low > 1:
            middle = (low + high) // 2
            if indptr[middle] <= e:
                low = middle
            else:
                high = middle
        work[0] += 20
        if not common(rows[low], columns[indices[e]]):
            return low, np.int64(indices[e])
    # They are few: the first after a random row will do.
    begin = _draw(random, n)
    work[0] += 2 * total
    for step in range(n):
        i = (begin + step) % n
        for e in range(indptr[i], indptr[i + 1]):
            if not common(rows[i], columns[indices[e]]):
                return i, np.int64(indices[e])
    return -1, -1


@helper(allocates=False)
def _empty(table, climb, l, address):
    """Empty a component; return by how much the cost goes up."""
    lost = call_at(address, (table, climb, np.int64(0), np.int64(l), np.int64(_EMPTY)))
    climb.costs[0, l] = 0
    climb.costs[1, l] = 0
    return -lost


@helper(allocates=False)
def _fill(table, climb, l, address):
    """Let an empty component have the uncovered ones of a line, and adapt; return the gain.

    No line need lead to the best: now and then it has any cells, drawn at random.
    """
    now, saved = climb.now, climb.saved
    row, column = _uncovered_one(table.lines[0], now.memberships, climb.random, climb.work)
    if row < 0:
        return np.int64(0)
    axis = _draw(climb.random, 2)
    other, i = 1 - axis, column if axis else row
    lines, membership = table.lines[axis], now.memberships[axis][i]
    others, cells, changed = now.memberships[other], now.component_bits[other], climb.changed[other]
    covered, once = now.covered[other], now.once[other]
    before = (saved.memberships[other], saved.covered[other], saved.once[other])
    if _draw(climb.random, _LINES_PER_NOISE) == 0:
        twins = table.twins[other]
        for j in range(others.shape[0]):
            line = j if has(twins.first, j) and _draw(climb.random, 2) else -1
            while line >= 0:
                cells[l, line >> 6] |= np.uint64(1) << np.uint64(line & 63)
                line = twins.following[line]
    else:
        for e in range(lines.indptr[i], lines.indptr[i + 1]):
            j = np.int64(lines.indices[e])
            if not common(membership, others[j]):
                cells[l, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
    for w in range(cells.shape[1]):
        word = cells[l, w]
        while word:
            j = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            _save(changed, j, others, covered, once, *before)
            others[j, l >> 6] |= np.uint64(1) << np.uint64(l & 63)
    climb.pending[axis][l, :] = _ALL
    climb.pending[other][l, :] = 0
    climb.costs[1, l] = 1
    gain = call_at(address, (table, climb, axis, np.int64(l), np.int64(_IMPROVE)))
    if gain == 0:
        # No line wants it, but it still has the cells that it was given.
        _empty(table, climb, l, address)
    return gain


@helper(allocates=False)
def _split(table, climb, q, l):
    """Split component ``q`` by a line of the other side that only some of its lines have a one in.

    Those that have one go over to ``l``, which is empty. As yet that changes nothing.
    """
    now, saved, work = climb.now, climb.saved, climb.work
    axis = _draw(climb.random, 2)
    other, lines, twins = 1 - axis, table.lines[axis], table.twins[axis]
    memberships, others = now.memberships[axis], now.memberships[other]
    own, cells = now.component_bits[axis], now.component_bits[other]
    mark, new_mark = np.uint64(1) << np.uint64(q & 63), np.uint64(1) << np.uint64(l & 63)
    counts, size = climb.counts[other], 0
    for y in range(own.shape[1]):
        word = own[q, y] & twins.first[y]
        while word:
            i = 64 * y + lowest(word)
            word &= word - np.uint64(1)
            size += twins.copies[i]
            memberships[i, q >> 6] ^= mark
            for e in range(lines.indptr[i], lines.indptr[i + 1]):
                j = lines.indices[e]
                if not common(memberships[i], others[j]):
                    counts[j] += twins.copies[i]
            memberships[i, q >> 6] ^= mark
            work[0] += 5 + 2 * (lines.indptr[i + 1] - lines.indptr[i])
    # The more evenly it is split, the more there is to gain.
    divider, most = -1, np.int64(0)
    for j in range(counts.shape[0]):
        score = min(counts[j], size - counts[j]) * _draw(climb.random, _STEPS)
        counts[j] = 0
        if score > most:
            divider, most = j, score
    work[0] += 10 * counts.shape[0]
    if divider < 0:
        return
    covered, once, changed = now.covered, now.once, climb.changed
    before = (saved.memberships[axis], saved.covered[axis], saved.once[axis])
    across = table.lines[other]
    for e in range(across.indptr[divider], across.indptr[divider + 1]):
        i = np.int64(across.indices[e])
        if has(own[q], i):
            _save(changed[axis], i, memberships, covered[axis], once[axis], *before)
            memberships[i, q >> 6] ^= mark
            memberships[i, l >> 6] ^= new_mark
            bit = np.uint64(1) << np.uint64(i & 63)
            own[q, i >> 6] ^= bit
            own[l, i >> 6] ^= bit
    before = (saved.memberships[other], saved.covered[other], saved.once[other])
    for w in range(cells.shape[1]):
        word = cells[q, w]
        cells[l, w] = word
        while word:
            j = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            _save(changed[other], j, others, covered[other], once[other], *before)
            others[j, l >> 6] |= new_mark
    for side in range(2):
        climb.pending[side][q, :] = _ALL
        climb.pending[side][l, :] = _ALL
    climb.costs[1, q] = 1
    climb.costs[1, l] = 1


@helper(allocates=False, forceinline=True)
def _is_over(climb):
    """Tell whether to leave all else as it is."""
    return climb.alarm[0] != 0 or climb.work[0] >= climb.work[1]


@helper(allocates=False)
def _sweep(table, climb, address):
    """Improve all components in turns until nothing is pending; return the gain."""
    gained = np.int64(0)
    k = climb.costs.shape[1]
    changed = True
    while changed and not _is_over(climb):
        changed = False
        for l in range(k):
            waiting = False
            for axis in range(2):
                pending = climb.pending[axis]
                for y in range(pending.shape[1]):
                    waiting = waiting or pending[l, y] != 0
            if waiting and not _is_over(climb):
                given = (table, climb, np.int64(0), np.int64(l), np.int64(_IMPROVE))
                gained += call_at(address, given)
                changed = True
        climb.work[0] += 20 * k
    return gained


@helper(allocates=False)
def _keep(climb):
    """Let the factors be what to go back to."""
    _copy_costs(climb.costs, 0, 2)
    for axis in range(2):
        climb.changed[axis][:] = 0
        saved, now = climb.saved.component_bits[axis], climb.now.component_bits[axis]
        for l in range(now.shape[0]):
            copy_into(saved[l], now[l])


@helper(allocates=False)
def _go_back(climb):
    """Undo all that was done since the factors were last kept."""
    _copy_costs(climb.costs, 2, 0)
    for axis in range(2):
        saved, now = climb.saved.component_bits[axis], climb.now.component_bits[axis]
        for l in range(now.shape[0]):
            copy_into(now[l], saved[l])
            climb.pending[axis][l, :] = 0
        changed = climb.changed[axis]
        memberships, covered = climb.now.memberships[axis], climb.now.covered[axis]
        once, saved_once = climb.now.once[axis], climb.saved.once[axis]
        saved_memberships, saved_covered = climb.saved.memberships[axis], climb.saved.covered[axis]
        for y in range(changed.shape[0]):
            word = changed[y]
            changed[y] = 0
            while word:
                i = 64 * y + lowest(word)
                word &= word - np.uint64(1)
                copy_into(memberships[i], saved_memberships[i])
                if covered.shape[0]:
                    copy_into(covered[i], saved_covered[i])
                    copy_into(once[i], saved_once[i])


@helper(allocates=False)
def _copy_costs(costs, source, target):
    """Copy what it costs to do without components, and whether that is out of date."""
    for l in range(costs.shape[1]):
        costs[target, l] = costs[source, l]
        costs[target + 1, l] = costs[source + 1, l]


@helper(allocates=False)
def _census(climb):
    """List the components that cover anything; return how many do, and one that does not."""
    rows, columns = climb.now.component_bits
    count, empty = 0, np.int64(-1)
    for l in range(rows.shape[0]):
        if common(rows[l], rows[l]) and common(columns[l], columns[l]):
            climb.members[count] = l
            count += 1
        elif empty < 0:
            empty = l
    climb.work[0] += 5 * rows.shape[0]
    return count, empty


@helper(allocates=False)
def _drop_least_useful(table, climb, count, address):
    """Do without the least useful of the listed components; return by how much the cost goes up."""
    least = np.int64(-1)
    for c in range(count):
        l = climb.members[c]
        if least < 0 or climb.costs[0, l] < climb.costs[0, least]:
            least = l
    lost = _empty(table, climb, least, address)
    return lost - _sweep(table, climb, address)


@helper(allocates=False)
def _weigh(table, climb, address):
    """Find out what it costs to do without each component."""
    for l in range(climb.costs.shape[1]):
        if climb.costs[1, l]:
            given = (table, climb, np.int64(0), np.int64(l), np.int64(_COUNT))
            climb.costs[0, l] = call_at(address, given)
            climb.costs[1, l] = 0


@kernel(allocates=False, error_model="numpy")
def evolve(table, climb, address, wanted, reseeded, exchanges):
    """Let factors adapt, and exchange components as long as that does no harm.

    Components that cover nothing, or were given too few, are grown from uncovered lines.

    Parameters
    ----------
    table : Table
    climb : Climb
        The factors, of which only the component bits need be set, and of these one must be empty.
    address : int
        Of `work_on`.
    wanted : int
        Components to end with; if there are more, the least useful are dropped one by one.
    reseeded : ndarray of int64
        Components to empty, and to grow anew from uncovered lines, before anything else.
    exchanges : int
        How many to try.

    Returns
    -------
    int
        What the factors cost.
    """
    cost = _begin(table, climb)
    for l in reseeded:
        cost += _empty(table, climb, l, address)
    for l in reseeded:
        if not _is_over(climb):
            cost -= _fill(table, climb, l, address)
    cost -= _sweep(table, climb, address)
    _keep(climb)
    left, failed = exchanges, 0
    while True:
        count, empty = _census(climb)
        growing = count < wanted and failed < _FAILURES
        done = cost == 0 or _is_over(climb) or not (growing or (left and count))
        if count <= wanted and done:
            break
        if growing:
            # For nothing.
            gain = _fill(table, climb, empty, address) + _sweep(table, climb, address)
            failed += gain == 0
            cost -= gain
            _keep(climb)
            continue
        _weigh(table, climb, address)
        count, empty = _census(climb)
        if count > wanted:
            cost += _drop_least_useful(table, climb, count, address)
            _keep(climb)
            continue
        left -= 1
        climb.work[0] += 1000
        # One of the less useful is dropped before another is grown, or the least useful after.
        new_cost, kind = cost, _draw(climb.random, 8)
        if kind < _DROPS:
            dropped = np.int64(-1)
            for _ in range(_RIVALS):
                l = climb.members[_draw(climb.random, count)]
                if dropped < 0 or climb.costs[0, l] < climb.costs[0, dropped]:
                    dropped = l
            new_cost += _empty(table, climb, dropped, address)
            new_cost -= _fill(table, climb, dropped, address)
            if new_cost == cost:
                # Mostly it came back as it was.
                _go_back(climb)
                continue
            new_cost -= _sweep(table, climb, address)
        else:
            if kind >= _DROPS + _SPLITS:
                new_cost -= _fill(table, climb, empty, address)
            else:
                _split(table, climb, climb.members[_draw(climb.random, count)], empty)
            new_cost -= _sweep(table, climb, address)
            _weigh(table, climb, address)
            count, empty = _census(climb)
            if count > wanted:
                new_cost += _drop_least_useful(table, climb, count, address)
        if new_cost <= cost:
            cost = new_cost
            _keep(climb)
        else:
            _go_back(climb)
    return cost


@helper(allocates=False)
def _begin(table, climb):
    """Make all there is from the component bits; return what the factors cost."""
    now, prices, lines, work = climb.now, table.prices, table.lines[0], climb.work
    k = climb.costs.shape[1]
    climb.costs[1, :] = 1
    climb.pending[0][:, :] = _ALL
    climb.pending[1][:, :] = _ALL
    for l in range(k):
        # Equal lines are to be in the same components, those of the first.
        for axis in range(2):
            for y in range(now.component_bits[axis].shape[1]):
                now.component_bits[axis][l, y] &= table.twins[axis].first[y]
        rows, columns = now.component_bits[0][l], now.component_bits[1][l]
        if not (common(rows, rows) and common(columns, columns)):
            for axis in range(2):
                now.component_bits[axis][l, :] = 0
                climb.pending[axis][l, :] = 0
    for axis in range(2):
        memberships, twins, own = now.memberships[axis], table.twins[axis], now.component_bits[axis]
        climb.changed[axis][:] = 0
        memberships[:, :] = 0
        for l in range(k):
            for y in range(own.shape[1]):
                word = own[l, y]
                own[l, y] = 0
                while word:
                    line = 64 * y + lowest(word)
                    word &= word - np.uint64(1)
                    while line >= 0:
                        memberships[line, l >> 6] |= np.uint64(1) << np.uint64(l & 63)
                        line = twins.following[line]
            for i in range(memberships.shape[0]):
                if has(memberships[i], l):
                    own[l, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
        work[0] += k * memberships.shape[0]
    cost = np.int64(0)
    for axis in range(2):
        cells, covered, once = now.component_bits[1 - axis], now.covered[axis], now.once[axis]
        memberships, missing, twins = now.memberships[axis], table.missing[axis], table.twins[axis]
        for i in range(covered.shape[0]):
            if has(twins.first, i):
                work[0] += 10 + _mask_line(
                    memberships[i],
                    cells,
                    missing,
                    i,
                    covered[i],
                    once[i],
                    np.int64(0),
                    cells.shape[1],
                )
    memberships, others, cells = now.memberships[0], now.memberships[1], now.component_bits[1]
    for i in range(memberships.shape[0]):
        if not has(table.twins[0].first, i):
            continue
        ones, total = 0, 0
        for e in range(lines.indptr[i], lines.indptr[i + 1]):
            ones += common(memberships[i], others[lines.indices[e]])
        count = list_common(memberships[i], memberships[i], climb.members)
        for w in range(cells.shape[1] if count else 0):
            word = np.uint64(0)
            for c in range(count):
                word |= cells[climb.members[c], w]
            total += popcount(word)
        if lines.missing_indptr.shape[0]:
            for e in range(lines.missing_indptr[i], lines.missing_indptr[i + 1]):
                total -= common(memberships[i], others[lines.missing_indices[e]])
        length = lines.indptr[i + 1] - lines.indptr[i]
        work[0] += 5 + 2 * length + count * cells.shape[1] // 2
        wrong = prices.one * (length - ones) + prices.zero * (total - ones)
        cost += wrong * table.twins[0].copies[i]
    return cost


@kernel(allocates=False)
def match_components(left, right, shared, match):
    """Match the components of two factorizations, those that share most of their cells first.

    ``left`` and ``right`` are pairs of component bits, ``shared`` a buffer of shape (k + 2, k).
    Let ``match[l]`` be the component of ``right`` for that of ``left``.
    """
    k = match.shape[0]
    sizes = shared[k:]
    for side in range(2):
        parent = left if side == 0 else right
        for l in range(k):
            rows, columns = 0, 0
            for y in range(parent[0].shape[1]):
                rows += popcount(parent[0][l, y])
            for w in range(parent[1].shape[1]):
                columns += popcount(parent[1][l, w])
            sizes[side, l] = float(rows) * columns
    taken = sizes[0]
    for l in range(k):
        for q in range(k):
            rows, columns = 0, 0
            for w in range(left[1].shape[1]):
                columns += popcount(left[1][l, w] & right[1][q, w])
            if columns:
                for y in range(left[0].shape[1]):
                    rows += popcount(left[0][l, y] & right[0][q, y])
            both = float(rows) * columns
            shared[l, q] = both / max(1.0, sizes[0, l] + sizes[1, q] - both)
    for l in range(k):
        match[l] = -1
        taken[l] = 0.0
    # First those that are each other's best match, then the rest in order.
    for mutual in (True, False):
        for l in range(k):
            if match[l] >= 0:
                continue
            best = -1
            for q in range(k):
                if taken[q] == 0.0 and (best < 0 or shared[l, q] > shared[l, best]):
                    best = q
            fits = True
            if mutual:
                for other in range(k):
                    fits = fits and (match[other] >= 0 or shared[other, best] <= shared[l, best])
            if fits:
                match[l] = best
                taken[best] = 1.0
