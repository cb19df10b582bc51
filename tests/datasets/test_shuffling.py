"""Random matrices with given row and column sums."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import chi2

import naive
from elbmf.datasets import shuffled
from elbmf.datasets.kernels.trading import trade
from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from strategies import examples, masked_arrays

seeds = st.integers(0, 2**31 - 1)


@examples(60)
@given(masked_arrays(), seeds, st.integers(0, 6))
def test_sums_and_missing_cells_stay(case, seed, sweeps):
    cells, mask = case
    ones = cells & ~mask
    found = shuffled(cells, seed, sweeps=sweeps, missing=mask)
    values = found.to_csr().toarray()
    np.testing.assert_array_equal(values.sum(axis=0), ones.sum(axis=0))
    np.testing.assert_array_equal(values.sum(axis=1), ones.sum(axis=1))
    assert not (values & mask).any()
    assert found.n_missing == mask.sum()
    assert sparse.csr_array(values).indices.tolist() == found.indices.tolist()  # They ascend
    again = shuffled(cells, seed, sweeps=sweeps, missing=mask)
    np.testing.assert_array_equal(found.indices, again.indices)


@examples(60)
@given(masked_arrays(), seeds, st.integers(0, 3))
def test_trades_are_those_of_the_slow_twin(case, seed, sweeps):
    cells, mask = case
    A = BooleanMatrix.from_array(cells, missing=mask)
    indices = A.indices.copy()
    trade(A.indptr, indices, *A.missing_lines(0), sweeps, np.uint64(seed))
    places = [set(np.flatnonzero(line).tolist()) for line in cells & ~mask]
    holes = [set(np.flatnonzero(line).tolist()) for line in mask]
    expected = [sorted(line) for line in naive.traded(places, holes, sweeps, seed)]
    assert [each.tolist() for each in np.split(indices, A.indptr[1:-1])] == expected


def matrices_by_sums(n, m):
    """All 0/1 matrices of a shape, by their row and column sums in ascending order."""
    lines = [
        np.array([column in chosen for column in range(m)], dtype=int)
        for size in range(m + 1)
        for chosen in combinations(range(m), size)
    ]
    found = {}
    for rows in product(lines, repeat=n):
        A = np.array(rows)
        sums = (*A.sum(axis=1).tolist(), -1, *A.sum(axis=0).tolist())
        if list(sums[:n]) == sorted(sums[:n]) and list(sums[n + 1 :]) == sorted(sums[n + 1 :]):
            found.setdefault(sums, []).append(A)
    return [each for each in found.values() if len(each) > 1]


def chance_of_such_counts(matrices, draws_of_each, random_state):
    """Draw matrices with the sums of some, and return how likely counts are as unequal as theirs.

    All matrices with these sums are given.
    """
    counts = dict.fromkeys((A.tobytes() for A in matrices), 0)
    for _ in range(draws_of_each * len(matrices)):
        found = shuffled(matrices[0], random_state, sweeps=20).to_csr(int).toarray()
        counts[found.tobytes()] += 1
    unequal = np.square(np.array(list(counts.values())) - draws_of_each).sum() / draws_of_each
    return chi2.sf(unequal, len(matrices) - 1)


@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (4, 3)])
def test_all_small_matrices_with_the_same_sums_are_equally_likely(shape):
    # One for all, so that no two tests are of the same draws.
    draws = np.random.RandomState(0)
    chances = [chance_of_such_counts(each, 15, draws) for each in matrices_by_sums(*shape)]
    # One in a thousand tests of a sampler that is right would be below.
    assert min(chances) > 0.001 / len(chances)


@pytest.mark.parametrize(
    ("rows", "columns"), [([2, 2, 2, 2], [2, 2, 2, 2]), ([1, 1, 2, 3], [1, 2, 2, 2])]
)
def test_matrices_with_four_rows_are_equally_likely(rows, columns):
    matrices = [
        A
        for lines in product(*(combinations(range(4), size) for size in rows))
        for A in [np.array([[column in line for column in range(4)] for line in lines], dtype=int)]
        if A.sum(axis=0).tolist() == columns
    ]
    assert chance_of_such_counts(matrices, 20, np.random.RandomState(0)) > 0.001


def test_the_sides_of_the_trades_do_not_matter_for_the_sums():
    rows = np.random.default_rng(0).random((60, 5)) < np.linspace(0.05, 0.9, 60)[:, None]
    for cells in (rows, rows.T):
        found = shuffled(cells, 0).to_csr().toarray()
        np.testing.assert_array_equal(found.sum(axis=1), cells.sum(axis=1))
        assert (found != cells).any()


def test_nothing_is_left_of_the_order_of_ones():
    cells = np.zeros((200, 100), dtype=bool)
    cells[:100, :50] = cells[100:, 50:] = True
    found = shuffled(cells, 0).to_csr().toarray()
    # Half of the ones by chance, give or take five times the spread.
    assert abs((found & cells).mean() - 0.25) < 5 * np.sqrt(0.25 / cells.size) / 2


@pytest.mark.parametrize("sweeps", [-1, 2.5, "many"])
def test_sweeps_are_a_whole_number(sweeps):
    with pytest.raises(InputError, match="whole number, at least 0"):
        shuffled(np.eye(3), sweeps=sweeps)
