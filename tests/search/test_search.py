"""Moves beyond the local optimum: what they claim, what they keep, where the search ends."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf import ELBMF
from elbmf.boolean.coverage import Weights
from elbmf.boolean.packed import unpack
from elbmf.datasets import make_tiles
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.kernels import moves
from elbmf.search.kernels.lines import Effort
from elbmf.search.local import MOST_TURNS, LocalSearch
from elbmf.search.moves import Search, make_do
from strategies import examples, starts, weights

NOISY = make_tiles((60, 50), 5, height=(5, 20), noise=0.2, random_state=0).A.toarray()


def packed(case, weights=None, *, with_spare=True, descended=True):
    """The data as the search wants it, and factors to start from."""
    A, missing, U, V = case
    local = LocalSearch(BooleanMatrix.from_array(A, missing=missing), weights, 1)
    factors = local.pack(U, V, with_spare=with_spare)
    if descended:
        local.descend(factors)
    return local, factors


def start(A, k, seed=0):
    """Factors that are descended from a random start."""
    generator = np.random.default_rng(seed)
    U, V = generator.random((A.shape[0], k)) < 0.5, generator.random((k, A.shape[1])) < 0.5
    return packed((A, None, U, V))


def whole(factors):
    """The factors with the spare."""
    U, V = (
        unpack(component_bits, length)
        for component_bits, length in zip(factors.bits.component_bits, factors.shape, strict=True)
    )
    return U.T, V


def snapshot(bits):
    arrays = [*bits.memberships, *bits.component_bits, *bits.pending, bits.stale]
    return [array.copy() for array in arrays]


def assert_consistent(bits):
    """Memberships and component_bits say the same."""
    for memberships, component_bits in zip(bits.memberships, bits.component_bits, strict=True):
        k, lines = component_bits.shape[0], memberships.shape[0]
        np.testing.assert_array_equal(unpack(memberships, k), unpack(component_bits, lines).T)


def used_components(U, V):
    return U.any(axis=0) & V.any(axis=1)


def searched(A, k, most_work, *, n_jobs=1, seed=0, **options):
    """Search from a random start; returns factors and the search."""
    local, factors = start(A, k, seed)
    local.n_jobs = n_jobs
    with Search(local, np.random.default_rng(seed), most_work, **options) as search:
        return search.improve(factors), search


# --- moves ---


@st.composite
def attempts(draw):
    """A start, and a seed or a split to be tried, with or without a component to drop."""
    case = draw(starts(components=st.integers(1, 8)))
    (n, m), k = case[0].shape, case[2].shape[1]
    axis = draw(st.integers(0, 1))
    dropped = draw(st.integers(-1, k - 1))
    line, component = -1, -1
    if draw(st.booleans()):
        line = draw(st.integers(0, (n, m)[axis] - 1))
    else:
        component = draw(st.sampled_from([l for l in range(k + 1) if l != dropped]))
    return case, {"dropped": dropped, "axis": axis, "line": line, "component": component}


def attempted(local, factors, dropped, axis, line, component, quick):
    trial = moves.Trial.of(factors.bits.copy(), local.A.ones)
    move, effort = moves.Move(axis, line, component, dropped), Effort(local.nodes)
    spare, gained, work = local.attempt(trial, factors.spare, move, effort, MOST_TURNS, quick)
    assert work >= 0
    return type(factors)(factors.shape, trial.bits, factors.cost - gained, spare)


@given(attempt=attempts(), weights=weights, descended=st.booleans())
@examples(600)
def test_a_move_gains_what_it_claims_on_a_copy(attempt, weights, descended):
    case, move = attempt
    A, missing, U, _ = case
    local, factors = packed(case, weights, descended=descended)
    before = snapshot(factors.bits)
    made = attempted(local, factors, **move, quick=False)
    for array, kept in zip(snapshot(factors.bits), before, strict=True):
        np.testing.assert_array_equal(array, kept)
    if made.cost > 1 << 50:
        return  # there was nothing to seed with or to split
    assert made.cost == naive.cost(A, *made.to_arrays(), weights, missing)
    assert_consistent(made.bits)
    full_U, full_V = whole(made)
    assert not full_U[:, made.spare].any()
    assert not full_V[made.spare].any()
    assert used_components(full_U, full_V).sum() <= U.shape[1]
    if move["dropped"] >= 0:
        assert made.spare == move["dropped"]


@given(attempt=attempts(), weights=weights)
@examples(400)
def test_a_quick_look_counts_what_the_least_useful_is_worth(attempt, weights):
    case, move = attempt
    A, missing, _, _ = case
    local, factors = packed(case, weights)
    before = snapshot(factors.bits)
    made = attempted(local, factors, **move, quick=True)
    for array, kept in zip(snapshot(factors.bits), before, strict=True):
        np.testing.assert_array_equal(array, kept)
    if made.cost > 1 << 50:
        return
    assert_consistent(made.bits)
    U, V = whole(made)
    if move["dropped"] >= 0:
        assert not U[:, move["dropped"]].any()
        expected = naive.cost(A, U, V, weights, missing)
    else:
        rests = [np.arange(U.shape[1]) != l for l in range(U.shape[1]) if l != factors.spare]
        expected = min(naive.cost(A, U[:, rest], V[rest], weights, missing) for rest in rests)
    assert made.cost == expected


def test_moves_that_cannot_be_made_are_never_the_best():
    A = np.eye(4, dtype=bool)
    local, factors = packed((A, None, A, A))
    assert factors.cost == 0
    for move in ({"line": 0, "component": -1}, {"line": -1, "component": 2}):
        made = attempted(local, factors, dropped=-1, axis=0, **move, quick=False)
        assert made.cost > A.size


def test_a_seed_finds_a_tile_that_is_missing():
    U, V = np.zeros((20, 2), bool), np.zeros((2, 30), bool)
    U[:8, 0], V[0, :9], U[10:, 1], V[1, 15:] = True, True, True, True
    A = naive.boolean_product(U, V)
    for axis, line in ((0, 12), (1, 20)):
        local, factors = packed((A, None, U & [True, False], V & [[True], [False]]))
        assert factors.cost == 150
        made = attempted(local, factors, -1, axis, line, -1, quick=False)
        assert made.cost == 0


@pytest.mark.parametrize("axis", [0, 1])
def test_a_split_parts_two_merged_tiles(axis):
    U, V = np.zeros((20, 2), bool), np.zeros((2, 30), bool)
    U[:8, 0], V[0, :9], U[8:, 1], V[1, 9:20] = True, True, True, True
    A = naive.boolean_product(U, V)
    merged = U.any(axis=1, keepdims=True) & [True, False], V.any(axis=0) & [[True], [False]]
    local, factors = packed((A, None, *merged), descended=False)
    made = attempted(local, factors, -1, axis, -1, 0, quick=False)
    assert made.cost == 0


@given(case=starts(components=st.integers(1, 12)), weights=weights, data=st.data())
@examples(150)
def test_shrinking_drops_the_least_useful_one_by_one(case, weights, data):
    A, missing, U, V = case
    local, _ = packed(case, weights, with_spare=False, descended=False)
    count = data.draw(st.integers(0, U.shape[1]))
    shrunk_U, shrunk_V, _ = local.shrink(U, V, count)

    U, V = U.copy(), V.copy()
    while used_components(U, V).sum() > count:

        def without(l, U=U, V=V):
            rest = np.arange(U.shape[1]) != l
            return naive.cost(A, U[:, rest], V[rest], weights, missing)

        worst = min(np.flatnonzero(used_components(U, V)), key=without)
        U[:, worst], V[worst] = False, False
    kept = np.argsort(~used_components(U, V), kind="stable")[:count]
    np.testing.assert_array_equal(shrunk_U, U[:, kept])
    np.testing.assert_array_equal(shrunk_V, V[kept])


@given(case=starts(components=st.integers(1, 70)), data=st.data())
def test_a_cleared_component_is_empty_and_its_lines_are_pending(case, data):
    _, _, U, V = case
    _, factors = packed(case, with_spare=False, descended=False)
    for pending in factors.bits.pending:
        pending[:] = False
    l = data.draw(st.integers(0, U.shape[1] - 1))
    moves.clear(factors.bits, l)
    assert_consistent(factors.bits)
    rest = np.arange(U.shape[1]) != l
    for ours, expected in zip(whole(factors), (U * rest, V * rest[:, None]), strict=True):
        np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(factors.bits.pending[0], U[:, l])
    np.testing.assert_array_equal(factors.bits.pending[1], V[l])


# --- recombination ---


@given(case=starts(components=st.integers(1, 6)), weights=weights, seed=st.integers(0, 99))
def test_a_child_is_made_of_its_parents_components(case, weights, seed):
    A, missing, U, V = case
    generator = np.random.default_rng(seed)
    other = generator.random(U.shape) < 0.5, generator.random(V.shape) < 0.5
    local, factors = packed(case, weights)
    parents = [factors, local.pack(*other, with_spare=True)]
    k = U.shape[1]
    with Search(local, generator, 0) as search, pytest.MonkeyPatch.context() as patch:
        child = search.recombine(parents, k)
        patch.setattr(local, "descend", lambda factors: 0)
        raw = search.recombine(parents, k)
    for made in (child, raw):
        assert made.cost == naive.cost(A, *made.to_arrays(), weights, missing)
        assert made.n_slots == k + 1
        assert not made.used()[made.spare]
    assert child.cost <= raw.cost
    pool = set()
    for parent in parents:
        left, right = parent.to_arrays()
        pool |= {(u.tobytes(), v.tobytes()) for u, v in zip(left.T, right, strict=True)}
    left, right = raw.to_arrays()
    for l in np.flatnonzero(used_components(left, right)):
        assert (left[:, l].tobytes(), right[l].tobytes()) in pool


def test_recombination_takes_the_best_of_both():
    tiles = make_tiles((60, 50), 4, height=(8, 15), noise=0.0, random_state=3)
    local = LocalSearch(BooleanMatrix.from_array(tiles.A), None, 1)
    halves = [np.array([True, True, False, False]), np.array([False, False, True, True])]
    parents = [local.pack(tiles.U & h, tiles.V & h[:, None], with_spare=True) for h in halves]
    assert all(parent.cost for parent in parents)
    with Search(local, np.random.default_rng(0), 0) as search:
        assert search.recombine(parents, 4).cost == 0


# --- the search ---


@given(case=starts(length=25), weights=weights, seed=st.integers(0, 99))
def test_search_never_raises_the_cost_and_counts_it_right(case, weights, seed):
    A, missing, U, _ = case
    local, factors = packed(case, weights)
    before = factors.cost
    with Search(local, np.random.default_rng(seed), 2e7) as search:
        best = search.improve(factors)
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


def test_search_is_the_same_for_any_number_of_threads(n_jobs):
    expected, search = searched(NOISY, 5, 3e7)
    best, other = searched(NOISY, 5, 3e7, n_jobs=n_jobs)
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


@pytest.mark.parametrize("n_components", [1, 2, 4])
def test_a_reduction_does_with_fewer_components(n_components):
    local, factors = start(NOISY, 6)
    before = factors.cost
    with Search(local, np.random.default_rng(0), 1e6) as search:
        reduced = search.reduce(factors, n_components)
    U, V = reduced.to_arrays()
    assert U.shape[1] == V.shape[0] == n_components
    assert reduced.cost == naive.cost(NOISY, U, V, Weights(), None)
    assert factors.cost == before


def test_a_reduction_lets_one_half_of_a_group_stand_in_for_the_other():
    A = np.zeros((40, 30), dtype=bool)
    A[:20, :15] = A[20:25, 20:24] = True
    U, V = np.zeros((40, 3), dtype=bool), np.zeros((3, 30), dtype=bool)
    # A group that is split costs most to lose either half of, but nothing when the rest adapts.
    U[:10, 0] = U[10:20, 1] = U[20:25, 2] = True
    V[0, :15] = V[1, :15] = V[2, 20:24] = True
    local = LocalSearch(BooleanMatrix.from_array(A), None, 1)
    with Search(local, np.random.default_rng(0), 1e6) as search:
        assert search.reduce(local.pack(U, V, with_spare=True), 2).cost == 0


@given(case=starts(components=st.integers(1, 6)), weights=weights, quick=st.booleans())
def test_making_do_keeps_the_number_of_components(case, weights, quick):
    A, missing, U, _ = case
    local, factors = packed(case, weights, descended=False)
    wanted = max(1, U.shape[1] - 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("elbmf.search.moves._ONES_IN_NO_TIME", 1000 if quick else -1)
        least = make_do(local, factors, wanted)
    assert least.to_arrays()[0].shape[1] == wanted
    assert least.cost == naive.cost(A, *least.to_arrays(), weights, missing)


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


def test_a_time_limit_ends_the_fit():
    for time_limit in (0, 0.5):
        model = ELBMF(5, effort=1e9, time_limit=time_limit, random_state=0).fit(NOISY)
        assert model.reconstruction_err_ == model.stages_["search"]
        assert model.stages_["search"] <= model.stages_["reduction"]


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
