"""The comparison itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from elbmf.binarizers import Binarize, learns
from elbmf.boolean.line_weights import LineWeights
from elbmf.comparison.processes import Runner
from elbmf.comparison.progress_line import ProgressLine
from elbmf.comparison.results import Result, ranked
from elbmf.errors import InputError, Setting, parts_of
from elbmf.estimators import METHODS, BooleanFactorizer, method
from elbmf.estimators.progress_line import on_screen
from elbmf.estimators.reading import read_matrix
from elbmf.io.table import names_of
from elbmf.utils.atomic import temporary_folder
from elbmf.utils.constraints import InvalidParameterError
from elbmf.utils.naming import naming_lines
from elbmf.utils.progress import FitProgress
from elbmf.utils.seeds import seed_of

__all__ = ["Comparison", "ComparisonProgress", "chosen_names", "compare"]

Methods = str | Sequence[str] | Mapping[str, BooleanFactorizer]
"""``"all"``, names of methods, or estimators with names of their own."""

_COMMON = frozenset({"n_components", "binarize", "callback", "n_jobs", "random_state", "verbose"})
"""Parameters that are the same for all, else there were nothing to compare."""

_REFINED = "+refine"

# How long a method may take to end after it was asked to: at least, and in shares of the limit.
_LEAST_GRACE, _GRACE = 5.0, 0.5


@dataclass(frozen=True)
class ComparisonProgress:
    """How far a comparison is.

    Parameters
    ----------
    method : str
        Whose turn it is.
    number, total : int
        Which method this is, from 1 on, and of how many.
    report : FitProgress, optional
        How far its fit is; None while it prepares.
    """

    method: str
    number: int
    total: int
    report: FitProgress | None


class Comparison:
    """A comparison of methods on a matrix; iterating runs it, one `Result` after the other.

    Parameters
    ----------
    X, n_components, methods, parameters, truth, refine, time_limit, grace, missing, \
sample_weight, feature_weight, binarize, callback, verbose, n_jobs, \
random_state
        As for `compare`.

    Attributes
    ----------
    estimators : dict of str to BooleanFactorizer
        Who takes part, not fitted.
    random_state : int
        The seed, drawn where none was given.

    Examples
    --------
    >>> from elbmf.comparison import Comparison
    >>> from elbmf.datasets import make_tiles
    >>> A = make_tiles((60, 50), 3, height=(15, 20), noise=0.05, random_state=0).A
    >>> for result in Comparison(A, 3, methods=["grecond"]):
    ...     print(result.method, result.status)
    grecond finished
    """

    def __init__(
        self,
        X: Any,
        n_components: int | Literal["auto"],
        methods: Methods = "all",
        *,
        parameters: Mapping[str, Mapping[str, Any]] | None = None,
        truth: Any = None,
        refine: bool = False,
        time_limit: float | None = None,
        grace: float | None = None,
        missing: Any = None,
        sample_weight: Any = None,
        feature_weight: Any = None,
        binarize: Binarize = None,
        callback: Callable[[ComparisonProgress], Any] | None = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.random_state = _seed(random_state)
        common = {
            "n_components": n_components,
            "binarize": binarize,
            "callback": None,
            "n_jobs": n_jobs,
            "random_state": self.random_state,
        }
        self.estimators = _chosen_estimators(methods, parameters or {}, common, refine=refine)
        if time_limit is not None:
            _require_seconds("time_limit", time_limit, least=np.nextafter(0, 1))
        if grace is None:
            grace = max(_LEAST_GRACE, _GRACE * (time_limit or 0.0))
        _require_seconds("grace", grace, least=0)
        self._A = read_matrix(X, binarize, missing)
        as_data = None if learns(binarize) else binarize
        truth = None if truth is None else read_matrix(truth, as_data)
        if truth is not None and truth.shape != self._A.shape:
            raise InputError(
                f"truth must have the shape of the matrix, {_by(self._A.shape)}; got "
                f"{_by(truth.shape)}. They must be the same matrix, with and without noise."
            )
        for estimator in self.estimators.values():
            # The threshold was applied when the data was read.
            estimator.set_params(binarize=None)
        given = {"sample_weight": sample_weight, "feature_weight": feature_weight}
        with naming_lines(lambda: names_of(X)):
            LineWeights.of(self._A.shape, **given)
        weights = {name: np.asarray(value) for name, value in given.items() if value is not None}
        self._rules = (truth, time_limit, grace, None if n_jobs == -1 else n_jobs, weights)
        self._callback, self._verbose = callback, verbose

    def __iter__(self) -> Iterator[Result]:
        """Run the methods, one after the other."""
        with (
            temporary_folder() as folder,
            Runner(folder, self._A, *self._rules) as runner,
            on_screen(self._verbose, ProgressLine, self._A.ones) as line,
        ):
            for number, (name, estimator) in enumerate(self.estimators.items(), 1):
                observe = partial(self._observe, line, name, number)
                observe(None)
                yield runner.run(name, estimator, observe)

    def _observe(
        self,
        line: ProgressLine | None,
        name: str,
        number: int,
        report: FitProgress | None,
    ) -> None:
        progress = ComparisonProgress(name, number, len(self.estimators), report)
        if line is not None:
            line.comparison(progress)
        if self._callback is not None:
            self._callback(progress)


def compare(
    X: Any,
    n_components: int | Literal["auto"],
    methods: Methods = "all",
    *,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    truth: Any = None,
    refine: bool = False,
    time_limit: float | None = None,
    grace: float | None = None,
    missing: Any = None,
    sample_weight: Any = None,
    feature_weight: Any = None,
    binarize: Binarize = None,
    callback: Callable[[ComparisonProgress], Any] | None = None,
    verbose: bool | int = False,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> list[Result]:
    """Run methods on a matrix and return what each reached, the lowest loss first.

    Each runs in its own process, one after the other. If one fails, or runs out of time or memory,
    its `Result` says so, and the others continue.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Zeros and ones, or anything numeric when ``binarize`` is set; NaN are missing.
    n_components : int or "auto"
        Number of components, for all methods.
    methods : "all", str, sequence of str or mapping of str to BooleanFactorizer, default="all"
        Names of methods (see `elbmf.estimators.METHODS`), or estimators by names of your choice,
        e.g. ``{"strict": Asso(threshold=1), "loose": Asso(threshold=0.5)}``.
    parameters : mapping of str to mapping, optional
        Parameters by name of the method, e.g. ``{"asso": {"threshold": 0.5}}``; defaults otherwise.
    truth : array-like or sparse matrix of shape (n_samples, n_features), optional
        The data without noise, for recall*.
    refine : bool, default=False
        Whether methods that do not refine by default take part twice, the second time refined.
    time_limit : float, optional
        Seconds that the fit of a method may take. One that takes longer is asked to stop with what
        it has found so far.
    grace : float, optional
        Extra seconds before such a method is stopped from outside, without a result; by default
        half of the limit, and at least 5.
    missing : array-like or sparse matrix of shape (n_samples, n_features), optional
        0/1 mask of more missing entries.
    sample_weight, feature_weight : array-like of length n_samples and n_features, optional
        Weight of each row and each column, in the fits and in their figures.
    binarize : float, str or transformer, optional
        For input that is not 0/1: a threshold, above which entries are ones, or ``nonzero``,
        ``positive``, ``zscore[:CUTOFF][:SCOPE]`` (1.645) or ``quantile[:SHARE][:SCOPE]`` (0.05),
        of ``columns`` (default), ``rows`` or ``all``; a transformer in Python.
    callback : callable, optional
        Called with a `ComparisonProgress` now and then.
    verbose : bool or int, default=False
        In Python, whether to show how far it is.
    n_jobs : int, optional
        Threads of each method. All cores by default, and for -1.
    random_state : int, RandomState instance or None
        Seed of each method.

    Returns
    -------
    list of Result
        ``pandas.DataFrame(compare(X, 20))`` makes a table.

    See Also
    --------
    Comparison : The same, one result after the other.

    Examples
    --------
    >>> from elbmf import compare
    >>> from elbmf.datasets import make_tiles
    >>> tiles = make_tiles((60, 50), 3, height=(15, 20), noise=0.05, random_state=0)
    >>> best, worst = compare(tiles.A, 3, ["elbmf", "grecond"], truth=tiles.truth, random_state=0)
    >>> best.method, best.recall_star
    ('elbmf', 1.0)
    """
    return ranked(
        Comparison(
            X,
            n_components,
            methods,
            parameters=parameters,
            truth=truth,
            refine=refine,
            time_limit=time_limit,
            grace=grace,
            missing=missing,
            sample_weight=sample_weight,
            feature_weight=feature_weight,
            binarize=binarize,
            callback=callback,
            verbose=verbose,
            n_jobs=n_jobs,
            random_state=random_state,
        )
    )


def _seed(random_state: Any) -> int:
    """Return a number that each of the methods gets."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return int(random_state)
    return seed_of(random_state)


def _require_seconds(name: str, value: Any, least: float) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not least <= float(value) < np.inf:
        sign = "above" if least else "from"
        raise InputError(Setting(name), f" must be a number of seconds {sign} 0 on; got {value!r}.")


def _by(shape: tuple[int, int]) -> str:
    return f"{shape[0]}×{shape[1]}"


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


def _chosen_estimators(
    methods: Methods,
    parameters: Mapping[str, Mapping[str, Any]],
    common: Mapping[str, Any],
    *,
    refine: bool,
) -> dict[str, BooleanFactorizer]:
    """Return unfitted estimators by name, with the parameters of each and those ``common`` to all.

    With ``refine``, those that are not refined take part a second time, refined.
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
    shared = sorted(_COMMON & own.keys())
    if shared:
        raise InputError(
            f"{name}: {shared[0]} is the same for all methods of a comparison. Give it once, "
            "not as a parameter of one method."
        )
    unknown = sorted(own.keys() - estimator.get_params(deep=False).keys())
    if unknown:
        known = sorted(estimator.get_params(deep=False).keys() - _COMMON)
        raise InputError(
            f"{name}: unknown parameter {unknown[0]!r}. Known parameters: {', '.join(known)}."
        )
    estimator.set_params(**own, **common)
    # Not by set_params: a method of somebody's own need not take it.
    estimator.verbose = False
    try:
        estimator._validate_params()
    except (InputError, InvalidParameterError) as error:
        raise InputError(f"{name}: ", *parts_of(error)) from error
    return estimator
