"""The relaxation of `ELBMF` in single values, for flags, configuration files and saved models.

In Python, a schedule and a regulariser are objects. Here they are spread out under the paper's
names, and put together again. Nothing heavy is imported until that is done.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

from elbmf.errors import InputError, Setting

if TYPE_CHECKING:
    from elbmf.estimators.base import BooleanFactorizer
    from elbmf.relaxation.regularizers import Regularizer
    from elbmf.relaxation.schedules import Schedule

__all__ = [
    "FLAGS",
    "Flag",
    "flags_of",
    "flat_parameters",
    "parameters_from_flags",
    "regularizer_from_flags",
    "schedule_from_flags",
]


@dataclass(frozen=True)
class Flag:
    """A value of the relaxation that can be given as text."""

    description: str  # For the help
    # Bounds of a number, of which the second is not a value itself; there are none for a word
    least: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()  # The words it may be


FLAGS = {
    "kappa": Flag(
        "l₁ coefficient κ. When any of `kappa`, `lam` and `rate` is given, the schedule is the "
        "paper's, with 0.01, 0.02 and 1.02 for the others, no inertia, no balancing and a random "
        "start; else it is the default one.",
        least=0,
    ),
    "lam": Flag("l₂ coefficient λ.", least=0),
    "rate": Flag("Regularisation rate c: ν_t = c^t.", least=1),
    "beta": Flag("Inertia β: 0.9 with the default schedule, 0 with the paper's.", least=0, below=1),
    "step": Flag(
        "Step size: 1/L with the spectral norm, or the authors' Frobenius rule.",
        choices=("spectral", "authors"),
    ),
    "dtype": Flag("Number type of the relaxed factors.", choices=("float32", "float64")),
    "prox": Flag(
        "Proximal operator of the regulariser elb: the true minimiser, Eq. elprox as printed, or "
        "Eq. elprox_alt.",
        choices=("exact", "paper", "alternative"),
    ),
}
"""What a method with ``schedule`` and ``regularizer`` also has on the command line."""

_OF_PRINTED = ("kappa", "lam", "rate")
_OF_ANY = ("beta", "step", "dtype")


def flags_of(parameters: Mapping[str, Any]) -> dict[str, Flag]:
    """Return the flags that a method has beside its parameters, by the names of the latter."""
    return FLAGS if "schedule" in parameters else {}


def schedule_from_flags(
    # Any of kappa, lam, rate, beta, step and dtype. None stands for what was not given.
    **given: Any,
) -> "Schedule | None":
    """Return the schedule that single values ask for; None for the default."""
    from elbmf.relaxation.schedules import Annealed, Printed

    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return None
    return (Printed if given.keys() & {*_OF_PRINTED} else Annealed)(**given)


def regularizer_from_flags(name: str = "elb", prox: str | None = None) -> "str | Regularizer":
    """Return the regulariser with a name, and of ELB the variant with that proximal operator."""
    if prox is None:
        return name
    if name != "elb":
        raise InputError(
            Setting("prox", prox),
            " chooses among the proximal operators of the regularizer 'elb'; got ",
            Setting("regularizer", name),
            ", which has only one. Leave the former out.",
        )
    from elbmf.relaxation.regularizers import ELB

    return ELB(prox)  # type: ignore[arg-type]


def parameters_from_flags(
    # The method; one that has no schedule has its own parameters alone
    method: "type[BooleanFactorizer]",
    values: Mapping[str, Any],  # Its parameters, as well as any of `FLAGS`
) -> dict[str, Any]:
    """Put the schedule and the regulariser of a method together."""
    if not flags_of(signature(method).parameters):
        return dict(values)
    result = {name: value for name, value in values.items() if name not in FLAGS}
    flags = {name: values.get(name) for name in (*_OF_PRINTED, *_OF_ANY)}
    schedule = schedule_from_flags(**flags)
    if schedule is not None:
        result["schedule"] = schedule
    if values.get("prox") is not None:
        result["regularizer"] = regularizer_from_flags(
            values.get("regularizer", "elb"), values["prox"]
        )
    return result


def flat_parameters(method: Any) -> dict[str, Any]:
    """Return the parameters of a method with schedule and regulariser spread out.

    What of them has no flag is a text under ``schedule`` or ``regularizer``.
    """
    parameters: dict[str, Any] = method.get_params(deep=False)
    if "schedule" not in parameters:
        return parameters
    from elbmf.relaxation.regularizers import ELB, REGULARIZERS
    from elbmf.relaxation.schedules import Annealed, Printed
    from elbmf.utils.late import imported

    schedule, regularizer = parameters.pop("schedule"), parameters.pop("regularizer")
    flat: dict[str, Any] = dict.fromkeys(FLAGS)
    if isinstance(schedule, Printed | Annealed):
        names = _OF_ANY if isinstance(schedule, Annealed) else (*_OF_PRINTED, *_OF_ANY)
        flat |= {name: getattr(schedule, name) for name in names}
    given = {name: flat[name] for name in (*_OF_PRINTED, *_OF_ANY)}
    if schedule not in (None, schedule_from_flags(**given)):
        flat = dict.fromkeys(FLAGS) | {"schedule": _text(schedule)}
    if isinstance(regularizer, ELB):
        flat["prox"] = regularizer.variant
        regularizer = "elb"
    for name, place in REGULARIZERS.items():
        kind = imported(place)
        if type(regularizer) is kind and vars(regularizer) == vars(kind()):
            regularizer = name
    if not isinstance(regularizer, str):
        regularizer = _text(regularizer)
    return {**parameters, **flat, "regularizer": regularizer}


def _text(part: Any) -> str:
    """Return Python that makes it or, where it does not tell, what kind it is."""
    told = repr(part)
    return type(part).__qualname__ if told.startswith("<") else told
