"""``elbmf rank``: look at many numbers of components and choose one."""

import argparse
from collections.abc import Sequence

from elbmf.cli.console import Console
from elbmf.cli.flags.method import CHECKPOINT, add_method
from elbmf.cli.flags.parameters import add_flags, given, parameters_of
from elbmf.cli.flags.shared import (
    FIND,
    OUTPUT,
    add_line_weights,
    add_matrix,
    add_reader_options,
    add_report,
    group_of,
)

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf rank data.csv --max 30               find out how many components it has
  elbmf rank data.csv --max 100 --holdout 0.1 -o ranks --seed 1
  elbmf rank data.csv --criterion bai_ng_1 --plot ranks.pdf --json > ranks.json

The folder holds ranks.tsv and ranks.json (the table), ranks.png, and model, the factorization with
the chosen number of components: 'elbmf info DIR' shows it.
Ctrl-C ends the search. What is finished is kept, and the same command continues from there."""

_SEARCH = "search"


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments, those of the search and the flags of the method that is asked for."""
    parser.usage = "elbmf rank DATA [--max K] [-o DIR] [options]"
    add_matrix(parser)
    search = parameters_of("elbmf.estimators.rank_search:RankSearch")
    flagged = [each for each in search if each.name != "checkpoint"]
    add_flags(group_of(parser, FIND), flagged, owner=_SEARCH)
    add_method(parser, arguments, unlisted=["n_components"], without=CHECKPOINT)
    group = group_of(parser, OUTPUT)
    group.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="folder to save in (default: the name of the data, with the suffix .ranks)",
    )
    group.add_argument(
        "--plot", metavar="FILE", help="picture to draw (default: ranks.png in the folder)"
    )
    add_report(parser)
    group.add_argument("--json", action="store_true", help="print one JSON object, no tables")
    group.add_argument(
        "--overwrite", action="store_true", help="start over and replace what is there"
    )
    add_line_weights(parser, rarely=True)
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, search, save, say what came out."""
    from elbmf.cli.running import ranks

    return ranks.run(given(args, _SEARCH), args, console)
