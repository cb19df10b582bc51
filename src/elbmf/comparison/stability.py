"""Whether a fit would find the same components again: fits of resampled data beside it."""

import copy
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from elbmf.analysis.recurrence import (
    PartialFit,
    Recurrence,
    consensus_matrix,
    consensus_order,
    cophenetic_correlation,
    recurrence,
    thinned,
)
from elbmf.boolean.coverage import cover
from elbmf.boolean.product import Bools
from elbmf.comparison.progress_line import ProgressLine
from elbmf.errors import FileFormatError, InputError
from elbmf.estimators.auto_rank import Refit
from elbmf.estimators.base import BooleanFactorizer, FittedFactors, estimator
from elbmf.estimators.constrained import kept_within
from elbmf.estimators.elbmf import ELBMF
from elbmf.estimators.found import components_html, frame_of
from elbmf.estimators.pool import Ask, side_by_side
from elbmf.estimators.progress_line import Watched
from elbmf.estimators.resampled import HALF, Resample, run_estimator
from elbmf.estimators.resuming import identity
from elbmf.estimators.saving import saved_model
from elbmf.estimators.shown import ShowsFound
from elbmf.io.described import described
from elbmf.io.model_info import ComponentStability, StabilityInfo
from elbmf.io.table import names_of
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.path import Factors, FinishedSteps, PathStep
from elbmf.ranks.step_folder import StepFolder
from elbmf.search.local import refine
from elbmf.utils.constraints import HasMethods, Interval, Options
from elbmf.utils.naming import naming_lines
from elbmf.utils.progress import FitProgress
from elbmf.utils.seeds import seed_of
from elbmf.utils.text import counted

__all__ = ["Stability", "StabilityProgress", "stability"]

# Rows of the consensus matrix at most; those of a larger matrix are drawn.
_MOST_ROWS = 1000

# Rows and columns of the map of it that a model notes, at most.
_MOST_ON_MAP = 60

# Of the runs that found a component, the share that makes a line a member of the consensus.
_MAJORITY = 0.5

# How often members are agreed on and matched again, at most.
_MOST_TURNS = 5

# Where in the folder of finished runs the reference keeps itself.
_REFERENCE = "reference"


@dataclass(frozen=True)
class StabilityProgress:
    """How far an assessment of stability is.

    Parameters
    ----------
    done, total : int
        Runs that are finished, and how many there are to be.
    report : FitProgress, optional
        How far the fit of all data is, with which it begins; None when that is over.
    """

    done: int
    total: int
    report: FitProgress | None = None


@estimator
class Stability(MetaEstimatorMixin, Watched, ShowsFound, BaseEstimator):
    """Which components return when the data is resampled.

    One fit of all data is the reference. Other fits, each with another part of the data and another
    seed, run in parallel. Their components are matched one to one with those of the reference.

    Parameters
    ----------
    estimator : int, "auto" or BooleanFactorizer, default=10
        The method and its parameters. A number is the number of components of `ELBMF`.
    runs : int, default=20
        Fits besides the reference.
    resample : str, default="rows:0.5"
        What each of them sees: shares of ``rows``, ``columns`` and ``cells``, such as
        ``rows:0.8,columns:0.9`` or ``cells:0.9``. Cells left out count as missing. With ``rows:1``
        all see everything, from random starts.
    random_state : int, RandomState instance or None, default=None
        Seed. By default that of the method, or a new one.
    n_jobs : int, optional
        Runs at a time, each on one thread; no result depends on it. By default that of the method,
        or all cores.
    checkpoint : path, optional
        A folder for finished runs. After an interruption, the same call with the same data and
        parameters continues from there, also with more ``runs``.
    callback : callable, optional
        Called with a `StabilityProgress` as the reference iterates, and after each run.
    verbose : bool or int, default=False
        In Python, whether to show how far it is.

    Attributes
    ----------
    reference_ : BooleanFactorizer
        The method, fitted to all data.
    stability_ : float
        Mean recurrence of its components, from 0 to 1.
    recurrence_ : ndarray of float64, of length k
        Mean similarity of each component to its match in the runs, 0 where it has none: Jaccard
        similarity of the columns times that of the rows, among the lines that both have seen. Runs
        that saw no row or no column of it do not count.
    found_in_ : ndarray of float64, of length k
        Share of these runs in which the similarity is at least one half.
    row_shares_, column_shares_ : ndarray of float32, of shapes (n, k) and (m, k)
        Of the runs that found a component and saw a line, the share in which the line is in it, or
        in the closed component if it is cut in another way.
    similarities_ : ndarray of float64, of shape (runs, k)
        What the recurrence is the mean of; NaN where a run does not count.
    cophenetic_ : float
        Cophenetic correlation of the consensus matrix: 1 if each row is always in the same company.
        Pairs of rows that no run saw together do not count.
    consensus_matrix_ : ndarray of float64
        Share of the runs in which two rows are in a component together, of up to 1000 rows: of the
        runs that saw both, and NaN where there is none.
    consensus_rows_ : ndarray of int64
        Which rows these are, in an order that puts rows that are often together next to each other.
    fits_ : list of PartialFit
        The runs themselves.
    random_state_ : int or RandomState instance
        The seed or, if none was given, the one that was drawn instead.

    Notes
    -----
    Ctrl-C raises `KeyboardInterrupt` as always, but leaves all attributes as they are for the runs
    finished so far; another `fit` of the same data continues from there.

    Examples
    --------
    >>> from elbmf import stability
    >>> from elbmf.datasets import make_tiles
    >>> A = make_tiles((60, 50), 2, height=(20, 25), noise=0.05, random_state=0).A
    >>> found = stability(A, 2, runs=3, random_state=0)
    >>> bool(found.stability_ > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "runs": [Interval(Integral, 1, None, closed="left")],
        "resample": [str],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1}), None],
        "random_state": ["random_state"],
        "checkpoint": [str, HasMethods("__fspath__"), None],
        "callback": [callable, None],
        "verbose": ["boolean", Interval(Integral, 0, None, closed="left")],
    }

    estimator: Any = field(default=10, kw_only=False)
    runs: int = 20
    resample: str = HALF
    random_state: Any = None
    n_jobs: int | None = None
    checkpoint: Any = None
    callback: Callable[[StabilityProgress], Any] | None = None
    verbose: bool | int = False

    def fit(self, X: Any, y: Any = None, missing: Any = None, *, layer: str | None = None) -> Self:
        """Fit the whole of X and parts of it.

        Parameters
        ----------
        X, y, missing, layer
            As for the method's own ``fit``.
        """
        self._validate_params()
        resample, method = Resample.of(self.resample), self._method()
        resample.check(method)
        with naming_lines(lambda: names_of(X)):
            method._note_layer(X, layer)
            A = method._read(X, missing, reset=True)
            if not A.in_one_place:
                raise InputError(
                    "Stability is not possible for data on a cluster. Take some of the rows."
                )
            finished = self._finished(method, A)
            with self._showing(ProgressLine, A.ones):
                self._fit_reference(method, X, missing, layer)
                try:
                    self._run(method, A, resample, finished)
                finally:
                    self._conclude(A, resample, finished)
        return self

    def _method(self) -> BooleanFactorizer:
        """Return a method to fit, which the user's own is not."""
        given = self.estimator
        method = clone(given) if isinstance(given, BooleanFactorizer) else ELBMF(given)
        method.verbose = False
        method._validate_params()
        if "n_components" not in method.get_params(deep=False):
            raise InputError(
                f"{type(method).__name__} has no n_components, so that its fits of parts of the "
                "data need not have as many. Take another method, such as elbmf.ELBMF."
            )
        return method

    def _finished(self, method: BooleanFactorizer, A: BooleanMatrix) -> FinishedSteps:
        """Return where finished runs are, on disk or in memory, and settle the seed."""
        given = method.random_state if self.random_state is None else self.random_state
        drawn = None if given is not None else seed_of(None)
        note = {**identity(method, A), "resample": self.resample}
        if given is not None:
            note["random_state"] = seed_of(copy.copy(given))
        finished: FinishedSteps
        if self.checkpoint is not None:
            finished = StepFolder(self.checkpoint, note)
            if drawn is not None:
                drawn = finished.remember_seed(drawn)
            if getattr(method, "checkpoint", "") is None:
                method.set_params(checkpoint=Path(self.checkpoint) / _REFERENCE)
        else:
            if getattr(self, "_memory", ("",))[0] != repr(note):
                self._memory: tuple[str, Any, FinishedSteps] = (repr(note), drawn, {})
            _, drawn, finished = self._memory
        self.random_state_ = given if drawn is None else drawn
        method.set_params(random_state=self.random_state_)
        return finished

    def _tell(self, progress: StabilityProgress) -> None:
        self._observe(progress, "stability")

    def _fit_reference(
        self, method: BooleanFactorizer, X: Any, missing: Any, layer: str | None
    ) -> None:
        own = method.callback
        if self._is_watched:

            def observe(report: FitProgress) -> bool:
                self._tell(StabilityProgress(0, self.runs, report))
                return bool(own(report)) if own is not None else False

            method.set_params(callback=observe)
        threads = method.n_jobs
        if self.n_jobs is not None:
            method.set_params(n_jobs=self.n_jobs)
        try:
            method.fit(X, missing=missing, layer=layer)
        finally:
            method.set_params(callback=own, n_jobs=threads)
        self.reference_ = method

    def _run(
        self,
        method: BooleanFactorizer,
        A: BooleanMatrix,
        resample: Resample,
        finished: FinishedSteps,
    ) -> None:
        """Do the runs that are not finished."""
        seed, k = seed_of(copy.copy(self.random_state_)), len(method.components_)

        def work(run: int, ask: Ask) -> Factors:
            part = resample.draw(A, np.random.default_rng([seed, run]))
            model = run_estimator(method, resample).set_params(callback=ask)
            with model._lend(part.A) as lent:
                return Refit(model, lent)(k, np.random.default_rng([seed, run, 1]))

        def tell(done: int) -> None:
            self._tell(StabilityProgress(done, self.runs))

        threads = self.n_jobs if self.n_jobs is not None else method._threads
        side_by_side(work, self.runs, _RunsOf(finished, k), threads, tell)

    def _conclude(self, A: BooleanMatrix, resample: Resample, finished: FinishedSteps) -> None:
        """Set the attributes, from the runs that are there."""
        seed, (U, V) = seed_of(copy.copy(self.random_state_)), self._factors
        kept = _RunsOf(finished, len(V))
        fits = []
        for run in range(self.runs):
            if run in kept:
                lines = resample.draw(A, np.random.default_rng([seed, run]))
                fit = PartialFit(kept[run].U, kept[run].V, lines.rows, lines.columns)
                if (len(fit.U), fit.V.shape[1]) != (lines.rows.size, lines.columns.size):
                    raise FileFormatError(
                        f"{self.checkpoint}: run {run} in it is not one of the same data. "
                        "Choose another folder, or remove this one."
                    )
                fits.append(fit)
        if not fits:
            return
        self._A, self.fits_ = A, fits
        self._found: Recurrence = recurrence(U, V, fits)
        self.similarities_ = self._found.similarities
        self.recurrence_, self.found_in_ = self._found.recurrence, self._found.found_in
        self.row_shares_ = self._found.row_shares
        self.column_shares_ = self._found.column_shares
        self.stability_ = self._found.stability
        rows = np.arange(len(U))
        if len(U) > _MOST_ROWS:
            generator = np.random.default_rng([seed, self.runs, 2])
            rows = np.sort(generator.choice(len(U), _MOST_ROWS, replace=False))
        together = consensus_matrix(fits, rows)
        self.cophenetic_ = cophenetic_correlation(together)
        order = consensus_order(together)
        self.consensus_rows_, self.consensus_matrix_ = rows[order], together[np.ix_(order, order)]

    @property
    def _factors(self) -> tuple[Bools, Bools]:
        return self.reference_.membership_, self.reference_.components_

    @property
    def info(self) -> StabilityInfo:
        """What a saved model notes of it, see `elbmf.io.ModelInfo`."""
        check_is_fitted(self, "recurrence_")
        U, V = self._factors

        def rounded(shares: NDArray[Any]) -> list[float]:
            return np.round(shares.astype(np.float64), 4).tolist()

        return StabilityInfo(
            runs=len(self.fits_),
            resample=self.resample,
            stability=self.stability_,
            cophenetic=self.cophenetic_,
            components=[
                ComponentStability(
                    recurrence=float(self.recurrence_[l]),
                    found_in=float(self.found_in_[l]),
                    rows=rounded(self.row_shares_[U[:, l], l]),
                    columns=rounded(self.column_shares_[V[l], l]),
                )
                for l in range(len(V))
            ],
            consensus=[
                [None if np.isnan(each) else each for each in rounded(line)]
                for line in _shrunk(self.consensus_matrix_)
            ],
        )

    def components_frame(self) -> Any:
        """Return a data frame with a line for each component of the reference, and if it returns.

        Returns
        -------
        pandas.DataFrame
            By component: ``rows`` and ``columns``, ``bits_saved`` where the method notes them,
            ``recurrence`` and ``found_in``, ``doubts``, and ``column_names``, the best first.
        """
        return frame_of(saved_model(self.reference_, notes={"stability": self.info}))

    def _found_html(self) -> str:
        if not hasattr(self, "recurrence_"):
            return ""
        found = described(saved_model(self.reference_, notes={"stability": self.info}))
        said = (
            f"{counted(len(found), 'component')} of {type(self.reference_).__name__}, stability "
            f"{self.stability_:.2f} in {counted(len(self.fits_), 'run')} of {self.resample}"
        )
        return f"<p><b>Stability</b>: {said}.</p>{components_html(found)}"

    def consensus(self, cut: float = 0.5) -> BooleanFactorizer:
        """Return what the runs agree on, as a fit like any other.

        Components have the rows and columns that more than half of the runs agree on that found
        them. As these may be others than those of the reference, they are matched with the runs
        again, until nothing changes. Those that recur then are kept, and refined on the data; a
        method that puts its components in an order does so.

        Parameters
        ----------
        cut : float, default=0.5
            Recurrence below which a component is left out.

        Raises
        ------
        InputError
            If none is left.
        """
        check_is_fitted(self, "recurrence_")
        found, before = self._found, self._factors
        for _ in range(_MOST_TURNS):
            U, V = found.row_shares > _MAJORITY, (found.column_shares > _MAJORITY).T
            if all(map(np.array_equal, (U, V), before)):
                break
            before, found = (U, V), recurrence(U, V, self.fits_)
        kept = np.flatnonzero(found.recurrence >= cut)
        if not kept.size:
            raise InputError(
                f"No component recurs with {cut:g} or more; the highest is "
                f"{found.recurrence.max():.2f}. Set a lower cut, or look for fewer components."
            )
        model, A = copy.copy(self.reference_), self._A
        U, V = np.ascontiguousarray(U[:, kept]), np.ascontiguousarray(V[kept])
        weights = model._weights(A.shape)

        def cost(U: Bools, V: Bools) -> int:
            return cover(A, U, V, model._threads).cost(weights)

        stages = {"consensus": cost(U, V)}
        if getattr(model, "_is_constrained", False):
            U, V = kept_within(model, A, U, V)
            stages["constraints"] = cost(U, V)
        else:
            # The fits that agree on cells may have cut them in different ways.
            U, V = refine(A, *thinned(U, V, cost), weights, model._threads)
            U, V = thinned(U, V, cost)
            used = U.any(axis=0) & V.any(axis=1)
            U, V = U[:, used], V[used]
            stages["refinement"] = cost(U, V)
        model.n_components = len(V)
        model._store(A, FittedFactors(U, V, 0, "consensus", stages=stages))
        return model


class _RunsOf(MutableMapping[int, Factors]):
    """Finished runs by their number, among the steps that a folder or a dictionary keeps."""

    def __init__(self, steps: FinishedSteps, rank: int) -> None:
        self._steps, self._rank = steps, rank

    def _step(self, run: int) -> PathStep:
        return PathStep("run", run, self._rank)

    def __getitem__(self, run: int) -> Factors:
        factors = self._steps[self._step(run)]
        # A run always leads to something. If it did not, it is to be done again.
        if factors is None or factors.rank != self._rank:
            raise KeyError(run)
        return factors

    def __setitem__(self, run: int, factors: Factors) -> None:
        self._steps[self._step(run)] = factors

    def __delitem__(self, run: int) -> None:
        del self._steps[self._step(run)]

    def __iter__(self) -> Iterator[int]:
        return (step.start for step in self._steps if step.rank == self._rank)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _shrunk(consensus: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means of what is known in blocks of a map, as many as can be noted."""
    size = len(consensus)
    edges = np.linspace(0, size, min(size, _MOST_ON_MAP), endpoint=False).astype(np.int64)
    known = ~np.isnan(consensus)
    sums, counts = (
        np.add.reduceat(np.add.reduceat(each, edges, axis=0), edges, axis=1)
        for each in (np.where(known, consensus, 0.0), known.astype(np.int64))
    )
    return np.where(counts, sums / np.maximum(counts, 1), np.nan)


def stability(
    X: Any, estimator: int | Literal["auto"] | BooleanFactorizer, **parameters: Any
) -> Stability:
    """Find out which components return when the data is resampled.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or BooleanMatrix
        As for the method's own ``fit``.
    estimator : int, "auto" or BooleanFactorizer
        The method and its parameters. A number is the number of components of `ELBMF`.
    **parameters
        Those of `Stability`: ``runs``, ``resample``, ``random_state``, ``n_jobs``, ``checkpoint``,
        ``callback`` and ``verbose``; and ``missing``, a mask of missing cells, and ``layer``, that
        of an AnnData.

    Returns
    -------
    Stability
        With `Stability.consensus`, which makes a fit of what the runs agree on.
    """
    given = {name: parameters.pop(name, None) for name in ("missing", "layer")}
    return Stability(estimator, **parameters).fit(X, **given)
