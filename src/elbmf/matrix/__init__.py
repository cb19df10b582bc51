"""The data: a matrix of zeros and ones, with missing cells, in memory or on disk."""

from elbmf.matrix.boolean_matrix import BooleanMatrix, NotBooleanError
from elbmf.matrix.on_disk import DiskMatrix

__all__ = ["BooleanMatrix", "DiskMatrix", "NotBooleanError"]
