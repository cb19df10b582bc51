"""The input type: what it reads, and what it says of what it does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from elbmf.errors import InputError
from elbmf.matrix import BooleanMatrix
from strategies import boolean_arrays

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
        (np.nan, "contains NaN: nan at row 1, column 2.*fill"),
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
    with pytest.raises(InputError, match="NaN"):
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
    monkeypatch.setattr("elbmf.matrix._CELLS_AT_ONCE", 64)
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
