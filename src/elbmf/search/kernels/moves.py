"""Moves of the search for better components, each done in one go on a copy of packed factors.

The factors have one component more than asked for, the *spare*, which is empty. A move fills it,
from a line that is badly covered or with half of another component, lets all adapt, and drops
whichever component is then the least useful: the new spare.
"""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.kernels.sets import Bits, common
from elbmf.search.kernels.coordinate_descent import descend, drop_costs

__all__ = ["attempt", "clear", "cost_of_dropping", "costs_of_dropping", "count_uncovered", "shrink"]

_TURNS_ALONE = 3
"""Turns for new components to adapt while all others stay as they are."""

_TURNS_OF_A_TRIAL = 2
"""Turns, one of each side, after which it shows what doing without a component costs."""

_TURNS = 200
"""Turns for all components to adapt, at most."""

_MEANS = 8
"""Rounds of 2-means, at most."""

_IMPOSSIBLE = -(1 << 60)
"""Gain of a move that cannot be made."""


@kernel()
def _copied(bits):
    """Copy packed factors."""
    return Bits(
        (bits.memberships[0].copy(), bits.memberships[1].copy()),
        (bits.component_bits[0].copy(), bits.component_bits[1].copy()),
        (bits.pending[0].copy(), bits.pending[1].copy()),
        bits.stale.copy(),
    )


@kernel()
def _members(memberships, l):
    """List the lines of a component."""
    mark = np.uint64(1) << np.uint64(l & 63)
    lines = np.empty(memberships.shape[0], dtype=np.int64)
    count = 0
    for i in range(memberships.shape[0]):
        if memberships[i, l >> 6] & mark:
            lines[count] = i
            count += 1
    return lines[:count]


@kernel()
def clear(bits, l):
    """Empty a component; the lines it had are to be looked at again."""
    off = ~(np.uint64(1) << np.uint64(l & 63))
    for side in range(2):
        for i in _members(bits.memberships[side], l):
            bits.memberships[side][i, l >> 6] &= off
            bits.pending[side][i] = True
        bits.component_bits[side][l, :] = 0


@kernel()
def _side_with_more_lines(bits):
    return 0 if bits.memberships[0].shape[0] >= bits.memberships[1].shape[0] else 1


@kernel()
def costs_of_dropping(lines, bits, one, zero, work):
    """By how much the cost would go up without each component."""
    side = _side_with_more_lines(bits)
    component_bits, memberships = bits.component_bits[1 - side], bits.memberships[side]
    costs = np.zeros(component_bits.shape[0], dtype=np.int64)
    drop_costs(
        lines[side], 0, memberships.shape[0], component_bits, memberships, one, zero, costs, work
    )
    return costs


@kernel()
def cost_of_dropping(lines, bits, l, one, zero, work):
    """By how much the cost would go up without one component."""
    costs = np.zeros(bits.component_bits[0].shape[0], dtype=np.int64)
    side = _side_with_more_lines(bits)
    component_bits, memberships = bits.component_bits[1 - side], bits.memberships[side]
    for i in _members(memberships, l):
        drop_costs(lines[side], i, i + 1, component_bits, memberships, one, zero, costs, work)
    return costs[l]


@kernel()
def _put(bits, side, l, cells):
    """Give one side of an empty component the lines that are set; return how many."""
    mark = np.uint64(1) << np.uint64(l & 63)
    count = 0
    for j in range(cells.shape[0]):
        if cells[j]:
            bits.memberships[side][j, l >> 6] |= mark
            bits.component_bits[side][l, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
            count += 1
    return count


@kernel()
def count_uncovered(lines, low, high, memberships, others, counts, cells=None):
    """Count the ones of lines ``low`` to ``high`` that no component covers.

    Of the ``cells`` only, when these are given: whether each of the other side counts.
    """
    for i in range(low, high):
        count = 0
        for e in range(lines.indptr[i], lines.indptr[i + 1]):
            j = lines.indices[e]
            if cells is None or cells[j]:
                count += not common(memberships[i], others[j])
        counts[i] = count


@kernel()
def _seed(lines, bits, axis, line, spare):
    """Let the spare have the uncovered ones of a line; return whether there are any."""
    pattern, others = lines[axis], bits.memberships[1 - axis]
    cells = np.zeros(others.shape[0], dtype=np.bool_)
    for e in range(pattern.indptr[line], pattern.indptr[line + 1]):
        j = pattern.indices[e]
        cells[j] = not common(bits.memberships[axis][line], others[j])
    return _put(bits, 1 - axis, spare, cells) > 0


@kernel()
def _list_uncovered(pattern, memberships, others, members):
    """List the uncovered ones of some lines: where each line starts, and the positions."""
    starts = np.zeros(members.shape[0] + 1, dtype=np.int64)
    total = 0
    for i in members:
        total += pattern.indptr[i + 1] - pattern.indptr[i]
    ones = np.empty(total, dtype=np.int64)
    at = 0
    for r in range(members.shape[0]):
        i = members[r]
        for e in range(pattern.indptr[i], pattern.indptr[i + 1]):
            j = pattern.indices[e]
            if not common(memberships[i], others[j]):
                ones[at] = j
                at += 1
        starts[r + 1] = at
    return starts, ones


@kernel()
def _split(lines, bits, axis, members, component, spare, work):
    """Part a component's lines by 2-means on the ones that no other component covers.

    The component itself must be empty by now; ``members`` are the lines it had. The start is the
    line with most such ones and the one farthest from it. The component and the spare get the
    cells that are ones in more than half of either part. Returns whether both get any.
    """
    starts, ones = _list_uncovered(
        lines[axis], bits.memberships[axis], bits.memberships[1 - axis], members
    )
    work[0] += 2 * ones.shape[0]
    size = members.shape[0]
    first = 0
    for r in range(size):
        if starts[r + 1] - starts[r] > starts[first + 1] - starts[first]:
            first = r
    # The second mean less the first.
    difference = np.zeros(bits.memberships[1 - axis].shape[0])
    most = starts[first + 1] - starts[first] if size else 0
    for e in range(starts[first], starts[first] + most):
        difference[ones[e]] = -1.0
    second = -1
    farthest = 0.0
    for r in range(size):
        distance = float(most)
        for e in range(starts[r], starts[r + 1]):
            distance += 1 + 2 * difference[ones[e]]
        if distance > farthest:
            farthest = distance
            second = r
    if second < 0:
        return False
    for e in range(starts[second], starts[second + 1]):
        difference[ones[e]] += 1.0
    # A line is nearer to the second mean when its ones add up to more than this.
    threshold = 0.5 * (starts[second + 1] - starts[second] - most)
    labels = np.zeros(size, dtype=np.int64)
    counts = np.zeros((2, difference.shape[0]), dtype=np.int64)
    sizes = np.zeros(2, dtype=np.int64)
    for turn in range(_MEANS):
        changed = turn == 0
        counts[:, :] = 0
        sizes[:] = 0
        for r in range(size):
            score = 0.0
            for e in range(starts[r], starts[r + 1]):
                score += difference[ones[e]]
            label = np.int64(score > threshold)
            changed = changed or label != labels[r]
            labels[r] = label
            sizes[label] += 1
            for e in range(starts[r], starts[r + 1]):
                counts[label, ones[e]] += 1
        work[0] += 2 * starts[size] + difference.shape[0]
        if sizes[0] == 0 or sizes[1] == 0:
            return False
        if not changed:
            break
        threshold = 0.0
        for j in range(difference.shape[0]):
            mean, other_mean = counts[0, j] / sizes[0], counts[1, j] / sizes[1]
            difference[j] = other_mean - mean
            threshold += 0.5 * (other_mean * other_mean - mean * mean)
    kept = _put(bits, 1 - axis, component, 2 * counts[0] > sizes[0])
    moved = _put(bits, 1 - axis, spare, 2 * counts[1] > sizes[1])
    return kept > 0 and moved > 0


@kernel()
def attempt(lines, bits, spare, dropped, axis, line, component, one, zero, nodes, quick):
    """Make a move on a copy: seed the spare with a line, split a component, or just drop one.

    Parameters
    ----------
    dropped : int
        Component to do without from the start; below zero to decide in the end which.
    axis : int
        The side whose line is the seed, or whose lines are parted.
    line : int
        The seed; below zero to split ``component`` instead.
    component : int
        What to split; below zero, with no seed either, the spare stays empty.
    quick : bool
        End when the new components have adapted to all others, and only count what it would
        cost to drop the least useful of these.

    Returns
    -------
    bits : Bits
    spare : int
    gained : int
        By how much the cost went down.
    work : int
        What it took, about in nanoseconds.
    """
    bits = _copied(bits)
    work = np.zeros(1, dtype=np.int64)
    work[0] = 8 * (bits.memberships[0].shape[0] + bits.memberships[1].shape[0])
    free = np.zeros(bits.stale.shape[1], dtype=np.uint64)
    free[spare >> 6] |= np.uint64(1) << np.uint64(spare & 63)
    gained = np.int64(0)
    if dropped >= 0:
        gained -= cost_of_dropping(lines, bits, dropped, one, zero, work)
        clear(bits, dropped)
    every = np.full_like(free, ~np.uint64(0))
    if line < 0 and component < 0:
        turns = _TURNS_OF_A_TRIAL if quick else _TURNS
        gained += descend(lines, bits, every, one, zero, nodes, turns, 0, work)
        return bits, spare, gained, work[0]
    if line >= 0:
        filled = _seed(lines, bits, axis, line, spare)
    else:
        free[component >> 6] |= np.uint64(1) << np.uint64(component & 63)
        gained -= cost_of_dropping(lines, bits, component, one, zero, work)
        members = _members(bits.memberships[axis], component)
        clear(bits, component)
        filled = _split(lines, bits, axis, members, component, spare, work)
    if not filled:
        return bits, spare, np.int64(_IMPOSSIBLE), work[0]
    alone = Bits(
        bits.memberships,
        bits.component_bits,
        (np.zeros_like(bits.pending[0]), np.zeros_like(bits.pending[1])),
        np.stack((free, free)),
    )
    gained += descend(lines, alone, free, one, zero, nodes, _TURNS_ALONE, axis, work)
    if quick:
        if dropped < 0:
            costs = costs_of_dropping(lines, bits, one, zero, work)
            costs[spare] = costs.max()
            gained -= costs.min()
        return bits, spare, gained, work[0]
    for w in range(free.shape[0]):
        bits.stale[0, w] |= free[w]
        bits.stale[1, w] |= free[w]
    gained += descend(lines, bits, every, one, zero, nodes, _TURNS, 0, work)
    if dropped < 0:
        costs = costs_of_dropping(lines, bits, one, zero, work)
        dropped = np.argmin(costs)
        gained -= costs[dropped]
        clear(bits, dropped)
        gained += descend(lines, bits, every, one, zero, nodes, _TURNS, 0, work)
    return bits, dropped, gained, work[0]


@kernel()
def shrink(lines, bits, count, one, zero, work):
    """Empty components, each time the least useful, until so many are left that are not.

    Returns by how much the cost went down: mostly a negative number.
    """
    gained = 0
    k = bits.component_bits[0].shape[0]
    left = 0
    for l in range(k):
        left += bits.component_bits[0][l].any() and bits.component_bits[1][l].any()
    while left > count:
        costs = costs_of_dropping(lines, bits, one, zero, work)
        worst = -1
        for l in range(k):
            used = bits.component_bits[0][l].any() and bits.component_bits[1][l].any()
            if used and (worst < 0 or costs[l] < costs[worst]):
                worst = l
        gained -= costs[worst]
        clear(bits, worst)
        left -= 1
    return gained
