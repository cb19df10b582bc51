"""Margins: those who belong against those who do not, and what they cost beside a fit.

python benchmarks/margins.py [--data FOLDER] [--parts planted cost]
"""

import argparse
import time

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import roc_auc_score

from common import best_of, load, parts_parser, run_parts
from elbmf import ELBMF, margins
from elbmf.datasets import make_tiles
from elbmf.matrix.boolean_matrix import BooleanMatrix

# Name, components, seconds for the fit at most
REAL = (("mushroom", 50, 60), ("tcga7", 20, 60), ("genomes1k_peddy", 28, 60))


def planted(given: argparse.Namespace) -> None:
    """Tiles of 40 to 80 rows and 30 to 60 columns in 400×300; a share of all cells is inverted."""
    print("noise seed | AUC of rows: mean, least | columns: mean, least | of tiles | fit s | s")
    for flips in given.noise:
        for seed in range(given.seeds):
            tiles = make_tiles(
                (400, 300), 6, height=(40, 80), width=(30, 60), flips=flips, random_state=seed
            )
            began = time.perf_counter()
            model = ELBMF(6, random_state=0, time_limit=given.fit_seconds).fit(tiles.A)
            fitted = time.perf_counter()
            found = margins(tiles.A, model.membership_, model.components_, outsiders=True)
            weighed = time.perf_counter()
            which = matched(model.components_, tiles.V)
            rows = areas(found.rows.toarray()[:, which], tiles.U)
            columns = areas(found.columns.toarray()[which].T, tiles.V.T)
            # Of the tiles themselves, whatever the fit has found.
            known = margins(tiles.A, tiles.U, tiles.V, outsiders=True)
            best = areas(known.rows.toarray(), tiles.U)
            print(
                flips, seed, f"| {np.mean(rows):.4f} {min(rows):.4f}",
                f"| {np.mean(columns):.4f} {min(columns):.4f}",
                f"| {min(best):.4f} | {fitted - began:.1f} | {weighed - fitted:.3f}", flush=True,
            )  # fmt: skip


def matched(V: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Component of each tile, one to one, by the columns that they share."""
    found, planted_columns = V.astype(float), np.asarray(truth, dtype=float)
    both = planted_columns @ found.T
    union = planted_columns.sum(axis=1)[:, None] + found.sum(axis=1) - both
    return linear_sum_assignment(-both / union)[1]


def areas(weighed: np.ndarray, truth: np.ndarray) -> list[float]:
    """Area under the curve of each tile: its lines against all others."""
    belongs = np.asarray(truth, dtype=bool)
    return [roc_auc_score(belongs[:, l], weighed[:, l]) for l in range(belongs.shape[1])]


def cost(given: argparse.Namespace) -> None:
    """Time beside that of a fit."""
    print("data k | members | fit s | margins s | share")
    for name, k, seconds in REAL:
        A = BooleanMatrix.from_array(load(given.data, name).astype(bool))
        began = time.perf_counter()
        model = ELBMF(k, random_state=0, time_limit=seconds).fit(A)
        fit = time.perf_counter() - began
        U, V = model.membership_, model.components_
        took = best_of(lambda A=A, U=U, V=V: margins(A, U, V), 2)
        print(
            f"{name} {k} | {U.sum() + V.sum()} | {fit:.1f} | {took:.2f} | {took / fit:.2%}",
            flush=True,
        )


if __name__ == "__main__":
    parts = {"planted": planted, "cost": cost}
    parser = parts_parser(__doc__, parts)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--noise", type=float, nargs="*", default=[0.2])
    parser.add_argument("--fit-seconds", type=float, default=20)
    run_parts(parser, parts)
