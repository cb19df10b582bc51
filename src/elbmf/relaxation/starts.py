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

from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["singular_start", "uniform_start"]

Floats = NDArray[np.floating[Any]]

# Noise beside the singular vectors, which are of order 1: it tells equal columns apart.
_NOISE = 0.1

# Passes that sharpen the randomised singular vectors.
_POWER_ITERATIONS = 2


class UniformRows:
    """Rows of uniform random numbers in [0, 1), made when they are asked for, in any order.

    They are what ``generator.random(shape, dtype)`` returns, which is left as after that call.
    """

    def __init__(
        self,
        shape: tuple[int, int],  # Rows and columns
        generator: np.random.Generator,  # Of the kind that `numpy.random.default_rng` makes
        dtype: Any,
        scale: float = 1.0,  # What to multiply them by
    ) -> None:
        self.shape = shape
        self._dtype = np.dtype(dtype)
        self._scale = self._dtype.type(scale)
        self._state: Any = generator.bit_generator.state
        generator.bit_generator.state = self._after(shape[0] * shape[1]).state

    def __getitem__(self, rows: slice) -> Floats:
        low, high, _ = rows.indices(self.shape[0])
        width = self.shape[1]
        drawn: Floats = np.random.Generator(self._after(low * width)).random(
            (max(high - low, 0), width), dtype=self._dtype
        )
        drawn *= self._scale
        return drawn

    def _after(self, count: int) -> np.random.PCG64:
        """Return the source of random bits as it is after so many numbers."""
        bits = np.random.PCG64()
        bits.state = self._state
        if self._dtype == np.float64:
            bits.advance(count)
            # Skipping throws the second half of a number away that float32 may have left.
            bits.state |= {"has_uint32": self._state["has_uint32"]}
            bits.state |= {"uinteger": self._state["uinteger"]}
        elif count:
            # Each number of 64 bits makes two of float32; one may be left from before.
            left_over = self._state["has_uint32"]
            whole, half = divmod(count - left_over, 2)
            bits.advance(whole)
            if half:
                np.random.Generator(bits).random(dtype=np.float32)
        return bits


def uniform_start(
    shape: tuple[int, int],
    n_components: int,
    generator: np.random.Generator,
    dtype: Any,
    scale: float = 1.0,
) -> tuple[UniformRows, UniformRows]:
    """Draw U₀ and V₀ᵀ from the uniform distribution on [0, 1), times a scale."""
    U, Vt = (UniformRows((length, n_components), generator, dtype, scale) for length in shape)
    return U, Vt


def singular_start(
    A: BooleanMatrix,
    n_components: int,
    generator: np.random.Generator,
    dtype: Any,
    scale: float = 1.0,
) -> tuple[Floats, Floats]:
    """Make U₀ and V₀ᵀ from the leading singular vectors of A, and a little noise.

    Of each pair the sign is chosen that has most of U positive, and what is negative is dropped.
    Components beyond the rank of A are noise.
    """
    U, Vt = (rows[:] for rows in uniform_start(A.shape, n_components, generator, dtype))
    rank = min(n_components, *A.shape)
    left, values, right = randomized_svd(
        A.to_csr(dtype), rank, n_iter=_POWER_ITERATIONS, random_state=int(generator.integers(2**31))
    )
    size = np.sqrt(values)
    left, right = left * size, right.T * size
    negative = np.maximum(left, 0).sum(axis=0) < np.maximum(-left, 0).sum(axis=0)
    sign = np.where(negative, -1, 1)
    for factor, vectors in ((U, left), (Vt, right)):
        factor[:, :rank] = _NOISE * factor[:, :rank] + np.maximum(vectors * sign, 0)
        factor *= factor.dtype.type(scale)
    return U, Vt
