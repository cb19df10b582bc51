"""The experiments of ``elbmf reproduce``, run or drawn again, and what is said of them."""

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path

from elbmf.cli.console import Console
from elbmf.cli.progress import ProgressLine
from elbmf.cli.text.tables import table
from elbmf.errors import InputError
from elbmf.paper.catalog import data_folder
from elbmf.paper.experiments.experiment import Experiment, Settings
from elbmf.paper.experiments.registry import EXPERIMENTS
from elbmf.paper.experiments.running import (
    VERDICTS,
    Outcome,
    draw_experiment,
    load_experiment,
    run_experiment,
)
from elbmf.paper.experiments.storage import Store

__all__ = ["drawn_again", "listing", "run_all"]

_WIDTH = 96


def run_all(
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


def drawn_again(experiments: Sequence[Experiment], folder: Path, console: Console) -> list[Outcome]:
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


def listing() -> str:
    """List the experiments and what they show."""
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
