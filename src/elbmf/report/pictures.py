"""Grids as the page holds them: the whole matrix, and single components."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.matrix import BooleanMatrix
from elbmf.report.document import Matrix, Packed
from elbmf.report.facts import Facts
from elbmf.report.limits import Limits
from elbmf.report.packing import pack_numbers
from elbmf.views import BlockOrder, ErrorGrid, error_grid

__all__ = ["block_of", "matrix_of"]


def matrix_of(facts: Facts, limits: Limits) -> Matrix:
    """Count the whole matrix into a grid."""
    shape = facts.U.shape[0], facts.V.shape[1]
    A = _nothing(shape) if facts.A is None else facts.A
    bins = _bins(shape, limits.side, limits.cells)
    grid = error_grid(A, facts.U, facts.V, facts.order, bins, facts.n_jobs)
    return _matrix(grid, with_data=facts.A is not None)


def block_of(
    facts: Facts, component: int, rows: NDArray[Any], columns: NDArray[Any], side: int
) -> Matrix:
    """Count one component into a grid, its lines in the order given."""
    order = BlockOrder(rows, columns, np.array([component]))
    U, V = facts.U[:, [component]], facts.V[[component]]
    return _matrix(error_grid(facts.A, U, V, order, (side, side), facts.n_jobs), with_data=True)


def _bins(shape: tuple[int, int], side: int, cells: int) -> tuple[int, int]:
    """Return how many bins to make of rows and columns; a short side is not thinned out."""
    rows, columns = (max(1, min(length, side)) for length in shape)
    even = math.isqrt(cells)
    if rows * columns <= cells:
        return rows, columns
    if columns <= even:
        return cells // columns, columns
    return (rows, cells // rows) if rows <= even else (even, even)


def _nothing(shape: tuple[int, int]) -> BooleanMatrix:
    return BooleanMatrix(shape, np.zeros(shape[0] + 1, dtype=np.int64), np.empty(0, dtype=np.int32))


def _matrix(grid: ErrorGrid, *, with_data: bool) -> Matrix:
    def shares(counts: NDArray[np.int64]) -> Packed:
        levels = np.rint(255 * grid.share(counts))
        return pack_numbers(np.where(counts > 0, np.maximum(levels, 1), 0), "u1")

    return Matrix(
        rows=grid.shape[0],
        columns=grid.shape[1],
        row_edges=pack_numbers(grid.row_edges, "u4"),
        column_edges=pack_numbers(grid.column_edges, "u4"),
        hit=shares(grid.hits if with_data else grid.covered),
        missed=shares(grid.missed) if with_data else None,
        extra=shares(grid.extra) if with_data else None,
    )
