"""Synthetic data with a known answer (Sec. 4.1): rectangular tiles of ones, and noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from elbmf.boolean import boolean_product
from elbmf.errors import InputError

__all__ = ["TiledMatrix", "make_tiles"]

# Draws for one tile, and fresh starts with an empty matrix, before giving up on placing them all.
_DRAWS = 1000
_STARTS = 100


@dataclass(frozen=True)
class TiledMatrix:
    """A noisy matrix and the tiles behind it.

    Parameters
    ----------
    A : sparse array of bool, of shape (n, m)
        The data, with noise.
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
    height: tuple[int, int],
    width: tuple[int, int] | None = None,
    noise: float = 0.0,
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
        Probability with which each cell is set to one.
    overlap : bool, default=False
        Whether tiles may share cells. If not, they are placed by rejection.
    random_state : int, RandomState instance or None
        Seed.

    Returns
    -------
    TiledMatrix

    Raises
    ------
    InputError
        When the tiles cannot be placed without overlap.
    """
    n, m = shape
    width = height if width is None else width
    for name, (low, high), limit in (("height", height, n), ("width", width, m)):
        if not 1 <= low <= high <= limit:
            raise InputError(
                f"{name} must be a range (least, greatest) within 1 and {limit}; got {low, high}."
            )
    if not 0 <= noise <= 1:
        raise InputError(f"noise must be a probability between 0 and 1; got {noise}.")
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    generator = np.random.default_rng(seed)
    for _ in range(_STARTS):
        tiles = _place(shape, n_tiles, height, width, overlap, generator)
        if tiles is not None:
            break
    else:
        raise InputError(
            f"Could not place {n_tiles} tiles of {height[0]}-{height[1]} × {width[0]}-{width[1]} "
            f"cells in a {n}×{m} matrix without overlap. Ask for fewer or smaller tiles, or set "
            "overlap=True."
        )
    U = np.zeros((n, n_tiles), dtype=np.bool_)
    V = np.zeros((n_tiles, m), dtype=np.bool_)
    for l, (top, bottom, left, right) in enumerate(tiles):
        U[top:bottom, l] = True
        V[l, left:right] = True
    truth = boolean_product(U, V)
    return TiledMatrix(_or(truth, _noise(shape, noise, generator)), truth, U, V)


def _place(
    shape: tuple[int, int],
    n_tiles: int,
    height: tuple[int, int],
    width: tuple[int, int],
    overlap: bool,
    generator: np.random.Generator,
) -> list[tuple[int, int, int, int]] | None:
    """Draw tiles one after the other; None when one finds no room."""
    tiles: list[tuple[int, int, int, int]] = []
    for _ in range(n_tiles):
        for _ in range(_DRAWS):
            rows = int(generator.integers(height[0], height[1], endpoint=True))
            columns = int(generator.integers(width[0], width[1], endpoint=True))
            top = int(generator.integers(0, shape[0] - rows, endpoint=True))
            left = int(generator.integers(0, shape[1] - columns, endpoint=True))
            tile = (top, top + rows, left, left + columns)
            if overlap or not any(_overlap(tile, other) for other in tiles):
                tiles.append(tile)
                break
        else:
            return None
    return tiles


def _overlap(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]


def _noise(
    shape: tuple[int, int], probability: float, generator: np.random.Generator
) -> sparse.csr_array:
    """Draw every cell independently, at the cost of the cells drawn: the gaps are geometric."""
    cells = shape[0] * shape[1]
    if probability == 0:
        return sparse.csr_array(shape, dtype=np.bool_)
    pieces = []
    last = -1
    while last < cells:
        expected = (cells - last) * probability
        gaps = generator.geometric(probability, size=int(expected + 6 * expected**0.5) + 10)
        drawn = last + np.cumsum(gaps)
        pieces.append(drawn[drawn < cells])
        last = int(drawn[-1])
    rows, columns = np.divmod(np.concatenate(pieces), shape[1])
    ones = np.ones(rows.shape, dtype=np.bool_)
    return sparse.csr_array((ones, (rows, columns)), shape=shape)


def _or(a: sparse.csr_array, b: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array((a + b).astype(np.bool_))
