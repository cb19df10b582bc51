"""A method and its parameters: from a TOML file and from flags, which win."""

import argparse
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elbmf.cli.flags.constraints import LIMITS, add_constraints, add_previous
from elbmf.cli.flags.parameters import (
    add_flags,
    by_any_name,
    check_values,
    given,
    parameters_of,
)
from elbmf.cli.flags.shared import DATA, FIND, LOOK, add_log1p, group_of
from elbmf.cli.parser import rare
from elbmf.errors import FileFormatError, InputError
from elbmf.estimators.registry import ESTIMATORS, METHODS, method
from elbmf.estimators.schedule_flags import parameters_from_flags

if TYPE_CHECKING:
    from elbmf.estimators import BooleanFactorizer

__all__ = ["CHECKPOINT", "add_method", "add_parameters", "estimator_of", "made", "read_config"]

CHECKPOINT = ("checkpoint", "checkpoint_every")
"""Parameters of methods that say where to keep a fit, and how often."""

_DEFAULT_METHOD = "elbmf"

# Where flags stand in the help; what is not here, below the name of the method.
_TITLES = {
    "binarize": DATA,
    **dict.fromkeys(("n_components", "max_loss", "extra_weight"), FIND),
    **dict.fromkeys(
        (
            *("min_rows", "max_rows", "min_columns", "max_columns"),
            *("max_components_per_row", "max_components_per_column", "change_penalty"),
        ),
        LIMITS,
    ),
    **dict.fromkeys(
        ("refine", "effort", "time_limit", "max_iter", "random_state", "n_jobs", "memory_limit"),
        LOOK,
    ),
}

# Parameters of any method that few people need; the default method has more of them.
_RARE = (*CHECKPOINT, "device", "dtype", "init", "n_init", "tol", "trace")


def add_method(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str],
    unlisted: Collection[str] = (),
    without: Collection[str] = (),
) -> None:
    """Add the choice of a method, and the flags of the method that is asked for.

    The help leaves out the parameters ``unlisted``; those in ``without`` have no flag.
    """
    group_of(parser, FIND).add_argument(
        "--method",
        choices=sorted(METHODS),
        default=None,
        help="how to factorize (default: elbmf); each has its own parameters",
    )
    name = _early_method(arguments)
    # Of an unknown one the real parser complains.
    add_parameters(parser, name if name in METHODS else None, unlisted, without)


def add_parameters(
    parser: argparse.ArgumentParser,
    name: str | None,
    unlisted: Collection[str] = (),
    without: Collection[str] = (),
) -> None:
    """Add the flags of a method, as for `add_method`, and where else its parameters may be."""
    group_of(parser, LOOK)
    config = parser.add_argument("--config", metavar="FILE", help="parameters from a TOML file")
    rare(config)
    if name is None:
        return
    own = f"parameters of the method {name}"
    parameters = [each for each in parameters_of(ESTIMATORS[name]) if each.name not in without]
    names = [each.name for each in parameters]
    for parameter in parameters:
        group = group_of(parser, _TITLES.get(parameter.name, own))
        add_flags(group, [parameter], names=names, unlisted=unlisted)
        if parameter.name in _RARE or (group.title == own and name == _DEFAULT_METHOD):
            rare(group._group_actions[-1])
        if parameter.name == "binarize":
            add_log1p(group)
    if "min_rows" in names:
        add_constraints(parser)
        if "change_penalty" in names:
            add_previous(parser)
        if name == _DEFAULT_METHOD:
            rare(group_of(parser, LIMITS))


def _early_method(arguments: Sequence[str]) -> str:
    """Find out the method before the flags are known, which depend on it.

    Anything wrong is left for the real parser to complain about.
    """
    peek = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    peek.add_argument("--method")
    peek.add_argument("--config")
    try:
        args, _ = peek.parse_known_args(list(arguments))
        return args.method or _method_of(read_config(args.config) if args.config else {})
    except (argparse.ArgumentError, InputError):
        return _DEFAULT_METHOD


def read_config(path: str) -> dict[str, Any]:
    """Read the table of parameters in a TOML file."""
    from elbmf.io.files import reading  # here, for parsers must not wait for numpy

    source = Path(path)
    with reading(source, "TOML"):
        try:
            return tomllib.loads(source.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FileFormatError(f"{path}: not a TOML file: {error}.") from error


def _method_of(table: dict[str, Any]) -> str:
    return str(table.get("method", _DEFAULT_METHOD))


def estimator_of(args: argparse.Namespace) -> tuple[str, "BooleanFactorizer", dict[str, Any]]:
    """Return the name of the method, the estimator, and its parameters as file and flags say."""
    table = read_config(args.config) if args.config else {}
    name = args.method or _method_of(table)
    if name not in ESTIMATORS:
        raise InputError(
            f"{args.config}: there is no method {name!r}. Methods: {', '.join(METHODS)}."
        )
    flags = given(args)
    try:
        values = {key: value for key, value in table.items() if key != "method"}
        from_file = by_any_name(ESTIMATORS[name], values)
        # Looked at apart from the flags, so that an error says whose it is; what a flag replaces
        # may be anything.
        used = {key: value for key, value in from_file.items() if key not in flags}
        made(name, used)
    except InputError as error:
        raise InputError(f"{args.config}: {error}") from error
    parameters = {**from_file, **flags}
    return name, made(name, parameters), parameters


def made(name: str, parameters: dict[str, Any]) -> "BooleanFactorizer":
    """Return a method with parameters, or raise where it does not take them."""
    known = method(name)
    check_values(known, parameters)
    estimator = known(**parameters_from_flags(known, parameters))
    estimator._validate_params()  # which knows what no single value can tell
    return estimator
