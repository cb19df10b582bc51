"""``elbmf reproduce``: the paper's figures and tables, measured and drawn anew."""

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path

from elbmf.cli.console import Console
from elbmf.cli.matrices import add_n_jobs
from elbmf.cli.outputs import check_document
from elbmf.cli.progress import ProgressLine
from elbmf.cli.tables import table
from elbmf.errors import InputError
from elbmf.paper.catalog import data_folder
from elbmf.paper.experiments.experiment import Experiment, Settings
from elbmf.paper.experiments.page import VERDICTS, write_page
from elbmf.paper.experiments.registry import EXPERIMENTS
from elbmf.paper.experiments.running import (
    Outcome,
    draw_experiment,
    load_experiment,
    run_experiment,
)
from elbmf.paper.experiments.storage import Store

__all__ = ["EXAMPLES", "configure", "run"]

_INTERRUPTED = 130
_ALL = "all"
_WIDTH = 96

EXAMPLES = f"""\
examples:
  elbmf reproduce --list
  elbmf reproduce noise
  elbmf reproduce all --quick
  elbmf reproduce real-data --full --data matrices
  elbmf reproduce all --full --page claims.md

Names: {", ".join(EXPERIMENTS)}.
What was measured goes to parquet files, a folder for each experiment, and the figures are drawn
from these. A run that was interrupted goes on where it was when the same command is given again;
what is measured already is only drawn again."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf reproduce NAME [--quick | --full] [options]"
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="an experiment, or all; --list tells which there are",
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
        help="folder of prepared data, may be given again (default: that of 'elbmf data')",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed (default: 0)")
    parser.add_argument(
        "--page", metavar="FILE", help="write the paper's claims, checked, to FILE.md"
    )
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--overwrite", action="store_true", help="measure all anew")
    again.add_argument(
        "--draw-only",
        action="store_true",
        help="measure nothing; draw what was measured before, with whatever settings",
    )
    add_n_jobs(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Measure, draw, and say which claims hold."""
    if args.list:
        console.result(_listing())
        return 0
    if args.name is None:
        raise InputError("the name of an experiment is missing. Try: elbmf reproduce --list")
    experiments = [load_experiment(name) for name in _chosen(args.name)]
    if args.page:
        check_document(Path(args.page), ".md")
    folder = Path(args.output)
    if args.draw_only:
        outcomes = _drawn(experiments, folder, console)
    else:
        outcomes = _run(experiments, folder, args, console)
    if len(outcomes) < len(experiments) and not args.draw_only:
        return _INTERRUPTED
    if args.page:
        write_page(Path(args.page), outcomes)
        console.note(f"Wrote {args.page}")
    return 0


def _run(
    experiments: Sequence[Experiment], folder: Path, args: argparse.Namespace, console: Console
) -> list[Outcome]:
    """Run experiments and say what came out; fewer come back where that was interrupted."""
    settings = Settings(
        full=args.full, seed=_seed(args.seed), data=_folders(args.data), n_jobs=args.n_jobs
    )
    for experiment in experiments:  # before hours of work, not after
        Store(folder / experiment.name, settings, afresh=args.overwrite)
    progress = ProgressLine(console)
    outcomes: list[Outcome] = []
    for experiment in experiments:
        console.note(f"{experiment.shows}: {experiment.title} …")
        try:
            outcome = run_experiment(
                experiment, settings, folder / experiment.name, callback=progress.experiment
            )
        except KeyboardInterrupt:
            console.status("")
            same = "the same command without --overwrite" if args.overwrite else "the same command"
            console.note(f"Interrupted: what is measured is kept in {folder}; {same} goes on")
            break
        console.result(_text(outcome))
        outcomes.append(outcome)
    return outcomes


def _drawn(experiments: Sequence[Experiment], folder: Path, console: Console) -> list[Outcome]:
    """Draw again what was measured, and say what came out."""
    outcomes = []
    for experiment in experiments:
        outcome = draw_experiment(experiment, folder / experiment.name)
        if outcome is not None:
            console.result(_text(outcome))
            outcomes.append(outcome)
    if not outcomes:
        names = ", ".join(experiment.name for experiment in experiments)
        raise InputError(f"{folder}: nothing was measured there of {names}. Measure it first.")
    return outcomes


def _chosen(name: str) -> list[str]:
    return list(EXPERIMENTS) if name == _ALL else [name]


def _seed(seed: int) -> int:
    if seed < 0:
        raise InputError(f"--seed must be a number from 0 on; got {seed}.")
    return seed


def _folders(given: Sequence[str] | None) -> tuple[Path, ...]:
    """Return the folders to look for data in: where 'elbmf data prepare' puts it by default."""
    if not given:
        return (data_folder(),)
    folders = tuple(Path(each) for each in given)
    for folder in folders:
        if not folder.is_dir():
            what = "is a file, expected a folder" if folder.exists() else "there is no such folder"
            raise InputError(
                f"--data {folder}: {what}. Name one that 'elbmf data prepare' wrote to."
            )
    return folders


def _listing() -> str:
    rows = []
    for name in EXPERIMENTS:
        experiment = load_experiment(name)
        rows.append([name, experiment.shows, experiment.title])
    return table(["name", "shows", "what"], rows, left=range(3))


def _text(outcome: Outcome) -> str:
    """Say which claims hold, and where the files are."""
    lines = [f"{outcome.experiment.shows}: {outcome.experiment.title}"]
    for claim in outcome.claims:
        lines.append(f"  {claim.says}")
        for label, measured, holds in (
            ("plain" if claim.refined else "", claim.plain, claim.plain_holds),
            ("refined", claim.refined, claim.refined_holds),
        ):
            if measured:
                start = f"    {label + ': ' if label else ''}{VERDICTS[holds]}. "
                lines += textwrap.wrap(start + measured, _WIDTH, subsequent_indent="      ")
    files = [*outcome.tables, *outcome.pictures]
    return "\n".join([*lines, f"  {' '.join(map(str, files))}", ""])
