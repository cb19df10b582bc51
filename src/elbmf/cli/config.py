"""Parameters of a fit: from a TOML file and from flags, which win."""

import argparse
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from sklearn.utils._param_validation import InvalidParameterError

from elbmf.cli import solver_flags
from elbmf.errors import FileFormatError, InputError
from elbmf.estimators import METHODS
from elbmf.io.files import reading

__all__ = ["add_arguments", "early_method", "parameters", "read_config"]

_DEFAULT_METHOD = "elbmf"


def add_arguments(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str],
    unlisted: Collection[str] = (),
    without: Collection[str] = (),
) -> None:
    """Add the choice of a method, and the flags of the method that is asked for.

    Parameters
    ----------
    parser : ArgumentParser
        Where to add them.
    arguments : sequence of str
        Those about to be parsed.
    unlisted : collection of str
        Names of parameters that the help leaves out.
    without : collection of str
        Names of parameters that have no flag.
    """
    parser.add_argument(
        "--method",
        choices=sorted(METHODS),
        default=None,
        help="how to factorize (default: elbmf); each has parameters of its own",
    )
    parser.add_argument("--config", metavar="FILE", help="parameters from a TOML file")
    method = early_method(arguments)
    if method in METHODS:
        group = parser.add_argument_group(f"parameters of the method {method}")
        parameters = solver_flags.parameters_of(METHODS[method])
        flagged = [parameter for parameter in parameters if parameter.name not in without]
        solver_flags.add_flags(group, flagged, unlisted=unlisted)


def read_config(path: str) -> dict[str, Any]:
    """Read the table of parameters in a TOML file."""
    source = Path(path)
    try:
        with reading(source):
            return tomllib.loads(source.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path}: not a TOML file: {error}.") from error


def early_method(arguments: Sequence[str]) -> str:
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


def _method_of(table: dict[str, Any]) -> str:
    return str(table.get("method", _DEFAULT_METHOD))


def parameters(args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Return the method and its parameters, as given by file and flags.

    Parameters
    ----------
    args : Namespace
        With ``method``, ``config`` and the flags of the method.
    """
    table = read_config(args.config) if args.config else {}
    method = args.method or _method_of(table)
    if method not in METHODS:
        raise InputError(
            f"{args.config}: there is no method {method!r}. Methods: {', '.join(METHODS)}."
        )
    values = {key: value for key, value in table.items() if key != "method"}
    flags = solver_flags.given(args)
    try:
        from_file = solver_flags.by_any_name(METHODS[method], values)
        # Looked at apart from the flags, so that an error says whose it is; what a flag replaces
        # may be anything.
        used = {name: value for name, value in from_file.items() if name not in flags}
        METHODS[method](**used)._validate_params()
    except (InputError, InvalidParameterError) as error:
        raise InputError(f"{args.config}: {error}") from error
    return method, {**from_file, **flags}
