"""Synthetic data with a known answer (Sec. 4.1): rectangular tiles of ones, and noise."""

from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.datasets.kernels.merging import merge_cells
from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import Pattern
from elbmf.utils.seeds import generator_of

__all__ = ["TiledMatrix", "make_tiles"]

# Draws for one tile before starting anew with an empty matrix, such starts, and draws in all,
# before giving up on placing the tiles: a few seconds.
_DRAWS = 1000
_STARTS = 100
_DRAWS_IN_ALL = 100_000
_DRAWS_IN_ALL_PER_TILE = 20

# Noise is drawn, and put in, for about this many ones at a time.
_ONES_AT_ONCE = 1 << 20

Cells = NDArray[np.int64]
Range = tuple[int, int]


@dataclass(frozen=True)
class TiledMatrix:
    """A noisy matrix and the tiles behind it.

    Parameters
    ----------
    A : sparse array of bool, of shape (n, m)
        The data, with noise; without any, the same object as the truth.
    truth : sparse array of bool, of shape (n, m)
        A*, the data without noise.
    U : ndarray of bool, of shape (n, k)
    V : ndarray of bool, of shape (k, m)
        The factors of A*.
    """

    A: sparse.csr_array
    truth: sparse.csr_array
    U: NDArray[np.bool_]
    V: NDArray[np.bool_]


def make_tiles(
    shape: tuple[int, int],
    n_tiles: int,
    *,
    height: Range,
    width: Range | None = None,
    noise: float = 0.0,
    subtractive: float = 0.0,
    flips: float = 0.0,
    overlap: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> TiledMatrix:
    """Draw a matrix with rectangular tiles of consecutive rows and columns, then add noise.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns.
    n_tiles : int
        Number of tiles, the Boolean rank of the noise-free matrix at most.
    height, width : (int, int)
        Least and greatest number of rows and columns of a tile; the width is drawn from the same
        range as the height when it is not given.
    noise : float, default=0.0
        Additive noise: probability with which each cell is set to one.
    subtractive : float, default=0.0
        Probability with which each one of a tile is lost.
    flips : float, default=0.0
        Probability with which each cell, whatever it is by then, is inverted.
    overlap : bool, default=False
        Whether tiles may share cells. If not, they are placed by rejection.
    random_state : int, RandomState instance or None
        Seed. It draws the same tiles whatever the noise, and each kind of noise at the same cells
        whether or not there are other kinds.

    Returns
    -------
    TiledMatrix

    Raises
    ------
    InputError
        When the tiles cannot be placed without overlap.

    Notes
    -----
    The kinds of noise apply in the order of the parameters: A = ((A* ∪ noise) ∖ lost) △ flips. A
    one that is lost is lost even where additive noise falls on it, so that a zero of A* becomes a
    one with probability ``noise``, a one of A* a zero with probability ``subtractive``, and either
    is inverted once more with probability ``flips``.

    Time and memory are those of the ones of A* and A, the cells drawn, and the dense factors.

    Examples
    --------
    >>> from elbmf.datasets import make_tiles
    >>> tiles = make_tiles((60, 50), 3, height=(15, 20), subtractive=0.1, random_state=0)
    >>> tiles.A.nnz < tiles.truth.nnz
    True
    """
    n, m = shape
    width = height if width is None else width
    if not isinstance(n_tiles, Integral) or n_tiles < 1:
        raise InputError(f"n_tiles must be a whole number, at least 1; got {n_tiles!r}.")
    for name, (low, high), limit in (("height", height, n), ("width", width, m)):
        if not 1 <= low <= high <= limit:
            raise InputError(
                f"{name} must be a range (least, greatest) within 1 and {limit}; got {low, high}."
            )
    for name, value in (("noise", noise), ("subtractive", subtractive), ("flips", flips)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} must be a probability between 0 and 1; got {value}.")
    generator = generator_of(random_state)
    tiles = _place(shape, int(n_tiles), height, width, overlap, generator)
    U = np.zeros((n, n_tiles), dtype=np.bool_)
    V = np.zeros((n_tiles, m), dtype=np.bool_)
    for l, (top, bottom, left, right) in enumerate(tiles):
        U[top:bottom, l] = True
        V[l, left:right] = True
    truth = _product(U, V, bands=np.unique(np.concatenate([[0, n], tiles[:, :2].ravel()])))
    return TiledMatrix(_noisy(truth, noise, subtractive, flips, generator), truth, U, V)


def _place(
    shape: tuple[int, int],
    n_tiles: int,
    height: Range,
    width: Range,
    overlap: bool,
    generator: np.random.Generator,
) -> Cells:
    """Draw the tiles, as rows (top, bottom, left, right)."""
    (n, m), (h, w) = shape, (height[0], width[0])
    # Each h×w rectangle has exactly one of the cells whose row and column, counted from 1, are
    # multiples of h and w. So there is room for no more of them than there are such cells.
    room = (n // h) * (m // w)
    why = (
        f"at most {room} fit even of the least size, {h}×{w}"
        if n_tiles > room
        else "no room was found by chance"
    )

    def draw_one_by_one(most_draws: int) -> tuple[Cells, int]:
        """Draw tiles until all have room or one finds none; return them and the draws it took."""
        top, bottom, left, right = edges = np.empty((4, n_tiles), dtype=np.int64)
        draws = 0
        for l in range(n_tiles):
            for _ in range(min(_DRAWS, most_draws - draws)):
                draws += 1
                rows = generator.integers(height[0], height[1], endpoint=True)
                columns = generator.integers(width[0], width[1], endpoint=True)
                first_row = generator.integers(0, n - rows, endpoint=True)
                first_column = generator.integers(0, m - columns, endpoint=True)
                taken = (
                    not overlap
                    and (
                        (top[:l] < first_row + rows)
                        & (first_row < bottom[:l])
                        & (left[:l] < first_column + columns)
                        & (first_column < right[:l])
                    ).any()
                )
                if not taken:
                    edges[:, l] = first_row, first_row + rows, first_column, first_column + columns
                    break
            else:
                return edges[:, :l].T, draws
        return edges.T, draws

    draws_left = _DRAWS_IN_ALL + _DRAWS_IN_ALL_PER_TILE * n_tiles
    for _ in range(_STARTS):
        if not overlap and (n_tiles > room or draws_left <= 0):
            break
        tiles, draws = draw_one_by_one(draws_left)
        if tiles.shape[0] == n_tiles:
            return tiles
        draws_left -= draws
    raise InputError(
        f"Could not place {n_tiles} tiles of {h}-{height[1]} × {w}-{width[1]} cells in a {n}×{m} "
        f"matrix without overlap: {why}. Ask for fewer or smaller tiles, or set overlap=True."
    )


def _product(U: NDArray[np.bool_], V: NDArray[np.bool_], bands: Cells) -> sparse.csr_array:
    """Boolean product of factors whose rows from one edge of a band to the next are the same.

    So there is little to do but to copy, which for large matrices is many times faster than
    forming the product row by row.
    """
    n, m = U.shape[0], V.shape[1]
    heights = np.diff(bands)
    patterns = [np.flatnonzero(V[U[top]].any(axis=0)) for top in bands[:-1]]
    widths = np.array([pattern.size for pattern in patterns])
    ends = np.cumsum(heights * widths)
    small = max(m, ends[-1]) <= np.iinfo(np.int32).max
    indices = np.empty(ends[-1], dtype=np.int32 if small else np.int64)
    for pattern, height, end in zip(patterns, heights, ends, strict=True):
        block = indices[end - height * pattern.size : end]
        block.reshape(height, pattern.size)[...] = pattern
    indptr = np.concatenate([[0], np.cumsum(np.repeat(widths, heights))]).astype(indices.dtype)
    data = np.ones(indices.shape, dtype=np.bool_)
    return sparse.csr_array((data, indices, indptr), shape=(n, m))


def _noisy(
    truth: sparse.csr_array,
    noise: float,
    subtractive: float,
    flips: float,
    generator: np.random.Generator,
) -> sparse.csr_array:
    """Put noise into a matrix, some rows at a time."""
    if not (noise or subtractive or flips):
        return truth
    n, m = truth.shape
    # Generators of their own, so that no kind of noise depends on another.
    for_losses, for_flips = generator.spawn(2)
    added = _DrawnCells(n * m, noise, generator)
    lost = _DrawnCells(truth.nnz, subtractive, for_losses)
    flipped = _DrawnCells(n * m, flips, for_flips)
    expected = truth.indptr + np.arange(n + 1) * (m * (noise + flips))
    blocks = np.searchsorted(expected, np.arange(0, expected[-1], _ONES_AT_ONCE)[1:])
    edges = np.unique(np.concatenate([[0], blocks, [n]]))
    indptr = np.zeros(n + 1, dtype=np.int64)
    indices = np.empty(int(expected[-1]), dtype=truth.indices.dtype)
    for low, high in pairwise(edges.tolist()):
        rows = truth.indptr[low : high + 1], truth.indices
        rows = _merged(rows, low, m, added.until(high * m), keep_common=True)
        gone = _cells(truth, lost.until(truth.indptr[high]))
        rows = _merged(rows, low, m, gone, keep_common=False)
        rows = _merged(rows, low, m, flipped.until(high * m), keep_common=False)
        (start, end), ones = rows[0][[0, -1]], rows[1]
        indptr[low : high + 1] = indptr[low] + (rows[0] - start)
        if indptr[high] > indices.size:
            # In place, where that is possible: there may be no room for two such arrays.
            indices.resize(int(1.01 * indptr[high]) + 1, refcheck=False)
        indices[indptr[low] : indptr[high]] = ones[start:end]
    indices.resize(int(indptr[-1]), refcheck=False)
    if indices.size <= np.iinfo(indices.dtype).max:
        indptr = indptr.astype(indices.dtype)
    data = np.ones(indices.shape, dtype=np.bool_)
    return sparse.csr_array((data, indices, indptr), shape=truth.shape)


class _DrawnCells:
    """Cells drawn independently, at the cost of those drawn: the gaps between them are geometric.

    Of the generator, as many numbers are taken as are needed so far, or a few more.
    """

    def __init__(self, cells: int, probability: float, generator: np.random.Generator) -> None:
        self._cells = cells
        self._probability = probability
        self._generator = generator
        self._ahead: Cells = np.empty(0, dtype=np.int64)
        self._last = -1 if probability else cells

    def until(self, end: int) -> Cells:
        """Return the cells drawn before ``end`` that were not returned before, in order."""
        pieces = [self._ahead]
        while self._last < end - 1:
            expected = (end - self._last) * self._probability
            gaps = self._generator.geometric(
                self._probability, size=int(expected + 2 * expected**0.5) + 2
            )
            # A gap may be too long for sums of such gaps; beyond the last cell all are the same.
            drawn = self._last + np.cumsum(np.minimum(gaps, self._cells + 1))
            pieces.append(drawn)
            self._last = int(drawn[-1])
        ready = np.concatenate(pieces)
        count = int(np.searchsorted(ready, end))
        self._ahead = ready[count:]
        return ready[:count]


def _cells(matrix: sparse.csr_array, positions: Cells) -> Cells:
    """Return i·m + j for some of the ones of a matrix, given by their positions in order."""
    rows = np.searchsorted(matrix.indptr, positions, side="right") - 1
    return rows * matrix.shape[1] + matrix.indices[positions]


def _merged(rows: Pattern, first_row: int, m: int, cells: Cells, *, keep_common: bool) -> Pattern:
    """Merge cells into rows: those in either or, unless common ones are kept, not in both."""
    if not cells.size:
        return rows
    indptr, indices = rows
    merged_indptr = np.zeros(indptr.shape, dtype=np.int64)
    merged = np.empty(indptr[-1] - indptr[0] + cells.size, dtype=indices.dtype)
    merge_cells(indptr, indices, first_row, m, cells, keep_common, merged_indptr, merged)
    return merged_indptr, merged
