"""Annealing, against all subsets that a line may choose from, counted cell by cell."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf.boolean.coverage import Weights
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.annealing import Annealer, scattered, sweeps_of
from elbmf.search.climber import Individual
from elbmf.search.kernels.annealing import Walk, anneal
from elbmf.search.local import LocalSearch
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING
from strategies import examples, starts


def local_of(A, missing=None, weights=None):
    data = BooleanMatrix.from_array(A, missing=missing)
    return LocalSearch(data, weights or Weights.of(1, A.shape), 1)


few = st.integers(1, 7)


@st.composite
def cases(draw, components=few):
    """Tall data with equal rows in it, and factors."""
    A, missing, U, V = draw(starts(components=components, length=14))
    if A.shape[1] > A.shape[0]:
        A, U, V = A.T, V.T, U.T
        missing = None if missing is None else missing.T
    rows = np.random.default_rng(draw(st.integers(0, 99))).integers(len(A), size=2 * len(A))
    A, U = A[rows].astype(bool), U[rows].astype(bool)
    return A, None if missing is None else missing[rows], U, V.astype(bool)


def as_bits(side):
    return side.astype(np.int64) @ (1 << np.arange(side.shape[1]))


def begun(case, steps=0, heat=0.1, seed=0):
    """Where annealing is after so many steps, how it went, and the least cost."""
    A, missing, U, V = case
    annealer = Annealer(local_of(A, missing), len(V))
    lines, components = map(np.ravel, np.indices(V.T.shape))
    walk = Walk(
        heat,
        2.0,
        lines,
        components,
        np.empty(V.size, np.int64),
        np.array([seed, 0], dtype=np.uint64),
        as_bits(V.T),
        as_bits(U[annealer._first]),
        Alarm().flag,
    )
    return annealer, annealer._state, walk, anneal(annealer._state, walk, steps)


def cost_of(case, annealer, i, subset, V=None):
    """What a following line costs, and all that are equal to it, with a subset."""
    A, missing, _, V_before = case
    V = V_before if V is None else V
    row = annealer._first[i]
    union = V[[l for l in range(len(V)) if subset >> l & 1]].any(axis=0)
    wrong = union != A[row]
    return int(wrong.sum() if missing is None else (wrong & ~missing[row]).sum())


def listed(state, i):
    """The subsets in the shortlist of a line, and which are optimal."""
    bits = np.unpackbits(state.lists.listed[i].view(np.uint8), bitorder="little") > 0
    optimal = np.unpackbits(state.lists.optimal[i].view(np.uint8), bitorder="little") > 0
    assert not (optimal & ~bits).any()
    return [int(subset) for subset in state.lists.subsets[i][bits]], optimal[bits]


def around(subset, k):
    """A subset, and those that differ from it in one or two components."""
    switched = [1 << l for l in range(k)]
    return [
        subset,
        *(subset ^ a for a in switched),
        *(subset ^ a ^ b for a, b in combinations(switched, 2)),
    ]


def assert_consistent(case, annealer, state, cost):
    """All that is known at any time is what it is, counted anew."""
    k = len(case[3])
    held = state.holders
    V = ((held >> np.arange(k)[:, None]) & 1) > 0
    total = 0
    for i, copies in enumerate(state.data.copies):
        subsets, optimal = listed(state, i)
        costs = np.array([cost_of(case, annealer, i, subset, V) for subset in subsets])
        assert subsets[0] == state.inside.of_lines[i]
        assert state.lists.least[i] == costs.min() == costs[0]
        np.testing.assert_array_equal(optimal, costs == costs.min())
        best = [subset for subset, each in zip(subsets, optimal, strict=True) if each]
        some, every = np.bitwise_or.reduce(best), np.bitwise_and.reduce(best)
        for choice, expected in (
            (state.inside, subsets[0]),
            (state.some, some),
            (state.every, every),
        ):
            assert choice.of_lines[i] == expected
            column = (choice.lines[:, i >> 6] >> np.uint64(i & 63)) & np.uint64(1)
            assert sum(1 << l for l in range(k) if column[l]) == expected
        total += int(copies) * int(costs.min())
    assert cost == total


@given(case=cases(st.integers(1, 18)))
@examples(100)
def test_shortlists_hold_the_cheapest_around(case):
    annealer, state, _, cost = begun(case)
    assert state.data.copies.sum() == len(case[0])
    assert_consistent(case, annealer, state, cost)
    k, room = len(case[3]), state.lists.subsets.shape[1]
    for i in range(len(state.data.copies)):
        subsets, _ = listed(state, i)
        assert len(set(subsets)) == len(subsets)
        near = around(subsets[0], k)
        costs = sorted(cost_of(case, annealer, i, subset) for subset in near[1:])
        found = sorted(cost_of(case, annealer, i, subset) for subset in subsets[1:])
        assert found == costs[: room - 1]
        assert set(subsets) <= set(near)
        before = int(as_bits(case[2][annealer._first[i : i + 1]])[0])
        assert state.lists.least[i] <= cost_of(case, annealer, i, before)


@given(case=cases())
@examples(100)
def test_what_each_switch_changes(case):
    V = case[3]
    annealer, state, walk, _ = begun(case)
    for j, l, change in zip(walk.lines, walk.components, walk.changes, strict=True):
        switched = V.copy()
        switched[l, j] ^= True
        after = [
            min(cost_of(case, annealer, i, subset, switched) for subset in listed(state, i)[0])
            for i in range(len(state.data.copies))
        ]
        assert change == ((np.array(after) - state.lists.least) * state.data.copies).sum()


@given(
    case=cases(st.one_of(st.integers(1, 7), st.just(17))),
    heat=st.sampled_from([0.01, 0.3, 10.0]),
    seed=st.integers(0, 99),
)
@examples(150)
def test_all_is_known_at_any_time(case, heat, seed):
    annealer, state, walk, least = begun(case, 40, heat, seed)
    _, _, _, cost = begun(case)
    now = int((state.lists.least * state.data.copies).sum())
    assert_consistent(case, annealer, state, now)
    assert least <= min(cost, now)
    V = ((walk.best >> np.arange(len(case[3]))[:, None]) & 1) > 0
    followed = [
        cost_of(case, annealer, i, int(subset), V) for i, subset in enumerate(walk.followed)
    ]
    assert least == (np.array(followed) * state.data.copies).sum()


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
    annealer = Annealer(local, len(V))
    found, work = annealer.annealed(start, sweeps, 0.1, seed)
    known = np.ones(A.shape, bool) if missing is None else ~missing
    product = naive.boolean_product(*found.to_arrays(A.shape)).astype(bool)
    assert found.cost == ((product != A) & known).sum()
    before = naive.boolean_product(U, V).astype(bool)
    assert found.cost <= ((before != A) & known).sum()
    assert work > 0
    # Whatever it was used for before.
    annealer.annealed(found, 1, 0.5, seed + 1)
    again, its_work = annealer.annealed(start, sweeps, 0.1, seed)
    assert (again.cost, its_work) == (found.cost, work)
    np.testing.assert_array_equal(again.rows, found.rows)
    np.testing.assert_array_equal(again.columns, found.columns)


def test_annealing_leaves_a_local_optimum():
    A = np.zeros((30, 20), bool)
    A[:10, :8] = A[12:24, 10:18] = True
    U, V = np.zeros((30, 2), bool), np.zeros((2, 20), bool)
    U[:10], V[:, :8] = True, True
    annealer, _, walk, cost = begun((A, None, U, V))
    assert cost == 12 * 8
    assert walk.changes.min() == 0
    start = Individual.of(U, V)
    assert min(annealer.annealed(start, 60, 0.1, seed)[0].cost for seed in range(8)) == 0


def test_an_alarm_ends_it_with_factors_that_fit():
    A = np.random.default_rng(0).random((40, 30)) < 0.4
    alarm = Alarm()
    annealer = Annealer(local_of(A), 4, alarm)
    V = np.random.default_rng(1).random((4, 30)) < 0.3
    alarm.ring()
    found, _ = annealer.annealed(Individual.of(np.zeros((40, 4), bool), V), 100, 0.1, 0)
    U, V_found = found.to_arrays(A.shape)
    np.testing.assert_array_equal(V_found, V)
    assert found.cost == (naive.boolean_product(U, V).astype(bool) != A).sum()


@given(case=cases(), seed=st.integers(0, 99))
@examples(50)
def test_scattered_components_are_what_two_lines_have_in_common(case, seed):
    A, _, _, V = case
    local, k = local_of(A), len(V)
    common = {(A[a] & A[b]).tobytes() for a in range(len(A)) for b in range(len(A))}
    start = scattered(local, k, np.random.default_rng(seed))
    U, V = start.to_arrays(A.shape)
    assert not U.any()
    assert {line.tobytes() for line in V} <= common
    if A.shape[0] > A.shape[1]:
        turned = scattered(local_of(A.T), k, np.random.default_rng(seed))
        np.testing.assert_array_equal(turned.to_arrays(A.T.shape)[0].T, V)


def test_where_it_is_of_use():
    A = np.ones((30, 20), bool)
    assert sweeps_of(local_of(A), 5, 1e9) == TUNING.most_sweeps
    assert sweeps_of(local_of(A), TUNING.components_to_anneal, 1e9) > 0
    assert sweeps_of(local_of(A), TUNING.components_to_anneal + 1, 1e9) == 0
    assert sweeps_of(local_of(A), 5, 1e3) == 0
    assert sweeps_of(local_of(A, weights=Weights.of(2, A.shape)), 5, 1e9) == 0
    assert sweeps_of(local_of(np.ones((0, 4), bool)), 5, 1e9) == 0
    assert sweeps_of(local_of(np.zeros((30, 20), bool)), 5, 1e9) == 0
