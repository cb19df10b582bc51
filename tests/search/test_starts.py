"""Quick starts of the search, and how a time limit is shared out between them and the runs."""

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf import ELBMF, Asso
from elbmf.boolean.coverage import Weights
from elbmf.datasets import make_tiles
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.evolution import Search
from elbmf.search.local import LocalSearch
from elbmf.search.portfolio import Pace
from elbmf.search.short_relaxation import epoch_work
from elbmf.search.starts import STARTS, Circumstances
from elbmf.search.starts.associations import greedy_associations
from elbmf.search.starts.concepts import greedy_concepts
from elbmf.utils.tuning import TUNING, Tuning
from strategies import examples, starts, weights

NOISY = make_tiles((60, 50), 5, height=(5, 20), noise=0.2, random_state=0).A.toarray()


def started(start, A, k, *, missing=None, weights=None, stop=lambda work: False):
    local = LocalSearch(BooleanMatrix.from_array(A, missing=missing), weights, 1)
    return start(Circumstances(local, k, stop))


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.__name__)
@given(case=starts(), weights=weights, k=st.integers(1, 80), hurried=st.booleans())
@examples(40)
def test_a_start_has_components_however_soon_it_must_end(start, case, weights, k, hurried):
    A, missing, _, _ = case
    U, V = started(start, A, k, missing=missing, weights=weights, stop=lambda work: hurried)
    assert U.dtype == V.dtype == np.bool_
    assert U.shape == (A.shape[0], V.shape[0])
    assert V.shape[1] == A.shape[1]
    assert V.shape[0] <= k


def test_the_first_start_suits_any_data():
    U, V = started(STARTS[0], np.zeros((3, 4), dtype=bool), 2)
    assert U.shape[1] == V.shape[0] <= 2


@given(case=starts(), k=st.integers(1, 20))
def test_greedy_concepts_cover_no_zero(case, k):
    A, _, _, _ = case
    U, V = started(greedy_concepts, A, k)
    assert not (naive.boolean_product(U, V) & ~A).any()


@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
def test_greedy_associations_are_those_of_asso(monkeypatch, threshold):
    tuning = Tuning(thresholds=(threshold,))
    monkeypatch.setattr("elbmf.search.starts.associations.TUNING", tuning)
    U, V = started(greedy_associations, NOISY, 6)
    asso = Asso(6, threshold=threshold, associate_rows=False).fit(NOISY)
    np.testing.assert_array_equal(U, asso.membership_)
    np.testing.assert_array_equal(V, asso.components_)


def test_the_best_threshold_is_taken():
    U, V = started(greedy_associations, NOISY, 6)
    losses = [
        Asso(6, threshold=threshold, associate_rows=False).fit(NOISY).reconstruction_err_
        for threshold in TUNING.thresholds
    ]
    assert naive.cost(NOISY, U, V, Weights()) == min(losses)


def test_associations_do_not_suit_long_rows(monkeypatch):
    tuning = Tuning(pairs_to_associate=100)
    monkeypatch.setattr("elbmf.search.starts.associations.TUNING", tuning)
    assert started(greedy_associations, NOISY, 6) is None


def test_without_a_deadline_runs_have_all_their_epochs():
    pace = Pace(BooleanMatrix.from_array(NOISY), [(5, 250), (8, 160)], math.inf)
    assert [pace.epochs(1), pace.epochs(2)] == [250, 160]
    assert pace.deadline == math.inf


def test_runs_have_fewer_epochs_the_less_time_there_is_and_the_slower_they_were():
    A = BooleanMatrix.from_array(NOISY)
    runs = [(5, 25_000), (8, 16_000)]
    seconds = sum(epochs * epoch_work(A, k) for k, epochs in runs) / 1e9
    # So much that the time it takes to ask does not matter.
    pace = Pace(A, runs, time.perf_counter() + seconds)
    first = pace.epochs(1)
    assert 0 < first < 25_000
    second = pace.epochs(2)
    pace.note(1, 1000, 10 * 1000 * epoch_work(A, 5) / 1e9)
    assert pace.epochs(2) < second / 5
    assert Pace(A, runs, time.perf_counter()).epochs(1) == 0


def test_a_climb_beside_the_runs_ends_when_it_is_told_and_never_higher():
    local = LocalSearch(BooleanMatrix.from_array(NOISY), None, 1)
    factors = local.pack(*started(greedy_concepts, NOISY, 5))
    before, asked = factors.cost, []

    def over(best):
        asked.append(best.cost)
        return len(asked) > 5

    with Search(local, 5, np.random.default_rng(0), 0) as search:
        found = search.climb_beside(factors, over)
    assert len(asked) == 6
    assert asked == sorted(asked, reverse=True)
    assert asked[0] == before
    assert found.cost == asked[-1]
    U, V = found.to_arrays()
    assert found.cost == naive.cost(NOISY, U, V, Weights())


@given(case=starts(), weights=weights)
@examples(30)
def test_a_search_from_below_covers_no_zero_and_leaves_the_other_as_it_is(case, weights):
    A, missing, U, V = case
    local = LocalSearch(BooleanMatrix.from_array(A, missing=missing), weights, 1)
    with Search(local, V.shape[0], np.random.default_rng(0), 0):  # That has made a terrain.
        below = local.from_below
    assert local.weights == weights
    assert below.lines is local.lines
    factors = below.pack(np.zeros_like(U), V)
    below.descend(factors)
    with Search(below, V.shape[0], np.random.default_rng(0), 1e6) as search:
        found = search.improve([factors])
    covered = naive.boolean_product(*found.to_arrays())
    known = np.ones_like(A) if missing is None else ~missing
    assert not (covered & ~A & known).any()
    assert found.cost == (A & ~covered & known).sum() * below.weights.missed


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_where_little_is_left_what_is_found_from_below_is_never_lower(monkeypatch, n_jobs):
    found, improve = [], Search.improve

    def observed(self, *given, **how):
        factors = improve(self, *given, **how)
        found.append((self._local.weights.extra > 1, factors.cost))
        return factors

    monkeypatch.setattr(Search, "improve", observed)
    A = make_tiles((60, 50), 12, height=(5, 12), width=(5, 12), random_state=1).A
    model = ELBMF(11, random_state=0, effort=0.2, n_jobs=n_jobs).fit(A)
    assert [below for below, _ in found] == [True, False]
    assert found[0][1] >= model.reconstruction_err_ == found[1][1] > 0


@pytest.mark.parametrize("limit", [0, 0.01, 0.3])
@pytest.mark.parametrize("extra_weight", [1.0, np.inf])
def test_a_fit_of_any_time_has_factors(limit, extra_weight):
    model = ELBMF(5, time_limit=limit, extra_weight=extra_weight, random_state=0).fit(NOISY)
    found = naive.boolean_product(model.membership_, model.components_)
    assert (found != NOISY).sum() == model.reconstruction_err_ < NOISY.sum()
    assert extra_weight == 1 or not (found & ~NOISY).any()


def test_singular_vectors_are_left_out_only_where_there_is_no_time_for_them():
    A = BooleanMatrix.from_array(np.eye(300, dtype=bool))
    now = time.perf_counter()
    lacking = [
        Pace(A, [(50, 100)], deadline).lacks_time_for_singular_vectors(50)
        for deadline in (now, now + 1e6, math.inf)
    ]
    assert lacking == [True, False, False]
