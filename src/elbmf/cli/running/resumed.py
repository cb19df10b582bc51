"""What commands share that keep what is finished in their folder, and go on from there."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from elbmf.cli.flags.parameters import named
from elbmf.cli.running.fit import whereabouts
from elbmf.cli.writing import save
from elbmf.errors import InputError
from elbmf.estimators import BooleanFactorizer
from elbmf.estimators.saving import saved_model
from elbmf.io import MODEL_FILES, LabelledMatrix, SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.step_folder import OtherSearchError

__all__ = ["finishes", "remove_model", "same_command", "save_fitted"]


def finishes(
    work: Callable[[], Any],
    folder: Path | None,  # Where it keeps what is finished, if it does
    other: str,  # What is there where it has been begun with other data or parameters
) -> bool:
    """Do some work, and return whether that came to its end."""
    try:
        work()
    except KeyboardInterrupt:
        return False
    except OtherSearchError as error:
        raise InputError(
            f"{folder}: has {other}, with other {named(error.differing)}. Choose another folder "
            "with -o, or pass --overwrite to start over in this one."
        ) from error
    return True


def same_command(args: argparse.Namespace) -> str:
    """Say which command goes on."""
    return "the same command without --overwrite" if args.overwrite else "the same command"


def remove_model(folder: Path) -> None:
    """Remove the files of a model, and nothing else that may be there."""
    for name in reversed(MODEL_FILES):
        (folder / name).unlink(missing_ok=True)


def save_fitted(
    folder: Path,
    fitted: BooleanFactorizer,
    data: tuple[BooleanMatrix, LabelledMatrix],
    notes: dict[str, Any],  # Those of the method that has led to it, maybe at another rank
    args: argparse.Namespace,
) -> SavedModel:
    """Save what was found by the way to something else, and return it."""
    A, names = data
    notes = {
        **notes,
        "parameters": {**notes["parameters"], "n_components": fitted.n_components},
        "data": replace(notes["data"], **whereabouts(args.data, args, folder)),
    }
    model = saved_model(fitted, A, names.row_names, names.column_names, notes)
    save(folder, model, overwrite=True, tsv=False)
    return model
