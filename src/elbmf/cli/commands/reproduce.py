"""``elbmf reproduce``: the paper's figures and tables, measured and drawn anew."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import add_n_jobs
from elbmf.cli.interrupt import INTERRUPTED
from elbmf.errors import InputError
from elbmf.paper.experiments.registry import EXPERIMENTS

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = f"""\
examples:
  elbmf reproduce all --quick                measure and draw the paper's figures again
  elbmf reproduce --list
  elbmf reproduce noise
  elbmf reproduce real-data --full --data matrices
  elbmf reproduce all --full --page claims.md

Names: {", ".join(EXPERIMENTS)}.
What was measured goes to parquet files, a folder for each experiment, and the figures are drawn
from these. If a run was interrupted, the same command continues where it was; what is already
measured is only drawn again."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf reproduce NAME [--quick | --full] [options]"
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="an experiment, or all; --list shows them all",
    )
    parser.add_argument(
        "--list", action="store_true", help="list the experiments and what they show"
    )
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument(
        "--quick",
        action="store_true",
        help="fewer draws and epochs: all in some minutes (this is the default)",
    )
    scale.add_argument(
        "--full",
        action="store_true",
        help="the paper's sizes, draws and epochs: hours on real data",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        default="reproduced",
        help="folder for tables and figures (default: reproduced)",
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        action="append",
        help="folder of prepared data; may be repeated (default: that of 'elbmf data')",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed (default: 0)")
    parser.add_argument(
        "--page", metavar="FILE", help="write the paper's claims, checked, to FILE.md"
    )
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--overwrite", action="store_true", help="measure everything again")
    again.add_argument(
        "--draw-only",
        action="store_true",
        help="measure nothing; draw what was measured before, with whatever settings",
    )
    add_n_jobs(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Measure, draw, and say which claims hold."""
    from elbmf.cli.running.experiments import drawn_again, listing, run_all
    from elbmf.cli.writing import check_document
    from elbmf.paper.experiments.running import load_experiment, write_page

    if args.list:
        console.result(listing())
        return 0
    if args.name is None:
        raise InputError("the name of an experiment is missing. Try: elbmf reproduce --list")
    names = list(EXPERIMENTS) if args.name == "all" else [args.name]
    experiments = [load_experiment(name) for name in names]
    if args.page:
        check_document(Path(args.page), ".md")
    folder = Path(args.output)
    if args.draw_only:
        outcomes = drawn_again(experiments, folder, console)
    else:
        outcomes = run_all(experiments, folder, args, console)
    if len(outcomes) < len(experiments) and not args.draw_only:
        return INTERRUPTED
    if args.page:
        write_page(Path(args.page), outcomes)
        console.note(f"Wrote {args.page}")
    return 0
