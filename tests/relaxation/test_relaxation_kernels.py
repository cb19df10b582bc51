"""The compiled loops of the relaxation against their slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.half_step import padded_width
from elbmf.relaxation.kernels import half_step as steps
from elbmf.relaxation.kernels import products
from elbmf.relaxation.slabs import ByteSlab, ComplementSlab, IndexSlab, _complement, cut
from strategies import boolean_arrays, examples, rounding, vectors

widths = st.integers(1, 140)  # beyond one and two rounds of registers


def factor(rows, k, dtype, seed):
    X = np.zeros((rows, padded_width(k)), dtype=dtype)
    X[:, :k] = np.random.default_rng(seed).random((rows, k))
    return X


def make_slab(storage, A):
    lines, n_resident = A.shape
    indptr, indices = BooleanMatrix.from_array(A).lines(0)
    if storage == "complement":
        indptr, indices = _complement(indptr, indices, n_resident)
        return ComplementSlab(0, lines, n_resident, indptr, indices)
    kind = {"indices": IndexSlab, "bytes": ByteSlab}[storage]
    return kind(0, lines, n_resident, indptr, indices)


def pulled(slab, X, low, high):
    out = np.full((high - low, X.shape[1]), 7, dtype=X.dtype)
    slab.pull(X, low, high, out)
    return out


@pytest.mark.parametrize("storage", ["indices", "bytes", "complement"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(A=boolean_arrays(columns=st.integers(1, 200)), k=widths, seed=st.integers(0, 99))
def test_pull_and_push_are_the_two_products(storage, dtype, A, k, seed):
    slab = make_slab(storage, A)
    lines, n_resident = A.shape
    X = factor(n_resident, k, dtype, seed)
    Y = factor(lines, k, dtype, seed + 1)
    # No sum has more terms than a side, each at most one.
    tolerance = rounding(max(A.shape) + 1, dtype)
    np.testing.assert_allclose(
        pulled(slab, X, 0, lines), A.astype(dtype) @ X, rtol=0, atol=tolerance
    )
    sums = factor(n_resident, k, dtype, seed + 2)
    expected = sums + A.T.astype(dtype) @ Y
    slab.push(Y, 0, lines, sums)
    np.testing.assert_allclose(sums, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    A=boolean_arrays(),
    k=widths,
    seed=st.integers(0, 99),
    value=st.sampled_from([0, 1]),
    excess=st.sampled_from([-1.0, -0.9, 2.0]),
)
def test_residuals_of_listed_cells(dtype, A, k, seed, value, excess):
    lines, n_resident = A.shape
    X, Z, target = (factor(n_resident, k, dtype, seed + i) for i in range(3))
    Y, out = (factor(lines, k, dtype, seed + i) for i in range(3, 5))
    indptr, indices = BooleanMatrix.from_array(A).lines(0)
    low, high = lines // 4, lines
    numbers = dtype(value), dtype(excess)

    def tolerance(out, terms, factor):
        return {"rtol": 0, "atol": rounding((out + abs(excess) * terms @ factor).max(), dtype)}

    at_cells = np.where(A, value - Y @ X.T, 0)[low:]
    expected = out[low:] + excess * at_cells @ X
    terms = np.where(A, value + Y @ X.T, 0)[low:]
    close = tolerance(out[low:], terms, X)
    pulled_rows = out[low:].copy()
    products.pull_residuals(X, indices, indptr, low, high, Y[low:], *numbers, pulled_rows)
    np.testing.assert_allclose(pulled_rows, expected, **close)

    at_cells = np.where(A, value - Y @ Z.T, 0)[low:]
    expected = target + excess * at_cells.T @ Y[low:]
    terms = np.where(A, value + Y @ Z.T, 0)[low:]
    close = tolerance(target, terms.T, Y[low:])
    products.push_residuals(Z, indices, indptr, low, high, Y[low:], *numbers, target)
    np.testing.assert_allclose(target, expected, **close)

    total = products.squared_residuals(X, indices, indptr, Y, numbers[0])
    expected = np.sum((value - Y @ X.T)[A] ** 2, dtype=float)
    magnitude = np.sum((value + Y @ X.T)[A] ** 2, dtype=float)
    assert total == pytest.approx(expected, rel=0, abs=rounding(magnitude, dtype))


@pytest.mark.parametrize("k", [3, 20, 200])
def test_prefetching_changes_nothing(k, monkeypatch):
    A = np.random.default_rng(0).random((300, 90)) < 0.2
    slab = make_slab("indices", A)
    X, Y = factor(90, k, np.float32, 0), factor(300, k, np.float32, 1)
    plain_pull, plain_push = pulled(slab, X, 5, 290), np.zeros_like(X)
    slab.push(Y[5:290], 5, 290, plain_push)
    monkeypatch.setattr("elbmf.relaxation.slabs._CACHED_BYTES", 0)
    ahead_pull, ahead_push = pulled(slab, X, 5, 290), np.zeros_like(X)
    slab.push(Y[5:290], 5, 290, ahead_push)
    np.testing.assert_array_equal(plain_pull, ahead_pull)
    np.testing.assert_array_equal(plain_push, ahead_push)


@pytest.mark.parametrize(
    ("density", "storage"),
    [(0.02, IndexSlab), (0.4, ByteSlab), (0.6, ByteSlab), (0.97, ComplementSlab)],
)
def test_storage_follows_density(density, storage):
    A = np.random.default_rng(1).random((200, 120)) < density
    assert {type(slab) for slab in cut(BooleanMatrix.from_array(A)).slabs} == {storage}


@given(A=boolean_arrays())
def test_complement_is_the_pattern_of_the_zeros(A):
    indptr, indices = BooleanMatrix.from_array(A).lines(0)
    zeros_indptr, zeros = _complement(indptr, indices, A.shape[1])
    rebuilt = np.ones_like(A)
    for line in range(A.shape[0]):
        rebuilt[line, zeros[zeros_indptr[line] : zeros_indptr[line + 1]]] = False
    np.testing.assert_array_equal(rebuilt, A)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_settle_counts_gap_and_flips(dtype, data):
    fresh = np.abs(data.draw(vectors(dtype)))
    current = np.roll(fresh, 1).copy()
    expected_gap = np.minimum(np.abs(fresh), np.abs(fresh - 1)).sum()
    expected_flips = np.sum((current > 0.5) != (fresh > 0.5))
    gap, flips = steps.settle(current, fresh)
    assert gap == pytest.approx(expected_gap, rel=1e-5, abs=1e-5)
    assert flips == expected_flips
    np.testing.assert_array_equal(current, np.where(fresh > 1e-30, fresh, 0))


def test_settle_bounds_what_is_thrown_far_out():
    current = np.zeros(3)
    steps.settle(current, np.array([1e300, np.inf, 0.5]))
    np.testing.assert_array_equal(current, [steps.HUGE, steps.HUGE, 0.5])


def test_settle_over_many_pieces():
    generator = np.random.default_rng(2)
    current, fresh = generator.random((2, 50_000))
    expected = np.minimum(fresh, 1 - fresh).sum(), np.sum((current > 0.5) != (fresh > 0.5))
    gap, flips = steps.settle(current, fresh)
    assert gap == pytest.approx(expected[0])
    assert flips == expected[1]
    np.testing.assert_array_equal(current, fresh)


@given(a=vectors(np.float32))
def test_inner_sums_in_float64(a):
    assert steps.inner(a, a) == pytest.approx(np.sum(a.astype(np.float64) ** 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("inertia", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@given(rows=st.integers(1, 40), k=st.integers(1, 40), seed=st.integers(0, 99))
@examples(15)
def test_it_is_the_inertial_gradient_step(dtype, inertia, scaled, rows, k, seed):
    current, last, product = (factor(rows, k, dtype, seed + i) for i in range(3))
    gram = factor(padded_width(k), padded_width(k), dtype, seed + 3)
    scale = np.random.default_rng(seed).random(current.shape[1]).astype(dtype) + 0.5
    x, y = (current * scale, last * scale) if scaled else (current.copy(), last.copy())
    z = x + 0.7 * (x - y) if inertia else x
    expected = z - 0.1 * (z @ gram - product)
    nothing = current[:0]
    beta, step = dtype(0.7), dtype(0.1)
    previous = last if inertia else nothing
    scales = scale if scaled else nothing.ravel()
    scratch = [np.empty(current.shape, dtype) for _ in range(2)]
    steps.gradient_step(current, previous, scales, gram, beta, step, product, *scratch)
    tolerance = rounding(np.max(np.abs(z) + 0.1 * (np.abs(z) @ gram + 1)), dtype)
    np.testing.assert_allclose(product, expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(current, x)
    if inertia:
        np.testing.assert_allclose(previous, x)
