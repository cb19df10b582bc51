"""The Dask engine on processes of this machine: what it adds to an epoch, and how that scales.

First, epochs on a large matrix with two workers of one thread each, in turns with epochs of the
engine in memory with two threads, from the same start: the ratio of their times, and whether the
bits are the same. Then epochs on small matrices of several sizes with 1, 2 and 4 workers, to which

    seconds per epoch = a + b · work / at once + bytes · (c + d · workers)

is fitted. The work is the ones, and as much as 20 of them for each line of the streamed side; at
once are the workers, or the cores if these are fewer; the bytes are those of a resident factor,
which is updated here, and which each worker gets and sends back.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from distributed import Client, LocalCluster
from elbmf.relaxation.matrix import cut
from scipy import sparse
from scipy.optimize import nnls

from common import machine
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import DiskMatrix, store
from elbmf.relaxation.engines import Engine, MemoryEngine
from elbmf.relaxation.engines.cluster import DaskEngine, DaskMatrix
from elbmf.relaxation.half_step import Iterate, padded_width
from elbmf.relaxation.palm import State, ipalm
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.schedules import Annealed
from elbmf.relaxation.starts import uniform_start
from elbmf.utils.threads import available_cores

# Resident rows and ones of the small matrices.
SIZES = [(2_000, 2_000_000), (20_000, 2_000_000), (60_000, 2_000_000), (2_000, 16_000_000)]
LINES = 200_000
ONES_PER_LINE = 20
WARM_UP = 3


@contextmanager
def workers(count: int) -> Iterator[Client]:
    """Start worker processes of one thread each."""
    with (
        LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):
        yield client


def epochs(engine: Engine, k: int, count: int) -> Iterator[State]:
    """Iterate from a start that depends on the shape alone."""
    start = uniform_start(engine.matrix.shape, k, np.random.default_rng(0), np.float32, 1e-3)
    return ipalm(engine, *map(Iterate, start), schedule=Annealed(count), regularizer=ELB())


def compare(path: str, k: int, count: int, n_workers: int) -> None:
    """Time epochs here and there, in turns."""
    with ExitStack() as stack:
        client = stack.enter_context(workers(n_workers))
        began = time.perf_counter()
        matrix = stack.enter_context(DaskMatrix.from_folder(path, client))
        print(f"read by {n_workers} workers in {time.perf_counter() - began:.1f} s")
        engines = {
            "memory": stack.enter_context(MemoryEngine(cut(DiskMatrix(path)), n_workers)),
            "dask": stack.enter_context(DaskEngine(matrix)),
        }
        running = {name: epochs(engine, k, count) for name, engine in engines.items()}
        seconds: dict[str, list[float]] = {name: [] for name in running}
        states: dict[str, Any] = {}
        for _ in range(count):
            for name, states_of in running.items():
                began = time.perf_counter()
                states[name] = next(states_of)
                seconds[name].append(time.perf_counter() - began)
        for name, own in seconds.items():
            late = own[WARM_UP:]
            print(
                f"{name:7} median {np.median(late):.3f} s, mean {np.mean(late):.3f} s, "
                f"least {min(late):.3f} s"
            )
        pairs = np.array(seconds["dask"][WARM_UP:]) / np.array(seconds["memory"][WARM_UP:])
        means = np.mean(seconds["dask"][WARM_UP:]) / np.mean(seconds["memory"][WARM_UP:])
        print(f"dask to memory: median of pairs {np.median(pairs):.2f}, of the means {means:.2f}")
        same = all(
            np.array_equal(getattr(states["dask"], name), getattr(states["memory"], name))
            for name in ("U", "Vt")
        )
        print("same bits:", same)


def model(folder: str, k: int, count: int) -> None:
    """Time epochs on matrices of several sizes with several workers, and fit the formula."""
    terms, measured = [], []
    for n_resident, ones in SIZES:
        path = f"{folder}/{n_resident}-{ones}.matrix"
        generator = np.random.default_rng(0)
        rows = generator.integers(0, n_resident, ones)
        columns = generator.integers(0, LINES, ones)
        X = sparse.coo_array((np.ones(ones, bool), (rows, columns)), (n_resident, LINES))
        store(BooleanMatrix.from_array(X.tocsr().astype(bool)), path)
    for n_workers in (1, 2, 4):
        with workers(n_workers) as client:
            for n_resident, ones in SIZES:
                path = f"{folder}/{n_resident}-{ones}.matrix"
                with (
                    DaskMatrix.from_folder(path, client) as matrix,
                    DaskEngine(matrix) as engine,
                ):
                    running = epochs(engine, k, count)
                    seconds = []
                    for _ in range(count):
                        began = time.perf_counter()
                        next(running)
                        seconds.append(time.perf_counter() - began)
                size = 4 * padded_width(k) * n_resident
                at_once = min(n_workers, available_cores())
                work = matrix.ones + ONES_PER_LINE * LINES
                terms.append([1.0, work / at_once, size, size * n_workers])
                # The quickest one tells most of a machine that has other things to do.
                measured.append(min(seconds[WARM_UP:]))
                print(
                    f"{n_workers} workers, {n_resident} resident rows, {matrix.ones} ones: "
                    f"{1e3 * measured[-1]:.1f} ms",
                    flush=True,
                )
    design, times = np.array(terms), np.array(measured)
    # Relative errors count, so that small epochs matter as much as large ones.
    (a, b, c, d), _ = nnls(design / times[:, None], np.ones(len(times)))
    error = np.abs(design @ (a, b, c, d) / times - 1)
    print(
        f"a = {1e3 * a:.1f} ms, b = {1e9 * b:.2f} ns per one, c = {1e9 * c:.2f} and "
        f"d = {1e9 * d:.2f} ns per byte; off by {100 * np.median(error):.0f}% in the median, "
        f"{100 * error.max():.0f}% at most"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", help="a matrix folder of a large matrix")
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-model", action="store_true", help="leave out the small matrices")
    arguments = parser.parse_args()
    print(machine())
    if arguments.matrix:
        compare(arguments.matrix, arguments.k, arguments.epochs, arguments.workers)
    if not arguments.no_model:
        with tempfile.TemporaryDirectory() as folder:
            model(folder, arguments.k, arguments.epochs)


if __name__ == "__main__":
    main()
