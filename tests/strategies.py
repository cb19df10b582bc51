"""Matrices and factors for property tests: every shape and density that has ever been awkward."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

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


finite = st.floats(-2, 3, width=64)
coefficients = st.sampled_from([0.0, 1e-3, 0.05, 0.2, 0.5, 0.9, 1.7, 30.0])


def vectors(dtype):
    width = np.dtype(dtype).itemsize * 8
    return hnp.arrays(dtype, st.integers(1, 50), elements=st.floats(-2, 3, width=width))
