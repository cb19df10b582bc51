"""The contract of every method: what goes in, what comes out, what is refused."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from elbmf.boolean.coverage import cover
from elbmf.boolean.product import boolean_product
from elbmf.datasets import make_tiles
from elbmf.errors import InputError, NothingToLearnWarning
from elbmf.estimators import METHODS, Binaps, GreConD
from elbmf.estimators import method as method_of
from entrants import quickly
from strategies import boolean_arrays, examples

TILES = make_tiles((40, 30), 3, height=(5, 10), noise=0.02, random_state=0)
A = TILES.A.toarray().astype(int)

# Not every method finds tiles under noise, nor such as share many columns; these, all do.
CLEAN = make_tiles((40, 30), 3, height=(5, 10), random_state=1)

# Except for those that mix up tiles with common columns, and do not see a row with one one.
APPROXIMATE = {Binaps}


@pytest.fixture(params=map(method_of, METHODS), ids=METHODS)
def method(request):
    return request.param


@pytest.fixture
def quick(method):
    return quickly(method)


def test_finds_planted_tiles(method):
    model = method(3, random_state=0)
    X = CLEAN.A.toarray().astype(int)
    U = model.fit_transform(X)
    assert U.dtype == model.components_.dtype == np.bool_
    assert U.shape == (40, 3)
    assert model.components_.shape == (3, 30)
    np.testing.assert_array_equal(U, model.membership_)
    assert model.reconstruction_err_ == cover(X, U, model.components_).loss
    if method in APPROXIMATE:
        assert model.reconstruction_err_ < 0.3 * X.sum()
    else:
        assert model.reconstruction_err_ == 0
        np.testing.assert_array_equal(model.inverse_transform(U).toarray(), CLEAN.truth.toarray())
    assert model.n_features_in_ == 30
    assert list(model.get_feature_names_out()) == [
        f"{method.__name__.lower()}{i}" for i in range(3)
    ]


def test_round_trip_through_transform_and_back(method):
    model = method(3, random_state=0).fit(A)
    U = model.transform(A)
    B = model.inverse_transform(U)
    assert sparse.issparse(B)
    assert B.dtype == np.bool_
    np.testing.assert_array_equal(B.toarray(), boolean_product(U, model.components_).toarray())
    loss = np.sum(B.toarray() != A)
    assert model.score(A) == pytest.approx(1 - loss / A.sum())
    assert loss <= model.reconstruction_err_
    if method not in APPROXIMATE:
        unseen = CLEAN.truth.toarray()[::3]
        model.fit(CLEAN.A)
        np.testing.assert_array_equal(
            model.inverse_transform(model.transform(unseen)).toarray(), unseen
        )


INPUTS = {
    "bool": A.astype(bool),
    "int8": A.astype(np.int8),
    "uint64": A.astype(np.uint64),
    "float16": A.astype(np.float16),
    "float64": A.astype(float),
    "fortran": np.asfortranarray(A),
    "strided": np.repeat(A, 2, axis=1)[:, ::2],
    "read-only": np.frombuffer(A.astype(np.uint8).tobytes(), np.uint8).reshape(A.shape),
    "lists": A.tolist(),
    "object": A.astype(object),
    **{
        f"{form}_array": sparse.coo_array(A).asformat(form)
        for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
    },
    "csr_matrix": sparse.csr_matrix(A.astype(float)),
    "int64 indices": sparse.csr_array(
        (
            np.ones(A.sum()),
            np.nonzero(A)[1].astype(np.int64),
            np.concatenate([[0], A.sum(1).cumsum()]).astype(np.int64),
        ),
        shape=A.shape,
    ),
    "pandas": pd.DataFrame(A),
    "pandas bool": pd.DataFrame(A.astype(bool)),
    "pandas sparse": pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(A)),
}


@pytest.mark.parametrize("kind", [*INPUTS, pytest.param("polars", marks=pytest.mark.formats)])
def test_any_container_gives_the_same_bits(quick, kind):
    if kind == "polars":
        X = pytest.importorskip("polars").DataFrame(A, schema=[f"c{j}" for j in range(30)])
    else:
        X = INPUTS[kind]
    expected = quick(3, random_state=0).fit(INPUTS["bool"])
    model = quick(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.components_, expected.components_)
    np.testing.assert_array_equal(model.membership_, expected.membership_)
    np.testing.assert_array_equal(model.transform(X), expected.transform(A))


@given(
    X=boolean_arrays(rows=st.integers(1, 25), columns=st.integers(1, 25)),
    k=st.integers(1, 30),
    seed=st.integers(0, 5),
)
@examples(25)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore:n_components:UserWarning")
def test_any_matrix_and_rank(name, X, k, seed):
    quick = quickly(method_of(name))
    model = quick(k, random_state=seed)
    U = model.fit_transform(X)
    again = quick(k, random_state=seed, n_jobs=2)
    np.testing.assert_array_equal(again.fit_transform(sparse.csc_array(X)), U)
    np.testing.assert_array_equal(again.components_, model.components_)
    assert model.reconstruction_err_ <= X.sum()  # never worse than nothing
    assert model.transform(X).shape == U.shape


def test_seeds(quick):
    same = [quick(3, random_state=7).fit(A).components_ for _ in range(2)]
    np.testing.assert_array_equal(*same)
    state = np.random.RandomState(7)
    quick(3, random_state=state).fit(A)
    assert quick(3).fit(A).components_.shape == (3, 30)  # no seed is fine too


def test_names_travel(quick):
    frame = pd.DataFrame(A, columns=[f"gene{j}" for j in range(30)])
    model = quick(3, random_state=0).set_output(transform="pandas").fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    out = model.transform(frame)
    assert list(out.columns) == list(model.get_feature_names_out())
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match=r"unseen at fit time[\s\S]*other"):
        model.transform(frame.rename(columns={"gene3": "other"}))


def test_works_with_the_tools_of_scikit_learn(method):
    model = method(3, random_state=0)
    assert clone(model).get_params() == model.get_params()
    pipeline = make_pipeline(FunctionTransformer(), method(3, random_state=0))
    assert pipeline.fit_transform(A).shape == (40, 3)
    search = GridSearchCV(method(random_state=0), {"n_components": [1, 3]}, cv=2).fit(A)
    assert search.best_params_ == {"n_components": 3}
    restored = pickle.loads(pickle.dumps(model.fit(A)))
    np.testing.assert_array_equal(restored.transform(A), model.transform(A))


def test_the_callers_matrix_is_left_alone(quick):
    X = sparse.csr_array(A.astype(float))
    before = X.copy()
    quick(3, random_state=0).fit(X)
    for attribute in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, attribute), getattr(before, attribute))


def test_what_is_returned_is_the_callers_own(quick):
    model = quick(3, random_state=0)
    U = model.fit_transform(A)
    U[:] = False
    assert model.membership_.any()


def test_all_cores_may_be_asked_for_as_elsewhere(quick):
    expected = quick(3, random_state=0).fit(A)
    model = quick(3, n_jobs=-1, random_state=0).fit(A)
    np.testing.assert_array_equal(model.components_, expected.components_)
    assert model.score(A) == expected.score(A)


# --- missing entries ---

MASK = np.random.default_rng(5).random(A.shape) < 0.1
MASK[7], MASK[:, 11] = True, True  # a row and a column of which nothing is known
WITH_NAN = np.where(MASK, np.nan, A)

MISSING = {
    "NaN": (WITH_NAN, None),
    "stored NaN": (sparse.csr_array(WITH_NAN), None),
    "mask": (np.where(MASK, 7, A), MASK),
    "sparse mask": (sparse.csc_array(A), sparse.csr_array(MASK)),
    "mask as a frame": (A, pd.DataFrame(MASK)),
    "masked array": (np.ma.masked_array(np.where(MASK, -1, A), mask=MASK), None),
    "None": (np.where(MASK, None, A), None),
    "nullable integers": (pd.DataFrame(np.where(MASK, None, A)).astype("Int64"), None),
    "nullable Booleans": (pd.DataFrame(np.where(MASK, None, A == 1)).astype("boolean"), None),
    "both": (np.where(MASK & (np.arange(30) < 15), np.nan, A), MASK & (np.arange(30) >= 15)),
}


@pytest.mark.parametrize("kind", MISSING)
def test_missing_entries_of_any_kind_give_the_same_bits(quick, kind):
    expected = quick(3, random_state=0).fit(WITH_NAN)
    X, missing = MISSING[kind]
    model = quick(3, random_state=0).fit(X, missing=missing)
    np.testing.assert_array_equal(model.components_, expected.components_)
    np.testing.assert_array_equal(model.membership_, expected.membership_)
    again = quick(3, random_state=0)
    np.testing.assert_array_equal(again.fit_transform(X, missing=missing), model.membership_)
    np.testing.assert_array_equal(model.transform(X, missing), expected.transform(WITH_NAN))
    assert model.score(X, missing=missing) == expected.score(WITH_NAN)


def test_missing_entries_count_for_nothing(quick):
    model = quick(3, random_state=0).fit(WITH_NAN)
    B = boolean_product(model.membership_, model.components_).toarray()
    assert model.reconstruction_err_ == np.sum((A != B) & ~MASK)
    U = model.transform(WITH_NAN)
    loss = np.sum((boolean_product(U, model.components_).toarray() != A) & ~MASK)
    assert model.score(WITH_NAN) == pytest.approx(1 - loss / np.sum((A == 1) & ~MASK))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_a_matrix_of_which_nothing_is_known(quick, make):
    model = quick(2, random_state=0).fit(make(np.full((6, 5), np.nan)))
    assert model.reconstruction_err_ == 0
    assert not model.inverse_transform(model.transform(make(np.full((6, 5), np.nan)))).nnz


def test_a_mask_of_another_shape(method, quick):
    with pytest.raises(InputError, match=f"{method.__name__}: missing must have the shape of the"):
        quick(3).fit(A, missing=MASK.T)


# --- bad input ---


def with_value(value):
    X = A.astype(float)
    X[3, 4] = value
    return X


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.inf, r"contains infinity: inf at row 3, column 4"),
        (-1, r"-1 at row 3, column 4(.*Leave it out| must be 0, 1 or missing)"),
        (7, r"7 at row 3, column 4(.*Leave it out| must be 0, 1 or missing)"),
    ],
)
def test_values_that_are_not_boolean(method, quick, make, value, message):
    with pytest.raises(InputError, match=f"{method.__name__}: .*{message}"):
        quick(3).fit(make(with_value(value)))
    if np.isfinite(value):
        X = A.astype(float)
        X[:4] = 2 * value
        with pytest.raises(InputError, match=f"{method.__name__}: .*zeros and ones.*binarize="):
            quick(3).fit(make(X))
    model = quick(3, random_state=0).fit(A)
    with pytest.raises(InputError, match=message):
        model.transform(make(with_value(value)))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (A[0], "Expected 2D array, got 1D array"),
        (A[None], "dim 3"),
        (A.astype(complex), "Complex data not supported"),
        (np.full((3, 3), "yes"), "dtype='numeric' is not compatible"),
        (pd.DataFrame({"a": ["x", "y"]}), "column 'a': the cell is 'x'"),
        ([[1, 0], [1]], "inhomogeneous|setting an array element"),
        (np.empty((0, 4)), "0 sample"),
        (np.empty((4, 0)), "0 feature"),
        (sparse.csr_array((0, 4)), "0 sample"),
        (sparse.csr_array((4, 0)), "0 feature"),
    ],
)
def test_what_is_no_matrix(quick, X, message):
    with pytest.raises(ValueError, match=message):
        quick(3).fit(X)


@pytest.mark.parametrize(
    "X", [np.zeros((6, 5)), np.ones((6, 5)), np.ones((1, 5)), np.ones((6, 1)), np.eye(1, 5)]
)
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.filterwarnings("ignore:n_components:UserWarning")
def test_degenerate_matrices_are_factorized_exactly(method, X, k):
    if method in APPROXIMATE and X.sum(axis=1).max() == 1:
        pytest.skip("a row with one one is not reconstructed")
    model = method(k, random_state=0).fit(X)
    assert model.reconstruction_err_ == 0
    assert model.score(X) == 1


def test_a_boolean_is_no_rank(quick):
    with pytest.raises(InputError, match="n_components must be a number; got True"):
        quick(True).fit(A)


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", None])
def test_rank_must_be_a_positive_integer(method, quick, k):
    if k is None and None in method._parameter_constraints["n_components"]:
        pytest.skip("None stands for as many as are needed")
    with pytest.raises(ValueError, match=r"'n_components' parameter of .* must be an int"):
        quick(k).fit(A)


def test_rank_beyond_the_shape_is_allowed_with_a_warning(quick):
    with pytest.warns(UserWarning, match="n_components=31 is more than the 40×30 matrix"):
        model = quick(31, random_state=0).fit(A)
    assert model.components_.shape == (31, 30)


CALLS = {
    "fit": lambda model: model.fit(A),
    "fit_transform": lambda model: model.fit_transform(A),
    "with set_output": lambda model: model.set_output(transform="pandas").fit_transform(A),
    "in a pipeline": lambda model: make_pipeline(FunctionTransformer(), model).fit(A),
    "in a search": lambda model: GridSearchCV(model, {"n_components": [31]}, cv=2).fit(A),
}


@pytest.mark.parametrize("call", CALLS)
def test_warnings_point_to_the_line_of_the_caller(quick, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[call](quick(31, random_state=0))
    places = {
        (each.filename, each.lineno) for each in caught if "n_components" in str(each.message)
    }
    assert places == {(__file__, CALLS[call].__code__.co_firstlineno)}


@pytest.mark.parametrize("after_a_failed_fit", [False, True])
def test_unfitted_use(quick, after_a_failed_fit):
    model = quick(3)
    if after_a_failed_fit:
        with pytest.raises(InputError):
            model.fit(np.full((4, 30), 2))
    for call in (
        lambda m: m.transform(A),
        lambda m: m.score(A),
        lambda m: m.inverse_transform(np.ones((2, 3))),
        lambda m: m.get_feature_names_out(),
    ):
        with pytest.raises(NotFittedError):
            call(model)


def test_transform_with_another_number_of_columns(quick):
    model = quick(3, random_state=0).fit(A)
    with pytest.raises(ValueError, match=r"X has 29 features, but .* is expecting 30"):
        model.transform(A[:, 1:])
    with pytest.raises(InputError, match="U has 2 components, but V has 3"):
        model.inverse_transform(np.ones((5, 2)))
    with pytest.raises(InputError, match="U must be 0/1"):
        model.inverse_transform(np.full((5, 3), 0.3))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_binarize_thresholds_input(quick, make):
    counts = A * np.random.default_rng(0).integers(2, 9, A.shape)
    model = quick(3, binarize=1.5, random_state=0).fit(make(counts.astype(float)))
    expected = quick(3, random_state=0).fit(A)
    np.testing.assert_array_equal(model.components_, expected.components_)
    np.testing.assert_array_equal(model.transform(make(counts)), expected.transform(A))


def test_the_callback_is_told_how_far_a_fit_is(quick):
    reports = []
    model = quick(3, random_state=0, callback=reports.append).fit(A)
    assert reports
    shares = [report.progress for report in reports if report.stage != "search"]
    assert shares == sorted(shares)
    assert 0 < shares[-1] <= 1
    assert {report.n_components for report in reports} == {3}
    same = quick(3, random_state=0).fit(A)
    np.testing.assert_array_equal(model.components_, same.components_)
    assert reports[-1].loss >= 0


def test_the_callback_can_end_a_fit(quick):
    model = quick(3, random_state=0, callback=lambda report: report.iteration == 1)
    model.fit(A)
    assert model.stop_reason_ == "callback"
    assert model.membership_.shape == (40, 3)
    assert model.components_.shape == (3, 30)
    assert model.reconstruction_err_ == cover(A, model.membership_, model.components_).loss


@pytest.mark.parametrize(
    ("A", "said"),
    [([[1, np.nan], [np.nan, 1]], "No cell is known to be 0"), ([[np.nan]], "nothing to learn")],
)
def test_data_of_which_nothing_can_be_learned_is_warned_of_once(A, said):
    with pytest.warns(NothingToLearnWarning, match=said) as told:
        model = GreConD(1).fit(A)
    assert len(told) == 1
    assert np.isfinite(model.reconstruction_err_)
