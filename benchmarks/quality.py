"""Loss on the paper's synthetic settings and on real data, printed and default schedules."""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from common import data_argument, load, machine, names
from elbmf import ELBMF, Printed
from elbmf.boolean.metrics import hamming_loss, relative_loss
from elbmf.datasets import make_tiles

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


def convergence(draws: int, first_seed: int, **parameters: Any) -> None:
    """Fig. 2: 400×300, 5 tiles of 50-100, 10% noise; a fresh matrix and start for each seed."""
    printed, default, constant = [], [], []
    for seed in range(first_seed, first_seed + draws):
        tiles = make_tiles((400, 300), 5, height=(50, 100), noise=0.1, random_state=seed)
        truth = hamming_loss(tiles.A, tiles.U, tiles.V)
        schedule = Printed(0.01, 0.02, 1.05)
        model = ELBMF(5, schedule=schedule, max_iter=300, random_state=seed).fit(tiles.A)
        printed.append((model.history_["gap"][-1], model.reconstruction_err_ / truth))
        schedule = Printed(0.01, lam=1, rate=1)
        model = ELBMF(5, schedule=schedule, max_iter=1000, random_state=seed).fit(tiles.A)
        constant.append(model.history_["gap"].min())
        model = ELBMF(5, random_state=seed, **parameters).fit(tiles.A)
        default.append((model.history_["gap"][-1], model.reconstruction_err_ / truth))
    gaps, ratios = np.array(printed).T
    print(f"Fig. 2, {draws} seeds: κ=.01, λ=.02, 1.05^t")
    print(f"  gap < 1e-3 by epoch 300: {np.sum(gaps < 1e-3)} of {draws}, greatest {gaps.max():.1e}")
    print(f"  loss over that of the true tiles: median {np.median(ratios):.3f}, {ratios.round(3)}")
    print(f"constant λ=1: least gap ever {min(constant):.3f}")
    gaps, ratios = np.array(default).T
    print(f"default schedule: greatest gap {gaps.max():.1e}")
    print(f"  at most the loss of the true tiles: {np.sum(ratios <= 1)} of {draws}")
    print(f"  {ratios.round(3)}\n", flush=True)


def noise(draws: int, first_seed: int, **parameters: Any) -> None:
    """Fig. 3's matrices: 40×30, 5 tiles of 5-10, rank 5."""
    print(f"40×30, 5 tiles of 5-10, rank 5, {draws} draws, no refinement: mean relative loss")
    for level in NOISE:
        losses, truths, ones = [], [], []
        for seed in range(first_seed, first_seed + draws):
            tiles = make_tiles((40, 30), 5, height=(5, 10), noise=level, random_state=seed)
            model = ELBMF(5, random_state=seed, refine=False, **parameters).fit(tiles.A)
            losses.append(model.reconstruction_err_)
            truths.append(hamming_loss(tiles.A, tiles.U, tiles.V))
            ones.append(tiles.A.nnz)
        relative = np.mean(np.array(losses) / ones)
        groups = np.array(losses).reshape(-1, min(10, draws)).sum(1)
        groups = groups / np.maximum(np.array(truths).reshape(-1, min(10, draws)).sum(1), 1)
        over_truth = np.sum(losses) / max(np.sum(truths), 1)
        print(
            f"  noise {level:.0%}: {relative:.4f}  over truth {over_truth:.3f}  "
            f"groups of ten: {groups.min():.3f}-{groups.max():.3f}",
            flush=True,
        )
    print()


def real(arguments: argparse.Namespace) -> None:
    """Default parameters on every set: Boolean before the projection, without a warning."""
    print("real data, k=20, default parameters")
    for name in names(arguments.data):
        A = load(arguments.data, name)
        began = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = ELBMF(20, random_state=0)
            U = model.fit_transform(A)
        seconds = time.perf_counter() - began
        complaints = sum(issubclass(w.category, ConvergenceWarning) for w in caught)
        used = np.sum(U.any(axis=0) & model.components_.any(axis=1))
        print(
            f"  {name:20} gap {model.history_['gap'][-1]:.1e}  warnings {complaints}  "
            f"relative loss {relative_loss(A, U, model.components_):.3f}  "
            f"components used {used}  epochs {model.n_iter_}  {seconds:.1f} s",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--parts", nargs="*", default=["convergence", "noise", "real"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(machine() + "\n")
    if "convergence" in arguments.parts:
        convergence(arguments.draws, arguments.first_seed)
    if "noise" in arguments.parts:
        noise(arguments.draws, arguments.first_seed)
    if "real" in arguments.parts:
        real(arguments)


if __name__ == "__main__":
    main()
