"""Orders, grids, overlap and support, each beside its slow and obvious twin."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbmf.analysis import (
    BlockOrder,
    best_first,
    block_order,
    component_overlap,
    error_grid,
    runs,
    support,
)
from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from strategies import boolean_factors, masked_factors


def _subset(generator, length):
    return generator.permutation(length)[: generator.integers(1, length + 1)]


@given(masked_factors(), st.integers(1, 80), st.integers(1, 80), st.integers(0, 2**32 - 1))
def test_a_grid_counts_the_cells_of_its_bins(drawn, R, C, seed):
    A, missing, U, V = drawn
    generator = np.random.default_rng(seed)
    order = BlockOrder(*(_subset(generator, length) for length in A.shape), np.arange(U.shape[1]))
    grid = error_grid(BooleanMatrix.from_array(A, missing=missing), U, V, order, (R, C))
    shown = np.ix_(order.rows, order.columns)
    product = (U.astype(int) @ V > 0)[shown]
    known, ones = ~missing[shown], A[shown]
    wanted = {
        "cells": known,
        "ones": ones & known,
        "covered": product & known,
        "hits": ones & product & known,
        "missed": ones & ~product & known,
        "extra": ~ones & product & known,
    }
    assert grid.shape == (min(R, len(order.rows)), min(C, len(order.columns)))
    for name, cells in wanted.items():
        counted = [
            [cells[a:b, c:d].sum() for c, d in pairwise(grid.column_edges)]
            for a, b in pairwise(grid.row_edges)
        ]
        np.testing.assert_array_equal(getattr(grid, name), counted, err_msg=name)
    assert ((grid.share(grid.ones) >= 0) & (grid.share(grid.ones) <= 1)).all()
    assert grid.exact == (grid.shape == ones.shape)


@given(boolean_factors())
def test_a_grid_without_data_counts_what_is_covered(drawn):
    A, U, V = drawn
    order = block_order(U, V)
    known, unknown = (error_grid(data, U, V, order, (9, 7)) for data in (A, None))
    np.testing.assert_array_equal(unknown.covered, known.covered)
    np.testing.assert_array_equal(unknown.cells, known.cells)
    assert not unknown.ones.any()
    assert not unknown.hits.any()


@given(boolean_factors())
def test_threads_do_not_change_a_grid(drawn):
    A, U, V = drawn
    order = block_order(U, V)
    one, many = (error_grid(A, U, V, order, (9, 7), n_jobs) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.covered, many.covered)
    np.testing.assert_array_equal(one.hits, many.hits)


@given(boolean_factors())
def test_an_order_has_every_line_once_and_goes_by_components(drawn):
    A, U, V = drawn
    order = block_order(U, V, row_sums=A.sum(axis=1), column_sums=A.sum(axis=0))
    for places, count in ((order.rows, A.shape[0]), (order.columns, A.shape[1])):
        assert sorted(places) == list(range(count))
    assert sorted(order.components) == list(range(U.shape[1]))
    for lines, places, sums in (
        (U, order.rows, A.sum(axis=1)),
        (V.T, order.columns, A.sum(axis=0)),
    ):
        keys = [
            (*(~lines[line, order.components]).tolist(), -sums[line]) for line in places.tolist()
        ]
        assert keys == sorted(keys)


@given(boolean_factors(), st.integers(1, 80), st.integers(1, 80))
def test_lines_in_components_have_the_smaller_bins(drawn, R, C):
    A, U, V = drawn
    order = block_order(U, V)
    grid = error_grid(A, U, V, order, (R, C), favour_members=True)
    even = error_grid(A, U, V, order, (R, C))
    assert grid.shape == even.shape
    assert grid.extra.sum() == even.extra.sum()
    assert grid.missed.sum() == even.missed.sum()
    for edges, lines, places in (
        (grid.row_edges, U, order.rows),
        (grid.column_edges, V.T, order.columns),
    ):
        assert (edges[0], edges[-1]) == (0, len(places))
        widths = np.diff(edges)
        assert (widths > 0).all()
        members = int(lines.any(axis=1).sum())
        inside, outside = widths[edges[1:] <= members], widths[edges[:-1] >= members]
        if inside.size and outside.size:
            assert inside.min() <= outside.max()


def test_blocks_that_share_nothing_are_blocks_again():
    generator = np.random.default_rng(0)
    U = np.repeat(np.eye(5, dtype=bool), [9, 4, 6, 5, 7], axis=0)
    V = np.repeat(np.eye(5, dtype=bool), [3, 8, 5, 6, 2], axis=1)
    rows, columns = generator.permutation(len(U)), generator.permutation(V.shape[1])
    order = block_order(U[rows], V[:, columns])
    for lines in (U[rows][order.rows], V[:, columns].T[order.columns]):
        primary = lines.argmax(axis=1)
        assert (np.diff(primary) != 0).sum() == 4


def test_components_that_share_much_stand_together():
    rows = np.zeros((40, 4), dtype=bool)
    rows[:10, 0] = rows[2:12, 2] = rows[20:30, 1] = rows[22:32, 3] = True
    places = np.argsort(block_order(rows, rows.T).components)
    assert abs(places[0] - places[2]) == abs(places[1] - places[3]) == 1


@given(boolean_factors())
def test_overlap_counts_what_is_shared(drawn):
    _, U, V = drawn
    found = component_overlap(U, V)
    for a in range(U.shape[1]):
        rows = (U[:, [a]] & U).sum(axis=0)
        columns = (V[a] & V).sum(axis=1)
        either = (U[:, [a]] | U).sum(axis=0)
        own = U[:, a].sum() * V[a].sum()
        np.testing.assert_array_equal(found.rows[a], rows)
        np.testing.assert_array_equal(found.columns[a], columns)
        np.testing.assert_array_equal(found.cells[a], rows * columns)
        np.testing.assert_allclose(found.row_similarity[a], rows / np.maximum(either, 1), 1e-6)
        np.testing.assert_allclose(found.share[a], rows * columns / max(own, 1), 1e-6)


@given(boolean_factors())
def test_support_is_the_product_with_the_other_factor(drawn):
    A, U, V = drawn
    found = support(A, U, V)
    np.testing.assert_array_equal(found.rows, A.astype(int) @ V.T)
    np.testing.assert_array_equal(found.columns, A.T.astype(int) @ U)
    for l in range(U.shape[1]):
        if V[l].any():
            np.testing.assert_allclose(found.row_shares(l), A[:, V[l]].mean(axis=1))
        if U[:, l].any():
            np.testing.assert_allclose(found.column_shares(l), A[U[:, l]].mean(axis=0))


def test_factors_that_do_not_fit_are_refused():
    A, U, V = np.ones((4, 3)), np.ones((4, 2)), np.ones((2, 3))
    for bad_U, bad_V in ((np.ones((5, 2)), V), (U, np.ones((2, 4))), (U, np.ones((3, 3)))):
        with pytest.raises(InputError, match=r"components|product"):
            error_grid(A, bad_U, bad_V, block_order(U, V), (2, 2))
        with pytest.raises(InputError, match=r"components|product"):
            support(A, bad_U, bad_V)


def test_support_does_not_depend_on_how_many_lines_are_counted_at_a_time(monkeypatch):
    generator = np.random.default_rng(0)
    A, U, V = (generator.random(shape) < 0.4 for shape in ((30, 20), (30, 3), (3, 20)))
    whole = support(A, U, V)
    module = sys.modules["elbmf.analysis.support"]  # a function has the same name
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", 7)
    pieces = support(A, U, V)
    np.testing.assert_array_equal(pieces.rows, whole.rows)
    np.testing.assert_array_equal(pieces.columns, whole.columns)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_those_come_first_that_fit_best_then_those_with_fewest_ones_elsewhere(lines):
    inside, in_all = np.array(lines).T
    wanted = sorted(range(len(lines)), key=lambda at: (-inside[at], in_all[at]))
    assert best_first(inside, in_all).tolist() == wanted
    assert best_first(inside[:, None], in_all[:, None])[:, 0].tolist() == wanted
    without = sorted(range(len(lines)), key=lambda at: in_all[at])
    assert best_first(None, in_all).tolist() == without


@given(st.sets(st.integers(0, 30)))
def test_runs_are_neighbours(places):
    begins, ends = runs(np.array(sorted(places), dtype=np.int64))
    assert [at for a, b in zip(begins, ends, strict=True) for at in range(a, b)] == sorted(places)
    assert all(end < begin for end, begin in zip(ends[:-1], begins[1:], strict=True))
