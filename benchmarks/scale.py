"""A matrix of the shape of Netflix, and one a tenth as wide: time per one and epoch, memory."""

import argparse
import resource
import time

import numpy as np
from scipy import sparse

from common import machine
from elbmf import ELBMF
from elbmf.boolean.metrics import measures

SHAPE, DENSITY, K = (17770, 480189), 0.00667, 20


def generate(shape: tuple[int, int], density: float, seed: int) -> sparse.csr_array:
    """Planted groups of rows and columns, and noise, made row by row in little memory."""
    generator = np.random.default_rng(seed)
    n, m = shape
    groups = 20
    of_row = generator.integers(0, groups, n)
    order = np.argsort(generator.random(m)).astype(np.int32)
    own_columns = np.split(order[: groups * (m // 100)], groups)
    indptr = np.zeros(n + 1, dtype=np.int64)
    indices = np.empty(int(1.05 * density * n * m), dtype=np.int32)
    for i in range(n):
        # Three quarters of the ones in the hundredth of the columns that is its group's own.
        own = own_columns[of_row[i]]
        inside = own[generator.random(own.size) < 0.75 * density * m / own.size]
        anywhere = generator.integers(0, m, generator.poisson(0.25 * density * m), dtype=np.int32)
        row = np.unique(np.concatenate([inside, anywhere]))
        indptr[i + 1] = indptr[i] + row.size
        indices[indptr[i] : indptr[i + 1]] = row
    ones = np.ones(int(indptr[-1]), dtype=np.bool_)
    return sparse.csr_array((ones, indices[: indptr[-1]], indptr), shape=shape)


def peak_gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=100)
    arguments = parser.parse_args()
    print(machine())
    per_one = {}
    for label, columns in (("a tenth as wide", SHAPE[1] // 10), ("whole", SHAPE[1])):
        A = generate((SHAPE[0], columns), DENSITY, seed=0)
        began = time.perf_counter()
        model = ELBMF(K, max_iter=arguments.epochs, random_state=0)
        U = model.fit_transform(A)
        total = time.perf_counter() - began
        epoch = model.history_["seconds"][-1] / model.n_iter_
        per_one[label] = epoch / A.nnz
        began = time.perf_counter()
        figures = measures(A, U, model.components_)
        measuring = time.perf_counter() - began
        print(
            f"{label}: {A.shape[0]}×{A.shape[1]}, {A.nnz} ones, {model.n_iter_} epochs in "
            f"{total:.1f} s ({1e3 * epoch:.0f} ms each, {1e9 * per_one[label]:.2f} ns per one); "
            f"gap {model.history_['gap'][-1]:.1e}; measures in {1e3 * measuring:.0f} ms = "
            f"{measuring / epoch:.2f} epochs: relative loss {figures['relative_loss']:.3f}, "
            f"recall {figures['recall']:.3f}; peak {peak_gigabytes():.2f} GB so far",
            flush=True,
        )
    ratio = per_one["whole"] / per_one["a tenth as wide"]
    print(f"time per one and epoch, whole over tenth: {ratio:.2f}")


if __name__ == "__main__":
    main()
