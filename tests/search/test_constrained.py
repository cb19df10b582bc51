"""Components within limits: the best lines of one, and the best components of a line."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from elbmf.boolean.coverage import Weights, cover
from elbmf.boolean.line_weights import LineWeights
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.constrained.constraints import Constraints
from elbmf.search.constrained.kernels.assigning import assign_lines
from elbmf.search.constrained.kernels.choosing import REPAIR, choose_lines
from elbmf.search.constrained.search import (
    ConstrainedSearch,
    _opened,
    _rules,
    describe_within,
)
from elbmf.search.local import describe
from elbmf.utils.alarm import Alarm
from strategies import boolean_arrays, examples, masked_arrays, weights

small = st.integers(1, 7)
limits = st.one_of(st.none(), st.integers(1, 5))


def cost(A, missing, U, V, weights, copies):
    """What factors cost, where a cell counts as often as its row times as often as its column."""
    covered, each = naive.boolean_product(U, V), np.outer(*copies) * ~missing
    missed, extra = (each * (A & ~covered)).sum(), (each * (covered & ~A)).sum()
    return weights.missed * missed + weights.extra * extra


@given(
    case=masked_arrays(small, small),
    least=limits,
    most=limits,
    per_row=limits,
    weights=weights,
    seed=st.integers(0, 2**32 - 1),
)
@examples(200)
@pytest.mark.parametrize("axis", [0, 1])
def test_no_other_lines_within_the_limits_are_better(
    axis, case, least, most, per_row, weights, seed
):
    A, missing = case
    assume(least is None or most is None or least <= most)
    if axis:
        A, missing = A.T, missing.T
    n, m = A.shape
    generator = np.random.default_rng(seed)
    U, V = generator.random((n, 3)) < 0.4, generator.random((3, m)) < 0.4
    copies = generator.integers(1, 4, n), generator.integers(1, 4, m)
    forbidden = generator.random((n, m)) < 0.1
    others = U[:, 1:].sum(axis=1)
    allowed = ~naive.boolean_product(forbidden, V[:1].T)[:, 0]
    allowed &= others < (per_row or 3)
    sizes = range(max(1, least or 1), min(n, most or n) + 1)
    tried = [
        cost(A, missing, np.column_stack([np.isin(range(n), rows), U[:, 1:]]), V, weights, copies)
        for size in sizes
        for rows in combinations(np.flatnonzero(allowed), size)
    ]
    U[:, 0] = False
    without = cost(A, missing, U, V, weights, copies)
    limit = {"least": (least, None), "most": (most, None), "per_line": (per_row, None)}
    given = (A, missing, forbidden, U, V)
    if axis:
        limit = {name: pair[::-1] for name, pair in limit.items()}
        given, copies = (A.T, missing.T, forbidden.T, V.T, U.T), copies[::-1]
    A, missing, forbidden, U, V = map(np.ascontiguousarray, given)
    constraints = Constraints(**limit, forbidden=BooleanMatrix.from_array(forbidden))
    search = ConstrainedSearch(
        BooleanMatrix.from_array(A, missing=missing),
        weights,
        constraints,
        LineWeights.of(A.shape, *copies),
    )
    factors = _opened(U, V, 0, np.inf, Alarm())
    worth = choose_lines(search.task, _rules(constraints, V.shape), factors, axis, 0, REPAIR)
    if not tried:
        assert worth == np.iinfo(np.int64).min
        return
    assert without - worth == min(tried)
    U, V = search._unpacked(factors)
    assert cost(A, missing, U, V, weights, copies) == min(tried)


@given(
    A=boolean_arrays(st.integers(1, 20), st.integers(1, 20)),
    k=st.integers(1, 8),
    most=st.integers(1, 5),
    weights=weights,
    seed=st.integers(0, 2**32 - 1),
)
@examples(200)
def test_rows_have_no_more_components_than_they_may(A, k, most, weights, seed):
    V = np.random.default_rng(seed).random((k, A.shape[1])) < 0.4
    U, free = describe_within(A, V, weights, most), describe(A, V, weights)
    assert U.sum(axis=1).max() <= most
    few = free.sum(axis=1) <= most
    assert np.array_equal(U[few], free[few])
    for row, own in zip(A, U, strict=True):
        pairs = [frozenset(np.flatnonzero(own)) ^ {l} for l in range(k)]
        single = [own_cost(row, list(each), V, weights) for each in pairs if len(each) <= most]
        assert own_cost(row, list(np.flatnonzero(own)), V, weights) <= min(single)


def own_cost(row, components, V, weights):
    covered = V[components].any(axis=0)
    return weights.missed * (row & ~covered).sum() + weights.extra * (covered & ~row).sum()


@given(case=masked_arrays(small, small), per_line=st.integers(1, 3), seed=st.integers(0, 99))
@examples(100)
@pytest.mark.parametrize("axis", [0, 1])
def test_lines_that_choose_anew_never_cost_more(axis, case, per_line, seed):
    A, missing = case
    generator = np.random.default_rng(seed)
    U, V = generator.random((A.shape[0], 4)) < 0.4, generator.random((4, A.shape[1])) < 0.4
    for side in (U, V.T):
        side &= side.cumsum(axis=1) <= per_line
    constraints = Constraints(per_line=(per_line, per_line))
    search = ConstrainedSearch(BooleanMatrix.from_array(A, missing=missing), Weights(), constraints)
    before, factors = search.cost(U, V), _opened(U, V, 0, np.inf, Alarm())
    gained = assign_lines(search.task, _rules(constraints, V.shape), factors, axis)
    U, V = search._unpacked(factors)
    assert gained >= 0
    assert search.cost(U, V) == before - gained
    assert (U.sum(axis=1).max(), V.sum(axis=0).max()) <= (per_line, per_line)
    assert np.array_equal(factors.sizes, [U.sum(axis=0), V.sum(axis=1)])


def test_factors_that_keep_to_the_rules_stay_as_they_are():
    A = np.random.default_rng(0).random((40, 30)) < 0.3
    U, V = np.random.default_rng(1).random((40, 4)) < 0.3, np.eye(4, 30, dtype=bool)
    search = ConstrainedSearch(BooleanMatrix.from_array(A), Weights(), Constraints(least=(1, 1)))
    found = search.improve(U, V, 4, 0, 1e9)
    assert np.array_equal(found[0], U)
    assert np.array_equal(found[1], V)


def test_more_work_never_costs_more():
    A = BooleanMatrix.from_array(np.random.default_rng(0).random((60, 50)) < 0.3)
    nothing = np.zeros((60, 0), bool), np.zeros((0, 50), bool)
    search = ConstrainedSearch(A, Weights(), Constraints(least=(5, 3), per_line=(2, None)))
    costs = [cover(A, *search.improve(*nothing, 6, 0, work)).loss for work in (0, 1e5, 1e6, 1e8)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < A.ones
