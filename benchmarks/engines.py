"""Time per epoch of every engine, relative to the one in memory.

All times are the best of several, taken in turns within one run.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np

from common import data_argument, load, machine
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines import Engine, Where, open_engine
from elbmf.relaxation.half_step import Iterate
from elbmf.relaxation.palm import State, ipalm
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.schedules import Annealed
from elbmf.relaxation.starts import uniform_start

SETS = {"newsgroups20": 20, "genomes1k_peddy": 28}

# What each is asked for, beside threads.
ENGINES = {
    "memory": {},
    "torch": {"device": "cpu"},
    "torch, cuda": {"device": "cuda"},
    "torch, mps": {"device": "mps"},
}


def epochs(engine: Engine, k: int) -> Iterator[State]:
    generator = np.random.default_rng(0)
    U, Vt = map(Iterate, uniform_start(engine.matrix.shape, k, generator, np.float32))
    return ipalm(engine, U, Vt, schedule=Annealed(500, beta=0.0, balance=False), regularizer=ELB())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--sets", nargs="+", default=list(SETS), help="names of matrices")
    parser.add_argument(
        "--engines", nargs="+", choices=ENGINES, default=["memory", "torch"], help="the first is 1"
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2], help="numbers of threads")
    arguments = parser.parse_args()
    print(machine())
    print("milliseconds per epoch, best of interleaved rounds; seconds until the first epoch\n")
    print(
        f"{'set':20} {'k':>3} {'threads':>7} {'engine':12} {'epoch':>8} {'ratio':>6} {'first':>6}"
    )
    for name in arguments.sets:
        A = BooleanMatrix.from_array(load(arguments.data, name))
        k = SETS.get(name, 20)
        for jobs in arguments.jobs:
            first, best, engines = {}, {}, {}
            for label in arguments.engines:
                began = time.perf_counter()
                engines[label] = open_engine(A, where=Where(n_jobs=jobs, **ENGINES[label]))
                run = epochs(engines[label], k)
                next(run)
                first[label] = time.perf_counter() - began
                engines[label], best[label] = (engines[label], run), np.inf
            for _ in range(arguments.rounds):
                for label, (_, run) in engines.items():
                    began = time.perf_counter()
                    next(run)
                    best[label] = min(best[label], time.perf_counter() - began)
            for label, (engine, _) in engines.items():
                engine.close()
                ratio = best[label] / best[arguments.engines[0]]
                print(
                    f"{name:20} {k:3d} {jobs:7d} {label:12} {1e3 * best[label]:8.1f} {ratio:6.2f} "
                    f"{first[label]:6.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
