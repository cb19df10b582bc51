"""Boolean local search after rounding: factors that no switch of a single bit improves.

The relaxation finds the right neighbourhood, and rounding it loses some of that. Given V, the rows
of U are independent of each other, and so are the columns of V given U: each is improved on packed
words until no switch of one of its bits helps, and the two sides take turns. The loss never rises.
"""

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean import pack
from elbmf.kernels.bits import improve_rows
from elbmf.matrix import BooleanMatrix, Pattern
from elbmf.threads import over_ranges

__all__ = ["refine"]

Bools = NDArray[np.bool_]

# Turns after which even a slow descent is called finished.
_MOST_TURNS = 200

# Where a turn takes a second or more (this many cells times components), the last few cells, a
# share of the ones, are not worth another.
_LARGE = 10**10
_NEGLIGIBLE = 2e-5


def refine(A: BooleanMatrix, U: Bools, V: Bools, n_jobs: int | None = None) -> tuple[Bools, Bools]:
    """Improve Boolean factors until no switch of a single bit lowers the loss.

    On very large data, until two turns in a row each gain less than one in 50 000 of the ones.

    Parameters
    ----------
    A : BooleanMatrix
        The data.
    U : ndarray of bool, of shape (n, k)
    V : ndarray of bool, of shape (k, m)
        Factors to start from; left as they are.
    n_jobs : int, optional
        Threads. All cores by default; the result does not depend on it.

    Returns
    -------
    U, V : ndarray of bool
        Factors with at most the loss of those given. A row of U is what
        `elbmf.boolean.describe` gives for it, unless something better was found.
    """
    U, Vt = U.copy(), V.T.copy()
    large = A.cells * U.shape[1] > _LARGE
    negligible = int(_NEGLIGIBLE * A.ones) if large else 0
    quiet = 0
    for turn in range(_MOST_TURNS):
        if turn % 2 == 0:
            # Among equals the membership that a new row would get: fit and transform agree.
            changed, gained = _improve((A.indptr, A.indices), U, Vt, True, n_jobs)
        else:
            changed, gained = _improve(A.lines(1), Vt, U, False, n_jobs)
        quiet = quiet + 1 if not changed or gained < negligible else 0
        if quiet == 2:
            break
    return U, np.ascontiguousarray(Vt.T)


def _improve(
    pattern: Pattern,
    memberships: Bools,
    fixed: Bools,
    prefer_described: bool,
    n_jobs: int | None,
) -> tuple[int, int]:
    """Improve one side given the other; return how many bits changed, and the gain in loss."""
    indptr, indices = pattern
    columns, stretches = pack(fixed), pack(fixed.T)
    results = over_ranges(
        lambda low, high: improve_rows(
            indptr, indices, low, high, columns, stretches, memberships, prefer_described
        ),
        memberships.shape[0],
        n_jobs,
    )
    changed, gained = np.sum(results, axis=0)
    return int(changed), int(gained)
