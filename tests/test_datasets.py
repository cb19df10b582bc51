"""Synthetic tiles and embedded data."""

import numpy as np
import pytest

import naive
from elbmf.datasets import load_digits, make_tiles
from elbmf.errors import InputError


@pytest.mark.parametrize("seed", range(5))
def test_tiles_are_rectangles_of_the_sizes_asked_for(seed):
    tiles = make_tiles((60, 50), 4, height=(5, 9), width=(3, 12), random_state=seed)
    for sides, (low, high) in ((tiles.U.T, (5, 9)), (tiles.V, (3, 12))):
        for line in sides:
            places = np.flatnonzero(line)
            assert low <= places.size <= high
            assert places[-1] - places[0] == places.size - 1
    times_covered = tiles.U.astype(int) @ tiles.V.astype(int)
    assert times_covered.max() == 1
    np.testing.assert_array_equal(tiles.truth.toarray(), times_covered > 0)
    np.testing.assert_array_equal(tiles.A.toarray(), tiles.truth.toarray())


def test_tiles_may_overlap_on_request():
    tiles = make_tiles((20, 20), 12, height=(8, 12), overlap=True, random_state=0)
    assert (tiles.U.astype(int) @ tiles.V.astype(int)).max() > 1
    np.testing.assert_array_equal(tiles.truth.toarray(), naive.boolean_product(tiles.U, tiles.V))


@pytest.mark.parametrize("noise", [0.02, 0.3, 0.9, 1.0])
def test_noise_sets_cells_with_its_probability(noise):
    tiles = make_tiles((300, 400), 2, height=(5, 9), noise=noise, random_state=0)
    A, truth = tiles.A.toarray(), tiles.truth.toarray()
    assert A[truth].all()
    spread = 5 * np.sqrt(noise * (1 - noise) / (~truth).sum())
    assert abs(A[~truth].mean() - noise) <= spread + 1e-12


def test_seeds_decide():
    same = [make_tiles((40, 30), 3, height=(5, 9), noise=0.1, random_state=4).A for _ in range(2)]
    assert (same[0] != same[1]).nnz == 0
    other = make_tiles((40, 30), 3, height=(5, 9), noise=0.1, random_state=5).A
    assert (same[0] != other).nnz > 0


def test_tiles_that_cannot_fit_are_an_error_and_no_endless_loop():
    with pytest.raises(InputError, match=r"Could not place 5 tiles.*overlap=True"):
        make_tiles((10, 10), 5, height=(6, 6), random_state=0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"height": (0, 5)}, "height must be a range"),
        ({"height": (5, 4)}, "height must be a range"),
        ({"height": (5, 41)}, "within 1 and 40"),
        ({"height": (5, 6), "width": (5, 31)}, "width must be a range"),
        ({"height": (5, 6), "noise": 1.5}, "probability"),
    ],
)
def test_impossible_tiles_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        make_tiles((40, 30), 2, **parameters)


def test_digits():
    A, names, labels = load_digits()
    assert A.shape == (1797, 64)
    assert A.dtype == np.bool_
    assert names[0] == "pixel_0_0"
    assert names[-1] == "pixel_7_7"
    assert set(labels) == set(range(10))
