"""The data, the rules and the factors, and what a line gains by a component."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper
from elbmf.kernels.sets import has, lowest, unite_into
from elbmf.search.kernels.lines import Lines

__all__ = [
    "NEVER",
    "Cells",
    "Factors",
    "Rules",
    "Task",
    "gain_of",
    "is_over",
    "meets",
    "set_bit",
    "set_side",
    "switch",
    "unite_others",
]

NEVER = np.iinfo(np.int64).min
"""What a line gains by a component that it may not have."""


class Cells(NamedTuple):
    """Some cells of each line, as a sparse pattern; without any lines where there are none."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]


class Rules(NamedTuple):
    """What components must keep to; each pair is for the rows and for the columns.

    Parameters
    ----------
    least, most : ndarray of int64, of length 2
        Lines that a component has, unless it is empty.
    per_line : ndarray of int64, of length 2
        Components that a line has at most.
    forbidden, required : pair of Cells
        That may not be covered, or must.
    apart : Cells
        Columns that may not be in one component with each column.
    fixed : ndarray of int64, of length 2
        Components, the first ones, whose rows and whose columns are not to change.
    from_below : bool
        Whether no zero may be covered.
    """

    least: NDArray[np.int64]
    most: NDArray[np.int64]
    per_line: NDArray[np.int64]
    forbidden: tuple[Cells, Cells]
    required: tuple[Cells, Cells]
    apart: Cells
    fixed: NDArray[np.int64]
    from_below: bool


class Task(NamedTuple):
    """The data, and what its errors cost.

    Parameters
    ----------
    lines : pair of Lines
        Where the ones are, and the missing cells.
    weights : pair of ndarray of int64
        Of each line.
    prices : ndarray of int64, of length 3
        Of a one that is not covered, of a zero that is, and of a required cell that is not.
    """

    lines: tuple[Lines, Lines]
    weights: tuple[NDArray[np.int64], NDArray[np.int64]]
    prices: NDArray[np.int64]


class Factors(NamedTuple):
    """Factors, and buffers for work on them; each pair is for the rows and for the columns.

    Parameters
    ----------
    memberships, component_bits : as in `Bits`
        The factors.
    sizes : ndarray of int64, of shape (2, k)
        Lines of each component.
    saved : pair of ndarray of uint64
        Component bits to go back to.
    covered, touched, chosen, kept : pair of ndarray of uint64
        Lines of either side, packed: what a line of the other side covers; those that may gain by
        a component; those that it is to have; those that it had.
    before : ndarray of uint64
        The components that a line had.
    gains, candidates : pair of ndarray of int64
        Of each line.
    random : ndarray of uint64, of length 2
        The key of random numbers, and how many were drawn.
    work : ndarray of int64, of length 2
        Steps that were taken, about a nanosecond each, and after how many to end.
    alarm : ndarray of uint8, of length 1
        Not zero when it is time to end.
    """

    memberships: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    component_bits: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    sizes: NDArray[np.int64]
    saved: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    covered: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    touched: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    chosen: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    kept: tuple[NDArray[np.uint64], NDArray[np.uint64]]
    before: NDArray[np.uint64]
    gains: tuple[NDArray[np.int64], NDArray[np.int64]]
    candidates: tuple[NDArray[np.int64], NDArray[np.int64]]
    random: NDArray[np.uint64]
    work: NDArray[np.int64]
    alarm: NDArray[np.uint8]


@helper(allocates=False, forceinline=True)
def is_over(factors):
    """Tell whether to leave all else as it is."""
    return factors.alarm[0] != 0 or factors.work[0] >= factors.work[1]


@helper(allocates=False, forceinline=True)
def meets(cells, i, packed):
    """Tell whether any of the given cells of line ``i`` is in a packed set."""
    if cells.indptr.shape[0]:
        for e in range(cells.indptr[i], cells.indptr[i + 1]):
            if has(packed, cells.indices[e]):
                return True
    return False


@helper(allocates=False, forceinline=True)
def set_bit(packed, i, on):
    """Let a packed set have an element, or not."""
    mark = np.uint64(1) << np.uint64(i & 63)
    if on:
        packed[i >> 6] |= mark
    else:
        packed[i >> 6] &= ~mark


@helper(allocates=False, forceinline=True)
def switch(factors, axis, i, l, on):
    """Let a line be in a component, or not."""
    if has(factors.memberships[axis][i], l) != on:
        factors.sizes[axis, l] += 1 if on else -1
        set_bit(factors.memberships[axis][i], l, on)
        set_bit(factors.component_bits[axis][l], i, on)


@helper(allocates=False)
def set_side(factors, axis, l, packed):
    """Let a component have just these lines of one side."""
    own = factors.component_bits[axis][l]
    for w in range(own.shape[0]):
        word = own[w] ^ packed[w]
        while word:
            i = 64 * w + lowest(word)
            word &= word - np.uint64(1)
            switch(factors, axis, i, l, has(packed, i))


@helper(allocates=False)
def _weight_of(packed, covered, weights):
    """Add up the weights of the lines that are in a packed set and not covered."""
    total = np.int64(0)
    for w in range(packed.shape[0]):
        word = packed[w] & ~covered[w]
        while word:
            total += weights[64 * w + lowest(word)]
            word &= word - np.uint64(1)
    return total


@helper(allocates=False)
def unite_others(factors, axis, i, l, covered):
    """Find out what all components of line ``i`` but ``l`` cover; return how many they are."""
    covered[:] = 0
    membership, count = factors.memberships[axis][i], np.int64(0)
    for y in range(membership.shape[0]):
        word = membership[y]
        while word:
            q = 64 * y + lowest(word)
            word &= word - np.uint64(1)
            if q != l:
                unite_into(covered, factors.component_bits[1 - axis][q])
                count += 1
    factors.work[0] += 5 + (count + 1) * covered.shape[0]
    return count


@helper(allocates=False)
def gain_of(task, rules, factors, axis, i, l, covered):
    """Return what a line gains by a component where it has ``covered`` others, if it may have it.

    Whether it would have too many is not asked here.
    """
    cells, weights = factors.component_bits[1 - axis][l], task.weights[1 - axis]
    if meets(rules.forbidden[axis], i, cells):
        return NEVER
    lines, prices = task.lines[axis], task.prices
    factors.work[0] += 60 + 8 * (lines.indptr[i + 1] - lines.indptr[i]) + 8 * cells.shape[0]
    ones, total = np.int64(0), _weight_of(cells, covered, weights)
    for e in range(lines.indptr[i], lines.indptr[i + 1]):
        j = lines.indices[e]
        if has(cells, j) and not has(covered, j):
            ones += weights[j]
    if lines.missing_indptr.shape[0]:
        for e in range(lines.missing_indptr[i], lines.missing_indptr[i + 1]):
            j = lines.missing_indices[e]
            if has(cells, j) and not has(covered, j):
                total -= weights[j]
    if rules.from_below and total > ones:
        return NEVER
    gain = task.weights[axis][i] * ((prices[0] + prices[1]) * ones - prices[1] * total)
    required = rules.required[axis]
    if required.indptr.shape[0]:
        for e in range(required.indptr[i], required.indptr[i + 1]):
            j = required.indices[e]
            if has(cells, j) and not has(covered, j):
                gain += prices[2]
    return gain
