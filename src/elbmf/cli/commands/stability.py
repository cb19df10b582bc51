"""``elbmf stability``: tell which components return when the data is resampled."""

import argparse
from collections.abc import Sequence

from elbmf.cli.console import Console
from elbmf.cli.flags.method import CHECKPOINT, add_method
from elbmf.cli.flags.parameters import add_flags, given, parameters_of
from elbmf.cli.flags.shared import (
    FIND,
    OUTPUT,
    add_matrix,
    add_reader_options,
    add_report,
    group_of,
)

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf stability data.csv -k 20             see which of 20 components return
  elbmf stability data.csv -k 20 --runs 50 -o stable --seed 1
  elbmf stability data.csv -k 20 --resample rows:0.8,columns:0.8 --json > stable.json

The folder is like that of 'elbmf fit', and also notes how reliably each component returns:
'elbmf info', 'elbmf report' and 'elbmf plot stability' show it. Its folder consensus has what
the runs agree on, as a result.
Ctrl-C ends it with what is finished. With -o, the same command continues from there."""

_OWNER = "stability"


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments, and the flags of the method that is asked for."""
    parser.usage = "elbmf stability DATA -k K [--runs R] [-o DIR] [options]"
    add_matrix(parser)
    own = parameters_of("elbmf.comparison.stability:Stability")
    flagged = [each for each in own if each.name in ("runs", "resample")]
    add_flags(group_of(parser, FIND), flagged, owner=_OWNER)
    add_method(parser, arguments, without=CHECKPOINT)
    group = group_of(parser, OUTPUT)
    group.add_argument("-o", "--output", metavar="DIR", help="folder to save in")
    group.add_argument(
        "--cut",
        metavar="SHARE",
        type=float,
        default=0.5,
        help="recurrence below which a component is not in the consensus (default: %(default)s)",
    )
    add_report(parser)
    group.add_argument("--json", action="store_true", help="print one JSON object, no tables")
    group.add_argument(
        "--overwrite", action="store_true", help="start over and replace what is there"
    )
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, fit all data and parts of it, save, say what came out."""
    from elbmf.cli.running import stability

    return stability.run(given(args, _OWNER), args, console)
