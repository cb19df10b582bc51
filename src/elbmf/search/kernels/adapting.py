"""A component that adapts: single lines of it are switched as long as that helps.

Where coordinate descent goes from line to line and weighs subsets of components, this looks at one
component, and only ever switches single lines on or off, or in place of another component, so that
little is to be looked at after a small change: of each component, the lines that are *pending*. On
data that is not too sparse, *masks* tell for each line which cells are covered, and which of them
by one component alone; else that is found out from the memberships, for the ones of a line.

Equal lines are worked on once: the *first* of them is looked at, and the others follow it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.sets import common, copy_into, has, list_common, lowest
from elbmf.search.kernels.lines import Lines
from elbmf.search.kernels.rows import Prices
from elbmf.search.kernels.twins import Twins

__all__ = [
    "ALL",
    "COUNT",
    "EMPTY",
    "IMPROVE",
    "Climb",
    "State",
    "Table",
    "mask_line",
    "save",
    "work_on",
]


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
    swaps : bool
        Whether a line may take a component in place of another, and not only switch it.
    """

    lines: tuple[Lines, Lines]
    twins: tuple[Twins, Twins]
    words: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    missing: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    prices: Prices
    swaps: bool


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
    swapped : pair of ndarray of uint64, of shape (k, words)
        Lines that were switched off as others took their place, for each component.
    counts : pair of ndarray of int64
        A number for each line, all zero.
    members : ndarray of int64, of shape (k,)
        A list of components.
    random : ndarray of uint64, of shape (2,)
        Key of the random numbers, and how many were drawn.
    work : ndarray of int64, of shape (3,)
        What was done, about in nanoseconds, after how much to end as soon as that can be, and
        before how much exchanges go on in any case.
    alarm : ndarray of uint8, of shape (1,)
        Whether to end as soon as that can be; see `Alarm`.
    """

    now: State
    saved: State
    pending: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    changed: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    costs: NDArray[np.int64]
    flipped: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    swapped: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    counts: tuple[NDArray[np.int64], NDArray[np.int64]]
    members: NDArray[np.int64]
    random: NDArray[np.uint64]
    work: NDArray[np.int64]
    alarm: NDArray[np.uint8]


ALL = ~np.uint64(0)

# What to do with the pending lines of a component.
IMPROVE, EMPTY, COUNT = 0, 1, 2


@helper(allocates=False, forceinline=True)
def save(changed, i, memberships, covered, once, saved_memberships, saved_covered, saved_once):
    """Keep a line as it is, unless it has been kept already."""
    mark = np.uint64(1) << np.uint64(i & 63)
    if changed[i >> 6] & mark == 0:
        changed[i >> 6] |= mark
        copy_into(saved_memberships[i], memberships[i])
        if covered.shape[0]:
            copy_into(saved_covered[i], covered[i])
            copy_into(saved_once[i], once[i])


@helper(allocates=False, forceinline=True)
def mask_line(membership, cells, missing, i, covered, once, low, high):
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
def _cover(packed, covered, once, w):
    """Let cells of a word be covered by one component more."""
    once[w] = (once[w] & ~packed) | (packed & ~covered[w])
    covered[w] |= packed


@helper(allocates=False, forceinline=True)
def _uncover(packed, membership, cells, missing, i, covered, once, w):
    """Let cells of a word be covered by one component less, which is no member any more.

    Where others cover them too, all of these have to be looked at. Returns how many words were.
    """
    alone = packed & once[w]
    covered[w] &= ~alone
    once[w] &= ~alone
    if packed & ~alone:
        return mask_line(membership, cells, missing, i, covered, once, w, w + 1)
    return 1


@helper(allocates=False, forceinline=True)
def _fresh_by_list(lines, i, l, membership, others, all_cells, size, members):
    """Count the ones, and all cells, of component ``l`` in line ``i`` that no other covers.

    And the ones that just one other covers.
    """
    cells = all_cells[l]
    home, mark = l >> 6, np.uint64(1) << np.uint64(l & 63)
    was_on = membership[home] & mark
    membership[home] &= ~mark
    ones, shared = 0, 0
    for e in range(lines.indptr[i], lines.indptr[i + 1]):
        j = lines.indices[e]
        if has(cells, j):
            covering = 0
            for y in range(membership.shape[0]):
                covering += popcount(membership[y] & others[j, y])
            ones += covering == 0
            shared += covering == 1
    total = size
    if ones or shared or was_on:
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
    return ones, total, shared


@helper(allocates=False)
def _best_swap(table, climb, axis, l, i, least):
    """Find the component that a line is to have ``l`` in place of.

    Returns by how much the cost goes down when it is switched off beside ``l``, if that is more
    than ``least``, and which one it is, below zero if there is none.
    """
    now, prices, lines, work = climb.now, table.prices, table.lines[axis], climb.work
    membership, others = now.memberships[axis][i], now.memberships[1 - axis]
    all_cells, rows = now.component_bits[1 - axis], table.words[axis]
    cells, once = all_cells[l], now.once[axis]
    home, mark = l >> 6, np.uint64(1) << np.uint64(l & 63)
    best, most = np.int64(-1), least
    for y in range(membership.shape[0]):
        word = membership[y]
        while word:
            q = 64 * y + lowest(word)
            word &= word - np.uint64(1)
            ones, total = 0, 0
            if once.shape[0]:
                for w in range(cells.shape[0]):
                    alone = all_cells[q, w] & once[i, w] & ~cells[w]
                    ones += popcount(alone & rows[i, w])
                    total += popcount(alone)
                work[0] += 12 + cells.shape[0]
            else:
                membership[home] |= mark
                ones, total, _ = _fresh_by_list(
                    lines, i, q, membership, others, all_cells, np.int64(0), climb.members
                )
                membership[home] &= ~mark
                work[0] += 2 * (lines.indptr[i + 1] - lines.indptr[i])
            gain = prices.zero * total - (prices.one + prices.zero) * ones
            if gain > most:
                best, most = q, gain
    return most, best


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
def _spread(table, climb, axis, l, flipped, one_by_one):
    """Let the other side, and other components, know of the lines that were switched.

    Where these are all that has changed, the masks follow ``one_by_one``; else they are made anew.
    """
    now, saved, other = climb.now, climb.saved, 1 - axis
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
                save(changed, j, memberships, covered, once, before[0], before[1], before[2])
                steps = 10
                if not one_by_one:
                    steps += mask_line(
                        memberships[j], all_own, missing, j, covered[j], once[j], low, high
                    )
                for y in range(low, high if one_by_one else low):
                    on, off = flipped[y] & all_own[l, y], flipped[y] & ~all_own[l, y]
                    if on:
                        _cover(on, covered[j], once[j], y)
                        steps += 1
                    if off:
                        steps += _uncover(
                            off, memberships[j], all_own, missing, j, covered[j], once[j], y
                        )
                work += steps
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
    pending_across[l, :] = ALL
    return work


@kernel(allocates=False)
def work_on(table, climb, axis, l, task):
    """Improve a component, or empty it, or count what it would cost to do without it.

    To improve it, its two sides take turns, first that of ``axis``, until nothing changes. Only
    pending lines are looked at. Returns by how much the cost went down, or would go up.
    """
    gained = np.int64(0)
    swapping = table.swaps and task == IMPROVE
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
            if task == IMPROVE:
                for y in range(pending.shape[0]):
                    waiting += popcount(pending[y] & twins.first[y])
                if waiting > 64:
                    across, counts = table.lines[other], climb.counts[axis]
                    work[0] += _dismiss_hopeless(
                        lines, across, memberships, own, cells, size, prices, pending, counts
                    )
        count, swaps, swapped = 0, 0, climb.swapped[axis]
        flipped[:] = 0
        for y in range(pending.shape[0]):
            word = twins.first[y] & (pending[y] if task == IMPROVE else own[y])
            if task != COUNT:
                pending[y] = 0
            while word:
                i = 64 * y + lowest(word)
                word &= word - np.uint64(1)
                on = memberships[i, home] & mark != 0
                ones, total, shared = 0, 0, 0
                if not masked:
                    length = lines.indptr[i + 1] - lines.indptr[i]
                    work[0] += 10 + 2 * length
                    ones, total, shared = _fresh_by_list(
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
                        shared += popcount(cells[w] & once[i, w] & rows[i, w])
                work[0] += 4 + words
                gain = (prices.one + prices.zero) * ones - prices.zero * total
                replaced = np.int64(-1)
                if swapping and gain <= 0 and not on and gain + prices.one * shared > 0:
                    more, replaced = _best_swap(table, climb, axis, l, i, -gain)
                    gain += more if replaced >= 0 else 0
                if task == COUNT:
                    gained += gain * twins.copies[i]
                    continue
                if on == (gain > 0 and task == IMPROVE):
                    continue
                gained += (-gain if on else gain) * twins.copies[i]
                count += 1
                line = i
                while line >= 0:
                    save(changed, line, memberships, covered, once, *before)
                    bit = np.uint64(1) << np.uint64(line & 63)
                    memberships[line, home] ^= mark
                    own[line >> 6] ^= bit
                    flipped[line >> 6] |= bit
                    if replaced >= 0:
                        memberships[line, replaced >> 6] ^= np.uint64(1) << np.uint64(replaced & 63)
                        now.component_bits[axis][replaced, line >> 6] ^= bit
                        swapped[replaced, line >> 6] |= bit
                    line = twins.following[line]
                swaps += replaced >= 0
                if masked and not on:
                    for w in range(words):
                        _cover(cells[w], covered[i], once[i], w)
                gone = l if on else replaced
                if masked and gone >= 0:
                    for w in range(words):
                        packed = all_cells[gone, w]
                        if packed:
                            work[0] += _uncover(
                                packed,
                                memberships[i],
                                all_cells,
                                missing,
                                i,
                                covered[i],
                                once[i],
                                w,
                            )
        if task == COUNT:
            break
        quiet += 1
        if count:
            work[0] += _spread(table, climb, axis, l, flipped, swaps == 0)
            for q in range(all_cells.shape[0] if swaps else 0):
                if common(swapped[q], swapped[q]):
                    work[0] += _spread(table, climb, axis, q, swapped[q], False)
                    # Which may have been a gain without the other.
                    for y in range(pending.shape[0]):
                        pending[y] |= swapped[q, y]
                        swapped[q, y] = 0
            quiet = 1
        axis = other
    return gained
