"""Flags about matrices and results, the same in all commands."""

import argparse
from typing import Any

from elbmf.cli.flags.parameters import Parameter, parameters_of
from elbmf.cli.parser import rare
from elbmf.estimators.registry import METHODS

__all__ = [
    "DATA",
    "READ_OPTIONS",
    "add_binarize",
    "add_matrix",
    "add_n_jobs",
    "add_reader_options",
    "add_result",
    "at_least_one",
    "group_of",
    "reader_options",
]

READ_OPTIONS = ("header", "row_names", "layout", "delimiter", "encoding", "key", "layer")
"""The options of `elbmf.io.read`, apart from the format."""

DATA = "data"
"""Title of the flags about what is read."""


def group_of(parser: argparse.ArgumentParser, title: str) -> argparse._ArgumentGroup:
    """Return the group of arguments with a title, an empty one if there is none yet."""
    known = (group for group in parser._action_groups if group.title == title)
    return next(known, None) or parser.add_argument_group(title)


def add_matrix(parser: argparse.ArgumentParser) -> None:
    """Add the matrix to factorize."""
    group = group_of(parser, DATA)
    group.add_argument("data", metavar="DATA", help="the matrix: a file of zeros and ones")


def add_result(parser: argparse.ArgumentParser, data: str | None = None) -> None:
    """Add a saved result and, after it, a matrix to look at together with it.

    Parameters
    ----------
    parser : ArgumentParser
        Where to add them.
    data : str, optional
        What the matrix is; none is taken if that is not said.
    """
    parser.add_argument(
        "result", metavar="RESULT", help="folder that 'elbmf fit' or 'elbmf rank' saved"
    )
    if data is not None:
        parser.add_argument(
            "data",
            metavar="DATA",
            nargs="?",
            help=f"{data} (default: what RESULT was made from, where that was)",
        )


def add_reader_options(parser: argparse.ArgumentParser, *, usual: bool = False) -> None:
    """Add the flags that say how to read a matrix; usually none is needed.

    Parameters
    ----------
    parser : ArgumentParser
        Where to add them.
    usual : bool
        Whether the short help shows them.
    """
    group = parser.add_argument_group("reading the matrix")
    if not usual:
        rare(group)
    group.add_argument(
        "--format",
        metavar="NAME",
        help="file format, by default told by the suffix; 'elbmf convert --help' lists them",
    )
    group.add_argument(
        "--layout", metavar="NAME", help="wide (a table) or pairs (a row and a column per line)"
    )
    switch: Any = {"action": argparse.BooleanOptionalAction, "default": None}
    group.add_argument("--header", help="the first line names the columns", **switch)
    group.add_argument("--row-names", help="the first field of a line names the row", **switch)
    group.add_argument("--delimiter", metavar="CHAR", help="what separates fields of a line")
    group.add_argument("--encoding", metavar="NAME", help="encoding of text (default: utf-8)")
    group.add_argument("--key", metavar="NAME", help="which array of an npz file")
    group.add_argument("--layer", metavar="NAME", help="which layer of an h5ad file, instead of X")


def reader_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the reader options that were given, apart from the format."""
    options = {name: getattr(args, name) for name in READ_OPTIONS}
    return {name: value for name, value in options.items() if value is not None}


def add_binarize(parser: argparse.ArgumentParser, note: str = "") -> None:
    """Add the flag that makes ones of large values, as methods describe it."""
    how = _method_parameter("binarize")
    parser.add_argument(
        *how.flags, type=how.parse, metavar=how.metavar, help=how.help(()).removesuffix(".") + note
    )


def add_n_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the flag for the number of threads."""
    parser.add_argument(
        "-j", "--n-jobs", type=at_least_one, metavar="J", help="threads (default: all cores)"
    )


def _method_parameter(name: str) -> Parameter:
    return next(each for each in parameters_of(METHODS["elbmf"]) if each.name == name)


def at_least_one(text: str) -> int:
    """Read a number of things of which there must be some."""
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return count
