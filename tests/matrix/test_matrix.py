"""The input type: what it reads, and what it says of what it does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from strategies import boolean_arrays, masked_arrays

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
DTYPES = [np.bool_, np.int8, np.uint8, np.int64, np.float16, np.float32, np.float64]


@given(
    A=boolean_arrays(),
    form=st.sampled_from(FORMATS),
    dtype=st.sampled_from(DTYPES[:-3] + DTYPES[-2:]),
)
# Random matrices have too many diagonals for scipy's taste.
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_sparse_of_any_format_equals_dense(A, form, dtype):
    dense = BooleanMatrix.from_array(A.astype(dtype))
    for build in (sparse.coo_array, sparse.coo_matrix):
        read = BooleanMatrix.from_array(build(A.astype(dtype)).asformat(form))
        assert read.shape == dense.shape == A.shape
        np.testing.assert_array_equal(read.indptr, dense.indptr)
        np.testing.assert_array_equal(read.indices, dense.indices)
    np.testing.assert_array_equal(dense.to_csr().toarray(), A)
    assert (dense.ones, dense.cells) == (A.sum(), A.size)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dense_of_any_number_type(dtype):
    A = np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype)
    np.testing.assert_array_equal(BooleanMatrix.from_array(A).to_csr().toarray(), A)


@given(A=boolean_arrays(), axis=st.integers(0, 1))
def test_lines_by_rows_and_by_columns(A, axis):
    indptr, indices = BooleanMatrix.from_array(A).lines(axis)
    for line, values in enumerate(A if axis == 0 else A.T):
        np.testing.assert_array_equal(
            indices[indptr[line] : indptr[line + 1]], np.flatnonzero(values)
        )


def test_indices_are_as_narrow_as_the_other_side_allows():
    narrow = BooleanMatrix.from_array(sparse.csr_array((2, 1 << 16), dtype=bool)).lines(0)
    wide = BooleanMatrix.from_array(sparse.csr_array((2, (1 << 16) + 1), dtype=bool)).lines(0)
    assert narrow[1].dtype == np.uint16
    assert wide[1].dtype == np.int32


def test_int64_indices_explicit_zeros_and_unsorted_indices():
    data = np.array([1, 0, 1, 1], dtype=np.int32)
    indices = np.array([2, 1, 0, 1], dtype=np.int64)
    A = sparse.csr_array((data, indices, np.array([0, 3, 4], dtype=np.int64)), shape=(2, 3))
    before = A.copy()
    read = BooleanMatrix.from_array(A)
    np.testing.assert_array_equal(read.to_csr().toarray(), [[1, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(A.indices, before.indices)  # the caller's matrix is left alone
    np.testing.assert_array_equal(A.data, before.data)


@pytest.mark.parametrize("width", [np.int32, np.int64])
def test_what_may_only_be_read_is_taken_so_that_kernels_need_not_be_compiled_for_it(width):
    given = sparse.csr_array(np.eye(4, dtype=bool))
    given.indptr, given.indices = given.indptr.astype(width), given.indices.astype(width)
    for part in (given.indptr, given.indices, given.data):
        part.flags.writeable = False
    read = BooleanMatrix.from_array(given)
    assert read.indptr.flags.writeable
    assert read.indices.flags.writeable
    np.testing.assert_array_equal(read.to_csr().toarray(), np.eye(4, dtype=bool))


def test_duplicates_add_up_as_in_scipy():
    coordinates = (np.array([0, 0, 1]), np.array([1, 1, 0]))
    merged = BooleanMatrix.from_array(
        sparse.coo_array((np.ones(3, bool), coordinates), shape=(2, 2))
    )
    np.testing.assert_array_equal(merged.to_csr().toarray(), [[0, 1], [1, 0]])
    counts = sparse.coo_array((np.ones(3, int), coordinates), shape=(2, 2))
    with pytest.raises(InputError, match=r"2 at row 0, column 1 \(entries stored twice are added"):
        BooleanMatrix.from_array(counts)
    assert BooleanMatrix.from_array(counts, binarize=0).ones == 2


def test_duplicates_cannot_wrap_around():
    many = sparse.coo_array(
        (np.ones(257, np.uint8), (np.zeros(257, int), np.zeros(257, int))), shape=(1, 1)
    )
    with pytest.raises(InputError, match="257 at row 0, column 0"):
        BooleanMatrix.from_array(many)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.inf, "contains infinity: inf at row 1, column 2"),
        (-1.0, "Negative values.*-1 at row 1, column 2.*binarize="),
        (3.0, "zeros and ones; got 3 at row 1, column 2.*binarize="),
        (0.5, "zeros and ones; got 0.5 at row 1, column 2"),
    ],
)
def test_offending_values_are_shown_with_their_place(make, value, message):
    A = np.zeros((3, 4))
    A[0, 0] = 1
    A[1, 2] = value
    with pytest.raises(InputError, match=message):
        BooleanMatrix.from_array(make(A))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_binarize_reads_what_is_above_the_threshold(make):
    A = np.array([[0.0, 3.5, 4.0], [-2.0, 5.0, 0.0]])
    read = BooleanMatrix.from_array(make(A), binarize=3.5)
    np.testing.assert_array_equal(read.to_csr().toarray(), A > 3.5)
    A[0, 0] = np.nan
    read = BooleanMatrix.from_array(make(A), binarize=3.5)
    np.testing.assert_array_equal(read.to_csr().toarray(), A > 3.5)
    np.testing.assert_array_equal(read.missing.to_csr().toarray(), np.isnan(A))
    A[0, 0] = np.inf
    with pytest.raises(InputError, match="infinity"):
        BooleanMatrix.from_array(make(A), binarize=3.5)


def test_negative_threshold_is_for_dense_input_only():
    A = np.array([[0.0, -3.0]])
    np.testing.assert_array_equal(
        BooleanMatrix.from_array(A, binarize=-1).to_csr().toarray(), [[1, 0]]
    )
    with pytest.raises(InputError, match="turns every zero"):
        BooleanMatrix.from_array(sparse.csr_array(A), binarize=-1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_threshold_must_be_finite(bad):
    with pytest.raises(InputError, match="finite threshold"):
        BooleanMatrix.from_array(np.eye(2), binarize=bad)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), "1 dimension"),
        (np.ones((2, 2, 2)), "3 dimension"),
        (np.ones((2, 2), complex), "Complex data not supported"),
        (np.array([["a", "b"]]), "Expected numbers or Booleans"),
        (np.array([[{}, 1]], dtype=object), "Expected numbers or Booleans"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(X, message):
    with pytest.raises(InputError, match=message):
        BooleanMatrix.from_array(X)


def test_big_input_is_read_in_pieces(monkeypatch):
    monkeypatch.setattr("elbmf.matrix.boolean_matrix._CELLS_AT_ONCE", 64)
    A = np.random.default_rng(0).random((37, 29)) < 0.3
    for make in (np.asarray, sparse.csr_array):
        np.testing.assert_array_equal(BooleanMatrix.from_array(make(A)).to_csr().toarray(), A)
    for axis in (0, 1):
        assert BooleanMatrix.from_array(A).lines(axis)[0][-1] == A.sum()
    bad = A.astype(float)
    bad[30, 7] = 9
    with pytest.raises(InputError, match="9 at row 30, column 7"):
        BooleanMatrix.from_array(bad)
    with pytest.raises(InputError, match="9 at row 30, column 7"):
        BooleanMatrix.from_array(sparse.csr_array(bad))


# --- missing cells ---


def assert_reads(read, A, mask):
    np.testing.assert_array_equal(read.to_csr().toarray(), A & ~mask)
    missing = np.zeros_like(mask) if read.missing is None else read.missing.to_csr().toarray()
    np.testing.assert_array_equal(missing, mask)
    assert (read.missing is None) == (not mask.any())
    assert read.known == np.sum(~mask)
    assert read.density == pytest.approx(A[~mask].mean() if read.known else 0)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("binarize", [None, 0.5])
@given(case=masked_arrays(), seed=st.integers(0, 99))
def test_missing_cells_come_from_nan_and_from_masks(make, binarize, case, seed):
    A, mask = case
    with_nan = np.where(mask, np.nan, A)
    assert_reads(BooleanMatrix.from_array(make(with_nan), binarize), A, mask)
    # Under the mask anything goes, also what is no 0/1 and what is no number.
    generator = np.random.default_rng(seed)
    junk = np.where(mask, generator.choice([0, 1, 7, -2.5, np.inf, np.nan], A.shape), A)
    for form in (np.asarray, sparse.csr_array, BooleanMatrix.from_array):
        read = BooleanMatrix.from_array(make(junk), binarize, missing=form(mask))
        assert_reads(read, A, mask)
    # Both at once.
    some = mask & (generator.random(A.shape) < 0.5)
    read = BooleanMatrix.from_array(make(np.where(some, np.nan, A)), binarize, missing=mask)
    assert_reads(read, A, mask)
    # A matrix that was read before gets more missing cells.
    before = BooleanMatrix.from_array(make(np.where(some, np.nan, A)), binarize)
    assert_reads(BooleanMatrix.from_array(before, missing=mask), A, mask)


@given(case=masked_arrays())
def test_masked_entries_are_missing(case):
    A, mask = case
    for X in (A, A.astype(int) + 6 * mask):
        masked = np.ma.masked_array(X, mask=mask)
        assert_reads(BooleanMatrix.from_array(masked), A, mask)
        assert_reads(BooleanMatrix.from_array(masked, missing=~mask), A & mask, np.ones_like(mask))


def test_missing_cells_in_pieces(monkeypatch):
    monkeypatch.setattr("elbmf.matrix.boolean_matrix._CELLS_AT_ONCE", 64)
    generator = np.random.default_rng(0)
    A, mask = generator.random((2, 37, 29)) < 0.3
    for make in (np.asarray, sparse.csr_array):
        assert_reads(BooleanMatrix.from_array(make(np.where(mask, np.nan, A))), A, mask)
        assert_reads(BooleanMatrix.from_array(make(9.0 * A), 1, missing=make(mask)), A, mask)


def test_values_beside_the_mask_are_still_looked_at():
    A, mask = np.zeros((3, 4)), np.zeros((3, 4))
    A[1, 2], A[2, 1], mask[2, 1] = 5, 5, 1
    for make in (np.asarray, sparse.csr_array):
        with pytest.raises(InputError, match=r"got 5 at row 1, column 2\. Set binarize"):
            BooleanMatrix.from_array(make(A), missing=make(mask))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, BooleanMatrix.from_array])
@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (np.ones((3, 2)), "missing must have the shape of the matrix, 2×3; got 3×2"),
        (np.full((2, 3), 0.5), "missing must be a 0/1 mask; got 0.5 at row 0.* Pass 1 or True"),
        (np.full((2, 3), -1), "missing must be a 0/1 mask; got -1 at row 0.* Pass 1 or True"),
        (np.full((2, 3), np.inf), "missing must be a 0/1 mask; got inf at row 0.* Pass 1 or True"),
        (np.full((2, 3), np.nan), "missing must be a 0/1 mask; got NaN .* Pass 1 or True"),
        ([1, 0, 1], r"missing must be a 0/1 mask: .*1 dimension"),
    ],
)
def test_what_is_no_mask_is_refused(make, missing, message):
    with pytest.raises(InputError, match=message) as caught:
        BooleanMatrix.from_array(make(np.eye(2, 3)), missing=missing)
    assert "binarize" not in str(caught.value)
    if np.shape(missing) == (3, 2):
        A = BooleanMatrix.from_array(np.eye(2, 3))
        with pytest.raises(InputError, match=message):
            BooleanMatrix(A.shape, A.indptr, A.indices, BooleanMatrix.from_array(missing))


def test_missing_cells_are_told_in_the_summary():
    A = BooleanMatrix.from_array([[1, np.nan], [0, 0]])
    assert repr(A) == "<BooleanMatrix 2×2, 1 ones, 1 missing, density 0.3333>"
    assert repr(BooleanMatrix.from_array(np.eye(2))) == "<BooleanMatrix 2×2, 2 ones, density 0.5>"
