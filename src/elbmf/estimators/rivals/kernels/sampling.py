"""Metropolised Gibbs sampling of the components of each line, given those of the other side.

A line is one of the rows or one of the columns. Given the other side, lines are independent of each
other. Each bit of a line is updated in turn: it is flipped with the probability min(1, r), where r
is how much more likely the matrix is after it. Random numbers are not drawn from a generator but
computed from where they are used, so that lines can be sampled in any order, in any thread.
"""

import math
from typing import NamedTuple

import numpy as np

from elbmf.kernels.bits import gather_column
from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.randomness import random_word, to_unit_interval
from elbmf.kernels.sets import copy_into, list_common, lowest, unite_from_each_on, unite_into
from elbmf.search.kernels.lines import count_ones, open_line
from elbmf.search.kernels.rows import cost_of, gain_of

__all__ = ["Odds", "flips", "gather_component_bits", "sample_lines", "tally"]

_NEVER = -40.0
"""Logarithm of a probability that is below the resolution of random numbers."""


@helper(allocates=False, forceinline=True)
def _uniform(stream, line, component):
    """Random number of one bit, from [0, 1)."""
    return to_unit_interval(random_word(random_word(stream, line), component))


@kernel(inline="always")
def flips(log_ratio, draw):
    """Tell whether a bit flips, when that multiplies the probability by exp(``log_ratio``).

    Where it makes no difference, a bit that always flipped would alternate and never mix; it flips
    every other time, which leaves the same distribution invariant.
    """
    if log_ratio == 0:
        return draw < 0.5
    if log_ratio < _NEVER:
        return False
    return log_ratio > 0 or draw < math.exp(log_ratio)


@helper(allocates=False, forceinline=True)
def _most_gained(ones, overlaps, l, membership, missing):
    """Bound the ones less zeros that component ``l`` would newly cover, from counts alone."""
    cells = overlaps[l, l] - missing
    for w in range(membership.shape[0]):
        word = membership[w]
        while word:
            cells -= overlaps[l, 64 * w + lowest(word)]
            word &= word - np.uint64(1)
    return 2 * ones[l] - max(ones[l], cells)


class Odds(NamedTuple):
    """What a sample is drawn by."""

    # λ: a cell that agrees with the product is exp(λ) times as likely as one that does not
    dispersion: float
    prior: float  # Log odds of a bit being on, a priori
    # What the random numbers depend on, beside line and component
    seed: int
    sweep: int
    axis: int


@kernel(allocates=False)
def sample_lines(
    side,  # The lines and the components
    low,
    high,
    odds,  # What the sample is drawn by
    prices,  # Of errors: 1 and 1
    memberships,  # Of these lines, packed; sampled in place
    workspace,
):
    """Update each bit of lines ``low`` to ``high`` once, given the other side.

    Returns
    -------
    wrong : int
        Known cells of these lines that do not agree with the product afterwards.
    """
    stream = random_word(random_word(np.uint64(odds.seed), odds.sweep), odds.axis)
    lines, others, component_bits, overlaps = side
    k = component_bits.shape[0]
    sparse = overlaps.shape[0] > 0
    row, base, union = workspace.lines[0], workspace.lines[1], workspace.lines[2]
    later, ones, active = workspace.stacks[0], workspace.counts[0], workspace.counts[1]
    wrong = 0
    for i in range(low, high):
        membership = memberships[i]
        count = list_common(membership, membership, active)
        missing = 0
        if lines.missing_indptr.shape[0]:
            missing = lines.missing_indptr[i + 1] - lines.missing_indptr[i]
        if sparse:
            ones[:] = 0
            count_ones(lines, i, others, ones)
        # A sparse line that no component is likely to cover is never unpacked.
        opened = False
        passed = 0
        for l in range(k):
            on = passed < count and active[passed] == l
            draw = _uniform(stream, i, l)
            if sparse and not on:
                # Below 0, what does not flip at a bound does not flip at anything less.
                most = _most_gained(ones, overlaps, l, membership, missing)
                bound = odds.dispersion * most + odds.prior
                if bound < 0 and not flips(bound, draw):
                    continue
            if not opened:
                open_line(lines, i, row, base)
                copy_into(union, base)
                unite_from_each_on(component_bits, active[:count], later)
                opened = True
            passed += on
            # The union has the components before this one, ``later`` those after it.
            gain = gain_of(row, component_bits[l], prices, union, later[passed])
            log_ratio = odds.dispersion * gain + odds.prior
            if flips(-log_ratio if on else log_ratio, draw):
                membership[l >> 6] ^= np.uint64(1) << np.uint64(l & 63)
                on = not on
            if on:
                unite_into(union, component_bits[l])
        if opened:
            wrong += cost_of(row, union, prices)
        else:
            wrong += lines.indptr[i + 1] - lines.indptr[i]
    return wrong


@kernel()
def gather_component_bits(memberships, component_bits):
    """Pack the lines of each component, given the components of each line."""
    for l in range(component_bits.shape[0]):
        gather_column(memberships, l, component_bits[l])


@kernel()
def tally(memberships, counts):
    """Count for each line how often it was in each component."""
    for i in range(memberships.shape[0]):
        for w in range(memberships.shape[1]):
            word = memberships[i, w]
            while word:
                counts[i, 64 * w + lowest(word)] += 1
                word &= word - np.uint64(1)
