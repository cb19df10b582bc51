"""What components share, and an order of rows and columns in which they show as blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from elbmf.boolean.product import boolean_factors

__all__ = ["BlockOrder", "ComponentOverlap", "block_order", "component_overlap", "runs"]

Bools = NDArray[np.bool_]
Places = NDArray[np.int64]

# Components up to which their order is the best of those that the tree of clusters allows; finding
# it takes the square or more.
_MOST_OPTIMAL = 400

# A pair of components that a line is in costs so much more in a sparse product than in a dense one.
_SPARSE_COST = 30


@dataclass(frozen=True, eq=False)
class ComponentOverlap:
    """Rows and columns that each pair of components shares, as arrays of shape (k, k).

    Parameters
    ----------
    rows, columns : ndarray of int64
        Lines in both components; the diagonal holds the size of each.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    @property
    def cells(self) -> NDArray[np.int64]:
        """Cells in both components."""
        return self.rows * self.columns

    @property
    def row_similarity(self) -> NDArray[np.float64]:
        """Lines in both as a share of those in either, for rows (Jaccard); 0 for empty ones."""
        return _jaccard(self.rows)

    @property
    def column_similarity(self) -> NDArray[np.float64]:
        """The same for columns."""
        return _jaccard(self.columns)

    @property
    def share(self) -> NDArray[np.float64]:
        """Entry (a, b): the share of the cells of a that are also in b; 0 where a has none."""
        own = np.diag(self.cells)[:, None]
        return np.divide(self.cells, own, out=np.zeros(self.cells.shape), where=own > 0)


def component_overlap(U: Any, V: Any) -> ComponentOverlap:
    """Count what each pair of components shares.

    Parameters
    ----------
    U : array-like of shape (n, k)
    V : array-like of shape (k, m)
        0/1, dense or sparse.
    """
    U, V = boolean_factors(U, V)
    return ComponentOverlap(_gram(U), _gram(V.T))


def _gram(lines: NDArray[np.bool_]) -> NDArray[np.int64]:
    count, k = lines.shape
    pairs = float(np.square(lines.sum(axis=1), dtype=np.float64).sum())
    if pairs * _SPARSE_COST < count * float(k) ** 2:
        members = sparse.csr_array(lines).astype(np.int64)
        return (members.T @ members).toarray()
    total = np.zeros((k, k))
    # In runs short enough that 32-bit floats count exactly, and that take little memory.
    for low in range(0, count, 1 << 16):
        run = lines[low : low + (1 << 16)].astype(np.float32)
        total += run.T @ run
    return np.rint(total).astype(np.int64)


def _jaccard(common: NDArray[np.int64]) -> NDArray[np.float64]:
    sizes = np.diag(common)
    either = sizes[:, None] + sizes[None, :] - common
    return np.divide(common, either, out=np.zeros(common.shape), where=either > 0)


@dataclass(frozen=True, eq=False)
class BlockOrder:
    """Which row, column and component is shown in which place.

    Parameters
    ----------
    rows, columns : ndarray of int64
        The row in each place from the top, the column in each place from the left. They may be
        some of all.
    components : ndarray of int64
        The components, those that share much next to each other.
    """

    rows: Places
    columns: Places
    components: Places


def block_order(
    U: Any,
    V: Any,
    *,
    row_sums: ArrayLike | None = None,
    column_sums: ArrayLike | None = None,
    overlap: ComponentOverlap | None = None,
) -> BlockOrder:
    """Order rows and columns so that components show as blocks.

    Components are put in a row in which neighbours share rows and columns. A row then stands with
    the first of its components, next to those with the same others; rows in no component come last.
    The same goes for columns.

    Parameters
    ----------
    U : array-like of shape (n, k)
    V : array-like of shape (k, m)
        0/1, dense or sparse.
    row_sums, column_sums : array-like, optional
        Ones of each row and column, by which those in the same components are put, most ones first.
    overlap : ComponentOverlap, optional
        What components share, if it is known already.
    """
    U, V = boolean_factors(U, V)
    components = _chain(U, V, overlap)
    return BlockOrder(
        _by_membership(U[:, components], row_sums),
        _by_membership(V.T[:, components], column_sums),
        components,
    )


def runs(places: Places) -> tuple[Places, Places]:
    """Return where runs of neighbours among ascending places begin, and where they end."""
    if not places.size:
        return places, places
    breaks = np.flatnonzero(np.diff(places) > 1)
    return places[np.append(0, breaks + 1)], places[np.append(breaks, len(places) - 1)] + 1


def _chain(U: Bools, V: Bools, overlap: ComponentOverlap | None) -> Places:
    """Put components in a row in which neighbours share much, large ones at its start."""
    k = U.shape[1]
    if k < 3:
        return np.argsort(-_areas(U, V), kind="stable")
    # Here, for methods import this module, and their fits need no clusters.
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    overlap = overlap or component_overlap(U, V)
    distance = 2 - overlap.row_similarity - overlap.column_similarity
    np.fill_diagonal(distance, 0)
    tree = linkage(
        squareform(distance, checks=False), method="average", optimal_ordering=k <= _MOST_OPTIMAL
    )
    order = leaves_list(tree).astype(np.int64)
    areas = _areas(U, V)[order]
    places = np.arange(k)
    # The same row read from its other end is as good.
    return order if (areas * places).sum() <= (areas * places[::-1]).sum() else order[::-1]


def _areas(U: Bools, V: Bools) -> NDArray[np.float64]:
    return U.sum(axis=0) * V.sum(axis=1).astype(np.float64)


def _by_membership(memberships: Bools, sums: ArrayLike | None) -> Places:
    """Sort lines by their first component, then by their second, and so on; then by their sum."""
    lines, k = memberships.shape
    padded = np.zeros((lines, -(-max(k, 1) // 64) * 64), dtype=np.bool_)
    padded[:, :k] = memberships
    # The first component is the highest bit, so that a line that has it is the larger number.
    words = np.packbits(padded, axis=1).view(">u8").astype(np.uint64)
    keys: list[NDArray[Any]] = [~words[:, word] for word in reversed(range(words.shape[1]))]
    if sums is not None:
        keys.insert(0, -np.asarray(sums, dtype=np.float64))
    return np.lexsort(keys).astype(np.int64)
