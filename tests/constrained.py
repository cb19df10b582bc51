"""Wishes at random, and what of them factors do not keep to, told slowly and obviously."""

import numpy as np
from hypothesis import strategies as st

import naive
from strategies import masked_arrays

small = st.integers(1, 12)


@st.composite
def wishes(draw, shape, k):
    """Draw parameters that constrain the components of a matrix."""
    n, m = shape
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def sometimes(make):
        return make() if draw(st.booleans()) and draw(st.booleans()) else None

    def number(most):
        return sometimes(lambda: draw(st.integers(1, most)))

    def factors():
        count = draw(st.integers(1, k))
        U, V = generator.random((n, count)) < 0.3, generator.random((count, m)) < 0.3
        return (U, V) if draw(st.booleans()) else V

    parameters = {
        "min_rows": number(4),
        "max_rows": number(6),
        "min_columns": number(4),
        "max_columns": number(6),
        "max_components_per_row": number(3),
        "max_components_per_column": number(3),
        "fixed_components": sometimes(factors),
        "forbidden_cells": sometimes(lambda: generator.random(shape) < 0.1),
        "required_cells": sometimes(lambda: generator.random(shape) < 0.03),
        "separate_columns": sometimes(
            lambda: [generator.choice(m, 2, replace=False) for _ in range(3)] if m > 1 else []
        ),
    }
    return {name: value for name, value in parameters.items() if value is not None}


@st.composite
def constrained(draw):
    """Draw a matrix, its missing cells, a number of components, and wishes."""
    A, missing = draw(masked_arrays(small, small))
    k = draw(st.integers(1, 6))
    return A, missing, k, draw(wishes(A.shape, k))


def broken(U, V, A, missing, *, from_below=False, **wishes):
    """Return the wishes that factors do not keep to."""
    found = set()
    rows, columns = U.sum(axis=0), V.sum(axis=1)
    used = (rows > 0) & (columns > 0)
    for name, sizes in (("rows", rows), ("columns", columns)):
        if (sizes[used] < wishes.get(f"min_{name}", 0)).any():
            found.add(f"min_{name}")
        if (sizes[used] > wishes.get(f"max_{name}", np.inf)).any():
            found.add(f"max_{name}")
    for name, counts in (("row", U.sum(axis=1)), ("column", V.sum(axis=0))):
        if (counts > wishes.get(f"max_components_per_{name}", np.inf)).any():
            found.add(f"max_components_per_{name}")
    covered = naive.boolean_product(U, V)
    if (covered & wishes.get("forbidden_cells", False)).any():
        found.add("forbidden_cells")
    if (~covered & wishes.get("required_cells", False)).any():
        found.add("required_cells")
    if any((V[:, a] & V[:, b]).any() for a, b in wishes.get("separate_columns", ())):
        found.add("separate_columns")
    if from_below and (covered & ~A & ~missing).any():
        found.add("extra_weight")
    fixed = wishes.get("fixed_components")
    if fixed is not None:
        its_U, its_V = fixed if isinstance(fixed, tuple) else (None, fixed)
        same = np.array_equal(V[: len(its_V)], its_V)
        if its_U is not None:
            same = same and np.array_equal(U[:, : len(its_V)], its_U)
        if not same:
            found.add("fixed_components")
    return found
