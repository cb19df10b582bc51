"""Fits with weights of rows and columns: a row of weight 3 is as good as three such rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import naive
from elbmf import ELBMF, MinimalCover, RankSearch
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.estimators import METHODS, Asso
from elbmf.estimators import method as method_of
from elbmf.estimators.checkpoints import OtherFitError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import DiskMatrix, store
from entrants import quickly
from strategies import examples, few, line_weights, masked_arrays

TILES = make_tiles((30, 20), 3, height=(5, 10), noise=0.05, random_state=0).A.toarray()

pytestmark = pytest.mark.filterwarnings(
    "ignore:n_components:UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)


@st.composite
def weighted_arrays(draw, longest=9):
    """A matrix, a mask of its shape, and whole weights of its rows and columns."""
    lengths = st.integers(1, longest)
    A, missing = draw(masked_arrays(lengths, lengths))
    return A, missing, *(draw(line_weights(length)) for length in A.shape)


def repeated(X, rows, columns):
    return X.repeat(rows, axis=0).repeat(columns, axis=1)


def assert_as_good_as_copies(make, case):
    """The loss is that by the formula, and that of a fit of the table with the lines repeated."""
    A, missing, rows, columns = case
    model = make().fit(A, missing=missing, sample_weight=rows, feature_weight=columns)
    U, V = model.membership_, model.components_
    loss = naive.weighted_loss(A, U, V, rows, columns, missing)
    assert model.reconstruction_err_ == loss
    assert type(model.reconstruction_err_) is int
    assert U.shape == (A.shape[0], model.components_.shape[0])
    assert V.shape[1] == A.shape[1]
    assert not V[:, columns == 0].any()
    copies = make().fit(repeated(A, rows, columns), missing=repeated(missing, rows, columns))
    return loss, copies.reconstruction_err_


@pytest.mark.slow
@given(case=weighted_arrays(), k=few, extra_weight=st.sampled_from([1, 3, np.inf]))
@examples(500)
def test_a_row_of_weight_three_is_the_row_three_times(case, k, extra_weight):
    def make():
        return quickly(ELBMF)(k, extra_weight=extra_weight, random_state=0)

    loss, of_copies = assert_as_good_as_copies(make, case)
    assert loss == of_copies


@pytest.mark.parametrize("name", METHODS)
@given(case=weighted_arrays(), k=few)
@examples(30)
def test_no_method_does_worse_than_with_copies(name, case, k):
    # Some give copies of a row different memberships, the best of which is kept.
    make = quickly(method_of(name))
    loss, of_copies = assert_as_good_as_copies(lambda: make(k, random_state=0), case)
    assert loss <= of_copies


@given(case=weighted_arrays(), max_loss=st.sampled_from([0, 3]))
@examples(60)
def test_the_fewest_components_are_those_of_copies(case, max_loss):
    A, missing, rows, columns = case

    def make():
        return MinimalCover(max_loss=max_loss, effort=0.1, random_state=0)

    loss, _ = assert_as_good_as_copies(make, case)
    assert loss <= max_loss
    model = make().fit(A, missing=missing, sample_weight=rows, feature_weight=columns)
    copies = make().fit(repeated(A, rows, columns), missing=repeated(missing, rows, columns))
    assert model.lower_bound_ == copies.lower_bound_
    if model.proved_ and copies.proved_:
        assert model.n_components_ <= copies.n_components_


def test_weights_decide_what_is_found():
    A = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
    model = ELBMF(1, random_state=0)
    assert model.fit(A).components_.tolist() == [[1, 1, 0, 0]]
    assert model.fit(A, sample_weight=[1, 1, 3]).components_.tolist() == [[0, 0, 1, 1]]
    assert model.reconstruction_err_ == 4
    assert model.fit(A, feature_weight=[1, 1, 1, 4]).components_.tolist() == [[0, 0, 1, 1]]
    assert model.fit(A).line_weights_ is None


def test_fractions_are_in_units_of_the_weights():
    rows = np.sqrt(np.arange(30))
    model = ELBMF(3, random_state=0)
    with pytest.warns(UserWarning, match="Weights of rows were rounded"):
        model.fit(TILES, sample_weight=rows)
    slow = naive.weighted_loss(TILES, model.membership_, model.components_, rows, np.ones(20))
    assert model.reconstruction_err_ == pytest.approx(slow)
    half = ELBMF(3, random_state=0).fit(TILES, sample_weight=np.full(30, 0.5))
    assert half.reconstruction_err_ == 0.5 * ELBMF(3, random_state=0).fit(TILES).reconstruction_err_


def test_lines_of_weight_zero_are_left_out():
    rows, columns = np.ones(30, int), np.ones(20, int)
    rows[:7] = columns[4:6] = 0
    model = ELBMF(3, random_state=0).fit(TILES, sample_weight=rows, feature_weight=columns)
    rest = ELBMF(3, random_state=0).fit(TILES[7:][:, columns > 0])
    np.testing.assert_array_equal(model.components_[:, columns > 0], rest.components_)
    assert not model.components_[:, 4:6].any()
    described = model.transform(TILES, feature_weight=columns)
    np.testing.assert_array_equal(model.membership_[:7], described[:7])
    np.testing.assert_array_equal(described, model.transform(TILES))


def test_score_takes_weights_and_describes_rows_by_them():
    rows, columns = np.arange(30) % 4, np.arange(20) % 3
    model = ELBMF(2, random_state=0).fit(TILES, sample_weight=rows, feature_weight=columns)
    scored = model.score(TILES, sample_weight=rows, feature_weight=columns)
    ones = (TILES * np.outer(rows, columns)).sum()
    assert scored == pytest.approx(1 - model.reconstruction_err_ / ones)
    assert scored != model.score(TILES)
    np.testing.assert_array_equal(
        model.transform(TILES, feature_weight=columns)[rows > 0], model.membership_[rows > 0]
    )


def test_stages_end_with_what_the_copies_cost():
    rows = np.arange(30) % 4 + 1
    model = ELBMF(3, random_state=0).fit(TILES, sample_weight=rows)
    assert [*model.stages_.values()][-1] == model.reconstruction_err_
    # One that gives copies of a row different memberships.
    model = quickly(method_of("binaps"))(3, random_state=0)
    model.fit(TILES, sample_weight=rows, feature_weight=np.arange(20) % 3)
    assert [*model.stages_.values()][-1] == model.reconstruction_err_


def test_any_kind_of_numbers_will_do():
    rows = np.arange(30) % 3
    expected = Asso(3).fit(TILES, sample_weight=rows)
    for kind in (list, pd.Series, np.float32):
        model = Asso(3).fit(TILES, sample_weight=kind(rows))
        np.testing.assert_array_equal(model.membership_, expected.membership_)
        assert type(model.reconstruction_err_) is int


@pytest.mark.parametrize("holdout", [None, 0.2])
def test_ranks_are_searched_with_weights(holdout):
    rows = np.arange(30) % 3
    search = RankSearch(quickly(ELBMF)(random_state=0), max_components=4, holdout=holdout)
    search.fit(TILES, sample_weight=rows, feature_weight=np.ones(20))
    copies = RankSearch(quickly(ELBMF)(random_state=0), max_components=4)
    copies.fit(TILES.repeat(rows, axis=0))
    assert search.choices_["mdl"] == copies.choices_["mdl"]
    np.testing.assert_array_equal(search.table_["loss"][:5], copies.table_["loss"])
    for rank in (2, 4):
        model = search.model(rank)
        assert model.membership_.shape == (30, rank)
        assert model.reconstruction_err_ == copies.model(rank).reconstruction_err_
    assert search.score(TILES, sample_weight=rows) == copies.score(TILES.repeat(rows, axis=0))


def test_the_number_of_components_is_chosen_with_weights():
    rows = np.arange(30) % 3
    model = quickly(ELBMF)("auto", random_state=0).fit(TILES, sample_weight=rows)
    copies = quickly(ELBMF)("auto", random_state=0).fit(TILES.repeat(rows, axis=0))
    assert model.n_components_ == copies.n_components_
    assert model.reconstruction_err_ == copies.reconstruction_err_


def test_data_on_disk_is_repeated_in_memory(tmp_path):
    rows = np.arange(30) % 3
    store(BooleanMatrix.from_array(TILES), tmp_path / "data.matrix")
    model = ELBMF(2, random_state=0).fit(DiskMatrix(tmp_path / "data.matrix"), sample_weight=rows)
    here = ELBMF(2, random_state=0).fit(TILES, sample_weight=rows)
    np.testing.assert_array_equal(model.membership_, here.membership_)
    limited = ELBMF(2, random_state=0, memory_limit=1000).fit(TILES, sample_weight=rows)
    np.testing.assert_array_equal(limited.membership_, here.membership_)


@pytest.mark.cluster
def test_data_on_a_cluster_takes_no_weights():
    array = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    refusal = pytest.raises(InputError, match=r"in one place; this is on a cluster. Fit a sample")
    with distributed.Client(n_workers=1, processes=False, dashboard_address=None), refusal:
        ELBMF(2).fit(array.from_array(TILES, chunks=(10, 20)), sample_weight=np.ones(30))


def test_checkpoints_are_of_their_weights(tmp_path):
    model = quickly(ELBMF)(2, random_state=0, checkpoint=tmp_path / "kept", callback=stop_early)
    model.fit(TILES, sample_weight=np.arange(30) % 3)
    with pytest.raises(OtherFitError, match="other data"):
        model.fit(TILES)
    model.set_params(callback=None).fit(TILES, sample_weight=np.arange(30) % 3)
    whole = quickly(ELBMF)(2, random_state=0).fit(TILES, sample_weight=np.arange(30) % 3)
    np.testing.assert_array_equal(model.membership_, whole.membership_)


def stop_early(report):
    return report.iteration == 3


def test_factors_to_start_from_and_weights_do_not_go_together():
    init = (np.ones((30, 2)), np.ones((2, 20)))
    with pytest.raises(InputError, match="cannot start from your own factors; got init="):
        ELBMF(2, init=init).fit(TILES, sample_weight=np.ones(30))


def test_an_allowed_loss_needs_whole_weights():
    with pytest.raises(InputError, match=r"With max_loss=3, weights .* must be whole numbers"):
        MinimalCover(max_loss=3).fit(TILES, sample_weight=np.full(30, 0.5))
    MinimalCover(effort=0.1).fit(TILES, sample_weight=np.full(30, 0.5))


def test_partial_fit_forgets_the_weights():
    model = quickly(ELBMF)(2, random_state=0).fit(TILES, sample_weight=np.ones(30))
    assert model.line_weights_ is not None
    assert not hasattr(model.partial_fit(TILES), "line_weights_")


def test_weights_are_routed_through_pipelines():
    rows = np.arange(30) % 3
    with config_context(enable_metadata_routing=True):
        method = Asso(2).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), method).fit(TILES, sample_weight=rows)
    expected = Asso(2).fit(TILES, sample_weight=rows)
    np.testing.assert_array_equal(pipeline[-1].components_, expected.components_)


def test_the_same_seed_gives_the_same_bits():
    rows, columns = np.arange(30) % 3, np.arange(20) % 2
    first, second = (
        ELBMF(3, random_state=1, n_jobs=jobs).fit(TILES, sample_weight=rows, feature_weight=columns)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(first.membership_, second.membership_)
    np.testing.assert_array_equal(first.components_, second.components_)
