"""The best lines of one side of a component, within limits, given its other side.

Given the columns of a component and all other components, each row has a gain of its own: what the
ones are worth that the component would newly cover in it, less the zeros. So the best rows are
those with the largest gains, as many of them as the limits allow, and no fewer than they ask for;
and likewise the best columns, given the rows.
"""

import numpy as np

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.sets import copy_into, has, lowest
from elbmf.search.constrained.kernels.state import (
    NEVER,
    gain_of,
    meets,
    set_bit,
    set_side,
    unite_others,
)

__all__ = ["ABSORB", "IMPROVE", "REPAIR", "choose_lines"]

IMPROVE, REPAIR, ABSORB = 0, 1, 2
"""How lines are chosen: only for the better, as the limits want it, or all that do no harm."""


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
                set_bit(touched, across.indices[e], True)
            if required.indptr.shape[0]:
                for e in range(required.indptr[j], required.indptr[j + 1]):
                    set_bit(touched, required.indices[e], True)
            factors.work[0] += 5 + 2 * (across.indptr[j + 1] - across.indptr[j])


@helper(allocates=False)
def _weigh(task, rules, factors, axis, l, everyone):
    """Find out what each line that is touched, or everyone, gains by a component."""
    touched, gains, covered = factors.touched[axis], factors.gains[axis], factors.covered[1 - axis]
    for i in range(gains.shape[0]):
        if has(touched, i) == everyone:
            # Weighed already, or not to be weighed.
            continue
        count = unite_others(factors, axis, i, l, covered)
        gains[i] = NEVER
        if count < rules.per_line[axis]:
            gains[i] = gain_of(task, rules, factors, axis, i, l, covered)
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
    before, worthy, threshold = np.int64(0), 0, np.int64(0 if how == ABSORB else 1)
    for i in range(gains.shape[0]):
        if has(factors.touched[axis], i):
            if how != REPAIR and has(own, i):
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
            if separate and meets(apart, i, chosen):
                continue
            set_bit(chosen, i, True)
            after += gains[i]
            count += 1
    else:
        for i in range(gains.shape[0]):
            if has(factors.touched[axis], i) and gains[i] >= threshold:
                set_bit(chosen, i, True)
                after += gains[i]
                count += 1
    if count < max(least, 1):
        return NEVER if how == REPAIR else np.int64(0)
    if how == ABSORB and after < before:
        return np.int64(0)
    # Of sides that gain the same, the shorter is easier to read.
    if how == IMPROVE and (after < before or (after == before and count >= factors.sizes[axis, l])):
        return np.int64(0)
    set_side(factors, axis, l, chosen)
    return after if how == REPAIR else after - before
