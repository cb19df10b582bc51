"""Data to try methods on: images of digits, generated tiles, and random data like one's own."""

from elbmf.datasets.digits import load_digits
from elbmf.datasets.shuffling import shuffled
from elbmf.datasets.tiles import TiledMatrix, make_tiles

__all__ = ["TiledMatrix", "load_digits", "make_tiles", "shuffled"]
