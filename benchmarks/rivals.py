"""What the other methods reach, each in a part of its own, beside ELBMF without refinement."""

import argparse
import resource
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from common import data_argument, load, machine
from elbmf import ELBMF, OrM
from elbmf.datasets import make_tiles

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


def orm(arguments: argparse.Namespace) -> None:
    """Measure the loss on tiles under noise, then loss, time and memory on real data."""
    draws = range(arguments.first_seed, arguments.first_seed + arguments.draws)
    print(f"OrM: 40×30, 5 tiles of 5-10, rank 5, {len(draws)} draws: mean relative loss")
    for level in NOISE:
        losses = {"OrM": [], "best sample": [], "refined": [], "ELBMF": []}
        for seed in draws:
            A = make_tiles((40, 30), 5, height=(5, 10), noise=level, random_state=seed).A
            models = (
                OrM(5, random_state=seed),
                OrM(5, estimate="best", random_state=seed),
                OrM(5, refine=True, random_state=seed),
                ELBMF(5, refine=False, random_state=seed),
            )
            for values, model in zip(losses.values(), models, strict=True):
                values.append(model.fit(A).reconstruction_err_ / A.nnz)
        means = "  ".join(f"{name} {np.mean(values):.4f}" for name, values in losses.items())
        print(f"  noise {level:.0%}: {means}", flush=True)
    print("OrM: real data, k=20, default parameters")
    for name in ("mushroom", "americas_small", "ppi_biogrid", "retail"):
        A = load(arguments.data, name)
        began = time.perf_counter()
        model = OrM(20, random_state=0).fit(A)
        seconds = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"  {name:16} relative loss {model.reconstruction_err_ / A.nnz:.4f}  "
            f"components used {model.n_components_}  λ {model.dispersion_:.2f}  "
            f"chains {len(model.run_losses_)}  sweeps {model.n_iter_}  {seconds:.1f} s  "
            f"peak so far {peak:.2f} GB",
            flush=True,
        )


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {"orm": orm}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(machine() + "\n")
    for part in arguments.parts:
        PARTS[part](arguments)


if __name__ == "__main__":
    main()
