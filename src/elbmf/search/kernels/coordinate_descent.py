"""Block coordinate descent on packed factors: both sides in turns, and what the search counts."""

import numpy as np

from elbmf.kernels.bits import gather_column
from elbmf.kernels.compiling import call_at, kernel
from elbmf.kernels.intrinsics import popcount
from elbmf.kernels.sets import common, has, list_common, unite_from_each_on, unite_into
from elbmf.search.kernels.lines import Side, open_line
from elbmf.search.kernels.rows import gain_of, work_per_line

__all__ = ["clear", "count_uncovered", "descend", "drop_costs", "share_cells"]


@kernel(allocates=False)
def share_cells(component_bits, overlaps):
    """Count the cells that each two components have in common."""
    for l in range(component_bits.shape[0]):
        for other in range(l + 1):
            total = 0
            for w in range(component_bits.shape[1]):
                total += popcount(component_bits[l, w] & component_bits[other, w])
            overlaps[l, other] = total
            overlaps[other, l] = total


@kernel(allocates=False)
def descend(improve, lines, bits, free, prices, effort, turns, workspaces):
    """Let the two sides take turns in one thread until nothing changes, or for so many turns.

    ``improve`` is the address of `improve_lines`; only the components that are ``free`` change.
    There is a workspace for each side. Returns by how much the cost went down.
    """
    k = bits.component_bits[0].shape[0]
    gained = np.int64(0)
    for turn in range(turns):
        axis = turn % 2
        workspace = workspaces[axis]
        memberships, component_bits = bits.memberships[axis], bits.component_bits[1 - axis]
        if workspace.overlaps.shape[0]:
            share_cells(component_bits, workspace.overlaps)
            workspace.work[0] += k * k // 2 * work_per_line(component_bits.shape[1])
        side = Side(lines[axis], bits.memberships[1 - axis], component_bits, workspace.overlaps)
        changed = workspace.sets[1]
        changed[:] = 0
        gained += call_at(
            improve,
            (
                side,
                np.int64(0),
                memberships.shape[0],
                free,
                bits.stale[axis],
                prices,
                effort,
                memberships,
                bits.pending[axis],
                workspace,
            ),
        )
        quiet = True
        for w in range(changed.shape[0]):
            bits.stale[axis, w] = 0
            bits.stale[1 - axis, w] |= changed[w]
            quiet = quiet and changed[w] == 0
        for l in range(k):
            if has(changed, l):
                gather_column(memberships, l, bits.component_bits[axis][l])
                workspace.work[0] += 3 * memberships.shape[0]
        if quiet and turn > 0:
            break
    return gained


@kernel(allocates=False)
def drop_costs(lines, bits, only, prices, costs, workspaces):
    """Let ``costs`` be by how much the cost would go up without each component.

    With ``only`` not below zero, just the lines of that component are looked at: all that is then
    of any use is its own entry. Returns the component that costs least, the first of equals.
    """
    axis = 0 if bits.memberships[0].shape[0] >= bits.memberships[1].shape[0] else 1
    component_bits, memberships = bits.component_bits[1 - axis], bits.memberships[axis]
    workspace, words = workspaces[axis], component_bits.shape[1]
    row, before, later = workspace.lines[0], workspace.lines[1], workspace.stacks[0]
    components, work = workspace.counts[1], workspace.work
    costs[:] = 0
    for i in range(memberships.shape[0]):
        membership = memberships[i]
        if only >= 0 and not has(membership, only):
            continue
        count = list_common(membership, membership, components)
        work[0] += 8
        if count == 0:
            continue
        work[0] += 20 + (2 + 3 * count) * work_per_line(words)
        open_line(lines[axis], i, row, before)
        unite_from_each_on(component_bits, components[:count], later)
        for c in range(count):
            packed = component_bits[components[c]]
            costs[components[c]] += gain_of(row, packed, prices, before, later[c + 1])
            unite_into(before, packed)
    least = 0
    for l in range(1, costs.shape[0]):
        if costs[l] < costs[least]:
            least = l
    return least


@kernel(allocates=False)
def clear(bits, l):
    """Empty a component; the lines it had are to be looked at again."""
    off = ~(np.uint64(1) << np.uint64(l & 63))
    for axis in range(2):
        memberships, pending = bits.memberships[axis], bits.pending[axis]
        for i in range(memberships.shape[0]):
            if has(memberships[i], l):
                memberships[i, l >> 6] &= off
                pending[i] = True
        bits.component_bits[axis][l, :] = 0


@kernel(allocates=False)
def count_uncovered(lines, low, high, memberships, others, counts, cells=None):
    """Count the ones of lines ``low`` to ``high`` that no component covers.

    Of the ``cells`` only, when these are given: whether each of the other side counts.
    """
    for i in range(low, high):
        count = 0
        for e in range(lines.indptr[i], lines.indptr[i + 1]):
            j = lines.indices[e]
            if cells is None or cells[j]:
                count += not common(memberships[i], others[j])
        counts[i] = count
