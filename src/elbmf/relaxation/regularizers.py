"""Regularisers that pull a factor towards Boolean values: value and proximal operator of each.

ELB is the paper's own (Eq. regularizer, Eq. elprox, App. A); Primp and Bowl are the two it is
compared with (Fig. 1); the elastic net is what ELB is made of. To add one, write a class with its
value and its proximal operator in formulas of whole arrays, and add it to `REGULARIZERS`. A loop in
`elbmf.relaxation.kernels.prox`, which the class then names, makes it fast.

In the operators λ is the λ′ = 2λ of App. A, as in Eq. elprox: ``prox(x, κ, λ)`` minimises
½(x − y)² + κ|y| + (λ/2)y² on the branch around zero, while ``value`` is Eq. regularizer as
printed, with κ|x| + λx².
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbmf.errors import InputError
from elbmf.relaxation.kernels import prox as kernels

__all__ = ["ELB", "REGULARIZERS", "Bowl", "ElasticNet", "Primp", "ProxVariant", "Regularizer"]

ProxVariant = Literal["exact", "paper", "alternative"]

# How near to its pole at λ = 1 the alternative operator is used.
_AROUND_POLE = 1e-3

# More than Newton's method ever needs.
_NEWTON_STEPS = 100


class Regularizer(ABC):
    """A penalty on each entry of a factor; all that the optimiser knows of it is here."""

    @abstractmethod
    def value(self, x: ArrayLike, kappa: float, lam: float) -> float:
        """Sum the penalty over all entries of ``x``."""

    @property
    def operator(self) -> int | None:
        """Which loop of `elbmf.relaxation.kernels.prox` applies it; None if there is none."""
        return None

    @abstractmethod
    def formula(self, xp: Any, x: Any, kappa: float, lam: float) -> Any:
        """Apply the operator to a whole array, where no loop of ours runs.

        The result must not be negative.

        Parameters
        ----------
        xp : module
            numpy, torch, or any other with the same names for what is used of them.
        x : array of that module
            Kept as it is; the result has its number type.
        kappa, lam : float
            As `arguments` returns them; λ may be infinite.
        """

    def arguments(self, kappa: float, lam: float, dtype: Any) -> tuple[int | None, float, float]:
        """Return the operator and its coefficients, fit for the number type of the factors."""
        # What does not fit the type is as good as infinite, and κ may not be infinite.
        limit = float(np.finfo(dtype).max)
        return self.operator, min(float(kappa), limit), float(lam) if lam <= limit else np.inf

    def prox(self, x: ArrayLike, kappa: float, lam: float) -> NDArray[np.floating[Any]]:
        """Apply the proximal operator, restricted to non-negative values, to a copy of ``x``.

        λ may be infinite.
        """
        result = np.array(x, dtype=np.result_type(np.asarray(x).dtype, np.float32), order="C")
        operator, kappa, lam = self.arguments(kappa, lam, result.dtype)
        if operator is None:
            return np.asarray(self.formula(np, result, kappa, lam), dtype=result.dtype)
        kernels.apply(operator, result.reshape(-1), kappa, lam)
        return result


@dataclass(frozen=True)
class ELB(Regularizer):
    """Elastic-binary regulariser R (Eq. regularizer): two elastic nets, around 0 and around 1.

    Parameters
    ----------
    variant : {"exact", "paper", "alternative"}
        The proximal operator. ``"exact"`` is the minimiser; ``"paper"`` is Eq. elprox as printed,
        which overshoots where x is nearer than κ to 0 or 1; ``"alternative"`` is Eq. elprox_alt,
        undefined at λ = 1.
    """

    variant: ProxVariant = "exact"

    def __post_init__(self) -> None:
        if self.variant not in get_args(ProxVariant):
            expected = ", ".join(map(repr, get_args(ProxVariant)))
            raise InputError(f"variant must be one of {expected}; got {self.variant!r}.")

    def value(self, x: ArrayLike, kappa: float, lam: float) -> float:  # noqa: D102
        x = np.asarray(x, dtype=np.float64)
        distance = np.minimum(np.abs(x), np.abs(x - 1))
        return float(np.sum(kappa * distance + lam * distance**2))

    @property
    def operator(self) -> int:  # noqa: D102
        return {
            "exact": kernels.ELB_EXACT,
            "paper": kernels.ELB_PAPER,
            "alternative": kernels.ELB_ALTERNATIVE,
        }[self.variant]

    def formula(self, xp: Any, x: Any, kappa: float, lam: float) -> Any:  # noqa: D102
        centre = xp.clip(xp.sign(x - 0.5), 0, None)
        d = x - centre
        if self.variant == "exact":
            moved = (xp.clip(d - kappa, 0, None) + xp.clip(d + kappa, None, 0)) * (1 / (1 + lam))
        elif self.variant == "paper":
            moved = (d - kappa * xp.sign(d)) * (1 / (1 + lam))
        else:
            moved = (d + kappa * xp.sign(d)) * (1 / (1 - lam))
        return xp.clip(centre + moved, 0, None)

    def arguments(self, kappa: float, lam: float, dtype: Any) -> tuple[int | None, float, float]:  # noqa: D102
        if self.variant == "alternative" and abs(lam - 1) < _AROUND_POLE:
            # The printed operator divides by λ − 1: step off that one point.
            lam = 1 + _AROUND_POLE
        return super().arguments(kappa, lam, dtype)


@dataclass(frozen=True)
class ElasticNet(Regularizer):
    """Elastic net r(x) = κ|x| + λx² (Sec. 2): towards zero only."""

    def value(self, x: ArrayLike, kappa: float, lam: float) -> float:  # noqa: D102
        x = np.asarray(x, dtype=np.float64)
        return float(np.sum(kappa * np.abs(x) + lam * x**2))

    @property
    def operator(self) -> int:  # noqa: D102
        return kernels.ELASTIC_NET

    def formula(self, xp: Any, x: Any, kappa: float, lam: float) -> Any:  # noqa: D102
        return xp.clip(x - kappa, 0, None) * (1 / (1 + lam))


@dataclass(frozen=True)
class Primp(Regularizer):
    """Λ-shaped regulariser ``κ(1 − |1 − 2x|)`` on [0, 1], infinite outside; λ is not used.

    The paper prints it with the opposite sign, which would pull towards ½.
    """

    def value(self, x: ArrayLike, kappa: float, lam: float = 0.0) -> float:  # noqa: D102
        x = np.asarray(x, dtype=np.float64)
        if np.any((x < 0) | (x > 1)):
            return float("inf")
        return float(np.sum(kappa * (1 - np.abs(1 - 2 * x))))

    @property
    def operator(self) -> int:  # noqa: D102
        return kernels.PRIMP

    def formula(self, xp: Any, x: Any, kappa: float, lam: float) -> Any:  # noqa: D102
        push = 2 * kappa
        return xp.where(x <= 0.5, xp.clip(x - push, 0, None), xp.clip(x + push, None, 1))


@dataclass(frozen=True)
class Bowl(Regularizer):
    """Bowl-shaped regulariser λ(x² − x)²/2; κ is not used."""

    def value(self, x: ArrayLike, kappa: float, lam: float) -> float:  # noqa: D102
        x = np.asarray(x, dtype=np.float64)
        return float(np.sum(lam * (x**2 - x) ** 2 / 2))

    @property
    def operator(self) -> int:  # noqa: D102
        return kernels.BOWL

    def formula(self, xp: Any, x: Any, kappa: float, lam: float) -> Any:  # noqa: D102
        # As in the loop, which says why: down to the largest root of a cubic in |y − ½|.
        shrink = 1 / (1 + lam)
        cubic = 1 - shrink
        linear = shrink - cubic / 2
        w = x - 0.5
        target = xp.abs(w) * shrink
        z = xp.clip(xp.abs(w), 0.5, None)
        for _ in range(_NEWTON_STEPS):
            value = (2 * cubic * z * z + linear) * z - target
            slope = 6 * cubic * z * z + linear
            ahead = (value > 0) & (slope > 0)
            step = xp.where(ahead, value / xp.where(ahead, slope, xp.ones_like(z)), 0 * z)
            z = z - step
            if not bool((step > xp.finfo(x.dtype).eps * z).any()):
                break
        z = xp.clip(z, 0, None)
        return xp.clip(0.5 + xp.where(w > 0, z, -z), 0, None)


REGULARIZERS: dict[str, str | type[Regularizer]] = {
    "elb": ELB,
    "elastic_net": ElasticNet,
    "primp": Primp,
    "bowl": Bowl,
}
"""Classes, or ``"module:Class"`` for those in files of their own, imported when first used."""
