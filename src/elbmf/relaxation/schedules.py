"""How strongly the factors are pulled towards Boolean values in epoch t: λ_t = λ·ν_t (Sec. 2.2).

A schedule gives the two arguments of the proximal operator, κ/L and λ_t/L, and says what goes with
them: inertia, step sizes, balancing, and the start. `Printed` holds the paper's coefficients;
`Annealed` is the default that needs none.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, get_args

from elbmf.errors import InputError, Setting
from elbmf.relaxation.half_step import StepRule, Strength
from elbmf.utils.tuning import TUNING

__all__ = ["Annealed", "Printed", "Schedule", "Start"]

Start = Literal["svd", "random"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Schedule(ABC):
    """Strength of the regularisation in each epoch, and what goes with it.

    A schedule of your own extends it and implements `strength`.

    Parameters
    ----------
    beta : float
        Inertia β in [0, 1).
    step : {"spectral", "authors"}
        Step size: 1/L with the spectral norm, or the authors' shorter one, by the Frobenius norm.
    balance : bool
        Bring U and V to the same scale before every epoch.
    start : {"svd", "random"}
        What ``init="auto"`` means: singular vectors, where they do not take longer than the
        epochs, or uniform noise.
    start_scale : float
        What a start that is not your own is multiplied by.
    dtype : {"float32", "float64"}
        Number type of the relaxed factors; float64 takes twice the memory.
    """

    ends_boolean: ClassVar[bool] = False
    """Whether the factors end Boolean within any number of epochs, so that half as many make a
    quicker run and not half a run."""

    beta: float = 0.0
    step: StepRule = "spectral"
    balance: bool = False
    start: Start = "random"
    start_scale: float = 1.0
    dtype: str = "float32"

    @abstractmethod
    def strength(self, t: int, lipschitz: float) -> Strength:
        """Return κ/L and λ_t/L in epoch ``t``, counted from 1."""

    def over(self, epochs: int) -> Self:
        """Return the schedule of a run of so many epochs: the same, unless it spreads over them."""
        return self

    def __post_init__(self) -> None:
        _require(self, "beta", Real, "a float in the range [0.0, 1.0)", lambda x: 0 <= x < 1)
        _require_word(self, "step", get_args(StepRule))
        _require_word(self, "start", get_args(Start))
        _require_word(self, "dtype", ("float32", "float64"))
        _require(self, "start_scale", Real, "a float in the range (0.0, inf)", lambda x: x > 0)

    def __repr__(self) -> str:
        """Python that makes the same, without what is the default."""
        given = (each for each in fields(self) if getattr(self, each.name) != each.default)
        shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in given)
        return f"{type(self).__name__}({shown})"


@dataclass(frozen=True, repr=False)
class Printed(Schedule):
    """κ, λ and ν_t as the paper prints them; by default, the authors' values.

    With it go, unless they are given, what the paper has: no inertia, no balancing, and a start
    from uniform noise in [0, 1). The coefficients are absolute, while what is weak or strong
    depends on the data, so that the factors need not end Boolean.

    Parameters
    ----------
    kappa, lam : float
        The coefficients κ and λ.
    rate : float or callable
        A float c ≥ 1 stands for ν_t = c^t; a callable is given t and returns ν_t.
    beta, step, balance, start, start_scale, dtype
        As of every `Schedule`.
    """

    kappa: float = 0.01
    lam: float = 0.02
    rate: float | Callable[[int], float] = 1.02

    def __post_init__(self) -> None:
        for name in ("kappa", "lam"):
            _require(self, name, Real, "a float in the range [0.0, inf)", lambda x: x >= 0)
        if not callable(self.rate):
            expected = "a float in the range [1.0, inf) or a callable"
            _require(self, "rate", Real, expected, lambda x: x >= 1)
        super().__post_init__()

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


@dataclass(frozen=True, repr=False)
class Annealed(Schedule):
    """κ_t/L runs geometrically from next to nothing to ½, at any scale.

    At κ/L = ½ the exact operator rounds everything within ½ of 0 or 1, so the factors end Boolean
    whatever the data. λ_t follows at a tenth of κ_t, and in the last epoch is infinite, which
    rounds whatever a very short run has left. Annealing λ alone, as the paper does, ends Boolean
    only in the limit and keeps fewer components alive on sparse data.

    With it go, unless they are given, inertia, balancing, and a start from singular vectors that is
    so small that the first half-step forgets U₀ and makes U from the data.

    Parameters
    ----------
    epochs : int, optional
        Epochs until the factors are rounded; all those of a run by default.
    weakest, strongest : float
        κ_t/L in the first and in the last epoch.
    lam_to_kappa : float
        λ_t/κ_t.
    beta, step, balance, start, start_scale, dtype
        As of every `Schedule`.
    """

    ends_boolean: ClassVar[bool] = True

    epochs: int | None = None
    weakest: float = TUNING.weakest
    strongest: float = TUNING.strongest
    lam_to_kappa: float = TUNING.lam_to_kappa
    beta: float = field(default=TUNING.inertia, kw_only=True)
    balance: bool = field(default=True, kw_only=True)
    start: Start = field(default="svd", kw_only=True)
    start_scale: float = field(default=TUNING.start_scale, kw_only=True)

    def __post_init__(self) -> None:
        if self.epochs is not None:
            _require(self, "epochs", Integral, "an int in the range [1, inf)", lambda x: x >= 1)
        for name in ("weakest", "strongest"):
            _require(self, name, Real, "a float in the range (0.0, inf)", lambda x: x > 0)
        _require(self, "lam_to_kappa", Real, "a float in the range [0.0, inf)", lambda x: x >= 0)
        super().__post_init__()

    def over(self, epochs: int) -> Self:  # noqa: D102
        return self if self.epochs is not None else replace(self, epochs=epochs)

    def strength(self, t: int, lipschitz: float) -> Strength:  # noqa: D102
        if self.epochs is None:
            raise InputError("Annealed must know its epochs: give them, or use over(epochs).")
        if t >= self.epochs:
            return Strength(self.strongest, math.inf)
        progress = (t - 1) / (self.epochs - 1)
        kappa = self.weakest * (self.strongest / self.weakest) ** progress
        return Strength(kappa, self.lam_to_kappa * kappa)


def _require(
    schedule: Schedule, name: str, kind: type, expected: str, holds: Callable[[Any], bool]
) -> None:
    value = getattr(schedule, name)
    if isinstance(value, bool) or not isinstance(value, kind) or not holds(value):
        raise InputError(
            f"{type(schedule).__name__}: ", Setting(name), f" must be {expected}; got {value!r}."
        )


def _require_word(schedule: Schedule, name: str, words: tuple[str, ...]) -> None:
    _require(schedule, name, str, f"one of {', '.join(map(repr, words))}", words.__contains__)
