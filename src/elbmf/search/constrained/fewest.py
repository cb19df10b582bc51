"""The fewest components that keep to constraints and leave few errors."""

from collections.abc import Callable

import numpy as np

from elbmf.boolean.coverage import component_cover
from elbmf.boolean.product import Bools
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.constrained.search import ConstrainedSearch
from elbmf.utils.tuning import TUNING

__all__ = ["cover_within", "fewer_within"]


def cover_within(
    A: BooleanMatrix,
    search: ConstrainedSearch,
    U: Bools,
    V: Bools,  # Components to begin with, those first that are fixed
    n_fixed: int,
    max_loss: int,  # Wrong cells that are allowed
    enough: Callable[
        [Bools, Bools], bool
    ],  # Tells whether there are no more, and none that must be
    seed: int,
) -> tuple[Bools, Bools] | None:
    """Make a cover that keeps to constraints, with as many components as that takes.

    Returns None if none is found.
    """
    k = max(1, V.shape[0])
    while True:
        # However long that takes: without it, there is nothing to go on from.
        given = (seed, np.inf, max_loss)
        U, V = search.improve(U, V, k, *given, searched=False, exchanging=False)
        if enough(U, V):
            return _used(U, V, n_fixed)
        if not V[-1].any() or k >= A.cells:
            # More components would not help.
            return None
        k *= 2


def fewer_within(
    A: BooleanMatrix,
    search: ConstrainedSearch,
    U: Bools,
    V: Bools,  # A cover that keeps to constraints, those components first that are fixed
    n_fixed: int,
    max_loss: int,
    enough: Callable[[Bools, Bools], bool],
    at_least: int,  # Components that are needed
    generator: np.random.Generator,
    most_work: float,  # About in nanoseconds
    # Told of the number of components and of the share of the work that is done; ends it if true
    tell: Callable[[int, float], bool],
    over: Callable[[], bool],
) -> tuple[Bools, Bools, bool]:
    """Do with fewer components, one less at a time, with more work each time that fails.

    Ctrl-C ends it with the best so far; returns whether it did, too.
    """
    share, spent = TUNING.first_covering, 0.0
    while max(at_least, n_fixed) < V.shape[0] and spent < most_work and not over():
        try:
            if tell(V.shape[0], min(1.0, spent / most_work)):
                break
            alone = component_cover(A, U, V).alone
            alone[:n_fixed] = A.ones + 1
            kept = np.delete(np.arange(V.shape[0]), int(alone.argmin()))
            seed, rank = int(generator.integers(1 << 62)), V.shape[0] - 1
            given = (rank, seed, share, max_loss)
            found = search.improve(U[:, kept], V[kept], *given, searched=False)
        except KeyboardInterrupt:
            return U, V, True
        spent += share
        if enough(*found):
            U, V = _used(*found, n_fixed)
        else:
            share *= 2
    return U, V, False


def _used(U: Bools, V: Bools, n_fixed: int) -> tuple[Bools, Bools]:
    """Leave out empty components, unless they are fixed."""
    used = np.logical_and(U.any(axis=0), V.any(axis=1))
    used[:n_fixed] = True
    return np.ascontiguousarray(U[:, used]), V[used]
