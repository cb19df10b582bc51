"""The data: a matrix of zeros and ones, with missing cells, in memory or on disk."""

from elbmf.matrix.boolean_matrix import BooleanMatrix, NotBooleanError, as_matrix
from elbmf.matrix.on_disk import DiskMatrix
from elbmf.matrix.protocol import Matrix

__all__ = ["BooleanMatrix", "DiskMatrix", "Matrix", "NotBooleanError", "as_matrix"]
