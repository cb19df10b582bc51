"""Flags about what commands write."""

import argparse
from pathlib import Path

from elbmf.cli.flags.matrix import group_of
from elbmf.cli.flags.method import OUTPUT

__all__ = ["PAGE", "add_report"]

PAGE = "report.html"
"""What the report is called in the folder of its result."""


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the flag that asks for a report of what is found."""
    group_of(parser, OUTPUT).add_argument(
        "--report",
        metavar="FILE",
        nargs="?",
        const="",
        type=_page_name,
        help=f"also make a page about it for a browser (default: {PAGE} in the folder)",
    )


def _page_name(text: str) -> str:
    # The flag takes what follows it for its value, which may be DATA.
    if text and Path(text).suffix.lower() != ".html":
        raise argparse.ArgumentTypeError(
            f"the name of a page must end in .html; got {text!r}. If no name is meant, put "
            "--report last"
        )
    return text
