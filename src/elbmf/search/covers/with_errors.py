"""Fewer components than a cover has, with some wrong cells."""

from collections.abc import Callable

import numpy as np

from elbmf.boolean.coverage import cover
from elbmf.boolean.packed import PackedFactors
from elbmf.boolean.product import Bools
from elbmf.search.evolution import Search
from elbmf.search.local import LocalSearch
from elbmf.utils.tuning import TUNING

__all__ = ["drop_components"]


def drop_components(
    local: LocalSearch,  # The data, what errors cost, and the alarm that ends it
    U: Bools,
    V: Bools,  # A cover
    max_loss: int,  # Wrong cells that are allowed
    at_least: int,  # Components that are needed
    generator: np.random.Generator,
    most_work: float,  # About in nanoseconds
    # Told of the number of components and of the share of the work that is done; ends it if true
    tell: Callable[[int, float], bool],
) -> tuple[Bools, Bools, bool]:
    """Do with fewer components, as long as there are no more wrong cells than allowed.

    The number is halved first, between one that is enough and one that was not. Then one is
    dropped at a time, with a search that takes twice as long each time that fails. Ctrl-C ends it
    with the best so far; returns whether it did, too.
    """
    best, spent = local.pack(U, V), 0.0
    low, high = at_least, best.n_slots
    share = TUNING.share_of_drop * most_work if most_work < np.inf else TUNING.first_covering
    halving, interrupted = True, False
    while at_least < high and spent < most_work and not local.alarm.rung:
        rank = (low + high) // 2 if halving else high - 1
        try:
            if tell(high, min(1.0, spent / most_work)):
                break
            found, work = _at_rank(local, best, rank, max_loss, generator, share)
        except KeyboardInterrupt:
            interrupted = True
            break
        # However soon it has ended, there are only so many tries.
        spent += max(work, share)
        if cover(local.A, *found.to_arrays(), local.n_jobs).loss <= max_loss:
            best, high = found, int(found.used().sum())
        elif halving:
            low = rank + 1
        else:
            share *= 2
        halving = halving and low < high
    U, V = best.to_arrays()
    return U[:, best.used()], V[best.used()], interrupted


def _at_rank(
    local: LocalSearch,
    start: PackedFactors,
    rank: int,
    max_loss: int,
    generator: np.random.Generator,
    most_work: float,
) -> tuple[PackedFactors, int]:
    """Reduce factors to a rank, and search on until they cost little enough."""
    n, m = local.A.shape
    if rank == 0:
        return local.pack(np.zeros((n, 0), np.bool_), np.zeros((0, m), np.bool_)), 1
    # An error costs at least 1.
    with Search(local, rank, generator, most_work, lambda cost, _: cost <= max_loss) as search:
        found = search.improve([search.reduce(start)])
        return found, search.work
