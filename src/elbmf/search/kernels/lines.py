"""The lines of one side of the data, rows or columns: improving the membership of each.

Which components come into question is told by a line's pattern, here; which of these are best is
the row problem, in `elbmf.search.kernels.rows`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import helper, kernel
from elbmf.kernels.sets import common, copy_into, has, list_common, lowest, set_bits, unite_into
from elbmf.search.kernels.rows import Problem, cost_of, decide, settle_certain, work_per_line

__all__ = [
    "Effort",
    "Lines",
    "Side",
    "count_ones",
    "improve_lines",
    "line_costs",
    "open_line",
    "pack_lines_into_words",
]

# A search of subsets looks at so many words in all, but at so many branches at least.
_WORDS_OF_A_SEARCH = 20_000
_FEWEST_NODES = 100


class Lines(NamedTuple):
    """One side of the data: the rows of A, or its columns.

    Parameters
    ----------
    indptr, indices : ndarray
        Where the ones are.
    words : ndarray of uint64
        The same, packed; of shape (0, 0) when the lines are too sparse for that to be worthwhile.
    missing_indptr, missing_indices : ndarray
        Where the cells are that count for nothing; empty when there are none.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.integer[Any]]
    words: NDArray[np.uint64]
    missing_indptr: NDArray[np.int64]
    missing_indices: NDArray[np.integer[Any]]


class Side(NamedTuple):
    """Lines, and the components that they are described by.

    Parameters
    ----------
    lines : Lines
        The rows of A, or its columns.
    others, component_bits : ndarray of uint64
        The components: memberships of the other side, and its lines of each component, packed.
    overlaps : ndarray of int64
        Cells that components share, which saves time on sparse lines; or of shape (0, 0).
    """

    lines: Lines
    others: NDArray[np.uint64]
    component_bits: NDArray[np.uint64]
    overlaps: NDArray[np.int64]


class Effort(NamedTuple):
    """How thoroughly a line is improved.

    Parameters
    ----------
    nodes : int
        Branches to look at, at most; fewer on long lines.
    afresh : bool
        Also improve a membership that is built greedily from nothing, and take what comes of it
        unless that is worse.
    """

    nodes: int
    afresh: bool = False


@kernel(allocates=False)
def pack_lines_into_words(indptr, indices, words):
    """Set the bits that a pattern names in ``words``, all zero."""
    for i in range(words.shape[0]):
        set_bits(indptr, indices, i, words[i])


@helper(allocates=False)
def open_line(lines, i, row, base):
    """Unpack line ``i``, and into ``base`` the cells that count for nothing, set in both."""
    if lines.words.shape[0]:
        copy_into(row, lines.words[i])
    else:
        row[:] = 0
        set_bits(lines.indptr, lines.indices, i, row)
    base[:] = 0
    if lines.missing_indptr.shape[0]:
        set_bits(lines.missing_indptr, lines.missing_indices, i, base)
        for w in range(row.shape[0]):
            row[w] |= base[w]


@kernel()
def line_costs(lines, low, high, memberships, component_bits, prices, costs):
    """Write what lines ``low`` to ``high`` cost with the components they are in into ``costs``."""
    words = component_bits.shape[1]
    row = np.empty(words, dtype=np.uint64)
    union = np.empty(words, dtype=np.uint64)
    for i in range(low, high):
        open_line(lines, i, row, union)
        for l in range(component_bits.shape[0]):
            if has(memberships[i], l):
                unite_into(union, component_bits[l])
        costs[i] = cost_of(row, union, prices)


@kernel(inline="always")
def _touch(lines, i, others, membership, touched):
    """Pack the components that line ``i`` is in or has a one in; no other can lower its cost."""
    for w in range(others.shape[1]):
        word = membership[w]
        for e in range(lines.indptr[i], lines.indptr[i + 1]):
            word |= others[lines.indices[e], w]
        touched[w] = word


@kernel(inline="always")
def count_ones(lines, i, others, ones):
    """Add to ``ones``, for each component, how many ones of line ``i`` are in it."""
    for e in range(lines.indptr[i], lines.indptr[i + 1]):
        for w in range(others.shape[1]):
            word = others[lines.indices[e], w]
            while word:
                ones[64 * w + lowest(word)] += 1
                word &= word - np.uint64(1)


@kernel(inline="always")
def _discard_hopeless(side, i, membership, prices, workspace):
    """Keep of the components that touch line ``i`` those that might pay, judged by counts alone.

    A component pays when the ones it covers are worth more than the zeros that only it covers;
    these are at least its cells, less those it shares with any other component that touches the
    line. Components that the line is in are kept. Returns whether any are left.
    """
    lines, ones, candidates = side.lines, workspace.counts[0], workspace.counts[1]
    touched, overlaps = workspace.sets[0], side.overlaps
    count = list_common(touched, touched, candidates)
    for c in range(count):
        ones[candidates[c]] = 0
    count_ones(lines, i, side.others, ones)
    missing = 0
    if lines.missing_indptr.shape[0]:
        missing = lines.missing_indptr[i + 1] - lines.missing_indptr[i]
    kept = 0
    for c in range(count):
        l = candidates[c]
        zeros = overlaps[l, l] - ones[l] - missing
        for d in range(count):
            if d != c:
                zeros -= overlaps[l, candidates[d]]
        if prices.one * ones[l] > prices.zero * zeros or has(membership, l):
            kept += 1
        else:
            touched[l >> 6] &= ~(np.uint64(1) << np.uint64(l & 63))
    return kept > 0


@kernel(inline="always")
def _pose(lines, i, membership, free, candidates, problem, union):
    """Make line ``i`` the problem, with its components that are not ``free`` as the base.

    ``candidates`` are the free components that might pay, among them all that the line is in.
    Returns what the line costs as it is; ``union`` is a buffer for words.
    """
    row, base, component_bits, prices = problem
    open_line(lines, i, row, base)
    for l in range(component_bits.shape[0]):
        if has(membership, l) and not has(free, l):
            unite_into(base, component_bits[l])
    copy_into(union, base)
    for l in candidates:
        if has(membership, l):
            unite_into(union, component_bits[l])
    return cost_of(row, union, prices)


@kernel(inline="always")
def _enter_verdicts(verdicts, touched, free, membership, changed):
    """Let a line be in the free components that touch it as the verdicts say.

    Those it entered or left are added to ``changed``.
    """
    for w in range(touched.shape[0]):
        word = touched[w] & free[w]
        while word:
            mark = word & (~word + np.uint64(1))
            on = verdicts[64 * w + lowest(word)] == 1
            if (membership[w] & mark != 0) != on:
                membership[w] ^= mark
                changed[w] |= mark
            word ^= mark


@kernel(allocates=False)
def improve_lines(side, low, high, free, stale, prices, effort, memberships, pending, workspace):
    """Improve the memberships of lines ``low`` to ``high`` in the ``free`` components.

    Looked at are only the lines that are ``pending``, which are then so no more, and those that a
    ``stale`` component touches. What is certain is settled; in the rest, a line's own membership
    is improved by single switches and by a search of all subsets as far as the effort reaches.

    Parameters
    ----------
    side : Side
        The lines and the components.
    free, stale : ndarray of uint64
        Components, packed.
    prices : Prices
        Of the two kinds of error.
    effort : Effort
        How thorough to be.
    memberships : ndarray of uint64
        Of these lines, packed; improved in place.
    workspace : Workspace
        The components that some line entered or left are added to those that changed, and what
        it took to the work. After its alarm no line is looked at.

    Returns
    -------
    gained : int
        By how much the cost went down.
    """
    lines, component_bits = side.lines, side.component_bits
    words = component_bits.shape[1]
    nodes = min(effort.nodes, max(_FEWEST_NODES, _WORDS_OF_A_SEARCH // words))
    row, base, union = workspace.lines[0], workspace.lines[1], workspace.lines[2]
    problem = Problem(row, base, component_bits, prices)
    candidates, verdicts = workspace.counts[1], workspace.decisions[1]
    touched, changed = workspace.sets[0], workspace.sets[1]
    work, alarm = workspace.work, workspace.alarm
    gained = 0
    for i in range(low, high):
        if alarm[0]:
            break
        membership = memberships[i]
        length = lines.indptr[i + 1] - lines.indptr[i]
        work[0] += 12 + 2 * length
        _touch(lines, i, side.others, membership, touched)
        if not pending[i] and not common(touched, stale):
            continue
        pending[i] = False
        if side.overlaps.shape[0]:
            # Judging a line by counts takes several times as long as touching it.
            work[0] += 60 + 8 * length
            if not _discard_hopeless(side, i, membership, prices, workspace):
                continue
        total = list_common(touched, free, candidates)
        if total == 0:
            continue
        old_cost = _pose(lines, i, membership, free, candidates[:total], problem, union)
        count = settle_certain(problem, candidates[:total], verdicts, union, workspace.stacks[0])
        work[0] += 100 + (8 + 4 * total) * work_per_line(words)
        if count:
            cost = decide(problem, candidates[:count], membership, nodes, effort.afresh, workspace)
        else:
            cost = cost_of(row, base, prices)
        gained += old_cost - cost
        _enter_verdicts(verdicts, touched, free, membership, changed)
    return gained
