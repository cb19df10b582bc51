"""What all methods reach on tiles under noise, and which time and memory large data takes."""

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from common import data_argument, load, machine
from elbmf import Binaps, OrM, Primp, RoundedNMF, compare
from elbmf.boolean.metrics import hamming_loss
from elbmf.datasets import make_tiles
from elbmf.estimators import METHODS, BooleanFactorizer
from elbmf.estimators import method as method_of

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)

# Beside the defaults: each refined, and settings whose figures the documentation tells.
VARIANTS: dict[str, Callable[..., BooleanFactorizer]] = {
    **{name: method_of(name) for name in METHODS},
    "elbmf, not refined": lambda *k, **other: method_of("elbmf")(*k, refine=False, **other),
    **{
        f"{name}, refined": lambda *k, name=name, **other: method_of(name)(*k, refine=True, **other)
        for name in METHODS
        if name != "elbmf"
    },
    "primp, κ=0.1": lambda *k, **other: Primp(*k, kappa=0.1, **other),
    "primp, κ=1": lambda *k, **other: Primp(*k, kappa=1.0, **other),
    "primp, authors' start": lambda *k, **other: Primp(*k, init="random", beta=0, **other),
    "nmf, scaled as it comes": lambda *k, **other: RoundedNMF(*k, balance=False, **other),
    "nmf, to the paper's letter": lambda *k, **other: RoundedNMF(
        *k, init="random", balance=False, **other
    ),
    "orm, best sample": lambda *k, **other: OrM(*k, estimate="best", **other),
    # As the authors' program is run with a missing unit for each component.
    "binaps, authors'": lambda *k, **other: Binaps(
        *k, max_iter=10, zero_weight="density", threshold=0.2, prune=False, **other
    ),
}


def noise(arguments: argparse.Namespace) -> None:
    """Measure the mean relative loss on small matrices, by level of noise."""
    print(f"40×30, 5 tiles of 5-10, k=5, {arguments.draws} draws: mean relative loss")
    _table(arguments, [((40, 30), (5, 10), level) for level in NOISE])


def tiles(arguments: argparse.Namespace) -> None:
    """Measure the mean relative loss on larger matrices."""
    print(f"400×300, 5 tiles of 50-100, k=5, {arguments.draws} draws: mean relative loss")
    _table(arguments, [((400, 300), (50, 100), level) for level in (0.0, 0.1, 0.2)])


def _table(
    arguments: argparse.Namespace,
    settings: list[tuple[tuple[int, int], tuple[int, int], float]],
) -> None:
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.draws)
    drawn = [
        [make_tiles(shape, 5, height=height, noise=level, random_state=seed) for seed in seeds]
        for shape, height, level in settings
    ]
    print(f"| method | {' | '.join(f'{level:.0%}' for *_, level in settings)} |")
    print("|---" * (len(settings) + 1) + "|")
    truth = [
        np.mean([hamming_loss(each.A, each.U, each.V) / each.A.nnz for each in column])
        for column in drawn
    ]
    _row("the tiles themselves", truth)
    for name, method in VARIANTS.items():
        if arguments.methods and name not in arguments.methods:
            continue
        losses = [
            np.mean(
                [
                    _relative_loss(method, each.A, seed)
                    for seed, each in zip(seeds, column, strict=True)
                ]
            )
            for column in drawn
        ]
        _row(name, losses)
    print()


def _row(name: str, losses: list[Any]) -> None:
    print(f"| {name} | {' | '.join(f'{loss:.3f}' for loss in losses)} |", flush=True)


def _relative_loss(method: Callable[..., BooleanFactorizer], A: Any, seed: int) -> float:
    return method(5, random_state=seed).fit(A).reconstruction_err_ / A.nnz


def large(arguments: argparse.Namespace) -> None:
    """Measure loss, seconds and memory on sparse data, each method in a process of its own."""
    print(f"k=20: relative loss, seconds, memory beyond the data; at most {arguments.limit} s")
    for name in arguments.sets:
        A = load(arguments.data, name)
        methods = arguments.methods or "all"
        for result in compare(A, 20, methods, time_limit=arguments.limit, random_state=0):
            if result.relative_loss is None:
                print(f"  {name:16} {result.method:8} {result.status}: {result.message}")
                continue
            memory = "?" if result.peak_memory is None else f"{result.peak_memory / 2**30:.2f}"
            print(
                f"  {name:16} {result.method:8} {result.relative_loss:.4f}  {result.seconds:7.1f} "
                f"s  {memory} GB  {result.n_components} components  {result.status}",
                flush=True,
            )
    print()


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    part.__name__: part for part in (noise, tiles, large)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--methods", nargs="*", help="some of the methods only, by name")
    parser.add_argument("--sets", nargs="*", default=["retail", "ppi_biogrid"])
    parser.add_argument("--limit", type=float, default=300.0, help="seconds, on large data")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=10)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine() + "\n")
    for part in arguments.parts:
        PARTS[part](arguments)


if __name__ == "__main__":
    main()
