"""Random matrices with the row and column sums of a given one."""

import math
from numbers import Integral
from typing import Any

import numpy as np

from elbmf.datasets.kernels.trading import trade
from elbmf.errors import InputError
from elbmf.kernels.patterns import transpose_pattern
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.seeds import seed_of

__all__ = ["shuffled"]

# Sweeps after which the ones of lines that are about equally long are well mixed; one that is
# longer than the mean takes more by as much. Measured, see docs/significance.md.
_FEWEST_SWEEPS, _SWEEPS_PER_MEAN = 50, 5


def shuffled(
    X: Any, random_state: Any = None, *, sweeps: int | None = None, missing: Any = None
) -> BooleanMatrix:
    """Draw a matrix with the same row and column sums, each as likely as any other.

    Parameters
    ----------
    X : array-like, sparse matrix or BooleanMatrix, of shape (n, m)
        Zeros and ones; NaN are missing, and stay where they are.
    random_state : int, RandomState instance or None
        Seed.
    sweeps : int, optional
        How often each row, or each column where their sums are less unequal, trades ones with
        another. 50 by default, and more where one line has many times the ones of others.
    missing : array-like or sparse matrix of shape (n, m), optional
        0/1 mask of more missing cells.

    Returns
    -------
    BooleanMatrix
        ``fit`` takes it as it is; ``to_csr()`` makes a sparse array of it.

    Notes
    -----
    Curveball trades (Strona et al. 2014) between all lines in turn (Carstens et al. 2018): in each
    sweep, the rows, or the columns, meet in random pairs and share out anew what only one of both
    has. From any matrix, this leads to all with the same sums, and in the long run to each equally
    often. Missing cells are left out of all trades; some matrices may then be out of reach, and the
    others are drawn equally often.

    Examples
    --------
    >>> from elbmf.datasets import load_digits, shuffled
    >>> A, *_ = load_digits()
    >>> random = shuffled(A, random_state=0).to_csr()
    >>> bool((random.sum(axis=0) == A.sum(axis=0)).all())
    True
    """
    if sweeps is not None and (not isinstance(sweeps, Integral) or sweeps < 0):
        raise InputError(f"sweeps must be a whole number, at least 0; got {sweeps!r}.")
    A = BooleanMatrix.from_array(X, missing=missing)
    seed = np.uint64(seed_of(random_state))
    inequality, axis = min((_inequality(A, axis), axis) for axis in (0, 1))
    if sweeps is None:
        sweeps = max(_FEWEST_SWEEPS, math.ceil(_SWEEPS_PER_MEAN * inequality))
    indptr, indices = A.lines(axis)
    traded = indices[: A.ones].astype(A.indices.dtype)
    trade(indptr, traded, *A.missing_lines(axis), int(sweeps), seed)
    if axis == 1:
        by_columns, traded = traded, np.empty_like(traded)
        transpose_pattern(indptr, by_columns, A.indptr[:-1].copy(), traded)
    return BooleanMatrix(A.shape, A.indptr, traded, A.missing)


def _inequality(A: BooleanMatrix, axis: int) -> float:
    """Return how many times the mean the largest line has; of ones or zeros, what is fewer."""
    ones = np.diff(A.lines(axis)[0])
    sizes = np.minimum(ones, A.shape[1 - axis] - ones)
    return float(sizes.max() / sizes.mean()) if sizes.any() else 0.0
