"""The Boolean product U ∘ V (Eq. semiproduct), formed row by row on packed words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.errors import InputError
from elbmf.kernels import bits
from elbmf.utils.threads import over_ranges

__all__ = [
    "Bools",
    "Words",
    "boolean_array",
    "boolean_factors",
    "boolean_product",
    "hamming_distance",
    "pack",
]

Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]

# Columns, a multiple of 8.
_AT_ONCE = 64


def pack(rows: Bools) -> Words:
    """Pack each row of a Boolean array into 64-bit words; bit j of a row is bit j % 64 of its word.

    Parameters
    ----------
    rows : ndarray of shape (r, c)

    Returns
    -------
    ndarray of uint64, of shape (r, ceil(c / 64))
    """
    count, length = rows.shape
    words = max(1, -(-length // 64))
    packed = np.zeros((count, 8 * words), dtype=np.uint8)
    # Rows that do not lie in one piece, as of a transposed array, are several times as fast in
    # parts that fit in the cache.
    at_once = max(1, length) if rows.flags.c_contiguous else _AT_ONCE
    for start in range(0, length, at_once):
        part = np.ascontiguousarray(rows[:, start : start + at_once])
        filled = np.packbits(part, axis=1, bitorder="little")
        packed[:, start // 8 : start // 8 + filled.shape[1]] = filled
    return packed.view("<u8").astype(np.uint64, copy=False)


def boolean_product(U: Any, V: Any, n_jobs: int | None = None) -> sparse.csr_array:
    """Boolean product U ∘ V as a sparse Boolean array (Eq. semiproduct).

    Parameters
    ----------
    U : array-like of shape (n, k)
    V : array-like of shape (k, m)
        Both 0/1, dense or sparse.
    n_jobs : int, optional
        Threads. All cores by default.
    """
    U, V = boolean_factors(U, V)
    n, m = U.shape[0], V.shape[1]
    component_bits = pack(V)
    counts = np.zeros(n, dtype=np.int64)
    over_ranges(
        lambda low, high: bits.covered_cells(U, low, high, component_bits, counts), n, n_jobs
    )
    indptr = np.concatenate([[0], np.cumsum(counts)])
    small = max(m, int(indptr[-1])) <= np.iinfo(np.int32).max
    indices = np.empty(int(indptr[-1]), dtype=np.int32 if small else np.int64)
    over_ranges(
        lambda low, high: bits.product_indices(U, low, high, component_bits, indptr, indices),
        n,
        n_jobs,
    )
    data = np.ones(indices.shape, dtype=np.bool_)
    return sparse.csr_array((data, indices, indptr.astype(indices.dtype)), shape=(n, m))


def hamming_distance(U: Any, V: Any, other_U: Any, other_V: Any, n_jobs: int | None = None) -> int:
    """‖U ∘ V − U′ ∘ V′‖₁ between the products of two pairs of factors of the same shape."""
    U, V = boolean_factors(U, V)
    other_U, other_V = boolean_factors(other_U, other_V, (U.shape[0], V.shape[1]))
    component_bits, other_component_bits = pack(V), pack(other_V)
    return sum(
        over_ranges(
            lambda low, high: bits.changed_cells(
                U, component_bits, other_U, other_component_bits, low, high
            ),
            U.shape[0],
            n_jobs,
        )
    )


def boolean_array(X: Any, name: str) -> Bools:
    """Read a dense or sparse 0/1 matrix as a Boolean array, or say why that cannot be done."""
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
    if dense.ndim != 2:
        raise InputError(f"{name} must be a matrix; got {dense.ndim} dimension(s).")
    if dense.dtype != np.bool_:
        if not np.isin(dense, (0, 1)).all():
            raise InputError(
                f"{name} must be 0/1: round it first, e.g. with elbmf.relaxation.rounding."
            )
        dense = dense.astype(np.bool_)
    return np.ascontiguousarray(dense)


def boolean_factors(U: Any, V: Any, shape: tuple[int, int] | None = None) -> tuple[Bools, Bools]:
    """Read two factors as Boolean arrays, or say why they cannot be multiplied, to some shape."""
    U, V = boolean_array(U, "U"), boolean_array(V, "V")
    if U.shape[1] != V.shape[0]:
        raise InputError(f"U has {U.shape[1]} components, but V has {V.shape[0]}.")
    if shape is not None and (U.shape[0], V.shape[1]) != shape:
        raise InputError(
            f"U and V make a {U.shape[0]}×{V.shape[1]} product, but the matrix is "
            f"{shape[0]}×{shape[1]}."
        )
    return U, V
