"""Primp and RoundedNMF: what the grid of thresholds takes, and the loss beside scikit-learn's."""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from common import data_argument, load, machine
from elbmf import Primp, RoundedNMF
from elbmf.datasets import make_tiles
from elbmf.estimators.rivals import primp as primp_module


def matrices(
    arguments: argparse.Namespace, *names: str
) -> Iterator[tuple[str, Callable[[int], sparse.csr_array], int]]:
    """Two of planted tiles, drawn by a seed, and some real ones, each with a rank."""

    def tiles(shape: tuple[int, int], k: int, **how: Any) -> Callable[[int], sparse.csr_array]:
        return lambda seed: make_tiles(shape, k, random_state=seed, **how).A

    yield "40×30", tiles((40, 30), 5, height=(5, 10), noise=0.2), 5
    yield "400×300", tiles((400, 300), 10, height=(30, 60), noise=0.1), 10
    for name in names:
        A = load(arguments.data, name)
        yield name, lambda _, A=A: A, 20


def primp(arguments: argparse.Namespace) -> None:
    """Measure which share of a fit the grid of thresholds takes."""
    print("grid of 100×100 thresholds: share of the whole fit")
    rounding = primp_module.round_on_grid
    for name, draw, k in matrices(arguments, "mushroom", "americas_small", "cora_words"):
        A = draw(0)
        for n_jobs in (1, None):
            taken = []

            def timed(*given: Any, taken: list[float] = taken, **named: Any) -> Any:
                began = time.perf_counter()
                result = rounding(*given, **named)
                taken.append(time.perf_counter() - began)
                return result

            with patch.object(primp_module, "round_on_grid", timed):
                began = time.perf_counter()
                model = Primp(k, n_jobs=n_jobs, random_state=0).fit(A)
                total = time.perf_counter() - began
            print(
                f"  {name:15} {'all' if n_jobs is None else n_jobs:>3} threads  grid "
                f"{taken[0]:.3f} s of {total:.2f} s ({taken[0] / total:.1%})  "
                f"{model.n_iter_} epochs  relative loss {model.reconstruction_err_ / A.nnz:.4f}",
                flush=True,
            )
    print()


def nmf(arguments: argparse.Namespace) -> None:
    """Relaxed loss beside scikit-learn's at equal epochs, and loss after rounding."""
    epochs = arguments.epochs
    print(f"relaxed loss over that of scikit-learn's NMF (cd, random), {epochs} epochs each")
    for name, draw, k in matrices(arguments, "mushroom", "americas_small"):
        seeds = range(arguments.draws if name == "40×30" else 3)
        theirs = []
        for seed in seeds:
            X = sparse.csr_matrix(draw(seed), dtype=np.float64)
            model = NMF(k, init="random", tol=0, max_iter=epochs, random_state=seed).fit(X)
            theirs.append(model.reconstruction_err_**2)
        settings = {"max_iter": epochs, "tol": 0}
        for init in ("auto", "random"):
            ours, rounded = [], []
            for seed in seeds:
                A = draw(seed)
                fitted = RoundedNMF(k, init=init, random_state=seed, **settings).fit(A)
                ours.append(fitted.history_["relaxed_loss"][-1])
                rounded.append(fitted.reconstruction_err_ / A.nnz)
            print(
                f"  {name:15} init={init:7} means {np.mean(ours):.1f} / {np.mean(theirs):.1f} = "
                f"{np.mean(ours) / np.mean(theirs):.4f}  rounded {np.mean(rounded):.4f}",
                flush=True,
            )
    print()


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {"primp": primp, "nmf": nmf}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=500)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(machine() + "\n")
    for part in arguments.parts:
        PARTS[part](arguments)


if __name__ == "__main__":
    main()
