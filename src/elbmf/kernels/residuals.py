"""Residuals at listed cells: what is added to a product where cells weigh more or less than others.

A cell's residual is ``value - p``, with ``p`` the scalar product of its resident row and its line.
All listed cells have the same ``value`` in the data, and a weight that exceeds that of other cells
by ``excess``. The cells are given as in `elbmf.kernels.products`: line by line, as indices.
"""

import numpy as np

from elbmf.kernels.compiling import kernel
from elbmf.kernels.simd import LANES, add_multiple, dot

__all__ = ["pull_residuals", "push_residuals", "squared_residuals"]


@kernel()
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


@kernel()
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


@kernel()
def squared_residuals(resident, indices, indptr, lines, value):
    """Sum ``(value - p) ** 2`` over all cells, in float64."""
    chunks = resident.shape[1] // LANES
    total = 0.0
    for line in range(lines.shape[0]):
        for e in range(indptr[line], indptr[line + 1]):
            residual = value - dot(resident, np.int64(indices[e]), lines, line, chunks)
            total += np.float64(residual) * np.float64(residual)
    return total
