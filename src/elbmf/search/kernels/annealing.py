"""One side of the factors is annealed; each line of the other chooses from a shortlist of subsets.

Given the annealed side, a following line is free to be in any subset of the components. Its
*shortlist* holds those that it is worth to look at: the subset that it is in and those that differ
from that in one or two components, the cheapest of them if there are too many. When another subset
of the list becomes cheaper, the line takes that one, and lists what is around it.

What each subset of each list costs is known at any time. A line of the annealed side that joins a
component, or leaves it, changes these costs by one or not at all, so that it is enough to know
which subsets of a list are *optimal*: the least of a line goes down if one of these does, and up if
all of them do. Lists are packed, 64 subsets to a word; costs as their binary digits. Which lines
have a component in some of their optimal subsets, and in each of them, is packed by components: so
a look at a switch, most of which cost too much, takes some instructions for 64 lines.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.randomness import draw, random_word, to_unit_interval
from elbmf.kernels.sets import copy_into, lowest

__all__ = ["Annealing", "Choice", "Data", "Shortlists", "Walk", "anneal"]


class Data(NamedTuple):
    """The cells, by lines of either side; missing cells are neither one nor zero.

    Parameters
    ----------
    ones, zeros : pair of ndarray of uint64
        By annealed lines, and by following lines: the lines of the other side where there is a one,
        or a zero, packed.
    copies : ndarray of int64
        How many lines each of the following stands for.
    digits_of_copies : ndarray of uint64, of shape (digits, words)
        The following lines for which a binary digit of that is 1, packed, for the lowest first.
    """

    ones: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    zeros: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    copies: NDArray[np.int64]
    digits_of_copies: NDArray[np.uint64]


class Shortlists(NamedTuple):
    """The subsets that each following line chooses from; the first is the one that it is in.

    Parameters
    ----------
    subsets : ndarray of int64, of shape (lines, subsets)
        Their components, as bits.
    patterns : ndarray of uint64, of shape (lines, k, words)
        The subsets that each component is in.
    listed : ndarray of uint64, of shape (lines, words)
        Which there are.
    digits : ndarray of uint64, of shape (lines, digits, words)
        What the line costs with each of them, in binary digits, the lowest first.
    optimal : ndarray of uint64, of shape (lines, words)
        Those with which it costs least.
    least : ndarray of int64
        What it costs then.
    """

    subsets: NDArray[np.int64]
    patterns: NDArray[np.uint64]
    listed: NDArray[np.uint64]
    digits: NDArray[np.uint64]
    optimal: NDArray[np.uint64]
    least: NDArray[np.int64]


class Choice(NamedTuple):
    """Which components following lines are in.

    Parameters
    ----------
    of_lines : ndarray of int64
        By lines, as bits.
    lines : ndarray of uint64, of shape (k, words)
        By components, as packed lines.
    """

    of_lines: NDArray[np.int64]
    lines: NDArray[np.uint64]


class Annealing(NamedTuple):
    """Factors of which one side is annealed.

    Parameters
    ----------
    data : Data
        The cells.
    holders : ndarray of int64
        The components of each annealed line, as bits.
    component_bits : ndarray of uint64, of shape (k, words)
        The annealed lines of each component.
    lists : Shortlists
        What following lines choose from.
    inside, some, every : Choice
        The components that following lines are in, that are in some of their optimal subsets, and
        in each of them.
    others, candidates, certain, switched, coverage, costs, pairs, counts
        Buffers: for the other components of a line; for following lines, twice; for the subsets
        that a switch changes; for what is covered once, twice and three times; for the costs of
        what might be listed, and by which components it differs; for how many cost the same.
    work : ndarray of int64, of shape (1,)
        What was done, about in nanoseconds.
    """

    data: Data
    holders: NDArray[np.int64]
    component_bits: NDArray[np.uint64]
    lists: Shortlists
    inside: Choice
    some: Choice
    every: Choice
    others: NDArray[np.int64]
    candidates: NDArray[np.uint64]
    certain: NDArray[np.uint64]
    switched: NDArray[np.uint64]
    coverage: NDArray[np.uint64]
    costs: NDArray[np.int64]
    pairs: NDArray[np.int64]
    counts: NDArray[np.int64]
    work: NDArray[np.int64]


class Walk(NamedTuple):
    """How to go, and where it has led to.

    Parameters
    ----------
    heat : float
        Temperature at first, what may be lost in a step, as a share of what switches cost that cost
        something, in the middle of a sample.
    cooling : float
        By how much colder it is at last.
    lines, components : ndarray of int64
        The switches of the sample.
    changes : ndarray of int64
        What they cost.
    random : ndarray of uint64, of shape (2,)
        Key of the random numbers, and how many were drawn.
    best, followed : ndarray of int64
        The components of annealed and of following lines at the best place so far, as bits; where
        to begin.
    alarm : ndarray of uint8, of shape (1,)
        Whether to end as soon as that can be.
    """

    heat: float
    cooling: float
    lines: NDArray[np.int64]
    components: NDArray[np.int64]
    changes: NDArray[np.int64]
    random: NDArray[np.uint64]
    best: NDArray[np.int64]
    followed: NDArray[np.int64]
    alarm: NDArray[np.uint8]


@helper(allocates=False, forceinline=True)
def _choose(choice, i, components):
    """Let a following line be in the components that are given as bits."""
    changed = choice.of_lines[i] ^ components
    choice.of_lines[i] = components
    mark = np.uint64(1) << np.uint64(i & 63)
    while changed:
        choice.lines[lowest(np.uint64(changed)), i >> 6] ^= mark
        changed &= changed - 1


@helper(allocates=False, forceinline=True)
def _excess(packed, plus, minus):
    """Count how many more of the packed cells are in one set than in another."""
    return popcount(packed & plus) - popcount(packed & minus)


@helper(allocates=False)
def _find_costs(state, i):
    """Find what a line costs with its subset, and those that differ in one or two components.

    These come first in ``state.costs``: the subset itself, and one for each component.
    """
    costs, pairs, bits, inside = (
        state.costs,
        state.pairs,
        state.component_bits,
        state.inside.of_lines[i],
    )
    k, words = bits.shape
    ones, zeros = state.data.ones[1][i], state.data.zeros[1][i]
    once, twice, thrice = state.coverage[0], state.coverage[1], state.coverage[2]
    state.coverage[:, :] = 0
    for l in range(k):
        if (inside >> l) & 1:
            for w in range(words):
                thrice[w] |= twice[w] & bits[l, w]
                twice[w] |= once[w] & bits[l, w]
                once[w] |= bits[l, w]
    cost = np.int64(0)
    for w in range(words):
        cost += popcount(ones[w] & ~once[w]) + popcount(zeros[w] & once[w])
    costs[0], pairs[0] = cost, 0
    for l in range(k):
        change = np.int64(0)
        for w in range(words):
            if (inside >> l) & 1:
                change += _excess(bits[l, w] & ~twice[w], ones[w], zeros[w])
            else:
                change += _excess(bits[l, w] & ~once[w], zeros[w], ones[w])
        costs[1 + l], pairs[1 + l] = cost + change, np.int64(1) << l
    count = 1 + k
    for a in range(k):
        for b in range(a):
            # What both changes touch is counted twice, or not at all.
            left, right, change = (inside >> a) & 1, (inside >> b) & 1, np.int64(0)
            for w in range(words):
                both = bits[a, w] & bits[b, w]
                if left != right:
                    change += _excess(both & once[w] & ~twice[w], zeros[w], ones[w])
                elif left:
                    change += _excess(both & twice[w] & ~thrice[w], ones[w], zeros[w])
                else:
                    change += _excess(both & ~once[w], ones[w], zeros[w])
            costs[count] = costs[1 + a] + costs[1 + b] - cost + change
            pairs[count] = pairs[1 + a] | pairs[1 + b]
            count += 1
    state.work[0] += 120 + count * (25 + 2 * words)


@helper(allocates=False)
def _find_limit(costs, counts, room):
    """Return what the cheapest may cost, and how many that cost just that there is room for."""
    least = costs[0]
    for cost in costs:
        least = min(least, cost)
    counts[:] = 0
    last = counts.shape[0] - 1
    for cost in costs:
        counts[min(cost - least, last)] += 1
    above = np.int64(0)
    while above < last and counts[above] <= room:
        room -= counts[above]
        above += 1
    return least + above, room


@helper(allocates=False)
def _list_subsets(state, i):
    """Make the shortlist of a line from what is around the subset that it is in."""
    lists, costs, pairs = state.lists, state.costs, state.pairs
    inside = state.inside.of_lines[i]
    k, words = state.component_bits.shape[0], lists.listed.shape[1]
    _find_costs(state, i)
    limit, room = _find_limit(costs[1:], state.counts, 64 * words - 1)
    for l in range(k):
        for w in range(words):
            lists.patterns[i, l, w] = ~np.uint64(0) if (inside >> l) & 1 else np.uint64(0)
    lists.listed[i, :] = 0
    lists.optimal[i, :] = 0
    lists.digits[i, :, :] = 0
    least, count = costs[0], 0
    for t in range(costs.shape[0]):
        if t and costs[t] >= limit:
            if costs[t] > limit or not room:
                continue
            room -= 1
        w, mark = count >> 6, np.uint64(1) << np.uint64(count & 63)
        lists.subsets[i, count] = inside ^ pairs[t]
        lists.listed[i, w] |= mark
        differs = pairs[t]
        while differs:
            lists.patterns[i, lowest(np.uint64(differs)), w] ^= mark
            differs &= differs - 1
        cost, d = costs[t], 0
        while cost:
            if cost & 1:
                lists.digits[i, d, w] |= mark
            cost >>= 1
            d += 1
        if costs[t] < least:
            least = costs[t]
            lists.optimal[i, :] = 0
        if costs[t] == least:
            lists.optimal[i, w] |= mark
        count += 1
    lists.least[i] = least


@helper(allocates=False)
def _summarize(state, i):
    """Find out which components are in some, and in each, of the optimal subsets of a line."""
    optimal, some, every = state.lists.optimal[i], np.int64(0), ~np.int64(0)
    for w in range(optimal.shape[0]):
        word = optimal[w]
        while word:
            subset = state.lists.subsets[i, 64 * w + lowest(word)]
            some |= subset
            every &= subset
            word &= word - np.uint64(1)
    _choose(state.some, i, some)
    _choose(state.every, i, every)


@helper(allocates=False)
def _follow(state, i):
    """Let a line take the cheapest subset that it finds, step by step."""
    optimal = state.lists.optimal[i]
    while True:
        _list_subsets(state, i)
        if optimal[0] & np.uint64(1):
            break
        _take_first(state, i)
    _summarize(state, i)


@helper(allocates=False, forceinline=True)
def _take_first(state, i):
    """Let a line be in the first of its optimal subsets."""
    w = 0
    while state.lists.optimal[i, w] == 0:
        w += 1
    place = 64 * w + lowest(state.lists.optimal[i, w])
    _choose(state.inside, i, state.lists.subsets[i, place])


@helper(allocates=False, forceinline=True)
def _weight(state, packed, w):
    """Count the following lines of a word, with their copies."""
    digits, total = state.data.digits_of_copies, np.int64(0)
    for d in range(digits.shape[0]):
        total += popcount(packed & digits[d, w]) << d
    return total


@helper(allocates=False, forceinline=True)
def _list_others(state, j, l):
    """List the other components of an annealed line; return how many there are."""
    others, count = state.holders[j] & ~(np.int64(1) << l), 0
    while others:
        state.others[count] = lowest(np.uint64(others))
        count += 1
        others &= others - 1
    return count


@helper(allocates=False, forceinline=True)
def _switched_in(state, i, l, count, w):
    """Return the subsets in which ``l`` is and none of the others, in a word of a shortlist."""
    switched = state.lists.patterns[i, l, w] & state.lists.listed[i, w]
    for q in range(count):
        switched &= ~state.lists.patterns[i, state.others[q], w]
    return switched


@helper(allocates=False, forceinline=True)
def _sides_of(state, j, l):
    """Tell which following lines pay for a switch, and which gain from it."""
    if state.holders[j] & (np.int64(1) << l):
        return state.data.ones[0][j], state.data.zeros[0][j]
    return state.data.zeros[0][j], state.data.ones[0][j]


@helper(allocates=False)
def _change_of(state, j, l, most):
    """Return by how much the cost goes up when line ``j`` joins component ``l``, or leaves it.

    If it goes up by more than ``most``, that much or less may be returned, but more than ``most``.
    """
    pays, gains = _sides_of(state, j, l)
    count = _list_others(state, j, l)
    some, every = state.some.lines, state.every.lines
    change, hope = np.int64(0), np.int64(0)
    for w in range(pays.shape[0]):
        in_some, in_every = np.uint64(0), np.uint64(0)
        for q in range(count):
            in_some |= some[state.others[q], w]
            in_every |= every[state.others[q], w]
        certain = every[l, w] & ~in_some
        state.certain[w] = certain
        state.candidates[w] = gains[w] & some[l, w] & ~in_every
        change += _weight(state, pays[w] & certain, w)
        hope += _weight(state, state.candidates[w], w)
    state.work[0] += 60 + pays.shape[0] * (6 + 3 * count)
    if change - hope > most:
        return change - hope
    for w in range(pays.shape[0]):
        change -= _weight(state, state.candidates[w] & state.certain[w], w)
        left = state.candidates[w] & ~state.certain[w]
        while left:
            i = 64 * w + lowest(left)
            left &= left - np.uint64(1)
            for v in range(state.switched.shape[0]):
                if state.lists.optimal[i, v] & _switched_in(state, i, l, count, v):
                    change -= state.data.copies[i]
                    break
    return change


@helper(allocates=False, forceinline=True)
def _add_to_optimal(state, i, w, found):
    """Find those of some subsets with which a line costs least; return them."""
    digits, least = state.lists.digits[i], state.lists.least[i]
    for d in range(digits.shape[0]):
        found &= digits[d, w] if (least >> d) & 1 else ~digits[d, w]
    state.lists.optimal[i, w] |= found
    return found


@helper(allocates=False)
def _recount(state, i, down):
    """Let the switched subsets of a line cost one less, or one more.

    Returns whether any of these is, or was, optimal.
    """
    lists, switched = state.lists, state.switched
    optimal = lists.optimal[i]
    met, left = np.uint64(0), np.uint64(0)
    for w in range(switched.shape[0]):
        met |= optimal[w] & switched[w]
        left |= optimal[w] & ~switched[w]
        carried, d = switched[w], 0
        while carried:
            digit = lists.digits[i, d, w]
            lists.digits[i, d, w] = digit ^ carried
            carried &= ~digit if down else digit
            d += 1
    if down and met:
        lists.least[i] -= 1
    elif met and not left:
        lists.least[i] += 1
    found = met
    for w in range(switched.shape[0]):
        if down and met:
            optimal[w] &= switched[w]
        elif down:
            found |= _add_to_optimal(state, i, w, switched[w])
        elif met and not left:
            _add_to_optimal(state, i, w, lists.listed[i, w] & ~switched[w])
        elif met:
            optimal[w] &= ~switched[w]
    return found != 0


@helper(allocates=False)
def _switch(state, j, l):
    """Let line ``j`` join component ``l``, or leave it; return by how much the cost goes up.

    The lines of the other side follow.
    """
    pays, gains = _sides_of(state, j, l)
    count = _list_others(state, j, l)
    state.holders[j] ^= np.int64(1) << l
    state.component_bits[l, j >> 6] ^= np.uint64(1) << np.uint64(j & 63)
    lists, inside, change = state.lists, state.inside.lines, np.int64(0)
    state.work[0] += 50 + pays.shape[0] * (4 + 2 * count)
    for w in range(pays.shape[0]):
        # What is listed differs in two components at most: with three of the others, or with two
        # but without this one, there is nothing to switch.
        one, two, three = np.uint64(0), np.uint64(0), np.uint64(0)
        for q in range(count):
            packed = inside[state.others[q], w]
            three |= two & packed
            two |= one & packed
            one |= packed
        left = (pays[w] | gains[w]) & ~((inside[l, w] & three) | (~inside[l, w] & two))
        while left:
            i = 64 * w + lowest(left)
            down = gains[w] & left & (~left + np.uint64(1)) != 0
            left &= left - np.uint64(1)
            anything = np.uint64(0)
            for v in range(state.switched.shape[0]):
                state.switched[v] = _switched_in(state, i, l, count, v)
                anything |= state.switched[v]
            state.work[0] += 15 + 4 * count * state.switched.shape[0]
            if not anything:
                continue
            before = lists.least[i]
            state.work[0] += 75
            if _recount(state, i, down):
                if lists.optimal[i, 0] & np.uint64(1):
                    _summarize(state, i)
                else:
                    _take_first(state, i)
                    _follow(state, i)
            change += (lists.least[i] - before) * state.data.copies[i]
    return change


@helper(allocates=False)
def _begin(state, held, chosen):
    """Let lines hold, and be in, components that are given as bits; return the cost.

    The following lines may find better ones.
    """
    copy_into(state.holders, held)
    state.component_bits[:, :] = 0
    for j in range(held.shape[0]):
        left = held[j]
        while left:
            mark = np.uint64(1) << np.uint64(j & 63)
            state.component_bits[lowest(np.uint64(left)), j >> 6] |= mark
            left &= left - 1
    cost = np.int64(0)
    for i in range(chosen.shape[0]):
        _choose(state.inside, i, chosen[i])
        _follow(state, i)
        cost += state.lists.least[i] * state.data.copies[i]
    return cost


@helper(allocates=False)
def _usual_cost(changes):
    """Return the number in the middle of those above zero; 1 if there is none."""
    costly = np.int64(0)
    for change in changes:
        costly += change > 0
    for middle in changes:
        below, equal = np.int64(0), np.int64(0)
        for change in changes:
            below += 0 < change < middle
            equal += change == middle
        if middle > 0 and 2 * below <= costly < 2 * (below + equal):
            return middle
    return np.int64(1)


@kernel(allocates=False, error_model="numpy")
def anneal(state, walk, steps):
    """Try so many switches, ever fewer of those that cost; return the least cost.

    What that is the cost of is in ``walk``.
    """
    cost = _begin(state, walk.best, walk.followed)
    copy_into(walk.followed, state.inside.of_lines)
    lines, k = state.holders.shape[0], state.component_bits.shape[0]
    # One call, for all there is to look at: it is compiled as a part of this.
    sampled, steps = walk.changes.shape[0], steps + walk.changes.shape[0]
    least, temperature, cooling = cost, 0.0, 1.0
    for step in range(steps):
        if walk.alarm[0]:
            break
        if step == sampled:
            temperature = walk.heat * _usual_cost(walk.changes)
            cooling = walk.cooling ** (-1.0 / max(steps - sampled, 1))
        if step < sampled:
            j, l, most = walk.lines[step], walk.components[step], np.int64(1) << 62
        else:
            j, l = draw(walk.random, lines), draw(walk.random, k)
            temperature *= cooling
            word = random_word(walk.random[0], walk.random[1])
            walk.random[1] += np.uint64(1)
            most = np.int64(-temperature * np.log(1.0 - to_unit_interval(word)))
        change = _change_of(state, j, l, most)
        if step < sampled:
            walk.changes[step] = change
            continue
        if change <= most:
            cost += _switch(state, j, l)
        if cost < least:
            least = cost
            copy_into(walk.best, state.holders)
            copy_into(walk.followed, state.inside.of_lines)
            state.work[0] += walk.followed.shape[0] // 4
    return least
