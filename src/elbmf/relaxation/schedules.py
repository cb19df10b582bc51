"""How strongly the factors are pulled towards Boolean values in epoch t: λ_t = λ·ν_t (Sec. 2.2).

A schedule gives the two arguments of the proximal operator, κ/L and λ_t/L. `Printed` holds the
paper's coefficients; `Annealed` is the default that needs none.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from elbmf.errors import InputError
from elbmf.relaxation.half_step import Strength

__all__ = ["Annealed", "Printed", "Schedule"]


class Schedule(Protocol):
    """Strength of the regularisation in each epoch."""

    def strength(self, t: int, lipschitz: float) -> Strength:
        """Return κ/L and λ_t/L in epoch ``t``, counted from 1."""


@dataclass(frozen=True)
class Printed:
    """κ, λ and ν_t as the paper prints them.

    Parameters
    ----------
    kappa, lam : float
        The coefficients κ and λ.
    rate : float or callable
        A float c stands for ν_t = c^t; a callable is given t and returns ν_t.
    """

    kappa: float
    lam: float
    rate: float | Callable[[int], float]

    def nu(self, t: int) -> float:
        """Return ν_t, infinite once it no longer fits a float."""
        if not callable(self.rate):
            log = t * math.log(self.rate)
            return math.exp(log) if log < 709 else math.inf
        nu = float(self.rate(t))
        if not nu >= 0:
            raise InputError(f"rate must return a number ≥ 0 for every epoch; got {nu} for t={t}.")
        return nu

    def strength(self, t: int, lipschitz: float) -> Strength:  # noqa: D102
        # λ = 0 stays 0 at any rate, also at an infinite one.
        lam = self.lam * self.nu(t) if self.lam else 0.0
        return Strength(self.kappa / lipschitz, lam / lipschitz)


@dataclass(frozen=True)
class Annealed:
    """κ_t/L runs geometrically from next to nothing to ½ over ``epochs`` epochs, at any scale.

    At κ/L = ½ the exact operator rounds everything within ½ of 0 or 1, so the factors end Boolean
    whatever the data. λ_t follows at a tenth of κ_t, and in the last epoch is infinite, which
    rounds whatever a very short run has left. Annealing λ alone, as the paper does, ends Boolean
    only in the limit and keeps fewer components alive on sparse data.

    Parameters
    ----------
    epochs : int
        Epochs until the factors are rounded.
    weakest, strongest : float
        κ_t/L in the first and in the last epoch.
    lam_to_kappa : float
        λ_t/κ_t.
    """

    epochs: int
    weakest: float = 1e-6
    strongest: float = 0.5
    lam_to_kappa: float = 0.1

    def strength(self, t: int, lipschitz: float) -> Strength:  # noqa: D102
        if t >= self.epochs:
            return Strength(self.strongest, math.inf)
        progress = (t - 1) / (self.epochs - 1)
        kappa = self.weakest * (self.strongest / self.weakest) ** progress
        return Strength(kappa, self.lam_to_kappa * kappa)
