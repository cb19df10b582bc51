"""OrM: the sampler against brute force, and what it takes to find something with it."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

import naive
from elbmf.boolean.coverage import cover
from elbmf.boolean.packed import unpack
from elbmf.boolean.product import boolean_product, pack
from elbmf.datasets import make_tiles
from elbmf.estimators import OrM
from elbmf.estimators.rivals import gibbs
from elbmf.estimators.rivals.kernels.sampling import (
    Odds,
    flips,
    gather_component_bits,
    sample_lines,
    tally,
)
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.kernels.coordinate_descent import share_cells
from elbmf.search.kernels.lines import Side
from elbmf.search.kernels.rows import Workspace
from elbmf.search.local import LocalSearch
from strategies import examples, starts

dispersions = st.sampled_from([0.0, 0.3, 1.0, 2.5, 9.0])
priors = st.sampled_from([0.5, 0.5, 0.2, 0.9])
seeds = st.integers(0, 2**63 - 1)
NOISY = make_tiles((40, 30), 4, height=(5, 10), noise=0.1, random_state=1).A


def sampled(A, U, V, lam, prior, seed, side, missing=None, *, by_counts, cut=0):
    """Sample one side with the kernel, in two ranges; return it and the wrong cells."""
    local = LocalSearch(BooleanMatrix.from_array(A, missing=missing))
    mine, others = (U, V.T) if side == 0 else (V.T, U)
    memberships, component_bits = (
        pack(np.ascontiguousarray(mine)),
        pack(np.ascontiguousarray(others.T)),
    )
    overlaps = np.empty((0, 0), dtype=np.int64)
    if by_counts:
        overlaps = np.empty((U.shape[1], U.shape[1]), dtype=np.int64)
        share_cells(component_bits, overlaps)
    data = Side(local.lines[side], pack(np.ascontiguousarray(others)), component_bits, overlaps)
    odds = Odds(lam, math.log(prior) - math.log1p(-prior), seed, 7, side)
    workspace = Workspace.of(component_bits)
    wrong = sum(
        sample_lines(data, low, high, odds, local.prices, memberships, workspace)
        for low, high in ((cut, mine.shape[0]), (0, cut))
    )
    return unpack(memberships, U.shape[1]), wrong


# --- the sampler ---


@given(
    case=starts(length=24),
    lam=dispersions,
    prior=priors,
    seed=seeds,
    side=st.sampled_from([0, 1]),
    by_counts=st.booleans(),
    cut=st.floats(0, 1),
)
@examples(150)
def test_a_sweep_is_what_counting_wrong_cells_says(case, lam, prior, seed, side, by_counts, cut):
    A, missing, U, V = case
    bits, wrong = sampled(
        A, U, V, lam, prior, seed, side, missing, by_counts=by_counts, cut=int(cut * A.shape[side])
    )
    data = [X if side == 0 or X is None else X.T for X in (A, missing)]
    mine, others = (U, V) if side == 0 else (V.T, U.T)
    odds = math.log(prior) - math.log1p(-prior)
    expected = naive.metropolised_gibbs(data[0], mine, others, lam, odds, seed, 7, side, data[1])
    np.testing.assert_array_equal(bits, expected)
    after = (bits, V) if side == 0 else (U, bits.T)
    assert wrong == cover(BooleanMatrix.from_array(A, missing=missing), *after).loss


def test_more_components_than_fit_a_word():
    generator = np.random.default_rng(0)
    A, U, V = (generator.random(shape) < 0.1 for shape in ((9, 80), (9, 70), (70, 80)))
    for by_counts in (False, True):
        bits, _ = sampled(A, U, V, 0.7, 0.5, 3, 0, by_counts=by_counts)
        np.testing.assert_array_equal(bits, naive.metropolised_gibbs(A, U, V, 0.7, 0.0, 3, 7, 0))


def chance_of_flip(log_ratio):
    """The least random number at which a bit is not flipped, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if flips(log_ratio, middle) else (low, middle)
    return high


@given(case=starts(length=8), lam=dispersions, pair=st.tuples(priors, priors), place=seeds)
@examples(150)
def test_each_update_is_in_detailed_balance_with_the_posterior(case, lam, pair, place):
    """π(x)·p(x → y) = π(y)·p(y → x), with π multiplied up cell by cell."""
    A, missing, U, V = case
    flipped = U.copy()
    i, l = place % U.shape[0], place // U.shape[0] % U.shape[1]
    flipped[i, l] = not flipped[i, l]
    here, there = (naive.log_posterior(A, X, V, lam, pair, missing) for X in (U, flipped))
    # Rounding aside, the ratio that the kernel works with.
    ratio = 0.0 if abs(there - here) < 1e-9 else there - here
    way, back = chance_of_flip(ratio), chance_of_flip(-ratio)
    assert math.exp(here - max(here, there)) * way == pytest.approx(
        math.exp(there - max(here, there)) * back, abs=1e-12
    )
    assert way == pytest.approx(0.5 if ratio == 0 else min(1, math.exp(ratio)), abs=1e-12)


MASK = np.zeros((3, 4), dtype=bool)
MASK[0, 1] = MASK[2, 2] = MASK[2, 3] = True

ENUMERATED = {
    "one component": ((7, 9), 1, 0.8, (0.5, 0.5), None),
    "two": ((4, 4), 2, 0.7, (0.5, 0.5), None),
    "three": ((3, 2), 3, 1.2, (0.5, 0.5), None),
    "priors": ((4, 4), 2, 1.0, (0.3, 0.7), None),
    "missing cells": ((3, 4), 2, 1.0, (0.5, 0.4), MASK),
    "no dispersion": ((4, 4), 2, 0.0, (0.5, 0.25), None),
}


@pytest.mark.parametrize("name", ENUMERATED)
@pytest.mark.filterwarnings("ignore:n_components:UserWarning")
def test_posterior_means_are_those_of_enumeration(name):
    """Within 0.02: with 20 000 samples, the root mean square of errors is up to 0.005."""
    shape, k, lam, pair, missing = ENUMERATED[name]
    A = np.random.default_rng(1).random(shape) < 0.5
    U, V = naive.posterior_means(A, k, lam, pair, missing)
    model = OrM(
        k,
        dispersion=lam,
        membership_prior=pair[0],
        components_prior=pair[1],
        n_samples=20_000,
        n_init=1,
        random_state=0,
    ).fit(A, missing=missing)
    np.testing.assert_allclose(model.membership_probability_, U, rtol=0, atol=0.02)
    np.testing.assert_allclose(model.components_probability_, V, rtol=0, atol=0.02)
    assert model.dispersion_ == pytest.approx(lam)


def test_where_nothing_is_known_samples_are_those_of_the_priors():
    """And independent of each other, from bit to bit and from sweep to sweep."""
    model = OrM(
        3, membership_prior=0.5, components_prior=0.2, n_samples=400, n_init=1, random_state=0
    )
    model.set_params(dispersion=2.0).fit(np.full((60, 50), np.nan))
    assert model.membership_probability_.mean() == pytest.approx(0.5, abs=0.01)
    # Independent samples: the variance of a mean of 400.
    assert model.membership_probability_.std() == pytest.approx(0.5 / 20, rel=0.3)
    assert model.components_probability_.mean() == pytest.approx(0.2, abs=0.01)


@given(case=starts(components=st.sampled_from([1, 5, 70])))
@examples(30)
def test_packing_and_counting_of_bits(case):
    _, _, U, _ = case
    memberships = pack(U)
    component_bits = np.zeros((U.shape[1], pack(U.T).shape[1]), dtype=np.uint64)
    gather_component_bits(memberships, component_bits)
    np.testing.assert_array_equal(component_bits, pack(np.ascontiguousarray(U.T)))
    counts = np.ones(U.shape, dtype=np.int64)
    tally(memberships, counts)
    np.testing.assert_array_equal(counts, 1 + U)


# --- the start, and the time before samples are drawn ---


@given(case=starts(), seed=seeds)
@examples(60)
def test_a_chain_starts_from_components_that_gain(case, seed):
    A, missing, U, _ = case
    local = LocalSearch(BooleanMatrix.from_array(A, missing=missing))
    chain = gibbs.GibbsChain(local, U.shape[1], (0.5, 0.5), None, np.random.default_rng(seed))
    assert chain.loss == cover(local.A, *chain.factors()).loss <= local.A.ones
    chain.sweep()
    assert chain.loss == cover(local.A, *chain.factors()).loss
    before = chain.loss
    revived = chain.revive()
    after = cover(local.A, *chain.factors()).loss
    assert after < before or (after == before and not revived)


def test_components_of_no_use_are_started_anew():
    tiles = make_tiles((40, 30), 3, height=(5, 10), random_state=0)
    local = LocalSearch(BooleanMatrix.from_array(tiles.A))
    chain = gibbs.GibbsChain(local, 3, (0.5, 0.5), None, np.random.default_rng(0))
    # Two components are the same, so that neither is of any use.
    twice = local.pack(tiles.U[:, [0, 1, 1]], tiles.V[[0, 1, 1]])
    chain.bits = twice.bits
    assert chain.revive()
    assert cover(tiles.A, *chain.factors()).loss < twice.cost
    exact = local.pack(tiles.U[:, [0, 1, 2, 2]], tiles.V[[0, 1, 2, 2]])
    chain.bits, chain.k = exact.bits, 4
    chain.revive()
    assert cover(tiles.A, *chain.factors()).loss == 0


# --- the estimator ---


@example(seed=0, noise=0.0)
@given(seed=st.integers(0, 1000), noise=st.sampled_from([0.0, 0.05, 0.1, 0.3]))
@examples(15)
def test_the_answer_is_not_the_empty_one(seed, noise):
    """To which chains that start from random bits go on such data."""
    tiles = make_tiles((40, 30), 5, height=(5, 10), noise=noise, random_state=seed)
    model = OrM(5, random_state=seed).fit(tiles.A)
    truth = cover(tiles.A, tiles.U, tiles.V).loss
    assert model.reconstruction_err_ <= 1.1 * truth + 0.02 * tiles.A.nnz


def test_the_dispersion_is_the_logit_of_the_reconstruction_rate():
    for seed in range(3):
        tiles = make_tiles((200, 150), 4, height=(30, 50), noise=0.1, random_state=seed)
        model = OrM(4, n_init=1, random_state=seed).fit(tiles.A)
        wrong, known = model.history_["loss"], 200 * 150
        logits = np.log((known - wrong + 1) / (wrong + 1))
        np.testing.assert_allclose(model.history_["dispersion"], logits)
        rate = 1 - model.reconstruction_err_ / known
        assert model.dispersion_ == pytest.approx(math.log(rate / (1 - rate)), rel=0.02)
        # It has settled: the first half of the samples has the same as the second.
        halves = model.history_["dispersion"][-50:].reshape(2, 25).mean(axis=1)
        assert halves[0] == pytest.approx(halves[1], abs=0.02)


def test_the_dispersion_is_never_below_that_of_a_constant_matrix():
    A = np.random.default_rng(0).random((30, 20)) < 0.5
    model = OrM(3, n_init=1, random_state=0).fit(A)
    least = min(A.sum(), (~A).sum())
    assert model.history_["dispersion"].min() == math.log((A.size - least + 1) / (least + 1))


def test_estimates():
    model = OrM(4, n_samples=30, n_init=2, random_state=0).fit(NOISY)
    U, V = model.membership_probability_ > 0.5, model.components_probability_ > 0.5
    used = U.any(axis=0) & V.any(axis=1)
    np.testing.assert_array_equal(model.membership_, U & used)
    np.testing.assert_array_equal(model.components_, V & used[:, None])
    counts = 30 * model.membership_probability_
    np.testing.assert_allclose(counts, counts.round(), atol=1e-9)
    assert min(model.run_losses_) == model.reconstruction_err_
    assert len(model.run_losses_) == 2
    assert model.n_iter_ == model.history_["loss"].size
    best = OrM(4, n_samples=30, n_init=1, estimate="best", random_state=0).fit(NOISY)
    assert best.reconstruction_err_ == best.history_["loss"][-30:].min()


def test_an_exact_factorization_ends_the_fit():
    tiles = make_tiles((40, 30), 3, height=(5, 10), random_state=0)
    model = OrM(3, random_state=0).fit(tiles.A)
    assert model.stop_reason_ == "exact"
    assert model.reconstruction_err_ == model.history_["loss"][-1] == 0
    assert set(np.unique(model.membership_probability_)) == {0, 1}
    fixed = OrM(3, dispersion=3.0, n_init=1, random_state=0).fit(tiles.A)
    assert fixed.stop_reason_ == "n_samples"


def test_no_components_where_all_estimates_are_worse():
    """At λ = 0 the posterior is the prior, which is far from the data."""
    A = np.eye(12)
    model = OrM(
        2, dispersion=0, membership_prior=0.9, components_prior=0.9, n_init=2, random_state=0
    ).fit(A)
    assert min(model.run_losses_) > A.sum()
    assert model.reconstruction_err_ == A.sum()
    assert model.n_components_ == 0


def test_burn_in_ends_when_the_dispersion_has_settled():
    model = OrM(4, n_init=1, n_burn_in=500, n_samples=20, random_state=0).fit(NOISY)
    assert model.n_iter_ < 500
    short = OrM(4, n_init=1, n_burn_in=5, n_samples=20, random_state=0).fit(NOISY)
    assert short.n_iter_ == 25
    none = OrM(4, n_init=1, n_burn_in=0, n_samples=20, random_state=0).fit(NOISY)
    assert none.n_iter_ == 20


@pytest.mark.parametrize("last", [3, 60])
def test_a_fit_can_be_ended_at_any_sweep(last):
    model = OrM(4, n_burn_in=50, random_state=0, callback=lambda r: r.iteration == last).fit(NOISY)
    assert model.stop_reason_ == "callback"
    assert model.n_iter_ == last
    assert model.reconstruction_err_ < NOISY.nnz
    assert ((model.membership_probability_ >= 0) & (model.membership_probability_ <= 1)).all()


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(gibbs, "_ONES_FOR_THREADS", 0)
    models = [
        OrM(4, n_init=2, n_samples=20, n_jobs=n_jobs, random_state=0).fit(NOISY)
        for n_jobs in (1, 2, 3)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.components_, models[0].components_)
        np.testing.assert_array_equal(model.history_["loss"], models[0].history_["loss"])


def test_sparse_data_of_which_lines_are_not_kept_packed():
    tiles = make_tiles((300, 400), 4, height=(10, 25), noise=0.001, random_state=0)
    model = OrM(4, n_init=3, random_state=0).fit(sparse.csr_array(tiles.A))
    assert tiles.A.nnz < 300 * 400 / 64
    assert model.reconstruction_err_ <= cover(tiles.A, tiles.U, tiles.V).loss
    B = boolean_product(model.membership_, model.components_)
    np.testing.assert_array_equal(B.toarray(), tiles.truth.toarray())


def test_priors_decide_what_data_leave_open():
    rare = OrM(6, membership_prior=0.01, n_init=1, random_state=0).fit(NOISY)
    often = OrM(6, membership_prior=0.9, n_init=1, random_state=0).fit(NOISY)
    assert rare.membership_probability_.mean() < often.membership_probability_.mean()


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_samples": 0},
        {"n_burn_in": -1},
        {"membership_prior": 1.0},
        {"components_prior": 0},
        {"dispersion": -1},
        {"estimate": "median"},
        {"n_init": 0},
    ],
)
def test_parameters_out_of_range(parameters):
    name = next(iter(parameters))
    with pytest.raises(ValueError, match=f"The '{name}' parameter of OrM must be"):
        OrM(2, **parameters).fit(NOISY)
