"""The epoch loop against a transcription of the algorithm, and its promises on reproducibility."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import naive
from elbmf.datasets import make_tiles
from elbmf.engines import MemoryEngine
from elbmf.matrix import BooleanMatrix
from elbmf.palm import ipalm
from elbmf.regularizers import ELB
from elbmf.schedules import Annealed, Printed
from elbmf.slabs import cut
from strategies import boolean_arrays


def start(shape, k, seed=0):
    generator = np.random.default_rng(seed)
    return generator.random((shape[0], k)), generator.random((k, shape[1]))


def iterate(A, U, V, epochs, variant="paper", n_jobs=1, **options):
    options = {"schedule": Printed(0.01, 0.02, 1.05), "dtype": np.float64, **options}
    with MemoryEngine(cut(BooleanMatrix.from_array(A)), n_jobs) as engine:
        yield from islice(ipalm(engine, U, V.T, regularizer=ELB(variant), **options), epochs)


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
        assert state.relaxed_loss == pytest.approx(loss, rel=1e-9, abs=1e-8)
        assert state.gap == pytest.approx(naive.boolean_gap(U_t, V_t), abs=1e-9)
        assert state.lam == pytest.approx(0.02 * 1.05**state.epoch)


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
@settings(max_examples=30)
def test_iterates_on_awkward_matrices(A, k, seed):
    U, V = start(A.shape, k, seed)
    # The printed operator jumps at 0 and 1, which awkward matrices hit to the last bit.
    expected = naive.palm(A.astype(float), U, V, 5, 0.01, 0.02, 1.5, prox=naive.elb_prox_exact)
    states = iterate(A, U, V, 5, "exact", schedule=Printed(0.01, 0.02, 1.5))
    for state, (U_t, V_t) in zip(states, expected, strict=True):
        np.testing.assert_allclose(state.U, U_t, atol=1e-9)
        np.testing.assert_allclose(state.Vt.T, V_t, atol=1e-9)


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


@pytest.mark.parametrize("kind", ["indices", "indices, wide", "bytes", "complement"])
def test_same_bits_for_any_number_of_threads(large, kind):
    A = large[kind]
    assert len(cut(BooleanMatrix.from_array(A)).slabs) > 1
    U, V = start(A.shape, 7)
    results = []
    for n_jobs in (1, 2, 3, 8):
        *_, state = iterate(A, U, V, 6, n_jobs=n_jobs, schedule=Annealed(20), dtype=np.float32)
        results.append((state.U.tobytes(), state.Vt.tobytes(), state.relaxed_loss, state.gap))
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("kind", ["indices", "indices, wide", "bytes", "complement"])
def test_float32_stays_near_float64(large, kind):
    A = large[kind]
    U, V = start(A.shape, 7)
    *_, single = iterate(A, U, V, 5, schedule=Annealed(50), dtype=np.float32)
    *_, double = iterate(A, U, V, 5, schedule=Annealed(50), dtype=np.float64)
    assert single.U.dtype == np.float32
    np.testing.assert_allclose(single.U, double.U, atol=1e-3)
    assert single.relaxed_loss == pytest.approx(double.relaxed_loss, rel=1e-4)


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
        for state in islice(
            ipalm(e, U, V.T, regularizer=ELB(variant), schedule=schedule, dtype=dtype), 60
        ):
            assert np.isfinite(state.U).all()
            assert np.isfinite(state.Vt).all()
            assert np.isfinite(state.relaxed_loss)
    if variant != "alternative":
        assert state.gap == 0
