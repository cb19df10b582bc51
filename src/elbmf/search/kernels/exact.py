"""Branch and bound over the components of columns, for few components.

Each column gets one of the 2ᵏ *patterns* of components. A set s of components then describes a row
as its *prototype*: the columns whose pattern meets s. A row costs d(s), what differs from the
prototype, for the best of all s. The bound gives each row a *price* π, and uses that

    min d(s)  ≥  π − Σ (π − d(s))⁺,    summed over all s but the empty one,  for π ≤ d(∅).

Summed over rows, the right side falls apart into one term for each s, the *gain* of a prototype.
The most a prototype can gain is found by trying all of them, 2 to the number of open columns,
quickly. So the bound takes all open columns together, and all rows, and only forgets that the
prototypes of several sets belong together. That they do is enforced by *tolls* μ: the prototype of
s pays μ(s, j) for having column j, and the column gets it back from all sets that its pattern
meets. If prototypes agree with patterns, both are the same; the bound takes the best prototypes
and the most that any pattern gets back.

A subgradient step moves prices and tolls towards what is to be proven. Prices: up for rows that no
best prototype is near to, down for those to which several are. Tolls: up for columns that only the
best prototype has, down for those that only the best pattern lets it have.

The most that prototypes gain with an open column in them, and without it, also bounds what each
pattern of that column leads to. Patterns that lead to nothing are ruled out, here and below. The
column is branched on for which these bounds rise most.

Costs are integers, scaled so that prices may be finer, and nothing is ever rounded.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.sets import copy_into

__all__ = ["BLOCK", "Search", "search_on"]

# Columns of which all prototypes are tried at once, in a block of 2⁶.
BLOCK = 6

# Of a step of the prices, where 1 would do if the bound were a plane.
_SPEED = 2.0

# How much faster tolls move than prices.
_WEIGHT = 2.0

# Columns that are tried, above which sets with the same prototype so far have the same tolls: less
# is known, in less time.
_WIDE = 14

# Less than any gain.
_LEAST = np.int32(-(1 << 31) + 1)


class Search(NamedTuple):
    """The open nodes of a search that is depth first, and buffers.

    Arrays whose first axis is the depth tell of the node at that depth. Of its columns there, only
    those are listed that are open.

    Parameters
    ----------
    off, more : ndarray of int32, of shape (depths, m, n)
        What it costs not to cover each cell, and how much more to cover it.
    costs : ndarray of int32, of shape (depths, 2ᵏ, n)
        What each set of components costs each row in the columns that have a pattern.
    prices : ndarray of int32, of shape (depths + 1, n)
        Of the rows; the last are a buffer.
    tolls : ndarray of int32, of shape (depths + 1, 2ᵏ, m)
        Of the prototype of each set for the open columns; the last are a buffer.
    most_toll : ndarray of float64, of shape (m,)
        What tolls for each column are at most, up or down, so that sums of them stay small.
    paid : ndarray of int64, of shape (2ᵏ, m)
        A buffer: what each pattern of the open columns gets back.
    asked : ndarray of int64, of shape (2, m)
        Buffers: the pattern that gets most, and how much.
    pulls : ndarray of float64, of shape (2ᵏ, m)
        A buffer: where each toll should go.
    bounds : ndarray of int64, of shape (depths, 2ᵏ, m)
        Below the cost of everything in which an open column has a pattern.
    columns : ndarray of int64, of shape (depths, m)
        The open columns, in their order.
    signs : ndarray of int64, of shape (depths, 2ᵏ)
        Sets of the same sign have had the same prototype so far.
    children : ndarray of int64, of shape (depths, 2ᵏ)
        Patterns to try for the column that is branched on, the most promising first.
    places : ndarray of int64, of shape (4, depths)
        That column's place among the open ones; the next child, below zero at a new node; how many
        there are; and a bit for each component that is like the next one so far.
    rest : ndarray of int64, of shape (m + 1,)
        Below the cost of the last columns, from each on.
    best : ndarray of int64, of shape (m,)
        The patterns of the best solution found.
    rows : ndarray of int32, of shape (5, n)
        Buffers: the room between price and cost of each row; that at first; the least it takes to
        leave none; the cost of the empty set; the slope of the bound.
    blocks : ndarray of int32, of shape (n + 3, 2⁶)
        Buffers: what a block of prototypes costs each row; what they gain, and the most they did;
        their tolls.
    gains : ndarray of int64, of shape (2ᵏ, 2, m)
        The most that a prototype gains without, and with, each column.
    sets : ndarray of int64, of shape (5, 2ᵏ)
        The set that each one is like, and how many are; open columns, as bits, that may be outside
        its prototype, that may be inside, and that are in the best one.
    free : ndarray of int64, of shape (m,)
        A buffer for a list of columns.
    state : ndarray of int64, of shape (4,)
        The highest cost that is still of interest; work; nodes; depth, below zero at the end.
    """

    off: NDArray[np.int32]
    more: NDArray[np.int32]
    costs: NDArray[np.int32]
    prices: NDArray[np.int32]
    tolls: NDArray[np.int32]
    most_toll: NDArray[np.float64]
    paid: NDArray[np.int64]
    asked: NDArray[np.int64]
    pulls: NDArray[np.float64]
    bounds: NDArray[np.int64]
    columns: NDArray[np.int64]
    signs: NDArray[np.int64]
    children: NDArray[np.int64]
    places: NDArray[np.int64]
    rest: NDArray[np.int64]
    best: NDArray[np.int64]
    rows: NDArray[np.int32]
    blocks: NDArray[np.int32]
    gains: NDArray[np.int64]
    sets: NDArray[np.int64]
    free: NDArray[np.int64]
    state: NDArray[np.int64]


@helper(allocates=False)
def _fill(numbers, number):
    for i in range(numbers.shape[0]):
        numbers[i] = number


@helper(allocates=False)
def _add(sums, terms, sign):
    for i in range(sums.shape[0]):
        sums[i] += sign * terms[i]


@helper(allocates=False)
def _most_gained(more, tolls, wide, outside, inside, free, rows, blocks, gains, copies):
    """Find the most that any prototype gains, in all and without or with each column.

    Takes ``copies`` from the slope of each row that is near to the best prototype. Returns what
    that gains, its columns, as bits, and how many prototypes there are.
    """
    rooms, start, least, slope = rows[0], rows[1], rows[2], rows[4]
    n, count, toll = rooms.shape[0], 0, np.int32(0)
    for j in range(wide):
        if outside & inside & 1 << j:
            free[count] = j
            count += 1
        elif inside & 1 << j:
            _add(start, more[j], np.int32(-1))
            toll += tolls[j]
    low = min(count, BLOCK)
    size, now, ever, taken = 1 << low, blocks[n], blocks[n + 1], blocks[n + 2]
    _fill(ever, _LEAST)
    _fill(gains[0], _LEAST)
    _fill(gains[1], _LEAST)
    copy_into(rooms, start)
    taken[0] = 0
    for l in range(low):
        for x in range(1 << l):
            taken[1 << l | x] = taken[x] + tolls[free[l]]
    for i in range(n):
        blocks[i, 0] = least[i] = 0
        for l in range(low):
            cost = more[free[l], i]
            for x in range(1 << l):
                blocks[i, 1 << l | x] = blocks[i, x] + cost
            least[i] += min(cost, np.int32(0))
    most, best = _LEAST, 0
    for step in range(1 << (count - low)):
        for x in range(size):
            now[x] = -toll - taken[x]
        for i in range(n):
            if rooms[i] > least[i]:
                for x in range(size):
                    now[x] += max(rooms[i] - blocks[i, x], np.int32(0))
        high = now[0]
        for x in range(size):
            ever[x] = max(ever[x], now[x])
            high = max(high, now[x])
        # In this order, only one column at a time comes in or goes out.
        code = step ^ step >> 1
        if high > most:
            most = high
            for x in range(size):
                if now[x] == high:
                    best = code << low | x
        for l in range(low, count):
            side = code >> (l - low) & 1
            gains[side, free[l]] = max(gains[side, free[l]], np.int64(high))
        l = low
        while step >> (l - low) & 1:
            l += 1
        if l < count:
            sign = np.int32(1 if code >> (l - low) & 1 else -1)
            _add(rooms, more[free[l]], sign)
            toll -= sign * tolls[free[l]]
    for l in range(low):
        for x in range(size):
            side = x >> l & 1
            gains[side, free[l]] = max(gains[side, free[l]], np.int64(ever[x]))
    chosen = inside & ~outside
    for l in range(count):
        if best >> l & 1:
            chosen |= 1 << free[l]
            _add(start, more[free[l]], np.int32(-1))
    for j in range(wide):
        if not outside & inside & 1 << j:
            gains[0, j] = gains[1, j] = most
    for i in range(n):
        slope[i] -= copies * (start[i] > 0)
    return np.int64(most), chosen, 1 << count


@helper(allocates=False, inline="always")
def _compare_sets(search, depth, every, most_free):
    """Find out which sets are bounded together, and how many columns can be tried.

    Returns how many: the first ones, so that no more than some are free in any prototype.
    """
    like, copies, signs = search.sets[0], search.sets[1], search.signs[depth]
    outside, inside = search.sets[2], search.sets[3]
    _fill(outside, 0)
    _fill(inside, 0)
    _fill(copies, 0)
    wide = search.off.shape[1] - depth
    for s in range(1, every):
        free = 0
        for j in range(wide):
            for p in range(every):
                if search.bounds[depth, p, j] <= search.state[0]:
                    if s & p:
                        inside[s] |= 1 << j
                    else:
                        outside[s] |= 1 << j
            free += outside[s] & inside[s] & 1 << j != 0
            if free > most_free:
                wide = j
                break
    seen = (1 << wide) - 1
    for s in range(1, every):
        # Of components that are alike so far, let it be the first ones.
        first = s
        later = ~first & first >> 1 & search.places[3, depth]
        while later:
            first ^= 3 * (later & -later)
            later = ~first & first >> 1 & search.places[3, depth]
        like[s] = s
        for other in range(1, s):
            if (other == first or (wide > _WIDE and signs[other] == signs[s])) and (
                outside[other] ^ outside[s] | inside[other] ^ inside[s]
            ) & seen == 0:
                like[s] = like[other]
                break
        copies[like[s]] += 1
    return wide


@helper(allocates=False, inline="always")
def _ask_columns(search, depth, every, wide, tolls):
    """Find the pattern of each column whose sets are paid the most; return what is paid in all."""
    paid = np.int64(0)
    for j in range(wide):
        most = np.int64(_LEAST)
        for p in range(every):
            toll = np.int64(0)
            for s in range(1, every):
                if s & p:
                    toll += tolls[s, j]
            search.paid[p, j] = toll
            if search.bounds[depth, p, j] <= search.state[0] and toll > most:
                most = toll
                search.asked[0, j], search.asked[1, j] = p, toll
        paid += most
    return paid


@helper(allocates=False, inline="always")
def _pull(search, every, wide):
    """Find where tolls should go, to make prototypes agree with patterns; return the square sum."""
    like, copies, chosen = search.sets[0], search.sets[1], search.sets[4]
    norm = 0.0
    for j in range(wide):
        for s in range(1, every):
            search.pulls[s, j] = 0.0
        for s in range(1, every):
            differ = (chosen[like[s]] >> j & 1) - (1 if s & search.asked[0, j] else 0)
            search.pulls[like[s], j] += differ / copies[like[s]]
        for s in range(1, every):
            search.pulls[s, j] = search.pulls[like[s], j]
            norm += search.pulls[s, j] ** 2
    return norm


@helper(allocates=False, inline="always")
def _bound_node(search, depth, every, scale, most_free, rounds):
    """Bound what the node and each pattern of its columns lead to; return that and the columns."""
    off, more, costs = search.off[depth], search.more[depth], search.costs[depth]
    bounds, rows, state = search.bounds[depth], search.rows, search.state
    start, empty, slope = rows[1], rows[3], rows[4]
    kept, prices = search.prices[depth], search.prices[-1]
    kept_tolls, tolls = search.tolls[depth], search.tolls[-1]
    m, n = off.shape
    wide = _compare_sets(search, depth, every, most_free)
    rest = np.int64(0)
    if wide < m - depth and m - search.columns[depth, wide] == m - depth - wide:
        rest = search.rest[search.columns[depth, wide]]
    copy_into(empty, costs[0])
    for j in range(wide):
        _add(empty, off[j], np.int32(1))
    for i in range(n):
        prices[i] = min(kept[i], empty[i])
    for s in range(1, every):
        copy_into(tolls[s], kept_tolls[search.sets[0, s]])
    bound = highest = np.int64(-1)
    for turn in range(rounds):
        now = rest - _ask_columns(search, depth, every, wide, tolls)
        for i in range(n):
            now += prices[i]
            slope[i] = 1
        total = now
        state[1] += every * every * wide
        for s in range(1, every):
            if search.sets[0, s] == s:
                for i in range(n):
                    start[i] = prices[i] - costs[s, i] - (empty[i] - costs[0, i])
                gain, chosen, tried = _most_gained(
                    more,
                    tolls[s],
                    wide,
                    search.sets[2, s],
                    search.sets[3, s],
                    search.free,
                    rows,
                    search.blocks,
                    search.gains[s],
                    search.sets[1, s],
                )
                search.sets[4, s] = chosen
                now -= search.sets[1, s] * gain
                state[1] += n * (20 + tried // 16)
        bound = max(bound, now)
        for j in range(wide):
            lowest = np.int64(1) << 62
            for p in range(every):
                price = total + search.asked[1, j] - search.paid[p, j]
                for s in range(1, every):
                    price -= search.gains[search.sets[0, s], 1 if s & p else 0, j]
                bounds[p, j] = max(bounds[p, j], price)
                lowest = min(lowest, bounds[p, j])
            bound = max(bound, lowest)
        if now > highest:
            highest = now
            copy_into(kept, prices)
            for s in range(1, every):
                copy_into(kept_tolls[s], tolls[s])
        if bound > state[0] or turn == rounds - 1:
            break
        norm = _WEIGHT * _pull(search, every, wide)
        for i in range(n):
            norm += slope[i] * slope[i]
        if norm == 0:
            break
        step = _SPEED * (state[0] + scale - now) / norm
        for i in range(n):
            prices[i] = max(min(np.int32(prices[i] + step * slope[i]), empty[i]), np.int32(0))
        for s in range(1, every):
            for j in range(wide):
                most = search.most_toll[search.columns[depth, j]]
                toll = tolls[s, j] + _WEIGHT * step * search.pulls[s, j]
                tolls[s, j] = np.int32(max(min(toll, most), -most))
    return bound, wide


@helper(allocates=False, inline="always")
def _branch(search, depth, every, bound, wide):
    """Choose the column to branch on, and in which order to try its patterns."""
    bounds, places, top = search.bounds[depth], search.places, search.state[0]
    best, chosen = np.int64(-1), 0
    for j in range(wide):
        score = np.int64(0)
        for p in range(every):
            score += min(bounds[p, j], top + 1) - bound
        if score > best:
            best, chosen = score, j
    children, count = search.children[depth], 0
    for p in range(every):
        bounds[p, chosen] = max(bounds[p, chosen], bound)
        # Of components that are alike so far, an earlier one is first to get a column.
        if bounds[p, chosen] <= top and not ~p & p >> 1 & places[3, depth]:
            at = count
            while at > 0 and bounds[children[at - 1], chosen] > bounds[p, chosen]:
                children[at] = children[at - 1]
                at -= 1
            children[at] = p
            count += 1
    places[0, depth], places[1, depth], places[2, depth] = chosen, 0, count


@helper(allocates=False, inline="always")
def _enter(search, depth, every, chosen, p):
    """Let a column have a pattern, at the next depth."""
    below, width = depth + 1, search.off.shape[1] - depth
    copy_into(search.prices[below], search.prices[depth])
    for s in range(every):
        meets = 1 if s & p else 0
        search.signs[below, s] = 2 * search.signs[depth, s] + meets
        copy_into(search.costs[below, s], search.costs[depth, s])
        _add(search.costs[below, s], search.off[depth, chosen], np.int32(1))
        _add(search.costs[below, s], search.more[depth, chosen], np.int32(meets))
    for j in range(width - 1):
        source = j + (j >= chosen)
        copy_into(search.off[below, j], search.off[depth, source])
        copy_into(search.more[below, j], search.more[depth, source])
        for q in range(every):
            search.bounds[below, q, j] = search.bounds[depth, q, source]
            search.tolls[below, q, j] = search.tolls[depth, q, source]
        search.columns[below, j] = search.columns[depth, source]
    search.places[1, below] = -1
    search.places[3, below] = search.places[3, depth] & ~(p ^ p >> 1)


@kernel(allocates=False)
def search_on(search, k, scale, most_free, rounds, most_work):
    """Go on with a search until it ends, or until so much work is done in all."""
    every, m = 1 << k, search.off.shape[1]
    state, places = search.state, search.places
    while state[3] >= 0 and state[1] < most_work:
        depth = state[3]
        if places[1, depth] < 0:
            state[2] += 1
            bound, wide = np.int64(0), 0
            for i in range(search.off.shape[2]):
                least = search.costs[depth, 0, i]
                for s in range(1, every):
                    least = min(least, search.costs[depth, s, i])
                bound += least
            if depth == m and bound <= state[0]:
                state[0] = bound - scale
                for d in range(m):
                    column = search.columns[d, places[0, d]]
                    search.best[column] = search.children[d, places[1, d] - 1]
            if bound <= state[0]:
                turns = rounds if depth else 5 * rounds
                bound, wide = _bound_node(search, depth, every, scale, most_free, turns)
            if bound > state[0]:
                state[3] -= 1
                continue
            _branch(search, depth, every, bound, wide)
        at, chosen = places[1, depth], places[0, depth]
        if at == places[2, depth]:
            state[3] -= 1
            continue
        p = search.children[depth, at]
        if search.bounds[depth, p, chosen] > state[0]:
            state[3] -= 1
            continue
        places[1, depth] += 1
        _enter(search, depth, every, chosen, p)
        state[3] += 1
