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

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.sets import copy_into, count_fresh, has, unite_from_each_on, unite_into

__all__ = [
    "Prices",
    "Problem",
    "Workspace",
    "cost_of",
    "decide",
    "gain_of",
    "settle_certain",
    "work_per_line",
]

_NO_COST = np.iinfo(np.int64).max


class Prices(NamedTuple):
    """Cost of an uncovered one and of a covered zero."""

    one: int
    zero: int


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
    prices : Prices
        Of the two kinds of error.
    """

    row: NDArray[np.uint64]
    base: NDArray[np.uint64]
    component_bits: NDArray[np.uint64]
    prices: Prices


class Workspace(NamedTuple):
    """Buffers to solve the problem of one line after another, for one thread.

    Made once and handed in: kernels that allocate take longer to compile, and to run.

    Parameters
    ----------
    lines : ndarray of uint64, of shape (4, words)
        Row and base of the `Problem`, and what is covered by each of two memberships.
    stacks : ndarray of uint64, of shape (3, k + 1, words)
        Unions of the components up to, or from, each.
    members : ndarray of bool, of shape (2, k)
        Two memberships.
    decisions : ndarray of int8, of shape (2, k + 1)
        Of the search at each depth, and in the end on each component.
    counts : ndarray of int64, of shape (2, k)
        A count for each component, and a list of components.
    sets : ndarray of uint64, of shape (2, ceil(k / 64))
        Components that touch a line, and those that changed, packed.
    overlaps : ndarray of int64, of shape (k, k) or (0, 0)
        Cells that components share.
    work : ndarray of int64, of shape (1,)
        What was done, about in nanoseconds.
    alarm : ndarray of uint8, of shape (1,)
        Whether to leave the rest of the lines as they are; see `Alarm`.
    """

    lines: NDArray[np.uint64]
    stacks: NDArray[np.uint64]
    members: NDArray[np.bool_]
    decisions: NDArray[np.int8]
    counts: NDArray[np.int64]
    sets: NDArray[np.uint64]
    overlaps: NDArray[np.int64]
    work: NDArray[np.int64]
    alarm: NDArray[np.uint8]

    @classmethod
    def of(
        cls,
        component_bits: NDArray[np.uint64],
        *,
        with_overlaps: bool = False,
        alarm: NDArray[np.uint8] | None = None,
    ) -> "Workspace":
        """Make the buffers for lines that are described by packed components."""
        k, words = component_bits.shape
        return cls(
            lines=np.empty((4, words), dtype=np.uint64),
            stacks=np.empty((3, k + 1, words), dtype=np.uint64),
            members=np.empty((2, k), dtype=np.bool_),
            decisions=np.empty((2, k + 1), dtype=np.int8),
            counts=np.empty((2, k), dtype=np.int64),
            sets=np.zeros((2, -(-k // 64)), dtype=np.uint64),
            overlaps=np.empty((k, k) if with_overlaps else (0, 0), dtype=np.int64),
            work=np.zeros(1, dtype=np.int64),
            alarm=np.zeros(1, dtype=np.uint8) if alarm is None else alarm,
        )

    @property
    def changed(self) -> NDArray[np.uint64]:
        """Components that some line entered or left, packed."""
        changed: NDArray[np.uint64] = self.sets[1]
        return changed


@helper(allocates=False)
def work_per_line(words):
    """Work it takes to go over the words of a line once: about as many nanoseconds."""
    return 6 + words // 2


@helper(allocates=False)
def cost_of(row, union, prices):
    """Cost of covering ``union`` when the ones are those of ``row``."""
    missed = 0
    extra = 0
    for w in range(row.shape[0]):
        missed += popcount(row[w] & ~union[w])
        extra += popcount(union[w] & ~row[w])
    return prices.one * missed + prices.zero * extra


@helper(allocates=False, forceinline=True)
def gain_of(row, packed, prices, covered, later):
    """By how much a packed set lowers the cost, given what is covered, or will be later."""
    ones, cells = count_fresh(row, packed, covered, later)
    return (prices.one + prices.zero) * ones - prices.zero * cells


@kernel(inline="always")
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
        Buffers for words.

    Returns
    -------
    int
        How many are undecided.
    """
    row, base, component_bits, prices = problem
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
            if prices.one * ones <= prices.zero * (own_cells - own_ones):
                verdicts[l] = 0
                settled = True
            elif prices.one * own_ones > prices.zero * (cells - ones):
                verdicts[l] = 1
                settled = True
                unite_into(base, packed)
            else:
                unite_into(before, packed)
                candidates[kept] = l
                kept += 1
        count = kept
    return count


@kernel(inline="always")
def _sort_by_ones(problem, candidates, ones):
    """Order components by the uncovered ones they would cover, most first."""
    for c in range(candidates.shape[0]):
        l = candidates[c]
        count, _ = count_fresh(problem.row, problem.component_bits[l], problem.base, problem.base)
        d = c
        while d > 0 and ones[d - 1] < count:
            ones[d] = ones[d - 1]
            candidates[d] = candidates[d - 1]
            d -= 1
        ones[d] = count
        candidates[d] = l


@kernel(inline="always")
def _build_greedily(problem, candidates, member, union):
    """Switch on the component that gains most, again and again, starting from none."""
    row, base, component_bits, prices = problem
    member[:] = False
    copy_into(union, base)
    while True:
        best = -1
        best_gain = 0
        for c in range(candidates.shape[0]):
            if not member[c]:
                gain = gain_of(row, component_bits[candidates[c]], prices, union, union)
                if gain > best_gain:
                    best = c
                    best_gain = gain
        if best < 0:
            break
        member[best] = True
        unite_into(union, component_bits[candidates[best]])


@kernel(inline="always")
def _switch_singly(problem, candidates, member, union, later):
    """Sweep over the components, switching each to what is best given the others.

    ``later[c]`` is the union of the candidates from the ``c``-th on that are on; before it there
    is ``union``, which in the end is all that is covered. Returns the number of sweeps.
    """
    row, base, component_bits, prices = problem
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
            on = gain_of(row, packed, prices, union, later[c + 1]) > 0
            if member[c] != on:
                member[c] = on
                changed = True
            if on:
                unite_into(union, packed)
    return sweeps


@kernel(inline="always")
def _search_subsets(problem, candidates, cost, nodes, member, union, prefix, reach, trial):
    """Branch and bound over all subsets of the candidates, for one that costs less than ``cost``.

    ``prefix[d]`` is what the first ``d`` decisions cover, ``reach[d]`` what those left could. A
    branch ends when its covered zeros, and the ones that are out of its reach, cost too much
    already. At most ``nodes`` branches are looked at. When something better is found, ``member``
    and ``union`` become the best. Returns the least cost and the nodes that are left.
    """
    row, base, component_bits, prices = problem
    count = candidates.shape[0]
    unite_from_each_on(component_bits, candidates, reach)
    copy_into(prefix[0], base)
    depth = 0
    # Decisions at each depth: 0 none yet, 1 on, 2 off.
    trial[0] = 0
    while depth >= 0 and nodes > 0:
        if depth == count:
            # With nothing left to reach the bound is the cost itself, and it was below.
            cost = cost_of(row, prefix[depth], prices)
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
        if prices.one * missed + prices.zero * extra < cost:
            depth += 1
            if depth < count:
                trial[depth] = 0
    return cost, nodes


@kernel(inline="always")
def _polish(problem, candidates, nodes, member, union, workspace):
    """Improve a membership until neither single switches nor the search find any better.

    Returns the cost; adds what it took to the work that was done.
    """
    stacks = workspace.stacks
    later, prefix, reach = stacks[0], stacks[1], stacks[2]
    cost = _NO_COST
    steps = 0
    while True:
        sweeps = _switch_singly(problem, candidates, member, union, later)
        switched = cost_of(problem.row, union, problem.prices)
        steps += 3 * sweeps * candidates.shape[0]
        if switched >= cost:
            break
        cost, left = _search_subsets(
            problem,
            candidates,
            switched,
            nodes,
            member,
            union,
            prefix,
            reach,
            workspace.decisions[0],
        )
        steps += 3 * (nodes - left)
        if cost == switched:
            break
    workspace.work[0] += steps * work_per_line(problem.row.shape[0])
    return cost


@kernel(inline="always")
def decide(problem, candidates, membership, nodes, afresh, workspace):
    """Decide the components that are not certain, starting from those a line is in.

    With ``afresh`` also from nothing, and that is taken unless it is worse. Returns the cost.
    """
    count = candidates.shape[0]
    _sort_by_ones(problem, candidates, workspace.counts[0])
    best = 0
    cost = _NO_COST
    for way in range(2 if afresh else 1):
        member, union = workspace.members[way, :count], workspace.lines[2 + way]
        if way == 0:
            for c in range(count):
                member[c] = has(membership, candidates[c])
        else:
            _build_greedily(problem, candidates, member, union)
        its_cost = _polish(problem, candidates, nodes, member, union, workspace)
        if its_cost <= cost:
            best = way
            cost = its_cost
    for c in range(count):
        workspace.decisions[1, candidates[c]] = workspace.members[best, c]
    return cost
