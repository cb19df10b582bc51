"""Regularisers that pull a factor towards Boolean values: value and proximal operator of each.

ELB is the paper's own (Eq. regularizer, Eq. elprox, App. A); Primp and Bowl are the two it is
compared with (Fig. 1); the elastic net is what ELB is made of. To add one, write its loop in
`elbmf.kernels.prox`, a class here with its value and the name of that loop, and add the class to
`REGULARIZERS`.

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
from elbmf.kernels import prox as kernels

__all__ = ["ELB", "REGULARIZERS", "Bowl", "ElasticNet", "Primp", "ProxVariant", "Regularizer"]

ProxVariant = Literal["exact", "paper", "alternative"]

# How near to its pole at λ = 1 the alternative operator is used.
_AROUND_POLE = 1e-3


class Regularizer(ABC):
    """A penalty on each entry of a factor; all that the optimiser knows of it is here."""

    @abstractmethod
    def value(self, x: ArrayLike, kappa: float, lam: float) -> float:
        """Sum the penalty over all entries of ``x``."""

    @property
    @abstractmethod
    def operator(self) -> int:
        """Which operator of `elbmf.kernels.prox` is this regulariser's."""

    def arguments(self, kappa: float, lam: float, dtype: Any) -> tuple[int, float, float]:
        """Return the operator and its coefficients, fit for the number type of the factors."""
        # What does not fit the type is as good as infinite, and κ may not be infinite.
        limit = float(np.finfo(dtype).max)
        return self.operator, min(float(kappa), limit), lam if lam <= limit else np.inf

    def prox(self, x: ArrayLike, kappa: float, lam: float) -> NDArray[np.floating[Any]]:
        """Apply the proximal operator, restricted to non-negative values, to a copy of ``x``.

        λ may be infinite.
        """
        result = np.array(x, dtype=np.result_type(np.asarray(x).dtype, np.float32), order="C")
        operator, kappa, lam = self.arguments(kappa, lam, result.dtype)
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

    def arguments(self, kappa: float, lam: float, dtype: Any) -> tuple[int, float, float]:  # noqa: D102
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


@dataclass(frozen=True)
class Primp(Regularizer):
    """Λ-shaped regulariser κ(1 − |1 − 2x|) on [0, 1], infinite outside; λ is not used.

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


@dataclass(frozen=True)
class Bowl(Regularizer):
    """Bowl-shaped regulariser λ(x² − x)²/2; κ is not used."""

    def value(self, x: ArrayLike, kappa: float, lam: float) -> float:  # noqa: D102
        x = np.asarray(x, dtype=np.float64)
        return float(np.sum(lam * (x**2 - x) ** 2 / 2))

    @property
    def operator(self) -> int:  # noqa: D102
        return kernels.BOWL


REGULARIZERS: dict[str, type[Regularizer]] = {
    "elb": ELB,
    "elastic_net": ElasticNet,
    "primp": Primp,
    "bowl": Bowl,
}
