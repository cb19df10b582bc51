"""Matrices of the shape and density of a data set, to try scale without the data."""

from __future__ import annotations

import math

import numpy as np

from elbmf.datasets.tiles import make_tiles
from elbmf.errors import InputError
from elbmf.io import LabelledMatrix
from elbmf.paper.catalog.prepared import PreparedData
from elbmf.utils.seeds import seed_of

__all__ = ["stand_in"]

# Of all ones, those in tiles; the rest is noise.
_IN_TILES = 0.5


def stand_in(
    shape: tuple[int, int],
    density: float,
    n_tiles: int,
    *,
    scale: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> PreparedData:
    """Draw tiles of ones and as much noise as makes a given density.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns before scaling.
    density : float
        Share of ones to expect; half of them lie in tiles, half are noise.
    n_tiles : int
        Number of tiles, which may overlap.
    scale : float
        Factor for both the rows and the columns.
    random_state : int, RandomState instance or None
        Seed.

    Returns
    -------
    PreparedData
        The tiles that a row is in, joined by spaces, are its label ``tiles``.

    Examples
    --------
    >>> from elbmf.paper.catalog import stand_in
    >>> stand_in((700, 650), 0.05, 20, random_state=0).matrix.shape
    (700, 650)
    """
    if not (math.isfinite(scale) and scale > 0):
        raise InputError(f"scale must be a number above 0; got {scale}.")
    n, m = (max(1, round(side * scale)) for side in shape)
    area = _IN_TILES * density * n * m / n_tiles
    height = _around(min(n, math.sqrt(area * n / m)), n)
    width = _around(2 * area / sum(height), m)
    seed = seed_of(random_state)
    # Noise is drawn after the tiles: with the same seed, the same tiles.
    tiled = make_tiles((n, m), n_tiles, height=height, width=width, overlap=True, random_state=seed)
    covered = tiled.truth.nnz / (n * m)
    noise = min(1.0, max(0.0, (density - covered) / max(1.0 - covered, 1e-12)))
    made = make_tiles(
        (n, m), n_tiles, height=height, width=width, noise=noise, overlap=True, random_state=seed
    )
    labels = [" ".join(map(str, np.flatnonzero(row).tolist())) for row in made.U]
    notes = [
        f"Generated: {n_tiles} tiles that cover {covered:.4g} of all cells, and noise of "
        f"{noise:.4g}. Nothing in it is real."
    ]
    return PreparedData(LabelledMatrix(made.A), {"tiles": labels}, {}, notes)


def _around(mean: float, most: int) -> tuple[int, int]:
    """Return a range of whole numbers from half of a mean on, whose middle it is if possible."""
    low = min(most, max(1, math.ceil(0.5 * mean)))
    return low, min(most, max(low, round(2 * mean - low)))
