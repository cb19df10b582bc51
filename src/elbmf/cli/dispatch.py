"""What a command line does: the parser of all commands, and what errors look like."""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from elbmf._version import __version__
from elbmf.cli.console import Console
from elbmf.cli.flags.parameters import as_flag
from elbmf.cli.flags.shared import settle_log1p
from elbmf.cli.interrupt import Ending
from elbmf.cli.parser import CommandParser, UsageError
from elbmf.cli.registry import COMMANDS
from elbmf.errors import ClusterError, InputError, MissingExtraError, worded

__all__ = ["run"]

_BAD_INPUT = 2

_DESCRIPTION = """\
Boolean matrix factorization: finds k components, each a set of rows and a set of columns,
whose union is as close to a 0/1 matrix as possible."""


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="elbmf",
        usage="elbmf COMMAND ...",
        description=_DESCRIPTION,
        epilog=_examples,
    )
    parser.add_argument("--version", action="version", version=f"elbmf {__version__}")
    commands = parser.add_subparsers(
        dest="command",
        metavar="COMMAND",
        title="commands",
        prog="elbmf",
        parser_class=CommandParser,
    )
    for command in COMMANDS:
        added: Any = commands.add_parser(command.name, help=command.summary, command=command)
        added.set_defaults(parser=added)
    return parser


def _examples() -> str:
    """Return the first example of each command."""
    first = [line for each in COMMANDS for line in each.load().EXAMPLES.splitlines()[1:2]]
    return "\n".join(["examples:", *first, "", "'elbmf COMMAND --help' explains a command."])


def run(argv: Sequence[str] | None, ending: Ending) -> int:
    """Run a command line; ``ending`` tells whether a signal has asked for an end."""
    console = Console()
    try:
        parser = _parser()
        args, unknown = parser.parse_known_args(argv)
        if args.command is None:
            parser.print_help(sys.stderr)
            return _BAD_INPUT
        if unknown:
            args.parser.unknown(unknown)
        args.typed = list(sys.argv[1:] if argv is None else argv)
        console = Console(args.quiet, args.verbose)
        ending.quiet = args.quiet
        settle_log1p(args)
        with console.listening():
            code = args.parser.module.run(args, console)
        sys.stdout.flush()
        return int(code)
    except SystemExit as stop:  # --help and --version
        return int(stop.code or 0)
    except UsageError as error:
        console.error(f"{error}\nTry '{error.prog} --help'.")
        return _BAD_INPUT
    except BrokenPipeError:
        _forget_stdout()
        return 0
    except Exception as error:
        if ending.code is not None or not _is_expected(error):
            raise
        if console.verbosity > 1 or os.environ.get("ELBMF_DEBUG"):
            traceback.print_exc()
        console.error(_message(error))
        return _BAD_INPUT


def _is_expected(error: Exception) -> bool:
    """Whether an error is about what the user gave, rather than a fault of this program."""
    if isinstance(error, InputError | MissingExtraError | ClusterError | OSError | MemoryError):
        return True
    from elbmf.utils.constraints import InvalidParameterError

    return isinstance(error, InvalidParameterError)


def _message(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".rstrip()
    return worded(error, as_flag)


def _forget_stdout() -> None:
    """Let what is still buffered for a reader that has gone vanish without another complaint."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
