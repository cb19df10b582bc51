"""Why the defaults are what they are: variants of the method on tiles and on real data.

Prints the tables of docs/defaults.md.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from common import data_argument, load, machine
from elbmf import ELBMF, Annealed, Printed
from elbmf.datasets import make_tiles
from elbmf.relaxation.regularizers import ELB

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
REAL = ("mushroom", "chess", "firewall1", "americas_small", "customer", "dna", "cora_words")

AUTHORS = {"schedule": Printed(0.01, 0.02, 1.02), "max_iter": 1000}
PAPER = {"schedule": Printed(0.005, 0.001, 1.0033), "max_iter": 1500}

ON_TILES: dict[str, dict[str, Any]] = {
    "authors' parameters, printed operator": {
        **AUTHORS,
        "regularizer": ELB("paper"),
        "refine": False,
    },
    "authors' parameters, exact operator": {**AUTHORS, "refine": False},
    "authors' parameters and step, printed operator": {
        **AUTHORS,
        "schedule": Printed(0.01, 0.02, 1.02, step="authors"),
        "regularizer": ELB("paper"),
        "refine": False,
    },
    "default schedule, printed operator, 1 run": {
        "regularizer": ELB("paper"),
        "n_init": 1,
        "refine": False,
    },
    "default schedule, exact operator, 1 run": {"n_init": 1, "refine": False},
    "the same without inertia": {"n_init": 1, "schedule": Annealed(beta=0), "refine": False},
    "the same from uniform noise": {"n_init": 1, "init": "random", "refine": False},
    "best of 3 runs": {"refine": False},
    "1 run, refined": {"effort": 0},
    "1 run, refined and searched: the default": {},
}
ON_REAL: dict[str, dict[str, Any]] = {
    "paper's parameters, printed operator": {**PAPER, "regularizer": ELB("paper"), "refine": False},
    "paper's parameters, exact operator": {**PAPER, "refine": False},
    "paper's parameters, refined": {**PAPER, "effort": 0},
    "default schedule from uniform noise": {"n_init": 1, "init": "random", "refine": False},
    "default schedule from singular vectors": {"n_init": 1, "refine": False},
    "the same, refined": {"effort": 0},
    "the same, refined and searched: the default": {},
}


def row(label: str, figures: list[float]) -> None:
    print(f"| {label} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |", flush=True)


def header(labels: list[str]) -> None:
    print("| mean relative loss | " + " | ".join(labels) + " |")
    print("|---" * (len(labels) + 1) + "|")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)

    print(f"{machine()}\n\n40×30, 5 tiles of 5-10, k=5, {arguments.draws} draws\n")
    header([f"{level:.0%}" for level in NOISE])
    for label, parameters in ON_TILES.items():
        figures = []
        for level in NOISE:
            losses = []
            for seed in range(arguments.draws):
                tiles = make_tiles((40, 30), 5, height=(5, 10), noise=level, random_state=seed)
                model = ELBMF(5, random_state=seed, **parameters).fit(tiles.A)
                losses.append(model.reconstruction_err_ / tiles.A.nnz)
            figures.append(float(np.mean(losses)))
        row(label, figures)

    print(f"\nreal data, k=20, {arguments.seeds} seeds\n")
    header(list(REAL))
    for label, parameters in ON_REAL.items():
        figures = []
        for name in REAL:
            A = load(arguments.data, name)
            losses = [
                ELBMF(20, random_state=seed, **parameters).fit(A).reconstruction_err_ / A.nnz
                for seed in range(arguments.seeds)
            ]
            figures.append(float(np.mean(losses)))
        row(label, figures)


if __name__ == "__main__":
    main()
