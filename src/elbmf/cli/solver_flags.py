"""Flags of a method or a search, derived from its class, and of a function that reads files.

That is from the signature, the constraints or types, and the numpydoc description.

A new method or parameter needs nothing here.
"""

import argparse
import inspect
import re
import textwrap
import typing
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, Options, StrOptions, make_constraint

from elbmf.cli.wording import flag
from elbmf.errors import InputError
from elbmf.estimators import BooleanFactorizer
from elbmf.estimators.schedule_flags import Flag, flags_of

__all__ = [
    "ALIASES",
    "Parameter",
    "add_flags",
    "by_any_name",
    "given",
    "long_flag",
    "named",
    "options_of",
    "parameters_of",
]

# What parameters are also called on the command line and in configuration files.
ALIASES = {
    "checkpoint_every": ("--checkpoint-every", "--every"),
    "max_components": ("--max",),
    "n_components": ("-k", "--n-components"),
    "n_jobs": ("-j", "--n-jobs"),
    "random_state": ("--seed", "--random-state"),
}

# What stands for a value in the help, where the kind of the value would not tell.
_METAVARS = {
    "binarize": "HOW",
    "checkpoint": "DIR",
    "checkpoint_every": "EPOCHS",
    "holdout": "SHARE",
    "max_components": "K",
    "time_limit": "SECONDS",
}

# Whose flags they are, in the names under which argparse keeps them.
_METHOD = "method"


@dataclass(frozen=True)
class Parameter:
    """A parameter that can be given as text.

    Parameters
    ----------
    name : str
        As in the signature.
    default : object
        Its default.
    constraints : list
        What values it may have, as scikit-learn writes constraints.
    description : str
        From the class's docstring.
    """

    name: str
    default: Any
    constraints: list[Any]
    description: str

    @property
    def flags(self) -> tuple[str, ...]:
        """What the user types."""
        return ALIASES.get(self.name, (flag(self.name),))

    @property
    def choices(self) -> list[str]:
        """The words it may be."""
        return sorted(
            str(option)
            for constraint in self.constraints
            if isinstance(constraint, Options)
            for option in constraint.options
        )

    @property
    def numbers(self) -> list[Callable[[str], Any]]:
        """How a text may be read as a number, the narrowest way first."""
        kinds = {_number_kind(constraint) for constraint in self.constraints}
        return [kind for kind in (int, float) if kind in kinds]

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off."""
        return any(c is bool or (isinstance(c, str) and c == "boolean") for c in self.constraints)

    @property
    def has_choice(self) -> bool:
        """Whether there is anything to say about it on a command line."""
        others = [choice for choice in self.choices if choice != self.default]
        return bool(self.numbers or self.is_switch or others or str in self.constraints)

    def parse(self, text: str) -> Any:
        """Read a value, or raise what argparse reports beside the flag."""
        candidates: list[Any] = []
        for kind in self.numbers:
            try:
                candidates.append(kind(text))
            except ValueError:
                continue
        candidates.append(text)
        if None in self.constraints and text.lower() == "none":
            candidates.append(None)
        allowed = [make_constraint(constraint) for constraint in self.constraints]
        for value in candidates:
            if any(constraint.is_satisfied_by(value) for constraint in allowed):
                return value
        sayable = [str(c) for c in allowed if isinstance(c, Interval)]
        sayable += [f"one of {', '.join(self.choices)}"] if self.choices else []
        expected = " or ".join(sayable) or (
            "a number" if float in self.numbers else "a whole number"
        )
        raise argparse.ArgumentTypeError(f"must be {expected}, got {text!r}")

    def help(self, names: set[str]) -> str:
        """Return the description in terms of flags, with the default."""

        def as_flag(match: re.Match[str]) -> str:
            return flag(match[1]) if match[1] in names else match[1]

        text = re.sub(r"``?([^`]+)``?", as_flag, self.description)
        # What only Python can say is not for here.
        text = re.sub(r"[;,] a (?:callable|transformer)[^;.]*", "", text)
        if self.default is not None:
            text += f" (default: {self.default})"
        return text.replace("%", "%%").strip()


def long_flag(name: str) -> str:
    """Return what the user types for a parameter, and not its single letter."""
    return next(each for each in ALIASES.get(name, (flag(name),)) if each.startswith("--"))


def named(differing: Iterable[str]) -> str:
    """Name what two fits or searches differ in, parameters as the user gives them."""
    names = {"data": "data", "version": "version of elbmf"}
    return ", ".join(names.get(name) or long_flag(name) for name in differing)


def parameters_of(method: type[BaseEstimator]) -> list[Parameter]:
    """Return the parameters of a method, or of a search, that make sense on a command line."""
    descriptions: dict[str, str] = {}
    for base in reversed(method.__mro__):
        descriptions |= _numpydoc_parameters(base.__doc__ or "")
    parameters = [
        Parameter(
            name=name,
            default=parameter.default,
            constraints=method._parameter_constraints.get(name, []),
            description=descriptions.get(name, ""),
        )
        for name, parameter in inspect.signature(method).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    ]
    parameters += [
        Parameter(name, None, _flag_constraints(flag), flag.description)
        for name, flag in flags_of(inspect.signature(method).parameters).items()
    ]
    return [parameter for parameter in parameters if parameter.has_choice]


def _flag_constraints(flag: Flag) -> list[Any]:
    """Return the values of a flag that is no parameter itself, as scikit-learn writes them."""
    if flag.choices:
        return [StrOptions(set(flag.choices))]
    return [Interval(Real, flag.least, flag.below, closed="left"), None]


def options_of(function: Callable[..., Any]) -> list[Parameter]:
    """Return the keyword-only parameters of a function, with constraints from their types."""
    descriptions = _numpydoc_parameters(function.__doc__ or "")
    types = typing.get_type_hints(function)
    return [
        Parameter(name, parameter.default, _constraints(types[name]), descriptions.get(name, ""))
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]


def _constraints(annotation: Any) -> list[Any]:
    """Return the constraints that a type is, as scikit-learn writes them."""
    if typing.get_origin(annotation) in (typing.Union, UnionType):
        parts = [_constraints(part) for part in typing.get_args(annotation)]
        return list(dict.fromkeys(each for part in parts for each in part))
    if typing.get_origin(annotation) is typing.Literal:
        return [StrOptions(set(typing.get_args(annotation)))]
    known = {bool: "boolean", int: Integral, float: Real, NoneType: None}
    # What else there is, such as paths, is written as text.
    return [known.get(annotation, str)]


def add_flags(
    group: argparse._ActionsContainer,
    parameters: Iterable[Parameter],
    *,
    owner: str = _METHOD,
    unlisted: Collection[str] = (),
) -> None:
    """Add flags for parameters; those not given leave no trace in the namespace.

    Parameters
    ----------
    group : parser or group of one
        Where to add them.
    parameters : iterable of Parameter
        What to add.
    owner : str
        Whose parameters they are, for `given`.
    unlisted : collection of str
        Names of parameters that the help leaves out.
    """
    parameters = list(parameters)
    names = {parameter.name for parameter in parameters}
    for parameter in parameters:
        options: dict[str, Any] = {
            "dest": _destination(owner, parameter.name),
            "default": argparse.SUPPRESS,
            "help": argparse.SUPPRESS if parameter.name in unlisted else parameter.help(names),
        }
        if parameter.is_switch:
            options["action"] = argparse.BooleanOptionalAction
        else:
            options["type"] = parameter.parse
            options["metavar"] = _metavar(parameter)
        group.add_argument(*parameter.flags, **options)


def given(args: argparse.Namespace, owner: str = _METHOD) -> dict[str, Any]:
    """Return the parameters of an owner that were given as flags."""
    prefix = _destination(owner, "")
    return {
        name.removeprefix(prefix): value
        for name, value in vars(args).items()
        if name.startswith(prefix)
    }


def _destination(owner: str, name: str) -> str:
    return f"{owner}:{name}"


def by_any_name(method: type[BooleanFactorizer], values: dict[str, Any]) -> dict[str, Any]:
    """Return values under the names of the signature; names may be written as flags are.

    Parameters
    ----------
    method : type
        The method.
    values : dict
        Values by name, e.g. ``seed`` or ``max-iter``.

    Raises
    ------
    InputError
        When a name is no parameter of the method, or a parameter is named twice.
    """
    known = {}
    for parameter in parameters_of(method):
        for name in (parameter.name, *parameter.flags):
            known[name.strip("-").replace("-", "_")] = parameter.name
    result: dict[str, Any] = {}
    for key, value in values.items():
        if key.replace("-", "_") not in known:
            raise InputError(f"unknown key {key!r}. Known keys: {', '.join(sorted(known))}.")
        name = known[key.replace("-", "_")]
        if name in result:
            raise InputError(f"{name} is given twice, the second time as {key!r}. Remove one.")
        result[name] = value
    return result


def _number_kind(constraint: Any) -> type | None:
    """Return int or float when a constraint allows numbers of that kind."""
    kind = constraint.type if isinstance(constraint, Interval) else constraint
    if isinstance(kind, str) and kind == "random_state":
        return int
    if not isinstance(kind, type) or kind is bool:
        return None
    if issubclass(kind, Integral):
        return int
    return float if issubclass(kind, Real) else None


def _metavar(parameter: Parameter) -> str:
    if parameter.name in _METAVARS:
        return _METAVARS[parameter.name]
    if parameter.choices and not parameter.numbers:
        return "{" + ",".join(parameter.choices) + "}"
    short = parameter.flags[0]
    if not short.startswith("--"):
        return short.strip("-").upper()
    return "INT" if parameter.numbers == [int] else "X" if parameter.numbers else "TEXT"


def _numpydoc_parameters(docstring: str) -> dict[str, str]:
    """Return the descriptions in the Parameters section of a docstring, by name."""
    text = inspect.cleandoc(docstring)
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", text, re.M | re.S)
    if section is None:
        return {}
    found: dict[str, str] = {}
    for entry in re.finditer(r"^(\S[^\n]*)\n((?:[ \t]+[^\n]*\n?|\n)*)", section[1], re.M):
        description = " ".join(textwrap.dedent(entry[2]).split())
        for name in entry[1].partition(" :")[0].split(","):
            found[name.strip()] = description
    return found
