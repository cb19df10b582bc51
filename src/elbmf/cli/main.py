"""The entry point: the parser of all commands, and what errors look like."""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from elbmf._version import __version__
from elbmf.cli.console import Console
from elbmf.cli.parser import CommandParser, UsageError
from elbmf.cli.registry import COMMANDS
from elbmf.cli.wording import in_flags

__all__ = ["main"]

_BAD_INPUT, _INTERRUPTED = 2, 130

_DESCRIPTION = """\
Boolean matrix factorization: finds k components, each a set of rows and a set of columns,
whose union is as close to a 0/1 matrix as possible."""

_EXAMPLES = """\
examples:
  elbmf demo                                 see it work on images of digits
  elbmf info data.csv                        look at a matrix before factorizing it
  elbmf rank data.csv --max 30               find out how many components it has
  elbmf compare data.csv -k 20               find out which method does best on it
  elbmf fit data.csv -k 20 -o result         factorize it and save the result
  elbmf report result                        make a page about it, to open in a browser
  elbmf score result data.csv                measure a saved result
  elbmf transform result new.csv -o new.tsv  describe new rows by saved components
  elbmf convert data.csv data.npz            change the format of a matrix
  elbmf labels result rows.tsv               compare components with known labels
  elbmf enrich result --sets pathways.gmt    find known sets of columns in components
  elbmf plot map result -o map.png           draw a picture of a saved result
  elbmf data list                            see the data sets of the paper
  elbmf reproduce all --quick                measure and draw the paper's figures anew

'elbmf COMMAND --help' explains a command."""


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="elbmf",
        usage="elbmf COMMAND ...",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after ``elbmf``; those of the process by default.

    Returns
    -------
    int
        Exit code: 0, 2 for bad input or usage, 130 when interrupted.
    """
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
        with console.listening():
            code = args.parser.module.run(args, console)
        sys.stdout.flush()
        return int(code)
    except SystemExit as stop:  # --help and --version
        return int(stop.code or 0)
    except UsageError as error:
        console.error(f"{in_flags(str(error))}\nTry '{error.prog} --help'.")
        return _BAD_INPUT
    except BrokenPipeError:
        _forget_stdout()
        return 0
    except KeyboardInterrupt:
        console.note("elbmf: aborted")
        return _INTERRUPTED
    except Exception as error:
        if not _is_expected(error):
            raise
        if console.verbosity > 1 or os.environ.get("ELBMF_DEBUG"):
            traceback.print_exc()
        console.error(in_flags(_message(error)))
        return _BAD_INPUT


def _is_expected(error: Exception) -> bool:
    """Whether an error is about what the user gave, rather than a fault of this program."""
    from sklearn.utils._param_validation import InvalidParameterError

    from elbmf.errors import ClusterError, InputError, MissingExtraError

    return isinstance(
        error,
        InputError
        | MissingExtraError
        | ClusterError
        | InvalidParameterError
        | OSError
        | MemoryError,
    )


def _message(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".rstrip()
    return str(error)


def _forget_stdout() -> None:
    """Let what is still buffered for a reader that has gone vanish without another complaint."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
