"""Flags that follow from docstrings: of a method, of a search, of a function that reads files.

A new method or parameter needs nothing here.
"""

import argparse
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from elbmf.cli.flags.declared import Parameter, declared_by, flag
from elbmf.errors import InputError, Setting
from elbmf.estimators.schedule_flags import flags_of

__all__ = [
    "add_flags",
    "as_flag",
    "by_any_name",
    "check_values",
    "destination",
    "given",
    "named",
    "parameters_of",
]

# Whose flags they are, in the names under which argparse keeps them.
_METHOD = "method"


def as_flag(setting: Setting) -> str:
    """Write a parameter that a message names as the user types it."""
    if setting.value is ...:
        return flag(setting.name)
    if isinstance(setting.value, bool):
        return flag(setting.name if setting.value else "no_" + setting.name)
    return f"{flag(setting.name)} {shlex.quote(str(setting.value))}"


def named(differing: Iterable[str]) -> str:
    """Name what two fits or searches differ in, parameters as the user gives them."""
    names = {"data": "data", "version": "version of elbmf"}
    return ", ".join(names.get(name) or flag(name) for name in differing)


def parameters_of(owner: str | Callable[..., Any]) -> list[Parameter]:
    """Return the parameters of a class, or options of a function, that can be given as text."""
    declared = declared_by(owner)
    # What a schedule and a regulariser are made of, in a method that has them.
    declared += [
        Parameter(name, () if part.choices else ("float",), part.choices, None, (part.description,))
        for name, part in flags_of({each.name: each for each in declared}).items()
    ]
    return [parameter for parameter in declared if parameter.has_choice]


def add_flags(
    group: argparse._ActionsContainer,
    parameters: Iterable[Parameter],
    *,
    owner: str = _METHOD,
    names: Collection[str] = (),
    unlisted: Collection[str] = (),
) -> None:
    """Add flags for parameters; those not given leave no trace in the namespace.

    The owner is whose they are, for `given`. Descriptions may also name the parameters ``names``;
    no help shows those that are ``unlisted``.
    """
    parameters = list(parameters)
    known = {*names, *(parameter.name for parameter in parameters)}
    for parameter in parameters:
        options: dict[str, Any] = {
            "dest": destination(parameter.name, owner),
            "default": argparse.SUPPRESS,
            "help": argparse.SUPPRESS if parameter.name in unlisted else parameter.help(known),
        }
        if parameter.is_switch:
            options["action"] = argparse.BooleanOptionalAction
        else:
            options["type"] = parameter.parse
            options["metavar"] = parameter.metavar
        group.add_argument(*parameter.flags, **options)


def given(args: argparse.Namespace, owner: str = _METHOD) -> dict[str, Any]:
    """Return the parameters of an owner that were given as flags."""
    prefix = destination("", owner)
    return {
        name.removeprefix(prefix): value
        for name, value in vars(args).items()
        if name.startswith(prefix)
    }


def destination(name: str, owner: str = _METHOD) -> str:
    """Return where argparse keeps the parameter of an owner."""
    return f"{owner}:{name}"


def by_any_name(owner: str | type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values under the names of the signature; names may be written as flags are.

    Raises where a name is no parameter of the method, or a parameter is named twice.
    """
    known = {}
    for parameter in parameters_of(owner):
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


def check_values(owner: type, values: Mapping[str, Any]) -> None:
    """Raise where a parameter cannot have the value that it was given."""
    # Here, for parsers must not wait for scikit-learn.
    from elbmf.utils.constraints import Interval, Options, make_constraint

    constraints: Mapping[str, list[Any]] = getattr(owner, "_parameter_constraints", {})
    for name, value in values.items():
        allowed = [make_constraint(each) for each in constraints.get(name, [])]
        if not allowed or any(each.is_satisfied_by(value) for each in allowed):
            continue
        parts: list[str | Setting] = []
        # Others, such as callables, cannot be typed.
        for each in (each for each in allowed if isinstance(each, Interval | Options)):
            parts += [" or ", *getattr(each, "parts", (str(each),))]
        parts = parts or [" or ", " or ".join(map(str, allowed))]
        raise InputError(Setting(name), " must be ", *parts[1:], f"; got {value!r}.")
