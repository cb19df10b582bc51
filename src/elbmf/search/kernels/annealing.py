"""One side of the factors is annealed, and each line of the other has what is best for it.

With few components, what a line would cost with every *subset* of them can be known at any time. A
line of the annealed side that joins a component, or leaves it, changes these costs by one or not at
all, so that it is enough to know which subsets are *optimal*: the least of a line goes down if one
of these does, and up if all of them do. Costs and optimal subsets are packed, 64 subsets to a word;
costs as their binary digits.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.randomness import draw, random_word, to_unit_interval
from elbmf.kernels.sets import copy_into, lowest

__all__ = ["Annealing", "Walk", "anneal", "begin", "changes", "choose"]


class Annealing(NamedTuple):
    """Factors of which one side is annealed.

    Parameters
    ----------
    signs : ndarray of int8, of shape (annealed lines, following lines)
        What a following line costs more when a cell is covered: 1 for zeros, -1 for ones, 0 for
        missing cells.
    copies : ndarray of int64
        How many lines each of the following stands for.
    patterns : ndarray of uint64, of shape (k, words)
        The subsets that each component is in.
    holders : ndarray of int64
        The components of each annealed line, as bits.
    digits : ndarray of uint64, of shape (following lines, digits, words)
        What each following line costs with each subset, in binary digits, the lowest first.
    optimal : ndarray of uint64, of shape (following lines, words)
        The subsets with which it costs least.
    least : ndarray of int64
        What it costs then.
    some, every : ndarray of int64
        Components that are in some, and those that are in each, of its optimal subsets, as bits.
    switched : ndarray of uint64
        A buffer for the subsets that a switch changes.
    """

    signs: NDArray[np.int8]
    copies: NDArray[np.int64]
    patterns: NDArray[np.uint64]
    holders: NDArray[np.int64]
    digits: NDArray[np.uint64]
    optimal: NDArray[np.uint64]
    least: NDArray[np.int64]
    some: NDArray[np.int64]
    every: NDArray[np.int64]
    switched: NDArray[np.uint64]


class Walk(NamedTuple):
    """How to go, and where it has led to.

    Parameters
    ----------
    hot, cold : float
        Temperature at first and at last: what may be lost in a step, about.
    random : ndarray of uint64, of shape (2,)
        Key of the random numbers, and how many were drawn.
    best : ndarray of int64
        The holders at the best place so far.
    work : ndarray of int64, of shape (1,)
        What was done, about in nanoseconds.
    alarm : ndarray of uint8, of shape (1,)
        Whether to end as soon as that can be.
    """

    hot: float
    cold: float
    random: NDArray[np.uint64]
    best: NDArray[np.int64]
    work: NDArray[np.int64]
    alarm: NDArray[np.uint8]


@helper(allocates=False, forceinline=True)
def _find_switched(state, j, l):
    """Find the subsets in which component ``l`` alone has the line ``j``, or would have."""
    others = state.holders[j] & ~(np.int64(1) << l)
    for w in range(state.switched.shape[0]):
        state.switched[w] = state.patterns[l, w]
    q = 0
    while others:
        if others & 1:
            for w in range(state.switched.shape[0]):
                state.switched[w] &= ~state.patterns[q, w]
        others >>= 1
        q += 1


@helper(allocates=False, forceinline=True)
def _meets(state, i):
    for w in range(state.switched.shape[0]):
        if state.optimal[i, w] & state.switched[w]:
            return True
    return False


@helper(allocates=False, forceinline=True)
def _goes_down(state, i, mark, others):
    """Tell whether an optimal subset of a line is switched."""
    if not state.some[i] & mark or state.every[i] & others:
        return False
    return (state.every[i] & mark and not state.some[i] & others) or _meets(state, i)


@helper(allocates=False, forceinline=True)
def _goes_up(state, i, mark, others):
    """Tell whether all optimal subsets of a line are switched."""
    return state.every[i] & mark and not state.some[i] & others


@helper(allocates=False)
def _change_of(state, j, l):
    """Return by how much the cost goes up when line ``j`` joins component ``l``, or leaves it.

    The `Annealing` stays as it is, but for the subsets that would change.
    """
    _find_switched(state, j, l)
    mark = np.int64(1) << l
    others = state.holders[j] & ~mark
    ones = 1 if state.holders[j] & mark else -1
    change = np.int64(0)
    for i in range(state.least.shape[0]):
        if state.signs[j, i] == ones:
            if _goes_down(state, i, mark, others):
                change -= state.copies[i]
        elif state.signs[j, i] == -ones and _goes_up(state, i, mark, others):
            change += state.copies[i]
    return change


@helper(allocates=False, forceinline=True)
def _add_to_optimal(state, i, within, cost):
    """Find the subsets, in or out of the switched ones, with which a line costs as much.

    Returns whether there are any.
    """
    digits, optimal, any_found = state.digits[i], state.optimal[i], np.uint64(0)
    for w in range(optimal.shape[0]):
        found = state.switched[w] if within else state.patterns[state.patterns.shape[0] - 1, w]
        found = found if within else found & ~state.switched[w]
        for d in range(digits.shape[0]):
            digit = digits[d, w]
            found &= digit if (cost >> d) & 1 else ~digit
        optimal[w] |= found
        any_found |= found
    return any_found != 0


@helper(allocates=False, forceinline=True)
def _summarize(state, i):
    """Find out which components are in some, and in each, of the optimal subsets of a line."""
    some, every = np.int64(0), np.int64(0)
    for q in range(state.patterns.shape[0] - 1):
        inside, outside = np.uint64(0), np.uint64(0)
        for w in range(state.switched.shape[0]):
            inside |= state.optimal[i, w] & state.patterns[q, w]
            outside |= state.optimal[i, w] & ~state.patterns[q, w]
        some |= np.int64(inside != 0) << q
        every |= np.int64(outside == 0) << q
    state.some[i], state.every[i] = some, every


@helper(allocates=False)
def _switch(state, j, l):
    """Let line ``j`` join component ``l``, or leave it; return by how much the cost goes up.

    The lines of the other side follow.
    """
    _find_switched(state, j, l)
    mark = np.int64(1) << l
    others = state.holders[j] & ~mark
    ones = 1 if state.holders[j] & mark else -1
    state.holders[j] ^= mark
    change = np.int64(0)
    for i in range(state.least.shape[0]):
        if state.signs[j, i] == 0:
            continue
        down = state.signs[j, i] == ones
        digits, optimal = state.digits[i], state.optimal[i]
        for w in range(optimal.shape[0]):
            carried = state.switched[w]
            for d in range(digits.shape[0]):
                digit = digits[d, w]
                digits[d, w] = digit ^ carried
                carried &= ~digit if down else digit
        changed = True
        if down and _goes_down(state, i, mark, others):
            state.least[i] -= 1
            change -= state.copies[i]
            for w in range(optimal.shape[0]):
                optimal[w] &= state.switched[w]
        elif down:
            changed = _add_to_optimal(state, i, True, state.least[i])
        elif _goes_up(state, i, mark, others):
            state.least[i] += 1
            change += state.copies[i]
            _add_to_optimal(state, i, False, state.least[i])
        elif state.some[i] & mark and not state.every[i] & others:
            for w in range(optimal.shape[0]):
                optimal[w] &= ~state.switched[w]
        else:
            changed = False
        if changed:
            _summarize(state, i)
    return change


@kernel(allocates=False)
def begin(state, held):
    """Let the components have no line, and then those that are ``held``; return the cost.

    The last of the patterns is all subsets.
    """
    k = state.patterns.shape[0] - 1
    everything = state.patterns[k]
    state.holders[:] = 0
    cost = np.int64(0)
    for i in range(state.least.shape[0]):
        ones = np.int64(0)
        for j in range(state.holders.shape[0]):
            ones += state.signs[j, i] < 0
        for d in range(state.digits.shape[1]):
            state.digits[i, d, :] = ~np.uint64(0) if (ones >> d) & 1 else np.uint64(0)
        copy_into(state.optimal[i], everything)
        state.some[i], state.every[i] = (np.int64(1) << k) - 1, 0
        state.least[i] = ones
        cost += ones * state.copies[i]
    for j in range(state.holders.shape[0]):
        l, left = np.int64(0), held[j]
        while left:
            if left & 1:
                cost += _switch(state, j, l)
            left >>= 1
            l += 1
    return cost


@kernel(allocates=False)
def changes(state, costs):
    """Find out by how much the cost goes up with each switch, of a line and a component."""
    for j in range(costs.shape[0]):
        for l in range(costs.shape[1]):
            costs[j, l] = _change_of(state, j, l)


@kernel(allocates=False)
def choose(state, chosen):
    """Choose an optimal subset for each of the lines that follow, as bits: the first."""
    for i in range(chosen.shape[0]):
        w = 0
        while state.optimal[i, w] == 0:
            w += 1
        chosen[i] = 64 * w + lowest(state.optimal[i, w])


@kernel(allocates=False, error_model="numpy")
def anneal(state, walk, cost, steps):
    """Try so many switches, ever fewer of those that cost; return the least cost.

    What that is the cost of is in ``walk.best``. If nothing in the first half costs less than the
    start, it is the least of the second half: another place, even if that is no better.
    """
    lines, k = state.holders.shape[0], state.patterns.shape[0] - 1
    following, words = state.least.shape[0], state.switched.shape[0]
    least, before, temperature = cost, cost, walk.hot
    cooling = (walk.cold / walk.hot) ** (1.0 / max(steps, 1))
    copy_into(walk.best, state.holders)
    for step in range(steps):
        if walk.alarm[0]:
            break
        if 2 * step >= steps and least == before:
            before = least = cost + 1
        j, l = draw(walk.random, lines), draw(walk.random, k)
        change = _change_of(state, j, l)
        walk.work[0] += 30 + following * (3 + words // 4)
        temperature *= cooling
        word = random_word(walk.random[0], walk.random[1])
        walk.random[1] += np.uint64(1)
        if change <= 0 or to_unit_interval(word) < np.exp(-change / temperature):
            cost += _switch(state, j, l)
            walk.work[0] += following * (20 + 4 * words)
        if cost < least:
            least = cost
            copy_into(walk.best, state.holders)
    return least
