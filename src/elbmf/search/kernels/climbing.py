"""Climbing by components, which adapt one after the other, are exchanged, split and seeded anew."""

import numpy as np

from elbmf.kernels.compiling import call_at, helper, kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.randomness import draw
from elbmf.kernels.sets import common, copy_into, has, list_common, lowest
from elbmf.search.kernels.adapting import ALL, COUNT, EMPTY, IMPROVE, mask_line, save
from elbmf.search.kernels.uncovered import uncovered_cell

__all__ = ["evolve"]

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


@helper(allocates=False)
def _empty(table, climb, l, address):
    """Empty a component; return by how much the cost goes up."""
    lost = call_at(address, (table, climb, np.int64(0), np.int64(l), np.int64(EMPTY)))
    climb.costs[0, l] = 0
    climb.costs[1, l] = 0
    return -lost


@helper(allocates=False)
def _fill(table, climb, l, address):
    """Let an empty component have the uncovered ones of a line, and adapt; return the gain.

    No line need lead to the best: now and then it has any cells, drawn at random.
    """
    now, saved = climb.now, climb.saved
    row, column = uncovered_cell(table.lines[0], now.memberships, climb.random, climb.work, _DRAWS)
    if row < 0:
        return np.int64(0)
    axis = draw(climb.random, 2)
    other, i = 1 - axis, column if axis else row
    lines, membership = table.lines[axis], now.memberships[axis][i]
    others, cells, changed = now.memberships[other], now.component_bits[other], climb.changed[other]
    covered, once = now.covered[other], now.once[other]
    before = (saved.memberships[other], saved.covered[other], saved.once[other])
    if draw(climb.random, _LINES_PER_NOISE) == 0:
        twins = table.twins[other]
        for j in range(others.shape[0]):
            line = j if has(twins.first, j) and draw(climb.random, 2) else -1
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
            save(changed, j, others, covered, once, *before)
            others[j, l >> 6] |= np.uint64(1) << np.uint64(l & 63)
    climb.pending[axis][l, :] = ALL
    climb.pending[other][l, :] = 0
    climb.costs[1, l] = 1
    gain = call_at(address, (table, climb, axis, np.int64(l), np.int64(IMPROVE)))
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
    axis = draw(climb.random, 2)
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
        score = min(counts[j], size - counts[j]) * draw(climb.random, _STEPS)
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
            save(changed[axis], i, memberships, covered[axis], once[axis], *before)
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
            save(changed[other], j, others, covered[other], once[other], *before)
            others[j, l >> 6] |= new_mark
    for side in range(2):
        climb.pending[side][q, :] = ALL
        climb.pending[side][l, :] = ALL
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
                given = (table, climb, np.int64(0), np.int64(l), np.int64(IMPROVE))
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
            given = (table, climb, np.int64(0), np.int64(l), np.int64(COUNT))
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
        How many to try at least; more if that takes less than the least work. None if it is 0.

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
        going = left > 0 or (exchanges and climb.work[0] < climb.work[2])
        done = cost == 0 or _is_over(climb) or not (growing or (going and count))
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
        new_cost, kind = cost, draw(climb.random, 8)
        if kind < _DROPS:
            dropped = np.int64(-1)
            for _ in range(_RIVALS):
                l = climb.members[draw(climb.random, count)]
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
                _split(table, climb, climb.members[draw(climb.random, count)], empty)
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
    climb.pending[0][:, :] = ALL
    climb.pending[1][:, :] = ALL
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
                work[0] += 10 + mask_line(
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
