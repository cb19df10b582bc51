"""``elbmf compare``: run several methods on a matrix, side by side."""

import argparse
from collections.abc import Sequence

from elbmf.cli.console import Console
from elbmf.cli.flags.declared import Parameter
from elbmf.cli.flags.parameters import add_flags, given
from elbmf.cli.flags.shared import (
    add_binarize,
    add_line_weights,
    add_matrix,
    add_reader_options,
)
from elbmf.estimators.registry import METHODS

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf compare data.csv -k 20               find out which method does best on it
  elbmf compare data.csv -k 20 --methods elbmf,asso --refine --time-limit 60
  elbmf compare noisy.csv -k 5 --truth noise-free.csv --seed 1 -o table.csv
  elbmf compare data.npz -k 20 --config parameters.toml --json > table.json

The table is sorted by loss, and a star marks the best of a column. Each method runs in a process
of its own. Time is that of the fit, without reading data and compiling kernels; memory is what the
process needed beyond what it held before the fit.
A TOML file for --config has a section for each method, e.g. [asso] with a line threshold = 0.5.
Ctrl-C ends the comparison with a table of what is finished."""

_OWNER = "comparison"
_COMMON = [
    Parameter(name, types, words, paragraphs=(description,))
    for name, types, words, description in (
        ("n_components", ("int",), ("auto",), "components of each method; auto lets it choose"),
        ("time_limit", ("float",), (), "seconds of each method, which then ends"),
        ("random_state", ("int",), (), "seed of each method"),
        ("n_jobs", ("int",), (), "threads of each method (default: all cores)"),
    )
]


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf compare DATA -k K [options]"
    add_matrix(parser)
    parser.add_argument(
        "--methods",
        metavar="NAMES",
        default="all",
        help=f"all, or names joined by commas: {','.join(METHODS)} (default: all)",
    )
    add_flags(parser, _COMMON, owner=_OWNER)
    parser.add_argument(
        "--refine", action="store_true", help="add what each method leads to when it is refined"
    )
    parser.add_argument("--truth", metavar="FILE", help="the noise-free matrix, for recall*")
    parser.add_argument("--config", metavar="FILE", help="parameters by method, from a TOML file")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="file for the table, which is replaced: .csv, .tsv, .json or .parquet",
    )
    parser.add_argument("--plot", metavar="PICTURE", help="draw loss and time of the methods")
    parser.add_argument("--json", action="store_true", help="print one JSON object, no tables")
    add_binarize(parser)
    add_line_weights(parser)
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, run the methods, say what came out."""
    from elbmf.cli.running import comparison

    return comparison.run(given(args, _OWNER), args, console)
