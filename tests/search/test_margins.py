"""How firmly lines belong, against all subsets of components."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf import margins
from elbmf.boolean.coverage import Weights
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search import local
from elbmf.search.local import describe, refine
from strategies import examples, line_weights, starts

extra_weights = st.sampled_from([1.0, 3.0, 0.4, np.inf])


def slow(A, U, V, extra_weight, missing=None, rows=None, columns=None):
    """Return margins of rows and columns, those of lines outside among them."""
    weights = Weights.of(extra_weight, A.shape)
    own = [np.ones(A.shape[axis]) if w is None else w for axis, w in enumerate((rows, columns))]
    flipped = None if missing is None else missing.T
    of_rows = naive.row_margins(A, U, V, weights, missing, columns) * own[0][:, None]
    of_columns = naive.row_margins(A.T, V.T, U.T, weights, flipped, rows).T * own[1]
    return of_rows / weights.missed, of_columns / weights.missed


@pytest.mark.parametrize("density", [1.0, -1.0], ids=["patterns", "packed"])
@given(case=starts(), extra_weight=extra_weights)
@examples(80)
def test_margins_are_those_of_all_subsets(density, case, extra_weight):
    A, missing, U, V = case
    data = BooleanMatrix.from_array(A, missing=missing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "_PACKED_DENSITY", density)
        everyone = margins(data, U, V, extra_weight=extra_weight, outsiders=True)
        found = margins(data, U, V, extra_weight=extra_weight)
    expected = slow(A, U, V, extra_weight, missing)
    for factor, all_of_them, members, right in (
        (U, everyone.rows, found.rows, expected[0]),
        (V, everyone.columns, found.columns, expected[1]),
    ):
        np.testing.assert_allclose(all_of_them.toarray(), right, atol=1e-9)
        assert all_of_them.nnz == factor.size
        # Also where it is zero, a member has an entry.
        assert members.nnz == factor.sum()
        np.testing.assert_allclose(members.toarray(), np.where(factor, right, 0), atol=1e-9)


@given(case=starts(length=20), data=st.data(), extra_weight=extra_weights)
@examples(60)
def test_margins_count_lines_as_often_as_they_weigh(case, data, extra_weight):
    A, missing, U, V = case
    rows, columns = (data.draw(line_weights(length)) for length in A.shape)
    given_weights = {"sample_weight": rows, "feature_weight": columns}
    known = BooleanMatrix.from_array(A, missing=missing)
    # Factors from below must not become dearer with the copies.
    extra_weight = min(extra_weight, A.shape[0] + A.shape[1])
    found = margins(known, U, V, extra_weight=extra_weight, outsiders=True, **given_weights)
    expected = slow(A, U, V, extra_weight, missing, rows, columns)
    np.testing.assert_allclose(found.rows.toarray(), expected[0], atol=1e-9)
    np.testing.assert_allclose(found.columns.toarray(), expected[1], atol=1e-9)


@given(case=starts(), extra_weight=extra_weights)
@examples(60)
def test_nobody_is_better_off_elsewhere_where_lines_are_optimal(case, extra_weight):
    A, missing, U, V = case
    known = BooleanMatrix.from_array(A, missing=missing)
    U, V = refine(known, U, V, Weights.of(extra_weight, A.shape))
    found = margins(known, U, V, extra_weight=extra_weight, outsiders=True)
    for factor, each in ((U, found.rows.toarray()), (V, found.columns.toarray())):
        assert (each[factor] >= 0).all()
        assert (each[~factor] <= 0).all()


@given(case=starts(components=st.integers(20, 80)))
@examples(40)
def test_of_many_components_no_switch_of_another_one_is_better(case):
    A, missing, _, V = case
    known = BooleanMatrix.from_array(A, missing=missing)
    U = describe(known, V)
    found = margins(known, U, V, outsiders=True).rows.toarray()
    present = naive.row_costs(A, U, V, Weights(), missing)
    for l in range(0, V.shape[0], 7):
        switched = U.copy()
        switched[:, l] ^= True
        at_most = naive.row_costs(A, switched, V, Weights(), missing) - present
        assert (np.where(U[:, l], found[:, l], -found[:, l]) <= at_most).all()


def test_margins_are_the_same_for_any_number_of_threads():
    tiles = make_tiles((300, 200), 9, height=(40, 80), width=(30, 60), noise=0.1, random_state=0)
    U, V = refine(BooleanMatrix.from_array(tiles.A), tiles.U, tiles.V)
    one, two = (margins(tiles.A, U, V, n_jobs=jobs, outsiders=True) for jobs in (1, 2))
    np.testing.assert_array_equal(one.rows.toarray(), two.rows.toarray())
    np.testing.assert_array_equal(one.columns.toarray(), two.columns.toarray())


def test_rows_that_belong_come_before_all_others():
    tiles = make_tiles((200, 150), 4, height=(40, 60), width=(30, 50), flips=0.2, random_state=3)
    found = margins(tiles.A, tiles.U, tiles.V, outsiders=True).rows.toarray()
    U = np.asarray(tiles.U, dtype=bool)
    for l in range(4):
        above = found[U[:, l], l][:, None] > found[~U[:, l], l]
        assert above.mean() >= 0.95


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"V": np.ones((2, 5))}, "U has 1 components, but V has 2"),
        ({"U": np.ones((3, 1))}, "3×5 product, but the matrix is 4×5"),
        ({"extra_weight": 0}, "extra_weight must be above 0"),
        ({"sample_weight": [1, 2]}, "for each of the 4 rows"),
    ],
)
def test_what_does_not_go_together_is_refused(given, message):
    whole = {"A": np.ones((4, 5)), "U": np.ones((4, 1)), "V": np.ones((1, 5)), **given}
    with pytest.raises(InputError, match=message):
        margins(**whole)


def test_there_may_be_nothing_to_weigh():
    found = margins(np.ones((3, 2)), np.zeros((3, 2)), np.zeros((2, 2)))
    assert found.rows.nnz == found.columns.nnz == 0
    assert (found.rows.shape, found.columns.shape) == ((3, 2), (2, 2))
