"""What of an epoch is still moving, to see whether leaving out what is not would pay.

For several stages of a fit, the share of the ones that lie in lines of the streamed side whose row
of the factor is zero (these need not be pushed) or has not changed in the last epoch (a bound on
what epochs over an active set could leave out). Beside it, what a sparse start would save: the
share of zero rows right after the first epoch, which is when a start is forgotten.
"""

import argparse
from itertools import islice

import numpy as np

from common import data_argument, load, machine
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines import open_engine
from elbmf.relaxation.half_step import Iterate
from elbmf.relaxation.palm import ipalm
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.schedules import Annealed
from elbmf.relaxation.starts import uniform_start

SETS = {"newsgroups20": 20, "ppi_biogrid": 50, "retail": 20, "dorothea_grn": 30}
STAGES = (1, 2, 5, 10, 20, 40, 60, 70, 80, 90, 99)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    data_argument(parser)
    parser.add_argument("--epochs", type=int, default=250)
    arguments = parser.parse_args()
    print(machine())
    print("share of ones in lines that are zero / have not changed, after a share of the epochs")
    print(f"{'':14}" + "".join(f"{stage:>10} %" for stage in STAGES) + "   mean")
    for name, k in SETS.items():
        A = BooleanMatrix.from_array(load(arguments.data, name))
        start = uniform_start(A.shape, k, np.random.default_rng(0), np.float32, 1e-3)
        shares = []
        with open_engine(A) as engine:
            side = engine.matrix.streamed_axis
            ones = np.diff(A.lines(side)[0]) / A.ones
            options = {"schedule": Annealed(arguments.epochs), "regularizer": ELB()}
            epochs = ipalm(engine, *map(Iterate, start), **options)
            for state in islice(epochs, arguments.epochs):
                lines = engine.iterate
                now, before = lines.current[:], lines.previous[:]
                still = (now == before).all(axis=1)
                shares.append((ones[~now.any(axis=1)].sum(), ones[still].sum()))
                if state.gap == 0:
                    shares += [shares[-1]] * (arguments.epochs - state.iteration)
                    break
        at = [max(1, stage * arguments.epochs // 100) - 1 for stage in STAGES]
        cells = [f"{shares[t][0]:.2f} / {shares[t][1]:.2f}" for t in at]
        mean = np.mean(shares, axis=0)
        cells.append(f"{mean[0]:.2f} / {mean[1]:.2f}")
        print(f"{name:14}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
