"""Annealing, against all subsets of components for every line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf.boolean.coverage import Weights
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.annealing import Annealer, sweeps_of
from elbmf.search.climber import Individual
from elbmf.search.kernels.annealing import begin, changes, choose
from elbmf.search.local import LocalSearch
from elbmf.utils.alarm import Alarm
from strategies import examples, starts


def local_of(A, missing=None, weights=None):
    data = BooleanMatrix.from_array(A, missing=missing)
    return LocalSearch(data, weights or Weights.of(1, A.shape), 1)


def costs_of_subsets(A, missing, V):
    """What each row costs with each subset of the components."""
    known = np.ones(A.shape, bool) if missing is None else ~missing
    k = len(V)
    found = np.empty((len(A), 1 << k), np.int64)
    for subset in range(1 << k):
        union = V[[l for l in range(k) if subset >> l & 1]].any(axis=0)
        found[:, subset] = ((union != A) & known).sum(axis=1)
    return found


@st.composite
def cases(draw):
    """Tall data with equal rows in it, and components."""
    A, missing, U, V = draw(starts(components=st.integers(1, 7), length=14))
    if A.shape[1] > A.shape[0]:
        A, U, V = A.T, V.T, U.T
        missing = None if missing is None else missing.T
    rows = np.random.default_rng(draw(st.integers(0, 99))).integers(len(A), size=2 * len(A))
    A, U = A[rows].astype(bool), U[rows].astype(bool)
    return A, None if missing is None else missing[rows], U, V.astype(bool)


def begun(case):
    A, missing, _, V = case
    annealer = Annealer(local_of(A, missing), len(V))
    held = V.T @ (1 << np.arange(len(V)))
    return annealer, annealer._state, begin(annealer._state, held)


@given(case=cases())
@examples(100)
def test_all_subsets_are_known(case):
    A, missing, _, V = case
    annealer, state, cost = begun(case)
    expected = costs_of_subsets(A, missing, V)
    assert cost == expected.min(axis=1).sum()
    assert state.copies.sum() == len(A)
    optimal = np.unpackbits(state.optimal.view(np.uint8), axis=1, bitorder="little")
    optimal = optimal[:, : 1 << len(V)]
    least = expected.min(axis=1, keepdims=True)
    np.testing.assert_array_equal(optimal[annealer._stands_for] > 0, expected == least)
    chosen = np.empty(len(state.least), np.int64)
    choose(state, chosen)
    np.testing.assert_array_equal(chosen[annealer._stands_for], expected.argmin(axis=1))


@given(case=cases())
@examples(100)
def test_what_each_switch_changes(case):
    A, missing, _, V = case
    _, state, cost = begun(case)
    found = np.empty(V.T.shape, np.int64)
    changes(state, found)
    for l, j in np.ndindex(V.shape):
        switched = V.copy()
        switched[l, j] ^= True
        after = costs_of_subsets(A, missing, switched).min(axis=1).sum()
        assert found[j, l] == after - cost


@pytest.mark.parametrize("turned", [False, True])
@given(case=cases(), sweeps=st.integers(1, 4), seed=st.integers(0, 9))
@examples(100)
def test_annealed_factors_cost_what_is_said(turned, case, sweeps, seed):
    A, missing, U, V = case
    if turned:
        A, U, V = A.T, V.T, U.T
        missing = None if missing is None else missing.T
    local = local_of(A, missing)
    start = Individual.of(U, V)
    found, work = Annealer(local, len(V)).annealed(start, sweeps, seed)
    known = np.ones(A.shape, bool) if missing is None else ~missing
    product = naive.boolean_product(*found.to_arrays(A.shape)).astype(bool)
    assert found.cost == ((product != A) & known).sum()
    assert work > 0
    again, _ = Annealer(local, len(V)).annealed(start, sweeps, seed)
    assert again.cost == found.cost
    np.testing.assert_array_equal(again.rows, found.rows)
    np.testing.assert_array_equal(again.columns, found.columns)


def test_annealing_leaves_a_local_optimum():
    A = np.zeros((30, 20), bool)
    A[:10, :8] = A[12:24, 10:18] = True
    V = np.zeros((2, 20), bool)
    V[:, :8] = True
    annealer = Annealer(local_of(A), 2)
    cost = begin(annealer._state, V.T @ np.array([1, 2]))
    found = np.empty(V.T.shape, np.int64)
    changes(annealer._state, found)
    assert cost == 12 * 8
    assert found.min() == 0
    start = Individual.of(np.zeros((30, 2), bool), V)
    assert min(annealer.annealed(start, 60, seed)[0].cost for seed in range(8)) == 0


def test_an_alarm_ends_it_with_factors_that_fit():
    A = np.random.default_rng(0).random((40, 30)) < 0.4
    alarm = Alarm()
    annealer = Annealer(local_of(A), 4, alarm)
    V = np.random.default_rng(1).random((4, 30)) < 0.3
    alarm.ring()
    found, _ = annealer.annealed(Individual.of(np.zeros((40, 4), bool), V), 100, 0)
    np.testing.assert_array_equal(found.to_arrays(A.shape)[1], V)
    assert found.cost == costs_of_subsets(A, None, V).min(axis=1).sum()


def test_where_it_is_of_use():
    A = np.ones((30, 20), bool)
    assert sweeps_of(local_of(A), 5, 1e9) > 0
    assert sweeps_of(local_of(A), 13, 1e9) == 0
    assert sweeps_of(local_of(A), 5, 1e3) == 0
    assert sweeps_of(local_of(A, weights=Weights.of(2, A.shape)), 5, 1e9) == 0
    assert sweeps_of(local_of(np.ones((0, 4), bool)), 5, 1e9) == 0
