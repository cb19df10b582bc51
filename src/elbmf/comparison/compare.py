"""The comparison itself."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elbmf.binarizers import Binarize, learns
from elbmf.comparison.entrants import Methods, entrants
from elbmf.comparison.race import Rules, Track
from elbmf.comparison.results import Result, ranked
from elbmf.errors import InputError, Setting
from elbmf.estimators.reading import read_matrix
from elbmf.utils.progress import FitProgress
from elbmf.utils.seeds import seed_of

__all__ = ["Comparison", "ComparisonProgress", "compare"]

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
    X, n_components, methods, parameters, truth, refine, time_limit, grace, missing, binarize, \
callback, n_jobs, random_state
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
        binarize: Binarize = None,
        callback: Callable[[ComparisonProgress], Any] | None = None,
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
        self.estimators = entrants(methods, parameters or {}, common, refine=refine)
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
        threads = None if n_jobs == -1 else n_jobs
        self._rules = Rules(truth, time_limit, grace, threads)
        self._callback = callback

    def __iter__(self) -> Iterator[Result]:
        """Run the methods, one after the other."""
        with (
            tempfile.TemporaryDirectory(prefix="elbmf-") as folder,
            Track(Path(folder), self._A, self._rules) as track,
        ):
            for number, (method, estimator) in enumerate(self.estimators.items(), 1):

                def observe(
                    report: FitProgress | None, method: str = method, number: int = number
                ) -> None:
                    if self._callback is not None:
                        self._callback(
                            ComparisonProgress(method, number, len(self.estimators), report)
                        )

                observe(None)
                yield track.run(method, estimator, observe)


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
    binarize: Binarize = None,
    callback: Callable[[ComparisonProgress], Any] | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> list[Result]:
    """Run methods on a matrix and return what each reached, the lowest loss first.

    Each runs in a process of its own, one after the other. One that fails, or runs out of time or
    memory, says so in its `Result`, and the others go on.

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
        Parameters by name of the method, e.g. ``{"asso": {"threshold": 0.5}}``; the defaults
        elsewhere.
    truth : array-like or sparse matrix of shape (n_samples, n_features), optional
        The data without noise, for recall*.
    refine : bool, default=False
        Whether methods that do not refine by default take part twice, the second time refined.
    time_limit : float, optional
        Seconds that the fit of a method may take. One that takes longer is asked to end with what
        it has found so far.
    grace : float, optional
        Seconds after which one that has not ended then is ended from outside, without a result;
        half of the limit by default, and at least 5.
    missing : array-like or sparse matrix of shape (n_samples, n_features), optional
        0/1 mask of more missing entries.
    binarize : float, str or transformer, optional
        For input that is not 0/1: a threshold, above which entries are ones, or ``nonzero``,
        ``positive``, ``zscore[:CUTOFF][:SCOPE]`` (1.645) or ``quantile[:SHARE][:SCOPE]`` (0.05),
        of ``columns`` (default), ``rows`` or ``all``; a transformer in Python.
    callback : callable, optional
        Called with a `ComparisonProgress` now and then.
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
            binarize=binarize,
            callback=callback,
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
