"""How a result came about, and what makes it again."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from elbmf.errors import InputError
from elbmf.estimators import METHODS, method
from elbmf.estimators.schedule_flags import parameters_from_flags
from elbmf.relaxation.regularizers import REGULARIZERS, Regularizer
from elbmf.relaxation.schedules import Schedule
from elbmf.report.document import Recipe, Trace
from elbmf.report.limits import Limits
from elbmf.utils.text import number, shortened

__all__ = ["recipe_of", "trace_of"]

# Notes of the data that have a line of their own.
_DATA = ("file", "format", "missing", "ones", "shape")


def recipe_of(info: Mapping[str, Any], limits: Limits) -> Recipe:
    """Say what makes a result again, from the notes of its model."""
    parameters = dict(info.get("parameters") or {})
    seed = info.get("seed", parameters.get("random_state"))
    noted = info.get("data") or {}

    def text(value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            return number(value)
        return shortened(str(value), limits.text)

    data = {name: text(noted[name]) for name in _DATA if name in noted}
    if "shape" in noted:
        data["shape"] = " × ".join(map(number, noted["shape"]))
    data |= {name: str(value) for name, value in (noted.get("options") or {}).items()}
    command = info.get("command")
    return Recipe(
        command=None if command is None else shortened(str(command), limits.text),
        code=_code(info, parameters),
        parameters={
            name: shortened(str(value), limits.text)
            for name, value in parameters.items()
            if value is not None
        },
        seed=None if seed is None else shortened(str(seed), limits.text),
        versions={name: str(value) for name, value in (info.get("versions") or {}).items()},
        data=data,
        stages=[(str(each["stage"]), int(each["cost"])) for each in info.get("stages") or []],
        run_losses=[int(loss) for loss in info.get("run_losses") or []],
    )


def _code(info: Mapping[str, Any], parameters: Mapping[str, Any]) -> str | None:
    """Return Python that fits the same, or None where the method or a parameter is not known."""
    name_of_method = str(info.get("method"))
    if name_of_method not in METHODS or "stream" in info or not parameters:
        return None
    known = method(name_of_method)
    try:
        parameters = parameters_from_flags(known, parameters)
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
    return f"{head}\n\nmodel = {known.__name__}({', '.join(arguments)}).fit(X)"


def trace_of(info: Mapping[str, Any], limits: Limits) -> Trace | None:
    """Return the figures of the epochs, thinned out; None where there are none."""
    history = info.get("history") or {}
    lengths = {len(column) for column in history.values()}
    # A search over ranks notes its ranks in place of epochs.
    if "rank" in history or len(lengths) != 1 or not (length := lengths.pop()):
        return None
    shown = np.unique(np.linspace(0, length - 1, min(length, limits.epochs)).round().astype(int))
    columns = {
        str(name): [_finite(column[at]) for at in shown.tolist()]
        for name, column in history.items()
    }
    return Trace(name=str(info.get("iteration", "epoch")), columns=columns)


def _finite(value: Any) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.7g}")
