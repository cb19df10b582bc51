"""Binarizers: against definitions on dense arrays, with missing values, as words, in estimators."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from elbmf import ELBMF, Sofa
from elbmf.binarizers import (
    BINARIZERS,
    NonzeroBinarizer,
    QuantileBinarizer,
    ThresholdBinarizer,
    ZScoreBinarizer,
    binarizer_of,
    word_of,
)
from elbmf.comparison import Comparison
from elbmf.errors import InputError
from elbmf.estimators.rank_search import RankSearch
from elbmf.paper.sources.published import high_values
from entrants import BINARIZING, SCOPES
from strategies import rounding

FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


@st.composite
def numbers(draw, missing=True):
    """Arrays with many zeros, few or many negative values, ties and, if so asked, NaN."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    X = generator.normal(draw(st.sampled_from([-2.0, 0.0, 2.0])), 1, shape)
    if draw(st.booleans()):
        X = np.round(X)
    X[generator.random(shape) < draw(st.sampled_from([0.0, 0.1, 0.6, 1.0]))] = 0
    if missing:
        X[generator.random(shape) < draw(st.sampled_from([0.0, 0.2, 1.0]))] = np.nan
    return X


def by_line(X, scope, high):
    """Apply a function of one line to all."""
    if scope == "all":
        return high(X.ravel()).reshape(X.shape)
    return np.apply_along_axis(high, 0 if scope == "columns" else 1, X)


def high_zscores(values, cutoff):
    known = values[~np.isnan(values)]
    if not known.size or known.min() == known.max():
        return np.zeros(values.shape, dtype=bool)
    return (values - known.mean()) / known.std() > cutoff


def high_quantile(values, share):
    known = values[~np.isnan(values)]
    if not known.size:
        return np.zeros(values.shape, dtype=bool)
    return values > np.quantile(known, 1 - share)


def assert_reads(found, ones, X):
    """Compare with ones and, as NaN, the missing entries of the data."""
    dense = found.toarray() if sparse.issparse(found) else found
    assert dense.dtype == (np.float64 if np.isnan(X).any() else np.bool_)
    np.testing.assert_array_equal(dense, np.where(np.isnan(X), np.nan, ones))


def stored(X, format):
    """Make a sparse matrix; NaN are stored."""
    return sparse.csr_array(X).asformat(format)


@pytest.mark.parametrize("scope", SCOPES)
@given(numbers(), st.sampled_from(FORMATS), st.sampled_from([0.517, 1.23]))
def test_zscores(scope, X, format, cutoff):
    ones = by_line(X, scope, lambda values: high_zscores(values, cutoff))
    assert_reads(ZScoreBinarizer(cutoff, scope).fit_transform(X), ones, X)
    assert_reads(ZScoreBinarizer(cutoff, scope).fit_transform(stored(X, format)), ones, X)


@pytest.mark.parametrize("scope", SCOPES)
@given(numbers(), st.sampled_from(FORMATS), st.sampled_from([0.05, 0.317, 0.5]))
def test_upper_quantiles(scope, X, format, share):
    found = QuantileBinarizer(share, scope).fit_transform(X)
    ones = np.nan_to_num(found) > 0
    assert_reads(found, ones, X)
    assert_reads(QuantileBinarizer(share, scope).fit_transform(stored(X, format)), ones, X)
    # numpy interpolates between neighbours by another formula, so only equal up to rounding.
    different = ones != by_line(X, scope, lambda values: high_quantile(values, share))
    if different.any():
        limit = {"columns": 0, "rows": 1, "all": None}[scope]
        quantiles = np.nanquantile(X, 1 - share, axis=limit, keepdims=True)
        limits = np.broadcast_to(quantiles, X.shape)
        tolerance = rounding(np.nanmax(np.abs(X)))
        np.testing.assert_allclose(X[different], limits[different], rtol=0, atol=tolerance)


@given(numbers(), st.sampled_from(FORMATS), st.sampled_from([0.0, 0.5, 2.0]))
def test_thresholds_and_nonzeros(X, format, threshold):
    for binarizer, ones in (
        (ThresholdBinarizer(threshold), threshold < X),
        (NonzeroBinarizer(), X != 0),
    ):
        assert_reads(binarizer.fit_transform(X), ones, X)
        assert_reads(binarizer.transform(stored(X, format)), ones, X)


@given(numbers(missing=False))
def test_rows_are_read_as_the_plain_functions_do(X):
    rows = ZScoreBinarizer(scope="rows").transform(X)
    np.testing.assert_array_equal(rows, high_values(X, 1.645, None))
    difference = QuantileBinarizer(scope="rows").transform(X) != high_values(X, 1.645, 0.05)
    limits = np.broadcast_to(np.quantile(X, 0.95, axis=1, keepdims=True), X.shape)
    tolerance = rounding(np.abs(X).max(initial=0))
    np.testing.assert_allclose(X[difference], limits[difference], rtol=0, atol=tolerance)


@given(numbers(), numbers())
def test_new_rows_are_read_by_what_was_learned_and_rows_by_themselves(X, other):
    width = min(X.shape[1], other.shape[1])
    X, other = X[:, :width], other[:, :width]
    for make in (ZScoreBinarizer, QuantileBinarizer):
        for scope in ("columns", "all"):
            binarizer = make(scope=scope).fit(X)
            assert_reads(binarizer.transform(other), other > binarizer.limits_, other)
            learned = make(scope=scope).with_limits(binarizer.limits_.tolist(), width)
            ones = np.nan_to_num(binarizer.transform(stored(other, "csr")).toarray()) > 0
            assert_reads(learned.transform(other), ones, other)
        alone = [make(scope="rows").transform(row[None]).tolist()[0] for row in other]
        together = make(scope="rows").fit(X).transform(other)
        np.testing.assert_array_equal(together, np.array(alone))


def test_large_sparse_input_stays_sparse():
    X = sparse.random_array((20_000, 30_000), density=1e-5, rng=0, format="csr")
    for binarizer in (*BINARIZING, ZScoreBinarizer(), QuantileBinarizer()):
        ones = clone(binarizer).fit_transform(X)
        assert isinstance(ones, sparse.csr_array)
        assert ones.dtype == np.bool_
        assert ones.nnz <= X.nnz


def test_pieces_make_no_difference(monkeypatch):
    X = sparse.random_array((40, 30), density=0.4, rng=1)
    expected = [clone(each).fit_transform(X).toarray() for each in BINARIZING]
    monkeypatch.setattr("elbmf.binarizers.line_statistics._ENTRIES_AT_ONCE", 7)
    for each, ones in zip(BINARIZING, expected, strict=True):
        np.testing.assert_array_equal(clone(each).fit_transform(X).toarray(), ones)
        np.testing.assert_array_equal(clone(each).fit_transform(X.toarray()), ones)


def test_the_callers_matrix_stays_as_it_is():
    X = sparse.coo_array((np.array([100, 100], dtype=np.int8), ([0, 0], [1, 1])), shape=(2, 3))
    assert ThresholdBinarizer(150).transform(X).nnz == 1
    assert X.nnz == 2
    csr = sparse.csr_array((np.ones(3), [2, 0, 0], [0, 3, 3]), shape=(2, 3))
    assert ThresholdBinarizer(1.5).transform(csr).toarray().tolist() == [[1, 0, 0], [0, 0, 0]]
    assert csr.indices.tolist() == [2, 0, 0]


def test_names_frames_and_pipelines():
    frame = pd.DataFrame({"a": [1.0, 2, 9], "b": [0.0, np.nan, 1]})
    binarizer = ZScoreBinarizer(1).set_output(transform="pandas").fit(frame)
    assert binarizer.get_feature_names_out().tolist() == ["a", "b"]
    ones = binarizer.transform(frame)
    assert ones["a"].tolist() == [0, 0, 1]
    assert ones["b"].isna().tolist() == [False, True, False]
    model = make_pipeline(ZScoreBinarizer(0.5), Sofa(1)).fit(frame)
    assert model.transform(frame).shape == (3, 1)
    nullable = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")})
    assert np.isnan(NonzeroBinarizer().fit_transform(nullable)).ravel().tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("binarizer", "message"),
    [
        (ThresholdBinarizer(np.nan), "'threshold' parameter"),
        (ZScoreBinarizer(np.inf), "'cutoff' parameter"),
        (ZScoreBinarizer(scope="genes"), "'scope' parameter.*columns"),
        (QuantileBinarizer(0), "'share' parameter"),
        (QuantileBinarizer(1.0), "'share' parameter"),
    ],
)
def test_parameters_are_checked(binarizer, message):
    with pytest.raises(ValueError, match=message):
        binarizer.fit(np.eye(3))


def test_a_negative_threshold_is_for_dense_data():
    with pytest.raises(InputError, match="threshold=-1 turns every zero"):
        ThresholdBinarizer(-1).transform(sparse.csr_array(np.eye(2)))
    assert ThresholdBinarizer(-1).transform(np.eye(2)).all()


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (3.5, ThresholdBinarizer(3.5)),
        ("nonzero", NonzeroBinarizer()),
        ("positive", ThresholdBinarizer(0.0)),
        ("zscore", ZScoreBinarizer()),
        ("zscore:2", ZScoreBinarizer(2.0)),
        ("zscore:all", ZScoreBinarizer(scope="all")),
        ("zscore:-1.5:rows", ZScoreBinarizer(-1.5, "rows")),
        ("quantile:0.1:columns", QuantileBinarizer(0.1)),
        (Binarizer(threshold=2), Binarizer(threshold=2)),
    ],
)
def test_words(how, expected):
    assert repr(binarizer_of(how)) == repr(expected)
    assert binarizer_of(how) is not how


@pytest.mark.parametrize(
    "how",
    [
        "",
        "large",
        "Zscore",
        "nonzero:1",
        "positive:all",
        "zscore:",
        "zscore:x",
        "zscore:1:genes",
        "zscore:all:1",
        "zscore:1:2",
        "zscore:all:rows",
        "zscore:1:all:all",
        [1],
        object(),
    ],
)
def test_other_words_are_refused_with_those_that_are_known(how):
    with pytest.raises(InputError, match="binarize must be a number or one of") as caught:
        binarizer_of(how)
    assert all(word in str(caught.value) for word in [*BINARIZERS, *SCOPES, "CUTOFF", "SHARE"])


def test_options_of_words_are_checked():
    with pytest.raises(InputError, match=r"binarize='quantile:2'.*'share' parameter"):
        binarizer_of("quantile:2")


COUNTS = np.random.default_rng(0).poisson(1.5, (30, 12)).astype(float)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "how", ["nonzero", "zscore:1", "quantile:0.2:rows", Binarizer(threshold=2)]
)
def test_estimators_binarize_by_words_and_transformers(how, make):
    binarizer = binarizer_of(how).fit(make(COUNTS))
    ones = binarizer.transform(make(COUNTS))
    expected = Sofa(3).fit((ones != 0).astype(float))
    model = Sofa(3, binarize=how).fit(make(COUNTS))
    np.testing.assert_array_equal(model.components_, expected.components_)
    new = make(COUNTS[:3] * 2)
    described = expected.transform((binarizer.transform(new) != 0).astype(float))
    np.testing.assert_array_equal(model.transform(new), described)
    with sklearn.config_context(transform_output="pandas"):
        again = clone(model).fit(make(COUNTS))
    np.testing.assert_array_equal(again.components_, expected.components_)


def test_masked_entries_teach_binarizers_nothing():
    mask = np.random.default_rng(1).random(COUNTS.shape) < 0.2
    with_nan = np.where(mask, np.nan, COUNTS)
    junk = np.where(mask, 1000, COUNTS)
    limits = ZScoreBinarizer().fit(with_nan).limits_
    for X, missing in (
        (with_nan, None),
        (junk, mask),
        (np.ma.masked_array(junk, mask=mask), None),
        (sparse.csr_array(junk), sparse.csr_array(mask)),
    ):
        model = Sofa(2, binarize="zscore").fit(X, missing=missing)
        np.testing.assert_array_equal(model.binarizer_.limits_, limits)
    with pytest.raises(InputError, match="missing must have the shape"):
        Sofa(2, binarize="zscore").fit(junk, missing=mask[:5])


def test_estimators_refuse_other_words():
    with pytest.raises(ValueError, match=r"'binarize' parameter of ELBMF.*zscore\[:CUTOFF\]"):
        ELBMF(2, binarize="much").fit(COUNTS)


@pytest.mark.slow
def test_searches_and_comparisons_binarize_by_words():
    ones = ZScoreBinarizer(1).fit_transform(COUNTS)
    search = RankSearch(Sofa(binarize="zscore:1"), max_components=2).fit(COUNTS)
    assert search.best_estimator_.binarizer_.cutoff == 1
    comparison = Comparison(COUNTS, 2, methods=["sofa"], binarize="zscore:1", truth=ones)
    (result,) = comparison
    assert result.loss == Sofa(2).fit(ones).reconstruction_err_
    assert result.recall_star is not None


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize(
    "word", ["zscore:0.5", "zscore:0.5:rows", "quantile:0.3", "quantile:0.3:all", "1.2", "positive"]
)
def test_log1p_is_what_comes_first(word, form):
    X = np.random.default_rng(0).poisson(2, (12, 7)).astype(float)
    X[2, 3] = np.nan
    plain, logged = binarizer_of(word if word[0].isalpha() else float(word)), f"log1p:{word}"
    expected = plain.fit_transform(np.log1p(X))
    binarizer = binarizer_of(logged)
    found = binarizer.fit_transform(form(X))
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, expected)
    # What stands for it in a file makes the same again.
    again = binarizer_of(word_of(binarizer))
    assert repr(again) == repr(binarizer)
    assert X[0, 0] == np.random.default_rng(0).poisson(2, (12, 7))[0, 0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_log1p_is_for_values_from_0_on(form):
    X = form(np.array([[1.0, 0.0], [2.0, -0.5]]))
    with pytest.raises(InputError, match=r"from 0 on; got -0\.5 at row 1, column 1"):
        binarizer_of("log1p:zscore").fit(X)
    frame = pd.DataFrame(X.toarray() if sparse.issparse(X) else X, ["r", "s"], ["a", "b"])
    with pytest.raises(InputError, match=r"-0\.5 at row 's', column 'b'"):
        ELBMF(1, binarize="log1p:zscore").fit(frame)


@pytest.mark.parametrize("word", ["log1p", "log1p:", "log1p:log1p:zscore", "log1p:zscores"])
def test_words_after_log1p_are_checked(word):
    with pytest.raises(InputError, match="binarize"):
        binarizer_of(word)
