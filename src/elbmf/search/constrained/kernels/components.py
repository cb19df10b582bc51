"""Components that adapt within limits, one side of one component after the other.

Given the columns of a component and all other components, each row has a gain of its own: what the
ones are worth that the component would newly cover in it, less the zeros. So the best rows are
those with the largest gains, as many of them as the limits allow, and no fewer than they ask for;
and likewise the best columns, given the rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import call_at, helper, kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.randomness import draw
from elbmf.kernels.sets import common, copy_into, has, lowest, unite_into
from elbmf.search.kernels.lines import Lines

__all__ = [
    "Cells",
    "Factors",
    "Rules",
    "Task",
    "assign_lines",
    "choose_lines",
    "evolve_within",
    "work_within",
]

# What a line gains by a component that it may not have.
NEVER = np.iinfo(np.int64).min

# Random ones that are looked at for an uncovered one, before all of them are.
_DRAWS = 500

# Components of which the least useful is done without, and those grown in vain after which no more
# are.
_RIVALS = 3
_FAILURES = 20

# How sides of a component are chosen: only for the better, as the limits want it, or with all that
# does no harm.
_IMPROVE, _REPAIR, _ABSORB = 0, 1, 2

# What is done with a component.
ADAPT, VALUE, REPAIR_ROWS, REPAIR_COLUMNS = 0, 1, 2, 3

# What is emptied of a component: only its rows, or both of its sides.
_ROWS, _WHOLE = 1, 2


class Cells(NamedTuple):
    """Some cells of each line, as a sparse pattern; without any lines where there are none."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]


class Rules(NamedTuple):
    """What components must keep to; each pair is for the rows and for the columns.

    Parameters
    ----------
    least, most : ndarray of int64, of length 2
        Lines that a component has, unless it is empty.
    per_line : ndarray of int64, of length 2
        Components that a line has at most.
    forbidden, required : pair of Cells
        That may not be covered, or must.
    apart : Cells
        Columns that may not be in one component with each column.
    fixed : ndarray of int64, of length 2
        Components, the first ones, whose rows and whose columns are not to change.
    from_below : bool
        Whether no zero may be covered.
    """

    least: NDArray[np.int64]
    most: NDArray[np.int64]
    per_line: NDArray[np.int64]
    forbidden: tuple[Cells, Cells]
    required: tuple[Cells, Cells]
    apart: Cells
    fixed: NDArray[np.int64]
    from_below: bool


class Task(NamedTuple):
    """The data, and what its errors cost.

    Parameters
    ----------
    lines : pair of Lines
        Where the ones are, and the missing cells.
    weights : pair of ndarray of int64
        Of each line.
    prices : ndarray of int64, of length 3
        Of a one that is not covered, of a zero that is, and of a required cell that is not.
    """

    lines: tuple[Lines, Lines]
    weights: tuple[NDArray[np.int64], NDArray[np.int64]]
    prices: NDArray[np.int64]


class Factors(NamedTuple):
    """Factors, and buffers for work on them; each pair is for the rows and for the columns.

    Parameters
    ----------
    memberships, component_bits : as in `Bits`
        The factors.
    sizes : ndarray of int64, of shape (2, k)
        Lines of each component.
    saved : pair of ndarray of uint64
        Component bits to go back to.
    covered, touched, chosen, kept : pair of ndarray of uint64
        Lines of either side, packed: what a line of the other side covers; those that may gain by
        a component; those that it is to have; those that it had.
    before : ndarray of uint64
        The components that a line had.
    gains, candidates : pair of ndarray of int64
        Of each line.
    random : ndarray of uint64, of length 2
        The key of random numbers, and how many were drawn.
    work : ndarray of int64, of length 2
        Steps that were taken, about a nanosecond each, and after how many to end.
    alarm : ndarray of uint8, of length 1
        Not zero when it is time to end.
    """

    memberships: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    component_bits: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    sizes: NDArray[np.int64]
    saved: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    covered: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    touched: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    chosen: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    kept: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    before: NDArray[np.uint64]
    gains: tuple[NDArray[np.int64], NDArray[np.int64]]
    candidates: tuple[NDArray[np.int64], NDArray[np.int64]]
    random: NDArray[np.uint64]
    work: NDArray[np.int64]
    alarm: NDArray[np.uint8]


@helper(allocates=False, forceinline=True)
def _is_over(factors):
    return factors.alarm[0] != 0 or factors.work[0] >= factors.work[1]


@helper(allocates=False, forceinline=True)
def _meets(cells, i, packed):
    """Tell whether any of the given cells of line ``i`` is in a packed set."""
    if cells.indptr.shape[0]:
        for e in range(cells.indptr[i], cells.indptr[i + 1]):
            if has(packed, cells.indices[e]):
                return True
    return False


@helper(allocates=False, forceinline=True)
def _set(packed, i, on):
    mark = np.uint64(1) << np.uint64(i & 63)
    if on:
        packed[i >> 6] |= mark
    else:
        packed[i >> 6] &= ~mark


@helper(allocates=False, forceinline=True)
def _switch(factors, axis, i, l, on):
    """Let a line be in a component, or not."""
    if has(factors.memberships[axis][i], l) != on:
        factors.sizes[axis, l] += 1 if on else -1
        _set(factors.memberships[axis][i], l, on)
        _set(factors.component_bits[axis][l], i, on)


@helper(allocates=False)
def _weight_of(packed, covered, weights):
    """Add up the weights of the lines that are in a packed set and not covered."""
    total = np.int64(0)
    for w in range(packed.shape[0]):
        word = packed[w] & ~covered[w]
        while word:
            total += weights[64 * w + lowest(word)]
            word &= word - np.uint64(1)
    return total


@helper(allocates=False)
def _unite_others(factors, axis, i, l, covered):
    """Find out what all components of line ``i`` but ``l`` cover; return how many they are."""
    covered[:] = 0
    membership, count = factors.memberships[axis][i], np.int64(0)
    for y in range(membership.shape[0]):
        word = membership[y]
        while word:
            q = 64 * y + lowest(word)
            word &= word - np.uint64(1)
            if q != l:
                unite_into(covered, factors.component_bits[1 - axis][q])
                count += 1
    factors.work[0] += 5 + (count + 1) * covered.shape[0]
    return count


@helper(allocates=False)
def _gain_of(task, rules, factors, axis, i, l, covered):
    """Return what a line gains by a component where it has ``covered`` others, if it may have it.

    Whether it would have too many is not asked here.
    """
    cells, weights = factors.component_bits[1 - axis][l], task.weights[1 - axis]
    if _meets(rules.forbidden[axis], i, cells):
        return NEVER
    lines, prices = task.lines[axis], task.prices
    ones, total = np.int64(0), _weight_of(cells, covered, weights)
    for e in range(lines.indptr[i], lines.indptr[i + 1]):
        j = lines.indices[e]
        if has(cells, j) and not has(covered, j):
            ones += weights[j]
    if lines.missing_indptr.shape[0]:
        for e in range(lines.missing_indptr[i], lines.missing_indptr[i + 1]):
            j = lines.missing_indices[e]
            if has(cells, j) and not has(covered, j):
                total -= weights[j]
    if rules.from_below and total > ones:
        return NEVER
    gain = task.weights[axis][i] * ((prices[0] + prices[1]) * ones - prices[1] * total)
    required = rules.required[axis]
    if required.indptr.shape[0]:
        for e in range(required.indptr[i], required.indptr[i + 1]):
            j = required.indices[e]
            if has(cells, j) and not has(covered, j):
                gain += prices[2]
    factors.work[0] += 15 + 2 * (lines.indptr[i + 1] - lines.indptr[i]) + 4 * cells.shape[0]
    return gain


@helper(allocates=False)
def _value_of(task, rules, factors, l):
    """Return by how much the cost would go up without a component."""
    rows, value = factors.component_bits[0][l], np.int64(0)
    for y in range(rows.shape[0]):
        word = rows[y]
        while word:
            i = 64 * y + lowest(word)
            word &= word - np.uint64(1)
            covered = factors.covered[1]
            _unite_others(factors, 0, i, l, covered)
            value += _gain_of(task, rules, factors, 0, i, l, covered)
    return value


@helper(allocates=False)
def _touch(task, rules, factors, axis, l):
    """Mark the lines of a side that may gain by a component: they have a one or a must in it."""
    cells, touched, across = (
        factors.component_bits[1 - axis][l],
        factors.touched[axis],
        task.lines[1 - axis],
    )
    copy_into(touched, factors.component_bits[axis][l])
    required = rules.required[1 - axis]
    for w in range(cells.shape[0]):
        word = cells[w]
        while word:
            j = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            for e in range(across.indptr[j], across.indptr[j + 1]):
                _set(touched, across.indices[e], True)
            if required.indptr.shape[0]:
                for e in range(required.indptr[j], required.indptr[j + 1]):
                    _set(touched, required.indices[e], True)
            factors.work[0] += 5 + 2 * (across.indptr[j + 1] - across.indptr[j])


@helper(allocates=False)
def _weigh(task, rules, factors, axis, l, everyone):
    """Find out what each line that is touched, or everyone, gains by a component."""
    touched, gains, covered = factors.touched[axis], factors.gains[axis], factors.covered[1 - axis]
    for i in range(gains.shape[0]):
        if has(touched, i) == everyone:
            # Weighed already, or not to be weighed.
            continue
        count = _unite_others(factors, axis, i, l, covered)
        gains[i] = NEVER
        if count < rules.per_line[axis]:
            gains[i] = _gain_of(task, rules, factors, axis, i, l, covered)
    factors.work[0] += gains.shape[0]


@helper(allocates=False)
def _sort(candidates, total, gains):
    """Put candidates in order, those that gain most first; of equals, the first.

    By Shell's sort, for sorting by numpy takes seconds to compile.
    """
    gap = total // 2
    while gap:
        for place in range(gap, total):
            i, at = candidates[place], place
            while at >= gap:
                other = candidates[at - gap]
                if gains[other] > gains[i] or (gains[other] == gains[i] and other < i):
                    break
                candidates[at] = other
                at -= gap
            candidates[at] = i
        gap //= 2


@kernel(allocates=False)
def choose_lines(task, rules, factors, axis, l, how):
    """Choose the lines of one side of a component anew, within the limits, given the other side.

    Returns by how much the cost goes down; when it is to be repaired, what it gains in all, and
    ``NEVER`` if no lines are allowed.
    """
    gains, chosen, own = factors.gains[axis], factors.chosen[axis], factors.component_bits[axis][l]
    apart, least, most = rules.apart, rules.least[axis], rules.most[axis]
    separate = axis == 1 and apart.indptr.shape[0] > 0
    _touch(task, rules, factors, axis, l)
    _weigh(task, rules, factors, axis, l, False)
    before, worthy, threshold = np.int64(0), 0, np.int64(0 if how == _ABSORB else 1)
    for i in range(gains.shape[0]):
        if has(factors.touched[axis], i):
            if how != _REPAIR and has(own, i):
                before += gains[i]
            worthy += gains[i] >= threshold
    chosen[:] = 0
    after, count = np.int64(0), 0
    if separate or worthy > most or worthy < least:
        everyone = worthy < least or separate
        if everyone:
            _weigh(task, rules, factors, axis, l, True)
        candidates, total = factors.candidates[axis], 0
        for i in range(gains.shape[0]):
            if (everyone or has(factors.touched[axis], i)) and gains[i] != NEVER:
                candidates[total] = i
                total += 1
        _sort(candidates, total, gains)
        factors.work[0] += 50 * total
        for place in range(total):
            i = candidates[place]
            if count >= most or (gains[i] < threshold and count >= least):
                break
            if separate and _meets(apart, i, chosen):
                continue
            _set(chosen, i, True)
            after += gains[i]
            count += 1
    else:
        for i in range(gains.shape[0]):
            if has(factors.touched[axis], i) and gains[i] >= threshold:
                _set(chosen, i, True)
                after += gains[i]
                count += 1
    if count < max(least, 1):
        return NEVER if how == _REPAIR else np.int64(0)
    if how == _ABSORB and after < before:
        return np.int64(0)
    # Of sides that gain the same, the shorter is easier to read.
    if how == _IMPROVE and (
        after < before or (after == before and count >= factors.sizes[axis, l])
    ):
        return np.int64(0)
    for w in range(own.shape[0]):
        word = own[w] ^ chosen[w]
        while word:
            i = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            _switch(factors, axis, i, l, has(chosen, i))
    return after if how == _REPAIR else after - before


@helper(allocates=False)
def _empty(factors, l, sides):
    """Empty a component, or if it is one of its sides, the rows."""
    for axis in range(sides):
        own = factors.component_bits[axis][l]
        for w in range(own.shape[0]):
            word = own[w]
            while word:
                i = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                _switch(factors, axis, i, l, False)


@helper(allocates=False)
def _adapt(task, rules, factors, address, l):
    """Let the sides of a component take turns until neither changes; return the gain.

    A component that is worth nothing is emptied: of one whose columns are fixed, which has all rows
    that lose nothing by it, the rows.
    """
    gained, quiet, axis = np.int64(0), 0, 0
    while quiet < 2 and not _is_over(factors):
        gain = np.int64(0)
        if l >= rules.fixed[axis]:
            how = np.int64(_ABSORB if l < rules.fixed[1] else _IMPROVE)
            gain = call_at(address, (task, rules, factors, np.int64(axis), np.int64(l), how))
        gained += gain
        quiet = 0 if gain else quiet + 1
        axis = 1 - axis
    if l >= rules.fixed[0] and factors.sizes[0, l]:
        value, kept = _value_of(task, rules, factors, l), l < rules.fixed[1]
        if value < 0 or (value == 0 and not kept):
            _empty(factors, l, _ROWS if kept else _WHOLE)
            gained -= value
    return gained


@kernel(allocates=False)
def work_within(task, rules, factors, address, l, job):
    """Let a component adapt, find out what it is worth, or make it keep to the rules.

    To make it keep to the rules, its rows or its columns are chosen first, given its other side,
    which may break some; then it adapts. ``address`` is that of `choose_lines`. Returns the gain,
    or what the component is worth; it is empty where that is nothing.
    """
    if job == VALUE:
        return _value_of(task, rules, factors, l)
    value = np.int64(0)
    if job != ADAPT:
        first = np.int64(0 if job == REPAIR_ROWS else 1)
        how, line = np.int64(_REPAIR), np.int64(l)
        value = call_at(address, (task, rules, factors, first, line, how))
        if value != NEVER:
            # What it is worth is known only now that both sides keep to the rules.
            value = call_at(address, (task, rules, factors, 1 - first, line, how))
        if value == NEVER:
            _empty(factors, l, _WHOLE)
            return np.int64(0)
    return value + _adapt(task, rules, factors, address, l)


@helper(allocates=False)
def _work(task, rules, factors, addresses, l, job):
    """Call `work_within`, so that it is compiled once."""
    given = (task, rules, factors, addresses[0], np.int64(l), np.int64(job))
    return call_at(addresses[1], given)


@helper(allocates=False)
def _fill_side(factors, axis, l, packed):
    """Let a component have lines of one side."""
    for w in range(packed.shape[0]):
        word = packed[w]
        while word:
            i = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            _switch(factors, axis, i, l, True)


@helper(allocates=False)
def _insert(task, rules, factors, addresses, l, rows, columns):
    """Make the best of a component whose sides may break rules; return what it is worth."""
    _fill_side(factors, 1, l, columns)
    by_columns = _work(task, rules, factors, addresses, l, REPAIR_ROWS)
    first = factors.kept
    for axis in range(2):
        copy_into(first[axis], factors.component_bits[axis][l])
    _empty(factors, l, _WHOLE)
    _fill_side(factors, 0, l, rows)
    by_rows = _work(task, rules, factors, addresses, l, REPAIR_COLUMNS)
    if by_rows >= by_columns:
        return by_rows
    _empty(factors, l, _WHOLE)
    for axis in range(2):
        _fill_side(factors, axis, l, first[axis])
    return by_columns


@helper(allocates=False)
def _fits(task, rules, factors, l):
    """Tell whether a component keeps to the rules as it is."""
    for axis in range(2):
        own, covered = factors.component_bits[axis][l], factors.covered[1 - axis]
        size = factors.sizes[axis, l]
        if size < rules.least[axis] or size > rules.most[axis]:
            return False
        for w in range(own.shape[0]):
            word = own[w]
            while word:
                i = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                if axis == 1 and _meets(rules.apart, i, own):
                    return False
                if _unite_others(factors, axis, i, l, covered) >= rules.per_line[axis]:
                    return False
                if _gain_of(task, rules, factors, axis, i, l, covered) == NEVER:
                    return False
    return True


@helper(allocates=False)
def _uncovered(cells, factors, tries):
    """Draw an uncovered cell of some, given by rows; its row is below zero if there is none.

    At random for so many tries, and then in order from a random row on.
    """
    rows, columns = factors.memberships
    n, total = rows.shape[0], cells.indices.shape[0]
    for _ in range(tries if total else 0):
        e = draw(factors.random, total)
        low, high = 0, n
        while high - low > 1:
            middle = (low + high) // 2
            if cells.indptr[middle] <= e:
                low = middle
            else:
                high = middle
        factors.work[0] += 20
        if not common(rows[low], columns[cells.indices[e]]):
            return low, np.int64(cells.indices[e])
    if total:
        begin = draw(factors.random, n)
        factors.work[0] += 2 * total
        for step in range(n):
            i = (begin + step) % n
            for e in range(cells.indptr[i], cells.indptr[i + 1]):
                if not common(rows[i], columns[cells.indices[e]]):
                    return i, np.int64(cells.indices[e])
    return -1, -1


@helper(allocates=False)
def _grow(task, rules, factors, addresses, l):
    """Let an empty component have the uncovered ones of a line, and adapt; return the gain."""
    row, column = np.int64(-1), np.int64(-1)
    if rules.required[0].indptr.shape[0]:
        row, column = _uncovered(rules.required[0], factors, 0)
    if row < 0:
        ones = Cells(task.lines[0].indptr, task.lines[0].indices)
        row, column = _uncovered(ones, factors, _DRAWS)
    if row < 0:
        return np.int64(0)
    axis = draw(factors.random, 2)
    i, seed = (row, column) if axis == 0 else (column, row)
    lines, others = task.lines[axis], factors.memberships[1 - axis]
    lost = _make_room(task, rules, factors, axis, i)
    membership = factors.memberships[axis][i]
    _switch(factors, 1 - axis, seed, l, True)
    for e in range(lines.indptr[i], lines.indptr[i + 1]):
        j = np.int64(lines.indices[e])
        if not common(membership, others[j]):
            _switch(factors, 1 - axis, j, l, True)
    job = REPAIR_ROWS if axis == 0 else REPAIR_COLUMNS
    return _work(task, rules, factors, addresses, l, job) - lost


@helper(allocates=False)
def _make_room(task, rules, factors, axis, i):
    """Let a line that has as many components as it may leave them; return what they were worth.

    Unless they are fixed, or would have too few lines without it.
    """
    count, covered = np.int64(0), factors.covered[1 - axis]
    for y in range(factors.memberships[axis].shape[1]):
        count += popcount(factors.memberships[axis][i, y])
    lost = np.int64(0)
    if count >= rules.per_line[axis]:
        for l in range(rules.fixed[axis], factors.sizes.shape[1]):
            many = factors.sizes[axis, l] > rules.least[axis]
            if many and has(factors.memberships[axis][i], l):
                _unite_others(factors, axis, i, l, covered)
                lost += _gain_of(task, rules, factors, axis, i, l, covered)
                _switch(factors, axis, i, l, False)
    return lost


@helper(allocates=False)
def _assign(task, rules, factors, axis, i):
    """Choose the components of a line anew, where there is a limit to their number.

    Those that pay most are taken one by one, then one in place of another as long as that helps.
    Components that are fixed, or would have too few lines without it, stay. Returns the gain.
    """
    membership, covered = factors.memberships[axis][i], factors.covered[1 - axis]
    k, limit = factors.sizes.shape[1], rules.per_line[axis]
    before, gained, count = factors.before, np.int64(0), np.int64(0)
    copy_into(before, membership)
    # What it has is worth, one after the other.
    for l in range(k):
        if has(before, l) and l >= rules.fixed[axis] and factors.sizes[axis, l] > rules.least[axis]:
            _unite_others(factors, axis, i, l, covered)
            gained -= _gain_of(task, rules, factors, axis, i, l, covered)
            _switch(factors, axis, i, l, False)
        else:
            count += has(before, l)
    while True:
        best = np.int64(-1)
        swapped, most = np.int64(-1), np.int64(0)
        if count < limit:
            best, most = _best(task, rules, factors, axis, i, np.int64(-1))
        else:
            for q in range(k):
                free = q >= rules.fixed[axis] and factors.sizes[axis, q] > rules.least[axis]
                if has(membership, q) and free:
                    _unite_others(factors, axis, i, q, covered)
                    worth = _gain_of(task, rules, factors, axis, i, q, covered)
                    other, gain = _best(task, rules, factors, axis, i, q)
                    if other >= 0 and gain - worth > most:
                        best, swapped, most = other, q, gain - worth
        if best < 0:
            break
        if swapped >= 0:
            _switch(factors, axis, i, swapped, False)
            count -= 1
        _switch(factors, axis, i, best, True)
        count += 1
        gained += most
    if gained <= 0:
        for l in range(k):
            _switch(factors, axis, i, l, has(before, l))
        return np.int64(0)
    return gained


@helper(allocates=False)
def _best(task, rules, factors, axis, i, without):
    """Find the component that a line gains most by, not counting one that it has.

    Returns which, below zero if there is none, and the gain.
    """
    covered, membership = factors.covered[1 - axis], factors.memberships[axis][i]
    _unite_others(factors, axis, i, without, covered)
    best, most = np.int64(-1), np.int64(0)
    for l in range(factors.sizes.shape[1]):
        if has(membership, l) or l < rules.fixed[axis] or factors.sizes[1 - axis, l] == 0:
            continue
        size = factors.sizes[axis, l]
        if size + 1 < rules.least[axis] or size >= rules.most[axis]:
            continue
        if axis == 1 and _meets(rules.apart, i, factors.component_bits[1][l]):
            continue
        gain = _gain_of(task, rules, factors, axis, i, l, covered)
        if gain > most:
            best, most = np.int64(l), gain
    return best, most


@kernel(allocates=False)
def assign_lines(task, rules, factors, axis):
    """Choose the components of every line of a side anew, within the limits; return the gain."""
    gained = np.int64(0)
    for i in range(factors.memberships[axis].shape[0]):
        if factors.alarm[0]:
            break
        gained += _assign(task, rules, factors, axis, i)
    return gained


@helper(allocates=False)
def _sweep(task, rules, factors, addresses, first):
    """Let all components adapt in turns until none does; return the gain."""
    gained, quiet, l, k = np.int64(0), 0, first, factors.sizes.shape[1]
    while quiet < k and not _is_over(factors):
        gain = np.int64(0)
        if factors.sizes[1, l]:
            gain = _work(task, rules, factors, addresses, l, ADAPT)
        gained += gain
        quiet = 0 if gain else quiet + 1
        l = (l + 1) % k
        if l == 0 or quiet == k:
            for axis in range(2):
                if rules.per_line[axis] < k:
                    gain = call_at(addresses[2], (task, rules, factors, np.int64(axis)))
                    gained += gain
                    quiet = 0 if gain else quiet
    return gained


@helper(allocates=False)
def _keep(factors):
    for axis in range(2):
        for l in range(factors.sizes.shape[1]):
            copy_into(factors.saved[axis][l], factors.component_bits[axis][l])


@helper(allocates=False)
def _go_back(factors):
    """Undo all that was done since the factors were last kept."""
    for axis in range(2):
        for l in range(factors.sizes.shape[1]):
            saved, own = factors.saved[axis][l], factors.component_bits[axis][l]
            for w in range(own.shape[0]):
                word = own[w] ^ saved[w]
                while word:
                    i = 64 * w + lowest(word)
                    word &= word - np.uint64(1)
                    _switch(factors, axis, i, l, has(saved, i))


@helper(allocates=False)
def _an_empty_one(factors):
    """Return a component without columns, below zero if there is none."""
    for l in range(factors.sizes.shape[1]):
        if factors.sizes[1, l] == 0:
            return np.int64(l)
    return np.int64(-1)


@helper(allocates=False)
def _used(factors, fixed):
    """Count the components that are fixed or have columns."""
    count = fixed
    for l in range(fixed, factors.sizes.shape[1]):
        count += factors.sizes[1, l] > 0
    return count


@helper(allocates=False)
def _drop_down_to(task, rules, factors, addresses, wanted):
    """Drop the least useful components, and let the others adapt; return what that costs."""
    lost, fixed = np.int64(0), rules.fixed[1]
    while _used(factors, fixed) > wanted:
        dropped, least = np.int64(-1), np.int64(0)
        for l in range(fixed, factors.sizes.shape[1]):
            if factors.sizes[1, l]:
                worth = _work(task, rules, factors, addresses, l, VALUE)
                if dropped < 0 or worth < least:
                    dropped, least = np.int64(l), worth
        _empty(factors, dropped, _WHOLE)
        lost += least - _sweep(task, rules, factors, addresses, dropped)
    return lost


@helper(allocates=False)
def _lacks_required(rules, factors):
    """Tell whether a required cell is uncovered."""
    required = rules.required[0]
    return required.indptr.shape[0] > 0 and _uncovered(required, factors, 0)[0] >= 0


@kernel(allocates=False)
def evolve_within(task, rules, factors, addresses, rows, columns, wanted, patience, goal):
    """Make factors that meet the rules from some that may not, and exchange components.

    Parameters
    ----------
    task : Task
    rules : Rules
    factors : Factors
        With nothing in it but the components that are fixed, whole.
    addresses : tuple of int
        Of `choose_lines`, `work_within` and `assign_lines`.
    rows, columns : ndarray of uint64
        The lines of each component to begin with, packed, those that are fixed first.
    wanted : int
        Components to end with; if there are more, the least useful are dropped.
    patience : int
        Exchanges in a row that gain nothing, after which there are no more.
    goal : int
        What components need not be worth more than.

    Returns
    -------
    int
        What all components together are worth, beside those that were fixed.
    """
    k, fixed = factors.sizes.shape[1], rules.fixed[1]
    value, whole = np.int64(0), fixed == 0
    for l in range(rules.fixed[0], rows.shape[0]):
        _fill_side(factors, 0, l, rows[l])
        _fill_side(factors, 1, l, columns[l])
        if _fits(task, rules, factors, l):
            value += _work(task, rules, factors, addresses, l, VALUE)
        else:
            _empty(factors, l, _ROWS if l < fixed else _WHOLE)
            whole = False
    for l in range(fixed):
        value += _work(task, rules, factors, addresses, l, ADAPT)
    if whole and _an_empty_one(factors) < 0 and not _lacks_required(rules, factors):
        # As it is, it was searched for longer than it would be here.
        return value
    for l in range(fixed, rows.shape[0]):
        if factors.sizes[1, l] == 0:
            value += _insert(task, rules, factors, addresses, l, rows[l], columns[l])
    value += _sweep(task, rules, factors, addresses, 0)
    value -= _drop_down_to(task, rules, factors, addresses, wanted)
    _keep(factors)
    failed, vain = 0, 0
    while True:
        empty = _an_empty_one(factors)
        growing = empty >= 0 and _used(factors, fixed) < wanted and failed < _FAILURES
        if _is_over(factors) and not (growing and _lacks_required(rules, factors)):
            break
        if growing:
            gain = _grow(task, rules, factors, addresses, empty)
            if gain > 0:
                value += gain + _sweep(task, rules, factors, addresses, empty)
                failed = 0
                _keep(factors)
            else:
                failed += 1
                _go_back(factors)
            continue
        if vain >= patience or fixed == k or value >= goal:
            break
        vain += 1
        dropped, least = np.int64(-1), np.int64(0)
        for _ in range(_RIVALS):
            l = fixed + draw(factors.random, k - fixed)
            if factors.sizes[1, l] == 0 and _used(factors, fixed) >= wanted:
                continue
            worth = _work(task, rules, factors, addresses, l, VALUE)
            if dropped < 0 or worth < least:
                dropped, least = l, worth
        if dropped < 0:
            continue
        _empty(factors, dropped, _WHOLE)
        gain = _grow(task, rules, factors, addresses, dropped)
        # Mostly it comes back as it was.
        change = gain - least
        if change:
            change += _sweep(task, rules, factors, addresses, dropped)
        if change < 0:
            _go_back(factors)
        else:
            vain = 0 if change else vain
            value += change
            _keep(factors)
    return value
