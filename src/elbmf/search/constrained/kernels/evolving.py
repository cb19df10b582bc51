"""Factors that keep to rules: made from some that do not, and components exchanged."""

import numpy as np

from elbmf.kernels.compiling import call_at, helper, kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.randomness import draw
from elbmf.kernels.sets import common, copy_into, has, lowest
from elbmf.search.constrained.kernels.adapting import (
    ADAPT,
    REPAIR_COLUMNS,
    REPAIR_ROWS,
    ROWS,
    VALUE,
    WHOLE,
    clear_sides,
)
from elbmf.search.constrained.kernels.state import (
    NEVER,
    Cells,
    gain_of,
    is_over,
    meets,
    set_bit,
    set_side,
    switch,
    unite_others,
)
from elbmf.search.kernels.uncovered import uncovered_cell

__all__ = ["evolve_within"]

# Random ones that are looked at for an uncovered one, before all of them are.
_DRAWS = 500

# Components of which the least useful is done without, and those grown in vain after which no more
# are.
_RIVALS = 3
_FAILURES = 20


@helper(allocates=False)
def _work(task, rules, factors, addresses, l, job):
    """Call `work_within`, so that it is compiled once."""
    given = (task, rules, factors, addresses[0], np.int64(l), np.int64(job))
    return call_at(addresses[1], given)


@helper(allocates=False)
def _widen(task, rules, factors, axis, own, others):
    """Add lines to a side that has too few, each the one that most lines of the other side share.

    Those that lack it leave the other side, so that the component still covers no zero.
    """
    counts, across = factors.gains[axis], task.lines[1 - axis]
    count = np.int64(0)
    for w in range(own.shape[0]):
        count += popcount(own[w])
    while 0 < count < rules.least[axis]:
        counts[:] = 0
        for w in range(others.shape[0]):
            word = others[w]
            while word:
                j = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                factors.work[0] += across.indptr[j + 1] - across.indptr[j]
                for e in range(across.indptr[j], across.indptr[j + 1]):
                    counts[across.indices[e]] += 1
        best = np.int64(-1)
        for i in range(counts.shape[0]):
            free = counts[i] > 0 and not has(own, i)
            if free and axis == 1 and rules.apart.indptr.shape[0]:
                free = not meets(rules.apart, i, own)
            if free and (best < 0 or counts[i] > counts[best]):
                best = np.int64(i)
        if best < 0:
            break
        set_bit(own, best, True)
        count += 1
        factors.work[0] += counts.shape[0]
        for w in range(others.shape[0]):
            word = others[w]
            while word:
                j = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                shares = False
                for e in range(across.indptr[j], across.indptr[j + 1]):
                    shares |= across.indices[e] == best
                if not shares:
                    set_bit(others, j, False)


@helper(allocates=False)
def _insert(task, rules, factors, addresses, l, rows, columns):
    """Make the best of a component whose sides may break rules; return what it is worth.

    The sides that are given change, where no zero may be covered and one of them has too few lines.
    """
    if rules.from_below:
        _widen(task, rules, factors, 1, columns, rows)
        _widen(task, rules, factors, 0, rows, columns)
    set_side(factors, 1, l, columns)
    by_columns = _work(task, rules, factors, addresses, l, REPAIR_ROWS)
    first = factors.kept
    for axis in range(2):
        copy_into(first[axis], factors.component_bits[axis][l])
    clear_sides(factors, l, WHOLE)
    set_side(factors, 0, l, rows)
    by_rows = _work(task, rules, factors, addresses, l, REPAIR_COLUMNS)
    if by_rows >= by_columns:
        return by_rows
    clear_sides(factors, l, WHOLE)
    for axis in range(2):
        set_side(factors, axis, l, first[axis])
    return by_columns


@helper(allocates=False)
def _count(factors, axis, i):
    """Count the components of a line."""
    count = np.int64(0)
    for y in range(factors.memberships[axis].shape[1]):
        count += popcount(factors.memberships[axis][i, y])
    return count


@helper(allocates=False)
def _may_have(task, rules, factors, axis, i, l):
    """Tell whether a line may have a component that it has.

    Its cells are looked at from the rows alone, for a column may be in thousands of components.
    """
    if _count(factors, axis, i) > rules.per_line[axis]:
        return False
    if axis == 1:
        return True
    covered = factors.covered[1]
    unite_others(factors, 0, i, l, covered)
    return gain_of(task, rules, factors, 0, i, l, covered) != NEVER


@helper(allocates=False)
def _fits(task, rules, factors, l):
    """Tell whether a component keeps to the rules as it is."""
    for axis in range(2):
        own = factors.component_bits[axis][l]
        size = factors.sizes[axis, l]
        if size < rules.least[axis] or size > rules.most[axis]:
            return False
        for w in range(own.shape[0]):
            word = own[w]
            while word:
                i = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                if axis == 1 and meets(rules.apart, i, own):
                    return False
                if not _may_have(task, rules, factors, axis, i, l):
                    return False
    return True


@helper(allocates=False)
def _trim(task, rules, factors, l):
    """Take the lines out of a component that may not be in it.

    Of forbidden cells, a column goes where the rows that it would take along have more cells.
    """
    rows, columns = factors.component_bits[0][l], factors.component_bits[1][l]
    forbidden = rules.forbidden[1]
    if forbidden.indptr.shape[0]:
        for j in range(factors.memberships[1].shape[0]):
            count = 0
            if has(columns, j):
                for e in range(forbidden.indptr[j], forbidden.indptr[j + 1]):
                    count += has(rows, forbidden.indices[e])
            if count * factors.sizes[1, l] > factors.sizes[0, l]:
                switch(factors, 1, j, l, False)
    for axis in range(2):
        own = factors.component_bits[axis][l]
        for w in range(own.shape[0]):
            word = own[w]
            while word:
                i = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                if not _may_have(task, rules, factors, axis, i, l):
                    switch(factors, axis, i, l, False)


@helper(allocates=False)
def _uncovered(cells, factors, tries):
    return uncovered_cell(cells, factors.memberships, factors.random, factors.work, tries)


@helper(allocates=False)
def _make_room(task, rules, factors, axis, i):
    """Let a line that has as many components as it may leave them; return what they were worth.

    Unless they are fixed, or would have too few lines without it. Its own alone are cleared.
    """
    covered, lost = factors.covered[1 - axis], np.int64(0)
    if _count(factors, axis, i) >= rules.per_line[axis]:
        for l in range(rules.fixed[axis], factors.sizes.shape[1]):
            size = factors.sizes[axis, l]
            alone = size == 1 and l >= rules.fixed[1]
            if (alone or size > rules.least[axis]) and has(factors.memberships[axis][i], l):
                unite_others(factors, axis, i, l, covered)
                lost += gain_of(task, rules, factors, axis, i, l, covered)
                if alone:
                    clear_sides(factors, l, WHOLE)
                else:
                    switch(factors, axis, i, l, False)
    return lost


@helper(allocates=False)
def _grow(task, rules, factors, addresses, l, failed):
    """Let an empty component have the uncovered ones of a line, and adapt; return the gain."""
    row, column = np.int64(-1), np.int64(-1)
    if rules.required[0].indptr.shape[0]:
        row, column = _uncovered(rules.required[0], factors, 0)
    if row < 0:
        ones = Cells(task.lines[0].indptr, task.lines[0].indices)
        row, column = _uncovered(ones, factors, _DRAWS)
    if row < 0:
        return np.int64(0)
    # After a failure, from a line of the other side.
    axis = failed & 1 if failed else draw(factors.random, 2)
    i, seed = (row, column) if axis == 0 else (column, row)
    lines, others = task.lines[axis], factors.memberships[1 - axis]
    lost = _make_room(task, rules, factors, axis, i)
    membership = factors.memberships[axis][i]
    switch(factors, 1 - axis, seed, l, True)
    for e in range(lines.indptr[i], lines.indptr[i + 1]):
        j = np.int64(lines.indices[e])
        if not common(membership, others[j]):
            switch(factors, 1 - axis, j, l, True)
    if rules.from_below:
        own, shared = factors.kept[axis], factors.kept[1 - axis]
        own[:] = 0
        set_bit(own, i, True)
        copy_into(shared, factors.component_bits[1 - axis][l])
        _widen(task, rules, factors, axis, own, shared)
        set_side(factors, 1 - axis, l, shared)
    job = REPAIR_ROWS if axis == 0 else REPAIR_COLUMNS
    return _work(task, rules, factors, addresses, l, job) - lost


@helper(allocates=False)
def _sweep(task, rules, factors, addresses, first):
    """Let all components adapt in turns until none does; return the gain."""
    gained, quiet, l, k = np.int64(0), 0, first, factors.sizes.shape[1]
    while quiet < k and not is_over(factors):
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
    """Let the factors be what to go back to."""
    for axis in range(2):
        for l in range(factors.sizes.shape[1]):
            copy_into(factors.saved[axis][l], factors.component_bits[axis][l])


@helper(allocates=False)
def _go_back(factors):
    """Undo all that was done since the factors were last kept."""
    for axis in range(2):
        for l in range(factors.sizes.shape[1]):
            set_side(factors, axis, l, factors.saved[axis][l])


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
        clear_sides(factors, dropped, WHOLE)
        lost += least - _sweep(task, rules, factors, addresses, dropped)
    return lost


@helper(allocates=False)
def _lacks_required(rules, factors):
    """Tell whether a required cell is uncovered."""
    required = rules.required[0]
    return required.indptr.shape[0] > 0 and _uncovered(required, factors, 0)[0] >= 0


@kernel(allocates=False)
def evolve_within(
    task, rules, factors, addresses, rows, columns, searched, hasty, wanted, patience, goal
):
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
    searched : bool
        Whether these are the result of a search, to be left as they are if they keep to the rules.
    hasty : bool
        Whether components do not adapt to those that grow, and all ends when the time is up,
        however little there is by then.
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
    value, whole = np.int64(0), searched and fixed == 0
    for l in range(rules.fixed[0], rows.shape[0]):
        set_side(factors, 0, l, rows[l])
        set_side(factors, 1, l, columns[l])
        if not _fits(task, rules, factors, l):
            whole = False
            if l >= fixed:
                _trim(task, rules, factors, l)
        if whole or _fits(task, rules, factors, l):
            value += _work(task, rules, factors, addresses, l, VALUE)
        else:
            clear_sides(factors, l, ROWS if l < fixed else WHOLE)
    for l in range(fixed):
        value += _work(task, rules, factors, addresses, l, ADAPT)
    if whole and _an_empty_one(factors) < 0 and not _lacks_required(rules, factors):
        # As it is, it was searched for longer than it would be here.
        return value
    for l in range(fixed, rows.shape[0]):
        if factors.sizes[1, l] == 0 and not (hasty and factors.alarm[0]):
            value += _insert(task, rules, factors, addresses, l, rows[l], columns[l])
    value += _sweep(task, rules, factors, addresses, 0)
    value -= _drop_down_to(task, rules, factors, addresses, wanted)
    _keep(factors)
    failed, vain = 0, 0
    while True:
        empty = _an_empty_one(factors)
        growing = empty >= 0 and _used(factors, fixed) < wanted and failed < _FAILURES
        # Components do not stay empty for lack of work, but for lack of time.
        waits = growing and not hasty and (not factors.alarm[0] or _lacks_required(rules, factors))
        if is_over(factors) and not waits:
            break
        if growing:
            gain = _grow(task, rules, factors, addresses, empty, failed)
            if gain > 0:
                value += gain
                if not hasty:
                    value += _sweep(task, rules, factors, addresses, empty)
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
        clear_sides(factors, dropped, WHOLE)
        gain = _grow(task, rules, factors, addresses, dropped, 0)
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
