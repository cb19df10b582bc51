"""Matrices and factors for property tests: every shape and density that has ever been awkward.

Beside them, what property tests share: how many examples, and how far sums may be apart.
"""

import os

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elbmf.boolean.coverage import Weights

# `make random EXAMPLES=10` draws ten times as many examples as each test asks for.
TIMES = int(os.environ.get("ELBMF_EXAMPLES", "1"))


def examples(count, **more):
    """Let a property be tried on so many examples, or a multiple of that in `make random`."""
    return settings(max_examples=count * TIMES, **more)


def rounding(magnitude, dtype=np.float64):
    """How far two sums may be apart that add the same terms in other orders.

    Rounding errors are as large as the terms, not as the sum: where terms cancel, a sum near zero
    has no correct digit. So the tolerance is absolute.

    Parameters
    ----------
    magnitude : float
        Sum of the absolute values of the terms.
    dtype : dtype
        What they are summed in.
    """
    return 64 * float(np.finfo(dtype).eps) * float(magnitude)


densities = st.sampled_from([0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.95, 1.0])


lengths = st.integers(1, 70)


@st.composite
def boolean_arrays(draw, rows=lengths, columns=lengths):
    """Random 0/1 arrays with some rows and columns emptied or filled."""
    shape = draw(rows), draw(columns)
    seed = draw(st.integers(0, 2**32 - 1))
    generator = np.random.default_rng(seed)
    A = generator.random(shape) < draw(densities)
    if draw(st.booleans()):
        A[generator.integers(shape[0])] = draw(st.booleans())
        A[:, generator.integers(shape[1])] = draw(st.booleans())
    return A


@st.composite
def masked_arrays(draw, rows=lengths, columns=lengths):
    """Random 0/1 arrays and masks of the same shape, some rows and columns wholly masked."""
    A = draw(boolean_arrays(rows, columns))
    return A, draw(boolean_arrays(st.just(A.shape[0]), st.just(A.shape[1])))


@st.composite
def boolean_factors(draw, max_components=70):
    """A matrix and two Boolean factors of fitting shapes."""
    A = draw(boolean_arrays())
    k = draw(st.integers(1, max_components))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.0, 0.05, 0.3, 1.0]))
    return (
        A,
        generator.random((A.shape[0], k)) < density,
        generator.random((k, A.shape[1])) < density,
    )


@st.composite
def masked_factors(draw, max_components=70):
    """A matrix, a mask of its shape, and two Boolean factors."""
    A, U, V = draw(boolean_factors(max_components))
    return A, draw(boolean_arrays(st.just(A.shape[0]), st.just(A.shape[1]))), U, V


# The last is prohibitive: one covered zero costs more than any row or column of ones.
weights = st.sampled_from([Weights(1, 1), Weights(1, 3), Weights(5, 2), Weights(1, 1_000_000)])


few = st.integers(1, 6)


@st.composite
def kinds_of_starts(draw, components=few, length=70):
    """Functions of a seed, that return a matrix, a mask of its shape or None, and two factors.

    Matrices of all densities with any factors, or products of factors with noise and a start near
    to these, so that there is something to find; often with missing cells.
    """
    shape = draw(st.integers(1, length)), draw(st.integers(1, length))
    k = draw(components)
    density = draw(st.sampled_from([0.0, 0.01, 0.02, 0.1, 0.3, 0.5, 0.7, 0.95, 1.0]))
    filled = draw(st.sampled_from([0.0, 0.05, 0.3, 0.6, 1.0]))
    planted, masked = draw(st.booleans()), draw(st.sampled_from([0.0, 0.0, 0.02, 0.3, 1.0]))

    def start(seed):
        generator = np.random.default_rng(seed)
        U, V = generator.random((shape[0], k)) < filled, generator.random((k, shape[1])) < filled
        A = generator.random(shape) < density
        if planted:
            A = (U.astype(int) @ V > 0) ^ (generator.random(shape) < 0.1)
            U, V = (X ^ (generator.random(X.shape) < 0.2) for X in (U, V))
        return A, generator.random(shape) < masked if masked else None, U, V

    return start


@st.composite
def starts(draw, components=few, length=70):
    """A matrix, a mask of its shape or None, and two Boolean factors, from a few drawn numbers."""
    return draw(kinds_of_starts(components, length))(draw(st.integers(0, 2**32 - 1)))


@st.composite
def line_weights(draw, length, largest=4):
    """Whole numbers from 0 on, not all of them 0."""
    numbers = draw(st.lists(st.integers(0, largest), min_size=length, max_size=length))
    numbers[draw(st.integers(0, length - 1))] = draw(st.integers(1, largest))
    return np.array(numbers)


finite = st.floats(-2, 3, width=64)
coefficients = st.sampled_from([0.0, 1e-3, 0.05, 0.2, 0.5, 0.9, 1.7, 30.0])


def vectors(dtype):
    width = np.dtype(dtype).itemsize * 8
    return hnp.arrays(dtype, st.integers(1, 50), elements=st.floats(-2, 3, width=width))
