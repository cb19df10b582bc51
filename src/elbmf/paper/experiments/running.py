"""From an experiment to its tables, figures and claims: one straight line."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from elbmf import plots
from elbmf.errors import InputError
from elbmf.paper.experiments.experiment import Claim, Experiment, Settings, Task
from elbmf.paper.experiments.registry import EXPERIMENTS
from elbmf.paper.experiments.storage import Store

__all__ = ["ExperimentProgress", "Outcome", "draw_experiment", "load_experiment", "run_experiment"]

_LOG = logging.getLogger(__name__)

# A vector format for print, a pixel format to look at.
_PICTURES = (".pdf", ".png")


@dataclass(frozen=True)
class ExperimentProgress:
    """How far an experiment is.

    Parameters
    ----------
    experiment : str
        Its name.
    task : dict
        The task that begins.
    done, total : int
        Tasks finished, and all there are.
    """

    experiment: str
    task: Task
    done: int
    total: int


@dataclass(frozen=True)
class Outcome:
    """What an experiment gave.

    Parameters
    ----------
    experiment : Experiment
        Which.
    tables, pictures : list of Path
        The files written.
    claims : sequence of Claim
        The paper's claims, checked.
    scale : str
        Whether the run was quick or full, and its seed.
    machine : str
        Where it was measured.
    """

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

    Parameters
    ----------
    experiment : Experiment
        Which.
    settings : Settings
        How.
    folder : Path
        Where the tables and figures go. What was measured there before, with the same settings,
        is not measured again.
    overwrite : bool, default=False
        Measure all anew.
    callback : callable, optional
        Called with a `ExperimentProgress` before each task.
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
