"""``elbmf fit``: factorize a matrix and save the result."""

import argparse
from collections.abc import Sequence

from elbmf.cli.console import Console
from elbmf.cli.flags.method import add_method
from elbmf.cli.flags.shared import (
    add_line_weights,
    add_matrix,
    add_reader_options,
    add_saving,
    add_write_back,
    at_least_one,
)
from elbmf.cli.parser import rare

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf fit data.csv -k 20 -o result         factorize it and save the result
  elbmf fit data.csv -k auto -o result --report
  elbmf fit counts.h5ad --layer counts --binarize 0 -k 50 -o result --tsv
  elbmf fit cells.h5ad --binarize positive -k 8 -o result --write-back
  zcat log.dat.gz | elbmf fit --stream - -k 20 -o result
  elbmf fit data.npz --config parameters.toml --seed 1 -o result --json > result.json
  elbmf fit data.npz -k 50 -o result --checkpoint kept --every 10 --resume
  elbmf fit big.matrix --scheduler tcp://127.0.0.1:8786 -k 20 -o result

The folder holds factors.npz and model.json; --tsv adds tables of components, rows and columns
(with margins: how firmly each belongs), --report a page for a browser.
A TOML file for --config has one line per parameter, e.g. max_iter = 1000; flags override it.
Ctrl-C ends the run after the current epoch and saves what was found; twice, it ends at once.
If a run with --checkpoint was killed, --resume continues from there, to the same result."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments, and the flags of the method that is asked for."""
    parser.usage = "elbmf fit DATA -k K -o DIR [options]"
    add_matrix(parser)
    add_method(parser, arguments)
    add_saving(parser)
    add_write_back(parser)
    add_line_weights(parser, rarely=True)
    _add_rare(parser)
    add_reader_options(parser)


def _add_rare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of fits that go on, run elsewhere, or see rows that pass by."""
    rare(
        parser.add_argument(
            "--resume",
            action="store_true",
            help="go on from the checkpoint, if there is one, with the same data and parameters",
        )
    )
    rare(
        parser.add_argument(
            "--scheduler",
            metavar="ADDRESS",
            help="fit on the workers of a Dask cluster, e.g. tcp://127.0.0.1:8786; DATA is a "
            "matrix folder that all of them reach",
        )
    )
    group = parser.add_argument_group("rows that do not fit into memory, or do not end")
    rare(group)
    group.add_argument(
        "--stream",
        action="store_true",
        help="read DATA row by row, - for standard input: fimi (the default there), csv or tsv; "
        "their memberships are not kept",
    )
    group.add_argument(
        "--batch-rows",
        type=at_least_one,
        metavar="N",
        default=256,
        help="rows at a time (default: %(default)s)",
    )
    group.add_argument(
        "--passes", type=at_least_one, metavar="N", default=1, help="times to read a file (1)"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, fit, save, say what came out."""
    from elbmf.cli.running import fit

    return fit.run(args, console)
