"""The components of a line, where there is a limit to their number."""

import numpy as np

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.sets import copy_into, has
from elbmf.search.constrained.kernels.state import gain_of, meets, switch, unite_others

__all__ = ["assign_lines"]


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
            unite_others(factors, axis, i, l, covered)
            gained -= gain_of(task, rules, factors, axis, i, l, covered)
            switch(factors, axis, i, l, False)
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
                    unite_others(factors, axis, i, q, covered)
                    worth = gain_of(task, rules, factors, axis, i, q, covered)
                    other, gain = _best(task, rules, factors, axis, i, q)
                    if other >= 0 and gain - worth > most:
                        best, swapped, most = other, q, gain - worth
        if best < 0:
            break
        if swapped >= 0:
            switch(factors, axis, i, swapped, False)
            count -= 1
        switch(factors, axis, i, best, True)
        count += 1
        gained += most
    if gained <= 0:
        for l in range(k):
            switch(factors, axis, i, l, has(before, l))
        return np.int64(0)
    return gained


@helper(allocates=False)
def _best(task, rules, factors, axis, i, without):
    """Find the component that a line gains most by, not counting one that it has.

    Returns which, below zero if there is none, and the gain.
    """
    covered, membership = factors.covered[1 - axis], factors.memberships[axis][i]
    unite_others(factors, axis, i, without, covered)
    best, most = np.int64(-1), np.int64(0)
    for l in range(factors.sizes.shape[1]):
        if has(membership, l) or l < rules.fixed[axis] or factors.sizes[1 - axis, l] == 0:
            continue
        size = factors.sizes[axis, l]
        if size + 1 < rules.least[axis] or size >= rules.most[axis]:
            continue
        if axis == 1 and meets(rules.apart, i, factors.component_bits[1][l]):
            continue
        gain = gain_of(task, rules, factors, axis, i, l, covered)
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
