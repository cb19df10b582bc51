"""Covers that are taken apart and grown again, beside slow twins of each step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from test_covers import check_cover, tables

from elbmf.boolean.packed import unpack
from elbmf.kernels.compiling import kernel
from elbmf.search.covers.kernels import regrowth, surprising
from elbmf.search.covers.reduction import Table
from elbmf.search.covers.regrowing import regrow_cover, regrowth_of
from elbmf.utils.alarm import Alarm


@kernel(allocates=False)
def count_in(growth, l, by):
    regrowth.count_in(growth, growth.rows[l], growth.columns[l], by)


@kernel(allocates=False)
def count_alone(growth, l):
    return regrowth.count_alone(growth, l)


@kernel(allocates=False, error_model="numpy")
def grow_surprising(growth, i, j, rows, columns, noise):
    surprising.grow_surprising(growth, i, j, rows, columns, noise)
    return surprising.worth(growth, rows, columns)


@st.composite
def partly_covered(draw):
    """Tables, and bicliques that cover some of their ones."""
    table = draw(tables(longest=9))
    n, m = table.allowed.shape
    k = draw(st.integers(0, 4))
    U, V = np.zeros((n, k), np.bool_), np.zeros((k, m), np.bool_)
    for l in range(k):
        V[l] = draw(arrays(np.bool_, m))
        U[:, l] = table.allowed[:, V[l]].all(axis=1)
    return table, U, V


def counted(table, U, V):
    """Count all bicliques in."""
    growth = regrowth_of(table, U, V, 10**9, 0, Alarm())
    for l in range(V.shape[0]):
        count_in(growth, l, 1)
    return growth


def times_covered(U, V):
    return (U[:, :, None] & V[None]).sum(axis=1)


@given(partly_covered())
def test_what_is_counted_in_and_out_again(case):
    table, U, V = case
    (n, m), k = table.allowed.shape, V.shape[0]
    growth = counted(table, U, V)
    for gone in (0, k // 2):
        for l in range(gone):
            count_in(growth, l, -1)
        times = times_covered(U[:, gone:], V[gone:])
        left = table.required & (times == 0)
        assert np.array_equal(growth.counts, times)
        assert np.array_equal(unpack(growth.left, m), left)
        assert np.array_equal(unpack(growth.left_across, n), left.T)
        assert np.array_equal(growth.ones_left[0, :n], left.sum(axis=1))
        assert np.array_equal(growth.ones_left[1, :m], left.sum(axis=0))
        for l in range(gone, k):
            cells = np.outer(U[:, l], V[l]) & table.required
            assert count_alone(growth, l) == (cells & (times == 1)).sum()


def grown_slowly(allowed, left, i, j):
    """Let the line join that fits best, by its uncovered ones, until all lines fit."""
    grounds = (allowed, allowed.T), (left, left.T)
    fitting, rooms = [{i}, {j}], [allowed[:, j].copy(), allowed[i].copy()]
    while True:
        best, chosen = -np.inf, None
        for side in (0, 1):
            lines, fresh_lines = (each[side] for each in grounds)
            room = rooms[1 - side]
            for l in np.flatnonzero(rooms[side]):
                if l in fitting[side]:
                    continue
                inside, fresh = (lines[l] & room).sum(), (fresh_lines[l] & room).sum()
                if inside == room.sum():
                    fitting[side].add(l)
                    continue
                cells, ones_left = room.sum() - (inside - fresh), fresh_lines[l].sum()
                chance = (ones_left + 0.5) / (lines.shape[1] - (lines[l].sum() - ones_left) + 1.0)
                fits = (fresh - cells * chance) / np.sqrt(cells * chance * (1.0 - chance))
                if fits > best:
                    best, chosen = fits, (side, l)
        if chosen is None:
            return rooms
        side, l = chosen
        fitting[side].add(l)
        rooms[1 - side] &= grounds[0][side][l]


@given(partly_covered(), st.data())
def test_the_most_surprising_line_joins(case, data):
    table, U, V = case
    n, m = table.allowed.shape
    left = table.required & (times_covered(U, V) == 0)
    if not left.any():
        return
    i, j = data.draw(st.sampled_from(np.argwhere(left).tolist()))
    growth = counted(table, U, V)
    for noise in (0.0, 0.3):
        rows, columns = growth.pool_rows[0], growth.pool_columns[0]
        worth = grow_surprising(growth, i, j, rows, columns, noise)
        found = unpack(rows[None], n)[0], unpack(columns[None], m)[0]
        if not noise:
            for each, slow in zip(found, grown_slowly(table.allowed, left, i, j), strict=True):
                assert np.array_equal(each, slow)
        # It cannot be extended, and what it is worth is per line that has any of it.
        assert found[0][i]
        assert found[1][j]
        assert np.array_equal(found[0], table.allowed[:, found[1]].all(axis=1))
        assert np.array_equal(found[1], table.allowed[found[0]].all(axis=0))
        fresh = left & np.outer(*found)
        assert worth == fresh.sum() / (fresh.any(axis=0).sum() + fresh.any(axis=1).sum())


@given(tables(longest=12), st.integers(0, 3), st.booleans(), st.integers(0, 4))
def test_a_cover_stays_one_and_never_grows(table, seed, from_scratch, fewest):
    U, V = np.eye(table.allowed.shape[0], dtype=np.bool_), table.allowed
    given = (table, U, V, fewest, 200_000, seed)
    found = regrow_cover(*given, Alarm(), from_scratch=from_scratch)
    check_cover(table, *found[:2])
    assert found[1].shape[0] <= V.shape[0]
    again = regrow_cover(*given, Alarm(), from_scratch=from_scratch)
    assert all(map(np.array_equal, found, again))


@pytest.mark.parametrize("from_scratch", [False, True])
def test_a_planted_cover_is_found_on_a_dense_table(from_scratch):
    generator = np.random.default_rng(3)
    U, V = generator.random((90, 24)) < 0.16, generator.random((24, 90)) < 0.16
    A = times_covered(U, V) > 0
    assert 0.35 < A.mean() < 0.55
    lines = np.eye(90, dtype=np.bool_)
    table = Table(A, A)
    found = regrow_cover(table, lines, A, 24, 10**9, 0, Alarm(), from_scratch=from_scratch)
    check_cover(table, *found[:2])
    assert found[1].shape[0] == 24
    ended = Alarm()
    ended.ring()
    assert regrow_cover(table, lines, A, 24, 10**9, 0, ended)[1].shape[0] == 90
