"""Epochs with torch: the same as in memory, on any device, within its memory or not at all."""

import subprocess
import sys
from itertools import islice

import numpy as np
import pytest

from elbmf import ELBMF, Primp, RoundedNMF
from elbmf.datasets import make_tiles
from elbmf.errors import DeviceMemoryError, InputError, MissingExtraError
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines import MemoryEngine, Where, open_engine
from elbmf.relaxation.engines.torch.engine import TorchEngine
from elbmf.relaxation.half_step import Iterate
from elbmf.relaxation.regularizers import ELB, Bowl, ElasticNet
from elbmf.relaxation.regularizers import Primp as Lambda
from elbmf.relaxation.schedules import Printed
from elbmf.relaxation.slabs import cut
from epochs import ipalm

torch = pytest.importorskip(
    "torch", reason="torch is not installed: pip install 'elbmf[torch]'", exc_type=ImportError
)
pytestmark = pytest.mark.torch
tensors = pytest.importorskip("elbmf.relaxation.engines.torch.tensors")
tensor_cells = pytest.importorskip("elbmf.relaxation.engines.torch.cells")


def random_matrix(shape, density, missing=0.0, seed=0):
    generator = np.random.default_rng(seed)
    mask = generator.random(shape) < missing
    return BooleanMatrix.from_array(generator.random(shape) < density, missing=mask)


def epochs(engine, k=5, regularizer=None, count=30, dtype=np.float64, beta=0.4, **options):
    generator = np.random.default_rng(1)
    U, Vt = (Iterate(generator.random((length, k))) for length in engine.matrix.shape)
    options = {"schedule": Printed(0.01, 0.02, 1.05), "balance": True, **options}
    regularizer = regularizer or ELB()
    return islice(
        ipalm(engine, U, Vt, regularizer=regularizer, dtype=dtype, beta=beta, **options), count
    )


def on_device(A, omega=1.0, **options):
    return TorchEngine(A, omega, "cpu", n_jobs=1, **options)


def assert_same(A, omega=1.0, memory=None, tolerance=1e-9, **options):
    """Compare with the engine in memory, epoch by epoch."""
    with MemoryEngine(cut(A, omega), 1) as own, on_device(A, omega, memory=memory) as engine:
        pairs = zip(epochs(own, **options), epochs(engine, **options), strict=True)
        for expected, found in pairs:
            np.testing.assert_allclose(found.U, expected.U, atol=tolerance)
            np.testing.assert_allclose(found.Vt, expected.Vt, atol=tolerance)
            assert found.loss == pytest.approx(expected.loss, rel=tolerance, abs=tolerance)
            assert found.gap == pytest.approx(expected.gap, abs=tolerance)
            assert found.flips == expected.flips
        for one, other in zip(expected.iterates, found.iterates, strict=True):
            assert one.current.shape == other.current.shape
            if one.previous is None:
                assert other.previous is None
            else:
                np.testing.assert_allclose(other.previous[3:7], one.previous[3:7], atol=tolerance)


# --- the same as in memory ---


@pytest.mark.parametrize("share", [None, 0.7])
@pytest.mark.parametrize(("omega", "missing"), [(1.0, 0.0), (4.0, 0.0), (1.0, 0.1), (0.3, 0.6)])
@pytest.mark.parametrize("shape", [(90, 40), (40, 90)])
@pytest.mark.parametrize("density", [0.05, 0.9])
def test_epochs_are_those_of_the_engine_in_memory(density, shape, omega, missing, share):
    A = random_matrix(shape, density, missing)
    cells = A.ones + (A.missing.ones if missing else 0)
    assert_same(A, omega, None if share is None else int(share * 8 * cells))


@pytest.mark.parametrize(
    "regularizer",
    [ELB("exact"), ELB("paper"), ELB("alternative"), ElasticNet(), Lambda(), Bowl()],
    ids=repr,
)
@pytest.mark.parametrize("k", [1, 8, 13])
def test_with_every_regularizer(regularizer, k):
    assert_same(random_matrix((70, 50), 0.2), k=k, regularizer=regularizer, count=15)


@pytest.mark.parametrize("beta", [0.0, 0.9])
@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize("step", ["spectral", "authors"])
def test_with_every_way_to_step(beta, balance, step):
    A = random_matrix((70, 50), 0.2, missing=0.05)
    assert_same(A, 2.0, beta=beta, balance=balance, step=step)


def test_in_float32():
    A = random_matrix((3000, 200), 0.1, missing=0.01)
    with MemoryEngine(cut(A, 2.0), 1) as own, on_device(A, 2.0) as engine:
        *_, expected = epochs(own, count=5, dtype=np.float32)
        *_, found = epochs(engine, count=5, dtype=np.float32)
    assert found.U.dtype == np.float32
    np.testing.assert_allclose(found.U, expected.U, atol=1e-4)
    assert found.loss == pytest.approx(expected.loss, rel=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("variant", ["paper", "exact", "alternative"])
def test_nothing_overflows_at_any_rate(dtype, variant):
    A = make_tiles((40, 30), 3, height=(5, 10), noise=0.1, random_state=3).A
    with on_device(BooleanMatrix.from_array(A)) as engine:
        options = {"schedule": Printed(0.01, 0.02, 1e30), "dtype": dtype, "count": 60}
        for state in epochs(engine, regularizer=ELB(variant), **options):
            assert np.isfinite(state.U).all()
            assert np.isfinite(state.Vt).all()
            assert np.isfinite(state.loss)
    if variant != "alternative":
        assert state.gap == 0


def test_an_engine_is_used_again_with_other_factors():
    A = random_matrix((60, 40), 0.3)
    with on_device(A) as engine:
        first = [state.loss for state in epochs(engine, k=3, count=5)]
        assert [state.loss for state in epochs(engine, k=12, count=5)] != first
        for state in epochs(engine, k=3, count=5, dtype=np.float32):
            assert state.U.dtype == np.float32
        assert [state.loss for state in epochs(engine, k=3, count=5)] == first


# --- from the estimators ---


@pytest.mark.parametrize("method", [ELBMF, Primp, RoundedNMF])
def test_planted_tiles_are_found(method):
    data = make_tiles((200, 120), 5, height=(20, 40), noise=0.02, random_state=0)
    plain = method(5, random_state=0).fit(data.A)
    fitted = method(5, random_state=0, n_jobs=1, device="cpu").fit(data.A)
    assert fitted.reconstruction_err_ == pytest.approx(plain.reconstruction_err_, rel=0.05)


def test_weights_and_missing_cells_from_the_estimator():
    data = make_tiles((200, 120), 4, height=(20, 40), random_state=0)
    A = data.A.toarray()
    mask = np.random.default_rng(0).random(A.shape) < 0.1
    model = ELBMF(4, extra_weight=2, random_state=0, n_jobs=1, device="cpu").fit(A, missing=mask)
    cover = model.membership_.astype(int) @ model.components_ > 0
    np.testing.assert_array_equal(cover[~mask], A[~mask].astype(bool))


def test_data_from_the_disk():
    data = make_tiles((200, 120), 4, height=(20, 40), noise=0.02, random_state=0)
    options = {"n_components": 4, "random_state": 0, "n_jobs": 1, "device": "cpu"}
    plain = ELBMF(**options).fit(data.A)
    paged = ELBMF(**options, memory_limit="1kB").fit(data.A)
    np.testing.assert_array_equal(paged.components_, plain.components_)


def test_threads_are_those_asked_for_until_the_end():
    before = torch.get_num_threads()
    with TorchEngine(random_matrix((9, 5), 0.5), n_jobs=3):
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == before


# --- what is not there ---


def test_torch_is_loaded_only_when_a_device_is_asked_for():
    code = (
        "import sys, numpy as np; from elbmf.relaxation.engines import open_engine;"
        "from elbmf.matrix.boolean_matrix import BooleanMatrix;"
        "open_engine(BooleanMatrix.from_array(np.eye(3, dtype=bool))).close();"
        "assert 'elbmf.relaxation.engines.torch.engine' in sys.modules;"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"device 'cpu'.*elbmf\[torch\]"):
        open_engine(random_matrix((5, 4), 0.5), where=Where(n_jobs=1, device="cpu"))


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_missing_device_is_named_with_those_that_are_there(device, monkeypatch):
    monkeypatch.setattr(tensors, "devices", lambda: ["cpu"])
    with pytest.raises(InputError, match=f"device='{device}'.*it has 'cpu'.*leave the device out"):
        ELBMF(2, device=device).fit(np.eye(4))


def test_torch_may_be_too_old_for_a_device(monkeypatch):
    def unknown(*_, **__):
        raise NotImplementedError("aten::_embedding_bag")

    monkeypatch.setattr(tensor_cells, "embedding_bag", unknown)
    with pytest.raises(InputError, match="Update torch"):
        ELBMF(2, n_jobs=1, device="cpu").fit(np.eye(4))


def test_no_double_precision_where_there_is_none(monkeypatch):
    monkeypatch.setattr(tensors, "devices", lambda: ["cpu", "mps"])
    monkeypatch.setattr(tensor_cells, "sums_rows", lambda device: True)
    engine = TorchEngine(random_matrix((9, 5), 0.5), device="mps")
    with pytest.raises(InputError, match=r"device='mps'.*dtype='float32'"):
        next(epochs(engine, dtype=np.float64))


# --- out of memory ---


def too_large(lines):
    """Return a mover of cells for whose device more than so many lines are too many."""
    moving = tensor_cells.storage

    def move(arrays, like):
        if arrays[0].shape[0] - (len(arrays) > 1) > lines:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nMore.")
        return moving(arrays, like)

    return move


@pytest.mark.parametrize("density", [0.1, 0.9])
def test_batches_shrink_until_they_fit(density, monkeypatch):
    monkeypatch.setattr(tensor_cells, "storage", too_large(12))
    assert_same(random_matrix((90, 40), density, missing=0.1), 2.0)


def test_data_stays_on_the_device_if_there_is_room(monkeypatch):
    moving, calls = tensor_cells.storage, []

    def move(arrays, like):
        calls.append(arrays)
        return moving(arrays, like)

    monkeypatch.setattr(tensor_cells, "storage", move)
    A = random_matrix((90, 40), 0.2)
    assert_same(A)
    assert len(calls) == 1
    monkeypatch.setattr(tensors, "free_memory", lambda device: 8 * A.ones)
    assert_same(A)
    assert len(calls) > 1 + 31 * 3  # in every epoch, and before the first


def test_free_memory_counts_what_torch_keeps_for_later(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (1000, 2000))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: 300)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda: 100)
    assert tensors.free_memory("cuda") == 1200
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 900)
    monkeypatch.setattr(torch.mps, "driver_allocated_memory", lambda: 100)
    assert tensors.free_memory("mps") == 800


def test_data_leaves_the_device_where_there_is_no_room_beside_it(monkeypatch):
    computing, calls = tensors.step_down, []

    def compute(*arguments):
        calls.append(1)
        if len(calls) in (5, 8):
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to …")
        return computing(*arguments)

    monkeypatch.setattr(tensors, "step_down", compute)
    assert_same(random_matrix((90, 40), 0.2), 2.0)
    assert len(calls) > 60  # after the data, a batch of lines and one of rows had to shrink


def test_no_room_at_all_is_told(monkeypatch):
    monkeypatch.setattr(tensor_cells, "storage", too_large(0))
    with pytest.raises(DeviceMemoryError, match=r"'cpu'.*a single line.*2.00 GiB\)\. Take fewer"):
        ELBMF(2, n_jobs=1, device="cpu").fit(np.eye(4))


def test_factors_that_are_too_large_are_told():
    class Endless:
        shape = (1 << 50, 8)

    with (
        TorchEngine(random_matrix((9, 5), 0.5)) as engine,
        pytest.raises(DeviceMemoryError, match="a factor of 1125899906842624 rows"),
    ):
        engine.home(Iterate(Endless()), np.float32, inertia=False)


def test_other_errors_of_torch_are_not_taken_for_that(monkeypatch):
    def fail(*_):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(tensors, "step_down", fail)
    with pytest.raises(RuntimeError, match="shapes"):
        ELBMF(2, n_jobs=1, device="cpu").fit(np.eye(4))
