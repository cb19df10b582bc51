"""Flags that follow from docstrings: of a method, of a search, of a function that reads files.

A new method or parameter needs nothing here.
"""

import argparse
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from elbmf.cli.flags.declared import Declared, declared_by
from elbmf.errors import InputError, Setting
from elbmf.estimators.schedule_flags import flags_of

__all__ = [
    "ALIASES",
    "Parameter",
    "add_flags",
    "as_flag",
    "by_any_name",
    "check_values",
    "flag",
    "given",
    "named",
    "parameters_of",
]

ALIASES = {
    "checkpoint_every": ("--checkpoint-every", "--every"),
    "max_components": ("--max",),
    "n_components": ("-k", "--n-components"),
    "n_jobs": ("-j", "--n-jobs"),
    "random_state": ("--seed", "--random-state"),
}
"""What parameters are also called on the command line and in configuration files."""

# What stands for a value in the help, where the kind of the value would not tell.
_METAVARS = {
    "binarize": "HOW",
    "checkpoint": "DIR",
    "checkpoint_every": "EPOCHS",
    "holdout": "SHARE",
    "max_components": "K",
    "memory_limit": "SIZE",
    "time_limit": "SECONDS",
}

# Types whose values can be typed, and how they are read; the narrowest first.
_NUMBERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float}
_TEXTS = ("str", "path", "path-like")

# Whose flags they are, in the names under which argparse keeps them.
_METHOD = "method"


class Parameter:
    """A parameter that can be given as text."""

    def __init__(self, declared: Declared) -> None:
        self.name = declared.name
        self.default = declared.default
        self.description = declared.description
        self.words = declared.words
        self.numbers = [read for kind, read in _NUMBERS.items() if kind in declared.types]
        self.is_switch = "bool" in declared.types
        self._may_be_none = "None" in declared.types
        self._is_text = any(kind in declared.types for kind in _TEXTS)

    @property
    def flags(self) -> tuple[str, ...]:
        """What the user types."""
        return ALIASES.get(self.name, ("--" + self.name.strip("_").replace("_", "-"),))

    @property
    def has_choice(self) -> bool:
        """Whether there is anything to say about it on a command line."""
        others = [word for word in self.words if word != self.default]
        return bool(self.numbers or self.is_switch or others or self._is_text)

    @property
    def metavar(self) -> str:
        """What stands for its value in the help."""
        if self.name in _METAVARS:
            return _METAVARS[self.name]
        if self.words and not self.numbers:
            return "{" + ",".join(self.words) + "}"
        short = self.flags[0]
        if not short.startswith("--"):
            return short.strip("-").upper()
        return "INT" if self.numbers == [int] else "X" if self.numbers else "TEXT"

    def parse(self, text: str) -> Any:
        """Read a value, or raise what argparse reports beside the flag."""
        if text in self.words:
            return text
        for read in self.numbers:
            try:
                return read(text)
            except ValueError:
                continue
        if self._may_be_none and text.lower() == "none":
            return None
        if self._is_text:
            return text
        expected = ["a number" if float in self.numbers else "a whole number"]
        expected = expected if self.numbers else []
        expected += [f"one of {', '.join(self.words)}"] if self.words else []
        raise argparse.ArgumentTypeError(f"must be {' or '.join(expected)}, got {text!r}")

    def help(self, names: Collection[str]) -> str:
        """Return the description with flags for the parameters in it, and the default."""
        pieces = self.description.replace("``", "`").split("`")
        # What stood between quotes is every other piece.
        pieces[1::2] = [flag(piece) if piece in names else piece for piece in pieces[1::2]]
        text = "".join(pieces)
        if self.default is not None:
            text += f" (default: {self.default})"
        return text.replace("%", "%%").strip()


def flag(name: str) -> str:
    """Return what the user types for a parameter, and not its single letter."""
    usual = "--" + name.strip("_").replace("_", "-")
    return next(each for each in ALIASES.get(name, (usual,)) if each.startswith("--"))


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
        Declared(name, () if part.choices else ("float",), part.choices, None, (part.description,))
        for name, part in flags_of({each.name: each for each in declared}).items()
    ]
    parameters = map(Parameter, declared)
    return [parameter for parameter in parameters if parameter.has_choice]


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
            "dest": _destination(owner, parameter.name),
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
    prefix = _destination(owner, "")
    return {
        name.removeprefix(prefix): value
        for name, value in vars(args).items()
        if name.startswith(prefix)
    }


def _destination(owner: str, name: str) -> str:
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
    from sklearn.utils._param_validation import Interval, Options, make_constraint

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
