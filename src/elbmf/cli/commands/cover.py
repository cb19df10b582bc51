"""``elbmf cover``: explain a matrix by the fewest components."""

import argparse
from collections.abc import Sequence

from elbmf.cli.console import Console
from elbmf.cli.flags.method import add_parameters
from elbmf.cli.flags.shared import (
    add_line_weights,
    add_matrix,
    add_reader_options,
    add_saving,
    add_write_back,
)

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf cover permissions.csv -o roles            the fewest roles that grant exactly that
  elbmf cover permissions.csv -o roles --time-limit 60 --report
  elbmf cover data.csv -o result --max-loss 20    up to 20 ones may be left out

The folder is that of 'elbmf fit': factors.npz and model.json; --tsv adds tables of components, rows
and columns, --report a page for a browser.
Ctrl-C ends the search and saves the best that was found; twice, it ends at once."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf cover DATA -o DIR [options]"
    add_matrix(parser)
    add_parameters(parser, "cover")
    add_saving(parser)
    add_write_back(parser)
    add_line_weights(parser, rarely=True)
    add_reader_options(parser)
    # What only other fits can do.
    parser.set_defaults(method="cover", stream=False, resume=False, scheduler=None)


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, cover, save, say what came out."""
    from elbmf.cli.running import fit

    return fit.run(args, console)
