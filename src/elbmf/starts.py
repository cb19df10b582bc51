"""Where the relaxation starts from: U₀ and V₀.

The paper starts from uniform noise. Under the default schedule, which forgets a small start within
the first epochs and then sharpens what is there, the positive parts of the leading singular
vectors are the better beginning: they already point to where the ones are. Measured in
benchmarks/starts.py.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

from elbmf.matrix import BooleanMatrix

__all__ = ["singular_start", "uniform_start"]

Floats = NDArray[np.floating[Any]]

# Noise beside the singular vectors, which are of order 1: it tells equal columns apart.
_NOISE = 0.1

# Passes that sharpen the randomised singular vectors.
_POWER_ITERATIONS = 2


def uniform_start(
    shape: tuple[int, int], n_components: int, generator: np.random.Generator, dtype: Any
) -> tuple[Floats, Floats]:
    """Draw U₀ and V₀ᵀ from the uniform distribution on [0, 1)."""
    n, m = shape
    U: Floats = generator.random((n, n_components), dtype=dtype)
    Vt: Floats = generator.random((m, n_components), dtype=dtype)
    return U, Vt


def singular_start(
    A: BooleanMatrix, n_components: int, generator: np.random.Generator, dtype: Any
) -> tuple[Floats, Floats]:
    """Make U₀ and V₀ᵀ from the leading singular vectors of A, and a little noise.

    Of each pair the sign is chosen that has most of U positive, and what is negative is dropped.
    Components beyond the rank of A are noise.
    """
    U, Vt = uniform_start(A.shape, n_components, generator, dtype)
    rank = min(n_components, *A.shape)
    left, values, right = randomized_svd(
        A.to_csr(dtype), rank, n_iter=_POWER_ITERATIONS, random_state=int(generator.integers(2**31))
    )
    scale = np.sqrt(values)
    left, right = left * scale, right.T * scale
    negative = np.maximum(left, 0).sum(axis=0) < np.maximum(-left, 0).sum(axis=0)
    sign = np.where(negative, -1, 1)
    for factor, vectors in ((U, left), (Vt, right)):
        factor[:, :rank] = _NOISE * factor[:, :rank] + np.maximum(vectors * sign, 0)
    return U, Vt
