"""What goes from a comparison to the process of a method and back: files in a folder.

The data is a matrix folder, written once for all methods. The job is a JSON text: the class of the
estimator and its parameters by name. Arrays among them, such as initial factors, are in an npz
file beside it.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from elbmf.errors import InputError
from elbmf.estimators import BooleanFactorizer
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import DiskMatrix, store

__all__ = ["load_factors", "load_job", "save_data", "save_factors", "save_job"]

Bools = NDArray[np.bool_]

_DATA, _JOB, _ARRAYS, _FACTORS = "data.matrix", "job.json", "arrays.npz", "factors.npz"

# How JSON says what it has no word for.
_ARRAY, _TUPLE, _CLASS, _PARAMETERS = "array", "tuple", "class", "parameters"


def save_data(folder: Path, A: BooleanMatrix) -> None:
    """Write a matrix to a folder."""
    store(A, folder / _DATA)


def _load_data(folder: Path) -> BooleanMatrix:
    """Read the matrix into memory, so that reading it is no part of the fit."""
    stored = DiskMatrix(folder / _DATA)

    def pattern(of: BooleanMatrix, missing: BooleanMatrix | None = None) -> BooleanMatrix:
        # As wide as those of scipy, so that a fit need not copy them.
        wide = np.int32 if max(stored.shape) < 1 << 31 else np.int64
        return BooleanMatrix(stored.shape, of.indptr.copy(), of.indices.astype(wide), missing)

    return pattern(stored, None if stored.missing is None else pattern(stored.missing))


def save_job(
    folder: Path,
    estimator: BooleanFactorizer,
    time_limit: float | None,
    weights: Mapping[str, Any],
) -> None:
    """Write what to fit, and for how long, to the folder that has the data.

    Weights are those of rows and columns, by the names that ``fit`` has for them.

    Raises
    ------
    InputError
        If a parameter is something that files cannot hold.
    """
    (folder / _FACTORS).unlink(missing_ok=True)
    arrays: list[NDArray[Any]] = []
    written = _written(estimator, type(estimator).__name__, arrays)
    kept = {name: _written(value, name, arrays) for name, value in weights.items()}
    job = {"estimator": written, "time_limit": time_limit, "weights": kept}
    (folder / _JOB).write_text(json.dumps(job), encoding="utf-8")
    np.savez(folder / _ARRAYS, *arrays)


def load_job(
    folder: Path,
) -> tuple[BooleanMatrix, BooleanFactorizer, float | None, dict[str, Any]]:
    """Read the data, the estimator, the seconds after which its fit is to end, and the weights."""
    job = json.loads((folder / _JOB).read_text(encoding="utf-8"))
    with np.load(folder / _ARRAYS) as arrays:
        kept = [arrays[name] for name in arrays.files]
    weights = {name: _read(value, kept) for name, value in job["weights"].items()}
    return _load_data(folder), _read(job["estimator"], kept), job["time_limit"], weights


def _written(value: Any, name: str, arrays: list[NDArray[Any]]) -> Any:
    """Return a parameter as JSON has it; arrays are put aside."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        arrays.append(value if isinstance(value, np.ndarray) else value.toarray())
        return {_ARRAY: len(arrays) - 1}
    if isinstance(value, tuple | list):
        return {_TUPLE: [_written(each, f"{name}[{at}]", arrays) for at, each in enumerate(value)]}
    if isinstance(value, BaseEstimator):
        parameters = value.get_params(deep=False)
    elif is_dataclass(value) and not isinstance(value, type):
        parameters = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
    else:
        raise InputError(
            f"{name} cannot be handed to another process: expected a number, a text, an array, an "
            f"estimator or a dataclass; got {type(value).__name__}."
        )
    return {
        _CLASS: f"{type(value).__module__}:{type(value).__qualname__}",
        _PARAMETERS: {
            key: _written(each, f"{name}.{key}", arrays) for key, each in parameters.items()
        },
    }


def _read(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return a parameter that `_written` wrote."""
    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return arrays[value[_ARRAY]]
    if _TUPLE in value:
        return tuple(_read(each, arrays) for each in value[_TUPLE])
    module, name = value[_CLASS].split(":")
    made: Any = import_module(module)
    for part in name.split("."):
        made = getattr(made, part)
    parameters = {key: _read(each, arrays) for key, each in value[_PARAMETERS].items()}
    return made(**parameters)


def save_factors(folder: Path, U: Bools, V: Bools) -> None:
    """Write what was found."""
    np.savez(folder / _FACTORS, U=U, V=V)


def load_factors(folder: Path) -> tuple[Bools, Bools]:
    """Read what was found."""
    with np.load(folder / _FACTORS) as found:
        return found["U"], found["V"]
