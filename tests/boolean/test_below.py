"""Factors that cover no zero."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf import ELBMF, Printed
from elbmf.boolean.below import within_ones
from elbmf.matrix.boolean_matrix import BooleanMatrix
from strategies import examples, masked_factors


@given(masked_factors(max_components=5))
@examples(40)
def test_what_is_left_covers_no_zero(case):
    A, missing, U, V = case
    rows, columns = within_ones(BooleanMatrix.from_array(A, missing=missing), U, V)
    covered = rows @ columns
    assert not (covered & ~A & ~missing).any()
    # Nothing is added, and a component without zeros stays.
    assert (rows <= U).all()
    assert (columns <= V).all()
    for c in range(U.shape[1]):
        zeros = np.outer(U[:, c], V[c]) & ~A & ~missing
        if U[:, c].any() and V[c].any() and not zeros.any():
            assert (rows[:, c] == U[:, c]).all()
            assert (columns[c] == V[c]).all()


def test_what_is_larger_stays():
    A = np.ones((6, 4), dtype=bool)
    A[0, :2] = False
    whole = np.ones((6, 1), dtype=bool), np.ones((1, 4), dtype=bool)
    rows, columns = within_ones(BooleanMatrix.from_array(A), *whole)
    assert rows[:, 0].tolist() == [False, *[True] * 5]
    assert columns.all()


@pytest.mark.filterwarnings("ignore")  # Of so few rows, most is in doubt.
@given(seed=st.integers(0, 2**32 - 1), refine=st.booleans())
@examples(12)
def test_a_fit_from_below_covers_no_zero(seed, refine):
    generator = np.random.default_rng(seed)
    A = generator.random(generator.integers(3, 12, 2)) < generator.uniform(0.2, 0.8)
    # Rounding after a single epoch of a schedule that makes everything Boolean at once.
    how = {"init": "random", "max_iter": 1, "schedule": Printed(kappa=1e6), "n_init": 2}
    model = ELBMF(4, extra_weight=np.inf, refine=refine, random_state=seed, effort=0, **how)
    U, V = model.set_params(n_jobs=1).fit_transform(A), model.components_
    covered = U @ V
    assert not (covered & ~A).any()
    assert model.reconstruction_err_ == (A & ~covered).sum()
