"""Two noise rates: what extra_weight="auto" finds on planted tiles and on expressions of genes.

python benchmarks/rates.py --data FOLDER [--seeds 3] [--only planted|real]
"""

import argparse
import gzip
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score as nmi

from elbmf import ELBMF
from elbmf.datasets import make_tiles
from elbmf.ranks.criteria import description_length

RATES = ((0.9, 0.05), (0.5, 0.05), (0.3, 0.02))
# Name, column of the labels in its table of rows, components
LABELLED = (("tcga7", 1, (7, 14)), ("tcga_luad_coadread", 1, (4,)))


def planted(seeds: int) -> None:
    """Tiles of 40 to 80 rows and 30 to 60 columns in 400×300."""
    print("p1 p0 seed | weight p1 found p0 found | planted cells found, of those found planted | s")
    for p1, p0 in RATES:
        for seed in range(seeds):
            tiles = make_tiles((400, 300), 6, height=(40, 80), width=(30, 60), random_state=seed)
            truth = tiles.A.toarray().astype(bool)
            drawn = np.random.default_rng(seed).random(truth.shape)
            A = drawn < np.where(truth, p1, p0)
            began = time.perf_counter()
            model = ELBMF(6, extra_weight="auto", random_state=0).fit(A)
            seconds = time.perf_counter() - began
            found = model.inverse_transform(model.membership_).toarray()
            rates, both = model.noise_rates_, (found & truth).sum()
            print(
                p1, p0, seed, f"| {model.extra_weight_:.3f}",
                f"{1 - rates.false_negative:.3f} {rates.false_positive:.3f} |",
                f"{both / truth.sum():.3f} {both / max(found.sum(), 1):.3f} | {seconds:.1f}",
                flush=True,
            )  # fmt: skip


def real(folder: Path, names: list[str]) -> None:
    """Components beside known classes, of the default and of two rates."""
    for name, column, ranks in LABELLED:
        if name not in names or not (folder / f"{name}.npz").is_file():
            continue
        A = sparse.csr_array(sparse.load_npz(folder / f"{name}.npz").astype(bool))
        with gzip.open(folder / f"{name}.rows.tsv.gz", "rt") as lines:
            labels = [line.rstrip("\n").split("\t")[column] for line in lines][-A.shape[0] :]
        classes = np.array(labels)
        print(f"{name}: raw matrix, k-means {clusters(A, classes):.3f}", flush=True)
        print("k weight | p1 p0 loss bits | best component per class, k-means, rows in none | s")
        for k in ranks:
            for weight in (1.0, "auto"):
                began = time.perf_counter()
                model = ELBMF(k, extra_weight=weight, random_state=0).fit(A)
                seconds = time.perf_counter() - began
                U, V, rates = model.membership_, model.components_, model.noise_rates_
                best = [max(nmi(classes == each, u) for u in U.T) for each in np.unique(classes)]
                print(
                    k, f"{weight} {model.extra_weight_:.3f} |",
                    f"{1 - rates.false_negative:.3f} {rates.false_positive:.4f}",
                    f"{model.reconstruction_err_:,}",
                    f"{description_length(A, U, V, two_rates=True):,.0f} |",
                    f"{np.mean(best):.3f} {clusters(model.inverse_transform(U), classes):.3f}",
                    f"{(~U.any(axis=1)).sum()} | {seconds:.0f}",
                    flush=True,
                )  # fmt: skip


def clusters(X: sparse.csr_array, classes: np.ndarray) -> float:
    """NMI of the classes with as many clusters."""
    count = len(np.unique(classes))
    found = KMeans(count, n_init=10, random_state=0).fit_predict(X.astype(np.float32).toarray())
    return nmi(classes, found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", choices=("planted", "real"))
    parser.add_argument("--sets", nargs="*", default=[name for name, *_ in LABELLED])
    given = parser.parse_args()
    if given.only != "real":
        planted(given.seeds)
    if given.only != "planted":
        real(given.data, given.sets)
