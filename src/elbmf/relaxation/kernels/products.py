"""Products of a 0/1 matrix with a tall factor, without ever storing a value of the matrix.

The matrix is cut along its *lines* (the streamed side); each line names the *resident* rows in
which it has a one. ``pull`` sums resident rows into lines, ``push`` adds lines to resident rows.
There are two storages:

indices
    For each line the list of its ones. Costs what the ones cost.
bytes
    ``GROUP_BITS`` resident rows to a byte, all sums of so many rows tabulated beforehand (the
    method of the four Russians): one addition per byte, whatever the density. The layout is
    ``(sets, lines, GROUPS)``: a *group* is the rows of one byte, a *set* is ``GROUPS`` groups,
    whose tables fit the second-level cache together.
"""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.relaxation.kernels.row_sums import (
    LANES,
    MAX_CHUNKS,
    add_multiple,
    dot,
    gather,
    gather_tables,
    scatter,
    scatter_tables,
)

__all__ = [
    "GROUPS",
    "GROUP_BITS",
    "LANES",
    "TABLE_STRIDE",
    "pack_lines",
    "pull_bytes",
    "pull_indices",
    "pull_residuals",
    "push_bytes",
    "push_indices",
    "push_residuals",
    "squared_residuals",
]

GROUP_BITS = 8
"""Resident rows to a byte: all sums of so many rows of 32 float32 make 32 kB."""

GROUPS = 8
"""Groups of resident rows whose tables are kept together."""

TABLE_STRIDE = (1 << GROUP_BITS) + 5
"""Rows from one table to the next; not a power of two, or equal bytes would compete in cache."""

_ROUND = LANES * MAX_CHUNKS


@kernel(allocates=False)
def pull_indices(resident, indices, indptr, low, high, out, prefetch):
    """``out[r - low] = sum of resident[indices[e]]`` over the ones ``e`` of line ``r``."""
    width = resident.shape[1]
    for line in range(low, high):
        for c in range(width):
            out[line - low, c] = 0
    for first in range(0, width, _ROUND):
        chunks = min(MAX_CHUNKS, (width - first) // LANES)
        for line in range(low, high):
            gather(
                resident,
                indices,
                indptr[line],
                indptr[line + 1],
                out,
                line - low,
                first,
                chunks,
                prefetch,
            )


@kernel(allocates=False)
def push_indices(target, indices, indptr, low, high, lines, prefetch):
    """``target[indices[e]] += lines[r - low]`` for each one ``e`` of line ``r``."""
    width = target.shape[1]
    for first in range(0, width, _ROUND):
        chunks = min(MAX_CHUNKS, (width - first) // LANES)
        for line in range(low, high):
            scatter(
                target,
                indices,
                indptr[line],
                indptr[line + 1],
                lines,
                line - low,
                first,
                chunks,
                prefetch,
            )


@kernel(inline="always")
def _tabulate(resident, first_group, tables):
    """Fill each group's table with the sums of all subsets of its resident rows."""
    n_resident, width = resident.shape
    for group in range(GROUPS):
        base = TABLE_STRIDE * group
        for c in range(width):
            tables[base, c] = 0
        for bit in range(GROUP_BITS):
            row = GROUP_BITS * (first_group + group) + bit
            span = 1 << bit
            if row < n_resident:
                for subset in range(span):
                    for c in range(width):
                        tables[base + span + subset, c] = (
                            tables[base + subset, c] + resident[row, c]
                        )
            else:
                # Rows past the end are never named by a byte: any finite value will do.
                for subset in range(span):
                    for c in range(width):
                        tables[base + span + subset, c] = 0


@kernel()
def pull_bytes(resident, packed, out, tables):
    """``out[r] = sum of resident rows`` named by the bytes of line ``r``.

    ``tables`` is scratch space of ``TABLE_STRIDE * GROUPS`` rows.
    """
    n_sets, n_lines, _ = packed.shape
    width = resident.shape[1]
    out[:, :] = 0
    for s in range(n_sets):
        _tabulate(resident, s * GROUPS, tables)
        bytes_of_set = packed[s].ravel()
        for first in range(0, width, _ROUND):
            chunks = min(MAX_CHUNKS, (width - first) // LANES)
            for line in range(n_lines):
                start = line * GROUPS
                gather_tables(
                    tables,
                    bytes_of_set,
                    start,
                    start + GROUPS,
                    out,
                    line,
                    first,
                    chunks,
                    TABLE_STRIDE,
                )


@kernel()
def push_bytes(target, packed, lines, tables):
    """Add each line to the resident rows that its bytes name.

    Lines with the same byte are summed first; the sums of a group are then folded, halving
    them bit by bit. ``tables`` is scratch space of ``TABLE_STRIDE * GROUPS`` rows.
    """
    n_sets, n_lines, _ = packed.shape
    n_resident, width = target.shape
    for s in range(n_sets):
        tables[:, :] = 0
        bytes_of_set = packed[s].ravel()
        for first in range(0, width, _ROUND):
            chunks = min(MAX_CHUNKS, (width - first) // LANES)
            for line in range(n_lines):
                start = line * GROUPS
                scatter_tables(
                    tables,
                    bytes_of_set,
                    start,
                    start + GROUPS,
                    lines,
                    line,
                    first,
                    chunks,
                    TABLE_STRIDE,
                )
        for group in range(GROUPS):
            base = TABLE_STRIDE * group
            for bit in range(GROUP_BITS - 1, -1, -1):
                row = GROUP_BITS * (s * GROUPS + group) + bit
                span = 1 << bit
                for subset in range(span):
                    upper = base + span + subset
                    if row < n_resident:
                        for c in range(width):
                            target[row, c] += tables[upper, c]
                    for c in range(width):
                        tables[base + subset, c] += tables[upper, c]


@kernel(allocates=False)
def pack_lines(indices, indptr, low, high, packed):
    """Write the ones of lines ``low`` to ``high`` into zeroed bytes, in the bytes layout."""
    for line in range(low, high):
        for e in range(indptr[line], indptr[line + 1]):
            row = np.int64(indices[e])
            group, bit = divmod(row, GROUP_BITS)
            packed[group // GROUPS, line - low, group % GROUPS] |= np.uint8(1 << bit)


@kernel(allocates=False)
def pull_residuals(resident, indices, indptr, low, high, point, value, excess, out):
    """``out[r - low] += excess * (value - p) * resident[i]`` for each cell ``i`` of line ``r``.

    Here ``p`` is the scalar product of ``resident[i]`` and ``point[r - low]``.
    """
    chunks = resident.shape[1] // LANES
    for line in range(low, high):
        own = line - low
        for e in range(indptr[line], indptr[line + 1]):
            i = np.int64(indices[e])
            residual = value - dot(resident, i, point, own, chunks)
            add_multiple(out, own, excess * residual, resident, i, chunks)


@kernel(allocates=False)
def push_residuals(point, indices, indptr, low, high, lines, value, excess, target):
    """``target[i] += excess * (value - p) * lines[r - low]`` for each cell ``i`` of line ``r``.

    Here ``p`` is the scalar product of ``point[i]`` and ``lines[r - low]``.
    """
    chunks = point.shape[1] // LANES
    for line in range(low, high):
        own = line - low
        for e in range(indptr[line], indptr[line + 1]):
            i = np.int64(indices[e])
            residual = value - dot(point, i, lines, own, chunks)
            add_multiple(target, i, excess * residual, lines, own, chunks)


@kernel(allocates=False)
def squared_residuals(resident, indices, indptr, lines, value):
    """Sum ``(value - p) ** 2`` over all cells, in float64."""
    chunks = resident.shape[1] // LANES
    total = 0.0
    for line in range(lines.shape[0]):
        for e in range(indptr[line], indptr[line + 1]):
            residual = value - dot(resident, np.int64(indices[e]), lines, line, chunks)
            total += np.float64(residual) * np.float64(residual)
    return total
