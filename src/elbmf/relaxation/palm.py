"""Inertial proximal alternating linearised minimisation (iPALM): the loop of Alg. 2 (App. B).

`ipalm` is an endless generator of states, one per epoch; when to stop, what to record and what to
show is decided by whoever iterates.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from elbmf.relaxation.engines import Engine, Product
from elbmf.relaxation.half_step import (
    Factor,
    HalfStep,
    Iterate,
    Strength,
    Summary,
    balancing_scale,
    lipschitz,
    step_size,
)
from elbmf.relaxation.regularizers import Regularizer
from elbmf.relaxation.schedules import Schedule
from elbmf.utils.progress import FitProgress

__all__ = ["State", "ipalm"]

Floats = NDArray[np.floating[Any]]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class State(FitProgress):
    """The iterates after an epoch, and what is known of them without another look at the data.

    The ``iteration`` is t, the ``loss`` ‖A − UV‖², each cell with its weight: none for missing
    ones, and 1 for zeros.

    Parameters
    ----------
    engine : Engine
        Has the streamed factor, as it is until the next epoch.
    resident : Factor
        The other factor, which the next epoch overwrites.
    gap : float
        Boolean gap (Sec. 4.1).
    flips : int
        Entries of U and V whose rounding changed in this epoch.
    lam : float
        λ_t as it was applied to V.
    strength : Strength
        κ/L and λ_t/L as they were applied to V.
    """

    engine: Engine = field(repr=False)
    resident: Factor = field(repr=False)
    gap: float
    flips: int
    lam: float
    strength: Strength

    @property
    def U(self) -> Floats:
        """Left factor, of shape (n, k); a view, unless it had to be fetched from elsewhere."""
        return self.mapped(_as_it_is)[0]

    @property
    def Vt(self) -> Floats:
        """Right factor, transposed, of shape (m, k); likewise."""
        return self.mapped(_as_it_is)[1]

    def mapped(
        self, function: Callable[[Floats], NDArray[Any]]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Apply a function of rows to U and to Vᵀ, each where it lies, and return what it makes."""
        return self._in_order(function(self.resident.values), self.engine.collect(function))

    @property
    def iterates(self) -> tuple[Iterate, Iterate]:
        """The two last iterates of U and of Vᵀ, from which `ipalm` can go on."""
        return self._in_order(self.resident.iterate, self.engine.iterate)

    def _in_order(self, of_resident: T, of_streamed: T) -> tuple[T, T]:
        columns_streamed = self.engine.matrix.streamed_axis == 1
        return (of_resident, of_streamed) if columns_streamed else (of_streamed, of_resident)


def _as_it_is(rows: Floats) -> Floats:
    return rows


def ipalm(
    engine: Engine,
    U: Iterate,
    Vt: Iterate,
    *,
    schedule: Schedule,
    regularizer: Regularizer,
    epoch: int = 0,
    seconds: float = 0.0,
) -> Iterator[State]:
    """Iterate Alg. 2: in every epoch U first, then V, with one pass over the data.

    The pass updates the streamed factor. When that is V, the resident U was updated before it,
    from the sums of the last pass; when it is U, the resident V is updated after it.

    Parameters
    ----------
    engine : Engine
        Holds the data and runs the passes.
    U : Iterate
        U₀, of n rows.
    Vt : Iterate
        V₀, transposed, of m rows.
    schedule : Schedule
        Strength of the regularisation, and what goes with it: inertia, step sizes, balancing and
        the number type.
    regularizer : Regularizer
        Gives the proximal operator.
    epoch : int
        Of U and Vt: 0 at the start, more where another iteration had come to.
    seconds : float
        What it took until there.

    Yields
    ------
    State
    """
    matrix = engine.matrix
    columns_streamed = matrix.streamed_axis == 1
    beta, dtype = schedule.beta, np.dtype(schedule.dtype)
    inertia = beta > 0
    at_home, elsewhere = (U, Vt) if columns_streamed else (Vt, U)
    resident = engine.home(at_home, dtype, inertia)
    engine.load(resident, elsewhere)
    del U, Vt, at_home, elsewhere  # large, and not needed any more

    def half_step(
        fixed: Summary, scale: NDArray[np.float64] | None = None
    ) -> tuple[HalfStep, float]:
        # The Hessian of a line is a sum of weights times outer products, at most the Gram matrix
        # times the largest weight.
        constant = matrix.heaviest * lipschitz(fixed.gram, schedule.step)
        strength = schedule.strength(epoch, constant)
        rule = HalfStep(
            gram=fixed.gram.astype(dtype),
            step=step_size(constant, beta, schedule.step),
            strength=strength,
            regularizer=regularizer,
            beta=beta,
            scale=None if scale is None else scale.astype(dtype),
        )
        return rule, constant

    def sweep(rule: HalfStep | None) -> tuple[Product, Summary]:
        ahead = resident.ahead(beta) if inertia and matrix.reweighed else None
        return engine.sweep(resident.current, rule, ahead)

    began = time.perf_counter() - seconds
    of_resident = engine.advance(resident, None, None)
    product, of_streamed = sweep(None)
    while True:
        epoch += 1
        inverse = None
        if schedule.balance:
            scale = balancing_scale(of_resident, of_streamed)
            inverse = 1 / scale
            resident.rescale(scale.astype(dtype))
            of_resident = of_resident.scaled(scale)
            # The streamed factor is rescaled when its lines pass by; all else knows it already.
            of_streamed = of_streamed.scaled(inverse)
            # Residuals of reweighed cells in it stay the same, for the factors' product does.
            product.rescale(inverse.astype(dtype))
        if columns_streamed:
            rule, _ = half_step(of_streamed)
            of_resident = engine.advance(resident, rule, product)
            rule, right_lipschitz = half_step(of_resident, inverse)
            product, of_streamed = sweep(rule)
        else:
            rule, _ = half_step(of_resident, inverse)
            product, of_streamed = sweep(rule)
            rule, right_lipschitz = half_step(of_streamed)
            of_resident = engine.advance(resident, rule, product)
        # ‖A − UV‖² = ‖A‖² − 2⟨A, UV⟩ + ⟨UᵀU, VVᵀ⟩, each term from what the epoch left behind.
        overlap = product.overlap(resident.current)
        loss = matrix.ones - 2 * overlap + float(np.vdot(of_streamed.gram, of_resident.gram))
        # Reweighed cells need another look, now that both factors are new.
        loss += engine.excess_loss(resident.current)
        k = resident.n_components
        yield State(
            iteration=epoch,
            engine=engine,
            resident=resident,
            loss=max(loss, 0.0),
            gap=of_resident.tally.gap / (k * matrix.n_resident)
            + of_streamed.tally.gap / (k * matrix.n_streamed),
            flips=of_resident.tally.flips + of_streamed.tally.flips,
            lam=rule.strength.lam * right_lipschitz,
            strength=rule.strength,
            seconds=time.perf_counter() - began,
        )
