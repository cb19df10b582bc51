"""Binaps: the network's gradients and training, and what becomes of its weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from elbmf.boolean.product import boolean_product, pack
from elbmf.datasets import make_tiles
from elbmf.estimators import Binaps
from elbmf.estimators.rivals.kernels.autoencoder import (
    Network,
    activate,
    add_gradients,
    draw_masks,
    inputs_needed,
    train_epochs,
)
from elbmf.matrix.boolean_matrix import BooleanMatrix
from strategies import boolean_arrays, examples, masked_arrays

pytestmark = pytest.mark.filterwarnings("ignore:n_components:UserWarning")

small = st.integers(1, 14)
# Beyond a word of hidden units, too.
units = st.sampled_from([1, 2, 5, 20, 70])
seeds = st.integers(0, 2**32 - 1)
# Some of them mean that errors of one kind are free.
costs = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])
TILES = make_tiles((40, 30), 4, height=(5, 10), noise=0.1, random_state=1)
NOISY = TILES.A.toarray()
APART = make_tiles((40, 30), 3, height=(5, 10), random_state=26)


def patterns(X, hidden):
    A = BooleanMatrix.from_array(X, missing=hidden)
    return A.lines(0), A.missing_lines(0)


@given(
    case=masked_arrays(small, small),
    k=units,
    seed=seeds,
    share=st.sampled_from([0.0, 0.2, 0.6, 1.0]),
    one=costs,
    zero=costs,
)
@examples(200)
def test_gradients(case, k, seed, share, one, zero):
    X, hidden = case
    m = X.shape[1]
    generator = np.random.default_rng(seed)
    weights, on = generator.random((k, m)), generator.random((k, m)) < share
    bias = -1 - 3 * generator.random(k)
    rows = generator.permutation(X.shape[0])[: generator.integers(1, X.shape[0] + 1)]
    network = Network.of(m, k)
    network.weights[:], network.bias[:] = weights.T, bias
    room = np.empty((k, m), dtype=np.int32)
    errors = add_gradients(*patterns(X, hidden), rows, network, pack(on.T), one, zero, room)
    X = X & ~hidden
    expected, *gradients = naive.binaps_gradients(
        X[rows], hidden[rows], weights, bias, on, one, zero
    )
    assert errors == expected
    found = network.gradients
    for ours, theirs in zip((found.encoder.T, found.decoder.T, found.bias), gradients, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@given(case=masked_arrays(small, small), k=st.sampled_from([1, 3, 6, 70]), seed=seeds, zero=costs)
@examples(40)
def test_training(case, k, seed, zero):
    X, hidden = case
    n, m = X.shape
    generator = np.random.default_rng(seed)
    epochs, batch_size = 12, int(generator.integers(1, n + 3))
    orders = np.array([generator.permutation(n) for _ in range(epochs)])
    keys = generator.integers(1 << 64, size=(epochs, -(-n // batch_size)), dtype=np.uint64)
    rates = generator.choice([0.013, 0.11, 0.29], epochs)
    network = Network.of(m, k)
    data = patterns(X, hidden)
    parts = [
        train_epochs(
            *data, orders[e], batch_size, keys[e], network, 1 - zero, zero, rates[e], steps
        )
        for e, steps in ((slice(0, 5), 0), (slice(5, epochs), 5 * keys.shape[1]))
    ]
    weights, bias, errors = naive.binaps_training(
        X, hidden, k, orders, batch_size, keys, 1 - zero, zero, rates
    )
    np.testing.assert_allclose(network.weights.T, weights, rtol=0, atol=1e-6)
    np.testing.assert_allclose(network.bias, bias, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(np.concatenate(parts), errors)


@given(seed=seeds, k=units)
@examples(20)
def test_weights_are_binarised_as_likely_as_they_are_large(seed, k):
    generator = np.random.default_rng(seed)
    weights = generator.choice([0.0, 0.3, 1.0], (400, k))
    masks = np.empty((400, -(-k // 64)), dtype=np.uint64)
    key = generator.integers(1 << 64, dtype=np.uint64)
    draw_masks(weights, key, masks)
    on = naive.uniforms(key, 400 * k).reshape(400, k) < weights
    np.testing.assert_array_equal(masks, pack(on))
    assert on[weights == 1].all()
    assert abs(on[weights == 0.3].mean() - 0.3) < 6 * np.sqrt(0.21 / np.sum(weights == 0.3))


@given(X=boolean_arrays(small, small), k=units, seed=seeds)
def test_activations(X, k, seed):
    generator = np.random.default_rng(seed)
    on, bias = generator.random((k, X.shape[1])) < 0.5, -1 - 3 * generator.random(k)
    active = np.zeros((X.shape[0], k), dtype=np.bool_)
    masks, needed = pack(on.T), inputs_needed(bias)
    activate(BooleanMatrix.from_array(X).lines(0), 0, X.shape[0], masks, needed, active)
    np.testing.assert_array_equal(active, naive.binaps_activations(X, bias, on))


@pytest.mark.parametrize("threshold", [0.2, "auto"])
def test_factors_are_weights_and_activations_of_the_network(threshold):
    settings = {"max_iter": 300, "threshold": threshold, "random_state": 0}
    model = Binaps(4, prune=False, **settings).fit(NOISY)
    assert ((model.weights_ >= 1 / 30) & (model.weights_ <= 1)).all()
    assert (model.bias_ <= -1).all()
    if threshold != "auto":
        assert model.threshold_ == threshold
    np.testing.assert_array_equal(model.components_, model.weights_ > model.threshold_)
    np.testing.assert_array_equal(
        model.membership_, naive.binaps_activations(NOISY, model.bias_, model.components_)
    )
    pruned = Binaps(4, **settings).fit(NOISY)
    kept = pruned.components_.any(axis=1)
    assert pruned.reconstruction_err_ <= model.reconstruction_err_
    assert not pruned.membership_[:, ~kept].any()
    if threshold == pruned.threshold_:
        np.testing.assert_array_equal(pruned.components_[kept], model.components_[kept])
        np.testing.assert_array_equal(pruned.membership_[:, kept], model.membership_[:, kept])


def test_the_searched_threshold_is_the_best():
    found = Binaps(4, random_state=3).fit(NOISY)
    tried = {
        step / 20: Binaps(4, threshold=step / 20, random_state=3).fit(NOISY).reconstruction_err_
        for step in range(1, 20, 3)
    }
    assert found.reconstruction_err_ <= min(tried.values())
    assert found.reconstruction_err_ == (
        Binaps(4, threshold=found.threshold_, random_state=3).fit(NOISY).reconstruction_err_
    )


def test_tiles_that_are_apart_are_found():
    model = Binaps(3, random_state=0).fit(APART.A)
    assert model.reconstruction_err_ == 0
    assert model.score(APART.A) == 1
    B = boolean_product(model.membership_, model.components_)
    np.testing.assert_array_equal(B.toarray(), APART.truth.toarray())


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_groups_of_three_columns_are_learned_but_not_smaller_ones(width):
    """A unit that is active in a row of two ones has both, and misses nothing."""
    X = np.kron(np.eye(2, dtype=int), np.ones((2, width), dtype=int))
    model = Binaps(2, random_state=0).fit(X)
    assert model.reconstruction_err_ == (0 if width > 2 else X.sum())


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2, 0.3])
def test_noisy_tiles_are_described_better_than_by_nothing(noise):
    tiles = make_tiles((40, 30), 5, height=(5, 10), noise=noise, random_state=0)
    model = Binaps(5, random_state=0).fit(tiles.A)
    assert model.reconstruction_err_ < 0.8 * tiles.A.nnz
    assert model.n_components_ >= 2


def test_the_authors_settings_find_nothing_on_a_small_matrix():
    """Ten steps are not enough for any weight to exceed the threshold."""
    model = Binaps(4, max_iter=10, zero_weight="density", threshold=0.2, prune=False)
    model.fit(NOISY)
    assert model.n_components_ == 0
    assert model.reconstruction_err_ == NOISY.sum()


def test_history_and_epochs():
    model = Binaps(3, max_iter=7, random_state=0).fit(NOISY)
    assert model.n_iter_ == 7
    assert model.stop_reason_ == "max_iter"
    assert {name: len(values) for name, values in model.history_.items()} == {
        "missed": 7,
        "extra": 7,
    }
    long = Binaps(3, random_state=0).fit(np.tile(NOISY, (40, 1)))
    assert long.n_iter_ == 3000 // 25
    assert long.history_["missed"][-1] < long.history_["missed"][0]


def test_a_callback_changes_nothing():
    losses = []
    told = Binaps(3, max_iter=250, random_state=0, callback=lambda r: losses.append(r.loss))
    told.fit(NOISY)
    untold = Binaps(3, max_iter=250, random_state=0).fit(NOISY)
    np.testing.assert_array_equal(told.weights_, untold.weights_)
    np.testing.assert_array_equal(told.history_["missed"] + told.history_["extra"], losses)


def test_nothing_is_learned_from_missing_entries():
    """A column is as if it were not there when nothing of it is known, but for the draws."""
    hidden = np.zeros(NOISY.shape, dtype=bool)
    hidden[:, 5:9], hidden[::3, 20] = True, True
    model = Binaps(3, random_state=0).fit(NOISY, missing=hidden)
    np.testing.assert_array_equal(model.weights_[:, 5:9], 1 / 30)
    other = NOISY ^ hidden
    again = Binaps(3, random_state=0).fit(other, missing=hidden)
    np.testing.assert_array_equal(again.weights_, model.weights_)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_iter": 0},
        {"learning_rate": 0.0},
        {"batch_size": 0},
        {"zero_weight": 1.0},
        {"zero_weight": "balanced"},
        {"threshold": 0.0},
        {"threshold": 1.0},
        {"prune": "yes"},
    ],
)
def test_parameters_are_checked(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of Binaps must be"):
        Binaps(3, **parameters).fit(NOISY)
