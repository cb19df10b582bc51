"""How low the loss gets: against brute force, the true tiles, real data, and the paper's epochs."""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from common import data_argument, load, machine
from elbmf import ELBMF, Printed
from elbmf.boolean.metrics import hamming_loss, measures
from elbmf.boolean.product import boolean_product
from elbmf.datasets import make_tiles
from elbmf.errors import DoubtfulComponentWarning

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
PAPER: dict[str, Any] = {"schedule": Printed(0.005, 0.001, 1.0033), "max_iter": 1500}
REAL = {
    "mushroom": 20,
    "chess": 20,
    "firewall1": 20,
    "dna": 20,
    "americas_small": 20,
    "customer": 20,
    "cora_words": 20,
    "newsgroups20": 20,
    "retail": 20,
    "genomes1k_peddy": 28,
}


def least_loss(A: np.ndarray, k: int) -> int:
    """Least loss over all V: rows are coded as numbers and solved exactly, all V at once."""
    m = A.shape[1]
    patterns = np.arange(1 << m, dtype=np.int64)
    bits = np.array([bin(p).count("1") for p in patterns])
    distance = np.array([bits[patterns ^ int(row @ (1 << np.arange(m)))] for row in A])
    best = np.broadcast_to(distance[:, :1], distance.shape)  # rank 0: every row is left empty
    least = np.minimum(best, distance)
    if k == 1:
        return int(least.sum(axis=0).min())
    answer = int(A.sum())
    for first in patterns[1:]:
        alone = np.minimum(distance[:, :1], distance[:, first : first + 1])
        second = patterns[first:]
        two = np.minimum(np.minimum(alone, distance[:, second]), distance[:, second | first])
        if k == 2:
            answer = min(answer, int(two.sum(axis=0).min()))
            continue
        for offset, other in enumerate(second):
            third = second[offset:]
            three = np.minimum(two[:, offset : offset + 1], distance[:, third])
            for union in (third | first, third | other, third | first | other):
                three = np.minimum(three, distance[:, union])
            answer = min(answer, int(three.sum(axis=0).min()))
    return answer


def optimum(arguments: argparse.Namespace) -> None:
    """Random matrices, a third each of 8×8 at k=1 and 2, and 6×6 at k=3, against brute force."""
    count = arguments.matrices
    cases = [(8, 1), (8, 2), (6, 3)]
    reached = {"default effort": 0, "effort 10": 0}
    for index in range(count):
        size, k = cases[index % 3]
        generator = np.random.default_rng(arguments.first_seed + index)
        A = generator.random((size, size)) < generator.uniform(0.2, 0.8)
        least = least_loss(A, k)
        for label, effort in zip(reached, (1, 10), strict=True):
            model = ELBMF(k, random_state=0, effort=effort).fit(A)
            reached[label] += model.reconstruction_err_ == least
            if model.reconstruction_err_ == least and effort == 1:
                reached["effort 10"] += 1  # more effort is never worse
                break
    print(f"brute-force optimum reached on {count} random matrices: {reached}\n", flush=True)


def noise(arguments: argparse.Namespace) -> None:
    """40×30, 5 tiles of 5-10, k=5."""
    print("40×30, 5 tiles, k=5: mean loss over that of the true tiles; recall* refined / unrefined")
    for level in NOISE:
        figures = []
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.draws):
            tiles = make_tiles((40, 30), 5, height=(5, 10), noise=level, random_state=seed)
            row = [hamming_loss(tiles.A, tiles.U, tiles.V)]
            for refine in (True, False):
                model = ELBMF(5, random_state=seed, refine=refine).fit(tiles.A)
                factors = model.membership_, model.components_
                star = measures(tiles.A, *factors, truth=tiles.truth)["recall_star"]
                row += [model.reconstruction_err_, star]
            figures.append(row)
        truth, loss, star, _, unrefined = np.mean(figures, axis=0)
        ratio = f"{loss / truth:.3f}" if truth else f"loss {loss:g}"
        print(f"  noise {level:.0%}: {ratio}   recall* {star:.4f} / {unrefined:.4f}", flush=True)
    print()


def tiles(arguments: argparse.Namespace) -> None:
    """400×300: 5 apart, 10 overlapping, and ranks beyond the true one; 10% noise."""
    ratios = []
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.draws):
        drawn = make_tiles((400, 300), 5, height=(50, 100), noise=0.1, random_state=seed)
        model = ELBMF(5, random_state=seed).fit(drawn.A)
        ratios.append(model.reconstruction_err_ / hamming_loss(drawn.A, drawn.U, drawn.V))
    good = np.sum(np.array(ratios) <= 1)
    print(
        f"400×300, 5 tiles: at most the true loss on {good} of {len(ratios)}, {np.round(ratios, 4)}"
    )
    ratios = []
    for matrix in range(5):
        shape = {"height": (30, 80), "overlap": True, "noise": 0.1}
        drawn = make_tiles((400, 300), 10, random_state=arguments.first_seed + matrix, **shape)
        truth = hamming_loss(drawn.A, drawn.U, drawn.V)
        for seed in range(5):
            model = ELBMF(10, random_state=seed).fit(drawn.A)
            ratios.append(model.reconstruction_err_ / truth)
    print(f"400×300, 10 overlapping tiles: mean {np.mean(ratios):.4f}, worst {max(ratios):.4f}")
    drawn = make_tiles(
        (400, 300), 10, height=(30, 70), noise=0.1, random_state=arguments.first_seed
    )
    losses = [ELBMF(k, random_state=0).fit(drawn.A).reconstruction_err_ for k in range(1, 31)]
    rises = np.maximum(np.diff(losses), 0)
    print(f"ranks 1 to 30, true rank 10: {losses}; rises {rises.sum()}\n", flush=True)


def real(arguments: argparse.Namespace) -> None:
    """Default effort on real data: mean and spread over seeds."""
    print(f"real data, default effort, {arguments.seeds} seeds: relative loss")
    for name in arguments.sets:
        A, k = load(arguments.data, name), REAL.get(name, 20)
        losses, seconds = [], []
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            began = time.perf_counter()
            model = ELBMF(k, random_state=seed).fit(A)
            seconds.append(time.perf_counter() - began)
            losses.append(model.reconstruction_err_ / A.nnz)
        spread = np.std(losses) / np.mean(losses)
        print(
            f"  {name:16} k={k}: mean {np.mean(losses):.4f}  std {spread:.2%} of it  "
            f"{min(losses):.4f}-{max(losses):.4f}  used {model.n_components_}  "
            f"{np.mean(seconds):.1f} s",
            flush=True,
        )
    print()


def cost(arguments: argparse.Namespace) -> None:
    """Time beside the paper's 1500 epochs on the same engine, interleaved, best of several.

    And how soon a shorter fit is below the paper's loss.
    """
    print(
        "time of a default fit over that of the paper's 1500 epochs; how soon a loss below theirs"
    )
    variants: dict[str, dict[str, Any]] = {
        "paper": {**PAPER, "refine": False, "tol": 0.0},
        "default": {},
    }
    for epochs in (20, 50, 100):
        short = {"max_iter": epochs, "n_init": 1}
        variants[f"{epochs} epochs"] = {**short, "refine": False}
        variants[f"{epochs} epochs, refined"] = {**short, "effort": 0}
        variants[f"{epochs} epochs and a search"] = short
    for name in arguments.sets:
        A, k = load(arguments.data, name), REAL.get(name, 20)
        best: dict[str, tuple[float, float]] = {}
        for _ in range(1 if A.nnz > 5_000_000 else arguments.rounds):
            for label, parameters in variants.items():
                model = ELBMF(k, random_state=0, **parameters)
                seconds = timed(lambda model=model, A=A: model.fit(A))
                loss = model.reconstruction_err_ / A.nnz
                best[label] = min(best.get(label, (np.inf, 0)), (seconds, loss))
        paper = best.pop("paper")
        default = best.pop("default")
        below = [(s, loss, label) for label, (s, loss) in best.items() if loss < paper[1]]
        seconds, loss, label = min(below, default=(np.inf, np.nan, "never"))
        print(
            f"  {name:16} paper {paper[0]:.2f} s, loss {paper[1]:.3f}; default "
            f"{default[0] / paper[0]:.2f} of the time, loss {default[1]:.4f}; below at "
            f"{seconds / paper[0]:.3f} of the time, loss {loss:.4f} ({label})",
            flush=True,
        )
    print()


def timed(function: Callable[[], object]) -> float:
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def missing(arguments: argparse.Namespace) -> None:
    """From below: no covered zero. A fifth of the cells missing: planted cells recovered."""
    for name in ("americas_small", "firewall1", "mushroom"):
        A = load(arguments.data, name)
        model = ELBMF(20, random_state=0, extra_weight=np.inf).fit(A)
        figures = measures(A, model.membership_, model.components_)
        extra = model.inverse_transform(model.membership_).astype(int) - A.astype(int) > 0
        print(
            f"from below, {name}: {extra.sum()} covered zeros, relative loss "
            f"{figures['relative_loss']:.4f}"
        )
    shares = []
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.draws):
        drawn = make_tiles((400, 300), 5, height=(50, 100), noise=0.1, random_state=seed)
        missing = np.random.default_rng(seed).random((400, 300)) < 0.2
        X = drawn.A.toarray().astype(float)
        X[missing] = np.nan
        model = ELBMF(5, random_state=seed).fit(X)
        guess = boolean_product(model.membership_, model.components_).toarray()
        shares.append(np.mean(guess[missing] == drawn.truth.toarray()[missing]))
    print(f"20% missing: share of missing cells recovered: least {min(shares):.4f}\n", flush=True)


def small(arguments: argparse.Namespace) -> None:
    """Slices of the real sets, at most 300×100: a short search beside a long one."""
    print(f"{arguments.short:g} s of search beside {arguments.long:g} s, {arguments.tables} tables")
    sets = [name for name in REAL if name != "genomes1k_peddy"]
    over = []
    for index in range(arguments.tables):
        name = sets[index % len(sets)]
        generator = np.random.default_rng(arguments.first_seed + index)
        A = load(arguments.data, name)
        columns = np.argsort(-np.bincount(A.indices, minlength=A.shape[1]))[:400]
        columns = np.sort(generator.permutation(columns)[:100])
        dense = A[:, columns].toarray()
        rows = generator.permutation(np.flatnonzero(dense.any(axis=1)))[:300]
        table, k = dense[rows], (2, 5, 10)[index % 3]
        figures = []
        for seconds in (arguments.short, arguments.long):
            model = ELBMF(k, random_state=0, time_limit=seconds).fit(table)
            figures.append(model.reconstruction_err_)
        quick = ELBMF(k, random_state=0).fit(table).reconstruction_err_
        over.append(figures[0] / figures[1] - 1)
        print(
            f"  {name:16} {table.shape[0]}×{table.shape[1]} k={k}: {figures[0]} beside "
            f"{figures[1]} ({over[-1]:+.2%}); default effort {quick}",
            flush=True,
        )
    print(f"greatest excess {max(over):.2%}\n", flush=True)


PARTS = {part.__name__: part for part in (optimum, noise, tiles, real, cost, missing, small)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sets", nargs="*", default=list(REAL), help="real data, by name")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=10, help="tiled matrices of a kind")
    parser.add_argument("--seeds", type=int, default=5, help="starts on real data")
    parser.add_argument("--matrices", type=int, default=500, help="for brute force")
    parser.add_argument("--rounds", type=int, default=3, help="of timing")
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--short", type=float, default=30.0, help="seconds")
    parser.add_argument("--long", type=float, default=1200.0, help="seconds")
    arguments = parser.parse_args()
    for doubt in (ConvergenceWarning, DoubtfulComponentWarning):
        warnings.simplefilter("ignore", doubt)
    print(machine() + "\n")
    for part in arguments.parts:
        PARTS[part](arguments)


if __name__ == "__main__":
    main()
