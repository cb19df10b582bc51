"""Climbing by components, against what plain arrays say of every single switch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf.boolean.coverage import Weights
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search import climber as module
from elbmf.search.climber import Climber, Individual, Terrain, twins_of
from elbmf.search.kernels.matching import match_components
from elbmf.search.kernels.twins import link_twins
from elbmf.search.local import LocalSearch, lines_of
from elbmf.utils.tuning import Tuning
from strategies import examples, starts, weights

# Cells up to which masks are kept: all, or none. And whether lines swap components.
MASKS = {
    "masks": Tuning(),
    "lists": Tuning(most_cells_for_masks=0),
    "masks and swaps": Tuning(shortest_line_to_swap=0),
    "lists and swaps": Tuning(shortest_line_to_swap=0, most_cells_for_masks=0),
}


def climbed(case, weights, masks, wanted, exchanges=0, reseeded=(), seed=0):
    """Climb from a start; returns the factors and their cost."""
    A, missing, U, V = case
    local = LocalSearch(BooleanMatrix.from_array(A, missing=missing), weights, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TUNING", MASKS[masks])
        terrain = Terrain(local)
        assert terrain.masked == ("masks" in masks)
        climber = Climber(terrain, max(U.shape[1], wanted))
        start = Individual.of(U, V)
        found, work = climber.climb_from(start, wanted, seed, exchanges, reseeded)
    assert work > 0
    return *found.to_arrays(A.shape), found.cost


@st.composite
def climbs(draw):
    """A start with equal lines in it, and what to do with it."""
    A, missing, U, V = draw(starts(components=st.integers(1, 8), length=40))
    generator = np.random.default_rng(draw(st.integers(0, 999)))
    if draw(st.booleans()):
        rows, columns = (generator.integers(length, size=length) for length in A.shape)
        A = A[rows][:, columns]
        missing = None if missing is None else missing[rows][:, columns]
    k = U.shape[1]
    wanted = draw(st.integers(1, k + 2))
    reseeded = generator.permutation(k)[: draw(st.integers(0, k))]
    return (A, missing, U, V), wanted, draw(st.integers(0, 5)), reseeded


@pytest.mark.parametrize("masks", MASKS)
@given(climb=climbs(), weights=weights)
@examples(200)
def test_a_climb_costs_what_it_says(masks, climb, weights):
    case, wanted, exchanges, reseeded = climb
    A, missing, _, _ = case
    U, V, cost = climbed(case, weights, masks, wanted, exchanges, reseeded)
    assert U.shape[1] == V.shape[0] <= wanted
    assert cost == naive.cost(A, U, V, weights, missing)


@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("density", [0.02, 0.1, 0.5, 0.9])
def test_components_that_no_line_wants_leave_no_trace(masks, density):
    """On sparse data most that is grown from noise is given up at once, again and again."""
    generator = np.random.default_rng(0)
    A = generator.random((90, 70)) < density
    A[10:40, 20:45], A[30:60, 5:30] = True, True
    for seed in range(20):
        U, V = generator.random((90, 4)) < 0.3, generator.random((4, 70)) < 0.3
        reseeded = generator.permutation(4)[: seed % 5]
        U, V, cost = climbed((A, None, U, V), Weights(), masks, 4, 8, reseeded, seed)
        assert cost == naive.cost(A, U, V, Weights())


@pytest.mark.parametrize("pair", [list(MASKS)[:2], list(MASKS)[2:]])
@given(climb=climbs(), weights=weights, seed=st.integers(0, 99))
@examples(200)
def test_masks_and_lists_lead_to_the_same(pair, climb, weights, seed):
    case, wanted, exchanges, reseeded = climb
    ours, theirs = (
        climbed(case, weights, masks, wanted, exchanges, reseeded, seed) for masks in pair
    )
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("masks", MASKS)
@given(case=starts(components=st.integers(1, 6), length=20), weights=weights)
@examples(150)
def test_no_single_switch_helps_at_the_end_of_a_climb(masks, case, weights):
    A, missing, U, V = case
    U, V, cost = climbed(case, weights, masks, U.shape[1])
    for factor in (U, V):
        for place in np.ndindex(factor.shape):
            factor[place] ^= True
            assert naive.cost(A, U, V, weights, missing) >= cost
            factor[place] ^= True


@pytest.mark.parametrize("masks", ["masks and swaps", "lists and swaps"])
@given(case=starts(components=st.integers(2, 6), length=12), weights=weights)
@examples(100)
def test_no_line_gains_by_a_component_in_place_of_another(masks, case, weights):
    A, missing, U, V = case
    U, V, cost = climbed(case, weights, masks, U.shape[1])
    for factor in (U, V.T):
        for line in factor:
            for on, off in np.argwhere(~line[:, None] & line):
                line[on], line[off] = True, False
                assert naive.cost(A, U, V, weights, missing) >= cost
                line[on], line[off] = False, True


@pytest.mark.parametrize("masks", MASKS)
@given(case=starts(components=st.integers(1, 6), length=30), weights=weights)
@examples(100)
def test_more_exchanges_are_never_worse(masks, case, weights):
    k = case[2].shape[1]
    costs = [climbed(case, weights, masks, k, exchanges)[2] for exchanges in (0, 1, 3, 10)]
    assert costs == sorted(costs, reverse=True)


@pytest.mark.parametrize("masks", MASKS)
def test_components_that_are_lacking_are_grown(masks):
    U, V = np.zeros((20, 2), bool), np.zeros((2, 30), bool)
    U[:8, 0], V[0, :9], U[10:, 1], V[1, 15:] = True, True, True, True
    A = naive.boolean_product(U, V)
    nothing = np.zeros_like(U), np.zeros_like(V)
    assert climbed((A, None, *nothing), None, masks, 2)[2] == 0


@pytest.mark.parametrize("k", [1, 2, 7, 70])
def test_components_are_matched_by_the_cells_they_share(k):
    generator = np.random.default_rng(k)
    U, V = generator.random((50, k)) < 0.3, generator.random((k, 40)) < 0.3
    U[0], V[:, 0] = True, True
    order = generator.permutation(k)
    one, other = Individual.of(U, V), Individual.of(U[:, order], V[order])
    match = np.empty(k, dtype=np.int64)
    shared = np.empty((k + 2, k))
    match_components((one.rows, one.columns), (other.rows, other.columns), shared, match)
    np.testing.assert_array_equal(other.rows[match], one.rows)
    np.testing.assert_array_equal(other.columns[match], one.columns)
    noise = Individual.of(generator.random(U.shape) < 0.3, generator.random(V.shape) < 0.3)
    match_components((one.rows, one.columns), (noise.rows, noise.columns), shared, match)
    np.testing.assert_array_equal(np.sort(match), np.arange(k))


@given(share=st.floats(0, 1), seed=st.integers(0, 99))
def test_a_child_has_components_of_either_parent(share, seed):
    generator = np.random.default_rng(seed)
    parents = [
        Individual.of(generator.random((30, 6)) < 0.3, generator.random((6, 20)) < 0.3)
        for _ in range(2)
    ]
    draws = generator.random(6)
    child = parents[0].crossed(parents[1], draws, share)
    assert child.rows.shape == parents[0].rows.shape
    theirs = {
        (row.tobytes(), column.tobytes()) for row, column in zip(*parents[1][1:], strict=True)
    }
    for l in range(6):
        if draws[l] < share:
            assert (child.rows[l].tobytes(), child.columns[l].tobytes()) in theirs
        else:
            np.testing.assert_array_equal(child.rows[l], parents[0].rows[l])
            np.testing.assert_array_equal(child.columns[l], parents[0].columns[l])


# --- equal lines ---


def groups(twins):
    """The lines of each group, in order."""
    n = twins.following.size
    found = {}
    for leader in range(n):
        if twins.first[leader >> 6] >> np.uint64(leader & 63) & np.uint64(1):
            line, found[leader] = leader, []
            while line >= 0:
                found[leader].append(line)
                line = int(twins.following[line])
    return found


def equal_lines(A, missing):
    cells = A.astype(int) if missing is None else np.where(missing, 2, A)
    found = {}
    for i, line in enumerate(cells):
        found.setdefault(line.tobytes(), []).append(i)
    return {lines[0]: lines for lines in found.values()}


@given(climb=climbs())
def test_equal_lines_are_found(climb):
    (A, missing, _, _), *_ = climb
    matrix = BooleanMatrix.from_array(A, missing=missing)
    for axis in (0, 1):
        twins = twins_of(lines_of(matrix, axis))
        turned = (A.T, None if missing is None else missing.T) if axis else (A, missing)
        expected = equal_lines(*turned)
        assert groups(twins) == expected
        assert {i: int(c) for i, c in enumerate(twins.copies) if c} == {
            leader: len(lines) for leader, lines in expected.items()
        }


def test_lines_of_the_same_hash_need_not_be_equal():
    A = np.array([[1, 0], [0, 1], [1, 0]], dtype=bool)
    lines = lines_of(BooleanMatrix.from_array(A), 0)
    twins = twins_of(lines)
    twins.first[:] = 0
    link_twins(lines, np.zeros(3, dtype=np.uint64), np.arange(3), *twins)
    # No two that differ are taken for one; that the last is like the first goes unnoticed.
    assert groups(twins) == {0: [0], 1: [1], 2: [2]}
