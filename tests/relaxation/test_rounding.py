"""From relaxed factors to Boolean ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf.boolean.coverage import Weights
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.rounding import (
    balanced,
    project,
    round_by_loss,
    round_on_grid,
    threshold_costs,
)
from elbmf.search.local import LocalSearch
from strategies import examples, starts, weights


@given(shape=st.tuples(st.integers(0, 9), st.integers(1, 9)))
def test_projection_rounds_at_one_half(shape):
    X = np.random.default_rng(0).random(shape) * 3 - 1
    result = project(X)
    assert result.dtype == np.bool_
    np.testing.assert_array_equal(result, X > 0.5)
    np.testing.assert_array_equal(project(np.array([[0.5, np.nextafter(0.5, 1)]])), [[0, 1]])


def relaxed_factors(U, V, seed, sharpness, dtype=np.float64):
    """Relaxed factors between noise and Boolean ones; many entries are alike, 0 or 1."""
    generator = np.random.default_rng(seed)
    return [
        np.round(generator.random(X.shape) ** (0.2 + sharpness * ~X), 2).astype(dtype)
        for X in (U, V)
    ]


grids = st.sampled_from([(0.5,), (0.0, 1.0), (0.01, 0.3, 0.31, 0.9), tuple(np.arange(1, 13) / 12)])


@given(
    case=starts(components=st.sampled_from([1, 2, 5, 70]), length=40),
    weights=weights,
    grid=grids,
    seed=st.integers(0, 999),
    sharpness=st.sampled_from([0, 1, 4, 50]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_costs_of_all_pairs_of_thresholds(case, weights, grid, seed, sharpness, dtype):
    A, missing, U, V = case
    U, V = relaxed_factors(U, V, seed, sharpness, dtype)
    thresholds = np.array(grid, dtype=dtype)
    matrix = BooleanMatrix.from_array(A, missing=missing)
    expected = np.array(naive.threshold_costs(A, U, V, thresholds, weights, missing))
    for n_jobs in (1, 2):
        costs = threshold_costs(matrix, U, V.T, thresholds, weights, n_jobs)
        np.testing.assert_array_equal(costs, expected)
    # Of equals the first: the lowest for V, and with that the lowest for U.
    for_V, for_U = divmod(int(expected.argmin()), thresholds.size)
    rounded_U, rounded_V, cost = round_on_grid(matrix, U, V.T, thresholds, weights)
    np.testing.assert_array_equal(rounded_U, thresholds[for_U] < U)
    np.testing.assert_array_equal(rounded_V, thresholds[for_V] < V)
    assert cost == expected.min()


@given(case=starts(length=12), seed=st.integers(0, 99), sharpness=st.sampled_from([0, 1, 4]))
@examples(8)
def test_costs_of_a_hundred_thresholds(case, seed, sharpness):
    A, missing, U, V = case
    U, V = relaxed_factors(U, V, seed, sharpness)
    thresholds = np.arange(1, 101) / 100
    costs = threshold_costs(BooleanMatrix.from_array(A, missing=missing), U, V.T, thresholds)
    assert costs.shape == (100, 100)
    part = np.arange(seed % 7, 100, 7)
    expected = naive.threshold_costs(A, U, V, thresholds[part], Weights(), missing)
    np.testing.assert_array_equal(costs[np.ix_(part, part)], expected)


@given(case=starts(), seed=st.integers(0, 99))
def test_balanced_factors_have_one_scale_and_the_same_product(case, seed):
    _, _, U, V = case
    U, V = relaxed_factors(U, V, seed, 1)
    left, right = balanced(U, V.T)
    np.testing.assert_allclose(left @ right.T, U @ V)
    np.testing.assert_allclose(naive.balance(left, right.T), 1)


@pytest.mark.parametrize("n_thresholds", [1, 5, 19])
@given(
    case=starts(length=30),
    weights=weights,
    seed=st.integers(0, 999),
    sharpness=st.sampled_from([0, 1, 4]),
)
def test_rounding_by_loss_is_the_best_of_a_grid(n_thresholds, case, weights, seed, sharpness):
    A, missing, U, V = case
    generator = np.random.default_rng(seed)
    # Between noise and Boolean factors, and on different scales.
    U, V = (generator.random(X.shape) ** (0.2 + sharpness * ~X) for X in (U, V))
    scale = generator.uniform(0.3, 3, U.shape[1])
    U, V = U * scale, V / scale[:, None]
    matrix = BooleanMatrix.from_array(A, missing=missing)
    kept = U.copy(), V.copy()
    rounded = round_by_loss(matrix, U, V.T, weights, 1, n_thresholds)
    np.testing.assert_array_equal(U, kept[0])
    np.testing.assert_array_equal(V, kept[1])
    cost = naive.cost(A, *rounded, weights, missing)
    plain = naive.cost(A, project(U), project(V), weights, missing)
    D = naive.balance(U, V)
    grid = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
    costs = [
        naive.cost(A, left < U * D, V / D[:, None] > right, weights, missing)
        for left in grid
        for right in grid
    ]
    assert cost == min(plain, *costs)
    assert cost <= plain


def test_rounding_by_loss_finds_factors_on_other_scales():
    generator = np.random.default_rng(0)
    U, V = generator.random((40, 3)) < 0.3, generator.random((3, 30)) < 0.3
    local = LocalSearch(BooleanMatrix.from_array(naive.boolean_product(U, V)))
    for dtype in (np.float32, np.float64):
        relaxed = (0.2 * U).astype(dtype), (3 * V.T).astype(dtype)
        assert local.pack(project(relaxed[0]), V).cost
        assert local.pack(*round_by_loss(local.A, *relaxed)).cost == 0
