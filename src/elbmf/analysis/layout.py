"""A map of the rows: places in the plane, near to each other where reconstructions are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from elbmf.boolean.product import boolean_factors, pack

__all__ = ["RowLayout", "row_layout"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

# Distinct rows and columns from which the axes of the map are learned; of more, a sample is.
_MOST_LEARNED = 2048

# Cells of the reconstruction that are put together at once.
_CELLS_AT_ONCE = 1 << 23


@dataclass(frozen=True, eq=False)
class RowLayout:
    """Where rows are on the map.

    Parameters
    ----------
    places : ndarray of float64, of shape (p, 2)
        One for each distinct set of components that rows have.
    members : ndarray of bool, of shape (p, k)
        These sets.
    place_of : ndarray of int64, of length n
        Which of them each row has.
    counts : ndarray of int64, of length p
        Rows that have it.
    explained : (float, float)
        The share of the squared distances that each direction of the map shows.
    """

    places: Floats
    members: Bools
    place_of: NDArray[np.int64]
    counts: NDArray[np.int64]
    explained: tuple[float, float]


def row_layout(U: Any, V: Any) -> RowLayout:
    """Put rows on a map by what U ∘ V says of them.

    This is classical scaling of the Hamming distances between reconstructed rows, that is, their
    two leading principal components. Rows in the same components share a place. The same factors
    always give the same map; where more than 2048 rows or columns differ, its directions are
    learned from every so-manieth of them.

    Parameters
    ----------
    U : array-like of shape (n, k)
    V : array-like of shape (k, m)
        0/1, dense or sparse.

    Notes
    -----
    Of several maps that need no random start, this one best puts rows with the same label next to
    each other. The share of the 10 nearest neighbours that have the label of the row itself, with
    k = 20 and 60 epochs, by ``benchmarks/row_maps.py``:

    =====================================  ======  ============  ===============
    map                                    digits  newsgroups20  genomes1k_peddy
    =====================================  ======  ============  ===============
    principal components, reconstruction   0.472   0.087         0.947
    principal components, memberships      0.404   0.087         0.945
    correspondence analysis                0.394   0.086         0.910
    anchors on a circle                    0.290   0.087         0.762
    drawing rows at random                 0.100   0.050         0.208
    =====================================  ======  ============  ===============

    Of newsgroups20, 89 % of the rows are in no component, and so in one place of any map. In all 20
    dimensions, neighbours share labels to 0.696, 0.087 and 0.946.
    """
    U, V = boolean_factors(U, V)
    members, place_of, counts = _distinct(U)
    columns, _, widths = _distinct(V.T)
    learned, row_weights = _sample(counts)
    asked, column_weights = _sample(widths)
    V, scale = columns[asked].T, np.sqrt(column_weights)
    B = _product(members[learned], V)
    mean = row_weights @ B / max(row_weights.sum(), 1)
    X = (B - mean) * scale * np.sqrt(row_weights)[:, None]
    directions, explained = _leading_directions(X)
    places = np.empty((len(members), 2))
    at_once = max(1, _CELLS_AT_ONCE // max(V.shape[1], 1))
    for low in range(0, len(members), at_once):
        some = _product(members[low : low + at_once], V)
        places[low : low + at_once] = ((some - mean) * scale) @ directions
    return RowLayout(places, members, place_of, counts, explained)


def _distinct(lines: Bools) -> tuple[Bools, NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct lines, which of them each line is, and how often each occurs."""
    words = pack(np.ascontiguousarray(lines))
    _, first, inverse, counts = np.unique(
        words, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return lines[first], inverse.ravel(), counts


def _sample(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Return which lines to learn from, and their weights: all, or some that stand for all.

    Of many, those are taken that are met in even steps through all lines, alike ones side by side.
    """
    if len(counts) <= _MOST_LEARNED:
        return np.arange(len(counts)), counts.astype(np.float64)
    steps = (np.arange(_MOST_LEARNED) + 0.5) * counts.sum() / _MOST_LEARNED
    met = np.searchsorted(np.cumsum(counts), steps, side="right")
    chosen, times = np.unique(met, return_counts=True)
    return chosen, times * (counts.sum() / _MOST_LEARNED)


def _product(U: Bools, V: Bools) -> Floats:
    return (U.astype(np.float32) @ V.astype(np.float32) > 0).astype(np.float64)


def _leading_directions(X: Floats) -> tuple[Floats, tuple[float, float]]:
    """Return the two leading right singular vectors, and their shares of the sum of squares."""
    short = X if X.shape[0] <= X.shape[1] else X.T
    gram = short @ short.T
    size = len(gram)
    values, vectors = eigh(gram, subset_by_index=[max(size - 2, 0), size - 1])
    found = np.zeros((X.shape[1], 2))
    explained = [0.0, 0.0]
    total = float(np.trace(gram))
    for at, (value, vector) in enumerate(zip(values[::-1], vectors.T[::-1], strict=True)):
        if value <= 1e-12 * max(total, 1e-300):
            continue
        direction = X.T @ vector / np.sqrt(value) if short is X else vector
        # Of the two signs, the one that makes the largest entry positive.
        found[:, at] = direction * np.sign(direction[np.argmax(np.abs(direction))])
        explained[at] = float(value / total)
    return found, (explained[0], explained[1])
