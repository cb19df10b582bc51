"""How a result came about, and what makes it again."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from elbmf.errors import InputError
from elbmf.estimators.registry import ESTIMATORS, method
from elbmf.estimators.schedule_flags import parameters_from_flags
from elbmf.io.model_info import DataInfo, ModelInfo
from elbmf.relaxation.regularizers import REGULARIZERS, Regularizer
from elbmf.relaxation.schedules import Schedule
from elbmf.report.document import Recipe, Trace
from elbmf.report.limits import Limits
from elbmf.report.packing import short_numbers
from elbmf.utils.text import number, shortened

__all__ = ["recipe_of", "trace_of"]


# What a fit is given where it had weights.
_WEIGHTS = {"rows": "sample_weight=row_weights", "columns": "feature_weight=column_weights"}


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
        stages=[(each.stage, each.cost) for each in info.stages],
        run_losses=list(info.run_losses),
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
    """Return Python that fits the same, or None where the method or a parameter is not known."""
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
    except InputError:
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
        elif name in ("schedule", "regularizer") and value not in REGULARIZERS:
            return None  # one of the user's own
        elif value is None or isinstance(value, str | bool | int | float):
            shown = repr(value)
        else:
            return None
        arguments.append(f"{name}={shown}")
    head = "\n".join(imports)
    given = ["X", *(_WEIGHTS[side] for side in (info.weighted.sides if info.weighted else ()))]
    return f"{head}\n\nmodel = {known.__name__}({', '.join(arguments)}).fit({', '.join(given)})"


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
