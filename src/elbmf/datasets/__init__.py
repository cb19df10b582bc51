"""Data to try methods on: images of digits, and generated tiles."""

from elbmf.datasets.digits import load_digits
from elbmf.datasets.tiles import TiledMatrix, make_tiles

__all__ = ["TiledMatrix", "load_digits", "make_tiles"]
