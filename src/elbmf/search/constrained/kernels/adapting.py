"""A component that adapts within limits: its two sides take turns."""

import numpy as np

from elbmf.kernels.compiling import call_at, helper, kernel
from elbmf.kernels.sets import lowest
from elbmf.search.constrained.kernels.choosing import ABSORB, IMPROVE, REPAIR
from elbmf.search.constrained.kernels.state import NEVER, gain_of, is_over, switch, unite_others

__all__ = [
    "ADAPT",
    "REPAIR_COLUMNS",
    "REPAIR_ROWS",
    "ROWS",
    "VALUE",
    "WHOLE",
    "clear_sides",
    "work_within",
]

ADAPT, VALUE, REPAIR_ROWS, REPAIR_COLUMNS = 0, 1, 2, 3
"""What is done with a component."""

ROWS, WHOLE = 1, 2
"""What is cleared of a component: only its rows, or both of its sides."""


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
            unite_others(factors, 0, i, l, covered)
            value += gain_of(task, rules, factors, 0, i, l, covered)
    return value


@helper(allocates=False)
def clear_sides(factors, l, sides):
    """Take all lines out of a component: its rows, or `WHOLE`, its columns, too."""
    for axis in range(sides):
        own = factors.component_bits[axis][l]
        for w in range(own.shape[0]):
            word = own[w]
            while word:
                i = 64 * w + lowest(word)
                word &= word - np.uint64(1)
                switch(factors, axis, i, l, False)


@helper(allocates=False)
def _adapt(task, rules, factors, address, l):
    """Let the sides of a component take turns until neither changes; return the gain.

    A component that is worth nothing is emptied: of one whose columns are fixed, which has all rows
    that lose nothing by it, the rows.
    """
    gained, quiet, axis = np.int64(0), 0, 0
    while quiet < 2 and not is_over(factors):
        gain = np.int64(0)
        if l >= rules.fixed[axis]:
            how = np.int64(ABSORB if l < rules.fixed[1] else IMPROVE)
            gain = call_at(address, (task, rules, factors, np.int64(axis), np.int64(l), how))
        gained += gain
        quiet = 0 if gain else quiet + 1
        axis = 1 - axis
    if l >= rules.fixed[0] and factors.sizes[0, l]:
        value, kept = _value_of(task, rules, factors, l), l < rules.fixed[1]
        if value < 0 or (value == 0 and not kept):
            clear_sides(factors, l, ROWS if kept else WHOLE)
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
        how, line = np.int64(REPAIR), np.int64(l)
        value = call_at(address, (task, rules, factors, first, line, how))
        if value != NEVER:
            # What it is worth is known only now that both sides keep to the rules.
            value = call_at(address, (task, rules, factors, 1 - first, line, how))
        if value == NEVER:
            clear_sides(factors, l, WHOLE)
            return np.int64(0)
    return value + _adapt(task, rules, factors, address, l)
