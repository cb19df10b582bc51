"""Streams of rows: the sample, the votes, and ELBMF on rows that come in pieces."""

import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from elbmf.boolean.coverage import Weights
from elbmf.boolean.product import pack
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.estimators import ELBMF, Sofa
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search import online as streaming
from elbmf.search.kernels.votes import count_votes
from elbmf.search.local import LocalSearch, describe
from elbmf.search.online import RowSample, pay_elsewhere
from elbmf.utils.tuning import TUNING
from strategies import boolean_arrays, examples, masked_arrays

pytestmark = pytest.mark.filterwarnings("ignore:n_components:UserWarning")

TILES = make_tiles((1500, 60), 4, height=(300, 500), width=(8, 15), noise=0.01, random_state=2)


incomplete_arrays = masked_arrays().map(lambda pair: np.where(pair[1], np.nan, pair[0]))


def batches(X, size):
    return [X[start : start + size] for start in range(0, X.shape[0], size)]


def streamed(X, k, size, **parameters):
    model = ELBMF(k, random_state=0, **parameters)
    for batch in batches(X, size):
        model.partial_fit(batch)
    return model


# --- the sample ---


@given(values=incomplete_arrays, size=st.integers(1, 6), seed=st.integers(0, 9))
@examples(50)
def test_a_sample_with_room_has_all_rows_as_they_came(values, size, seed):
    sample = RowSample(values.shape[1], np.random.default_rng(seed))
    for batch in batches(values, size):
        assert sample.add(BooleanMatrix.from_array(batch)) == batch.shape[0]
    whole = BooleanMatrix.from_array(values)
    assert sample.is_whole
    assert (sample.rows.to_csr() != whole.to_csr()).nnz == 0
    for missing in (sample.rows, whole):
        missing = missing.missing
        cells = np.zeros(values.shape) if missing is None else missing.to_csr().toarray()
        np.testing.assert_array_equal(cells, np.isnan(values))


@given(rows=st.integers(1, 60), size=st.integers(1, 20), most=st.integers(1, 10))
@examples(50)
def test_a_sample_does_not_depend_on_how_the_rows_are_cut(rows, size, most):
    ids = np.arange(1, rows + 1)
    X = (ids[:, None] >> np.arange(6)) & 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "TUNING", replace(TUNING, rows_of_sample=most))
        samples = []
        for each in (size, rows):
            sample = RowSample(6, np.random.default_rng(3))
            for batch in batches(X, each):
                sample.add(BooleanMatrix.from_array(batch))
            samples.append(sample.rows.to_csr().toarray())
    assert samples[0].shape[0] == min(rows, most)
    np.testing.assert_array_equal(*samples)


def test_each_row_is_as_likely_to_be_in_a_sample(monkeypatch):
    monkeypatch.setattr(streaming, "TUNING", replace(TUNING, rows_of_sample=5))
    counts = np.zeros(20)
    for seed in range(200):
        sample = RowSample(20, np.random.default_rng(seed))
        for batch in batches(np.eye(20, dtype=bool), 3):
            sample.add(BooleanMatrix.from_array(batch))
        counts[sample.rows.indices] += 1
    assert counts.sum() == 1000
    assert counts.min() > 25
    assert counts.max() < 80


def test_a_sample_has_no_more_cells_than_room(monkeypatch):
    monkeypatch.setattr(streaming, "TUNING", replace(TUNING, cells_of_sample=50))
    sample = RowSample(20, np.random.default_rng(0))
    for _ in range(30):
        sample.add(BooleanMatrix.from_array(np.ones((2, 20), dtype=bool)))
        assert sample.rows.ones <= 50
    assert sample.rows.shape[0] == 2
    assert sample.n_seen == 60


# --- votes ---


@given(values=incomplete_arrays, k=st.integers(1, 70), seed=st.integers(0, 99))
@examples(60)
def test_votes_are_counted_as_said(values, k, seed):
    A = BooleanMatrix.from_array(values)
    n, m = A.shape
    generator = np.random.default_rng(seed)
    U, V = generator.random((n, k)) < 0.4, generator.random((k, m)) < 0.4
    ones, zeros = np.zeros((2, k, m), dtype=np.int64)
    count_votes(LocalSearch(A).lines[0], pack(U), pack(V), ones, zeros)
    cells = A.to_csr().toarray()
    missing = np.zeros((n, m), dtype=bool) if A.missing is None else A.missing.to_csr().toarray()
    for l in range(k):
        others = np.delete(np.arange(k), l)
        covered = (U[:, others].astype(int) @ V[others].astype(int)) > 0
        voting = U[:, l, None] & V[l] & ~covered & ~missing
        np.testing.assert_array_equal(ones[l], (voting & cells).sum(axis=0))
        np.testing.assert_array_equal(zeros[l], (voting & ~cells).sum(axis=0))


@given(values=boolean_arrays(), k=st.integers(1, 5), seed=st.integers(0, 99))
@examples(60)
def test_what_pays_elsewhere_is_told_by_leaving_out_each_row(values, k, seed):
    values = np.unique(values, axis=0)
    A = BooleanMatrix.from_array(values)
    n, m = A.shape
    generator = np.random.default_rng(seed)
    U, V = generator.random((n, k)) < 0.5, generator.random((k, m)) < 0.5
    weights = Weights(2, 3)
    worth = np.zeros(k, dtype=int)
    for l in range(k):
        others = np.delete(np.arange(k), l)
        covered = (U[:, others].astype(int) @ V[others].astype(int)) > 0
        votes = np.where(values, 2, -3) * (U[:, l, None] & V[l] & ~covered)
        for i in range(n):
            worth[l] += votes[i][np.delete(votes, i, axis=0).sum(axis=0) > 0].sum()
    np.testing.assert_array_equal(pay_elsewhere(A, U, V, weights), worth > 0)


def test_a_row_alone_does_not_pay_elsewhere_but_many_copies_do():
    row = np.arange(10) < 6
    U, V = np.ones((5, 1), dtype=bool), row[None]
    assert pay_elsewhere(BooleanMatrix.from_array(np.tile(row, (5, 1))), U, V) == [True]
    assert pay_elsewhere(BooleanMatrix.from_array(np.tile(row, (2, 1))), U[:2], V) == [False]


# --- ELBMF ---


def test_tiles_are_found_exactly_in_one_pass():
    model = streamed(TILES.A, 4, 256)
    assert {tuple(row) for row in model.components_} == {tuple(row) for row in TILES.V}
    assert model.n_rows_seen_ == 1500
    assert model.n_batches_ == 6
    assert model.n_components_ == 4


def test_tiles_are_found_in_a_stream_longer_than_the_sample(monkeypatch):
    monkeypatch.setattr(streaming, "TUNING", replace(TUNING, rows_of_sample=300))
    model = streamed(TILES.A, 4, 128)
    assert model._stream.sample.rows.shape[0] == 300
    assert {tuple(row) for row in model.components_} == {tuple(row) for row in TILES.V}


def test_threads_change_nothing_and_seeds_decide():
    X = TILES.A[:200]
    first, second = (streamed(X, 3, 100, max_iter=50, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(first.components_, second.components_)


def test_memory_does_not_grow_with_the_rows(monkeypatch):
    monkeypatch.setattr(streaming, "TUNING", replace(TUNING, rows_of_sample=60))
    peaks = []
    for repeats in (1, 1, 4):
        model = ELBMF(2, random_state=0, max_iter=5, effort=0, n_jobs=1)
        tracemalloc.start()
        for batch in batches(TILES.A[:180], 60) * repeats:
            model.partial_fit(batch)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[1]
    assert model._stream.sample.rows.shape[0] == 60


@given(values=incomplete_arrays, size=st.integers(1, 5), k=st.integers(1, 6))
@examples(10)
def test_any_rows_in_any_pieces_leave_a_model(values, size, k):
    model = ELBMF(k, random_state=0, max_iter=10, effort=0, n_jobs=1, extra_weight=2)
    for batch in batches(values, size):
        model.partial_fit(batch)
        assert model.components_.shape == (k, values.shape[1])
        assert model.transform(values).shape == (values.shape[0], k)
    assert model.n_rows_seen_ == values.shape[0]
    assert model.score(values) >= 0


def test_rows_of_zeros_alone_have_no_components():
    model = ELBMF(2).partial_fit(np.zeros((3, 4)))
    assert not model.components_.any()
    assert model.n_components_ == 0
    model.partial_fit([[1, 1, 0, 0]])
    assert model.score([[1, 1, 0, 0]]) == 1


def test_a_number_binarizes_each_batch():
    X = np.array([[0.2, 3.0, 4.0], [0.1, 2.0, 2.5], [0.9, 0.0, 0.3]])
    model = ELBMF(1, binarize=1.0, random_state=0).partial_fit(X[:2]).partial_fit(X[2:])
    np.testing.assert_array_equal(model.components_, [[False, True, True]])


def test_partial_fit_goes_on_from_a_fit_and_a_fit_starts_anew():
    model = ELBMF(4, random_state=0, effort=0).fit(TILES.A[:1000])
    found = model.components_.copy()
    model.partial_fit(TILES.A[1000:1032])
    assert model.n_rows_seen_ == 1032
    assert {tuple(row) for row in model.components_} == {tuple(row) for row in found}
    for attribute in ("membership_", "reconstruction_err_", "bits_saved_", "history_"):
        assert not hasattr(model, attribute)
    model.fit(TILES.A[:40])
    assert model.membership_.shape == (40, 4)
    assert not hasattr(model, "n_rows_seen_")
    assert model.partial_fit(TILES.A[:10]).n_rows_seen_ == 50


def test_more_components_may_be_asked_for_on_the_way():
    model = streamed(TILES.A[:200], 2, 100)
    model.set_params(n_components=5).partial_fit(TILES.A[200:210])
    assert model.components_.shape == (5, 60)


def test_a_stream_survives_pickling():
    model = streamed(TILES.A[:300], 3, 100)
    copy = pickle.loads(pickle.dumps(model))
    rest = TILES.A[300:400]
    np.testing.assert_array_equal(
        model.partial_fit(rest).components_, copy.partial_fit(rest).components_
    )


@pytest.mark.parametrize("method", [ELBMF, Sofa])
def test_rows_may_become_longer(method):
    short, long = np.tile([1, 1, 0], (6, 1)), np.tile([0, 0, 0, 1, 1], (6, 1))
    model = method(2).partial_fit(short).widen(5).partial_fit(long)
    assert model.n_features_in_ == 5
    assert model.score(np.vstack([long, np.pad(short, ((0, 0), (0, 2)))])) == 1
    with pytest.raises(InputError, match="no less than before, 5; got 3"):
        model.widen(3)


@pytest.mark.parametrize("method", [ELBMF, Sofa])
def test_what_a_stream_cannot_have_is_said(method):
    with pytest.raises(InputError, match="partial_fit cannot choose the number"):
        method("auto").partial_fit([[1, 0]])
    model = method(1).partial_fit(np.eye(3))
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(np.eye(4))


def test_factors_of_your_own_are_no_start_of_a_stream():
    model = ELBMF(1, init=(np.ones((2, 1)), np.ones((1, 2))))
    with pytest.raises(InputError, match="partial_fit cannot start from your own factors"):
        model.partial_fit(np.eye(2))


def test_sparse_rows_that_have_nothing_in_common_give_no_row_as_component(monkeypatch):
    """Components of a sample are to serve the rows that were not in it."""
    monkeypatch.setattr(streaming, "TUNING", replace(TUNING, rows_of_sample=100))
    generator = np.random.default_rng(0)
    X = sparse.csr_array(generator.random((600, 200)) < 0.05 * (1 + (np.arange(200) < 3) * 5))
    model = streamed(X, 3, 100, n_jobs=1)
    used = describe(X, model.components_).sum(axis=0)
    assert (used > 20).all()
