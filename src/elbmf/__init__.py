"""Boolean matrix factorization: the public names."""

from elbmf._version import __version__
from elbmf.boolean import boolean_product
from elbmf.estimators import ELBMF

__all__ = ["ELBMF", "__version__", "boolean_product"]
