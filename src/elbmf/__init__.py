"""Boolean matrix factorization: the public names."""

from elbmf._version import __version__

__all__ = ["__version__"]
