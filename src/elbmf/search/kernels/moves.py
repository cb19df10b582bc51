"""Moves of the search for better components, each done in one go on a copy of packed factors.

The factors have one component more than asked for, the *spare*, which is empty. A move fills it,
from a line that is badly covered or with half of another component, lets all adapt, and drops
whichever component is then the least useful: the new spare.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.sets import Bits, common, has
from elbmf.search.kernels.coordinate_descent import descend, drop_costs

__all__ = ["Move", "Trial", "attempt", "clear", "count_uncovered", "shrink"]

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
    """A copy of packed factors to make a move on, and buffers for it.

    Parameters
    ----------
    bits : Bits
        The copy.
    alone : Bits
        The same factors, with nothing to be looked at.
    free, every : ndarray of uint64
        Packed components: none, and all.
    costs : ndarray of int64, of shape (k,)
        For the cost of doing without each.
    """

    bits: Bits
    alone: Bits
    free: NDArray[np.uint64]
    every: NDArray[np.uint64]
    costs: NDArray[np.int64]

    @classmethod
    def of(cls, bits: Bits) -> "Trial":
        """Copy packed factors."""
        rows, columns = bits.memberships
        row_bits, column_bits = bits.component_bits
        copy = Bits(
            (rows.copy(), columns.copy()),
            (row_bits.copy(), column_bits.copy()),
            (bits.pending[0].copy(), bits.pending[1].copy()),
            bits.stale.copy(),
        )
        quiet = (np.zeros_like(bits.pending[0]), np.zeros_like(bits.pending[1]))
        none = np.zeros_like(bits.stale[0])
        return cls(
            copy,
            copy._replace(pending=quiet, stale=np.zeros_like(bits.stale)),
            none,
            ~none,
            np.empty(row_bits.shape[0], dtype=np.int64),
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
    for j in range(counts.shape[0]):
        if 2 * counts[j] > size:
            _add(memberships[j], l)
            _add(component_bits[l], j)
            count += 1
    return count


@helper(allocates=False)
def _is_used(bits, l):
    """Tell whether a component covers anything."""
    rows, columns = bits.component_bits[0][l], bits.component_bits[1][l]
    return common(rows, rows) and common(columns, columns)


@helper(allocates=False)
def _least(costs, but):
    """Return the first of the least costs, not looking at one of them unless it is alone."""
    least = -1
    for l in range(costs.shape[0]):
        if l != but and (least < 0 or costs[l] < costs[least]):
            least = l
    return but if least < 0 else least


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


@helper()
def _seed(lines, bits, axis, line, spare):
    """Let the spare have the uncovered ones of a line; return whether there are any."""
    pattern, others = lines[axis], bits.memberships[1 - axis]
    counts = np.zeros(others.shape[0], dtype=np.int64)
    for e in range(pattern.indptr[line], pattern.indptr[line + 1]):
        j = pattern.indices[e]
        counts[j] = not common(bits.memberships[axis][line], others[j])
    return _put(bits, 1 - axis, spare, counts, np.int64(1)) > 0


@helper()
def _members(memberships, l):
    """List the lines of a component."""
    lines = np.empty(memberships.shape[0], dtype=np.int64)
    count = 0
    for i in range(memberships.shape[0]):
        if has(memberships[i], l):
            lines[count] = i
            count += 1
    return lines[:count]


@helper()
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


@helper()
def _split(lines, bits, axis, component, spare, work):
    """Part a component's lines by 2-means on the ones that no other component covers.

    The start is the line with most such ones and the one farthest from it. The component and the
    spare get the cells that are ones in more than half of either part, and no lines. Returns
    whether both get any.
    """
    members = _members(bits.memberships[axis], component)
    clear(bits, component)
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
    difference = np.zeros(bits.memberships[1 - axis].shape[0], dtype=np.float64)
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
    length = difference.shape[0]
    counts = (np.zeros(length, dtype=np.int64), np.zeros(length, dtype=np.int64))
    sizes = np.zeros(2, dtype=np.int64)
    for turn in range(_MEANS):
        changed = turn == 0
        counts[0][:] = 0
        counts[1][:] = 0
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
                counts[label][ones[e]] += 1
        work[0] += 2 * starts[size] + difference.shape[0]
        if sizes[0] == 0 or sizes[1] == 0:
            return False
        if not changed:
            break
        threshold = 0.0
        for j in range(difference.shape[0]):
            mean, other_mean = counts[0][j] / sizes[0], counts[1][j] / sizes[1]
            difference[j] = other_mean - mean
            threshold += 0.5 * (other_mean * other_mean - mean * mean)
    kept = _put(bits, 1 - axis, component, counts[0], sizes[0])
    moved = _put(bits, 1 - axis, spare, counts[1], sizes[1])
    return kept > 0 and moved > 0


@kernel(allocates=False)
def attempt(improve, lines, trial, spare, move, prices, effort, quick, workspaces):
    """Make a move on a copy of packed factors.

    Parameters
    ----------
    improve : int
        Address of `improve_lines`.
    lines : pair of Lines
        The data.
    trial : Trial
        The copy.
    spare : int
        The component that is empty.
    move : Move
        What to change.
    prices : Prices
        Of the two kinds of error.
    effort : Effort
        How thoroughly lines are improved.
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
    bits, alone, free, every, costs = trial
    axis, line, component, dropped = move
    work = workspaces[0].work
    work[0] += 8 * (bits.memberships[0].shape[0] + bits.memberships[1].shape[0])
    rows, turns = np.int64(0), np.int64(_TURNS)
    gained = np.int64(0)
    if dropped >= 0:
        drop_costs(lines, bits, dropped, prices, costs, workspaces)
        gained -= costs[dropped]
        clear(bits, dropped)
    if line < 0 and component < 0:
        if quick:
            turns = np.int64(_TURNS_OF_A_TRIAL)
        gained += descend(improve, lines, bits, every, prices, effort, rows, turns, workspaces)
        return spare, gained
    _add(free, spare)
    if line >= 0:
        filled = _seed(lines, bits, axis, line, spare)
    else:
        _add(free, component)
        drop_costs(lines, bits, component, prices, costs, workspaces)
        gained -= costs[component]
        filled = _split(lines, bits, axis, component, spare, work)
    if not filled:
        return spare, np.int64(_IMPOSSIBLE)
    for w in range(free.shape[0]):
        alone.stale[0, w] = free[w]
        alone.stale[1, w] = free[w]
    few = np.int64(_TURNS_ALONE)
    gained += descend(improve, lines, alone, free, prices, effort, axis, few, workspaces)
    if not quick:
        for w in range(free.shape[0]):
            bits.stale[0, w] |= free[w]
            bits.stale[1, w] |= free[w]
        gained += descend(improve, lines, bits, every, prices, effort, rows, turns, workspaces)
    if dropped < 0:
        drop_costs(lines, bits, np.int64(-1), prices, costs, workspaces)
        least = _least(costs, spare if quick else np.int64(-1))
        gained -= costs[least]
        if not quick:
            dropped = least
            clear(bits, dropped)
            gained += descend(improve, lines, bits, every, prices, effort, rows, turns, workspaces)
    return spare if quick else dropped, gained


@kernel(allocates=False)
def shrink(lines, bits, count, prices, costs, workspaces):
    """Empty components, each time the least useful, until so many are left that are not.

    ``costs`` is a buffer for a number for each component. Returns by how much the cost went down:
    mostly a negative number.
    """
    gained = 0
    left = 0
    for l in range(costs.shape[0]):
        left += _is_used(bits, l)
    while left > count:
        drop_costs(lines, bits, np.int64(-1), prices, costs, workspaces)
        worst = -1
        for l in range(costs.shape[0]):
            if _is_used(bits, l) and (worst < 0 or costs[l] < costs[worst]):
                worst = l
        gained -= costs[worst]
        clear(bits, worst)
        left -= 1
    return gained
