"""Streams: Sofa on tiles under noise; ELBMF in batches and in one piece; memory of long streams."""

import argparse
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from common import data_argument, load, machine, peak_of_process
from elbmf import ELBMF, Sofa
from elbmf.boolean.metrics import hamming_loss
from elbmf.boolean.product import hamming_distance
from elbmf.datasets import make_tiles

T = TypeVar("T")

BATCH = 256
SETS = ("newsgroups20", "mushroom", "chess", "americas_small", "customer", "cora_words", "retail")

TILES: dict[str, tuple[tuple[int, int], int, dict[str, Any]]] = {
    "40×30, 5 tiles of 5-10": ((40, 30), 5, {"height": (5, 10)}),
    "40×30, 5 tiles of 3-6": ((40, 30), 5, {"height": (3, 6)}),
    "400×300, 5 tiles of 50-100": ((400, 300), 5, {"height": (50, 100)}),
    "400×300, 10 tiles of 20-40": ((400, 300), 10, {"height": (20, 40)}),
    "400×300, 10 overlapping of 30-80": ((400, 300), 10, {"height": (30, 80), "overlap": True}),
    "300×400, 5 tiles of 50-100": ((300, 400), 5, {"height": (50, 100)}),
    "4000×300, 5 tiles of 500-1000×50-100": (
        (4000, 300),
        5,
        {"height": (500, 1000), "width": (50, 100)},
    ),
}


def in_a_process(function: Callable[..., T], *arguments: Any) -> tuple[T, float]:
    """Call a function in a process of its own; return its result and the peak of memory in MB."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        result = pool.submit(function, *arguments).result()
        return result, pool.submit(peak_of_process).result()


def tiles_under_noise(arguments: argparse.Namespace) -> None:
    """Errors over ones: against the noisy matrix it was given, and against the tiles behind it."""
    print(f"tiles, 10% noise, {arguments.draws} seeds: mean relative loss (worst)")
    for label, (shape, count, form) in TILES.items():
        figures = []
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.draws):
            tiles = make_tiles(shape, count, noise=0.1, random_state=seed, **form)
            model = Sofa(count).fit(tiles.A)
            factors = model.membership_, model.components_
            figures.append(
                (
                    model.reconstruction_err_ / tiles.A.nnz,
                    hamming_loss(tiles.A, tiles.U, tiles.V) / tiles.A.nnz,
                    hamming_distance(*factors, tiles.U, tiles.V) / tiles.truth.nnz,
                )
            )
        (loss, floor, clean), worst = np.mean(figures, axis=0), np.max(figures, axis=0)
        print(
            f"  {label:38} {loss:.3f} ({worst[0]:.3f}); the true tiles {floor:.3f}; "
            f"against the tiles without noise {clean:.3f} ({worst[2]:.3f})",
            flush=True,
        )
    print()


def stream(rows: int, block: int = 1000, columns: int = 2000) -> Iterator[np.ndarray]:
    """Rows that each have two of fifty groups of columns, and noise; a block at a time."""
    generator = np.random.default_rng(0)
    groups = generator.random((50, columns)) < 0.02
    for _ in range(rows // block):
        first, second = generator.integers(0, 50, (2, block))
        noise = generator.random((block, columns)) < 0.005
        yield groups[first] | groups[second] | noise


def state_of_sofa(model: Sofa) -> int:
    """Bytes of all arrays that are kept between two blocks."""
    arrays, todo = 0, [*vars(model).values()]
    while todo:
        each = todo.pop()
        if isinstance(each, np.ndarray):
            arrays += each.nbytes
        elif isinstance(each, tuple):
            todo += each
        elif hasattr(each, "__dict__"):
            todo += vars(each).values()
    return arrays


def read_stream(rows: int, traced: bool) -> tuple[int, int, float, float]:
    for block in stream(2000):
        Sofa(50).partial_fit(block)  # compiles
    model = Sofa(50)
    if traced:
        tracemalloc.start()
    began = time.perf_counter()
    for block in stream(rows):
        model.partial_fit(block)
    seconds = time.perf_counter() - began
    peak = tracemalloc.get_traced_memory()[1] if traced else 0
    return state_of_sofa(model), peak, seconds, model.score(next(stream(1000)))


def stream_memory(arguments: argparse.Namespace) -> None:
    """Memory of `partial_fit` on a stream, and on one ten times as long."""
    print("stream of blocks of 1000 rows, 2000 columns, k=50, each in a process of its own")
    figures = []
    for rows in (arguments.rows, 10 * arguments.rows):
        (state, _, seconds, score), resident = in_a_process(read_stream, rows, False)
        (_, peak, _, _), _ = in_a_process(read_stream, rows, True)
        figures.append((state / 1e6, peak / 1e6, resident))
        print(
            f"  {rows} rows: state {state / 1e6:.1f} MB, traced peak {peak / 1e6:.1f} MB, "
            f"resident peak {resident:.0f} MB, {seconds:.1f} s, relative loss {1 - score:.3f}",
            flush=True,
        )
    print(f"  ten times the rows: {np.round(np.divide(*reversed(figures)), 3)} times as much\n")


def batches_against_fit(arguments: argparse.Namespace) -> None:
    """Relative loss of `ELBMF.partial_fit` after one pass and several, and that of a fit."""
    print(f"ELBMF, k=20, batches of {BATCH} rows: relative loss on all rows (over that of a fit)")
    for name in arguments.sets:
        X = load(arguments.data, name)
        whole = ELBMF(20, random_state=0).fit(X).reconstruction_err_ / X.nnz
        model, figures, began = ELBMF(20, random_state=0), [], time.process_time()
        for done in range(1, arguments.passes + 1):
            read_in_batches(model, X)
            if done in (1, arguments.passes):
                seconds = time.process_time() - began
                loss = 1 - model.score(X)
                figures.append(
                    f"{done} passes {loss:.4f} ({loss / whole - 1:+.1%}), {seconds:.0f} s"
                )
        print(f"  {name:16} fit {whole:.4f}; {'; '.join(figures)}", flush=True)
    print()


def read_in_batches(model: ELBMF, X: Any) -> None:
    for start in range(0, X.shape[0], BATCH):
        model.partial_fit(X[start : start + BATCH])


def peak_of_passes(folder: Path, name: str, passes: int) -> int:
    """Traced peak of so many passes; epochs and search take no memory that stays, so have few."""
    X = load(folder, name)
    read_in_batches(ELBMF(20, max_iter=3, effort=0, random_state=0), X)  # compiles
    model = ELBMF(20, max_iter=3, effort=0, random_state=0)
    tracemalloc.start()
    for _ in range(passes):
        read_in_batches(model, X)
    return tracemalloc.get_traced_memory()[1]


def memory_of_batches(arguments: argparse.Namespace) -> None:
    """Traced peak of `ELBMF.partial_fit` on the rows of a set once, four and sixteen times."""
    print(f"ELBMF, k=20, batches of {BATCH} rows: traced peak of 1, 4 and 16 times the rows")
    for name in arguments.sets:
        peaks = [
            in_a_process(peak_of_passes, arguments.data, name, passes)[0] / 1e6
            for passes in (1, 4, 16)
        ]
        print(f"  {name:16} {', '.join(f'{peak:.1f}' for peak in peaks)} MB", flush=True)
    print()


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "tiles": tiles_under_noise,
    "memory": stream_memory,
    "batches": batches_against_fit,
    "batches-memory": memory_of_batches,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=10, help="tiled matrices of a kind")
    parser.add_argument("--rows", type=int, default=20_000, help="of the shorter stream")
    parser.add_argument("--sets", nargs="*", default=SETS, help="data sets of the batches")
    parser.add_argument("--passes", type=int, default=10, help="over each of them")
    data_argument(parser)
    arguments = parser.parse_args()
    print(machine() + "\n")
    for part in arguments.parts:
        print(f"{part}\n")
        PARTS[part](arguments)


if __name__ == "__main__":
    main()
