"""Fits that change little of what was before: never at a higher cost than all or nothing."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import naive
from elbmf import ELBMF
from elbmf.boolean.coverage import Weights
from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.changes import ChangeSearch, aligned
from elbmf.search.local import describe
from strategies import examples

QUICK = {"max_iter": 20, "effort": 0.01, "random_state": 0}


@st.composite
def changed_tables(draw):
    """A table, its missing cells, a number of components, and earlier ones of another table."""
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 10))
    k = draw(st.integers(1, 4))
    A, missing = draw(arrays(np.bool_, (n, m))), np.zeros((n, m), np.bool_)
    if draw(st.booleans()):
        missing = draw(arrays(np.bool_, (n, m)))
    return A, missing, k, draw(arrays(np.bool_, (draw(st.integers(1, k)), m)))


def total(A, missing, U, V, before, penalty, extra_weight):
    """Add up what errors and changes cost, cell by cell."""
    covered = naive.boolean_product(U, V).astype(bool)
    missed, extra = ((wrong & ~missing).sum() for wrong in (A & ~covered, covered & ~A))
    # Infinity times nothing is nothing.
    return missed + (extra and extra * extra_weight) + penalty * (before != V).sum()


@given(
    case=changed_tables(),
    penalty=st.sampled_from([0.0, 0.3, 1.0, 2.5, 100.0]),
    extra_weight=st.sampled_from([0.5, 1.0, 3.0, np.inf]),
)
@examples(200)
@pytest.mark.filterwarnings("ignore:n_components=:UserWarning")
def test_no_higher_than_to_change_all_or_nothing(case, penalty, extra_weight):
    A, missing, k, previous = case
    given = {"extra_weight": extra_weight, **QUICK}
    near = ELBMF(k, previous=previous, change_penalty=penalty, **given).fit(A, missing=missing)
    plain = ELBMF(k, **given)._found(
        BooleanMatrix.from_array(A, missing=missing), np.random.default_rng(0)
    )
    before = np.zeros((k, A.shape[1]), np.bool_)
    before[: previous.shape[0]] = previous
    assert near.n_changes_ == (near.components_ != before).sum()

    def cost(U, V):
        return total(A, missing, U, V, before, penalty, extra_weight)

    found = cost(near.membership_, near.components_)
    weights = Weights.of(extra_weight, A.shape)
    kept = describe(BooleanMatrix.from_array(A, missing=missing), before, weights)
    assert found <= cost(kept, before) + 1e-9
    assert found < np.inf
    for order in map(list, permutations(range(k))):
        assert found <= cost(plain.U[:, order], plain.V[order]) + 1e-9


@given(case=changed_tables(), data=st.data(), penalty=st.sampled_from([0.0, 0.4, 1.0, 3.0]))
def test_the_best_columns_of_a_component(case, data, penalty):
    A, missing, k, _ = case
    U = data.draw(arrays(np.bool_, (A.shape[0], k)))
    V, before = (data.draw(arrays(np.bool_, (k, A.shape[1]))) for _ in range(2))
    matrix = BooleanMatrix.from_array(A, missing=missing)
    search = ChangeSearch(matrix, Weights(2, 3), before, penalty, False, 1, lambda: False)

    def cost(V):
        return total(A, missing, U, V, before, penalty, 1.5)

    assert search.cost(U, V) == pytest.approx(cost(V))
    chosen = V.copy()
    chosen[0] = search._columns(0, U, V)
    # Columns are chosen one by one, so no other choice of any of them is better.
    for j in range(A.shape[1]):
        other = chosen.copy()
        other[0, j] ^= True
        assert cost(chosen) <= cost(other) + 1e-9


@given(case=changed_tables(), data=st.data())
def test_components_are_in_the_place_of_the_nearest(case, data):
    A, _, k, _ = case
    U = data.draw(arrays(np.bool_, (A.shape[0], k)))
    V, before = (data.draw(arrays(np.bool_, (k, A.shape[1]))) for _ in range(2))
    U_there, V_there = aligned(U, V, before)
    assert np.array_equal(naive.boolean_product(U_there, V_there), naive.boolean_product(U, V))
    fewest = min((V[list(order)] != before).sum() for order in permutations(range(k)))
    assert (V_there != before).sum() == fewest


def test_a_table_that_changed_a_little_keeps_its_components():
    generator = np.random.default_rng(0)
    U, V = generator.random((80, 5)) < 0.3, generator.random((5, 40)) < 0.3
    A = naive.boolean_product(U, V).astype(bool)
    A ^= generator.random(A.shape) < 0.01
    given = {"previous": V, "random_state": 0}
    assert ELBMF(5, change_penalty=1000, **given).fit(A).n_changes_ == 0
    model = ELBMF(5, **given).fit(A)
    assert np.array_equal(model.components_, V)
    # A column that all of a component got is worth a change.
    new, V_new = np.flatnonzero(~V[2])[0], V.copy()
    A[U[:, 2], new], V_new[2, new] = True, True
    assert np.array_equal(ELBMF(5, **given).fit(A).components_, V_new)
    assert not hasattr(model.set_params(previous=None).fit(A), "n_changes_")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"previous": np.eye(3)}, "previous and n_components=2 contradict .* there were 3"),
        ({"previous": np.ones((1, 2))}, "a column for each of the 3 columns .* got 2"),
        ({"previous": [[2, 0, 0]]}, "previous must be 0/1"),
        ({"previous": np.ones((1, 3)), "min_rows": 2}, "and min_rows may not be broken"),
        ({"previous": np.ones((1, 3)), "n_components": "auto"}, "number of components that is"),
        ({"change_penalty": -1}, "change_penalty"),
    ],
)
def test_what_cannot_be(given, message):
    with pytest.raises(ValueError, match=message):
        ELBMF(**{"n_components": 2, **given}).fit(np.eye(3))
    with pytest.raises(InputError, match="not for weights of rows"):
        ELBMF(2, previous=np.ones((1, 3))).fit(np.eye(3), sample_weight=[1, 2, 1])
