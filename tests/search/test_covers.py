"""Covers without error: the reduction and its way back, the search, and what is proved."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from elbmf.search.covers import fooling
from elbmf.search.covers.choice import choose_fewest, maximal_bicliques
from elbmf.search.covers.fooling import fooling_set
from elbmf.search.covers.growing import grow_cover
from elbmf.search.covers.reduction import Reduction, Table
from elbmf.search.covers.search import CoverSearch
from elbmf.utils.alarm import Alarm


@st.composite
def tables(draw, longest=6):
    """Tables with cells that may be covered and need not."""
    shape = draw(st.tuples(st.integers(1, longest), st.integers(1, longest)))
    required = draw(arrays(np.bool_, shape))
    free = draw(st.one_of(st.just(np.zeros(shape, np.bool_)), arrays(np.bool_, shape)))
    return Table(required | free, required)


def fewest(table):
    """Size of the smallest cover, by trying all sets of maximal bicliques."""
    bicliques = set()
    n = table.allowed.shape[0]
    for count in range(1, n + 1):
        for rows in combinations(range(n), count):
            columns = table.allowed[list(rows)].all(axis=0)
            extent = table.allowed[:, columns].all(axis=1)
            cells = np.outer(extent, columns) & table.required
            bicliques.add(cells.tobytes())
    sets = [np.frombuffer(each, np.bool_) for each in bicliques]
    required = table.required.ravel()
    for size in range(table.required.sum() + 1):
        for chosen in combinations(sets, size):
            if not (required & ~np.any(chosen, axis=0)).any() if size else not required.any():
                return size
    raise AssertionError


def check_cover(table, U, V):
    covered = (U[:, :, None] & V[None]).any(axis=1)
    assert not (covered & ~table.allowed).any()
    assert not (table.required & ~covered).any()


@given(tables(longest=5))
def test_search_finds_the_fewest_and_proves_no_more_than_there_is(table):
    search = CoverSearch(table, Alarm(), 1)
    search.improve(2e6, 0)
    U, V = search.cover()
    check_cover(table, U, V)
    least = fewest(table)
    assert V.shape[0] == search.size == least
    assert search.at_least <= least


@given(tables(longest=12))
def test_way_back_from_the_reduced_table(table):
    reduction = Reduction(table)
    allowed, required = reduction.table
    # Each row on its own, with all of its columns that may be covered.
    rows = np.flatnonzero(required.any(axis=1))
    U = np.zeros((allowed.shape[0], rows.size), np.bool_)
    U[rows, np.arange(rows.size)] = True
    check_cover(table, *reduction.restore(U, allowed[rows]))


@given(tables(longest=5))
def test_reduction_keeps_the_least_size(table):
    reduced = Reduction(table)
    assert fewest(reduced.table) == fewest(table)
    assert sum(fewest(part.table) for part in reduced.parts) == fewest(table)


@given(tables(longest=8), st.integers(0, 5))
def test_no_two_of_a_fooling_set_fit_together(table, seed):
    found = fooling_set(table, 50, seed, Alarm())
    for (i, j), (row, column) in combinations(found, 2):
        assert not (table.allowed[i, column] and table.allowed[row, j])
    assert all(table.required[i, j] for i, j in found)
    assert len(found) > 0 or not table.required.any()


def test_a_fooling_set_reaches_all_lines_where_few_ones_are_looked_at(monkeypatch):
    # The diagonal fools. In the larger triangle, ones fit with more than anywhere in the smaller.
    A = np.zeros((14, 14), dtype=bool)
    A[:4, :4], A[4:, 4:] = np.triu(np.ones((4, 4))), np.triu(np.ones((10, 10)))
    tuning = vars(fooling.TUNING) | {"ones_to_fool": 14}
    monkeypatch.setattr(fooling, "TUNING", type(fooling.TUNING)(**tuning))
    for cells in (A, A[:, ::-1].T):
        assert len(fooling_set(Table(cells, cells), 50, 0, Alarm())) == 14


def grown_slowly(table, seeds):
    """Put the one that fits in the fewest bicliques into the one with most room left, by sets."""
    allowed, n, m = table.allowed, *table.allowed.shape
    bicliques = []

    def room(biclique):
        rows, columns = ({cell[axis] for cell in biclique} for axis in (0, 1))
        return (
            {i for i in range(n) if allowed[i, list(columns)].all()},
            {j for j in range(m) if allowed[list(rows), j].all()},
        )

    def cells(biclique):
        return len(room(biclique)[0]) * len(room(biclique)[1])

    def fitting(i, j):
        return [each for each in bicliques if i in room(each)[0] and j in room(each)[1]]

    def covered(i, j):
        return any(
            i in {row for row, _ in each} and j in {column for _, column in each}
            for each in bicliques
        )

    bicliques.extend([tuple(seed)] for seed in seeds)
    left, place = [tuple(one) for one in np.argwhere(table.required)], 0
    while left:
        # As the ones are gone through, the last takes the place of one that is covered.
        best, fewest_, place = None, np.inf, 0
        while place < len(left) and fewest_ > 1:
            if covered(*left[place]):
                last = left.pop()
                if place < len(left):
                    left[place] = last
                continue
            if len(fitting(*left[place])) < fewest_:
                best, fewest_ = left[place], len(fitting(*left[place]))
            place += 1
        if best is None:
            break
        if fewest_ == 0:
            bicliques.append([best])
        else:
            lost = [cells(each) - cells([*each, best]) for each in fitting(*best)]
            fitting(*best)[int(np.argmin(lost))].append(best)
    return [({i for i, _ in each}, {j for _, j in each}) for each in bicliques]


@given(tables(), st.integers(0, 5))
def test_covers_grow_around_fooling_sets(table, seed):
    seeds = fooling_set(table, 50, seed, Alarm())
    expected = grown_slowly(table, seeds)
    U, V, work = grow_cover(table, seeds, len(expected), 1 << 40, Alarm())
    check_cover(table, U, V)
    found = [(set(np.flatnonzero(u)), set(np.flatnonzero(v))) for u, v in zip(U.T, V, strict=True)]
    assert found == expected
    if len(expected):
        assert grow_cover(table, seeds, len(expected) - 1, 1 << 40, Alarm()).U is None
        assert grow_cover(table, seeds, len(expected), -1, Alarm()).U is None
    assert grow_cover(table, seeds, len(expected), work, Alarm()).U is not None


@given(tables(longest=5))
def test_choice_is_the_fewest(table):
    choice = choose_fewest(table, 1000, np.inf)
    least = fewest(table)
    assert choice.at_least == least == choice.V.shape[0]
    check_cover(table, choice.U, choice.V)
    assert choose_fewest(table, 0, np.inf) is None or maximal_bicliques(table, 0) is not None


def test_lines_are_the_cover_until_there_is_a_smaller_one():
    # Greedy concepts are more than rows, and yet what leads to the 40 that were planted.
    generator = np.random.default_rng(0)
    U, V = generator.random((50, 40)) < 0.1, generator.random((40, 50)) < 0.1
    A = (U.astype(int) @ V) > 0
    search = CoverSearch(Table(A, A), Alarm(), 1)
    rows, columns = search._reduction.table.allowed.shape
    assert search._parts[0].V.shape[0] > search.size == min(rows, columns)
    check_cover(Table(A, A), *search.cover())
    search.improve(3e8, 0)
    assert search.size <= 40
    check_cover(Table(A, A), *search.cover())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_same_cover_for_any_number_of_threads(n_jobs):
    A = np.random.default_rng(0).random((25, 25)) < 0.3
    search = CoverSearch(Table(A, A), Alarm(), n_jobs)
    search.improve(3e7, 0)
    again = CoverSearch(Table(A, A), Alarm(), 1)
    again.improve(3e7, 0)
    assert all(map(np.array_equal, search.cover(), again.cover()))


def test_more_work_never_takes_more():
    A = np.random.default_rng(1).random((40, 40)) < 0.25
    sizes = []
    for work in (0, 1e7, 1e8):
        search = CoverSearch(Table(A, A), Alarm(), 1)
        search.improve(work, 0)
        sizes.append(search.size)
        assert search.at_least <= search.size
    assert sizes == sorted(sizes, reverse=True)
