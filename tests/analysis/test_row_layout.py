"""The map of the rows, beside the scaling of all distances that it stands for."""

import numpy as np
import pytest
from hypothesis import given

from elbmf.analysis import layout, row_layout
from strategies import boolean_factors


def _scaled(B):
    """Classical scaling of the Hamming distances between rows, all of them."""
    distances = (B[:, None] != B[None]).sum(axis=2).astype(float)
    center = np.eye(len(B)) - 1 / len(B)
    values, vectors = np.linalg.eigh(-0.5 * center @ distances @ center)
    return vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0)), values[::-1]


@given(boolean_factors(12))
def test_places_are_those_of_classical_scaling(drawn):
    _, U, V = drawn
    found = row_layout(U, V)
    wanted, values = _scaled(U.astype(int) @ V > 0)
    at = found.places[found.place_of]
    total = max(values.sum(), 1e-12)
    for direction in range(min(2, len(values))):
        # Directions are told apart only where they do not show the same.
        ahead = values[direction + 1] if direction + 1 < len(values) else 0
        if values[direction] - ahead < 1e-6 * total or (
            direction and values[0] - values[1] < 1e-6 * total
        ):
            continue
        assert found.explained[direction] == pytest.approx(values[direction] / total)
        ours, theirs = at[:, direction], wanted[:, direction]
        assert min(np.abs(ours - theirs).max(), np.abs(ours + theirs).max()) < 1e-6 * len(V.T)
    np.testing.assert_array_equal(found.members[found.place_of], U)
    np.testing.assert_array_equal(found.counts, np.bincount(found.place_of))


def test_a_sample_gives_nearly_the_same_map_every_time(monkeypatch):
    generator = np.random.default_rng(0)
    # Three groups apart in two directions, one of which shows more than the other.
    groups = np.array([[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 0], [0] * 8], dtype=bool)
    U = groups[generator.choice(3, p=[0.5, 0.3, 0.2], size=900)]
    U ^= generator.random(U.shape) < 0.1
    V = generator.random((8, 700)) < 0.2
    exact = row_layout(U, V)
    monkeypatch.setattr(layout, "_MOST_LEARNED", 100)
    monkeypatch.setattr(layout, "_CELLS_AT_ONCE", 5000)
    rough, again = row_layout(U, V), row_layout(U, V)
    np.testing.assert_array_equal(rough.places, again.places)
    for direction in range(2):
        pair = exact.places[:, direction], rough.places[:, direction]
        assert abs(np.corrcoef(*pair)[0, 1]) > 0.95


def test_nothing_to_tell_rows_apart_by_is_one_place():
    found = row_layout(np.ones((5, 2), dtype=bool), np.ones((2, 3), dtype=bool))
    np.testing.assert_array_equal(found.places, np.zeros((1, 2)))
    assert found.explained == (0, 0)
    assert row_layout(np.zeros((4, 0), dtype=bool), np.zeros((0, 3), dtype=bool)).counts == [4]
