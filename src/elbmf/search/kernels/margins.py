"""How firmly lines belong: what each would cost on the other side of a component's border."""

import numpy as np

from elbmf.kernels.compiling import call_at, helper, kernel
from elbmf.kernels.sets import copy_into, has, unite_into
from elbmf.search.kernels.lines import open_line
from elbmf.search.kernels.rows import cost_of

__all__ = ["weigh_pairs"]


@helper(allocates=False)
def _line_cost(side, i, membership, prices, workspace):
    """Return what line ``i`` costs with some membership."""
    row, union = workspace.lines[0], workspace.lines[1]
    open_line(side.lines, i, row, union)
    for l in range(side.component_bits.shape[0]):
        if has(membership, l):
            unite_into(union, side.component_bits[l])
    return cost_of(row, union, prices)


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

    Line i is weighed in ``components[starts[i]:starts[i + 1]]``: moved across the border of each,
    and then all its other memberships improved.

    Parameters
    ----------
    improve : int
        The address of `improve_lines`.
    side : Side
        The lines and the components.
    memberships : ndarray of uint64
        Of the lines, packed; left as they are.
    trial, pending : ndarray
        Buffers of as many memberships, and a flag for each line, all false.
    free : ndarray of uint64
        All components, packed.
    prices, effort, workspace
        As for `improve_lines`.
    """
    for i in range(low, high):
        if starts[i] == starts[i + 1]:
            continue
        present = _line_cost(side, i, memberships[i], prices, workspace)
        for e in range(starts[i], starts[i + 1]):
            l = components[e]
            word, bit = l >> 6, np.uint64(1) << np.uint64(l & 63)
            copy_into(trial[i], memberships[i])
            trial[i, word] ^= bit
            free[word] ^= bit
            pending[i] = True
            cost = _line_cost(side, i, trial[i], prices, workspace)
            cost -= call_at(
                improve,
                (side, i, i + 1, free, free, prices, effort, trial, pending, workspace),
            )
            free[word] ^= bit
            margins[e] = cost - present if has(memberships[i], l) else present - cost
