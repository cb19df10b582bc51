"""What the methods that ELBMF is compared with have to reach: one part for each."""

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF

from common import data_argument, load, machine
from elbmf import ELBMF, Primp, RoundedNMF
from elbmf.datasets import make_tiles
from elbmf.estimators import primp as primp_module

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


def noise_grid(arguments: argparse.Namespace, models: dict[str, Callable[[int], Any]]) -> None:
    """Mean relative loss on Fig. 3's matrices, 40×30 with 5 tiles of 5-10, at rank 5."""
    print(f"40×30, 5 tiles of 5-10, rank 5, {arguments.draws} draws: mean relative loss")
    print(f"  {'noise':34}" + "".join(f"{level:8.0%}" for level in NOISE) + "    mean")
    for name, make in models.items():
        means = []
        for level in NOISE:
            losses = []
            for seed in range(arguments.draws):
                A = make_tiles((40, 30), 5, height=(5, 10), noise=level, random_state=seed).A
                losses.append(make(seed).fit(A).reconstruction_err_ / A.nnz)
            means.append(np.mean(losses))
        print(
            f"  {name:34}" + "".join(f"{each:8.4f}" for each in means) + f"{np.mean(means):8.4f}",
            flush=True,
        )
    print()


def large(arguments: argparse.Namespace, *methods: type) -> None:
    """Sparse data at k=20, and the most memory the process has had so far."""
    print("sparse, k=20")
    for name in ("retail", "ppi_biogrid"):
        A = load(arguments.data, name)
        for method in methods:
            began = time.perf_counter()
            model = method(20, random_state=0).fit(A)
            seconds = time.perf_counter() - began
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(
                f"  {name:12} {method.__name__:10} relative loss "
                f"{model.reconstruction_err_ / A.nnz:.3f}  {model.n_iter_} epochs  "
                f"{seconds:.1f} s  peak {peak:.2f} GB",
                flush=True,
            )
    print()


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
    """Loss beside that of ELBMF without refinement, and what the grid of thresholds takes."""
    noise_grid(
        arguments,
        {
            "ELBMF(refine=False)": lambda seed: ELBMF(5, refine=False, random_state=seed),
            "Primp": lambda seed: Primp(5, random_state=seed),
            "Primp(kappa=0.1)": lambda seed: Primp(5, kappa=0.1, random_state=seed),
            "Primp(kappa=1)": lambda seed: Primp(5, kappa=1.0, random_state=seed),
            "Primp(init='random', beta=0)": lambda seed: Primp(
                5, init="random", beta=0, random_state=seed
            ),
        },
    )
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
    large(arguments, Primp)


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
    noise_grid(
        arguments,
        {
            "RoundedNMF": lambda seed: RoundedNMF(5, random_state=seed),
            "RoundedNMF(balance=False)": lambda seed: RoundedNMF(
                5, balance=False, random_state=seed
            ),
            "… and init='random', as the paper": lambda seed: RoundedNMF(
                5, balance=False, init="random", random_state=seed
            ),
        },
    )
    large(arguments, RoundedNMF)


PARTS = {"primp": primp, "nmf": nmf}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=500, help="of the comparison of NMFs")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    arguments = parser.parse_args()
    print(machine() + "\n")
    for part in arguments.parts:
        PARTS[part](arguments)


if __name__ == "__main__":
    main()
