"""Step sizes, balancing, and what a half-step leaves to the next."""

import numpy as np
import pytest

from elbmf.relaxation.half_step import (
    Summary,
    Tally,
    balancing_scale,
    lipschitz,
    step_size,
)


def test_lipschitz_constants_and_steps():
    generator = np.random.default_rng(0)
    for k in (1, 5, 100):
        X = generator.random((200, k))
        gram = X.T @ X
        assert lipschitz(gram, "spectral") == pytest.approx(np.linalg.norm(gram, 2))
        assert lipschitz(gram, "authors") == pytest.approx(np.linalg.norm(gram))
    assert lipschitz(np.zeros((3, 3)), "spectral") > 0
    assert lipschitz(np.zeros((3, 3)), "authors") == 1e-4
    assert step_size(4.0, 0.3, "spectral") == 0.25
    assert step_size(4.0, 0.0, "authors") == pytest.approx(1 / 4.4)
    assert step_size(4.0, 0.1, "authors") == pytest.approx(2 * 0.9 / 1.2 / 4)


def test_balancing_gives_both_factors_one_scale():
    generator = np.random.default_rng(0)
    U = generator.random((30, 4)) * [1, 10, 0.1, 0]
    V = generator.random((50, 4)) * [1, 0.1, 3, 1]
    d = balancing_scale(Summary.of(U, Tally()), Summary.of(V, Tally()))
    assert d[3] == 1  # an empty column is left alone
    U, V = U * d, V / d

    def scale(X):
        return (X**2).sum(axis=0)[:3] / X.sum(axis=0)[:3]

    np.testing.assert_allclose(scale(U), scale(V))


def test_balancing_leaves_boolean_factors_alone():
    generator = np.random.default_rng(0)
    U, V = ((generator.random((n, 4)) < 0.3).astype(float) for n in (30, 50))
    d = balancing_scale(Summary.of(U, Tally()), Summary.of(V, Tally()))
    np.testing.assert_allclose(d, 1)


def test_summaries_add_up_and_scale():
    generator = np.random.default_rng(0)
    X, scale = generator.random((20, 3)), np.array([1.0, 2.0, 0.5])
    whole = Summary.of(X, Tally(3.0, 4))
    parts = Summary.of(X[:7], Tally(1.0, 3)) + Summary.of(X[7:], Tally(2.0, 1))
    assert parts.tally == whole.tally
    np.testing.assert_allclose(parts.gram, whole.gram)
    np.testing.assert_allclose(parts.totals, whole.totals)
    np.testing.assert_allclose(whole.scaled(scale).gram, (X * scale).T @ (X * scale))
