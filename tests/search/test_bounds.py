"""Lower bounds of the loss, against all factorizations there are."""

import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_exact import least_cost, local_search, tables

import naive
from elbmf import loss_bound
from elbmf.boolean.coverage import Weights
from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search import bounds as module
from elbmf.search.bounds import bound_blocks, bound_fooling, fooled_cost
from elbmf.search.local import LocalSearch
from elbmf.utils.alarm import Alarm
from strategies import examples, line_weights, weights


class Rounds:
    """Ends after some rounds."""

    def __init__(self, count):
        self.left = count

    def __call__(self, at_least):
        self.left -= 1
        return self.left <= 0


@given(
    table=tables(), weights=weights, width=st.integers(1, 4), first_work=st.sampled_from([1, 1e5])
)
@examples(100)
def test_no_bound_of_blocks_is_above_the_least_cost(table, weights, width, first_work):
    A, missing, k = table
    local = local_search(A, missing, weights)
    nothing = np.zeros((A.shape[0], k), bool), np.zeros((k, A.shape[1]), bool)
    least = least_cost(A, missing, k, weights)
    with pytest.MonkeyPatch.context() as patch:
        tuning = vars(module.TUNING) | {"widest_block": width, "first_block": first_work}
        patch.setattr(module, "TUNING", type(module.TUNING)(**tuning))
        found = bound_blocks(local, *nothing, k, Rounds(6))
    assert found.at_least <= least
    if found.U is not None:
        assert naive.cost(A, found.U, found.V, weights, missing) == found.at_least == least


@given(
    table=tables(), weights=weights | st.just(Weights.of(np.inf, (9, 5))), seed=st.integers(0, 9)
)
@examples(100)
def test_no_bound_of_fooling_sets_is_above_the_least_cost(table, weights, seed):
    A, missing, k = table
    local = local_search(A, missing, weights)
    assert bound_fooling(local, k, seed) <= least_cost(A, missing, k, weights)


@pytest.mark.parametrize(("size", "k"), [(0, 1), (3, 3), (5, 2), (6, 1), (7, 3)])
@pytest.mark.parametrize(("missed", "extra"), [(1, 1), (5, 1), (5, 2), (1, 4), (3, 2)])
def test_ones_of_a_fooling_set_are_missed_or_cost_zeros(size, k, missed, extra):
    # Each one in a component, or in none: zeros are counted pair by pair.
    least = min(
        missed * places.count(k)
        + extra * sum(n * (n - 1) // 2 for n in (places.count(l) for l in range(k)))
        for places in product(range(k + 1), repeat=size)
    )
    assert fooled_cost(size, k, missed, extra) == least


def test_rows_that_are_alike_fool_again_and_again():
    # Five ones on the diagonal, seven times: with two components, three are wrong in each copy.
    A = np.tile(np.eye(5, dtype=bool), (7, 1))
    assert bound_fooling(local_search(A, None, Weights()), 2, 0) == 21
    assert bound_fooling(local_search(A, None, Weights()), 5, 0) == 0


def test_a_table_too_large_is_bounded_by_some_of_its_rows(monkeypatch):
    A = np.tile(np.eye(5, dtype=bool), (7, 1))
    tuning = vars(module.TUNING) | {"cells_to_cover": 50}
    monkeypatch.setattr(module, "TUNING", type(module.TUNING)(**tuning))
    assert bound_fooling(local_search(A, None, Weights()), 2, 0) == 6


def test_missing_cells_of_a_table_too_large_may_be_covered(monkeypatch):
    A = np.tile(np.eye(5, dtype=bool), (7, 1))
    local = local_search(A, ~A, Weights())
    assert bound_fooling(local, 2, 0) == 0
    tuning = vars(module.TUNING) | {"cells_to_cover": 50}
    monkeypatch.setattr(module, "TUNING", type(module.TUNING)(**tuning))
    assert bound_fooling(local, 2, 0) == 0


def test_bounds_end_when_the_time_is_up():
    A = np.random.default_rng(0).random((300, 200)) < 0.3
    with Alarm(time.perf_counter() - 1) as alarm:
        local = LocalSearch(BooleanMatrix.from_array(A), None, 1, alarm)
        nothing = np.zeros((300, 3), bool), np.zeros((3, 200), bool)
        assert bound_blocks(local, *nothing, 3).at_least == 0
        assert bound_fooling(local, 3, 0) == 0


# --- beside the best that is found ---


@pytest.mark.parametrize("extra_weight", [1, 2.5, np.inf])
def test_bound_and_best_meet_on_small_tables(extra_weight):
    A = np.random.default_rng(1).random((7, 5)) < 0.4
    told = []
    found = loss_bound(
        A,
        2,
        extra_weight=extra_weight,
        time_limit=30,
        random_state=0,
        tell=lambda *news: told.append(news),
    )
    weights = Weights.of(extra_weight, A.shape)
    assert found.proved
    assert found.at_least == found.cost == least_cost(A, None, 2, weights)
    assert naive.cost(A, found.membership, found.components, weights) == found.cost
    assert told[-1] == (found.at_least, found.cost)
    assert all(at_least <= found.cost <= cost for at_least, cost in told)


def test_many_components_are_bounded_by_fooling_sets():
    A = np.tile(np.eye(12, dtype=bool), (3, 1))
    found = loss_bound(A, 8, time_limit=15, random_state=0)  # ends once it is proved
    assert found.proved_by == "fooling sets"
    assert found.at_least == found.cost == 12
    assert not loss_bound(np.zeros((3, 4)), 2, time_limit=1).cost


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_components": "auto"}, "n_components must be a number of components; got 'auto'"),
        ({"time_limit": 0}, "time_limit must be a number of seconds above 0; got 0"),
        ({"time_limit": np.nan}, "time_limit must be a number of seconds above 0; got nan"),
    ],
)
def test_bad_parameters_are_named(given, words):
    with pytest.raises(InputError, match=words):
        loss_bound(np.eye(3), **{"n_components": 1, **given})


@given(table=tables(), extra_weight=st.sampled_from([1, 3, np.inf]), data=st.data())
@examples(30)
@pytest.mark.filterwarnings("ignore:n_components=:UserWarning")
def test_a_bound_with_weights_is_that_with_copies(table, extra_weight, data):
    A, missing, k = table
    missing = np.zeros_like(A) if missing is None else missing
    rows, columns = (data.draw(line_weights(length)) for length in A.shape)
    given = {"extra_weight": extra_weight, "random_state": 0}
    weighted = {"sample_weight": rows, "feature_weight": columns}
    found = loss_bound(A, k, missing=missing, **weighted, **given)
    copied, unknown = (X.repeat(rows, axis=0).repeat(columns, axis=1) for X in (A, missing))
    copies = loss_bound(copied, k, missing=unknown, **given)
    assert (found.at_least, found.cost) == (copies.at_least, copies.cost)
    prices = Weights.of(extra_weight, copied.shape)
    spread = found.membership.repeat(rows, axis=0), found.components.repeat(columns, axis=1)
    assert naive.cost(copied, *spread, prices, unknown) == found.cost


def test_weights_of_a_bound_are_whole_numbers():
    with pytest.raises(InputError, match="For a bound, weights of rows and columns must be whole"):
        loss_bound(np.eye(3), 1, sample_weight=[1, 0.5, 0.3])
