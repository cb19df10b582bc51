"""Moves of the search for better components, each done in one go on a copy of packed factors.

The factors have one component more than asked for, the *spare*, which is empty. A move fills it,
from a line that is badly covered or with half of another component, lets all adapt, and drops
whichever component is then the least useful: the new spare.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import call_at, helper, kernel
from elbmf.kernels.sets import Bits, common, has
from elbmf.search.kernels.coordinate_descent import descend

__all__ = ["Addresses", "Move", "Trial", "attempt", "clear", "count_uncovered"]

_TURNS_ALONE = 3
"""Turns for new components to adapt while all others stay as they are."""

_MEANS = 8
"""Rounds of 2-means, at most."""

_IMPOSSIBLE = -(1 << 60)
"""Gain of a move that cannot be made."""


class Addresses(NamedTuple):
    """Where the kernels are that a move calls, see `address_of`."""

    improve_lines: int
    drop_costs: int


class Move(NamedTuple):
    """A change to be tried: seed the spare with a line, split a component, or just drop one.

    Parameters
    ----------
    axis : int
        The side whose line is the seed, or whose lines are parted.
    line : int
        The seed; below zero to split ``component`` instead.
    component : int
        What to split; below zero, with no seed either, the spare stays empty.
    dropped : int
        Component to do without from the start; below zero to decide in the end which.
    """

    axis: int
    line: int = -1
    component: int = -1
    dropped: int = -1


class Trial(NamedTuple):
    """Packed factors to make a move on, and buffers for it.

    Parameters
    ----------
    bits : Bits
        The factors.
    pending, stale : as in `Bits`
        Nothing to be looked at.
    free, every : ndarray of uint64
        Packed components: none, and all.
    costs : ndarray of int64, of shape (k,)
        For the cost of doing without each.
    ones : ndarray of int64
        For the positions of all ones of the data.
    counts : ndarray of int64, of shape (5, longest + 1)
        For numbers of each line of either side.
    difference : ndarray of float64, of shape (longest,)
        Likewise.
    """

    bits: Bits
    pending: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    stale: NDArray[np.uint64]
    free: NDArray[np.uint64]
    every: NDArray[np.uint64]
    costs: NDArray[np.int64]
    ones: NDArray[np.int64]
    counts: NDArray[np.int64]
    difference: NDArray[np.float64]

    @classmethod
    def of(cls, bits: Bits, n_ones: int = 0) -> "Trial":
        """Make buffers for packed factors of data with so many ones.

        Where there is nothing to split, no ones need be counted.
        """
        memberships, component_bits, pending, stale = bits
        none = np.zeros_like(stale[0])
        longest = max(memberships[0].shape[0], memberships[1].shape[0])
        return cls(
            bits,
            pending=(np.zeros_like(pending[0]), np.zeros_like(pending[1])),
            stale=np.zeros_like(stale),
            free=none,
            every=~none,
            costs=np.empty(component_bits[0].shape[0], dtype=np.int64),
            ones=np.empty(n_ones, dtype=np.int64),
            counts=np.empty((5, longest + 1), dtype=np.int64),
            difference=np.empty(longest, dtype=np.float64),
        )


@kernel(allocates=False)
def clear(bits, l):
    """Empty a component; the lines it had are to be looked at again."""
    off = ~(np.uint64(1) << np.uint64(l & 63))
    for axis in range(2):
        memberships, pending = bits.memberships[axis], bits.pending[axis]
        for i in range(memberships.shape[0]):
            if has(memberships[i], l):
                memberships[i, l >> 6] &= off
                pending[i] = True
        bits.component_bits[axis][l, :] = 0


@helper(allocates=False)
def _add(packed, l):
    """Add an element to a packed set."""
    packed[l >> 6] |= np.uint64(1) << np.uint64(l & 63)


@helper(allocates=False)
def _put(bits, axis, l, counts, size):
    """Give one side of an empty component the lines that more than half count; return how many."""
    memberships, component_bits = bits.memberships[axis], bits.component_bits[axis]
    count = 0
    for j in range(memberships.shape[0]):
        if 2 * counts[j] > size:
            _add(memberships[j], l)
            _add(component_bits[l], j)
            count += 1
    return count


@kernel(allocates=False)
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


@kernel(inline="always")
def _seed(lines, trial, axis, line, spare):
    """Let the spare have the uncovered ones of a line; return whether there are any."""
    pattern, bits, counts = lines[axis], trial.bits, trial.counts[0]
    membership, others = bits.memberships[axis][line], bits.memberships[1 - axis]
    counts[:] = 0
    for e in range(pattern.indptr[line], pattern.indptr[line + 1]):
        j = pattern.indices[e]
        counts[j] = not common(membership, others[j])
    return _put(bits, 1 - axis, spare, counts, np.int64(1)) > 0


@kernel(inline="always")
def _list_uncovered(pattern, memberships, others, members, starts, ones):
    """List the uncovered ones of some lines; return how many they have, covered or not.

    ``starts`` becomes where those of each line start in ``ones``.
    """
    starts[0] = 0
    total = 0
    at = 0
    for r in range(members.shape[0]):
        i = members[r]
        total += pattern.indptr[i + 1] - pattern.indptr[i]
        membership = memberships[i]
        for e in range(pattern.indptr[i], pattern.indptr[i + 1]):
            j = pattern.indices[e]
            if not common(membership, others[j]):
                ones[at] = j
                at += 1
        starts[r + 1] = at
    return total


@kernel(inline="always")
def _split(lines, trial, axis, component, spare, work):
    """Part a component's lines by 2-means on the ones that no other component covers.

    The start is the line with most such ones and the one farthest from it. The component and the
    spare get the cells that are ones in more than half of either part, and no lines. Returns
    whether both get any.
    """
    bits, ones, tallies = trial.bits, trial.ones, trial.counts[:2]
    members, starts, labels = trial.counts[2], trial.counts[3], trial.counts[4]
    memberships, others = bits.memberships[axis], bits.memberships[1 - axis]
    length = others.shape[0]
    size = 0
    for i in range(memberships.shape[0]):
        if has(memberships[i], component):
            members[size] = i
            size += 1
    clear(bits, component)
    work[0] += 2 * _list_uncovered(lines[axis], memberships, others, members[:size], starts, ones)
    first = 0
    for r in range(size):
        labels[r] = 0
        if starts[r + 1] - starts[r] > starts[first + 1] - starts[first]:
            first = r
    # The second mean less the first.
    difference = trial.difference
    for j in range(length):
        difference[j] = 0.0
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
    # Not the literal, or what gets it would be compiled for that as well.
    moved = np.int64(0)
    for turn in range(_MEANS):
        changed = turn == 0
        moved = np.int64(0)
        for j in range(length):
            tallies[0, j] = 0
            tallies[1, j] = 0
        for r in range(size):
            score = 0.0
            for e in range(starts[r], starts[r + 1]):
                score += difference[ones[e]]
            label = np.int64(score > threshold)
            changed = changed or label != labels[r]
            labels[r] = label
            moved += label
            for e in range(starts[r], starts[r + 1]):
                tallies[label, ones[e]] += 1
        work[0] += 2 * starts[size] + length
        if moved == 0 or moved == size:
            return False
        if not changed:
            break
        threshold = 0.0
        for j in range(length):
            mean, other_mean = tallies[0, j] / (size - moved), tallies[1, j] / moved
            difference[j] = other_mean - mean
            threshold += 0.5 * (other_mean * other_mean - mean * mean)
    some = _put(bits, 1 - axis, component, tallies[0], size - moved)
    others_too = _put(bits, 1 - axis, spare, tallies[1], moved)
    return some > 0 and others_too > 0


@kernel(allocates=False, error_model="numpy")
def attempt(addresses, lines, trial, spare, move, prices, effort, turns, quick, workspaces):
    """Make a move on packed factors, or with a move that is none, just let them descend.

    Parameters
    ----------
    addresses : Addresses
        Of other kernels.
    lines : pair of Lines
        The data.
    trial : Trial
        The factors.
    spare : int
        The component that is empty.
    move : Move
        What to change.
    prices : Prices
        Of the two kinds of error.
    effort : Effort
        How thoroughly lines are improved.
    turns : int
        Turns for all components to adapt, at most.
    quick : bool
        End when the new components have adapted to all others, and only count what it would
        cost to drop the least useful of these.
    workspaces : pair of Workspace
        For the two sides; what it took is added to their work.

    Returns
    -------
    spare : int
    gained : int
        By how much the cost went down.
    """
    bits, free, costs = trial.bits, trial.free, trial.costs
    alone = Bits(bits.memberships, bits.component_bits, trial.pending, trial.stale)
    axis, line, component, dropped = move
    gained = np.int64(0)
    if dropped >= 0:
        call_at(addresses.drop_costs, (lines, bits, dropped, prices, costs, workspaces))
        gained -= costs[dropped]
        clear(bits, dropped)
    fills = line >= 0 or component >= 0
    if fills:
        _add(free, spare)
        if line >= 0:
            filled = _seed(lines, trial, axis, line, spare)
        else:
            _add(free, component)
            call_at(addresses.drop_costs, (lines, bits, component, prices, costs, workspaces))
            gained -= costs[component]
            filled = _split(lines, trial, axis, component, spare, workspaces[0].work)
        if not filled:
            return spare, np.int64(_IMPOSSIBLE)
        for w in range(free.shape[0]):
            trial.stale[0, w] = free[w]
            trial.stale[1, w] = free[w]
    # First the new components adapt to all others, then all to each other, and once more when the
    # least useful was dropped. In one loop, so that the descent is compiled once.
    states, masks = (alone, bits), (free, trial.every)
    begin, end = 1, 2
    if fills:
        begin, end = 0, 1 if quick else 2 if dropped >= 0 else 3
    for phase in range(begin, end):
        everyone = min(phase, 1)
        first, most = np.int64(0), turns
        if phase == 0:
            first, most = axis, np.int64(_TURNS_ALONE)
        elif phase == 1 and fills:
            for w in range(free.shape[0]):
                bits.stale[0, w] |= free[w]
                bits.stale[1, w] |= free[w]
        elif phase == 2:
            everything = (lines, bits, np.int64(-1), prices, costs, workspaces)
            dropped = call_at(addresses.drop_costs, everything)
            gained -= costs[dropped]
            clear(bits, dropped)
        gained += descend(
            addresses.improve_lines,
            lines,
            states[everyone],
            masks[everyone],
            prices,
            effort,
            first,
            most,
            workspaces,
        )
    if quick and fills and dropped < 0:
        call_at(addresses.drop_costs, (lines, bits, np.int64(-1), prices, costs, workspaces))
        least = 1 if spare == 0 and costs.shape[0] > 1 else 0
        for l in range(costs.shape[0]):
            if l != spare and costs[l] < costs[least]:
                least = l
        gained -= costs[least]
    return spare if quick or not fills else dropped, gained
