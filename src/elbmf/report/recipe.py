"""How a result came about, and what makes it again."""

from __future__ import annotations

import inspect
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from elbmf.errors import InputError
from elbmf.estimators.registry import ESTIMATORS, method
from elbmf.estimators.schedule_flags import parameters_from_flags
from elbmf.io.formats import format_of
from elbmf.io.model_info import DataInfo, ModelInfo
from elbmf.relaxation.regularizers import REGULARIZERS, Regularizer
from elbmf.relaxation.schedules import Schedule
from elbmf.report.document import Recipe, Trace
from elbmf.report.limits import Limits
from elbmf.report.packing import short_numbers
from elbmf.utils.text import number, shortened

__all__ = ["recipe_of", "trace_of"]


# For the weights of each side: what a fit calls them, and the flag that names their file.
_WEIGHTS = {"rows": ("sample_weight", "row"), "columns": ("feature_weight", "column")}

# How a parameter that is a matrix is noted, see `elbmf.estimators.saving.noted_parameters`.
_NOTED_MATRIX = "matrix of shape "


def recipe_of(info: ModelInfo, limits: Limits) -> Recipe:
    """Say what makes a result again, from the notes of its model."""
    seed = info.parameters.get("random_state") if info.seed is None else info.seed

    def text(value: Any) -> str | None:
        return None if value is None else shortened(str(value), limits.text)

    return Recipe(
        command=text(info.command),
        code=_code(info),
        parameters={
            name: shortened(str(value), limits.text)
            for name, value in info.parameters.items()
            if value is not None
        },
        seed=text(seed),
        versions=info.versions,
        data=_data(info.data, limits),
        stages=[(each.stage, round(each.cost / info.price)) for each in info.stages],
        run_losses=[round(loss / info.price) for loss in info.run_losses],
    )


def _data(noted: DataInfo, limits: Limits) -> dict[str, str]:
    """Say what is noted of the data, and how it was read."""
    figures = {
        "file": noted.file and shortened(noted.file, limits.text),
        "missing": None if noted.missing is None else number(noted.missing),
        "ones": None if noted.ones is None else number(noted.ones),
        "shape": " × ".join(map(number, noted.shape)),
    }
    known = {name: value for name, value in figures.items() if value}
    return known | {name: str(value) for name, value in (noted.other | noted.options).items()}


def _code(info: ModelInfo) -> str | None:
    """Return Python that reads and fits the same, or None where a part of that is not known.

    Data that no file is noted of is X.
    """
    if (
        info.method is None
        or info.method not in ESTIMATORS
        or info.stream is not None
        or not info.parameters
    ):
        return None
    known = method(info.method)
    try:
        parameters = parameters_from_flags(known, info.parameters)
    except (InputError, TypeError, ValueError):
        return None
    imports, arguments = [f"from elbmf import {known.__name__}"], []
    for name, parameter in inspect.signature(known).parameters.items():
        value = parameters.get(name, parameter.default)
        if value == parameter.default:
            continue
        # Infinity is noted as text, for JSON knows none.
        if value in ("inf", "-inf"):
            shown = f'float("{value}")'
        elif isinstance(value, Schedule | Regularizer):
            shown = repr(value)
            imports.append(f"from {type(value).__module__} import {type(value).__name__}")
        elif name in ("schedule", "regularizer") and value not in [*REGULARIZERS]:
            return None  # one of the user's own
        elif _is_plain(value):
            shown = repr(value)
        else:
            return None
        arguments.append(f"{name}={shown}")
    read = _read(info)
    if read is None:
        return None
    of_io, lines, data = read
    weights = _weights(info)
    if weights is None:
        return None
    imported, more, given = weights
    if of_io or imported:
        imports.append(f"from elbmf.io import {', '.join(sorted([*of_io, *imported]))}")
    fit = f"model = {known.__name__}({', '.join(arguments)}).fit({', '.join([data, *given])})"
    told = ["print(model.reconstruction_err_)", *(_NAMES if of_io else ())]
    return "\n".join([*imports, "", *lines, *more, fit, *told])


# What tells the names of the columns of each component; a file may have none.
_NAMES = (
    "names = table.column_labels()",
    "for component in model.components_:",
    "    print([names[at] for at in component.nonzero()[0]])",
)


def _is_plain(value: Any) -> bool:
    """Whether a value is noted as it was, and Python reads it back as it writes it."""
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, str):
        return not value.startswith(_NOTED_MATRIX)
    return value is None or isinstance(value, bool | int | float)


def _read(info: ModelInfo) -> tuple[list[str], list[str], str] | None:
    """Return what reads the data: names to import, lines, and what stands for it then.

    Whatever options are noted are passed on.
    """
    data = info.data
    if data.file is None:
        return [], ["# X is the matrix that was given to fit"], "X"
    if not all(map(_is_plain, data.options.values())):
        return None
    options = "".join(f", {name}={value!r}" for name, value in data.options.items())
    lines = [f"table = read({_as_typed(info, data.file)!r}{options})"]
    try:
        folder = format_of(Path(data.file), data.options.get("format")).folder
    except InputError:
        return None
    return ["read"], lines, "table.stored" if folder else "table.values"


def _weights(info: ModelInfo) -> tuple[list[str], list[str], list[str]] | None:
    """Return what reads weights, as `_read` does, and what of them is passed to a fit."""
    if info.weighted is None:
        return [], [], []
    lines, given = [], []
    for side in info.weighted.sides:
        name, noun = _WEIGHTS[side]
        if info.data.file is None:
            given.append(f"{name}={noun}_weights")
            lines.append(f"# {noun}_weights are those that were given to fit")
            continue
        file = _value_of(f"--{noun}-weights", info)
        if file is None:
            return None
        given.append(f"{name}=read_weights({file!r}, table.{noun}_labels(), {noun!r})")
    return ["read_weights"] if info.data.file is not None else [], lines, given


def _typed(info: ModelInfo) -> list[str]:
    """Return the words of the command that made the result; none if it is not noted."""
    try:
        return shlex.split(info.command or "")
    except ValueError:
        return []


def _as_typed(info: ModelInfo, name: str) -> str:
    """Return where a file is, as its user wrote it; its name alone, if that is not known."""
    return next((each for each in _typed(info) if Path(each).name == name), name)


def _value_of(flag: str, info: ModelInfo) -> str | None:
    """Return what the command gave a flag."""
    words = _typed(info)
    for at, word in enumerate(words):
        if word == flag and at + 1 < len(words):
            return words[at + 1]
        if word.startswith(f"{flag}="):
            return word.removeprefix(f"{flag}=")
    return None


def trace_of(info: ModelInfo, limits: Limits) -> Trace | None:
    """Return the figures of the epochs, thinned out; None where there are none."""
    history = info.history
    lengths = {len(column) for column in history.values()}
    # A search over ranks notes its ranks in place of epochs.
    if "rank" in history or len(lengths) != 1 or not (length := lengths.pop()):
        return None
    shown = np.unique(np.linspace(0, length - 1, min(length, limits.epochs)).round().astype(int))
    columns = {
        name: short_numbers(column[at] for at in shown.tolist()) for name, column in history.items()
    }
    return Trace(name=info.iteration or "epoch", columns=columns)
