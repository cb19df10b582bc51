"""What is ELBMF's own: parameters, schedules, stopping, the trace, restarts."""

import logging
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import naive
from elbmf import ELBMF, Annealed, Printed
from elbmf.boolean.coverage import Weights, cover
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.relaxation.palm import ipalm
from elbmf.relaxation.regularizers import ELB, REGULARIZERS, ElasticNet
from elbmf.relaxation.rounding import round_by_loss
from elbmf.relaxation.schedules import Schedule
from elbmf.utils.tuning import TUNING
from strategies import rounding

SMALL = make_tiles((40, 30), 3, height=(5, 10), noise=0.05, random_state=0)
PAPER = {"schedule": Printed(kappa=0.01, lam=0.02, rate=1.05)}
PRINTED = {"regularizer": ELB("paper"), "schedule": Printed(0.01, 0.02, 1.05, dtype="float64")}


@pytest.fixture(scope="module")
def convergence():
    """The matrix of Fig. 2."""
    return make_tiles((400, 300), 5, height=(50, 100), noise=0.1, random_state=1)


def test_tiles_are_found_under_noise():
    tiles = make_tiles((40, 30), 3, height=(5, 10), noise=0.02, random_state=0)
    model = ELBMF(3, random_state=0).fit(tiles.A)
    assert model.reconstruction_err_ <= cover(tiles.A, tiles.U, tiles.V).loss
    B = model.inverse_transform(model.transform(tiles.A)).toarray()
    assert np.sum(tiles.A.toarray() != B) == model.reconstruction_err_
    unseen = tiles.truth.toarray()[::3]
    np.testing.assert_array_equal(
        model.inverse_transform(model.transform(unseen)).toarray(), unseen
    )


def test_printed_parameters_end_almost_boolean_by_epoch_300(convergence):
    with pytest.warns(ConvergenceWarning, match="rate or lam") as caught:
        model = ELBMF(5, **PAPER, max_iter=300, random_state=0).fit(convergence.A)
    assert caught[0].filename == __file__
    assert model.history_["gap"][-1] < 1e-3
    assert model.n_iter_ == 300
    assert model.history_["lam"][-1] == pytest.approx(0.02 * 1.05**300)


def test_constant_regularisation_never_ends_boolean(convergence):
    with pytest.warns(ConvergenceWarning, match=r"stalled.*gap of 0\..*leave the schedule"):
        model = ELBMF(5, schedule=Printed(0.01, 1, 1), max_iter=1000, random_state=0).fit(
            convergence.A
        )
    assert model.history_["gap"].min() > 0.05
    assert model.stop_reason_ == "stalled"


def test_default_schedule_ends_boolean_at_the_loss_of_the_truth(convergence):
    model = ELBMF(5, random_state=0).fit(convergence.A)
    assert model.history_["gap"][-1] < 1e-6
    assert model.stop_reason_ in ("boolean", "settled")
    assert model.reconstruction_err_ <= cover(convergence.A, convergence.U, convergence.V).loss
    assert len(model.run_losses_) == 2
    assert model.reconstruction_err_ == model.stages_["search"] <= min(model.run_losses_)


@pytest.mark.parametrize(
    ("parameters", "runs"),
    [
        ({}, 2),
        ({"effort": 0.01}, 2),
        ({"effort": 0}, 2),
        ({"n_init": 1}, 1),
        ({"refine": False}, 3),
        ({"refine": False, "time_limit": 1}, 3),
        ({"effort": 0, "n_init": 2}, 2),
        ({"n_init": 4}, 4),
        ({"refine": False, **PAPER}, 1),
        ({"refine": False, "init": (SMALL.U, SMALL.V)}, 1),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_runs_are_several_unless_said_otherwise(parameters, runs):
    model = ELBMF(3, max_iter=60, random_state=0, **parameters).fit(SMALL.A)
    assert len(model.run_losses_) == runs
    if not model.refine:
        assert model.reconstruction_err_ == min(model.run_losses_)


@pytest.mark.parametrize(("parameters", "runs"), [({}, 1), ({"n_init": 2}, 2)])
def test_runs_end_when_quick_starts_do_better(parameters, runs):
    # So many components for noise that greedy concepts are far ahead of the relaxation.
    A = np.random.default_rng(0).random((150, 150)) < 0.2
    model = ELBMF(120, effort=0.01, max_iter=100, random_state=0, **parameters).fit(A)
    assert len(model.run_losses_) == runs


@pytest.mark.parametrize("ones", [0, 10**9])
def test_large_data_gets_one_run(ones, monkeypatch):
    tuning = replace(TUNING, ones_for_several_runs=ones)
    monkeypatch.setattr("elbmf.search.portfolio.TUNING", tuning)
    model = ELBMF(3, max_iter=20, refine=False, random_state=0).fit(SMALL.A)
    assert len(model.run_losses_) == (3 if ones else 1)


@pytest.mark.parametrize("max_iter", [1, 2, 7, 60, 500])
def test_default_schedule_ends_boolean_within_any_number_of_epochs(max_iter):
    model = ELBMF(3, max_iter=max_iter, n_init=1, random_state=0).fit(SMALL.A)
    assert model.n_iter_ <= max_iter
    assert model.history_["gap"][-1] <= 1e-6


def test_the_result_without_refinement_is_the_rounded_iterate():
    with pytest.warns(ConvergenceWarning):
        model = ELBMF(3, **PRINTED, max_iter=20, refine=False, random_state=0).fit(SMALL.A)
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    generator = np.random.default_rng(seed)
    U, Vt = generator.random((40, 3)), generator.random((30, 3))
    A = SMALL.A.toarray().astype(float)
    *_, (U, V) = naive.palm(A, U, Vt.T, 20, 0.01, 0.02, 1.05)
    np.testing.assert_array_equal(model.membership_, U > 0.5)
    np.testing.assert_array_equal(model.components_, V > 0.5)


def test_own_initial_factors_are_the_start():
    generator = np.random.default_rng(3)
    U, V = generator.random((40, 3)), generator.random((3, 30))
    seen = []

    def look(state):
        seen.append((state.U.copy(), state.Vt.T.copy()))
        return True

    ELBMF(3, **PRINTED, init=(U, V), callback=look).fit(SMALL.A)
    A = SMALL.A.toarray().astype(float)
    expected = next(naive.palm(A, U, V, 1, 0.01, 0.02, 1.05))
    assert len(seen) == 1
    for ours, theirs in zip(seen[0], expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_true_factors_as_a_start_are_kept():
    model = ELBMF(3, init=(SMALL.U, SMALL.V), refine=False).fit(SMALL.truth)
    assert model.reconstruction_err_ == 0


@pytest.mark.parametrize(
    ("init", "message"),
    [
        ((np.ones((40, 2)), np.ones((3, 30))), r"U must have shape \(40, 3\).*got \(40, 2\)"),
        ((np.ones((40, 3)), np.ones((30, 3))), r"V must have shape \(3, 30\).*got \(30, 3\)"),
        ((np.ones((40, 3)), np.full((3, 30), np.nan)), "V has entries that are not finite"),
        ((np.full((40, 3), np.inf), np.ones((3, 30))), "U has entries that are not finite"),
        ((np.ones((40, 3)),), "a pair"),
        ((np.full((40, 3), 1e30), np.ones((3, 30))), "U has entries beyond"),
        ((np.ones((40, 3), complex), np.ones((3, 30))), "U must be a matrix of real numbers"),
        ((np.ones((40, 3)), np.full((3, 30), "x")), "V must be a matrix of real numbers"),
    ],
)
def test_initial_factors_are_checked(init, message):
    with pytest.raises(InputError, match=message):
        ELBMF(3, init=init).fit(SMALL.A)


@pytest.mark.parametrize(
    "parameters",
    [
        {"regularizer": "hinge"},
        {"regularizer": ELB},
        {"schedule": "printed"},
        {"schedule": Printed},
        {"init": "zeros"},
        {"n_init": 0},
        {"max_iter": 0},
        {"tol": -1},
        {"trace": "all"},
        {"n_jobs": 0},
        {"callback": 3},
        {"binarize": "yes"},
        {"refine": "often"},
        {"effort": -0.1},
        {"effort": np.inf},
        {"effort": np.nan},
        {"effort": "much"},
        {"effort": None},
        {"time_limit": -1},
        {"time_limit": np.inf},
        {"time_limit": "1 min"},
        {"extra_weight": 0},
        {"extra_weight": -1},
        {"extra_weight": np.nan},
        {"extra_weight": -np.inf},
        {"extra_weight": None},
        {"extra_weight": "inf"},
    ],
)
def test_parameters_are_checked(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"The '{name}' parameter of ELBMF must be"):
        ELBMF(3, **parameters).fit(SMALL.A)


def test_rate_may_be_a_callable():
    def fitted(rate):
        schedule = Printed(kappa=0.01, lam=0.02, rate=rate)
        return ELBMF(3, schedule=schedule, max_iter=100, random_state=0).fit(SMALL.A)

    with pytest.warns(ConvergenceWarning):
        power = fitted(1.05)
    with pytest.warns(ConvergenceWarning):
        called = fitted(lambda t: 1.05**t)
    np.testing.assert_allclose(called.history_["lam"], power.history_["lam"])
    np.testing.assert_array_equal(called.components_, power.components_)
    with pytest.raises(InputError, match=r"rate must return a number ≥ 0.*got nan for t=1"):
        fitted(lambda _: np.nan)


def test_any_rate_is_survived():
    for rate in (1.5, 1e10, 1e300, lambda _: np.inf):
        model = ELBMF(3, schedule=Printed(rate=rate), random_state=0).fit(SMALL.A)
        assert model.history_["gap"][-1] <= 1e-6
        assert np.isfinite(model.history_["relaxed_loss"]).all()


@pytest.mark.parametrize(
    ("coefficients", "prox"),
    [({"kappa": 5.0}, "alternative"), ({"kappa": 1e300}, "paper"), ({"lam": 1e300}, "exact")],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_absurd_coefficients_are_survived(coefficients, prox):
    X = np.random.default_rng(0).random((30, 20)) < 0.3
    for dtype in ("float32", "float64"):
        how = {"regularizer": ELB(prox), "schedule": Printed(**coefficients, dtype=dtype)}
        model = ELBMF(3, max_iter=60, random_state=0, **how).fit(X)
        assert np.isfinite(model.history_["gap"]).all()
        assert np.isfinite(model.history_["relaxed_loss"]).all()


def test_a_loose_tolerance_does_not_call_a_plateau_boolean():
    X = np.random.default_rng(0).random((100, 80)) < 0.2
    model = ELBMF(5, random_state=0, n_init=1, refine=False, tol=1e-3).fit(X)
    assert model.history_["gap"][-1] <= 1e-3
    with pytest.warns(ConvergenceWarning):
        ELBMF(5, schedule=Printed(0, 0, 1), tol=1e-3, random_state=0).fit(X)


def test_zero_lambda_stays_zero_at_an_infinite_rate():
    with pytest.warns(ConvergenceWarning):
        model = ELBMF(3, schedule=Printed(lam=0, rate=1e300), max_iter=30, random_state=0).fit(
            SMALL.A
        )
    assert not model.history_["lam"].any()


def test_basic_trace():
    history = ELBMF(3, random_state=0).fit(SMALL.A).history_
    assert list(history) == ["epoch", "relaxed_loss", "gap", "flips", "lam", "seconds"]
    np.testing.assert_array_equal(history["epoch"], np.arange(1, history["epoch"].size + 1))
    assert (np.diff(history["seconds"]) > 0).all()


def test_full_trace_adds_loss_gap_and_hamming_process():
    rounded = []

    def look(state):
        if state.stage == "epoch":
            rounded.append((state.U > 0.5, state.Vt.T > 0.5))

    A = SMALL.A.toarray()
    history = (
        ELBMF(3, trace="full", n_init=1, max_iter=40, callback=look, random_state=0).fit(A).history_
    )
    products = [naive.boolean_product(U, V) for U, V in rounded]
    losses = np.array([np.sum(A != B) for B in products])
    np.testing.assert_array_equal(history["rounded_loss"], losses)
    gaps = np.abs(history["relaxed_loss"] - losses)
    np.testing.assert_allclose(history["loss_gap"], gaps, rtol=0, atol=rounding(A.size))
    flips = [np.mean(a != b) for a, b in pairwise(products)]
    np.testing.assert_allclose(history["hamming"], np.concatenate([[0], np.cumsum(flips)]))


def test_callback_stops_the_run_and_later_ones():
    epochs = []

    def look(state):
        epochs.append((state.run, state.runs, state.iteration))
        return (state.run, state.iteration) == (2, 3)

    model = ELBMF(3, max_iter=10, n_init=5, callback=look, random_state=0).fit(
        make_tiles((40, 30), 3, height=(5, 10), noise=0.3, random_state=0).A
    )
    assert epochs[-1] == (2, 5, 3)
    assert len(model.run_losses_) == 2
    assert model.components_.shape == (3, 30)


def test_runs_end_when_nothing_is_left_to_gain():
    model = ELBMF(3, n_init=9, random_state=0).fit(SMALL.truth)
    assert model.reconstruction_err_ == 0
    assert len(model.run_losses_) < 9


def test_float64_on_request():
    seen = []
    for dtype in ("float32", "float64"):
        schedule = Annealed(dtype=dtype)
        ELBMF(3, schedule=schedule, callback=lambda s: seen.append(s.U.dtype) or True).fit(SMALL.A)
    assert seen == [np.float32, np.float64]


@pytest.mark.parametrize("step", ["spectral", "authors"])
@pytest.mark.parametrize("prox", ["exact", "paper"])
@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_all_variants_find_clean_tiles(step, prox, beta):
    model = ELBMF(
        3,
        schedule=Printed(0.01, 0.02, 1.02, step=step, beta=beta),
        regularizer=ELB(prox),
        max_iter=1500,
        random_state=0,
    ).fit(SMALL.truth)
    assert model.reconstruction_err_ <= 0.1 * SMALL.truth.nnz
    assert model.history_["gap"][-1] < 1e-3


def test_same_result_for_any_number_of_threads(n_jobs, convergence):
    expected = ELBMF(5, max_iter=60, n_jobs=1, random_state=0).fit(convergence.A)
    model = ELBMF(5, max_iter=60, n_jobs=n_jobs, random_state=0).fit(convergence.A)
    np.testing.assert_array_equal(model.components_, expected.components_)
    np.testing.assert_array_equal(model.membership_, expected.membership_)
    np.testing.assert_array_equal(model.history_["relaxed_loss"], expected.history_["relaxed_loss"])


def test_the_library_logs_and_does_not_print(caplog, capsys):
    with caplog.at_level(logging.INFO, logger="elbmf"):
        ELBMF(3, n_init=1, random_state=0).fit(SMALL.A)
    assert "epochs (boolean)" in caplog.text
    assert capsys.readouterr() == ("", "")


# --- refinement, search and weights in a fit ---


DATA = {
    "tiles": SMALL.A.toarray(),
    "noise": np.random.default_rng(0).random((50, 35)) < 0.3,
    "sparse": np.random.default_rng(1).random((150, 120)) < 0.01,
    "dense": np.random.default_rng(2).random((30, 45)) < 0.9,
    "full": np.ones((9, 7), dtype=bool),
    "empty": np.zeros((9, 7), dtype=bool),
    "wide": np.random.default_rng(3).random((7, 90)) < 0.4,
    "tall": np.random.default_rng(4).random((90, 7)) < 0.4,
}


def with_missing(A, share, seed=0):
    """The same with NaN at random cells, and the mask of these."""
    missing = np.random.default_rng(seed).random(A.shape) < share
    return np.where(missing, np.nan, A), missing


@pytest.mark.parametrize("extra_weight", [1, 3, 0.4, np.inf])
@pytest.mark.parametrize("name", DATA)
def test_fit_transform_agrees_with_transform(name, extra_weight):
    X, _ = with_missing(DATA[name], 0.1)
    model = ELBMF(5, max_iter=20, effort=0.1, extra_weight=extra_weight, random_state=0)
    U = model.fit_transform(X)
    np.testing.assert_array_equal(model.transform(X), U)


@pytest.mark.parametrize("extra_weight", [1, 3, 0.4, np.inf])
@pytest.mark.parametrize("n_init", [1, 3])
@pytest.mark.parametrize("name", DATA)
def test_no_stage_costs_more_than_the_one_before(name, n_init, extra_weight):
    X, missing = with_missing(DATA[name], 0.1)
    model = ELBMF(
        4, n_init=n_init, max_iter=20, effort=0.1, extra_weight=extra_weight, random_state=0
    ).fit(X)
    # Only a run with more components is reduced, after which it may cost more.
    assert [*model.stages_] == ["rounding", "refinement", "search"]
    costs = list(model.stages_.values())
    assert costs == sorted(costs, reverse=True)
    weights = Weights.of(extra_weight, X.shape)
    factors = model.membership_, model.components_
    assert costs[-1] == naive.cost(DATA[name], *factors, weights, missing)
    assert model.reconstruction_err_ == naive.cost(DATA[name], *factors, Weights(), missing)


def test_stages_without_refinement():
    model = ELBMF(4, refine=False, max_iter=60, random_state=0).fit(SMALL.A)
    assert model.stages_ == {"rounding": model.reconstruction_err_}


@pytest.mark.parametrize("name", DATA)
def test_from_below_no_zero_is_covered_in_fit_and_transform(name):
    A = DATA[name]
    X, missing = with_missing(A, 0.1)
    model = ELBMF(4, max_iter=20, effort=0.1, extra_weight=np.inf, random_state=0)
    _, extra = naive.errors(
        A, naive.boolean_product(model.fit_transform(X), model.components_), missing
    )
    assert not extra.any()
    others = A ^ (np.random.default_rng(7).random(A.shape) < 0.2)
    described = model.transform(others)
    assert not (naive.boolean_product(described, model.components_) & ~others).any()


def test_from_below_the_tiles_are_found_in_spite_of_holes():
    tiles = make_tiles((60, 50), 3, height=(10, 20), noise=0.0, random_state=1)
    A = tiles.truth.toarray() | (np.random.default_rng(0).random((60, 50)) < 0.05)
    model = ELBMF(3, extra_weight=np.inf, random_state=0).fit(A)
    assert model.reconstruction_err_ <= np.sum(tiles.truth.toarray() != A)


def test_extra_weight_moves_the_balance_of_errors():
    A = DATA["noise"]
    found = []
    for extra_weight in (0.2, 1, 5):
        model = ELBMF(5, max_iter=60, extra_weight=extra_weight, random_state=0).fit(A)
        found.append(cover(A, model.membership_, model.components_))
    assert found[0].extra > found[1].extra > found[2].extra
    assert found[0].missed < found[1].missed < found[2].missed
    for extra_weight, ours in zip((0.2, 1, 5), found, strict=True):
        costs = [each.missed + extra_weight * each.extra for each in found]
        assert ours.missed + extra_weight * ours.extra == min(costs)


def test_missing_cells_of_tiles_are_predicted():
    tiles = make_tiles((120, 100), 4, height=(20, 40), noise=0.0, random_state=5)
    truth = tiles.truth.toarray()
    X, missing = with_missing(truth, 0.2)
    model = ELBMF(4, random_state=0)
    B = model.inverse_transform(model.fit_transform(X)).toarray()
    assert model.reconstruction_err_ == np.sum((truth != B) & ~missing)
    assert np.mean(B[missing] == truth[missing]) >= 0.98
    X, missing = with_missing(truth, 0.2, seed=1)
    B = model.inverse_transform(model.transform(X)).toarray()
    assert np.mean(B[missing] == truth[missing]) >= 0.98


def test_what_missing_cells_hold_does_not_matter():
    A = DATA["noise"]
    _, missing = with_missing(A, 0.2)
    results = []
    for filler in (A, A | missing, A & ~missing):
        model = ELBMF(4, max_iter=60, effort=0.3, random_state=0).fit(filler, missing=missing)
        results.append((model.membership_, model.components_, model.stages_))
    for U, V, stages in results[1:]:
        np.testing.assert_array_equal(U, results[0][0])
        np.testing.assert_array_equal(V, results[0][1])
        assert stages == results[0][2]


def test_an_endless_effort_is_told_of_the_time_limit():
    with pytest.raises(ValueError, match=r"'effort'.*set time_limit=SECONDS.* Got inf"):
        ELBMF(effort=np.inf).fit(SMALL.A)


def test_search_parameters_have_defaults():
    parameters = ELBMF().get_params()
    assert parameters["effort"] == 1
    assert parameters["time_limit"] is None
    assert parameters["extra_weight"] == 1
    changed = ELBMF(effort=0.5, time_limit=3, extra_weight=np.inf, schedule=Printed(rate=1.1))
    assert clone(changed).get_params() == changed.get_params()


@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_factors_that_are_not_boolean_are_rounded_by_loss_before_refinement(refine, monkeypatch):
    calls = []

    def look(*arguments):
        calls.append(arguments)
        return round_by_loss(*arguments)

    monkeypatch.setattr("elbmf.estimators.elbmf.round_by_loss", look)
    ELBMF(3, **PAPER, max_iter=20, refine=refine, effort=0.1, random_state=0).fit(SMALL.A)
    assert len(calls) == refine
    ELBMF(3, max_iter=60, refine=refine, effort=0.1, n_init=1, random_state=0).fit(SMALL.A)
    assert len(calls) == refine  # the default schedule ends Boolean


def test_a_callback_ends_the_fit_whichever_run_is_the_best():
    reports = []

    def stop(report):
        reports.append(report)
        return report.run == 3

    model = ELBMF(3, n_init=5, random_state=0, callback=stop).fit(SMALL.A)
    assert model.stop_reason_ == "callback"
    assert reports[-1].run == 3


# --- regularizers and schedules ---


TILES = make_tiles((60, 45), 6, height=(8, 24), noise=0.3, overlap=True, random_state=2).A

# What came out, and after how many epochs, when κ, λ, ν, β, the operator and the step rule were
# parameters of ELBMF itself, and giving κ, λ or ν changed start, inertia and balancing.
RECORDED = {
    "kappa": ({"schedule": Printed(kappa=0.02)}, 612, 500, 73, 111),
    "all three": (
        {"schedule": Printed(0.01, 0.02, 1.02), "max_iter": 800},
        *(612, 800, 73, 112),
    ),
    "runs": ({"schedule": Printed(0.005, 0.001, 1.03), "n_init": 3}, 452, 500, 83, 102),
    "svd": ({"schedule": Printed(lam=0.02, rate=1.05), "init": "svd"}, 540, 399, 104, 59),
    "inertia and step": (
        {"schedule": Printed(rate=1.04, beta=0.5, step="authors")},
        *(603, 483, 96, 83),
    ),
    "printed operator": (
        {
            "schedule": Printed(rate=1.05, dtype="float64"),
            "regularizer": ELB("paper"),
            "max_iter": 200,
        },
        *(738, 200, 66, 111),
    ),
    "alternative operator": (
        {
            # Near its pole, single precision makes another way with every processor's own sums.
            "schedule": Printed(rate=1.05, dtype="float64"),
            "regularizer": ELB("alternative"),
            "max_iter": 200,
        },
        *(849, 200, 66, 62),
    ),
    "default": ({}, 423, 482, 98, 82),
    "other inertia": ({"schedule": Annealed(beta=0.3)}, 431, 478, 104, 78),
    "authors' step": ({"schedule": Annealed(step="authors")}, 418, 390, 101, 76),
    "double": ({"schedule": Annealed(dtype="float64")}, 429, 488, 107, 79),
    "callable": (
        {"schedule": Printed(rate=lambda t: 1 + t / 50), "max_iter": 300},
        *(556, 300, 76, 102),
    ),
}


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_schedules_do_what_the_parameters_they_replace_did(name):
    parameters, *expected = RECORDED[name]
    model = ELBMF(6, refine=False, random_state=0, **parameters).fit(TILES)
    U, V = model.membership_, model.components_
    assert [model.reconstruction_err_, model.n_iter_, U.sum(), V.sum()] == expected


def test_a_regularizer_is_an_object_or_a_name(monkeypatch):
    settings = {"max_iter": 60, "refine": False, "random_state": 0}
    for name, kind in REGULARIZERS.items():
        by_name = ELBMF(3, regularizer=name, **settings).fit(SMALL.A)
        as_object = ELBMF(3, regularizer=kind(), **settings).fit(SMALL.A)
        np.testing.assert_array_equal(by_name.components_, as_object.components_)

    class Twice(ElasticNet):
        def formula(self, xp, x, kappa, lam):
            return super().formula(xp, x, 2 * kappa, lam)

        operator = None

    monkeypatch.setitem(REGULARIZERS, "twice", Twice)
    seen = []

    def look(state):
        seen.append(state.U.sum())

    for regularizer in ("elastic_net", "twice"):
        ELBMF(3, regularizer=regularizer, n_init=1, callback=look, **settings).fit(SMALL.A)
    assert seen[30] > seen[90]


def test_a_schedule_says_what_goes_with_it(monkeypatch):
    starts = []

    def spied(engine, U, Vt, **options):
        told = [getattr(options["schedule"], name) for name in ("beta", "balance", "step")]
        starts.append((np.asarray(Vt.current[:]).max(), *told))
        return ipalm(engine, U, Vt, **options)

    monkeypatch.setattr("elbmf.estimators.relaxer.ipalm", spied)
    mixed = Printed(beta=0.5, balance=True, step="authors", start_scale=1e-3)
    for schedule in (None, Annealed(), Printed(), mixed, Annealed(balance=False, start="random")):
        ELBMF(3, schedule=schedule, callback=lambda _: True, random_state=0).fit(SMALL.A)
    scales, *told = zip(*starts, strict=True)
    assert [round(np.log10(scale)) for scale in scales] == [-3, -3, 0, -3, -3]
    assert list(zip(*told, strict=True)) == [
        (0.9, True, "spectral"),
        (0.9, True, "spectral"),
        (0.0, False, "spectral"),
        (0.5, True, "authors"),
        (0.9, False, "spectral"),
    ]


def test_a_schedule_of_your_own():
    class Constant(Schedule):
        def strength(self, t, lipschitz):
            return Annealed(9).strength(8, lipschitz)

    kappas = []

    def look(state):
        kappas.append(state.strength.kappa)

    with pytest.warns(ConvergenceWarning):
        ELBMF(
            3, schedule=Constant(beta=0.5), max_iter=5, refine=False, callback=look, random_state=0
        ).fit(SMALL.A)
    assert kappas == [Annealed(9).strength(8, 1.0).kappa] * 5


@pytest.mark.filterwarnings("ignore:n_components=500 is more than")
def test_components_beyond_what_is_needed_are_empty_and_last():
    A = (np.random.default_rng(0).random((50, 20)) < 0.3).astype(int)
    seen = []
    model = ELBMF(500, random_state=0, callback=lambda report: seen.append(report.n_components))
    model.fit(A)
    assert {*seen} == {20}
    assert model.reconstruction_err_ == 0
    assert model.components_.shape == (500, 20)
    assert model.n_components_ <= 20
    assert model.components_.any(axis=1)[: model.n_components_].all()
    frame = model.components_frame()
    assert set(frame["doubts"][model.n_components_ :]) == {"empty"}
    assert "empty" not in set(frame["doubts"][: model.n_components_])
