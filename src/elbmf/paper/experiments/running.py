"""From an experiment to its tables, figures and claims, and to the page that shows them all."""

from __future__ import annotations

import importlib
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elbmf import plots
from elbmf.errors import InputError
from elbmf.io.files import replacing, writing
from elbmf.paper.experiments.experiment import Claim, Experiment, Settings, Task
from elbmf.paper.experiments.registry import EXPERIMENTS
from elbmf.paper.experiments.storage import Store

__all__ = [
    "VERDICTS",
    "ExperimentProgress",
    "Outcome",
    "draw_experiment",
    "load_experiment",
    "run_experiment",
    "write_page",
]

_LOG = logging.getLogger(__name__)

# A vector format for print, a pixel format to look at.
_PICTURES = (".pdf", ".png")

VERDICTS = {True: "holds", False: "does not hold", None: "–"}
"""Words for whether a claim holds."""

_TITLE = "The paper's claims, checked"


@dataclass(frozen=True)
class ExperimentProgress:
    """How far an experiment is: the task that begins, tasks finished, and all there are."""

    experiment: str
    task: Task
    done: int
    total: int


@dataclass(frozen=True)
class Outcome:
    """What an experiment gave: files written, claims checked, on which scale and machine."""

    experiment: Experiment
    tables: list[Path]
    pictures: list[Path]
    claims: Sequence[Claim]
    scale: str
    machine: str


def load_experiment(name: str) -> Experiment:
    """Return an experiment by its name, or say which there are."""
    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name!r}. Experiments: {', '.join(EXPERIMENTS)}.")
    experiment: Experiment = importlib.import_module(EXPERIMENTS[name]).EXPERIMENT
    return experiment


def run_experiment(
    experiment: Experiment,
    settings: Settings,
    folder: Path,
    *,
    overwrite: bool = False,
    callback: Callable[[ExperimentProgress], object] | None = None,
) -> Outcome:
    """Measure what is not measured yet, keep it, and draw.

    Tables and figures go to the folder. What was measured there before, with the same settings, is
    not measured again, unless that is to be overwritten. The callback is called before each task.
    """
    plots.new_figure(1, 1)  # what cannot be drawn need not be measured
    store = Store(folder, settings, afresh=overwrite)
    tasks = experiment.tasks(settings)
    lacking = store.lacks(tasks)
    for count, task in enumerate(lacking):
        if callback is not None:
            callback(
                ExperimentProgress(
                    experiment.name, task, len(tasks) - len(lacking) + count, len(tasks)
                )
            )
        _LOG.info("%s: %s", experiment.name, task)
        store.add(task, experiment.measure(task, settings))
    return _drawn(experiment, store, folder, store.finish())


def draw_experiment(experiment: Experiment, folder: Path) -> Outcome | None:
    """Draw again what was measured in a folder, with whatever settings; None if nothing was."""
    store = Store(folder)
    return _drawn(experiment, store, folder, []) if store.tables else None


def _drawn(experiment: Experiment, store: Store, folder: Path, tables: list[Path]) -> Outcome:
    pictures = []
    for name, figure in experiment.draw(store.tables).items():
        for suffix in _PICTURES:
            pictures.append(folder / f"{name}{suffix}")
            plots.save(figure, pictures[-1])
    note = store.note()
    scale = "full" if note["settings"]["full"] else "quick"
    return Outcome(
        experiment,
        tables,
        pictures,
        experiment.claims(store.tables),
        f"{scale}, seed {note['settings']['seed']}",
        note["machine"],
    )


def write_page(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write the page of the paper's claims, checked: a row for each claim, and all figures.

    It is a file of Markdown, which is replaced, with its pictures in a folder of the same name.
    """
    pictures = path.with_suffix("")
    with writing(pictures):
        pictures.mkdir(parents=True, exist_ok=True)
        for outcome in outcomes:
            for picture in _to_look_at(outcome):
                shutil.copyfile(picture, pictures / picture.name)
    text = "\n".join(_lines(outcomes, pictures.name))
    with replacing(path, compress=False) as stream:
        stream.write(f"{text}\n".encode())


def _to_look_at(outcome: Outcome) -> list[Path]:
    return [picture for picture in outcome.pictures if picture.suffix == ".png"]


def _lines(outcomes: Sequence[Outcome], pictures: str) -> Iterator[str]:
    claims = [claim for outcome in outcomes for claim in outcome.claims]
    yield f"# {_TITLE}\n"
    yield (
        "Written by `elbmf reproduce NAME --page FILE`, a section for each experiment (`all`: all "
        'of them). What stands in parentheses behind a claim is ours: where the paper says "high" '
        'or "similar", a bound had to be chosen. "Plain" is ELBMF as the paper describes it '
        '(`refine=False`); "refined" is the default. A claim that is not about the result of '
        "ELBMF has one verdict only, and a dash is a claim that could not be measured.\n"
    )
    yield f"{_summary(claims)}\n"
    for machine in dict.fromkeys(outcome.machine for outcome in outcomes):
        yield f"Measured on: {machine}.\n"
    for outcome in outcomes:
        experiment = outcome.experiment
        yield f"## {experiment.shows}: {experiment.title}\n"
        yield f"`elbmf reproduce {experiment.name}` ({outcome.scale})\n"
        if experiment.remark:
            yield f"{experiment.remark}\n"
        for picture in _to_look_at(outcome):
            yield f"![{experiment.shows}: {experiment.title}]({pictures}/{picture.name})\n"
        if outcome.claims:
            yield "| where | the paper says | plain | | refined | |"
            yield "|---|---|---|---|---|---|"
            for claim in outcome.claims:
                yield f"| {' | '.join(_cells(claim))} |"
            yield ""


def _cells(claim: Claim) -> list[str]:
    refined = VERDICTS[claim.refined_holds] if claim.refined else ""
    return [
        _escaped(text)
        for text in (
            claim.where,
            claim.says,
            claim.plain,
            VERDICTS[claim.plain_holds],
            claim.refined,
            refined,
        )
    ]


def _escaped(text: str) -> str:
    """Keep the signs that tables and emphasis are made of as they are."""
    for sign in "|*_":
        text = text.replace(sign, f"\\{sign}")
    return text


def _summary(claims: Sequence[Claim]) -> str:
    plain = [claim.plain_holds for claim in claims if claim.plain_holds is not None]
    refined = [claim.refined_holds for claim in claims if claim.refined_holds is not None]
    return (
        f"Of {len(plain)} claims that could be measured, {sum(plain)} hold. Of the {len(refined)} "
        f"that are about the result of ELBMF, {sum(refined)} hold when it is refined."
    )
