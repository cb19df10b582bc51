"""The methods that descend on relaxed factors by one run and round: Primp and RoundedNMF."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.decomposition import NMF

import naive
from elbmf.boolean.coverage import Weights
from elbmf.datasets import make_tiles
from elbmf.errors import InputError
from elbmf.estimators import ELBMF, Primp, RoundedNMF
from elbmf.estimators.rank_search import RankSearch
from elbmf.relaxation.regularizers import Primp as LambdaShaped
from strategies import examples, masked_arrays

pytestmark = pytest.mark.filterwarnings("ignore:n_components:UserWarning")

TILES = make_tiles((40, 30), 4, height=(5, 10), noise=0.1, random_state=1)
NOISY = TILES.A.toarray()
sides = st.integers(1, 20)
METHODS = {"Primp": Primp, "RoundedNMF": RoundedNMF}


@pytest.fixture(params=METHODS.values(), ids=METHODS)
def method(request):
    return request.param


def with_iterates(model, A, **how):
    """Fit, and return the last relaxed U and V."""
    last = []

    def look(state):
        last[:] = [state.U.copy(), state.Vt.T.copy()]

    model.set_params(callback=look).fit(A, **how)
    return last


def primp_prox(x, kappa, _):
    """Away from ½ by 2κ, within [0, 1]."""
    return max(0.0, x - 2 * kappa) if x <= 0.5 else min(1.0, x + 2 * kappa)


def elastic_net_prox(x, kappa, lam):
    return max(0.0, x - kappa) / (1 + lam)


CASES = {
    "Primp": (Primp, {"kappa": 0.05}, primp_prox, (0.05, 0.0)),
    "Primp without inertia": (Primp, {"kappa": 0.3, "beta": 0.0}, primp_prox, (0.3, 0.0)),
    "NMF": (RoundedNMF, {}, elastic_net_prox, (0.0, 0.0)),
    "NMF with elastic net": (RoundedNMF, {"l1": 0.2, "l2": 0.7}, elastic_net_prox, (0.2, 0.7)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("masked", [False, True])
def test_epochs_are_those_of_palm(case, masked):
    cls, parameters, prox, (kappa, lam) = CASES[case]
    generator = np.random.default_rng(3)
    start = generator.random((40, 3)), generator.random((3, 30))
    missing = generator.random(NOISY.shape) < 0.2 if masked else np.zeros(NOISY.shape, dtype=bool)
    model = cls(3, init=start, dtype="float64", max_iter=6, **parameters)
    found = with_iterates(model, NOISY, missing=missing if masked else None)
    steps = naive.palm(
        NOISY & ~missing,
        *start,
        6,
        kappa,
        lam,
        1,
        prox=prox,
        beta=model.beta,
        weights=1.0 * ~missing,
    )
    *_, expected = steps
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_a_run_ends_where_the_factors_converge(method):
    model = method(4, random_state=0).fit(NOISY)
    assert model.stop_reason_ in ("converged", "boolean")
    assert model.n_iter_ < 1500
    assert model.history_["relaxed_loss"].size == model.n_iter_
    short = method(4, max_iter=7, random_state=0).fit(NOISY)
    assert (short.stop_reason_, short.n_iter_) == ("max_iter", 7)


def test_both_number_types(method):
    for dtype in ("float32", "float64"):
        iterates = with_iterates(method(3, dtype=dtype, max_iter=5, random_state=0), NOISY)
        assert {factor.dtype for factor in iterates} == {np.dtype(dtype)}


def test_refinement_is_reported_and_never_for_the_worse(method):
    plain = method(4, random_state=0).fit(NOISY)
    refined = method(4, refine=True, random_state=0).fit(NOISY)
    assert plain.stages_ == {"method": plain.reconstruction_err_}
    assert refined.stages_["method"] == plain.reconstruction_err_
    assert refined.stages_["refinement"] == refined.reconstruction_err_ <= plain.stages_["method"]


def test_the_rank_of_tiles_is_found(method):
    A = make_tiles((60, 50), 3, height=(15, 25), noise=0.02, random_state=4).A
    assert method("auto", max_iter=200, random_state=0).fit(A).components_.shape[0] == 3
    search = RankSearch(method(max_iter=200, random_state=0), max_components=5).fit(A)
    assert search.n_components_ == 3


def test_bad_starts_are_refused(method):
    U, V = np.ones((40, 3)), np.ones((3, 30))
    for init, message in [
        ((U,), "init must be .*; got 1 items"),
        ((U, V.T), r"init: V must have shape \(3, 30\)"),
        ((U, V * np.nan), "init: V has entries that are not finite"),
        ((U, V * 1e9), "init: V has entries beyond"),
        ((U.astype(str), V), "init: U must be a matrix of real numbers"),
    ]:
        with pytest.raises(InputError, match=message):
            method(3, init=init).fit(NOISY)


def test_the_full_trace_is_there(method):
    history = method(3, trace="full", max_iter=5, random_state=0).fit(NOISY).history_
    assert {"rounded_loss", "loss_gap", "hamming"} <= set(history)


def test_negative_coefficients_are_refused():
    for model in (Primp(kappa=-1), RoundedNMF(l1=-1), RoundedNMF(l2=-1), RoundedNMF(beta=1)):
        with pytest.raises(ValueError, match=r"parameter of .* must be a float in the range"):
            model.fit(NOISY)


# --- Primp ---


@given(
    case=masked_arrays(sides, sides),
    k=st.integers(1, 6),
    init=st.sampled_from(["svd", "random"]),
    epochs=st.sampled_from([1, 20, 300]),
)
@examples(10)
def test_primp_takes_the_best_of_all_thresholds(case, k, init, epochs):
    A, missing = case
    model = Primp(k, init=init, max_iter=epochs, random_state=0)
    U, V = with_iterates(model, A, missing=missing)
    assert min(U.min(), V.min()) >= 0
    assert max(U.max(), V.max()) <= 1
    thresholds = (np.arange(1, 101) / 100).astype(np.float32)
    # Only thresholds that round differently, and of these the lowest, come first in the order.
    for_U, for_V = (
        [t for t, c in zip(thresholds, counts, strict=True) if c not in seen and not seen.add(c)]
        for counts, seen in (([(t < X).sum() for t in thresholds], set()) for X in (U, V))
    )
    pairs = {(v, u): naive.cost(A, u < U, v < V, Weights(), missing) for v in for_V for u in for_U}
    best = min(pairs, key=pairs.get)
    assert model.reconstruction_err_ == pairs[best]
    np.testing.assert_array_equal(model.components_, best[0] < V)
    # Memberships are those of the thresholds, or equally good ones that transform gives.
    own = naive.row_costs(A, best[1] < U, model.components_, Weights(), missing)
    final = naive.row_costs(A, model.membership_, model.components_, Weights(), missing)
    np.testing.assert_array_equal(own, final)


def test_primp_loses_no_more_than_elbmf_without_refinement():
    losses = np.zeros((2, 4))
    for seed in range(losses.shape[1]):
        A = make_tiles((40, 30), 5, height=(5, 10), noise=0.2, random_state=seed).A
        for i, model in enumerate((ELBMF(5, refine=False), Primp(5))):
            losses[i, seed] = model.set_params(random_state=seed).fit(A).reconstruction_err_
    assert losses[1].sum() <= 1.02 * losses[0].sum()


def test_a_strong_regularizer_leaves_boolean_factors():
    U, V = with_iterates(Primp(4, kappa=20.0, random_state=0), NOISY)
    assert set(np.unique(U)) | set(np.unique(V)) <= {0, 1}


def test_the_value_that_primp_lowers():
    """Without inertia no epoch raises ½‖A − UV‖² + φ(U) + φ(V)."""
    values = []

    def look(state):
        penalty = sum(LambdaShaped().value(X, 0.1) for X in (state.U, state.Vt))
        values.append(state.loss / 2 + penalty)

    Primp(4, kappa=0.1, beta=0, init="random", dtype="float64", callback=look, random_state=0).fit(
        NOISY
    )
    assert (np.diff(values) <= 1e-9).all()


# --- RoundedNMF ---


def test_the_relaxed_loss_is_that_of_other_solvers():
    shapes = [((40, 30), 5, (5, 10)), ((120, 90), 6, (20, 30))]
    for shape, k, height in shapes:
        ours, theirs = [], []
        for seed in range(4):
            A = make_tiles(shape, k, height=height, noise=0.1, random_state=seed).A
            model = RoundedNMF(k, max_iter=300, tol=0, random_state=seed).fit(A)
            ours.append(model.history_["relaxed_loss"][-1])
            other = NMF(k, init="random", max_iter=300, tol=0, random_state=seed)
            theirs.append(other.fit(sparse.csr_matrix(A, dtype=float)).reconstruction_err_ ** 2)
        assert np.sum(ours) <= 1.01 * np.sum(theirs)


@given(
    case=masked_arrays(sides, sides),
    k=st.integers(1, 6),
    balance=st.booleans(),
    init=st.sampled_from(["svd", "random"]),
)
@examples(60)
def test_nmf_is_clamped_and_rounded(case, k, balance, init):
    A, missing = case
    model = RoundedNMF(k, balance=balance, init=init, max_iter=30, random_state=0)
    U, V = with_iterates(model, A, missing=missing)
    if balance:
        D = naive.balance(U, V).astype(U.dtype)
        U, V = U * D, V / D[:, None]
    if np.abs(np.concatenate([U.ravel(), V.ravel()]) - 0.5).min() < 1e-4:
        return  # the two balances differ in the last digits
    U, V = (np.round(np.clip(X, 0, 1)) == 1 for X in (U, V))
    cost = naive.cost(A, U, V, Weights(), missing)
    ones = (A & ~missing).sum()
    assert model.reconstruction_err_ == min(cost, ones)
    assert not model.components_.any() if cost > ones else (model.components_ == V).all()


def test_only_balanced_factors_do_not_depend_on_the_scale_of_the_start():
    A = TILES.truth.toarray()
    U, V = TILES.U.astype(float), TILES.V.astype(float)
    for scale in (0.1, 1.0, 10.0):
        start = U * scale, V / scale
        assert RoundedNMF(4, init=start, max_iter=3).fit(A).reconstruction_err_ == 0
        plain = RoundedNMF(4, init=start, balance=False, max_iter=3).fit(A)
        assert (plain.reconstruction_err_ == 0) == (scale == 1)


def test_the_elastic_net_makes_factors_smaller():
    sizes = []
    for l1, l2 in ((0, 0), (1, 0), (0, 1), (100, 0)):
        U, V = with_iterates(RoundedNMF(4, l1=l1, l2=l2, random_state=0), NOISY)
        sizes.append(np.abs(U).sum() * np.abs(V).sum())
    assert sizes[0] > max(sizes[1:])
    assert sizes[3] == 0
