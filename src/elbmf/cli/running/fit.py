"""A fit of ``elbmf fit`` or ``elbmf demo``, and what is noted of how it came about."""

import argparse
import os
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from elbmf.binarizers import Binarize
from elbmf.cli.console import Console
from elbmf.cli.flags.shared import reader_options
from elbmf.cli.interrupt import Interrupt
from elbmf.cli.progress import ProgressLine
from elbmf.cli.reading import learned_boolean, within_memory
from elbmf.cli.running.cluster import Labels, on_cluster
from elbmf.estimators import BooleanFactorizer
from elbmf.estimators.saving import data_notes, noted_parameters, saved_model
from elbmf.io import LabelledMatrix, SavedModel
from elbmf.io.row_batches import STDIN
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines.cluster import DaskMatrix
from elbmf.utils.progress import FitProgress

__all__ = ["command_line", "draw_seed", "fitted_model", "opened", "whereabouts"]


@contextmanager
def opened(
    args: argparse.Namespace, estimator: BooleanFactorizer, binarize: Binarize
) -> Iterator[tuple[BooleanMatrix | DaskMatrix, LabelledMatrix | Labels, dict[str, Any]]]:
    """Lend the data, its names, and what was learned to binarize it."""
    if args.scheduler is not None:
        with on_cluster(args.scheduler, args.data, estimator) as (A, labels):
            yield A, labels, {}
        return
    limit = getattr(estimator, "memory_limit", None)
    with within_memory(args.data, args, binarize, limit) as (table, how):
        boolean, learned = learned_boolean(table, how, args.data)
        yield boolean, table, learned


def fitted_model(
    estimator: BooleanFactorizer,
    method: str,
    A: BooleanMatrix | DaskMatrix,
    table: LabelledMatrix | Labels,
    name: str,
    console: Console,
    interrupt: Interrupt,
) -> SavedModel:
    """Fit an estimator to data that is binarized already, and return what to save.

    The table is where the names are; a request of ``interrupt`` ends the fit early.
    """
    draw_seed(estimator)
    noted = noted_parameters(estimator)
    progress = ProgressLine(console, A.ones, many_ranks=estimator.n_components == "auto")

    def observe(report: FitProgress) -> bool:
        progress.fit(report)
        return interrupt.requested

    # The threshold was applied when A was made.
    estimator.set_params(callback=observe, binarize=None)
    began = time.perf_counter()
    estimator.fit(A)
    seconds = time.perf_counter() - began
    console.status("")
    notes = {
        "method": method,
        "parameters": noted,
        "data": data_notes(name, A),
        "iteration": progress.stage,
        "iterations_seen": progress.iterations,
        "interrupted": interrupt.requested,
        "seconds": round(seconds, 3),
    }
    if interrupt.requested and estimator.stop_reason_ == "callback":
        notes["stop_reason"] = "interrupted"
    notes["warnings"] = list(console.warnings)
    return saved_model(estimator, A, table.row_names, table.column_names, notes)


def draw_seed(estimator: BooleanFactorizer) -> None:
    """Draw a seed where none is given, so that it is known."""
    if estimator.random_state is None:
        estimator.set_params(random_state=int(np.random.default_rng().integers(2**31)))


def command_line(args: argparse.Namespace, given_seed: Any, seed: Any) -> str:
    """Return what makes a result again: what was typed, and the seed, if that was drawn."""
    drawn = [] if given_seed is not None or seed is None else ["--seed", str(seed)]
    return shlex.join(["elbmf", *args.typed, *drawn])


def whereabouts(data: str, args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return where data is, as seen from the folder of a result, and how it is read."""
    if data == STDIN:
        return {}
    try:
        path = os.path.relpath(os.path.abspath(data), os.path.abspath(folder))
    except ValueError:  # on another drive
        path = os.path.abspath(data)
    options = ({"format": args.format} if args.format else {}) | reader_options(args)
    return {"path": path, **({"options": options} if options else {})}
