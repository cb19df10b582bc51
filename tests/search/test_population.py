"""The population: what a search keeps, where it ends, and what a fit makes of it."""

import json
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf import ELBMF
from elbmf.boolean.coverage import Weights
from elbmf.datasets import make_tiles
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.evolution import Search
from elbmf.search.local import LocalSearch
from elbmf.search.population import Population
from elbmf.search.short_relaxation import relax
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING
from strategies import starts, weights

NOISY = make_tiles((60, 50), 5, height=(5, 20), noise=0.2, random_state=0).A.toarray()


# How newcomers come about.
GROWN = {}
RELAXED = {"relaxing": True}
ANNEALED = {"sweeps": 10}
BOTH = {"relaxing": True, "sweeps": 10}
ALL_KINDS = pytest.mark.parametrize("newcomers", [GROWN, RELAXED, ANNEALED, BOTH])


def packed(case, weights=None):
    """The data as the search wants it, and factors to start from, descended."""
    A, missing, U, V = case
    local = LocalSearch(BooleanMatrix.from_array(A, missing=missing), weights, 1)
    factors = local.pack(U, V)
    local.descend(factors)
    return local, factors


def start(A, k, seed=0):
    """Factors that are descended from a random start."""
    generator = np.random.default_rng(seed)
    U, V = generator.random((A.shape[0], k)) < 0.5, generator.random((k, A.shape[1])) < 0.5
    return packed((A, None, U, V))


def used_components(U, V):
    return U.any(axis=0) & V.any(axis=1)


def searched(
    A, k, most_work, *, n_jobs=1, seed=0, deadline=np.inf, keep=None, newcomers=GROWN, **options
):
    """Search from a random start; returns factors and the search."""
    local, factors = start(A, k, seed)
    local.n_jobs, local.alarm = n_jobs, Alarm(deadline)
    with Search(local, k, np.random.default_rng(seed), most_work, **options) as search:
        return search.improve([factors], keep, **newcomers), search


# --- pooling ---


@given(case=starts(components=st.integers(1, 6)), weights=weights, data=st.data())
def test_a_pool_is_reduced_to_the_components_that_are_wanted(case, weights, data):
    A, missing, U, V = case
    generator = np.random.default_rng(0)
    other = generator.random(U.shape) < 0.5, generator.random(V.shape) < 0.5
    local, factors = packed(case, weights)
    wanted = data.draw(st.integers(1, 2 * U.shape[1]))
    with Search(local, wanted, generator, 0) as search:
        reduced = search.reduce(factors, local.pack(*other))
    left, right = reduced.to_arrays()
    assert left.shape[1] == right.shape[0] == wanted
    assert reduced.cost == naive.cost(A, left, right, weights, missing)


def test_a_pool_takes_the_best_of_both():
    tiles = make_tiles((60, 50), 4, height=(8, 15), noise=0.0, random_state=3)
    local = LocalSearch(BooleanMatrix.from_array(tiles.A), None, 1)
    halves = [np.array([True, True, False, False]), np.array([False, False, True, True])]
    parents = [local.pack(tiles.U & h, tiles.V & h[:, None]) for h in halves]
    assert all(parent.cost for parent in parents)
    with Search(local, 4, np.random.default_rng(0), 0) as search:
        assert search.reduce(*parents).cost == 0


def test_a_reduction_lets_one_half_of_a_group_stand_in_for_the_other():
    A = np.zeros((40, 30), dtype=bool)
    A[:20, :15] = A[20:25, 20:24] = True
    A[:20, 28] = A[3, 16] = True  # no row is like another
    U, V = np.zeros((40, 3), dtype=bool), np.zeros((3, 30), dtype=bool)
    U[:10, 0] = U[10:20, 1] = U[20:25, 2] = True
    V[0, :15] = V[1, :15] = V[2, 20:24] = True
    local = LocalSearch(BooleanMatrix.from_array(A), None, 1)
    with Search(local, 2, np.random.default_rng(0), 1e6) as search:
        assert search.reduce(local.pack(U, V)).cost == 1


# --- the search ---


@given(case=starts(length=25), weights=weights, seed=st.integers(0, 99))
def test_search_never_raises_the_cost_and_counts_it_right(case, weights, seed):
    A, missing, U, _ = case
    local, factors = packed(case, weights)
    before = factors.cost
    with Search(local, U.shape[1], np.random.default_rng(seed), 2e7) as search:
        best = search.improve([factors])
    assert best.cost <= before
    left, right = best.to_arrays()
    assert best.cost == naive.cost(A, left, right, weights, missing)
    assert left.shape[1] == U.shape[1]


def test_search_improves_what_refinement_leaves():
    _, factors = start(NOISY, 5)
    best, search = searched(NOISY, 5, 1e8)
    assert best.cost < 0.95 * factors.cost
    assert search.over
    assert search.progress == 1


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (30, 20)])
@pytest.mark.parametrize("fill", [0, 1])
def test_search_of_constant_data_finds_all(shape, fill):
    A = np.full(shape, fill, dtype=bool)
    best, _ = searched(A, 3, 1e7)
    assert best.cost == 0


@ALL_KINDS
def test_a_longer_search_is_never_worse(newcomers):
    works = (0, 1e6, 3e6, 1e7, 2e7, 3e7, 5e7, 1e8, 3e8)
    costs = [searched(NOISY, 6, work, newcomers=newcomers)[0].cost for work in works]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


@ALL_KINDS
def test_search_is_the_same_for_any_number_of_threads(n_jobs, newcomers):
    work = 2e8 if newcomers else 3e7
    expected, search = searched(NOISY, 5, work, newcomers=newcomers)
    best, other = searched(NOISY, 5, work, newcomers=newcomers, n_jobs=n_jobs)
    assert other.work == search.work
    for ours, theirs in zip(best.to_arrays(), expected.to_arrays(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_search_ends_at_its_deadline():
    for seconds in (-1, 0, 0.2):
        reports = []
        _, search = searched(
            NOISY,
            5,
            np.inf,
            deadline=time.perf_counter() + seconds,
            observe=lambda *seen, reports=reports: reports.append(seen) and False,
        )
        assert search.over
        assert search.progress == 1
        costs, progress = np.array(reports).reshape(-1, 2).T
        assert (np.diff(costs) <= 0).all()
        assert ((progress >= 0) & (progress <= 1)).all()
        assert (np.diff(progress) >= 0).all()


@pytest.mark.parametrize("rounds", [1, 2, 5, 20])
def test_an_observer_ends_the_search_and_nothing_is_lost(rounds):
    seen = []

    def observe(cost, progress):
        seen.append(cost)
        return len(seen) == rounds

    best, _ = searched(NOISY, 5, 1e9, observe=observe)
    assert len(seen) == rounds
    assert best.cost == seen[-1] == min(seen)
    assert best.cost == naive.cost(NOISY, *best.to_arrays(), Weights())


def test_search_ends_where_nothing_is_left_to_gain():
    tiles = make_tiles((40, 30), 3, height=(5, 10), noise=0.0, random_state=0)
    best, search = searched(tiles.A.toarray(), 3, 1e9)
    assert best.cost == 0
    assert not search.over


# --- newcomers and families ---


@given(case=starts(components=st.integers(1, 6)), weights=weights, seed=st.integers(0, 9))
def test_a_relaxation_ends_boolean_and_depends_on_its_seed_alone(case, weights, seed):
    A, missing, U, _ = case
    local = LocalSearch(BooleanMatrix.from_array(A, missing=missing), weights, 1)
    left, right = relax(local, U.shape[1], 12, seed, lambda: False)
    assert left.dtype == right.dtype == np.bool_
    assert left.shape == (A.shape[0], U.shape[1])
    assert right.shape == (U.shape[1], A.shape[1])
    again = relax(local, U.shape[1], 12, seed, lambda: False)
    np.testing.assert_array_equal(again[0], left)
    np.testing.assert_array_equal(again[1], right)


def test_a_relaxation_ends_when_it_is_told_to():
    local = LocalSearch(BooleanMatrix.from_array(NOISY), None, 1)
    asked = []
    relax(local, 5, 1000, 0, lambda: bool(asked.append(1)) or len(asked) == 3)
    assert len(asked) == 3


def test_relaxations_from_different_seeds_are_different():
    local = LocalSearch(BooleanMatrix.from_array(NOISY), None, 1)
    found = {relax(local, 5, 60, seed, lambda: False)[1].tobytes() for seed in range(4)}
    assert len(found) > 1


@pytest.mark.parametrize("newcomers", [GROWN, RELAXED])
def test_the_best_has_a_family_and_newcomers_follow(newcomers):
    seen = []

    def keep(population):
        members = [each.cost for each in population.members]
        seen.append((population.family, population.size, members, population.best.cost))

    best, _ = searched(NOISY, 3, 2.5e9 if newcomers else 1e9, keep=keep, newcomers=newcomers)
    families = [place for place, (family, _, _, _) in enumerate(seen) if family]
    # It begins with the best alone.
    first = seen[families[0]]
    assert first[2] == [first[3]]
    after = [place for place in range(families[0], len(seen)) if not seen[place][0]]
    assert bool(after) == bool(newcomers)
    if after:
        # More than there were at first, and without the best, which is not forgotten.
        _, size, members, least = seen[after[0]]
        assert not members
        assert size > seen[0][1]
        assert best.cost <= least
    assert best.cost <= min(min(members) for _, _, members, _ in seen if members)


@pytest.mark.parametrize("newcomers", [ANNEALED, BOTH])
def test_annealed_newcomers_grow_up_before_they_meet_the_best(newcomers):
    seen = []

    def keep(population):
        assert not population.family
        members = [each.cost for each in population.members]
        seen.append((population.size, members, population.best.cost))

    best, _ = searched(NOISY, 5, 1e9, keep=keep, newcomers=newcomers)
    begun = [place for place, (_, members, _) in enumerate(seen) if not members]
    assert len(begun) > 1
    sizes = [seen[place][0] for place in begun]
    assert sizes == [TUNING.annealed_population * 2**n for n in range(len(begun))]
    for place, following in pairwise([*begun, len(seen) - 1]):
        together = [members for _, members, _ in seen[place:following] if members]
        # Whoever is the best in the end was one of them, if only at last.
        if following in begun:
            assert min(together[-1]) == seen[following][2]
    assert best.cost <= min(least for _, _, least in seen)


@pytest.mark.parametrize("shape", [(3, 4), (12, 9)])
def test_a_family_of_one_ends_and_does_not_wait_for_others(shape):
    # Every variant is the same again.
    A = np.ones(shape, dtype=bool)
    A[0, 0] = False
    best, search = searched(A, 1, 3e8)
    assert best.cost == 1
    assert search.over


@pytest.mark.parametrize(
    ("newcomers", "family"),
    [(GROWN, False), (GROWN, True), (RELAXED, False), (RELAXED, True), (BOTH, False)],
)
def test_a_search_goes_on_from_where_another_was(newcomers, family):
    k, work, kept = 3, 2.5e9 if newcomers is RELAXED else 1e9, []
    local, factors = start(NOISY, k)
    generator = np.random.default_rng(0)

    def keep(population):
        # Beside others that are under way.
        if not kept and population.work > 1e7 and population.family == family:
            facts, arrays = population.to_arrays()
            kept.append((json.loads(json.dumps(facts)), arrays, generator.bit_generator.state))

    with Search(local, k, generator, work) as search:
        expected = search.improve([factors], keep, **newcomers)
    facts, arrays, state = kept[0]
    generator.bit_generator.state = state
    with Search(local, k, generator, work) as search:
        best = search.improve(Population.from_arrays(facts, arrays))
    for ours, theirs in zip(best.to_arrays(), expected.to_arrays(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


# --- in a fit ---


@pytest.mark.parametrize("seed", [1, 2, 5, 9, 14, 15, 22, 71, 75, 116])
def test_more_effort_is_never_worse(seed):
    generator = np.random.default_rng(seed)
    shape = tuple(generator.integers(10, 40, 2))
    k = int(generator.integers(2, 6))
    A = generator.random(shape) < 0.3
    if seed % 2 == 0:
        A = make_tiles(shape, k, height=(2, 8), noise=0.2, random_state=seed).A.toarray()
    losses = [
        ELBMF(k, effort=effort, max_iter=60, random_state=seed).fit(A).reconstruction_err_
        for effort in (0, 0.05, 0.1, 0.3, 1, 3)
    ]
    assert losses == sorted(losses, reverse=True)


def test_more_effort_pays():
    losses = [
        ELBMF(6, effort=effort, n_init=1, max_iter=60, random_state=0).fit(NOISY).stages_["search"]
        for effort in (0, 3)
    ]
    assert losses[1] < losses[0]


def test_turns_of_a_descent_can_be_limited():
    local = LocalSearch(BooleanMatrix.from_array(NOISY), None, 1)
    generator = np.random.default_rng(0)
    U, V = generator.random((60, 5)) < 0.5, generator.random((5, 50)) < 0.5
    costs = []
    for turns in (1, 2, 4, None):
        factors = local.pack(U, V)
        local.descend(factors, turns)
        costs.append(factors.cost)
        assert factors.cost == naive.cost(NOISY, *factors.to_arrays(), Weights(), None)
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1]


def test_a_fit_that_is_ended_early_makes_the_best_of_what_it_has():
    stopped = ELBMF(5, callback=lambda state: state.iteration >= 3, random_state=0).fit(NOISY)
    assert stopped.stop_reason_ == "callback"
    assert stopped.n_iter_ == 3
    assert stopped.reconstruction_err_ == stopped.stages_["refinement"]
    assert stopped.stages_["refinement"] < stopped.stages_["rounding"]
    assert stopped.bits_saved_.shape == (5,)


@pytest.mark.parametrize("stage", ["epoch", "search"])
def test_ctrl_c_leaves_the_best_so_far(stage):
    def press(report):
        if report.stage == stage and report.progress > 0.3:
            raise KeyboardInterrupt

    model = ELBMF(5, callback=press, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(NOISY)
    assert model.stop_reason_ == "interrupted"
    factors = model.membership_, model.components_
    assert model.reconstruction_err_ == naive.cost(NOISY, *factors, Weights())
    assert model.reconstruction_err_ < NOISY.sum()


def test_the_best_so_far_is_told_from_the_first_epoch_on():
    best = []
    model = ELBMF(5, callback=lambda report: best.append(report.best), random_state=0).fit(NOISY)
    assert best == sorted(best, reverse=True)
    assert best[0] < NOISY.sum()
    assert best[-1] >= model.reconstruction_err_


def test_a_time_limit_ends_the_fit():
    for time_limit in (0, 0.5):
        model = ELBMF(5, effort=1e9, time_limit=time_limit, random_state=0).fit(NOISY)
        assert model.reconstruction_err_ == model.stages_["search"]
        assert model.n_components_ == 5


def test_the_callback_sees_relaxation_and_then_search():
    states = []
    model = ELBMF(5, max_iter=40, n_init=1, callback=states.append, random_state=0).fit(NOISY)
    stages = [state.stage for state in states]
    epochs = stages.count("epoch")
    assert epochs == model.n_iter_
    assert stages == ["epoch"] * epochs + ["search"] * (len(stages) - epochs)
    search = states[epochs:]
    assert search
    assert {state.iteration for state in search} == {model.n_iter_}
    costs = np.array([state.loss for state in search])
    assert (np.diff(costs) <= 0).all()
    assert model.reconstruction_err_ <= costs[-1]
    assert (np.diff([state.progress for state in search]) >= 0).all()
    assert search[-1].progress <= 1
    assert (np.diff([state.seconds for state in states]) >= 0).all()


def test_a_callback_that_ends_the_search_keeps_what_was_found():
    seen = []

    def look(state):
        if state.stage == "search":
            seen.append(state.loss)
        return len(seen) == 3

    model = ELBMF(5, max_iter=40, callback=look, random_state=0).fit(NOISY)
    assert len(seen) == 3
    assert model.stop_reason_ == "callback"
    assert model.reconstruction_err_ <= seen[-1]


@pytest.mark.parametrize("seed", range(8))
def test_all_components_are_used_unless_nothing_is_left_to_cover(seed):
    generator = np.random.default_rng(seed)
    A = generator.random(generator.integers(6, 30, 2)) < generator.choice([0.1, 0.3, 0.6])
    k = int(generator.integers(1, 6))
    model = ELBMF(k, max_iter=60, effort=0.3, random_state=seed).fit(A)
    used = used_components(model.membership_, model.components_)
    assert model.n_components_ == used.sum()
    assert used[: model.n_components_].all()  # the others are the last
    assert model.n_components_ == k or model.reconstruction_err_ == 0
    assert model.components_.shape[0] == k


def test_components_that_are_not_needed_stay_empty():
    A = np.zeros((6, 6), dtype=bool)
    A[2, 3] = True
    model = ELBMF(4, random_state=0).fit(A)
    assert model.reconstruction_err_ == 0
    assert model.n_components_ == 1
    assert not model.components_[1:].any()
    assert not model.membership_[:, 1:].any()


@pytest.mark.slow
def test_the_best_of_all_factorizations_is_found_almost_always():
    found = []
    for shape, k in (((8, 8), 1), ((8, 8), 2), ((6, 6), 3)):
        for seed in range(20):
            generator = np.random.default_rng(seed)
            A = generator.random(shape) < generator.choice([0.2, 0.35, 0.5, 0.65, 0.8])
            loss = ELBMF(k, n_jobs=1, max_iter=100, random_state=0).fit(A).reconstruction_err_
            least = naive.least_cost(A, k)
            assert loss >= least
            found.append(loss == least)
    assert np.mean(found) >= 0.95


@pytest.mark.parametrize("interruptible", [True, False])
def test_ctrl_c_is_raised_unless_the_best_will_do(interruptible):
    def press(population):
        raise KeyboardInterrupt

    local, factors = start(NOISY, 5)
    with Search(local, 5, np.random.default_rng(0), 1e8) as search:
        if interruptible:
            found = search.improve([factors], press, interruptible=True)
            assert found.cost <= factors.cost
        else:
            with pytest.raises(KeyboardInterrupt):
                search.improve([factors], press)
        assert search.aborted
