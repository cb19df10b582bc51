"""What is noted of a fit and saved with its factors: how it came about, and where its data is."""

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from elbmf.cli.matrices import format_options
from elbmf.estimators import BooleanFactorizer
from elbmf.io.row_batches import STDIN

__all__ = ["command_line", "draw_seed", "whereabouts"]


def draw_seed(estimator: BooleanFactorizer) -> None:
    """Draw a seed where none is given, so that it is known."""
    if estimator.random_state is None:
        estimator.set_params(random_state=int(np.random.default_rng().integers(2**31)))


def command_line(args: argparse.Namespace, given_seed: Any, seed: Any) -> str:
    """Return what makes a result again: what was typed, and the seed, if that was drawn.

    Parameters
    ----------
    args : Namespace
        As `main` made it.
    given_seed : int or None
        The seed that flags or a file of parameters gave.
    seed : int or None
        The seed that was used.
    """
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
    chosen = getattr(args, "format", None)
    options = {"format": chosen} if chosen is not None else {}
    options |= format_options(args, "read")
    return {"path": path, **({"options": options} if options else {})}
