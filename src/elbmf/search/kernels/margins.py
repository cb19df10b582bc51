"""How firmly lines belong: what each would cost on the other side of a component's border."""

import numpy as np

from elbmf.kernels.compiling import call_at, helper, kernel
from elbmf.kernels.sets import copy_into, has, list_common, unite_from_each_on, unite_into
from elbmf.search.kernels.lines import open_line
from elbmf.search.kernels.rows import gain_of

__all__ = ["weigh_pairs"]


@helper(allocates=False)
def _weigh_alone(side, i, membership, components, prices, workspace, rises):
    """Write by how much the cost goes up when line ``i`` leaves or joins each of some components.

    All else stays as it is. The components ascend, and those that the line is in are among them.
    """
    row, before, later = workspace.lines[0], workspace.lines[1], workspace.stacks[0]
    open_line(side.lines, i, row, before)
    count = list_common(membership, membership, workspace.counts[1])
    unite_from_each_on(side.component_bits, workspace.counts[1, :count], later)
    passed = 0
    for c in range(components.shape[0]):
        packed = side.component_bits[components[c]]
        if has(membership, components[c]):
            passed += 1
            rises[c] = gain_of(row, packed, prices, before, later[passed])
            unite_into(before, packed)
        else:
            rises[c] = -gain_of(row, packed, prices, before, later[passed])


@kernel(allocates=False)
def weigh_pairs(
    improve,
    side,
    low,
    high,
    starts,
    components,
    memberships,
    trial,
    pending,
    free,
    prices,
    effort,
    workspace,
    margins,
):
    """Write the margins of pairs of a line, ``low`` to ``high``, and a component into ``margins``.

    Line i is weighed in ``components[starts[i]:starts[i + 1]]``, which ascend and have among them
    all that it is in: it is moved across the border of each, and all its other memberships adapt.

    Parameters
    ----------
    improve : int
        The address of `improve_lines`.
    side : Side
        The lines and the components.
    memberships : ndarray of uint64
        Of the lines, packed; left as they are.
    trial, pending : ndarray
        Buffers of as many memberships, and of a flag for each line.
    free : ndarray of uint64
        All components, packed.
    prices, effort, workspace
        As for `improve_lines`.
    """
    for i in range(low, high):
        first, last = starts[i], starts[i + 1]
        if first == last:
            continue
        _weigh_alone(
            side, i, memberships[i], components[first:last], prices, workspace, margins[first:last]
        )
        for e in range(first, last):
            l = components[e]
            word, bit = l >> 6, np.uint64(1) << np.uint64(l & 63)
            free[word] ^= bit
            copy_into(trial[i], memberships[i])
            trial[i, word] ^= bit
            pending[i] = True
            margins[e] -= call_at(
                improve,
                (side, i, i + 1, free, free, prices, effort, trial, pending, workspace),
            )
            free[word] ^= bit
            if not has(memberships[i], l):
                margins[e] = -margins[e]
