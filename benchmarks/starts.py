"""Where the relaxation should start from: variants of U₀ and V₀, refined, without a search."""

import argparse
import warnings

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds
from sklearn.exceptions import ConvergenceWarning

from common import data_argument, load, machine
from elbmf import ELBMF

SETS = ("mushroom", "chess", "firewall1", "americas_small", "customer", "dna", "cora_words")
Pair = tuple[np.ndarray, np.ndarray]


def uniform(A: sparse.csr_array, k: int, generator: np.random.Generator) -> Pair:
    """Dense uniform noise, scaled down: the default."""
    return generator.random((A.shape[0], k)), generator.random((k, A.shape[1]))


def sparse_noise(A: sparse.csr_array, k: int, generator: np.random.Generator) -> Pair:
    """Uniform noise in as many entries as the data has."""
    share = np.sqrt(A.nnz / (A.shape[0] * A.shape[1]))
    U, V = uniform(A, k, generator)
    return U * (generator.random(U.shape) < share), V * (generator.random(V.shape) < share)


def rows(A: sparse.csr_array, k: int, generator: np.random.Generator) -> Pair:
    """Rows of the data, each far in Hamming distance from those before (as in k-means++)."""
    ones = np.diff(A.indptr).astype(float)
    distance = ones.copy()
    chosen = []
    for _ in range(k):
        total = distance.sum()
        row = generator.choice(A.shape[0], p=distance / total if total else None)
        chosen.append(int(row))
        common = (A @ A[[row]].T).toarray().ravel()
        distance = np.minimum(distance, ones + ones[row] - 2 * common)
    return generator.random((A.shape[0], k)), A[chosen].toarray() + 0.1 * generator.random(
        (k, A.shape[1])
    )


def svd(A: sparse.csr_array, k: int, generator: np.random.Generator) -> Pair:
    """Positive parts of the leading singular vectors, with a little noise."""
    left, values, right = svds(A.astype(float), k=k, random_state=0)
    U, V = left * np.sqrt(values), np.sqrt(values)[:, None] * right
    sign = np.where(np.maximum(U, 0).sum(axis=0) < np.maximum(-U, 0).sum(axis=0), -1, 1)
    U, V = np.maximum(U * sign, 0), np.maximum(V * sign[:, None], 0)
    return U + 0.1 * generator.random(U.shape), V + 0.1 * generator.random(V.shape)


STARTS = {start.__name__: start for start in (uniform, sparse_noise, rows, svd)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(machine() + "\n")
    print("| mean relative loss | " + " | ".join(SETS) + " |")
    print("|---" * (len(SETS) + 1) + "|")
    for label, start in STARTS.items():
        figures = []
        for name in SETS:
            A = load(arguments.data, name).astype(np.int64)
            losses = []
            for seed in range(arguments.seeds):
                U, V = start(A, 20, np.random.default_rng(seed))
                model = ELBMF(20, init=(1e-3 * U, 1e-3 * V), effort=0, random_state=seed)
                losses.append(model.fit(A).reconstruction_err_ / A.nnz)
            figures.append(np.mean(losses))
        print(
            f"| {label} | " + " | ".join(f"{figure:.4f}" for figure in figures) + " |", flush=True
        )


if __name__ == "__main__":
    main()
