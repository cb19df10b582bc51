"""Measures against their formulas on dense arrays."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

import naive
from elbmf.boolean import metrics
from strategies import boolean_factors, masked_factors


@given(case=boolean_factors(max_components=10))
def test_measures_follow_the_formulas(case):
    A, U, V = case
    B = naive.boolean_product(U, V)
    loss = np.sum(A != B)
    result = metrics.measures(A, U, V, truth=A)
    assert result["loss"] == metrics.hamming_loss(A, U, V) == loss
    assert result["similarity"] == metrics.similarity(A, U, V) == 1 - loss / A.size
    if A.any():
        assert result["relative_loss"] == metrics.relative_loss(A, U, V) == loss / A.sum()
        assert result["recall"] == metrics.recall(A, U, V) == np.sum(A & B) / A.sum()
    if B.any():
        assert result["precision"] == np.sum(A & B) / B.sum()
    assert result["recall_star"] == result["recall"]


@given(case=masked_factors(max_components=10))
def test_measures_ignore_missing_cells(case):
    A, mask, U, V = case
    with_nan = np.where(mask, np.nan, A)
    B = naive.boolean_product(U, V)[~mask]
    known = A[~mask]
    result = metrics.measures(with_nan, U, V, truth=A)
    loss = np.sum(known != B)
    assert result["loss"] == metrics.hamming_loss(with_nan, U, V) == loss
    assert result["similarity"] == (1 - loss / known.size if known.size else 1)
    assert result["recall"] == (np.sum(known & B) / known.sum() if known.any() else 1)
    assert result["precision"] == (np.sum(known & B) / B.sum() if B.any() else 1)
    if known.any():
        assert result["relative_loss"] == loss / known.sum()
    assert result["recall_star"] == metrics.recall(A, U, V)  # of all that the truth knows


def test_recall_star_is_recall_of_the_truth():
    A = np.array([[1, 1, 1], [0, 0, 1]])
    truth = np.array([[1, 1, 0], [0, 0, 0]])
    U, V = np.array([[1], [0]]), np.array([[1, 0, 0]])
    result = metrics.measures(A, U, V, truth=truth)
    assert result["recall"] == 1 / 4
    assert result["recall_star"] == 1 / 2


def test_matrices_without_ones():
    zeros, nothing, something = np.zeros((2, 3)), np.zeros((2, 1)), np.ones((2, 1))
    V = np.ones((1, 3))
    assert metrics.relative_loss(zeros, nothing, V) == 0
    assert metrics.relative_loss(zeros, something, V) == np.inf
    assert metrics.recall(zeros, something, V) == 1
    assert metrics.measures(zeros, nothing, V)["precision"] == 1


def test_boolean_gap_is_the_sum_of_two_means():
    generator = np.random.default_rng(0)
    U, V = generator.normal(size=(7, 3)), generator.normal(size=(3, 11))
    assert metrics.boolean_gap(U, V) == pytest.approx(naive.boolean_gap(U, V))
    assert metrics.boolean_gap(U > 0, V > 0) == 0


@given(case=boolean_factors(max_components=5))
def test_hamming_process_adds_up_the_flips(case):
    _, U, V = case
    sequence = [(U, V), (~U, V), (~U, ~V), (~U, ~V)]
    process = metrics.HammingProcess()
    products = [naive.boolean_product(u, v) for u, v in sequence]
    flips = [np.mean(a != b) for a, b in pairwise(products)]
    totals = [process.update(u, v) for u, v in sequence]
    np.testing.assert_allclose(totals, np.concatenate([[0], np.cumsum(flips)]))


def test_loss_gap_is_a_distance():
    assert metrics.loss_gap(3.0, 5.0) == metrics.loss_gap(5.0, 3.0) == 2
