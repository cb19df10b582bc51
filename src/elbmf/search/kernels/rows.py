"""The row problem: which components describe one row best, the components being fixed.

A row of A and the *component_bits* of the components (their columns, packed) are words of 64 cells.
With a set S of components on, the row costs ``one`` for each of its ones outside the union of S
and ``zero`` for each of its zeros inside. Cells that count for nothing are treated as covered from
the start: no component gains or loses by them. So are, when only some components are *free* to
change, the cells that the others cover.

Rows and columns are alike: *line* means either.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.sets import copy_into, count_fresh, has, unite_from_each_on, unite_into

__all__ = ["Problem", "Room", "cost_of", "decide", "gain_of", "settle_certain", "work_per_line"]

_NO_COST = np.iinfo(np.int64).max


class Problem(NamedTuple):
    """Which components describe one line best.

    Parameters
    ----------
    row : ndarray of uint64
        The ones of the line, and the cells that count for nothing.
    base : ndarray of uint64
        What is covered in any case.
    component_bits : ndarray of uint64
        The components.
    one, zero : int
        Cost of an uncovered one and of a covered zero.
    """

    row: NDArray[np.uint64]
    base: NDArray[np.uint64]
    component_bits: NDArray[np.uint64]
    one: int
    zero: int


class Room(NamedTuple):
    """Room to solve the problem of one line after another.

    Parameters
    ----------
    unions : ndarray of uint64, of shape (2, words)
        What is covered by each of two memberships.
    stacks : ndarray of uint64, of shape (3, k + 1, words)
        Unions of the components up to, or from, each.
    members : ndarray of bool, of shape (2, k)
        Two memberships.
    trial : ndarray of int8, of shape (k + 1,)
        Decisions of the search.
    ones : ndarray of int64, of shape (k,)
        A count for each component.
    """

    unions: NDArray[np.uint64]
    stacks: NDArray[np.uint64]
    members: NDArray[np.bool_]
    trial: NDArray[np.int8]
    ones: NDArray[np.int64]


@kernel()
def work_per_line(words):
    """Work it takes to go over the words of a line once: about as many nanoseconds."""
    return 6 + words // 2


@kernel()
def cost_of(row, union, one, zero):
    """Cost of covering ``union`` when the ones are those of ``row``."""
    missed = 0
    extra = 0
    for w in range(row.shape[0]):
        missed += popcount(row[w] & ~union[w])
        extra += popcount(union[w] & ~row[w])
    return one * missed + zero * extra


# Inlined for the reason given in `elbmf.kernels.sets`.
@kernel(inline="always")
def gain_of(row, packed, one, zero, covered, later=None):
    """By how much a packed set lowers the cost, given what is covered, or will be later."""
    ones, cells = count_fresh(row, packed, covered, later)
    return (one + zero) * ones - zero * cells


@kernel()
def settle_certain(problem, candidates, verdicts, before, later):
    """Decide the components that every best membership leaves out, or has.

    Left out is one whose ones are worth no more than the zeros that only it covers; on is one
    whose zeros are worth less than the ones that only it covers. Each decision may bring others.

    Parameters
    ----------
    problem : Problem
        Its ``base`` is extended by what is on.
    candidates : ndarray
        The components; those still undecided come first in the end.
    verdicts : ndarray of int8
        By component: 0 for off, 1 for on, 2 for undecided.
    before, later : ndarray
        Room for words.

    Returns
    -------
    int
        How many are undecided.
    """
    row, base, component_bits, one, zero = problem
    count = candidates.shape[0]
    for l in candidates:
        verdicts[l] = 2
    settled = True
    while settled and count:
        settled = False
        unite_from_each_on(component_bits, candidates[:count], later)
        before[:] = 0
        kept = 0
        for c in range(count):
            l = candidates[c]
            packed = component_bits[l]
            ones = 0
            cells = 0
            own_ones = 0
            own_cells = 0
            # Both at once: counting them one after the other takes noticeably longer.
            for w in range(row.shape[0]):
                fresh = packed[w] & ~base[w]
                alone = fresh & ~(before[w] | later[c + 1, w])
                ones += popcount(fresh & row[w])
                cells += popcount(fresh)
                own_ones += popcount(alone & row[w])
                own_cells += popcount(alone)
            if one * ones <= zero * (own_cells - own_ones):
                verdicts[l] = 0
                settled = True
            elif one * own_ones > zero * (cells - ones):
                verdicts[l] = 1
                settled = True
                unite_into(base, packed)
            else:
                unite_into(before, packed)
                candidates[kept] = l
                kept += 1
        count = kept
    return count


@kernel()
def _sort_by_ones(problem, candidates, ones):
    """Order components by the uncovered ones they would cover, most first."""
    for c in range(candidates.shape[0]):
        l = candidates[c]
        count, _ = count_fresh(problem.row, problem.component_bits[l], problem.base)
        d = c
        while d > 0 and ones[d - 1] < count:
            ones[d] = ones[d - 1]
            candidates[d] = candidates[d - 1]
            d -= 1
        ones[d] = count
        candidates[d] = l


@kernel()
def _build_greedily(problem, candidates, member, union):
    """Switch on the component that gains most, again and again, starting from none."""
    row, base, component_bits, one, zero = problem
    member[:] = False
    copy_into(union, base)
    while True:
        best = -1
        best_gain = 0
        for c in range(candidates.shape[0]):
            if not member[c]:
                gain = gain_of(row, component_bits[candidates[c]], one, zero, union)
                if gain > best_gain:
                    best = c
                    best_gain = gain
        if best < 0:
            break
        member[best] = True
        unite_into(union, component_bits[candidates[best]])


@kernel()
def _switch_singly(problem, candidates, member, union, later):
    """Sweep over the components, switching each to what is best given the others.

    ``later[c]`` is the union of the candidates from the ``c``-th on that are on; before it there
    is ``union``, which in the end is all that is covered. Returns the number of sweeps.
    """
    row, base, component_bits, one, zero = problem
    sweeps = 0
    changed = True
    while changed:
        changed = False
        sweeps += 1
        unite_from_each_on(component_bits, candidates, later, member)
        copy_into(union, base)
        for c in range(candidates.shape[0]):
            packed = component_bits[candidates[c]]
            # A gain of zero switches off: the same loss with fewer components.
            on = gain_of(row, packed, one, zero, union, later[c + 1]) > 0
            if member[c] != on:
                member[c] = on
                changed = True
            if on:
                unite_into(union, packed)
    return sweeps


@kernel()
def _search_subsets(problem, candidates, cost, nodes, member, union, prefix, reach, trial):
    """Branch and bound over all subsets of the candidates, for one that costs less than ``cost``.

    ``prefix[d]`` is what the first ``d`` decisions cover, ``reach[d]`` what those left could. A
    branch ends when its covered zeros, and the ones that are out of its reach, cost too much
    already. At most ``nodes`` branches are looked at. When something better is found, ``member``
    and ``union`` become the best. Returns the least cost and the nodes that are left.
    """
    row, base, component_bits, one, zero = problem
    count = candidates.shape[0]
    unite_from_each_on(component_bits, candidates, reach)
    copy_into(prefix[0], base)
    depth = 0
    # Decisions at each depth: 0 none yet, 1 on, 2 off.
    trial[0] = 0
    while depth >= 0 and nodes > 0:
        if depth == count:
            # With nothing left to reach the bound is the cost itself, and it was below.
            cost = cost_of(row, prefix[depth], one, zero)
            copy_into(union, prefix[depth])
            for c in range(count):
                member[c] = trial[c] == 1
            depth -= 1
            continue
        if trial[depth] == 2:
            depth -= 1
            continue
        trial[depth] += 1
        nodes -= 1
        missed = 0
        extra = 0
        packed = component_bits[candidates[depth]]
        chosen = ~np.uint64(0) if trial[depth] == 1 else np.uint64(0)
        for w in range(row.shape[0]):
            covered = prefix[depth, w] | (packed[w] & chosen)
            prefix[depth + 1, w] = covered
            extra += popcount(covered & ~row[w])
            missed += popcount(row[w] & ~(covered | reach[depth + 1, w]))
        if one * missed + zero * extra < cost:
            depth += 1
            if depth < count:
                trial[depth] = 0
    return cost, nodes


@kernel()
def _polish(problem, candidates, nodes, member, union, room, work):
    """Improve a membership until neither single switches nor the search find any better.

    Returns the cost; adds to ``work`` what it took.
    """
    later, prefix, reach = room.stacks[0], room.stacks[1], room.stacks[2]
    cost = _NO_COST
    steps = 0
    while True:
        sweeps = _switch_singly(problem, candidates, member, union, later)
        switched = cost_of(problem.row, union, problem.one, problem.zero)
        steps += 3 * sweeps * candidates.shape[0]
        if switched >= cost:
            break
        cost, left = _search_subsets(
            problem, candidates, switched, nodes, member, union, prefix, reach, room.trial
        )
        steps += 3 * (nodes - left)
        if cost == switched:
            break
    work[0] += steps * work_per_line(problem.row.shape[0])
    return cost


# Inlined for the reason given in `elbmf.kernels.sets`.
@kernel(inline="always")
def decide(problem, candidates, membership, nodes, afresh, verdicts, room, work):
    """Decide the components that are not certain, starting from those a line is in.

    With ``afresh`` also from nothing, and that is taken unless it is worse. Returns the cost.
    """
    count = candidates.shape[0]
    _sort_by_ones(problem, candidates, room.ones)
    member, other_member = room.members[0, :count], room.members[1, :count]
    union, other_union = room.unions[0], room.unions[1]
    for c in range(count):
        member[c] = has(membership, candidates[c])
    cost = _polish(problem, candidates, nodes, member, union, room, work)
    if afresh:
        _build_greedily(problem, candidates, other_member, other_union)
        other_cost = _polish(problem, candidates, nodes, other_member, other_union, room, work)
        if other_cost <= cost:
            copy_into(member, other_member)
            cost = other_cost
    for c in range(count):
        verdicts[candidates[c]] = member[c]
    return cost
