"""Short relaxations from random starts, for a population to have members that are far apart.

Each takes some tenths of a second on tables of medium size, and ends Boolean with a far lower loss
than components that are grown one by one from uncovered lines.
"""

from collections.abc import Callable

import numpy as np

from elbmf.boolean.product import Bools
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines import Where, open_engine
from elbmf.relaxation.half_step import Iterate
from elbmf.relaxation.palm import ipalm
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.rounding import project
from elbmf.relaxation.schedules import Annealed
from elbmf.relaxation.starts import uniform_start
from elbmf.search.local import LocalSearch
from elbmf.utils.tuning import TUNING

__all__ = ["epoch_work", "relax"]


def epoch_work(A: BooleanMatrix, k: int) -> float:
    """Estimate what an epoch takes, about in nanoseconds."""
    ones = min(A.ones, A.cells / 8)
    return TUNING.epoch + k * (TUNING.epoch_per_one * ones + TUNING.epoch_per_line * sum(A.shape))


def relax(
    local: LocalSearch,  # The data, and what errors cost
    k: int,  # Components
    epochs: int,
    seed: int,  # Of the start
    over: Callable[[], bool],  # Asked after each epoch whether to round what there is
) -> tuple[Bools, Bools]:
    """Relax with the default schedule, in one thread, and round; return U and V."""
    A, schedule = local.A, Annealed().over(epochs)
    start = uniform_start(
        A.shape, k, np.random.default_rng(seed), schedule.dtype, schedule.start_scale
    )
    with open_engine(A, local.weights.relaxed, Where(1)) as engine:
        iterates = map(Iterate, start)
        for state in ipalm(engine, *iterates, schedule=schedule, regularizer=ELB()):
            if state.iteration == epochs or over():
                break
        U, Vt = state.mapped(project)
    return np.ascontiguousarray(U), np.ascontiguousarray(Vt.T)
