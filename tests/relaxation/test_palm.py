"""The epoch loop against a transcription of the algorithm, and its promises on reproducibility."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import naive
from elbmf.datasets import make_tiles
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines import MemoryEngine
from elbmf.relaxation.half_step import Iterate
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.schedules import Annealed, Printed
from elbmf.relaxation.slabs import ByteSlab, ComplementSlab, IndexSlab, cut
from epochs import ipalm
from strategies import boolean_arrays, examples, masked_arrays


def start(shape, k, seed=0):
    generator = np.random.default_rng(seed)
    return generator.random((shape[0], k)), generator.random((k, shape[1]))


def iterate(A, U, V, epochs, variant="paper", n_jobs=1, omega=1.0, **options):
    options = {"schedule": Printed(0.01, 0.02, 1.05), "dtype": np.float64, **options}
    with MemoryEngine(cut(BooleanMatrix.from_array(A), omega), n_jobs) as engine:
        yield from islice(
            ipalm(engine, Iterate(U), Iterate(V.T), regularizer=ELB(variant), **options), epochs
        )


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("shape", "noise"), [((40, 30), 0.1), ((30, 40), 0.1), ((40, 30), 0.9)])
@pytest.mark.parametrize("rule", ["authors", "spectral"])
def test_iterates_equal_the_transcription(make, shape, noise, rule):
    A = make_tiles(shape, 3, height=(5, 10), noise=noise, random_state=1).A.toarray()
    U, V = start(shape, 5)
    expected = naive.palm(A.astype(float), U, V, 200, 0.01, 0.02, 1.05, rule)
    for state, (U_t, V_t) in zip(iterate(make(A), U, V, 200, step=rule), expected, strict=True):
        np.testing.assert_allclose(state.U, U_t, atol=1e-9)
        np.testing.assert_allclose(state.Vt.T, V_t, atol=1e-9)
        loss = np.sum((A - U_t @ V_t) ** 2)
        assert state.loss == pytest.approx(loss, rel=1e-9, abs=1e-8)
        assert state.gap == pytest.approx(naive.boolean_gap(U_t, V_t), abs=1e-9)
        assert state.lam == pytest.approx(0.02 * 1.05**state.iteration)


@pytest.mark.parametrize("rule", ["authors", "spectral"])
@pytest.mark.parametrize("shape", [(40, 30), (30, 40)])
def test_inertia_uses_the_two_last_iterates(shape, rule):
    A = make_tiles(shape, 3, height=(5, 10), noise=0.1, random_state=2).A.toarray()
    U, V = start(shape, 4)
    expected = naive.palm(A.astype(float), U, V, 60, 0.01, 0.02, 1.05, rule, beta=0.3)
    states = iterate(A, U, V, 60, step=rule, beta=0.3)
    for state, (U_t, V_t) in zip(states, expected, strict=True):
        np.testing.assert_allclose(state.U, U_t, atol=1e-9)
        np.testing.assert_allclose(state.Vt.T, V_t, atol=1e-9)


@given(A=boolean_arrays(), k=st.integers(1, 12), seed=st.integers(0, 99))
@examples(30)
def test_iterates_on_awkward_matrices(A, k, seed):
    U, V = start(A.shape, k, seed)
    # The printed operator jumps at 0 and 1, which awkward matrices hit to the last bit.
    expected = naive.palm(A.astype(float), U, V, 5, 0.01, 0.02, 1.5, prox=naive.elb_prox_exact)
    states = iterate(A, U, V, 5, "exact", schedule=Printed(0.01, 0.02, 1.5))
    for state, (U_t, V_t) in zip(states, expected, strict=True):
        np.testing.assert_allclose(state.U, U_t, atol=1e-9)
        np.testing.assert_allclose(state.Vt.T, V_t, atol=1e-9)


@pytest.mark.parametrize("shape", [(40, 30), (30, 40)])
@pytest.mark.parametrize("beta", [0.0, 0.9])
def test_balancing_is_done_before_every_epoch(shape, beta):
    A = make_tiles(shape, 3, height=(5, 10), noise=0.1, random_state=2).A.toarray()
    U, V = start(shape, 4)
    how = {"beta": beta, "prox": naive.elb_prox_exact, "balanced": True}
    expected = naive.palm(A.astype(float), U, V, 50, 0.01, 0.02, 1.05, **how)
    states = iterate(A, U, V, 50, "exact", beta=beta, balance=True)
    for state, (U_t, V_t) in zip(states, expected, strict=True):
        np.testing.assert_allclose(state.U, U_t, atol=1e-9)
        np.testing.assert_allclose(state.Vt.T, V_t, atol=1e-9)


# --- weights and missing cells ---


@pytest.fixture
def small_slabs(monkeypatch):
    """Several slabs and blocks on small matrices."""
    monkeypatch.setattr("elbmf.relaxation.slabs._ONES_PER_SLAB", 20)
    monkeypatch.setattr("elbmf.relaxation.slabs._ONES_PER_RESIDENT", 1)
    monkeypatch.setattr("elbmf.relaxation.slabs._LINES_PER_BYTE_SLAB", 10)
    monkeypatch.setattr("elbmf.relaxation.slabs._NUMBERS_IN_BLOCK", 64)


def assert_weighted(A, mask, omega, k, epochs, seed=0, beta=0.0, balance=False, rate=1.05, **how):
    """Compare with the transcription: iterates and loss."""
    U, V = start(A.shape, k, seed)
    W = np.where(mask, 0, np.where(A, omega, 1))
    B = A.astype(float)
    options = {"beta": beta, "prox": naive.elb_prox_exact, "weights": W, "balanced": balance}
    expected = naive.palm(B, U, V, epochs, 0.01, 0.02, rate, **options)
    how = {"beta": beta, "balance": balance, "schedule": Printed(0.01, 0.02, rate), **how}
    states = iterate(np.where(mask, np.nan, A), U, V, epochs, "exact", omega=omega, **how)
    for state, (U_t, V_t) in zip(states, expected, strict=True):
        np.testing.assert_allclose(state.U, U_t, atol=1e-9)
        np.testing.assert_allclose(state.Vt.T, V_t, atol=1e-9)
        loss = np.sum(W * (B - U_t @ V_t) ** 2)
        assert state.loss == pytest.approx(loss, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize("beta", [0.0, 0.9])
@pytest.mark.parametrize("omega", [1.0, 4.0, 0.25])
@pytest.mark.parametrize("shape", [(40, 30), (30, 40)])
@pytest.mark.parametrize(
    ("noise", "storage"), [(0.01, IndexSlab), (0.4, ByteSlab), (0.97, ComplementSlab)]
)
def test_weighted_iterates_equal_the_transcription(
    small_slabs, noise, storage, shape, omega, beta, balance
):
    A = make_tiles(shape, 3, height=(3, 6), noise=noise, random_state=1).A.toarray()
    generator = np.random.default_rng(3)
    mask = generator.random(shape) < (0.02 if storage is ComplementSlab else 0.2)
    slabs = cut(BooleanMatrix.from_array(np.where(mask, np.nan, A)), omega).slabs
    assert {type(slab) for slab in slabs} == {storage}
    assert len(slabs) > 1
    assert_weighted(A, mask, omega, 5, 25, beta=beta, balance=balance, rate=1.1)


@given(
    case=masked_arrays(),
    k=st.integers(1, 12),
    seed=st.integers(0, 99),
    omega=st.sampled_from([0.1, 0.5, 1.0, 3.0, 10.0]),
    beta=st.sampled_from([0.0, 0.5]),
)
@examples(40)
def test_weighted_iterates_on_awkward_matrices(case, k, seed, omega, beta):
    assert_weighted(*case, omega, k, 5, seed, beta, rate=1.5)


@pytest.mark.parametrize("rule", ["authors", "spectral"])
def test_every_step_rule_knows_the_largest_weight(rule):
    A = make_tiles((40, 30), 3, height=(5, 10), noise=0.1, random_state=1).A.toarray()
    U, V = start(A.shape, 4)
    W = np.where(A, 3.0, 1.0)
    expected = naive.palm(A.astype(float), U, V, 30, 0.01, 0.02, 1.05, rule, weights=W)
    for state, (U_t, V_t) in zip(iterate(A, U, V, 30, step=rule, omega=3.0), expected, strict=True):
        np.testing.assert_allclose(state.U, U_t, atol=1e-9)
        np.testing.assert_allclose(state.Vt.T, V_t, atol=1e-9)


@pytest.mark.parametrize("balance", [False, True])
def test_weighted_loss_never_rises_without_regularisation(balance):
    generator = np.random.default_rng(4)
    A, mask = generator.random((2, 60, 45)) < 0.3
    U, V = start(A.shape, 5)
    X = np.where(mask, np.nan, A)
    states = iterate(
        X, U, V, 60, "exact", omega=5.0, balance=balance, schedule=Printed(0.0, 0.0, 1.0)
    )
    losses = [state.loss for state in states]
    assert np.all(np.diff(losses) <= 1e-9)


def test_what_is_under_the_mask_does_not_matter():
    generator = np.random.default_rng(5)
    A, mask, other = generator.random((3, 50, 30)) < 0.3
    U, V = start(A.shape, 4)
    results = []
    for X in (A, np.where(mask, other, A), np.where(mask, 9, A)):
        read = BooleanMatrix.from_array(X.astype(float), missing=mask)
        *_, state = iterate(read, U, V, 20, omega=2.0)
        results.append((state.U.tobytes(), state.Vt.tobytes(), state.loss))
    assert results[0] == results[1] == results[2]


class InFormulasAlone(ELB):
    operator = None


def test_a_regularizer_needs_no_loop_of_its_own():
    A = make_tiles((40, 30), 3, height=(5, 10), noise=0.1, random_state=1).A
    U, V = start((40, 30), 5)
    expected = iterate(A, U, V, 30, "exact", beta=0.5)
    with MemoryEngine(cut(BooleanMatrix.from_array(A)), 2) as engine:
        states = ipalm(
            engine,
            Iterate(U),
            Iterate(V.T),
            schedule=Printed(0.01, 0.02, 1.05),
            regularizer=InFormulasAlone(),
            beta=0.5,
            dtype=np.float64,
        )
        for state, other in zip(states, expected, strict=False):
            np.testing.assert_allclose(state.U, other.U, atol=1e-9)
            np.testing.assert_allclose(state.Vt, other.Vt, atol=1e-9)
            assert state.flips == other.flips
    x = np.linspace(-0.5, 1.6, 40, dtype=np.float32)
    found = InFormulasAlone().prox(x, 0.1, 0.3)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ELB().prox(x, 0.1, 0.3), atol=1e-6)


def test_flips_count_changes_of_the_rounding():
    A = make_tiles((40, 30), 3, height=(5, 10), noise=0.1, random_state=3).A
    U, V = start(A.shape, 4)
    last = np.concatenate([U.ravel() > 0.5, V.T.ravel() > 0.5])
    for state in iterate(A, U, V, 40):
        rounded = np.concatenate([state.U.ravel() > 0.5, state.Vt.ravel() > 0.5])
        assert state.flips == np.sum(rounded != last)
        last = rounded


@pytest.fixture(scope="module")
def large():
    """Enough ones for several slabs in each storage, in both orientations."""
    generator = np.random.default_rng(0)
    return {
        "indices": sparse.csr_array(generator.random((9000, 300)) < 0.12),
        "indices, wide": sparse.csr_array(generator.random((300, 9000)) < 0.12),
        "bytes": sparse.csr_array(generator.random((150, 9000)) < 0.3),
        "complement": sparse.csr_array(generator.random((9000, 300)) < 0.88),
    }


@pytest.mark.parametrize("omega", [1.0, 3.0])
@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("kind", ["indices", "indices, wide", "bytes", "complement"])
def test_same_bits_for_any_number_of_threads(large, kind, missing, omega):
    mask = sparse.random_array(large[kind].shape, density=missing, rng=0) > 0
    A = BooleanMatrix.from_array(large[kind], missing=mask)
    assert len(cut(A, omega).slabs) > 1
    U, V = start(A.shape, 7)
    results = []
    options = {"schedule": Annealed(20), "dtype": np.float32, "omega": omega, "beta": 0.5}
    for n_jobs in (1, 2, 3, 8):
        *_, state = iterate(A, U, V, 6, n_jobs=n_jobs, balance=True, **options)
        results.append((state.U.tobytes(), state.Vt.tobytes(), state.loss, state.gap))
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("kind", ["indices", "indices, wide", "bytes", "complement"])
@pytest.mark.parametrize(("missing", "omega"), [(0.0, 1.0), (0.05, 3.0)])
def test_float32_stays_near_float64(large, kind, missing, omega):
    mask = sparse.random_array(large[kind].shape, density=missing, rng=0) > 0
    A = BooleanMatrix.from_array(large[kind], missing=mask)
    U, V = start(A.shape, 7)
    *_, single = iterate(A, U, V, 5, schedule=Annealed(50), dtype=np.float32, omega=omega)
    *_, double = iterate(A, U, V, 5, schedule=Annealed(50), dtype=np.float64, omega=omega)
    assert single.U.dtype == np.float32
    np.testing.assert_allclose(single.U, double.U, atol=1e-3)
    assert single.loss == pytest.approx(double.loss, rel=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("variant", ["paper", "exact", "alternative"])
def test_nothing_overflows_at_any_rate(dtype, variant):
    A = make_tiles((40, 30), 3, height=(5, 10), noise=0.1, random_state=3).A
    U, V = start(A.shape, 4)
    schedule = Printed(0.01, 0.02, 1e30)
    with (
        np.errstate(all="raise", under="ignore"),
        MemoryEngine(cut(BooleanMatrix.from_array(A))) as e,
    ):
        U, Vt = Iterate(U), Iterate(V.T)
        epochs = ipalm(e, U, Vt, regularizer=ELB(variant), schedule=schedule, dtype=dtype)
        for state in islice(epochs, 60):
            assert np.isfinite(state.U).all()
            assert np.isfinite(state.Vt).all()
            assert np.isfinite(state.loss)
    if variant != "alternative":
        assert state.gap == 0
