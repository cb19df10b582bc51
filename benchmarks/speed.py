"""Time per epoch: this engine, the dense algorithm in torch, scipy's two products, threads.

All times are the best of several, taken in turns within one run.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from common import best_of, data_argument, geometric_mean, load, machine
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines import MemoryEngine
from elbmf.relaxation.half_step import Iterate
from elbmf.relaxation.palm import State, ipalm
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.schedules import Annealed
from elbmf.relaxation.slabs import SlabbedMatrix, cut
from elbmf.relaxation.starts import uniform_start

SETS = {
    "tcga_luad_coadread": 33,
    "newsgroups20": 20,
    "ppi_biogrid": 50,
    "dorothea_grn": 30,
    "genomes1k_peddy": 28,
}
SPARSE = list(SETS)[:4]


def epochs(engine: MemoryEngine, matrix: SlabbedMatrix, k: int) -> Iterator[State]:
    generator = np.random.default_rng(0)
    U, Vt = map(Iterate, uniform_start(matrix.shape, k, generator, np.float32))
    return ipalm(engine, U, Vt, schedule=Annealed(500, beta=0.0, balance=False), regularizer=ELB())


def products(A: sparse.csr_array, k: int) -> None:
    generator = np.random.default_rng(0)
    U = generator.random((A.shape[0], k), dtype=np.float32)
    V = generator.random((k, A.shape[1]), dtype=np.float32)
    A = A.astype(np.float32)
    At = A.T

    def run() -> None:
        A @ V.T
        At @ U

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--no-torch", action="store_true")
    arguments = parser.parse_args()
    print(machine())
    print("milliseconds per epoch, best of interleaved rounds\n")
    print(
        f"{'set':20} {'k':>3} {'1 thread':>9} {'2 threads':>9} {'gain':>5} "
        f"{'scipy':>8} {'ratio':>6} {'torch':>8} {'ratio':>6}"
    )
    over_scipy: dict[str, float] = {}
    over_torch: dict[str, float] = {}
    for name, k in SETS.items():
        A = load(arguments.data, name)
        matrix = cut(BooleanMatrix.from_array(A))
        run_products = products(A, k)
        dense = None
        if not arguments.no_torch:
            from dense_torch import DenseAuthors

            dense = DenseAuthors(A, k, threads=2)
            dense.epoch()
        best = {1: np.inf, 2: np.inf, "scipy": np.inf, "torch": np.inf}
        for _ in range(arguments.rounds):
            for threads in (1, 2):
                with MemoryEngine(matrix, threads) as engine:
                    run = epochs(engine, matrix, k)
                    for _ in range(3):
                        next(run)
                    best[threads] = min(best[threads], best_of(lambda: next(run), 8))  # noqa: B023
            best["scipy"] = min(best["scipy"], best_of(run_products, 3))
            if dense is not None:
                best["torch"] = min(best["torch"], best_of(dense.epoch, 2))
        over_scipy[name] = best["scipy"] / best[2]
        over_torch[name] = best["torch"] / best[2]
        print(
            f"{name:20} {k:3d} {1e3 * best[1]:9.1f} {1e3 * best[2]:9.1f} "
            f"{best[1] / best[2]:5.2f} {1e3 * best['scipy']:8.1f} {over_scipy[name]:6.1f} "
            f"{1e3 * best['torch']:8.1f} {over_torch[name]:6.1f}",
            flush=True,
        )
    four = ", ".join(SPARSE)
    print(f"\ngeometric means over {four}:")
    print(f"  over scipy's two products: {geometric_mean([over_scipy[s] for s in SPARSE]):.1f}")
    print(f"  over dense torch: {geometric_mean([over_torch[s] for s in SPARSE]):.1f}")


if __name__ == "__main__":
    main()
