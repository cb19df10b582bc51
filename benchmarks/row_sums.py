"""Row sums in vector registers against the plain loop, on the two products of an epoch.

``pull`` sums the rows of a factor that each line of a 0/1 matrix names, ``push`` adds lines to
them. The plain loop is compiled by the same compiler with the same options.
"""

import argparse

import numpy as np
from numba import njit

from common import best_of, machine
from elbmf.kernels.patterns import PADDING
from elbmf.relaxation.kernels.products import pull_indices, push_indices


@njit(nogil=True)
def plain_pull(resident, indices, indptr, low, high, out, prefetch):
    for line in range(low, high):
        for c in range(resident.shape[1]):
            out[line - low, c] = 0
        for e in range(indptr[line], indptr[line + 1]):
            for c in range(resident.shape[1]):
                out[line - low, c] += resident[indices[e], c]


@njit(nogil=True)
def plain_push(target, indices, indptr, low, high, lines, prefetch):
    for line in range(low, high):
        for e in range(indptr[line], indptr[line + 1]):
            for c in range(target.shape[1]):
                target[indices[e], c] += lines[line - low, c]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--resident", type=int, default=2000)
    parser.add_argument("--ones", type=int, default=50, help="of each line")
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    print(machine())
    generator = np.random.default_rng(0)
    total = arguments.lines * arguments.ones
    indices = generator.integers(arguments.resident, size=total + PADDING).astype(np.uint16)
    indptr = np.arange(0, total + 1, arguments.ones)
    print(f"{'columns':>7} {'type':>8} {'pull':>6} {'push':>6}  times as fast as the plain loop")
    for dtype in (np.float32, np.float64):
        for width in (8, 24, 40, 64, 128):
            resident = generator.random((arguments.resident, width)).astype(dtype)
            lines = np.zeros((arguments.lines, width), dtype=dtype)
            ratios = []
            for ours, plain in ((pull_indices, plain_pull), (push_indices, plain_push)):
                given = (resident, indices, indptr, 0, arguments.lines, lines, False)
                times = []
                for function in (ours, plain):
                    function(*given)
                    times.append(best_of(lambda f=function, g=given: f(*g), arguments.repeats))
                ratios.append(times[1] / times[0])
            print(f"{width:7} {np.dtype(dtype).name:>8} {ratios[0]:6.2f} {ratios[1]:6.2f}")


if __name__ == "__main__":
    main()
