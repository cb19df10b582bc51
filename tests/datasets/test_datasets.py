"""Synthetic tiles and embedded data."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from scipy import sparse

import naive
from elbmf.datasets import load_digits, make_tiles
from elbmf.datasets.kernels.merging import merge_cells
from elbmf.errors import InputError
from strategies import boolean_arrays

# Of the matrices that some seeds have drawn since the first version.
DIGESTS = ["efb1827aa277", "44ace450e1e1", "02ca19bccbcd"]


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


probabilities = st.sampled_from([0.0, 0.01, 0.2, 0.5, 1.0])


@st.composite
def tiled(draw, **fixed):
    """Parameters of small tiled matrices, all kinds of noise on or off."""
    shape = draw(st.integers(4, 60)), draw(st.integers(4, 60))
    longest = draw(st.integers(1, min(shape) // 2))
    parameters = {
        "shape": shape,
        "n_tiles": draw(st.integers(1, 4)),
        "height": (draw(st.integers(1, longest)), longest),
        "noise": draw(probabilities),
        "subtractive": draw(probabilities),
        "flips": draw(probabilities),
        "overlap": draw(st.booleans()),
        "random_state": draw(st.integers(0, 2**31 - 1)),
    }
    return parameters | fixed


def make(parameters):
    try:
        return make_tiles(**parameters)
    except InputError:
        reject()


@given(tiled())
def test_the_truth_is_the_product_of_the_factors(parameters):
    tiles = make(parameters)
    times_covered = tiles.U.astype(int) @ tiles.V.astype(int)
    np.testing.assert_array_equal(tiles.truth.toarray(), times_covered > 0)
    assert parameters["overlap"] or times_covered.max() == 1
    for matrix in (tiles.A, tiles.truth):
        assert matrix.dtype == np.bool_
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
        assert matrix.has_canonical_format
        assert matrix.data.all()


@given(tiled(), st.integers(1, 50))
def test_kinds_of_noise_combine_in_their_order_and_do_not_depend_on_each_other(parameters, ones):
    """Each kind alone tells its cells, from which the three together follow."""
    kinds = ("noise", "subtractive", "flips")

    def alone(*kept):
        return make(parameters | {kind: 0.0 for kind in kinds if kind not in kept}).A.toarray()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("elbmf.datasets.tiles._ONES_AT_ONCE", ones)
        together = make(parameters)
    truth = together.truth.toarray()
    added, kept = alone("noise"), alone("subtractive")
    assert (added >= truth).all()
    assert (kept <= truth).all()
    flipped = alone("flips") ^ truth
    np.testing.assert_array_equal(together.A.toarray(), (added & ~(truth & ~kept)) ^ flipped)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_noise_of_each_kind_has_its_probability(share, seed):
    def shares(**noise):
        tiles = make_tiles((300, 400), 2, height=(99, 120), random_state=seed, **noise)
        A, truth = tiles.A.toarray(), tiles.truth.toarray()
        return A[truth].mean(), A[~truth].mean(), 5 * np.sqrt(share * (1 - share) / truth.sum())

    kept, added, spread = shares(subtractive=share)
    assert abs(kept - (1 - share)) <= spread
    assert added == 0
    kept, added, spread = shares(flips=share)
    assert abs(kept - (1 - share)) <= spread
    assert abs(added - share) <= spread
    kept, added, spread = shares(noise=share, subtractive=share)
    assert abs(kept - (1 - share)) <= spread
    assert abs(added - share) <= spread


def test_noise_may_be_next_to_impossible():
    tiles = make_tiles((40, 30), 2, height=(5, 6), noise=1e-300, flips=5e-324, random_state=0)
    assert (tiles.truth != tiles.A).nnz == 0


def test_seeds_draw_the_same_matrices_in_every_version():
    """What was measured on them can be measured again."""
    digests = []
    for shape, noise in (((97, 103), 0.0), ((97, 103), 0.05), ((211, 65), 0.4)):
        tiles = make_tiles(shape, 5, height=(5, 30), noise=noise, random_state=7)
        digests.append(hashlib.sha256(tiles.A.toarray()).hexdigest()[:12])
    assert digests == DIGESTS


def test_many_tiles_in_a_large_matrix():
    tiles = make_tiles((30_000, 20_000), 300, height=(5, 30), noise=1e-6, random_state=0)
    assert tiles.truth.nnz == (tiles.U.sum(axis=0) * tiles.V.sum(axis=1)).sum()


@given(
    st.integers(1, 5),
    st.integers(1, 5),
    boolean_arrays(st.integers(1, 9), st.integers(1, 9)),
    st.data(),
)
def test_merging_cells(skipped, first_row, A, data):
    B = data.draw(boolean_arrays(st.just(A.shape[0]), st.just(A.shape[1])))
    n, m = A.shape
    rows = sparse.csr_array(np.vstack([np.ones((skipped, m), dtype=np.bool_), A]))
    cells = np.flatnonzero(B) + first_row * m
    for keep_common, expected in ((True, A | B), (False, A ^ B)):
        indptr, indices = np.zeros(n + 1, dtype=np.int64), np.empty(2 * n * m, dtype=np.int32)
        merge_cells(
            rows.indptr[skipped:], rows.indices, first_row, m, cells, keep_common, indptr, indices
        )
        pattern = (np.ones(indptr[-1]), indices[: indptr[-1]], indptr)
        np.testing.assert_array_equal(sparse.csr_array(pattern, shape=(n, m)).toarray(), expected)
        assert (np.diff(np.split(indices[: indptr[-1]], indptr[1:-1])[0]) > 0).all()


def test_tiles_that_cannot_fit_are_an_error_and_no_endless_loop():
    message = r"Could not place 5 tiles.*at most 1 fit even of the least size, 6×6.*overlap=True"
    with pytest.raises(InputError, match=message):
        make_tiles((10, 10), 5, height=(6, 6), random_state=0)
    with pytest.raises(InputError, match="at most 100 fit"):
        make_tiles((100_000, 100_000), 1000, height=(1000, 2000), width=(90_000, 99_999))


def test_tiles_that_find_no_room_are_an_error_and_no_endless_loop(monkeypatch):
    monkeypatch.setattr("elbmf.datasets.tiles._DRAWS_IN_ALL", 500)
    with pytest.raises(InputError, match=r"Could not place 9 tiles.*no room was found by chance"):
        make_tiles((30, 30), 9, height=(10, 10), random_state=0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"height": (0, 5)}, "height must be a range"),
        ({"height": (5, 4)}, "height must be a range"),
        ({"height": (5, 41)}, "within 1 and 40"),
        ({"height": (5, 6), "width": (5, 31)}, "width must be a range"),
        ({"height": (5, 6), "noise": 1.5}, "noise must be a probability"),
        ({"height": (5, 6), "subtractive": -0.1}, "subtractive must be a probability"),
        ({"height": (5, 6), "flips": np.nan}, "flips must be a probability"),
        ({"height": (5, 6), "n_tiles": 0}, "n_tiles must be a whole number, at least 1; got 0"),
        ({"height": (5, 6), "n_tiles": 1.5}, "n_tiles must be a whole number"),
    ],
)
def test_impossible_tiles_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        make_tiles((40, 30), **({"n_tiles": 2} | parameters))


def test_digits():
    A, names, labels = load_digits()
    assert A.shape == (1797, 64)
    assert A.dtype == np.bool_
    assert names[0] == "pixel_0_0"
    assert names[-1] == "pixel_7_7"
    assert set(labels) == set(range(10))
