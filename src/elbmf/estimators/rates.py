"""``extra_weight="auto"``: what a covered zero costs follows from how often cells are wrong.

Under two noise rates, p₁ that a covered cell is a one and p₀ that another is, the likelihood weighs
the two kinds of error by log((1 − p₀)/(1 − p₁)) : log(p₁/p₀) (see `NoiseRates`). The rates depend
on the factors and the factors on the weight, so they take turns, from weight 1 and from smaller
ones on, until neither changes: the likelihood rises with each turn, and the shortest description
wins. Turns are descents from the factors of the last one, which take about as long as a few epochs;
a whole fit comes once, at the weight they lead to.
"""

import copy
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elbmf.boolean.coverage import Weights, cover
from elbmf.boolean.fitted import FittedFactors
from elbmf.boolean.noise_rates import NoiseRates
from elbmf.boolean.product import Bools
from elbmf.errors import InputError, Setting
from elbmf.estimators.constrained import CONSTRAINTS
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import description_length, savings
from elbmf.search.local import LocalSearch
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING

if TYPE_CHECKING:
    from elbmf.estimators.elbmf import ELBMF

__all__ = ["AUTO", "estimate_weight", "fit_with_rates", "follow_rates"]

AUTO = "auto"
"""The value of ``extra_weight`` that asks for this."""


def follow_rates(
    A: BooleanMatrix,
    U: Bools,
    V: Bools,
    weight: float,  # What a covered zero costs where the factors come from
    n_jobs: int | None = None,
    alarm: Alarm | None = None,
) -> tuple[Bools, Bools, float]:
    """Let factors and noise rates take turns until the weight settles; return all three."""
    for _ in range(TUNING.most_turns_of_rates):
        rated = NoiseRates.of(cover(A, U, V, n_jobs)).extra_weight
        if _settled(weight, rated) or (alarm is not None and alarm.rung):
            break
        weight = rated
        local = LocalSearch(A, Weights.of(weight, A.shape), n_jobs, alarm)
        factors = local.pack(U, V)
        local.descend(factors)
        U, V = factors.to_arrays()
    return U, V, weight


def _settled(weight: float, rated: float) -> bool:
    return abs(math.log(rated / weight)) <= TUNING.settled_weight


def estimate_weight(model: "ELBMF", A: BooleanMatrix, ranks: Sequence[int]) -> float:
    """Return the weight that short fits with some numbers of components lead to.

    It is that of the shortest description. It depends on the data, not on the seed: fits with
    different seeds have one objective, and one that was interrupted goes on with the same.
    """
    # Where a covered zero is dear and ones are thin, only chance is pure enough to be covered,
    # which makes zeros dearer still. So there are several places to begin from.
    starts = [(rank, weight) for rank in ranks for weight in TUNING.first_weights]
    limit = None
    if model.time_limit is not None:
        limit = TUNING.rates_in_time * model.time_limit / len(starts)
    short = copy.copy(model).set_params(
        **dict.fromkeys(CONSTRAINTS),
        n_init=1,
        max_iter=min(model.max_iter, TUNING.epochs_for_rates),
        effort=0,
        time_limit=limit,
        checkpoint=None,
    )

    def followed(rank: int, weight: float) -> tuple[float, float]:
        short.set_params(n_components=rank, extra_weight=weight)
        fitted = short._found(A, np.random.default_rng(0))
        U, V, weight = follow_rates(A, fitted.U, fitted.V, weight, model._threads)
        if len(ranks) > 1:
            # The number is still to be chosen, and will not be one with chance in it.
            order, saved = savings(A, U, V, model._threads, two_rates=True)
            pays = order[saved > 0]
            U, V, weight = follow_rates(A, U[:, pays], V[pays], weight, model._threads)
        return description_length(A, U, V, two_rates=True), weight

    return min(followed(*start) for start in starts)[1]


def fit_with_rates(
    model: "ELBMF", A: BooleanMatrix, generator: np.random.Generator
) -> FittedFactors:
    """Fit at the weight that short fits lead to.

    What is left to settle after that, `follow_rates` does. Where factors may not change any more,
    because of constraints or earlier components or without refinement, the whole fit is repeated.
    """
    if not A.in_one_place:
        raise InputError(
            Setting("extra_weight", AUTO), " is not for data on a cluster. Fit a sample of the "
            "rows in one place, and set the weight that extra_weight_ tells then."
        )  # fmt: skip
    model.extra_weight_ = estimate_weight(model, A, [model._rank])
    fixed = model._is_constrained or model.previous is not None or not model.refine
    for _ in range(TUNING.most_fits_for_rates if fixed else 1):
        fitted = model._factorize(A, generator)
        rated = NoiseRates.of(cover(A, fitted.U, fitted.V, model._threads)).extra_weight
        if not fixed or fitted.was_stopped or _settled(model.extra_weight_, rated):
            break
        model.extra_weight_ = rated
    return fitted
