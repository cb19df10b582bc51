"""Random matrices with given sums, and which components differ from what is found in these.

python benchmarks/significance.py --data FOLDER [--parts uniform mixing noise planted]
    [--sets tcga7 newsgroups20] [--weights 1 0.25] [--trials 20] [--samples 38] [-k 7] [--effort 0]
    [--densities 0.3 0.25 0.2 0.1] [--seeds 3]
"""

import argparse
import time
import warnings
from itertools import combinations, product

import numpy as np
from scipy.stats import chi2

from common import load, parts_parser, run_parts
from elbmf import ELBMF, significance
from elbmf.datasets import make_tiles, shuffled
from elbmf.errors import DoubtfulComponentWarning

SHAPES = ((3, 3), (3, 4), (4, 4))
DRAWS = 30
SWEEPS = (1, 2, 5, 10, 20, 30, 50, 100)
# Density around tiles that have three times as many ones, and what a covered zero costs.
PLANTED = ((0.3, 1.0), (0.25, 1.0), (0.2, 1.0), (0.2, "auto"), (0.1, "auto"))


def uniform(arguments: argparse.Namespace) -> None:
    """Chi-square of all matrices with given sums, for all sums that there are."""
    # The same for all, so that no two tests are of the same draws.
    draws = np.random.RandomState(0)
    for n, m in SHAPES:
        groups: dict[tuple[int, ...], list[np.ndarray]] = {}
        lines = [
            np.isin(np.arange(m), chosen)
            for size in range(m + 1)
            for chosen in combinations(range(m), size)
        ]
        for rows in product(lines, repeat=n):
            A = np.array(rows)
            sums = A.sum(axis=1).tolist(), A.sum(axis=0).tolist()
            if all(each == sorted(each) for each in sums):
                groups.setdefault((*sums[0], *sums[1]), []).append(A)
        chances = []
        for matrices in groups.values():
            if len(matrices) == 1:
                continue
            counts = {A.tobytes(): 0 for A in matrices}
            for _ in range(DRAWS * len(matrices)):
                counts[shuffled(matrices[0], draws, sweeps=20).to_csr().toarray().tobytes()] += 1
            unequal = np.square(np.array([*counts.values()]) - DRAWS).sum() / DRAWS
            chances.append(chi2.sf(unequal, len(matrices) - 1))
        least, low = min(chances), np.mean(np.array(chances) < 0.05)
        print(
            f"{n}×{m}: {len(chances)} pairs of sums, least p {least:.4f} (1 of {1 / least:,.0f}), "
            f"below .05 {low:.3f}",
            flush=True,
        )


def mixing(arguments: argparse.Namespace) -> None:
    """Ones that are still where they were, beside two matrices that know nothing of each other."""
    for name in arguments.sets:
        A = load(arguments.data, name).astype(bool)
        far = [shuffled(A, seed).to_csr() for seed in (1, 2)]
        print(
            f"{name}: {A.nnz:,} ones, in common by chance {far[0].multiply(far[1]).nnz / A.nnz:.4f}"
        )
        for sweeps in SWEEPS:
            began = time.perf_counter()
            found = shuffled(A, 0, sweeps=sweeps)
            seconds = time.perf_counter() - began
            print(
                f"  {sweeps} sweeps: {seconds:.2f} s, {found.to_csr().multiply(A).nnz / A.nnz:.4f}",
                flush=True,
            )


def noise(arguments: argparse.Namespace) -> None:
    """Significant components of matrices that are random but for their sums."""
    for name, weight in product(arguments.sets, arguments.weights):
        A = load(arguments.data, name).astype(bool)
        clean, began = 0, time.perf_counter()
        for trial in range(arguments.trials):
            found = significance(
                shuffled(A, 1000 + trial),
                ELBMF(
                    arguments.k, extra_weight=weight, effort=arguments.effort, random_state=trial
                ),
                samples=arguments.samples,
                random_state=trial,
            )
            clean += not found.significant().any()
            best = found.best_of_samples
            print(
                f"{name} weight {weight} trial {trial}: {found.significant().sum()} significant, "
                f"best {found.excess.bits.max():.0f} bits, {found.samples} samples "
                f"{np.round(best).astype(int).tolist()}",
                flush=True,
            )
        seconds = time.perf_counter() - began
        print(f"{name} weight {weight}: none in {clean} of {arguments.trials}, {seconds:.0f} s")


def planted(arguments: argparse.Namespace) -> None:
    """Tiles of 50 to 90 rows and 40 to 70 columns in 400×300, three times as dense."""
    for (density, weight), seed in product(PLANTED, range(arguments.seeds)):
        if density not in arguments.densities:
            continue
        tiles = make_tiles((400, 300), 6, height=(50, 90), width=(40, 70), random_state=seed)
        chances = np.where(tiles.truth.toarray(), 3 * density, density)
        A = np.random.default_rng(seed).random(chances.shape) < chances
        began = time.perf_counter()
        model = ELBMF(6, extra_weight=weight, effort=arguments.effort, random_state=0).fit(A)
        between = time.perf_counter()
        found = significance(A, model, samples=arguments.samples, random_state=seed)
        seconds = time.perf_counter() - between
        likeness = [
            max(
                _jaccard(np.outer(u, v), np.outer(model.membership_[:, l], model.components_[l]))
                for l in range(6)
            )
            for u, v in zip(tiles.U.T, tiles.V, strict=True)
        ]
        print(
            f"density {density} weight {weight} seed {seed}: {found.significant().sum()} of 6 "
            f"significant, bits {np.round(found.excess.bits).astype(int).tolist()}, random ones at "
            f"most {found.best_of_samples.max():.0f}; tiles {np.round(likeness, 2).tolist()}; "
            f"fit {between - began:.1f} s, test {seconds:.1f} s",
            flush=True,
        )


def _jaccard(first: np.ndarray, second: np.ndarray) -> float:
    return float((first & second).sum() / max((first | second).sum(), 1))


PARTS = {"uniform": uniform, "mixing": mixing, "noise": noise, "planted": planted}


def main() -> None:
    parser = parts_parser(__doc__, PARTS)
    parser.add_argument("--sets", nargs="*", default=["tcga7", "newsgroups20"])
    parser.add_argument("--weights", nargs="*", type=float, default=[1.0, 0.25])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--samples", type=int, default=38)
    parser.add_argument("-k", type=int, default=7)
    parser.add_argument("--densities", nargs="*", type=float, default=[0.3, 0.25, 0.2, 0.1])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--effort", type=float, default=0.0)
    warnings.simplefilter("ignore", DoubtfulComponentWarning)
    run_parts(parser, PARTS)


if __name__ == "__main__":
    main()
