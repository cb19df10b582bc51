"""Block coordinate descent on packed factors: both sides in turns, and what the search counts."""

import numpy as np

from elbmf.kernels.bits import gather_column
from elbmf.kernels.compiling import kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.sets import has, list_common, unite_from_each_on, unite_into
from elbmf.search.kernels.lines import improve_lines, open_line
from elbmf.search.kernels.rows import gain_of, work_per_line

__all__ = ["descend", "drop_costs", "share_cells"]


@kernel()
def share_cells(component_bits, overlaps):
    """Count the cells that each two components have in common."""
    for l in range(component_bits.shape[0]):
        for other in range(l + 1):
            total = 0
            for w in range(component_bits.shape[1]):
                total += popcount(component_bits[l, w] & component_bits[other, w])
            overlaps[l, other] = total
            overlaps[other, l] = total


@kernel()
def descend(lines, bits, free, one, zero, nodes, turns, first, work):
    """Let the two sides take turns in one thread until nothing changes, or for so many turns.

    ``first`` is the side that begins; only the components that are ``free`` change. Returns by how
    much the cost went down.
    """
    k = bits.component_bits[0].shape[0]
    gained = 0
    changed = np.empty_like(free)
    for turn in range(turns):
        side = (first + turn) % 2
        memberships, component_bits = bits.memberships[side], bits.component_bits[1 - side]
        overlaps = np.empty((0, 0), dtype=np.int64)
        if lines[side].words.shape[0] == 0:
            overlaps = np.empty((k, k), dtype=np.int64)
            share_cells(component_bits, overlaps)
            work[0] += k * k // 2 * work_per_line(component_bits.shape[1])
        changed[:] = 0
        gained += improve_lines(
            lines[side],
            0,
            memberships.shape[0],
            bits.memberships[1 - side],
            component_bits,
            overlaps,
            free,
            bits.stale[side],
            one,
            zero,
            nodes,
            memberships,
            bits.pending[side],
            changed,
            work,
            afresh=False,
        )
        quiet = True
        for w in range(changed.shape[0]):
            bits.stale[side, w] = 0
            bits.stale[1 - side, w] |= changed[w]
            quiet = quiet and changed[w] == 0
        for l in range(k):
            if has(changed, l):
                gather_column(memberships, l, bits.component_bits[side][l])
                work[0] += 3 * memberships.shape[0]
        if quiet and turn > 0:
            break
    return gained


@kernel()
def drop_costs(lines, low, high, component_bits, memberships, one, zero, costs, work):
    """Add to ``costs`` by how much lines ``low`` to ``high`` cost more without a component.

    What it took is added to ``work``.
    """
    k, words = component_bits.shape
    row = np.empty(words, dtype=np.uint64)
    before = np.empty(words, dtype=np.uint64)
    later = np.empty((k + 1, words), dtype=np.uint64)
    space = np.empty(k, dtype=np.int64)
    for i in range(low, high):
        count = list_common(memberships[i], memberships[i], space)
        work[0] += 8
        if count == 0:
            continue
        work[0] += 20 + (2 + 3 * count) * work_per_line(words)
        open_line(lines, i, row, before)
        unite_from_each_on(component_bits, space[:count], later)
        for c in range(count):
            packed = component_bits[space[c]]
            costs[space[c]] += gain_of(row, packed, one, zero, before, later[c + 1])
            unite_into(before, packed)
