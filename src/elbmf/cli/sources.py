"""The data of a saved result: found again where the model notes it, or where the user says."""

import argparse
import atexit
import copy
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elbmf.cli import models
from elbmf.cli.console import Console
from elbmf.cli.matrices import aligned, boolean, model_binarize, within_memory
from elbmf.errors import InputError
from elbmf.io import LabelledMatrix, SavedModel
from elbmf.io.formats import known_options
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["FoundData", "add_data", "found_data"]


@dataclass(frozen=True, eq=False)
class FoundData:
    """The data of a result.

    Parameters
    ----------
    A : BooleanMatrix or None
        None where it could not be found.
    row_names : list of str or None
    note : str
        Why it could not be found; empty where it was.
    path : Path or None
        The file that was read.
    """

    A: BooleanMatrix | None
    row_names: list[str] | None = None
    note: str = ""
    path: Path | None = None


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the flag that says where the data of a result is."""
    parser.add_argument(
        "--data", metavar="FILE", help="the matrix, if it is not where it was or was changed"
    )


def found_data(
    model: SavedModel,
    folder: str | Path,
    path: str | None,
    args: argparse.Namespace,
    console: Console,
) -> FoundData:
    """Find and read the data of a saved result.

    Parameters
    ----------
    model : SavedModel
        The result.
    folder : path-like
        Its folder, or that of the search over ranks that chose it.
    path : str or None
        Where the user says that the data is; by default, where the model notes it. The data of a
        stream is not looked for.
    args : Namespace
        Reader options, which win over those that the model notes.
    console : Console
        For notes on what was done to the data.

    Raises
    ------
    InputError
        If a file that the user names is not the data of the model. One that the model notes is
        then left out, and a note says why.
    """
    if path is not None:
        return _read(model, Path(path), _reader(args, _noted_options(model, path)), console)
    reason, source = _noted_place(model, models.folder_of(folder))
    if source is not None:
        options = model.info["data"].get("options", {})
        try:
            return _read(model, source, _reader(args, options), console)
        except InputError as error:
            reason = f"The data could not be used: {error}"
    return FoundData(None, note=reason)


def _noted_place(model: SavedModel, folder: Path) -> tuple[str, Path | None]:
    """Return where the data of a model is, or why that is not known."""
    noted = model.info.get("data") or {}
    if "stream" in model.info:
        return "The rows of a stream are not kept. Name a file of such rows with --data.", None
    if "path" not in noted:
        return "The result does not note where its data is. Name the file with --data.", None
    place = folder / noted["path"]
    if not place.exists():
        return f"The data is no longer there: {noted['path']}. Name the file with --data.", None
    return "", place


def _noted_options(model: SavedModel, path: str) -> dict[str, object]:
    """Return how the data was read, if a file of the same kind is to be read."""
    noted = model.info.get("data") or {}
    # The data may have another name now, but a layer of it is still the same layer.
    same = Path(path).suffix == Path(str(noted.get("file"))).suffix
    return dict(noted.get("options", {})) if same else {}


def _reader(args: argparse.Namespace, options: dict[str, object]) -> argparse.Namespace:
    """Return reader options: those given, then those noted."""
    merged = copy.copy(args)
    for name in ("format", *(option.name for option in known_options("read"))):
        given = getattr(args, name, None)
        setattr(merged, name, options.get(name) if given is None else given)
    return merged


def _read(model: SavedModel, path: Path, args: argparse.Namespace, console: Console) -> FoundData:
    given = getattr(args, "binarize", None)
    used = model.binarizer() if given is None else given
    limit = (model.info.get("parameters") or {}).get("memory_limit")
    with ExitStack() as stack:
        table, how = stack.enter_context(within_memory(path, args, used, limit))
        table = aligned(table, model, path, console)
        if "stream" not in model.info:
            table = _with_rows_of(table, model, path, console)
        if how is not None:
            how = model_binarize(model, given, table, path, console)
        A = boolean(table, how, path)
        # What is too large for memory stays on the disk until the command ends.
        atexit.register(stack.pop_all().close)
    return FoundData(A, table.row_names, path=path)


def _with_rows_of(
    table: LabelledMatrix, model: SavedModel, path: Path, console: Console
) -> LabelledMatrix:
    """Return the matrix with the rows of a model, in the model's order."""
    theirs, ours = table.row_names, model.row_names
    if table.shape[0] != model.shape[0]:
        raise InputError(
            f"{path}: has {table.shape[0]} rows, but the model was made from {model.shape[0]}. "
            "Name the file that it was made from; 'elbmf score' takes other rows."
        )
    if theirs is None or ours is None or theirs == ours:
        return table
    if len(set(ours)) < len(ours) or sorted(theirs) != sorted(ours):
        at = next(at for at, (a, b) in enumerate(zip(theirs, ours, strict=True)) if a != b)
        raise InputError(
            f"{path}: its rows are not those of the model: row {at} is {theirs[at]!r}, not "
            f"{ours[at]!r}. Name the file that it was made from."
        )
    position = {name: at for at, name in enumerate(theirs)}
    console.note(f"{path}: rows put in the order of the model.")
    order = np.array([position[name] for name in ours])
    return LabelledMatrix(table.values[order], list(ours), table.column_names)
