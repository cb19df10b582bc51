"""The contract of every engine: one pass is pull, step, push, whoever visits the slabs."""

import tempfile
import threading
from contextlib import contextmanager
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from elbmf import ELBMF
from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import PagedMatrix, store
from elbmf.matrix.paging import MemoryKeeper
from elbmf.relaxation.engines import DEVICES, MemoryEngine, SlabEngine, Where, open_engine
from elbmf.relaxation.engines import ENGINES as ENGINE_TABLE
from elbmf.relaxation.engines.cluster import DaskEngine, DaskMatrix
from elbmf.relaxation.engines.disk import DiskEngine
from elbmf.relaxation.engines.torch.engine import TorchEngine
from elbmf.relaxation.half_step import Factor, HalfStep, Iterate, Strength, lipschitz, step_size
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.schedules import Annealed
from elbmf.relaxation.slabs import cut
from elbmf.relaxation.starts import UniformRows
from epochs import ipalm
from strategies import boolean_arrays, examples, masked_arrays, rounding


@contextmanager
def on_disk(A, omega, n_jobs):
    with (
        tempfile.TemporaryDirectory() as folder,
        MemoryKeeper(1) as keeper,
        DiskEngine(
            PagedMatrix(store(A, f"{folder}/A.matrix").path, keeper), omega, n_jobs
        ) as engine,
    ):
        yield engine


@pytest.fixture(scope="module")
def workers():
    """Two workers in this process; what they start for good is started here."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        with on_cluster(BooleanMatrix.from_array(np.ones((13_000, 700), bool)), 1.0):
            pass
        yield


@pytest.fixture(autouse=True)
def cluster(request):
    if request.node.get_closest_marker("cluster"):
        request.getfixturevalue("workers")


@contextmanager
def on_cluster(A, omega):
    with (
        tempfile.TemporaryDirectory() as folder,
        DaskMatrix.from_folder(store(A, f"{folder}/A.matrix").path, weight_of_ones=omega) as matrix,
        DaskEngine(matrix, omega) as engine,
    ):
        yield engine


def on_device(A, omega, share=None):
    """Let the data take all the memory of the device that it wants, or a share of that."""
    memory = None if share is None else max(1, int(share * 8 * A.ones))
    return TorchEngine(A, omega, "cpu", n_jobs=1, memory=memory)


# Each makes an engine for a matrix in which ones have a weight. All these get the same bits.
EQUAL_ENGINES = {
    "slabs one by one": lambda A, omega=1.0: SlabEngine(cut(A, omega)),
    "memory, one thread": lambda A, omega=1.0: MemoryEngine(cut(A, omega), 1),
    "memory, threads": lambda A, omega=1.0: MemoryEngine(cut(A, omega), 3),
    "disk, one thread": lambda A, omega=1.0: on_disk(A, omega, 1),
    "disk, threads": lambda A, omega=1.0: on_disk(A, omega, 3),
    "dask": lambda A, omega=1.0: on_cluster(A, omega),
}
ENGINES = {
    **EQUAL_ENGINES,
    "torch": lambda A, omega=1.0: on_device(A, omega),
    "torch, small batches": lambda A, omega=1.0: on_device(A, omega, share=0.9),
}


_MARKS = {
    "dask": [pytest.mark.cluster, pytest.mark.xdist_group("engines")],
    "torch": [pytest.mark.torch],
    "torch, small batches": [pytest.mark.torch],
}
NAMES = [pytest.param(name, marks=_MARKS.get(name, [])) for name in ENGINES]


@pytest.fixture(params=NAMES)
def make_engine(request):
    return ENGINES[request.param]


def random_factor(rows, k, seed, inertia=False):
    return Factor(Iterate(np.random.default_rng(seed).random((rows, k))), np.float64, inertia)


def load(engine, resident, streamed):
    """Hand an engine its factors, with inertia if the streamed one has it."""
    if streamed.previous is not None and resident.previous is None:
        resident.previous = resident.current.copy()
    engine.load(resident, streamed.iterate)


def lines_of(engine, like):
    """Return the streamed factor, padded like another."""
    padded = np.zeros_like(like.current)
    padded[:, : like.n_components] = engine.collect(np.copy)
    return padded


def half_step(other, beta=0.0, scale=None):
    gram = other.current.T @ other.current
    L = lipschitz(gram, "spectral")
    strength = Strength(0.01 / L, 0.3 / L)
    return HalfStep(gram, step_size(L, beta, "spectral"), strength, ELB(), beta, scale)


@given(A=boolean_arrays(), k=st.integers(1, 10), seed=st.integers(0, 99))
@examples(20)
@pytest.mark.parametrize("name", NAMES)
def test_a_sweep_without_a_step_is_a_product(name, A, k, seed):
    matrix = BooleanMatrix.from_array(A)
    lines = A if cut(matrix).streamed_axis == 0 else A.T
    resident = random_factor(lines.shape[1], k, seed)
    streamed = random_factor(lines.shape[0], k, seed + 1)
    with ENGINES[name](matrix) as engine:
        load(engine, resident, streamed)
        product, summary = engine.sweep(resident.current, None)
        assert product.residual is None
        np.testing.assert_allclose(
            product.plain, lines.T.astype(float) @ streamed.current, atol=1e-10
        )
        np.testing.assert_allclose(summary.gram, streamed.current.T @ streamed.current)
        np.testing.assert_allclose(summary.totals, streamed.current.sum(axis=0))
        np.testing.assert_array_equal(engine.collect(np.copy), streamed.values)


@given(A=boolean_arrays(), k=st.integers(1, 10), seed=st.integers(0, 99), inertia=st.booleans())
@examples(20)
@pytest.mark.parametrize("name", NAMES)
def test_a_sweep_with_a_step_updates_the_streamed_factor(name, A, k, seed, inertia):
    matrix = BooleanMatrix.from_array(A)
    lines = A if cut(matrix).streamed_axis == 0 else A.T
    resident = random_factor(lines.shape[1], k, seed)
    streamed = random_factor(lines.shape[0], k, seed + 1, inertia)
    beta = 0.4 if inertia else 0.0
    if inertia:
        streamed.previous[:, :k] = np.random.default_rng(seed).random(streamed.values.shape)
    scale = np.linspace(0.5, 1.5, streamed.current.shape[1])
    step = half_step(resident, beta, scale)

    x = streamed.current * scale
    z = x + beta * (x - streamed.previous * scale) if inertia else x
    point = z - step.step * (z @ step.gram - lines.astype(float) @ resident.current)
    expected = ELB().prox(point, *step.strength)

    with ENGINES[name](matrix) as engine:
        load(engine, resident, streamed)
        product, summary = engine.sweep(resident.current, step)
        found = lines_of(engine, streamed)
        # Values next to ½ may fall on either side of it.
        sure = np.abs(point - 0.5) > 1e-9
        np.testing.assert_allclose(found[sure], expected[sure], atol=1e-9)
        np.testing.assert_allclose(product.plain, lines.T.astype(float) @ found, atol=1e-9)
        gap = np.minimum(np.abs(found), np.abs(found - 1)).sum()
        assert summary.tally.gap == pytest.approx(gap, abs=1e-9)


@given(
    case=masked_arrays(),
    k=st.integers(1, 10),
    seed=st.integers(0, 99),
    omega=st.sampled_from([0.2, 1.0, 6.0]),
)
@examples(20)
@pytest.mark.parametrize("name", NAMES)
def test_a_sweep_with_weights_adds_the_residuals(name, case, k, seed, omega):
    A, mask = case
    matrix = BooleanMatrix.from_array(A, missing=mask)
    known, missing = (X if cut(matrix).streamed_axis == 0 else X.T for X in (A & ~mask, mask))
    resident = random_factor(known.shape[1], k, seed)
    ahead = random_factor(known.shape[1], k, seed + 1).current
    streamed = random_factor(known.shape[0], k, seed + 2, inertia=True)
    streamed.previous[:, :k] = np.random.default_rng(seed).random(streamed.values.shape)
    excess = np.where(missing, -1, np.where(known, omega - 1, 0))
    scale = np.linspace(0.5, 1.5, streamed.current.shape[1])
    step = half_step(resident, 0.4, scale)

    z = streamed.current * scale * 1.4 - 0.4 * streamed.previous * scale
    product = (known + excess * (known - z @ resident.current.T)) @ resident.current
    point = z - step.step * (z @ step.gram - product)
    expected = ELB().prox(point, *step.strength)

    with ENGINES[name](matrix, omega) as engine:
        load(engine, resident, streamed)
        product, _ = engine.sweep(resident.current, step, ahead)
        sure = np.abs(point - 0.5) > 1e-9
        lines = lines_of(engine, streamed)
        np.testing.assert_allclose(lines[sure], expected[sure], atol=1e-9)
        np.testing.assert_allclose(product.plain, known.T @ lines, atol=1e-9)
        losses = excess * (known - lines @ resident.current.T) ** 2
        magnitude = np.sum(np.abs(excess) * (known + lines @ resident.current.T) ** 2)
        loss = engine.excess_loss(resident.current)
        assert loss == pytest.approx(np.sum(losses), rel=0, abs=rounding(magnitude))
        if excess.any():
            residuals = excess * (known - lines @ ahead.T)
            np.testing.assert_allclose(product.residual, residuals.T @ lines, atol=1e-9)
        overlap = np.sum(known * (lines @ resident.current.T))
        assert product.overlap(resident.current) == pytest.approx(overlap)


@pytest.mark.parametrize("shape", [(13_000, 700), (700, 13_000)])
@pytest.mark.parametrize(("density", "omega"), [(0.05, 1.0), (0.05, 4.0), (0.3, 1.0), (0.95, 1.0)])
@pytest.mark.parametrize(
    "names",
    [
        pytest.param([name for name in EQUAL_ENGINES if name != "dask"], id="here"),
        pytest.param(["memory, one thread", "dask"], id="dask", marks=_MARKS["dask"]),
    ],
)
def test_engines_get_the_same_bits(shape, density, omega, names):
    A = np.random.default_rng(0).random(shape) < density
    mask = np.random.default_rng(1).random(shape) < 0.001
    results = []
    for make in map(EQUAL_ENGINES.get, names):
        start = (
            Iterate(UniformRows((length, 5), np.random.default_rng(2), np.float32))
            for length in shape
        )
        matrix = BooleanMatrix.from_array(A, missing=mask)
        assert len(cut(matrix, omega).slabs) > 1
        with make(matrix, omega) as engine:
            options = {"schedule": Annealed(30), "regularizer": ELB(), "beta": 0.9, "balance": True}
            *_, state = islice(ipalm(engine, *start, **options), 6)
            results.append((state.U.tobytes(), state.Vt.tobytes(), state.loss, state.gap))
    assert len(set(results)) == 1


def test_advance_updates_the_resident_factor(make_engine):
    A = np.random.default_rng(0).random((9000, 7000)) < 0.001  # several pieces of resident rows
    matrix = BooleanMatrix.from_array(A)
    x, streamed = random_factor(7000, 3, 1), random_factor(9000, 3, 2)
    step = half_step(streamed)
    with make_engine(matrix) as engine:
        resident = engine.home(x.iterate, np.float64, inertia=False)
        load(engine, resident, streamed)
        product, _ = engine.sweep(resident.current, None)
        kept = product.plain.copy()
        gradient = x.current @ step.gram - kept
        expected = ELB().prox(x.current - step.step * gradient, *step.strength)
        summary = engine.advance(resident, step, product)
        np.testing.assert_allclose(resident.values, expected[:, :3], atol=1e-9)
        np.testing.assert_array_equal(product.plain, kept)
        np.testing.assert_allclose(summary.gram, expected.T @ expected)
        assert summary.tally.flips == np.sum((x.current > 0.5) != (expected > 0.5))


def test_closing_leaves_nothing_behind(make_engine):
    with make_engine(BooleanMatrix.from_array(np.ones((3, 2), bool))):
        pass  # what it loads at its first use stays
    before = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
    threads = threading.active_count()
    with make_engine(BooleanMatrix.from_array(np.ones((300, 200), bool))):
        pass
    assert threading.active_count() == threads
    assert {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()} == before


def test_errors_of_helping_threads_are_raised():
    A = np.random.default_rng(0).random((9000, 400)) < 0.12
    matrix = cut(BooleanMatrix.from_array(A))
    assert len(matrix.slabs) > 1

    def fail_elsewhere(position):
        if position == 1:
            raise RuntimeError("lost a slab")
        return position

    with MemoryEngine(matrix, 2) as engine, pytest.raises(RuntimeError, match="lost a slab"):
        engine.run(fail_elsewhere, range(2))


def test_engines_side_by_side_share_the_limit_on_blas():
    def blas_threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = blas_threads()
    matrix = cut(BooleanMatrix.from_array(np.ones((300, 200), bool)))
    first, second = MemoryEngine(matrix), MemoryEngine(matrix)
    assert set(blas_threads()) == {1}
    first.close()
    assert set(blas_threads()) == {1}
    second.close()
    assert blas_threads() == before


@pytest.mark.parametrize("density", [1 / 8, 7 / 8])
def test_densities_at_which_the_storage_changes(density):
    lines = 20_000
    A = np.ones((lines, 8), bool) if density > 0.5 else np.zeros((lines, 8), bool)
    A[np.arange(lines), np.random.default_rng(0).integers(0, 8, lines)] = density < 0.5
    matrix = cut(BooleanMatrix.from_array(A))
    resident, streamed = random_factor(8, 100, 0), random_factor(lines, 100, 1)
    step = half_step(resident)
    with MemoryEngine(matrix, 1) as engine:
        load(engine, resident, streamed)
        product, _ = engine.sweep(resident.current, step)
        lines = lines_of(engine, streamed)
        np.testing.assert_allclose(product.plain, A.T.astype(float) @ lines)


def registered(monkeypatch, **engines):
    for name, engine in engines.items():
        monkeypatch.setitem(ENGINE_TABLE, name, f"{__name__}:{engine.__name__}")


class Serial(SlabEngine):
    devices = ("serial",)


class AlsoSerial(Serial):
    pass


def test_an_engine_is_one_line_wherever_it_stands(monkeypatch):
    A = BooleanMatrix.from_array(np.eye(5))
    assert isinstance(open_engine(A), MemoryEngine)
    with pytest.raises(InputError, match="No engine takes a BooleanMatrix with device='serial'"):
        open_engine(A, where=Where(device="serial"))
    registered(monkeypatch, serial=Serial)
    assert "serial" in DEVICES
    assert sorted(DEVICES) == ["cpu", "cuda", "mps", "serial"]
    assert len(DEVICES) == 4
    assert type(open_engine(A, where=Where(device="serial"))) is Serial
    assert isinstance(open_engine(A), MemoryEngine)
    model = ELBMF(2, max_iter=3, device="serial", random_state=0).fit(A)
    assert model.n_iter_ > 0
    registered(monkeypatch, also=AlsoSerial)
    with pytest.raises(InputError, match=r"Serial and AlsoSerial both take.* priority 10"):
        open_engine(A, where=Where(device="serial"))
    monkeypatch.setattr(AlsoSerial, "priority", 11)
    assert type(open_engine(A, where=Where(device="serial"))) is AlsoSerial
