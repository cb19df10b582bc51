"""Small rooms: slabs, schedules, balancing, stopping, rounding, arrays, threads."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elbmf
import naive
from elbmf.arrays import aligned_empty, aligned_zeros
from elbmf.balance import balancing_scale
from elbmf.boolean import Weights
from elbmf.engines import MemoryEngine
from elbmf.matrix import BooleanMatrix
from elbmf.palm import State
from elbmf.refine import LocalSearch
from elbmf.rounding import balanced, project, round_by_loss, round_on_grid, threshold_costs
from elbmf.schedules import Annealed, Printed
from elbmf.slabs import cut
from elbmf.step import Factor, Iterate, Strength, Summary, Tally, lipschitz, step_size
from elbmf.stopping import StopRule
from elbmf.threads import over_ranges
from elbmf.tracing import Trace
from strategies import boolean_arrays, starts, weights


def test_the_public_names_are_there():
    for name in elbmf.__all__:
        assert getattr(elbmf, name) is not None
        assert name in dir(elbmf)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = elbmf.nothing


@given(A=boolean_arrays())
def test_slabs_hold_every_line_once_along_the_longer_side(A):
    matrix = cut(BooleanMatrix.from_array(A))
    assert matrix.n_streamed == max(A.shape)
    assert matrix.n_resident == min(A.shape)
    assert matrix.ones == A.sum()
    edges = [(slab.start, slab.stop) for slab in matrix.slabs]
    assert [line for start, stop in edges for line in range(start, stop)] == list(
        range(matrix.n_streamed)
    )
    for slab in matrix.slabs:
        blocks = list(slab.blocks(8))
        assert blocks[0][0] == 0
        assert blocks[-1][1] == slab.stop - slab.start
        assert max(high - low for low, high in blocks) <= slab.lines_at_once(8)


def test_slabs_share_the_work_evenly():
    generator = np.random.default_rng(0)
    A = generator.random((9000, 400)) < np.linspace(0, 0.24, 9000)[:, None]
    matrix = cut(BooleanMatrix.from_array(A))
    ones = [A[slab.start : slab.stop].sum() for slab in matrix.slabs]
    assert len(ones) > 1
    assert max(ones) < 1.3 * min(ones)


def test_the_trace_weighs_rounded_errors_as_the_relaxation_does():
    A = BooleanMatrix.from_array([[1, 1, 0], [0, 0, 1]])
    U, Vt = np.array([[1.0], [0.0]]), np.array([[1.0], [0.0], [1.0]])
    engine, resident = MemoryEngine(cut(A)), Factor(Iterate(U), np.float64, inertia=False)
    engine.load(resident, Iterate(Vt))
    state = State(
        iteration=1,
        engine=engine,
        resident=resident,
        loss=8.0,
        gap=0.0,
        flips=0,
        lam=0.0,
        strength=Strength(0.0, 0.0),
        seconds=0.0,
    )
    for weight, loss in ((1, 3), (2.5, 6.0)):  # two ones are not covered, and a zero is
        trace = Trace(A, "full", weight_of_ones=weight)
        trace.record(state)
        assert trace.history()["rounded_loss"].tolist() == [loss]
        assert trace.history()["loss_gap"].tolist() == [8 - loss]
    engine.close()


def test_slabs_share_the_work_of_reweighed_cells_too():
    generator = np.random.default_rng(0)
    A = generator.random((9000, 400)) < 0.01
    mask = generator.random((9000, 400)) < np.linspace(0, 0.5, 9000)[:, None]
    matrix = cut(BooleanMatrix.from_array(A, missing=mask))
    hidden = [mask[slab.start : slab.stop].sum() for slab in matrix.slabs]
    assert len(hidden) > 1
    assert max(hidden) < 1.3 * min(hidden)


def test_printed_schedule_is_the_printed_formula():
    schedule = Printed(kappa=0.5, lam=2.0, rate=1.1)
    assert schedule.strength(3, 4.0) == pytest.approx((0.125, 2 * 1.1**3 / 4))
    assert Printed(0, 1, 1).strength(99, 1.0).lam == 1
    assert Printed(0, 1, lambda t: t**2).strength(5, 2.0).lam == 12.5
    assert Printed(0, 1, 2.0).strength(5000, 1.0).lam == math.inf
    assert Printed(0, 0, 2.0).strength(5000, 1.0).lam == 0


@pytest.mark.parametrize("epochs", [1, 2, 10, 500])
def test_annealed_schedule_grows_geometrically_until_it_rounds(epochs):
    schedule = Annealed(epochs)
    kappas = [schedule.strength(t, 123.0).kappa for t in range(1, epochs + 1)]
    assert kappas[-1] == 0.5
    assert schedule.strength(epochs, 1.0).lam == math.inf
    ratios = np.array(kappas[1:]) / np.array(kappas[:-1])
    np.testing.assert_allclose(ratios, ratios[0] if ratios.size else 1)
    if epochs > 1:
        assert kappas[0] == 1e-6


def test_lipschitz_constants_and_steps():
    generator = np.random.default_rng(0)
    for k in (1, 5, 100):
        X = generator.random((200, k))
        gram = X.T @ X
        assert lipschitz(gram, "spectral") == pytest.approx(np.linalg.norm(gram, 2))
        assert lipschitz(gram, "authors") == pytest.approx(np.linalg.norm(gram))
    assert lipschitz(np.zeros((3, 3)), "spectral") > 0
    assert lipschitz(np.zeros((3, 3)), "authors") == 1e-4
    assert step_size(4.0, 0.3, "spectral") == 0.25
    assert step_size(4.0, 0.0, "authors") == pytest.approx(1 / 4.4)
    assert step_size(4.0, 0.1, "authors") == pytest.approx(2 * 0.9 / 1.2 / 4)


def test_balancing_gives_both_factors_one_scale():
    generator = np.random.default_rng(0)
    U = generator.random((30, 4)) * [1, 10, 0.1, 0]
    V = generator.random((50, 4)) * [1, 0.1, 3, 1]
    d = balancing_scale(Summary.of(U, Tally()), Summary.of(V, Tally()))
    assert d[3] == 1  # an empty column is left alone
    U, V = U * d, V / d

    def scale(X):
        return (X**2).sum(axis=0)[:3] / X.sum(axis=0)[:3]

    np.testing.assert_allclose(scale(U), scale(V))


def test_balancing_leaves_boolean_factors_alone():
    generator = np.random.default_rng(0)
    U, V = ((generator.random((n, 4)) < 0.3).astype(float) for n in (30, 50))
    d = balancing_scale(Summary.of(U, Tally()), Summary.of(V, Tally()))
    np.testing.assert_allclose(d, 1)


def test_summaries_add_up_and_scale():
    generator = np.random.default_rng(0)
    X, scale = generator.random((20, 3)), np.array([1.0, 2.0, 0.5])
    whole = Summary.of(X, Tally(3.0, 4))
    parts = Summary.of(X[:7], Tally(1.0, 3)) + Summary.of(X[7:], Tally(2.0, 1))
    assert parts.tally == whole.tally
    np.testing.assert_allclose(parts.gram, whole.gram)
    np.testing.assert_allclose(parts.totals, whole.totals)
    np.testing.assert_allclose(whole.scaled(scale).gram, (X * scale).T @ (X * scale))


def state(epoch, loss=100.0, gap=0.3, flips=0, strength=0.1):
    return State(
        iteration=epoch,
        engine=None,
        resident=None,
        loss=loss,
        gap=gap,
        flips=flips,
        lam=1.0,
        strength=Strength(0.0, strength),
        seconds=0.0,
    )


def test_stop_when_boolean_or_out_of_epochs():
    rule = StopRule(tol=1e-6, patience=3, max_iter=10, ones=1000)
    assert rule(state(1, gap=1e-7)) == "boolean"
    assert rule(state(2, flips=1)) is None
    assert rule(state(10, flips=1)) == "max_iter"


def test_stop_when_settled():
    rule = StopRule(tol=1e-6, patience=3, max_iter=99, ones=1000)
    reasons = [rule(state(t, gap=1e-4, strength=1.5**t)) for t in range(1, 5)]
    assert reasons == [None, None, None, "settled"]


def test_stop_when_stalled_but_not_while_the_strength_grows():
    rule = StopRule(tol=1e-6, patience=3, max_iter=99, ones=1000)
    assert [rule(state(t)) for t in range(1, 5)] == [None, None, None, "stalled"]
    rule = StopRule(tol=1e-6, patience=3, max_iter=99, ones=1000)
    assert not any(rule(state(t, strength=1.01**t)) for t in range(1, 30))


def test_a_flip_or_a_change_of_the_loss_starts_the_wait_anew():
    rule = StopRule(tol=1e-6, patience=3, max_iter=99, ones=1000)
    for t in range(1, 40):
        assert rule(state(t, flips=int(t % 3 == 0))) is None
    rule = StopRule(tol=1e-6, patience=3, max_iter=99, ones=1000)
    for t in range(1, 40):
        assert rule(state(t, loss=100.0 - t)) is None


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
    A, hidden, U, V = case
    U, V = relaxed_factors(U, V, seed, sharpness, dtype)
    thresholds = np.array(grid, dtype=dtype)
    matrix = BooleanMatrix.from_array(A, missing=hidden)
    expected = np.array(naive.threshold_costs(A, U, V, thresholds, weights, hidden))
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
@settings(max_examples=8)
def test_costs_of_a_hundred_thresholds(case, seed, sharpness):
    A, hidden, U, V = case
    U, V = relaxed_factors(U, V, seed, sharpness)
    thresholds = np.arange(1, 101) / 100
    costs = threshold_costs(BooleanMatrix.from_array(A, missing=hidden), U, V.T, thresholds)
    assert costs.shape == (100, 100)
    part = np.arange(seed % 7, 100, 7)
    expected = naive.threshold_costs(A, U, V, thresholds[part], Weights(), hidden)
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
    A, hidden, U, V = case
    generator = np.random.default_rng(seed)
    # Between noise and Boolean factors, and on different scales.
    U, V = (generator.random(X.shape) ** (0.2 + sharpness * ~X) for X in (U, V))
    scale = generator.uniform(0.3, 3, U.shape[1])
    U, V = U * scale, V / scale[:, None]
    local = LocalSearch(BooleanMatrix.from_array(A, missing=hidden), weights, 1)
    kept = U.copy(), V.copy()
    rounded = round_by_loss(local, U, V.T, n_thresholds)
    np.testing.assert_array_equal(U, kept[0])
    np.testing.assert_array_equal(V, kept[1])
    cost = naive.cost(A, *rounded, weights, hidden)
    plain = naive.cost(A, project(U), project(V), weights, hidden)
    D = naive.balance(U, V)
    grid = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
    costs = [
        naive.cost(A, left < U * D, V / D[:, None] > right, weights, hidden)
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
        assert local.pack(*round_by_loss(local, *relaxed)).cost == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 8), (1000, 24), (2, 5, 8)])
def test_aligned_arrays_begin_at_a_cache_line(dtype, shape):
    for make in (aligned_empty, aligned_zeros):
        array = make(shape, dtype)
        assert array.shape == shape
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert array.ctypes.data % 64 == 0
    assert not aligned_zeros(shape, dtype).any()


@given(length=st.integers(0, 100), n_jobs=st.integers(1, 9))
def test_ranges_cover_everything_once(length, n_jobs):
    ranges = over_ranges(lambda low, high: range(low, high), length, n_jobs)
    assert [i for part in ranges for i in part] == list(range(length))
