"""Weights of rows and columns: copies that are in their ratio, and sums of them."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elbmf.boolean.line_weights as line_weights_module
import naive
from elbmf.boolean.coverage import cover
from elbmf.boolean.line_weights import LineWeights
from elbmf.boolean.metrics import hamming_loss, measures, recall, relative_loss, similarity
from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from strategies import examples, few, line_weights, masked_factors, starts, weights

A = np.array([[1, 0, 1], [0, 1, 1]])


@given(case=masked_factors(max_components=6), data=st.data())
@examples(150)
def test_counts_are_those_of_copies(case, data):
    A, missing, U, V = case
    rows, columns = (data.draw(line_weights(length)) for length in A.shape)
    lines = LineWeights.of(A.shape, rows, columns)
    matrix = BooleanMatrix.from_array(A, missing=missing)
    found = lines.cover(matrix, U, V)
    assert found == cover(lines.repeat(matrix), *lines.spread(U, V))
    assert found.loss == naive.weighted_loss(A, U, V, rows, columns, missing)
    assert all(type(count) is int for count in vars(found).values())


@given(case=masked_factors(max_components=6), data=st.data())
@examples(100)
def test_losses_of_any_weights(case, data):
    A, missing, U, V = case
    amounts = st.floats(1e-6, 1e6) | st.just(0.0)
    rows, columns = (
        data.draw(st.lists(amounts, min_size=length, max_size=length).filter(any))
        for length in A.shape
    )
    matrix = BooleanMatrix.from_array(A, missing=missing)
    found = LineWeights.of(A.shape, rows, columns).cover(matrix, U, V)
    slow = naive.weighted_loss(A, U, V, rows, columns, missing)
    every = sum(rows) * sum(columns)
    assert found.loss == pytest.approx(slow, rel=1e-9, abs=1e-11 * every)
    assert found.missed >= 0
    assert found.extra >= 0
    if not slow:
        assert found.loss == 0


@given(case=starts(few, length=20), costs=weights, data=st.data())
@examples(150)
def test_joined_copies_cost_no_more(case, costs, data):
    A, missing, _, V = case
    rows, columns = (data.draw(line_weights(length)) for length in A.shape)
    lines = LineWeights.of(A.shape, rows, columns)
    matrix = lines.repeat(BooleanMatrix.from_array(A, missing=missing))
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))
    k = V.shape[0]
    U, V = generator.random((rows.sum(), k)) < 0.3, generator.random((k, columns.sum())) < 0.3
    joined = lines.join(matrix, U, V, costs)
    assert joined[0].shape == (A.shape[0], k)
    assert joined[1].shape == (k, A.shape[1])
    before = cover(matrix, U, V).cost(costs)
    assert cover(matrix, *lines.spread(*joined)).cost(costs) <= before
    assert not joined[0][rows == 0].any()
    assert not joined[1][:, columns == 0].any()
    # Each line has what one of its copies had.
    for i in np.flatnonzero(rows):
        first = rows[:i].sum()
        assert (joined[0][i] == U[first : first + rows[i]]).all(axis=1).any()


@pytest.mark.parametrize(
    ("given", "copies"),
    [
        ([1, 3], [1, 3]),
        ([3, 3], [3, 3]),
        ([2.0, 0.0], [2, 0]),
        ([True, False], [1, 0]),
        ([0.5, 1.5], [1, 3]),
        ([1 / 3, 1 / 7], [7, 3]),
        ([0.1, 0.2, 0.7], [1, 2, 7]),
        ([1000, 3000], [1, 3]),
        ([1e-300, 2e-300], [1, 2]),
        # As close as 32 copies on average come to that.
        ([1, 500], [1, 64]),
        ([1e99, 1e-300], [64, 1]),
    ],
)
def test_copies(given, copies):
    assert LineWeights.of((len(given), 2), given).rows.tolist() == copies


@given(st.lists(st.floats(1e-3, 1e3) | st.just(0.0), min_size=1, max_size=40).filter(any))
@examples(200)
def test_copies_are_few_and_in_proportion(given):
    lines = LineWeights.of((len(given), 1), given)
    given, copies = np.array(given), lines.rows
    assert ((copies > 0) == (given > 0)).all()
    assert copies[copies > 0].mean() <= 33
    unit = given[given > 0].mean() / 32
    # What is rounded is off by half a copy, or is one copy where it is nothing.
    assert (np.abs(copies * (given.sum() / copies.sum()) - given) <= 2 * unit + 0.1 * given).all()


def test_weights_that_are_rounded_are_told():
    (said,) = LineWeights.of((2, 3), [1.0, np.pi]).roundings()
    assert re.search(r"Weights of rows were rounded: .* 32 on average .* row \d of weight", said)
    assert not list(LineWeights.of((2, 3), [0.3, 0.9], [1, 2, 30]).roundings())
    (said,) = LineWeights.of((2, 3), None, [1e-9, 1, 2]).roundings()
    assert "column 0 of weight 1e-09 counts as" in said


def test_measures_take_weights():
    U, V = np.array([[1], [0]]), np.array([[1, 1, 0]])
    by = {"sample_weight": [3, 1], "feature_weight": [1, 2, 5]}
    # Wrong: a zero that is covered, 3·2, and ones that are not, 3·5 and 1·2 and 1·5.
    assert hamming_loss(A, U, V, **by) == 28
    assert relative_loss(A, U, V, **by) == 28 / 25
    assert similarity(A, U, V, **by) == 1 - 28 / 32
    assert recall(A, U, V, **by) == 3 / 25
    found = measures(A, U, V, truth=[[1, 1, 0], [0, 0, 0]], **by)
    assert found["loss"] == 28
    assert found["precision"] == 3 / 9
    assert found["recall_star"] == 1
    assert measures(A, U, V, sample_weight=[1, 1]) == measures(A, U, V)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2, 3], r"sample_weight must be a number for each of the 2 rows; got .* shape \(3,\)"),
        (3, r"got an array of shape \(\)"),
        ([[1, 2], [3, 4]], r"got an array of shape \(2, 2\)"),
        ([[1], [3, 4]], "got lists of several lengths"),
        (["a", "b"], "sample_weight must be numbers; got entries of type <U1"),
        ([1, None], "sample_weight must be numbers; got entries of type object"),
        ([1, -1], "numbers from 0 to .*; got -1 for row 1. A weight of 0 leaves a row out"),
        ([np.nan, 1], "got nan for row 0"),
        ([np.inf, 1], "got inf for row 0"),
        ([0, 0], "sample_weight is zero for every row"),
    ],
)
def test_what_is_no_weight_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        LineWeights.of((2, 3), given)


def test_messages_name_columns():
    with pytest.raises(InputError, match=r"feature_weight must be .* 3 columns; got"):
        measures(A, [[1], [1]], [[1, 1, 1]], feature_weight=[1])


def test_copies_without_room_are_refused(monkeypatch):
    monkeypatch.setattr(line_weights_module, "available_memory", lambda: 100)
    lines = LineWeights.of((2, 3), [1, 3])
    with pytest.raises(InputError, match=r"would have about .* too much. Take smaller whole"):
        lines.repeat(BooleanMatrix.from_array(A))
