"""The methods that the paper compares with: loss, time and memory, a part for each."""

import argparse
import resource
import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from common import data_argument, load, machine
from elbmf import Binaps
from elbmf.datasets import make_tiles
from elbmf.metrics import hamming_loss

# As the authors' program is run with a hidden unit for each component.
AUTHORS: dict[str, Any] = {
    "max_iter": 10,
    "zero_weight": "density",
    "threshold": 0.2,
    "prune": False,
}
BINAPS: dict[str, dict[str, Any]] = {
    "default": {},
    "refined": {"refine": True},
    "500 epochs": {"max_iter": 500},
    "authors'": AUTHORS,
    "authors', 3000 steps": {**AUTHORS, "max_iter": None},
}


def binaps(arguments: argparse.Namespace) -> None:
    """Tiles of two sizes, with the authors' settings and ours; real data at k=20."""
    Binaps(5, random_state=0, refine=True).fit(make_tiles((40, 30), 5, height=(5, 10)).A)
    grid = [((40, 30), (5, 10), noise) for noise in (0.0, 0.1, 0.2, 0.3)]
    for shape, height, noise in [*grid, ((400, 300), (50, 100), 0.1)]:
        drawn = [
            make_tiles(shape, 5, height=height, noise=noise, random_state=seed)
            for seed in range(arguments.first_seed, arguments.first_seed + arguments.draws)
        ]
        truth = np.mean([hamming_loss(each.A, each.U, each.V) / each.A.nnz for each in drawn])
        print(f"{shape[0]}×{shape[1]}, 5 tiles, noise {noise:.0%}: true tiles {truth:.3f}")
        for label, parameters in BINAPS.items():
            losses, described, seconds = [], [], []
            for seed, each in enumerate(drawn, arguments.first_seed):
                model = Binaps(5, random_state=seed, **parameters)
                began = time.perf_counter()
                model.fit(each.A)
                seconds.append(time.perf_counter() - began)
                losses.append(model.reconstruction_err_ / each.A.nnz)
                described.append(1 - model.score(each.A))
            print(
                f"  {label:20} relative loss: mean {np.mean(losses):.3f}, worst "
                f"{max(losses):.3f}; of transform {np.mean(described):.3f}; "
                f"{np.mean(seconds):.2f} s",
                flush=True,
            )
    print("real data, k=20, default parameters")
    for name in arguments.sets:
        A = load(arguments.data, name)
        began = time.perf_counter()
        model = Binaps(20, random_state=arguments.first_seed).fit(A)
        seconds = time.perf_counter() - began
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"  {name:16} relative loss {model.reconstruction_err_ / A.nnz:.3f}, of transform "
            f"{1 - model.score(A):.3f}; components used {model.n_components_}, threshold "
            f"{model.threshold_}, epochs {model.n_iter_}; {seconds:.1f} s; at most {most:.2f} GB",
            flush=True,
        )
    print()


PARTS = {part.__name__: part for part in (binaps,)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument(
        "--sets",
        nargs="*",
        default=["mushroom", "americas_small", "retail", "ppi_biogrid"],
        help="real data, by name",
    )
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=10, help="tiled matrices of a kind")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(machine() + "\n")
    for part in arguments.parts:
        PARTS[part](arguments)


if __name__ == "__main__":
    main()
