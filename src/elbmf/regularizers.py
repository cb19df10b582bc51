"""Regularisers that pull a factor towards Boolean values: value and proximal operator of each.

ELB is the paper's own (Eq. regularizer, Eq. elprox, App. A); Primp and Bowl are the two it is
compared with (Fig. 1); the elastic net is what ELB is made of. To add one, write a class with
`value` and `_prox_inplace` and add it to `REGULARIZERS`.

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


class Regularizer(ABC):
    """A penalty on each entry of a factor; all that the optimiser knows of it is here."""

    @abstractmethod
    def value(self, x: ArrayLike, kappa: float, lam: float) -> float:
        """Sum the penalty over all entries of ``x``."""

    def prox(self, x: ArrayLike, kappa: float, lam: float) -> NDArray[np.floating[Any]]:
        """Apply the proximal operator, restricted to non-negative values, to a copy of ``x``."""
        result = np.array(x, dtype=np.result_type(np.asarray(x).dtype, np.float32), order="C")
        self.prox_inplace(result.reshape(-1), kappa, lam)
        return result

    def prox_inplace(self, x: NDArray[np.floating[Any]], kappa: float, lam: float) -> None:
        """Apply the proximal operator to the flat array ``x`` itself; λ may be infinite."""
        number = x.dtype.type
        # What does not fit the number type is as good as infinite: no overflow warning for it.
        limit = float(np.finfo(x.dtype).max)
        lam = np.inf if lam > limit else lam
        self._prox_inplace(x, number(min(kappa, limit)), lam)

    @abstractmethod
    def _prox_inplace(self, x: NDArray[np.floating[Any]], kappa: Any, lam: float) -> None:
        """Apply the operator; ``kappa`` has the number type of ``x``, ``lam`` may be infinite."""


def _shrink(x: NDArray[np.floating[Any]], lam: float) -> Any:
    """Return 1 / (1 + λ) in the number type of ``x``."""
    return x.dtype.type(1 / (1 + lam))


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

    def _prox_inplace(self, x: NDArray[np.floating[Any]], kappa: Any, lam: float) -> None:
        if self.variant == "exact":
            kernels.elb_exact(x, kappa, _shrink(x, lam))
        elif self.variant == "paper":
            kernels.elb_paper(x, kappa, _shrink(x, lam))
        else:
            # At λ = 1 the printed operator divides by zero: step off that one point.
            off_pole = lam if abs(lam - 1) > 1e-3 else 1 + 1e-3
            kernels.elb_alternative(x, kappa, x.dtype.type(off_pole))


@dataclass(frozen=True)
class ElasticNet(Regularizer):
    """Elastic net r(x) = κ|x| + λx² (Sec. 2): towards zero only."""

    def value(self, x: ArrayLike, kappa: float, lam: float) -> float:  # noqa: D102
        x = np.asarray(x, dtype=np.float64)
        return float(np.sum(kappa * np.abs(x) + lam * x**2))

    def _prox_inplace(self, x: NDArray[np.floating[Any]], kappa: Any, lam: float) -> None:
        kernels.elastic_net(x, kappa, _shrink(x, lam))


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

    def _prox_inplace(self, x: NDArray[np.floating[Any]], kappa: Any, lam: float) -> None:
        kernels.primp(x, kappa)


@dataclass(frozen=True)
class Bowl(Regularizer):
    """Bowl-shaped regulariser λ(x² − x)²/2; κ is not used."""

    def value(self, x: ArrayLike, kappa: float, lam: float) -> float:  # noqa: D102
        x = np.asarray(x, dtype=np.float64)
        return float(np.sum(lam * (x**2 - x) ** 2 / 2))

    def _prox_inplace(self, x: NDArray[np.floating[Any]], kappa: Any, lam: float) -> None:
        kernels.bowl(x, lam)


REGULARIZERS: dict[str, type[Regularizer]] = {
    "elb": ELB,
    "elastic_net": ElasticNet,
    "primp": Primp,
    "bowl": Bowl,
}
