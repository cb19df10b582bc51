"""The row problem and the descent on it, against all subsets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf.boolean.coverage import Weights, cover
from elbmf.boolean.packed import PackedFactors, unpack
from elbmf.boolean.product import pack
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.kernels import bits
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search import local as module
from elbmf.search.kernels.coordinate_descent import (
    clear,
    count_uncovered,
    drop_costs,
    share_cells,
)
from elbmf.search.kernels.lines import line_costs
from elbmf.search.local import LocalSearch, agree, describe, refine
from strategies import boolean_arrays, boolean_factors, examples, kinds_of_starts, starts, weights

# Lines are kept packed above this density: never, always.
STORAGES = {"patterns": 1.0, "packed": -1.0}


def refined(A, missing, U, V, weights, **settings):
    """Refine under other settings of the module; one thread unless they say otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        n_jobs = settings.pop("n_jobs", 1)
        for name, value in settings.items():
            patch.setattr(module, name, value)
        return refine(BooleanMatrix.from_array(A, missing=missing), U, V, weights, n_jobs)


def assert_same_factors(ours, expected):
    for factor, other in zip(ours, expected, strict=True):
        np.testing.assert_array_equal(factor, other)


# --- the best description of a row ---


@pytest.mark.parametrize("storage", STORAGES)
@given(case=starts(components=st.integers(1, 8)), weights=weights)
@examples(400)
def test_describe_finds_the_best_of_all_subsets(storage, case, weights):
    A, missing, _, V = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PACKED_DENSITY", STORAGES[storage])
        U = describe(BooleanMatrix.from_array(A, missing=missing), V, weights, 1)
    costs = naive.row_costs(A, U, V, weights, missing)
    np.testing.assert_array_equal(costs, naive.least_row_costs(A, V, weights, missing))


@given(case=starts(components=st.integers(60, 140)), weights=weights)
def test_describe_by_many_components_cannot_be_improved_by_one_switch(case, weights):
    A, missing, _, V = case
    U = describe(BooleanMatrix.from_array(A, missing=missing), V, weights)
    costs = naive.row_costs(A, U, V, weights, missing)
    nothing = naive.row_costs(A, np.zeros_like(U), V, weights, missing)
    assert (costs <= nothing).all()
    assert (costs <= naive.least_switched_costs(A, U, V, weights, missing)).all()


@given(case=boolean_factors(max_components=12), weights=weights)
def test_describe_finds_rows_of_the_components_themselves(case, weights):
    _, _, V = case
    exact = naive.boolean_product(np.eye(V.shape[0], dtype=bool), V)
    described = describe(exact, V, weights)
    np.testing.assert_array_equal(naive.boolean_product(described, V), exact)


@given(case=starts(components=st.integers(1, 12)), weights=weights)
def test_the_description_of_a_row_depends_on_that_row_alone(case, weights):
    A, missing, _, V = case
    A = BooleanMatrix.from_array(A, missing=missing)
    whole = describe(A, V, weights)
    X = np.where(A.to_csr().toarray(), 1.0, 0.0)
    if missing is not None:
        X[missing] = np.nan
    for i in range(0, X.shape[0], 9):
        np.testing.assert_array_equal(describe(X[i : i + 1], V, weights)[0], whole[i])


def test_describe_gives_the_same_for_any_number_of_threads(n_jobs):
    generator = np.random.default_rng(0)
    A, V = generator.random((300, 150)) < 0.6, generator.random((9, 150)) < 0.2
    described = describe(A, V, n_jobs=n_jobs)
    assert described.any()
    np.testing.assert_array_equal(described, describe(A, V, n_jobs=1))


def test_components_of_other_columns_are_refused():
    with pytest.raises(InputError, match="V has 5 columns, but the matrix has 6"):
        describe(np.ones((4, 6)), np.ones((2, 5)))


# --- refinement ---


def assert_refined_once(case, weights):
    A, missing, U, V = case
    once = refined(A, missing, U, V, weights)
    assert naive.cost(A, *once, weights, missing) <= naive.cost(A, U, V, weights, missing)
    assert_same_factors(refined(A, missing, *once, weights), once)
    return once


# Three thousand cases: to draw one takes longer than to look at it, so ten of a kind are tried.
@pytest.mark.slow
@given(start=kinds_of_starts(), seed=st.integers(0, 2**32 - 1), weights=weights)
@examples(300)
def test_refinement_never_raises_the_cost_and_ends(start, seed, weights):
    for case in map(start, range(seed, seed + 10)):
        assert_refined_once(case, weights)


def test_refinement_of_a_matrix_of_which_nothing_is_known():
    assert_refined_once(np.ones((4, 1, 1), dtype=bool), Weights())


@given(case=starts(components=st.integers(7, 80)), weights=weights)
@examples(300)
def test_refinement_of_many_components(case, weights):
    A, missing, _, _ = case
    once = assert_refined_once(case, weights)
    flipped = None if missing is None else missing.T
    for side, mask, (L, R) in (
        (A, missing, once),
        (A.T, flipped, (once[1].T, once[0].T)),
    ):
        costs = naive.row_costs(side, L, R, weights, mask)
        assert (costs <= naive.least_switched_costs(side, L, R, weights, mask)).all()


@pytest.mark.parametrize("storage", STORAGES)
@given(case=starts(), weights=weights)
@examples(400)
def test_after_refinement_no_row_and_no_column_has_a_better_subset(storage, case, weights):
    A, missing, U, V = case
    U, V = refined(A, missing, U, V, weights, _PACKED_DENSITY=STORAGES[storage])
    costs = naive.row_costs(A, U, V, weights, missing)
    np.testing.assert_array_equal(costs, naive.least_row_costs(A, V, weights, missing))
    missing = None if missing is None else missing.T
    costs = naive.row_costs(A.T, V.T, U.T, weights, missing)
    np.testing.assert_array_equal(costs, naive.least_row_costs(A.T, U.T, weights, missing))


@given(case=starts(components=st.integers(1, 70)), weights=weights)
def test_refinement_is_the_same_for_any_storage_and_number_of_threads(case, weights):
    expected = refined(*case, weights)
    for density in STORAGES.values():
        assert_same_factors(refined(*case, weights, _PACKED_DENSITY=density), expected)
    for n_jobs in (1, 3):
        threaded = refined(*case, weights, _ONES_FOR_THREADS=0, n_jobs=n_jobs)
        assert_same_factors(threaded, expected)


def test_refinement_of_large_data_is_the_same_for_any_number_of_threads(n_jobs, monkeypatch):
    tiles = make_tiles((900, 700), 6, height=(50, 100), noise=0.1, random_state=0)
    A = BooleanMatrix.from_array(tiles.A)
    generator = np.random.default_rng(0)
    U, V = (X ^ (generator.random(X.shape) < 0.05) for X in (tiles.U, tiles.V))
    expected = refine(A, U, V, n_jobs=1)
    assert cover(A, *expected).loss <= cover(A, tiles.U, tiles.V).loss
    monkeypatch.setattr(module, "_ONES_FOR_THREADS", 0)
    assert_same_factors(refine(A, U, V, n_jobs=n_jobs), expected)


@given(case=starts(components=st.integers(1, 70)), weights=weights)
@examples(200)
def test_the_cost_is_kept_up_to_date(case, weights):
    A, missing, U, V = case
    for ones_for_threads in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_ONES_FOR_THREADS", ones_for_threads)
            local = LocalSearch(BooleanMatrix.from_array(A, missing=missing), weights, 1)
            factors = local.pack(U, V)
            assert factors.cost == naive.cost(A, U, V, weights, missing)
            local.descend(factors)
            assert factors.cost == naive.cost(A, *factors.to_arrays(), weights, missing)
            local.settle(factors)
            assert factors.cost == naive.cost(A, *factors.to_arrays(), weights, missing)


@given(case=starts())
def test_refinement_leaves_its_input_alone(case):
    A, missing, U, V = case
    kept = U.copy(), V.copy()
    A = BooleanMatrix.from_array(A, missing=missing)
    pattern = A.indptr.copy(), A.indices.copy()
    refine(A, U, V, n_jobs=1)
    assert_same_factors((U, V), kept)
    assert_same_factors((A.indptr, A.indices), pattern)


@given(case=starts(components=st.integers(1, 70)))
@examples(400)
def test_from_below_no_zero_is_covered_whatever_the_start(case):
    A, missing, U, V = case
    U, V = refined(A, missing, U, V, Weights.of(np.inf, A.shape))
    _, extra = naive.errors(A, naive.boolean_product(U, V), missing)
    assert not extra.any()


@given(case=starts(), weights=weights)
@examples(200)
def test_rows_of_refined_factors_are_as_described(case, weights):
    A, missing, U, V = case
    U, V = refined(A, missing, U, V, weights)
    np.testing.assert_array_equal(
        describe(BooleanMatrix.from_array(A, missing=missing), V, weights), U
    )


# --- packed factors ---


@given(case=boolean_factors(max_components=140))
def test_packed_factors_hold_both_directions(case):
    _, U, V = case
    factors = PackedFactors.from_arrays(U, V, 0)
    assert_same_factors(factors.to_arrays(), (U, V))
    assert factors.n_slots == U.shape[1]
    np.testing.assert_array_equal(factors.used(), U.any(axis=0) & V.any(axis=1))
    for side, factor in enumerate((U, V.T)):
        lines, k = factor.shape
        np.testing.assert_array_equal(unpack(factors.bits.memberships[side], k), factor)
        np.testing.assert_array_equal(unpack(factors.bits.component_bits[side], lines), factor.T)
        assert factors.bits.pending[side].all()


@given(X=boolean_arrays(columns=st.integers(1, 200)), data=st.data())
def test_columns_of_bits(X, data):
    packed = pack(X)
    np.testing.assert_array_equal(unpack(packed, X.shape[1]), X)
    out = np.full(-(-X.shape[0] // 64), 7, dtype=np.uint64)
    column = data.draw(st.integers(0, X.shape[1] - 1))
    bits.gather_column(packed, column, out)
    np.testing.assert_array_equal(out, pack(X[:, [column]].T)[0])


# --- what the search counts ---


@pytest.mark.parametrize("storage", STORAGES)
@given(case=starts(components=st.integers(1, 70)), weights=weights)
def test_costs_of_dropping_a_component(storage, case, weights):
    A, missing, U, V = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PACKED_DENSITY", STORAGES[storage])
        local = LocalSearch(BooleanMatrix.from_array(A, missing=missing), weights)
    factors = local.pack(U, V)
    costs = np.full(U.shape[1], 3)
    workspaces = local.workspaces(factors.bits)
    drop_costs(local.lines, factors.bits, -1, local.prices, costs, workspaces)
    for l in range(U.shape[1]):
        rest = np.arange(U.shape[1]) != l
        without = naive.cost(A, U[:, rest], V[rest], weights, missing)
        assert costs[l] == without - factors.cost
        alone = np.full(U.shape[1], 3)
        drop_costs(local.lines, factors.bits, l, local.prices, alone, workspaces)
        assert alone[l] == costs[l]


@given(case=starts(components=st.integers(1, 140)), data=st.data())
def test_uncovered_ones_are_counted(case, data):
    A, missing, U, V = case
    local = LocalSearch(BooleanMatrix.from_array(A, missing=missing))
    missed, _ = naive.errors(A, naive.boolean_product(U, V), missing)
    memberships = pack(U), pack(V.T)
    for axis in (0, 1):
        counts = np.full(A.shape[axis], -1)
        low = data.draw(st.integers(0, counts.size))
        count_uncovered(
            local.lines[axis], low, counts.size, memberships[axis], memberships[1 - axis], counts
        )
        np.testing.assert_array_equal(counts[low:], missed.sum(axis=1 - axis)[low:])
        assert (counts[:low] == -1).all()


@pytest.mark.parametrize("storage", STORAGES)
@given(case=starts(components=st.integers(1, 80)), weights=weights)
def test_costs_of_lines(storage, case, weights):
    A, missing, U, V = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PACKED_DENSITY", STORAGES[storage])
        local = LocalSearch(BooleanMatrix.from_array(A, missing=missing), weights)
    costs = np.empty(A.shape[0], dtype=np.int64)
    line_costs(local.lines[0], 0, A.shape[0], pack(U), pack(V), local.prices, costs)
    np.testing.assert_array_equal(costs, naive.row_costs(A, U, V, weights, missing))


@given(case=starts(), weights=weights)
def test_rows_agree_with_their_description_where_that_is_as_good(case, weights):
    A, missing, U, V = case
    matrix = BooleanMatrix.from_array(A, missing=missing)
    agreed, described = agree(matrix, U, V, weights, 2), describe(matrix, V, weights)
    own, other = (naive.row_costs(A, X, V, weights, missing) for X in (U, described))
    np.testing.assert_array_equal(agreed, np.where((own == other)[:, None], described, U))


@given(V=boolean_arrays(columns=st.integers(1, 140)))
def test_cells_that_components_share(V):
    overlaps = np.empty((V.shape[0], V.shape[0]), dtype=np.int64)
    share_cells(pack(V), overlaps)
    np.testing.assert_array_equal(overlaps, V.astype(int) @ V.T.astype(int))


@given(case=starts(components=st.integers(1, 70)), data=st.data())
def test_a_cleared_component_is_empty_and_its_lines_are_pending(case, data):
    A, missing, U, V = case
    local = LocalSearch(BooleanMatrix.from_array(A, missing=missing), None, 1)
    factors = local.pack(U, V)
    for pending in factors.bits.pending:
        pending[:] = False
    l = data.draw(st.integers(0, U.shape[1] - 1))
    clear(factors.bits, l)
    rest = np.arange(U.shape[1]) != l
    for ours, expected in zip(factors.to_arrays(), (U * rest, V * rest[:, None]), strict=True):
        np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(unpack(factors.bits.memberships[0], rest.size), U * rest)
    np.testing.assert_array_equal(factors.bits.pending[0], U[:, l])
    np.testing.assert_array_equal(factors.bits.pending[1], V[l])
