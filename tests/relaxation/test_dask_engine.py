"""Slabs on the workers of a cluster: the same bits as in memory, whoever is lost on the way."""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from elbmf import ELBMF
from elbmf.boolean.coverage import Weights, component_cover, cover
from elbmf.boolean.product import pack
from elbmf.cli import main
from elbmf.errors import ClusterError, InputError, MissingExtraError
from elbmf.matrix.boolean_matrix import BooleanMatrix, as_matrix
from elbmf.matrix.on_disk import store
from elbmf.relaxation.engines import MemoryEngine, cluster
from elbmf.relaxation.engines.base import TreeSum
from elbmf.relaxation.engines.cluster import DaskEngine, DaskMatrix, connection, workers
from elbmf.relaxation.engines.cluster.placement import (
    address_book,
    next_in_ring,
    share_out,
    tree_runs,
)
from elbmf.relaxation.half_step import Iterate
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.rounding import project
from elbmf.relaxation.schedules import Annealed
from elbmf.relaxation.slabs import cut
from elbmf.relaxation.starts import uniform_start
from elbmf.search.kernels.switches import add_marked, add_uncovered
from elbmf.search.local import refine
from elbmf.search.on_cluster import ClusterSearch
from epochs import ipalm
from waiting import wait_until

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("cluster")]


@contextmanager
def connected(n_workers, **options):
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", **options
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with connected(2, processes=True) as client:
        yield client


def planted(shape, seed=0, noise=0.03):
    generator = np.random.default_rng(seed)
    U, V = generator.random((shape[0], 4)) < 0.2, generator.random((4, shape[1])) < 0.2
    return (U.astype(int) @ V > 0) ^ (generator.random(shape) < noise)


def relaxed(engine, epochs=60, k=5, observe=lambda state: None):
    """Return the bits of all that some epochs lead to."""
    shape = engine.matrix.shape
    start = map(Iterate, uniform_start(shape, k, np.random.default_rng(2), np.float32, 1e-3))
    options = {"schedule": Annealed(epochs), "regularizer": ELB(), "beta": 0.9, "balance": True}
    for state in islice(ipalm(engine, *start, **options), epochs):
        observe(state)
    return state.U.tobytes(), state.Vt.tobytes(), state.loss, state.gap


def relaxed_in_memory(A, like, omega=1.0, epochs=60):
    """Do the same in memory, cut at the same lines."""
    matrix = cut(BooleanMatrix.from_array(A), omega, like.edges, like.streamed_axis)
    with MemoryEngine(matrix) as engine:
        return relaxed(engine, epochs)


def kill_a_worker(client):
    processes = client.run(os.getpid)
    os.kill(processes[min(processes)], signal.SIGKILL)


@pytest.mark.parametrize("shape", [(900, 60), (60, 900)])
@pytest.mark.parametrize("kind", ["dense", "sparse", "weighed"])
def test_blocks_of_an_array_give_the_bits_of_memory(client, shape, kind):
    A = planted(shape).astype(np.float32)
    omega = 3.0 if kind == "weighed" else 1.0
    if kind != "sparse":
        A[np.random.default_rng(1).random(shape) < 0.01] = np.nan
    chunks = tuple(-(-length // parts) for length, parts in zip(shape, (4, 3), strict=True))
    if kind == "sparse":
        chunks = (200, 60) if shape[0] > shape[1] else (60, 200)
    X = da.from_array(A, chunks=chunks)
    if kind == "sparse":
        X = X.map_blocks(sparse.csr_array)
    with (
        DaskMatrix.from_collection(X, client, cells_per_slab=1) as matrix,
        DaskEngine(matrix, omega) as engine,
    ):
        assert len(matrix.edges) > 3
        assert matrix.shape == shape
        assert matrix.ones == np.nansum(A)
        assert relaxed(engine, 20) == relaxed_in_memory(A, matrix, omega, 20)
        rows = slice(13, 700)
        streamed = engine.iterate
        both = [np.concatenate([part[:300], part[300:]]) for part in (streamed.current,)]
        np.testing.assert_array_equal(both[0], engine.collect(np.copy))
        np.testing.assert_array_equal(streamed.previous[rows].shape, (687, 5))


def test_partitions_of_a_data_frame_give_the_bits_of_memory(client):
    A = planted((500, 30)).astype(np.float64)
    A[3, 5] = np.nan
    frame = pd.DataFrame(A, columns=[f"c{i}" for i in range(30)])
    frame["c7"] = frame["c7"].astype("boolean")
    X = dd.from_pandas(frame, npartitions=3)
    with DaskMatrix.from_collection(X, client) as matrix, DaskEngine(matrix) as engine:
        assert len(matrix.edges) == 4
        assert relaxed(engine, 20) == relaxed_in_memory(A, matrix, epochs=20)
    model = ELBMF(4, random_state=0, max_iter=60).fit(X)
    assert list(model.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(model.transform(X), model.transform(frame))
    assert model.score(X) == model.score(frame)
    assert model.reconstruction_err_ == cover(A, model.membership_, model.components_).loss


def test_many_workers_give_the_bits_of_memory():
    A = planted((90, 700))
    X = da.from_array(A, chunks=(90, 50))
    with (
        connected(7, processes=False) as client,
        DaskMatrix.from_collection(X, client, cells_per_slab=1) as matrix,
        DaskEngine(matrix) as engine,
    ):
        assert matrix.workers.count == 7
        assert relaxed(engine, 15) == relaxed_in_memory(A, matrix, epochs=15)


@pytest.mark.parametrize("shape", [(700, 60), (60, 700)])
@pytest.mark.parametrize("options", [{}, {"refine": False}, {"extra_weight": 3.0}, {"n_init": 2}])
def test_a_fit_leaves_what_it_leaves_in_memory(client, shape, options):
    A = planted(shape)
    A_with_gaps = A.astype(np.float32)
    A_with_gaps[np.random.default_rng(1).random(shape) < 0.02] = np.nan
    parameters = {"n_components": 4, "random_state": 0, "max_iter": 60, **options}
    X = da.from_array(A_with_gaps, chunks=(100, 100))
    with DaskMatrix.from_collection(X, client, cells_per_slab=1) as matrix:
        model = ELBMF(**parameters).fit(matrix)
        U, V = model.membership_, model.components_
        assert cover(matrix, U, V) == cover(A_with_gaps, U, V)
        here, there = component_cover(A_with_gaps, U, V), component_cover(matrix, U, V)
        for name in ("rows", "columns", "cells", "covered", "alone"):
            np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    assert model.reconstruction_err_ == cover(A_with_gaps, U, V).loss
    costs = list(model.stages_.values())
    assert costs == sorted(costs, reverse=True)
    assert (
        costs[-1] == cover(A_with_gaps, U, V).cost(model._weights(shape)) == min(model.run_losses_)
    )
    assert model.reconstruction_err_ < A.sum() / 2
    assert len(model.run_losses_) <= options.get("n_init", 1)
    assert len(model.history_["epoch"]) == model.n_iter_


def test_a_callback_ends_a_fit(client):
    X = da.from_array(planted((300, 40)), chunks=(100, 40))
    model = ELBMF(3, random_state=0, callback=lambda report: report.iteration == 5).fit(X)
    assert model.stop_reason_ == "callback"
    assert model.n_iter_ == 5


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
def test_a_fit_that_was_cut_short_goes_on_from_its_checkpoint(client, shape, tmp_path, monkeypatch):
    monkeypatch.setattr("elbmf.estimators.resuming._MOST_TIME", 1)  # However slow the disk is.

    class Killed(Exception):
        pass

    def kill(report):
        if report.iteration == 25:
            raise Killed

    X = da.from_array(planted(shape), chunks=(50, 50))
    with DaskMatrix.from_collection(X, client, cells_per_slab=1) as matrix:
        options = {"n_components": 4, "random_state": 0, "max_iter": 60}
        whole = ELBMF(**options).fit(matrix)
        options |= {"checkpoint": tmp_path / "kept", "checkpoint_every": 10}
        with pytest.raises(Killed):
            ELBMF(**options, callback=kill).fit(matrix)
        seen = []
        resumed = ELBMF(**options, callback=lambda r: seen.append(r.iteration)).fit(matrix)
        assert seen[0] > 10
        np.testing.assert_array_equal(resumed.membership_, whole.membership_)
        np.testing.assert_array_equal(resumed.components_, whole.components_)
        np.testing.assert_array_equal(resumed.history_["gap"], whole.history_["gap"])


@pytest.mark.parametrize("shape", [(400, 30), (30, 400)])
def test_wrong_values_are_told_with_their_place(client, shape):
    A = planted(shape).astype(float)
    A[27, 23] = 7
    with pytest.raises(InputError, match=r"7 at row 27, column 23\. Set binarize"):
        ELBMF(2).fit(da.from_array(A, chunks=(20, 20)))
    model = ELBMF(2, binarize=0.5, random_state=0, max_iter=20, tol=1)
    model.fit(da.from_array(A, chunks=(20, 20)))
    mask = da.from_array(A == 7, chunks=(30, 25))
    model.set_params(binarize=None).fit(da.from_array(A, chunks=(20, 20)), missing=mask)
    with pytest.raises(InputError, match="missing must have the shape"):
        model.fit(da.from_array(A, chunks=(20, 20)), missing=mask[1:])
    with pytest.raises(InputError, match="empty"):
        model.fit(da.zeros((0, 5)))


def test_a_damaged_folder_is_told_by_the_worker_that_reads_it(client, tmp_path):
    A = planted((400, 30))
    folder = store(BooleanMatrix.from_array(A), tmp_path / "A.matrix").path
    with DaskMatrix.from_folder(folder, client) as matrix:
        assert matrix.ones == A.sum()
    with (folder / "rows.ones.npy").open("r+b") as file:
        file.seek(-100, os.SEEK_END)
        file.write(b"\xff")
    with pytest.raises(InputError, match=r"rows\.ones\.npy: the bytes from 0 on .* same path"):
        DaskMatrix.from_folder(folder, client)


def test_arrays_of_unknown_length_are_cut_along_the_rows(client):
    A = planted((400, 30))
    X = da.from_array(A, chunks=(100, 30))
    X = X[X.sum(axis=1) >= 0]
    with DaskMatrix.from_collection(X, client) as matrix:
        assert matrix.edges == (0, 100, 200, 300, 400)
    with pytest.raises(InputError, match="compute_chunk_sizes"):
        DaskMatrix.from_collection(X, client, streamed_axis=1)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_components": "auto"},
        {"init": "svd"},
        {"memory_limit": "1GB"},
        {"device": "cpu"},
        {"binarize": "zscore"},
    ],
)
def test_what_needs_all_the_data_in_one_place_is_refused(client, parameters):
    with pytest.raises(InputError, match=next(iter(parameters))):
        ELBMF(**parameters).fit(da.ones((20, 10)))
    with pytest.raises(InputError, match="use fit"):
        ELBMF(2).partial_fit(da.ones((20, 10)))


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
def test_a_matrix_on_a_cluster_has_the_figures_of_one_in_memory(client, shape):
    values = planted(shape).astype(np.float32)
    values[np.random.default_rng(1).random(shape) < 0.1] = np.nan
    here = BooleanMatrix.from_array(values)
    X = da.from_array(values, chunks=50)
    with DaskMatrix.from_collection(X, client, cells_per_slab=1) as there:
        assert as_matrix(there) is there
        for name in ("shape", "ones", "cells", "known", "n_missing", "density"):
            assert getattr(there, name) == getattr(here, name), name
        assert not there.in_one_place


def test_a_matrix_by_columns_describes_no_rows(client):
    A = planted((30, 400))
    with DaskMatrix.from_collection(da.from_array(A), client) as matrix:
        model = ELBMF(2, random_state=0, max_iter=60).fit(matrix)
        with pytest.raises(InputError, match="streamed_axis=0"):
            model.transform(matrix)


def test_without_a_cluster_or_without_dask(monkeypatch):
    monkeypatch.setattr(distributed, "get_client", lambda: (_ for _ in ()).throw(ValueError))
    with pytest.raises(ClusterError, match="no connection"):
        ELBMF(2).fit(da.ones((20, 10)))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"elbmf\[dask\]"):
        ELBMF(2).fit(da.ones((20, 10)))
    assert not cluster.is_distributed(np.ones(3))


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(connection, "_WAIT", 0.3)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as nobody,
        distributed.Client(nobody) as client,
        pytest.raises(ClusterError, match="no workers"),
    ):
        DaskMatrix.from_collection(da.ones((20, 10)), client)


@contextmanager
def processes(folder, n_workers):
    """Start a scheduler and workers as on other machines; yield the address and the scheduler."""
    file = folder / "scheduler.json"
    how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file], **how
    )
    one = [*dask, "worker", "--scheduler-file", file, "--nthreads", "1", "--no-dashboard"]
    workers = [
        subprocess.Popen([*one, "--local-directory", folder], **how) for _ in range(n_workers)
    ]
    try:
        wait_until(lambda: file.exists() and file.read_text(), scheduler)
        yield json.loads(file.read_text())["address"], scheduler
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


@pytest.mark.slow
def test_the_command_line_on_processes_of_their_own(tmp_path, capsys, monkeypatch):
    A = planted((200, 50))
    folder = tmp_path / "A.matrix"
    store(BooleanMatrix.from_array(A), folder, column_names=[f"c{i}" for i in range(50)])
    with processes(tmp_path, 1) as (address, scheduler):
        common = ["fit", str(folder), "--scheduler", address, "-k", "4", "--max-iter", "60"]
        assert main([*common, "-o", str(tmp_path / "out"), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["measures"]["loss"] <= A.sum() / 3
        assert found["data"]["ones"] == A.sum()
        assert found["components"][0]["column_names"][0].startswith("c")

        def observe(report):
            if report.iteration == 10:
                scheduler.send_signal(signal.SIGKILL)

        with (
            distributed.Client(address) as client,
            DaskMatrix.from_folder(folder, client) as matrix,
            pytest.raises(ClusterError, match="scheduler was lost"),
        ):
            ELBMF(3, callback=observe).fit(matrix)
    monkeypatch.setattr("elbmf.cli.running.fit._PATIENCE", 0.5)
    assert main([*common, "-o", str(tmp_path / "no")]) == 2
    assert "No scheduler answers" in capsys.readouterr().err


def test_the_command_line_wants_slabs(tmp_path, capsys):
    data = tmp_path / "A.csv"
    data.write_text("1,0\n0,1\n")
    common = ["-k", "1", "-o", str(tmp_path / "out"), "--scheduler", "tcp://127.0.0.1:1"]
    assert main(["fit", str(data), *common]) == 2
    assert f"elbmf convert {data} A.matrix" in capsys.readouterr().err


@given(count=st.integers(1, 70), threads=st.lists(st.integers(1, 5), min_size=1, max_size=9))
def test_slabs_are_spread_evenly_in_runs(count, threads):
    workers = {f"w{i}": own for i, own in enumerate(threads)}
    homes = tree_runs(count, workers)
    assert sorted(homes) == list(range(count))
    book = address_book(homes, homes)
    taking_part = sorted(threads)[-count:]
    for address, own in book.items():
        assert own == list(range(own[0], own[-1] + 1))
        assert len(own) <= 1.1 * count * workers[address] / sum(taking_part) + 1
    moved = share_out(book[homes[0]], workers, {n: w for n, w in homes.items() if w != homes[0]})
    assert sorted(moved) == book[homes[0]]


def test_copies_are_kept_on_another_machine_if_there_is_one():
    workers = ["tcp://a:1", "tcp://a:2", "tcp://b:1"]
    assert [next_in_ring(worker, workers) for worker in workers] == [
        "tcp://b:1",
        "tcp://b:1",
        "tcp://a:1",
    ]
    assert next_in_ring("tcp://a:1", ["tcp://a:1", "tcp://a:2"]) == "tcp://a:2"
    assert next_in_ring("tcp://a:1", ["tcp://a:1"]) is None


@given(count=st.integers(1, 40), seed=st.integers(0, 99), places=st.integers(1, 5))
def test_parts_of_a_sum_make_up_the_sum(count, seed, places):
    generator = np.random.default_rng(seed)
    terms, home = generator.random(count) ** 9, generator.integers(0, places, count)
    whole = TreeSum(count, lambda a, b: a + b)
    merged = TreeSum(count, lambda a, b: a + b)
    for position, term in enumerate(terms):
        whole.put(position, term)
    for place in range(places):
        part = TreeSum(count, lambda a, b: a + b)
        for position in generator.permutation(np.flatnonzero(home == place)):
            part.put(int(position), terms[position])
        for (step, position), term in part.parts.items():
            merged.put(position, term, step)
    assert merged.total == whole.total


@given(
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 70)),
    density=st.sampled_from([0.0, 0.2, 0.6]),
    seed=st.integers(0, 999),
)
def test_switches_gain_what_is_counted(shape, density, seed):
    generator = np.random.default_rng(seed)
    lines, rows, k = shape
    A = generator.random((lines, rows)) < density
    S, R = (generator.random((length, k)) < 0.2 for length in (lines, rows))
    l = int(generator.integers(k))
    without = R.copy()
    without[:, l] = False
    alone = ~(S.astype(int) @ without.T > 0) & S[:, l][:, None]
    found = np.zeros(rows, dtype=np.int64)
    pattern = BooleanMatrix.from_array(A).lines(0)
    add_marked(*pattern, pack(S), pack(without), l, 3, found)
    np.testing.assert_array_equal(found, 3 * (alone & A).sum(axis=0))
    found[:] = 0
    repeats = generator.integers(1, 4, lines)
    add_uncovered(pack(S), repeats, pack(without), l, -2, found)
    np.testing.assert_array_equal(found, -2 * repeats @ alone)


@pytest.mark.parametrize("shape", [(200, 30), (30, 200)])
@pytest.mark.parametrize("weights", [Weights(1, 1), Weights(1, 3), Weights(5, 2)])
def test_descent_on_a_cluster_never_raises_the_cost(client, shape, weights):
    A = planted(shape, noise=0.1).astype(np.float32)
    A[np.random.default_rng(1).random(shape) < 0.05] = np.nan
    X = da.from_array(A, chunks=(50, 50))
    with (
        DaskMatrix.from_collection(X, client, cells_per_slab=1) as matrix,
        DaskEngine(matrix) as engine,
    ):
        start = map(Iterate, uniform_start(shape, 5, np.random.default_rng(0), np.float32))
        state = next(ipalm(engine, *start, schedule=Annealed(9), regularizer=ELB()))
        search = ClusterSearch(matrix, project(state.resident.values), project, weights)

        def factors():
            sides = (search.streamed, search.resident)
            U, Vt = sides if matrix.streamed_axis == 0 else sides[::-1]
            return U.copy(), np.ascontiguousarray(Vt.T)

        rounded, costs = factors(), [search.cost]
        assert search.cost == cover(A, *rounded).cost(weights)

        def observe(cost):
            costs.append(cost)
            assert cost == cover(A, *factors()).cost(weights)
            return False

        search.descend(observe)
        assert costs == sorted(costs, reverse=True)
        in_memory = refine(BooleanMatrix.from_array(A), *rounded, weights)
        assert search.cost <= 1.3 * cover(A, *in_memory).cost(weights)


def relaxed_while_a_worker_is_killed(client, at, epochs):
    A = planted((60, 900))
    X = da.from_array(A, chunks=(60, 100))
    with (
        DaskMatrix.from_collection(X, client, cells_per_slab=1) as matrix,
        DaskEngine(matrix) as engine,
    ):
        found = relaxed(
            engine, epochs, observe=lambda state: state.iteration == at and kill_a_worker(client)
        )
        assert found == relaxed_in_memory(A, matrix, epochs=epochs)
        assert cover(matrix, np.ones((60, 1), bool), np.ones((1, 900), bool)).hits == A.sum()


def refined_while_a_worker_is_killed(client):
    A = planted((60, 900), noise=0.1)
    X = da.from_array(A, chunks=(60, 100))
    killed = []

    def disturb(report):
        if report.stage == "search" and not killed:
            killed.append(True)
            kill_a_worker(client)

    results = []
    for callback in (None, disturb):
        with DaskMatrix.from_collection(X, client, cells_per_slab=1) as matrix:
            model = ELBMF(4, random_state=0, max_iter=8, callback=callback).fit(matrix)
            results.append((model.membership_.tobytes(), model.components_.tobytes()))
            assert model.stages_["refinement"] == model.reconstruction_err_
            assert model.stages_["refinement"] <= model.stages_["rounding"]
    assert killed
    assert results[0] == results[1]


def test_blocks_that_were_read_are_wanted_no_more(client, monkeypatch):
    # Else they would be read anew where a worker was lost, which is nowhere, and all wait for it.
    monkeypatch.setattr(connection, "_PATIENCE", 0.05)
    gc.collect()
    gc.disable()  # an answer that is late leaves a cycle of references
    try:
        X = da.from_array(planted((60, 900)), chunks=(60, 100)).map_blocks(slowly)
        with DaskMatrix.from_collection(X, client, cells_per_slab=1):
            wait_until(lambda: client.run_on_scheduler(reads_left) == [])
    finally:
        gc.enable()


def slowly(block):
    time.sleep(0.2)
    return block


def reads_left(dask_scheduler):
    return [key for key in dask_scheduler.tasks if "_read_blocks" in str(key)]


@pytest.mark.slow
def test_one_of_two_workers_is_killed(client):
    relaxed_while_a_worker_is_killed(client, 20, 60)


@pytest.mark.slow
def test_one_worker_after_the_other_is_killed(monkeypatch):
    # Copies at every occasion, and the trees of many workers.
    monkeypatch.setattr(workers, "_TIME_FOR_COPIES", np.inf)
    monkeypatch.setattr(workers, "_FEW_WORKERS", 1)
    with connected(3, processes=True) as client:
        refined_while_a_worker_is_killed(client)
        relaxed_while_a_worker_is_killed(client, 12, 20)
