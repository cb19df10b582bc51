"""Boolean algebra on packed words against dense arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import naive
from elbmf import boolean
from elbmf.boolean.product import pack
from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from strategies import boolean_arrays, boolean_factors, lengths, masked_factors


@given(rows=boolean_arrays(columns=st.integers(1, 200)))
@pytest.mark.parametrize("order", ["C", "F"])
def test_pack_keeps_every_bit(order, rows):
    packed = pack(np.asarray(rows, order=order))
    assert packed.dtype == np.uint64
    for i, row in enumerate(rows):
        for j, bit in enumerate(row):
            assert (int(packed[i, j // 64]) >> (j % 64)) & 1 == bit


@given(case=boolean_factors())
def test_product_cover_and_components(case):
    A, U, V = case
    B = naive.boolean_product(U, V)
    product = boolean.boolean_product(U, V)
    assert product.dtype == np.bool_
    assert product.has_sorted_indices
    np.testing.assert_array_equal(product.toarray(), B)

    cover = boolean.cover(A, U, V)
    assert (cover.cells, cover.ones, cover.covered) == (A.size, A.sum(), B.sum())
    assert cover.hits == np.sum(A & B)
    assert cover.missed == np.sum(A & ~B)
    assert cover.extra == np.sum(~A & B)
    assert cover.loss == np.sum(A != B)

    each = boolean.component_cover(A, U, V)
    times_covered = U.astype(int) @ V.astype(int)
    for l in range(U.shape[1]):
        tile = np.outer(U[:, l], V[l])
        assert each.rows[l] * each.columns[l] == each.cells[l] == tile.sum()
        assert each.covered[l] == np.sum(A & tile)
        assert each.alone[l] == np.sum(A & tile & (times_covered == 1))
        assert each.precision[l] == pytest.approx(A[tile].mean() if tile.any() else 1)


@given(case=masked_factors())
def test_missing_cells_are_in_no_count(case):
    A, mask, U, V = case
    B = naive.boolean_product(U, V)
    seen = ~mask
    missing = BooleanMatrix.from_array(A, missing=mask)
    cover = boolean.cover(missing, U, V)
    assert (cover.cells, cover.ones) == (seen.sum(), A[seen].sum())
    assert (cover.covered, cover.hits) == (B[seen].sum(), (A & B)[seen].sum())
    assert cover.loss == np.sum((A != B) & seen)
    weights = boolean.Weights(missed=3, extra=7)
    assert cover.cost(weights) == 3 * np.sum(A & ~B & seen) + 7 * np.sum(~A & B & seen)
    assert cover.cost(boolean.Weights()) == cover.loss

    each = boolean.component_cover(missing, U, V)
    for l in range(U.shape[1]):
        tile = np.outer(U[:, l], V[l]) & seen
        assert each.cells[l] == tile.sum()
        assert each.covered[l] == np.sum(A & tile)
        assert each.precision[l] == pytest.approx(A[tile].mean() if tile.any() else 1)


@given(case=masked_factors(), with_mask=st.booleans(), seed=st.integers(0, 99))
def test_a_growing_cover_knows_what_each_component_would_add(case, with_mask, seed):
    A, mask, U, V = case
    seen = ~mask if with_mask else np.ones_like(mask)
    given_A = np.where(seen, A, np.nan)
    growing = boolean.GrowingCover(given_A, U, V, n_jobs=2)
    order = np.random.default_rng(seed).permutation(U.shape[1])
    for step, l in enumerate(order):
        free = seen & ~naive.boolean_product(U[:, order[:step]], V[order[:step]])
        assert np.flatnonzero(growing.taken).tolist() == sorted(order[:step])
        for counts, cells in ((growing.cells, free), (growing.ones, free & A)):
            np.testing.assert_array_equal(counts, np.sum((U.T.astype(int) @ cells) * V, axis=1))
        growing.take(l)
    assert growing.cover == boolean.cover(given_A, U, V)
    assert not growing.cells.any()
    assert not growing.ones.any()


def test_a_component_joins_a_growing_cover_once():
    growing = boolean.GrowingCover(np.eye(2), np.eye(2), np.eye(2))
    growing.take(1)
    with pytest.raises(InputError, match="Component 1 is in the cover already"):
        growing.take(1)


@pytest.mark.parametrize(
    ("extra_weight", "missed", "extra"),
    [
        (1, 1, 1),
        (2, 1, 2),
        (0.5, 2, 1),
        (3, 1, 3),
        (1 / 3, 3, 1),
        (2.5, 2, 5),
        (7.3, 10, 73),
        (0.999, 1000, 999),
        (1 + 1e-12, 1, 1),
        (1200.4, 1, 1200),
        (1e-12, 5001, 1),
        (1e300, 1, 5001),
        (np.inf, 1, 5001),
    ],
)
def test_weights_are_ratios_of_integers(extra_weight, missed, extra):
    assert boolean.Weights.of(extra_weight, (40, 5000)) == boolean.Weights(missed, extra)


@given(extra_weight=st.floats(0, exclude_min=True), rows=lengths, columns=lengths)
def test_any_weight_is_near_its_ratio(extra_weight, rows, columns):
    weights = boolean.Weights.of(extra_weight, (rows, columns))
    most = max(rows, columns) + 1
    bounded = min(max(extra_weight, 1 / most), most)
    assert weights.extra / weights.missed == pytest.approx(bounded, rel=0.05)
    assert weights.missed > 0
    assert weights.extra > 0
    assert weights.relaxed == pytest.approx(weights.missed / weights.extra)


def test_weights_of_the_relaxation_are_bounded():
    shape = (40, 5000)
    bounds = [boolean.Weights.of(extra_weight, shape).relaxed for extra_weight in (np.inf, 1e-9)]
    assert bounds == [0.01, 100]
    assert boolean.Weights.of(4, shape).relaxed == 0.25


@pytest.mark.parametrize("extra_weight", [0, -1, np.nan, -np.inf])
def test_weights_must_be_positive(extra_weight):
    with pytest.raises(InputError, match="extra_weight must be above 0"):
        boolean.Weights.of(extra_weight, (4, 5))


@given(case=boolean_factors(max_components=12), seed=st.integers(0, 99))
def test_hamming_distance_of_two_products(case, seed):
    _, U, V = case
    generator = np.random.default_rng(seed)
    other_U = U ^ (generator.random(U.shape) < 0.1)
    other_V = V ^ (generator.random(V.shape) < 0.1)
    expected = np.sum(naive.boolean_product(U, V) != naive.boolean_product(other_U, other_V))
    assert boolean.hamming_distance(U, V, other_U, other_V) == expected


def test_sparse_and_integer_factors_are_welcome():
    U, V = np.array([[1, 0], [1, 1]]), sparse.csr_array(np.array([[1, 0, 0], [0, 1, 1]]))
    np.testing.assert_array_equal(boolean.boolean_product(U, V).toarray(), [[1, 0, 0], [1, 1, 1]])


def test_factors_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="U has 2 components, but V has 3"):
        boolean.boolean_product(np.ones((4, 2)), np.ones((3, 5)))
    with pytest.raises(InputError, match="4×5 product, but the matrix is 4×6"):
        boolean.cover(np.ones((4, 6)), np.ones((4, 2)), np.ones((2, 5)))
    with pytest.raises(InputError, match="U must be 0/1"):
        boolean.boolean_product(np.full((4, 2), 0.5), np.ones((2, 5)))
    with pytest.raises(InputError, match="U must be a matrix; got 1 dimension"):
        boolean.boolean_product(np.ones(4), np.ones((2, 5)))
