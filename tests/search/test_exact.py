"""The exact solver, against all factorizations there are."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf.boolean.coverage import Weights
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search import exact as module
from elbmf.search.exact import solve_exactly
from elbmf.search.local import LocalSearch
from strategies import examples, starts, weights


def least_cost(A, missing, k, weights):
    """Try every V, and for each row every subset of its components."""
    rows = np.array(list(product((False, True), repeat=A.shape[1])))
    missed, extra = naive.errors(
        A[:, None], rows[None], missing if missing is None else missing[:, None]
    )
    costs = weights.missed * missed.sum(axis=2) + weights.extra * extra.sum(axis=2)
    codes = np.arange(len(rows))
    least = costs[:, 0].sum()
    for chosen in combinations_with_replacement(codes, k):
        unions = {0}
        for code in chosen:
            unions |= {union | code for union in unions}
        least = min(least, costs[:, sorted(unions)].min(axis=1).sum())
    return int(least)


def local_search(A, missing, weights):
    return LocalSearch(BooleanMatrix.from_array(A, missing=missing), weights, 1)


@st.composite
def tables(draw):
    """A small matrix and a mask or None, with equal lines or without, and components."""
    k = draw(st.integers(1, 3))
    A, missing, _, _ = draw(starts(length=4 if k == 3 else 5))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    if draw(st.booleans()):
        rows = generator.integers(A.shape[0], size=9)
        A, missing = A[rows], None if missing is None else missing[rows]
    if draw(st.booleans()):
        A, missing = A.T, None if missing is None else missing.T
    if A.shape[1] > 5:
        columns = generator.permutation(A.shape[1])[:5]
        A, missing = A[:, columns], None if missing is None else missing[:, columns]
    return A, missing, k


@given(
    table=tables(), weights=weights | st.just(Weights.of(np.inf, (9, 5))), more=st.integers(0, 3)
)
@examples(200)
def test_nothing_costs_less(table, weights, more):
    A, missing, k = table
    least = least_cost(A, missing, k, weights)
    found = solve_exactly(local_search(A, missing, weights), k, least + more)
    assert found.proven
    assert found.cost == found.bound == least
    assert (found.U is None) == (more == 0)
    if more:
        assert found.U.shape == (A.shape[0], k)
        assert naive.cost(A, found.U, found.V, weights, missing) == least


@given(table=tables(), weights=weights)
@examples(50)
def test_it_is_right_without_knowing_anything(table, weights):
    A, missing, k = table
    found = solve_exactly(local_search(A, missing, weights), k, 1 << 40)
    assert found.cost == found.bound == least_cost(A, missing, k, weights)
    assert naive.cost(A, found.U, found.V, weights, missing) == found.cost


@given(case=starts(length=12), k=st.integers(1, 3), weights=weights)
@examples(40)
def test_rows_and_columns_are_alike(case, k, weights):
    A, missing = case[:2]
    one = solve_exactly(local_search(A, missing, weights), k, 1 << 40)
    turned = None if missing is None else missing.T
    other = solve_exactly(local_search(A.T, turned, weights), k, 1 << 40)
    assert one.cost == one.bound == other.cost == other.bound
    for found, data, mask in ((one, A, missing), (other, A.T, turned)):
        assert naive.cost(data, found.U, found.V, weights, mask) == found.cost


@given(case=starts(length=10), k=st.integers(1, 3), share=st.floats(0, 1), known=st.booleans())
@examples(60)
def test_the_bound_holds_wherever_it_stops(case, k, share, known):
    A, missing = case[:2]
    local = local_search(A, missing, Weights())
    whole = solve_exactly(local, k, 1 << 40)
    below = whole.cost if known else 1 << 40
    work = solve_exactly(local, k, below).work
    part = solve_exactly(local, k, below, most_work=share * work)
    assert part.bound <= whole.cost <= part.cost
    again = solve_exactly(local, k, below, most_work=share * work)
    assert again[2:] == part[2:]
    if part.U is not None:
        assert naive.cost(A, part.U, part.V, Weights(), missing) == part.cost


@given(case=starts(length=10), k=st.integers(1, 3), weights=weights)
@examples(40)
def test_columns_that_cannot_be_tried_at_once(case, k, weights):
    A, missing = case[:2]
    local = local_search(A, missing, weights)
    whole = solve_exactly(local, k, 1 << 40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_TRIED", 0)
        patch.setattr(module, "_REST", 3)
        assert solve_exactly(local, k, 1 << 40)[2:4] == whole[2:4]


def test_it_stops_when_asked():
    A = np.random.default_rng(0).random((30, 20)) < 0.4
    found = solve_exactly(local_search(A, None, Weights()), 3, 1 << 40, stop=lambda: True)
    assert found.U is None
    assert not found.proven
    assert found.bound == 0


def test_tables_with_too_many_columns_are_left_alone():
    A = np.random.default_rng(0).random((80, 80)) < 0.4
    found = solve_exactly(local_search(A, None, Weights()), 2, 1000)
    assert found == (None, None, 1000, 0, 0)
