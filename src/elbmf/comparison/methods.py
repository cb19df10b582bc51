"""The methods of a comparison: estimators by name, with their parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone
from sklearn.utils._param_validation import InvalidParameterError

from elbmf.errors import InputError, parts_of
from elbmf.estimators import METHODS, BooleanFactorizer, method

__all__ = ["COMMON", "Methods", "chosen_estimators", "chosen_names"]

Methods = str | Sequence[str] | Mapping[str, BooleanFactorizer]
"""``"all"``, names of methods, or estimators with names of their own."""

COMMON = frozenset({"n_components", "binarize", "callback", "n_jobs", "random_state"})
"""Parameters that are the same for all, else there were nothing to compare."""

_REFINED = "+refine"


def chosen_names(methods: str | Sequence[str]) -> list[str]:
    """Return the names of methods, each once, or say which there are."""
    if methods == "all":
        return list(METHODS)
    names = [methods] if isinstance(methods, str) else list(dict.fromkeys(methods))
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        got = f"there is no method {unknown[0]!r}" if unknown else "no method is named"
        raise InputError(f"{got}. Methods: all, {', '.join(METHODS)}.")
    return names


def chosen_estimators(
    methods: Methods,
    parameters: Mapping[str, Mapping[str, Any]],
    common: Mapping[str, Any],
    *,
    refine: bool,
) -> dict[str, BooleanFactorizer]:
    """Return unfitted estimators by name.

    Parameters
    ----------
    methods : str, sequence of str or mapping of str to BooleanFactorizer
        Who takes part.
    parameters : mapping of str to mapping
        Parameters by method.
    common : mapping
        Parameters of all.
    refine : bool
        Whether those that are not refined take part a second time, refined.
    """
    if isinstance(methods, Mapping):
        chosen = {name: _clone(name, estimator) for name, estimator in methods.items()}
    else:
        chosen = {name: method(name)() for name in chosen_names(methods)}
    for name in parameters:
        if name not in chosen:
            raise InputError(
                f"parameters: {name!r} does not take part. Methods: {', '.join(chosen)}."
            )
    result: dict[str, BooleanFactorizer] = {}
    for name, estimator in chosen.items():
        result[name] = _with_parameters(name, estimator, parameters.get(name, {}), common)
        if refine and not result[name].refine:
            result[name + _REFINED] = clone(result[name]).set_params(refine=True)
    return result


def _clone(name: str, estimator: Any) -> BooleanFactorizer:
    """Copy an estimator that another process can run; an error names it."""
    if not isinstance(estimator, BooleanFactorizer):
        raise InputError(
            f"{name}: expected an estimator of this package, or of a class that extends "
            f"BooleanFactorizer; got {type(estimator).__name__}."
        )
    if type(estimator).__module__ == "__main__":
        raise InputError(
            f"{name}: {type(estimator).__name__} is defined in the program itself, where another "
            "process cannot find it. Move it to a module and import it from there."
        )
    return clone(estimator)


def _with_parameters(
    name: str,
    estimator: BooleanFactorizer,
    own: Mapping[str, Any],
    common: Mapping[str, Any],
) -> BooleanFactorizer:
    """Set and check the parameters of an estimator; an error names it."""
    shared = sorted(COMMON & own.keys())
    if shared:
        raise InputError(
            f"{name}: {shared[0]} is the same for all methods of a comparison. Give it once, "
            "not as a parameter of one method."
        )
    unknown = sorted(own.keys() - estimator.get_params(deep=False).keys())
    if unknown:
        known = sorted(estimator.get_params(deep=False).keys() - COMMON)
        raise InputError(
            f"{name}: unknown parameter {unknown[0]!r}. Known parameters: {', '.join(known)}."
        )
    estimator.set_params(**own, **common)
    try:
        estimator._validate_params()
    except (InputError, InvalidParameterError) as error:
        raise InputError(f"{name}: ", *parts_of(error)) from error
    return estimator
