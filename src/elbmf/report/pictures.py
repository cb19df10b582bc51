"""Grids as the page holds them: the whole matrix, single components, and rows together."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from elbmf.analysis import BlockOrder, ErrorGrid, error_grid
from elbmf.report.document import Consensus, Matrix, Packed
from elbmf.report.facts import Facts
from elbmf.report.limits import Limits
from elbmf.report.packing import pack_numbers

__all__ = ["blocks_of", "consensus_of", "matrix_of"]

# Ones in the rows of a component.
_MUCH = 1_000_000


def matrix_of(facts: Facts, limits: Limits) -> Matrix:
    """Count the whole matrix into a grid."""
    shape = facts.U.shape[0], facts.V.shape[1]
    bins = _bins(shape, limits.side, limits.cells)
    grid = error_grid(
        facts.A, facts.U, facts.V, facts.order, bins, facts.n_jobs, favour_members=True
    )
    return _matrix(grid, with_data=facts.A is not None)


def blocks_of(facts: Facts, limits: Limits) -> dict[int, Matrix]:
    """Count each of the components that cover most ones into a grid of its own.

    Its lines are in the order in which they fit.
    """
    if facts.A is None or facts.components is None:
        return {}
    covered = facts.components.covered
    drawn = np.argsort(-covered, kind="stable")[: limits.blocks]
    shape = limits.block_side, limits.block_side
    blocks = {}
    for at in drawn[covered[drawn] > 0].tolist():
        rows, columns = (side.members[at].lines for side in (facts.rows, facts.columns))
        order = BlockOrder(rows, columns, np.array([at]))
        # Threads are worth it only where there is much to count.
        n_jobs = facts.n_jobs if len(order.rows) * facts.A.density * facts.A.shape[1] > _MUCH else 1
        U, V = facts.U[:, [at]], facts.V[[at]]
        blocks[at] = _matrix(error_grid(facts.A, U, V, order, shape, n_jobs), with_data=True)
    return blocks


def consensus_of(facts: Facts) -> Consensus | None:
    """Return how often rows are together in fits of resampled data, if that is noted."""
    noted = facts.model.info.stability
    if facts.of_other_data or noted is None or not noted.consensus:
        return None
    shares = np.asarray(noted.consensus, dtype=np.float64)
    return Consensus(
        runs=noted.runs,
        cophenetic=noted.cophenetic,
        side=len(shares),
        shares=pack_numbers(np.where(np.isnan(shares), 255, np.rint(254 * shares)), "u1"),
    )


def _bins(shape: tuple[int, int], side: int, cells: int) -> tuple[int, int]:
    """Return how many bins to make of rows and columns; a short side is not thinned out."""
    rows, columns = (max(1, min(length, side)) for length in shape)
    even = math.isqrt(cells)
    if rows * columns <= cells:
        return rows, columns
    if columns <= even:
        return cells // columns, columns
    return (rows, cells // rows) if rows <= even else (even, even)


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
