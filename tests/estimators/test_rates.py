"""extra_weight="auto": two noise rates, and a weight that follows from them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf import ELBMF, RankSearch, loss_bound
from elbmf.boolean import Cover, NoiseRates, cover
from elbmf.datasets import make_tiles
from elbmf.errors import DoubtfulComponentWarning, InputError
from elbmf.estimators.saving import saved_model
from elbmf.io import load_model, save_model
from elbmf.ranks.criteria import description_length

QUICK = {"max_iter": 60, "effort": 0, "random_state": 0}


def drawn(p1, p0, seed=1, shape=(120, 90)):
    """Return noisy tiles, and where the tiles are."""
    tiles = make_tiles(shape, 3, height=(25, 40), width=(20, 30), random_state=seed)
    truth = tiles.A.toarray().astype(bool)
    return np.random.default_rng(seed).random(shape) < np.where(truth, p1, p0), truth


def auto(k=3, **parameters):
    return ELBMF(k, extra_weight="auto", **{**QUICK, **parameters})


# --- the rates ---


@given(
    counts=st.tuples(*[st.integers(0, 50)] * 4).filter(any),
)
def test_rates_are_shares_and_all_is_finite(counts):
    hits, extra, missed, zeros = counts
    rates = NoiseRates.of(Cover(sum(counts), hits + missed, hits + extra, hits))
    assert rates.false_negative == (extra / (hits + extra) if hits + extra else 0)
    assert rates.false_positive == (missed / (missed + zeros) if missed + zeros else 0)
    assert 0 < rates.extra_weight < math.inf
    assert math.isfinite(rates.bits_of_one)
    assert math.isfinite(rates.bits_of_zero)


def test_the_weight_is_that_of_the_likelihood():
    # p₁ = .35, p₀ = .03 on so many cells that no ½ matters.
    rates = NoiseRates.of(Cover(2 * 10**8, 38 * 10**6, 10**8, 35 * 10**6))
    expected = math.log(0.97 / 0.65) / math.log(0.35 / 0.03)
    assert rates.extra_weight == pytest.approx(expected, rel=1e-6)
    assert rates.extra_weight == pytest.approx(0.16, abs=0.005)


# --- fits ---


@pytest.mark.parametrize(("p1", "p0"), [(0.9, 0.05), (0.5, 0.05)])
def test_planted_rates_and_cells_are_recovered(p1, p0):
    A, truth = drawn(p1, p0)
    model = auto().fit(A)
    rates = model.noise_rates_
    assert 1 - rates.false_negative == pytest.approx(p1, abs=0.03)
    assert rates.false_positive == pytest.approx(p0, abs=0.03)
    found = model.inverse_transform(model.membership_).toarray()
    assert (found & truth).sum() >= 0.95 * truth.sum()
    # The weight is that of the rates, to what counts as settled.
    assert model.extra_weight_ == pytest.approx(rates.extra_weight, rel=0.05)
    hamming = ELBMF(3, **QUICK).fit(A)
    lengths = [
        description_length(A, each.membership_, each.components_, two_rates=True)
        for each in (model, hamming)
    ]
    assert lengths[0] <= lengths[1]


def test_thin_tiles_are_found_where_equal_weights_find_chance():
    A, truth = drawn(0.3, 0.02, shape=(200, 150))
    found = auto().fit(A)
    product = found.inverse_transform(found.membership_).toarray()
    assert (product & truth).sum() >= 0.9 * truth.sum()
    assert found.extra_weight_ < 0.3


def test_the_same_for_any_number_of_threads_and_twice():
    A, _ = drawn(0.5, 0.05)
    fits = [auto(n_jobs=jobs).fit(A) for jobs in (1, 2, 2)]
    for each in fits[1:]:
        np.testing.assert_array_equal(each.membership_, fits[0].membership_)
        np.testing.assert_array_equal(each.components_, fits[0].components_)
        assert each.extra_weight_ == fits[0].extra_weight_
    again = fits[0].fit(np.ones((5, 4)))
    assert again.extra_weight_ != fits[1].extra_weight_


@pytest.mark.parametrize("fill", [0, 1])
def test_matrices_of_one_kind_of_cell(fill):
    A = np.full((12, 9), fill)
    model = auto(1).fit(A)
    assert model.reconstruction_err_ == 0
    assert (model.noise_rates_.false_positive, model.noise_rates_.false_negative) == (0, 0)
    assert 0 < model.extra_weight_ < math.inf
    assert np.isfinite(model.bits_saved_).all()


def test_missing_cells_and_weights_of_lines_count_in_the_rates():
    A, _ = drawn(0.7, 0.05)
    missing = np.random.default_rng(0).random(A.shape) < 0.2
    model = auto().fit(A, missing=missing)
    covered = cover(np.where(missing, np.nan, A), model.membership_, model.components_)
    assert model.noise_rates_ == NoiseRates.of(covered)
    weights = np.where(np.arange(len(A)) < 20, 3, 1)
    weighted = auto().fit(A, sample_weight=weights)
    copies = np.repeat(np.arange(len(A)), weights)
    expected = cover(A[copies], weighted.membership_[copies], weighted.components_)
    assert weighted.noise_rates_ == NoiseRates.of(expected)


@pytest.mark.parametrize("parameters", [{"min_rows": 5, "max_columns": 15}, {"refine": False}])
def test_with_constraints_and_without_refinement(parameters):
    A, _ = drawn(0.6, 0.05)
    model = auto(**parameters).fit(A)
    used = model.components_.any(axis=1)
    if "min_rows" in parameters:
        assert (model.membership_.sum(axis=0)[used] >= 5).all()
        assert (model.components_.sum(axis=1) <= 15).all()
    assert 0.05 < model.extra_weight_ < 1


def test_transform_weighs_as_the_fit_did():
    A, _ = drawn(0.5, 0.05)
    model = auto().fit(A)
    given = ELBMF(3, extra_weight=model.extra_weight_, **QUICK).fit(A)
    given.components_ = model.components_
    np.testing.assert_array_equal(model.transform(A), given.transform(A))


def test_rows_that_come_in_pieces_need_a_weight():
    with pytest.raises(InputError, match="takes all rows at once"):
        auto().partial_fit(np.eye(4))


# --- the number of components ---


def test_the_number_of_components_is_chosen_under_two_rates():
    A, _ = drawn(0.5, 0.05)
    model = auto("auto").fit(A)
    assert model.n_components_ == 3
    assert (model.bits_saved_ > 0).all()
    search = RankSearch(auto(), 5).fit(A)
    assert search.n_components_ == 3
    for rank, bits in zip(search.table_["rank"], search.table_["mdl"], strict=True):
        if rank:
            U, V = search._found.factors[rank][:2]
            assert bits == pytest.approx(description_length(A, U, V, two_rates=True))


# --- saved, and said ---


def test_a_saved_result_knows_its_rates(tmp_path):
    A, _ = drawn(0.5, 0.05)
    model = auto().fit(A)
    save_model(tmp_path / "result", saved_model(model, A=None))
    read = load_model(tmp_path / "result")
    assert read.info.noise_rates.false_negative == model.noise_rates_.false_negative
    assert read.info.noise_rates.false_positive == model.noise_rates_.false_positive
    assert read.weights(A.shape) == model._weights(A.shape)


def test_doubtful_components_are_warned_of_once():
    A = np.zeros((30, 20), int)
    A[:10, :8] = 1
    A[20] = 1
    with pytest.warns(DoubtfulComponentWarning, match=r"one row") as seen:
        ELBMF(2, **QUICK).fit(A)
    assert len(seen) == 1
    assert issubclass(DoubtfulComponentWarning, UserWarning)


def test_who_asks_for_a_bound_is_not_warned_of_components(recwarn):
    loss_bound(np.random.default_rng(0).random((25, 20)) < 0.2, 3, time_limit=0.5, random_state=0)
    assert not [each for each in recwarn if each.category is DoubtfulComponentWarning]


def test_earlier_components_change_as_little_as_with_a_given_weight():
    A, _ = drawn(0.5, 0.05)
    before = auto().fit(A)
    A[:3] = 0
    V = before.components_
    kept = auto(previous=V, change_penalty=50).fit(A)
    given = ELBMF(3, previous=V, change_penalty=50, extra_weight=kept.extra_weight_, **QUICK)
    np.testing.assert_array_equal(kept.components_, given.fit(A).components_)
    assert kept.n_changes_ == given.n_changes_
