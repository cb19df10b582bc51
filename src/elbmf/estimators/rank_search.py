"""Choosing the number of components: a search over ranks for any method (Sec. 4.1)."""

import copy
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from elbmf.analysis.recurrence import PartialFit, recurrence
from elbmf.boolean.line_weights import LineWeights
from elbmf.errors import InputError, Setting
from elbmf.estimators.auto_rank import rank_path
from elbmf.estimators.base import BooleanFactorizer, FittedFactors, estimator
from elbmf.estimators.elbmf import ELBMF
from elbmf.estimators.pool import Ask, side_by_side
from elbmf.estimators.progress_line import ProgressLine, Watched
from elbmf.estimators.resampled import HALF, Resample, hide_cells, run_estimator
from elbmf.estimators.resuming import identity
from elbmf.estimators.shown import ShowsFound, table
from elbmf.io.table import names_of
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import CRITERIA, count
from elbmf.ranks.path import (
    MOST_SCANNED,
    Factors,
    FinishedSteps,
    PathStep,
    RankPath,
    RankProgress,
)
from elbmf.ranks.step_folder import StepFolder
from elbmf.utils.constraints import HasMethods, Interval, StrOptions
from elbmf.utils.naming import naming_lines
from elbmf.utils.progress import FitProgress
from elbmf.utils.seeds import seed_of
from elbmf.utils.text import counted, number, share

__all__ = ["HELD_OUT", "STABILITY", "TITLES", "RankSearch"]

HELD_OUT = "held_out"
"""Name of the share of held-out cells that a factorization gets wrong, among the criteria."""

STABILITY = "stability"
"""Name of the mean recurrence of components in fits of parts of the data, in the table."""

TITLES = {
    **{name: criterion.title for name, criterion in CRITERIA.items()},
    HELD_OUT: "error on held-out cells",
    STABILITY: "stability",
}
"""What the criteria of a search are, for people, by name."""


# Ranks that a notebook shows at most, those next to the one that is chosen.
_MOST_SHOWN = 25

# By how much a rank may be less stable than another, and count as equally stable.
_AS_STABLE = 0.02


class _Finished(NamedTuple):
    """Finished steps: of the search, of that with hidden cells, and of each run."""

    all: FinishedSteps
    hidden: FinishedSteps
    runs: Mapping[int, FinishedSteps]


class _Memory(NamedTuple):
    """Finished steps of a search, and what they depend on."""

    note: str
    random_state: int | None
    finished: _Finished


class _Found(NamedTuple):
    """What a search has found: the method, the data, and the best factors of each rank."""

    method: BooleanFactorizer
    A: BooleanMatrix
    factors: dict[int, Factors]
    lines: LineWeights | None
    original: BooleanMatrix  # Whose lines A has copies of, if they are weighted


@estimator
class RankSearch(MetaEstimatorMixin, TransformerMixin, Watched, ShowsFound, BaseEstimator):
    """Factorizations at many ranks, and the rank that a criterion chooses.

    With `ELBMF`, each rank starts from its neighbours: the loss never rises with the rank, and the
    whole path costs a few times as much as one fit. With other methods, each rank is a fit.

    Parameters
    ----------
    estimator : BooleanFactorizer, optional
        The method and its parameters; `ELBMF` by default. Its ``n_components`` is ignored.
    max_components : int, default=30
        The highest rank to look at. It is lowered to the length of the shorter side of the matrix.
    criterion : {"mdl", "aic", "aic_gaussian", "bai_ng_1", "bai_ng_2", "bai_ng_3", "held_out"}, \
default="mdl"
        The criterion that chooses; ``"held_out"`` needs ``holdout``. With ``extra_weight="auto"``,
        ``"mdl"`` has two noise rates.

        In Python, `elbmf.ranks.criteria` has the criteria.
    every : bool or "auto", default="auto"
        Whether to look at every rank. If not, the ranks around the best are looked at more and more
        closely. ``"auto"`` looks at every rank if there are up to 40.
    holdout : float, optional
        Share of the cells to hide in a second search, which measures how well each rank predicts
        them. No more cells are hidden than there are ones.
    stability : int, optional
        Number of searches, each on a random half of the rows, that measure how reliably components
        return at each rank: mean recurrence, see `elbmf.comparison.Stability`. They run in
        parallel.
    checkpoint : path, optional
        A folder for finished steps. If a search was interrupted, the same call with the same data
        and parameters continues from there.
    callback : callable, optional
        Called with a `elbmf.ranks.path.RankProgress` after each step.
    verbose : bool or int, default=False
        In Python, whether to show how far the search is.

    Attributes
    ----------
    n_components_ : int
        The rank that is chosen; 0 if no number of components is worth its description.
    best_estimator_ : BooleanFactorizer
        The method, fitted, at that rank (at rank 1, if it is 0).
    choices_ : dict of str to int
        The rank that each criterion chooses, among those looked at. For ``"stability"``, it is the
        highest rank within 0.02 of the most stable one.
    table_ : dict of str to ndarray
        ``"rank"`` (from 0 on), ``"loss"``, ``"relative_loss"`` and each criterion, and
        ``"stability"``, if it was asked for (here the highest is the best);
        ``pandas.DataFrame(search.table_)`` makes a table.
    random_state_ : int or RandomState instance
        The method's seed or, if it has none, the one that was drawn instead.

    Notes
    -----
    Ctrl-C raises `KeyboardInterrupt` as always, but leaves all attributes as they are for the ranks
    finished so far; another `fit` of the same data continues from there. A fitted search keeps the
    data and the best factors of each rank, for `model`. With weights of rows or columns, the table
    is of the data with copies of its lines, see `ELBMF.fit`.

    Examples
    --------
    >>> from elbmf import ELBMF, RankSearch
    >>> from elbmf.datasets import make_tiles
    >>> A = make_tiles((60, 50), 3, height=(15, 20), noise=0.05, random_state=0).A
    >>> RankSearch(ELBMF(random_state=0), max_components=6).fit(A).n_components_
    3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "transform"]), None],
        "max_components": [Interval(Integral, 1, None, closed="left")],
        "criterion": [StrOptions({*CRITERIA, HELD_OUT})],
        "every": ["boolean", StrOptions({"auto"})],
        "holdout": [Interval(Real, 0, 1, closed="neither"), None],
        "stability": [Interval(Integral, 1, None, closed="left"), None],
        "checkpoint": [str, HasMethods("__fspath__"), None],
        "callback": [callable, None],
        "verbose": ["boolean", Interval(Integral, 0, None, closed="left")],
    }

    estimator: BooleanFactorizer | None = field(default=None, kw_only=False)
    max_components: int = field(default=30, kw_only=False)
    criterion: str = "mdl"
    every: bool | Literal["auto"] = "auto"
    holdout: float | None = None
    stability: int | None = None
    checkpoint: Any = None
    callback: Callable[[RankProgress], Any] | None = None
    verbose: bool | int = False

    n_components_: int = field(init=False)
    best_estimator_: BooleanFactorizer = field(init=False)
    choices_: dict[str, int] = field(init=False)
    table_: dict[str, NDArray[Any]] = field(init=False)
    random_state_: Any = field(init=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        missing: Any = None,
        sample_weight: Any = None,
        feature_weight: Any = None,
        *,
        layer: str | None = None,
    ) -> Self:
        """Search the ranks of X.

        Parameters
        ----------
        X, y, missing, sample_weight, feature_weight, layer
            As for the method's own ``fit``.
        """
        with naming_lines(lambda: names_of(X)):
            self._search(X, missing, layer, sample_weight, feature_weight)
        return self

    def _search(self, X: Any, missing: Any, layer: str | None, *line_weights: Any) -> None:
        self._validate_params()
        method = copy.copy(self.estimator) if self.estimator is not None else ELBMF()
        if not isinstance(method, BooleanFactorizer):
            raise InputError(
                f"estimator must be a method of elbmf.estimators; got {type(method).__name__}."
            )
        method.n_components = 1
        method._validate_params()
        method._note_layer(X, layer)
        A = read = method._read(X, missing, reset=True)
        method._name_rows(names_of(X)[0])
        lines = method._line_weights(read, *line_weights)
        if lines is not None:
            if self.stability is not None:
                raise InputError(
                    Setting("stability"), " is not for weights of rows or columns, whose copies "
                    "would be resampled. Leave one of them out."
                )  # fmt: skip
            A = lines.repeat(read)
        self.n_features_in_ = method.n_features_in_
        with self._showing(ProgressLine, A.ones):
            self._look_at_ranks(method, A, read, lines)

    def _look_at_ranks(
        self,
        method: BooleanFactorizer,
        A: BooleanMatrix,
        read: BooleanMatrix,  # Whose lines A has copies of, if they are weighted
        lines: LineWeights | None,
    ) -> None:
        seed, finished = self._finished(method, A)

        def path_of(
            data: BooleanMatrix, known: FinishedSteps, observe: Callable[[RankProgress], Any] | None
        ) -> RankPath:
            return rank_path(method, data, method._stepper(data), seed, known, observe)

        path, hidden = path_of(A, finished.all, self._tell), None
        runs: list[_Run] = []
        if self.holdout is not None:
            # A cell that is hidden is hidden in all copies of its row or column.
            masked = hide_cells(read, self.holdout, np.random.default_rng([seed, 1]))
            masked = masked if lines is None else lines.repeat(masked)
            hidden = path_of(masked, finished.hidden, self._observe_held_out)
        try:
            self._walk(path)
            if hidden is not None:
                self._walk(hidden)
                path.look_at(_best_held_out(A, hidden))
            if self.stability is not None:
                self._resample(method, path, seed, finished.runs, runs)
        finally:
            if len(path.ranks) > 1:
                self._conclude(method, path, hidden, runs, lines, read)
        # Only a search that was interrupted goes on.
        self.__dict__.pop("_memory", None)

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.criterion == HELD_OUT and self.holdout is None:
            raise InputError(
                Setting("criterion", HELD_OUT),
                " needs cells to hold out: set ",
                Setting("holdout", 0.1),
                ".",
            )

    def _tell(self, progress: RankProgress) -> None:
        self._observe(progress, "rank_step")

    def _observe_held_out(self, progress: RankProgress) -> None:
        self._tell(replace(progress, held_out=True))

    def _resample(
        self,
        method: BooleanFactorizer,
        path: RankPath,
        seed: int,
        known: Mapping[int, FinishedSteps],  # By run
        done: list["_Run"],  # Those that are finished are added
    ) -> None:
        """Search parts of the data at the same ranks."""
        resample, ranks = Resample.of(HALF), path.ranks[1:]
        resample.check(method)

        def work(run: int, ask: Ask) -> _Run:
            part = resample.draw(path.A, np.random.default_rng([seed, 2, run]))
            model = run_estimator(method, resample).set_params(callback=ask)

            def observe(progress: RankProgress) -> None:
                # Steps that are no fits ask nobody else.
                if ask(FitProgress(iteration=progress.done, loss=progress.cost, seconds=0.0)):
                    raise KeyboardInterrupt

            steps = model._stepper(part.A)
            its_path = rank_path(model, part.A, steps, seed + run, known[run], observe)
            its_path.visit(ranks)
            factors = {rank: its_path.factors[rank] for rank in ranks}
            return _Run(part.rows, part.columns, factors)

        def tell(count: int) -> None:
            step, cost = PathStep("run", 0, ranks[-1]), path.factors[ranks[-1]].cost
            self._tell(RankProgress(step, count, self.stability or 0, cost, of_runs=True))

        finished: dict[int, _Run] = {}
        try:
            side_by_side(work, self.stability or 0, finished, method._threads, tell)
        finally:
            done += [finished[run] for run in sorted(finished)]

    def _walk(self, path: RankPath) -> None:
        """Look at the ranks."""
        most = min(self.max_components, *path.A.shape)
        every = most <= MOST_SCANNED if self.every == "auto" else self.every
        by = "mdl" if self.criterion == HELD_OUT else self.criterion
        if every:
            path.scan(most, by)
        else:
            path.zoom(most, by)

    def _finished(self, method: BooleanFactorizer, A: BooleanMatrix) -> tuple[int, _Finished]:
        """Return the seed, and where finished steps are: on disk, or in memory."""
        given, seed = method.random_state, seed_of(method.random_state)
        # Without a seed of the user's, one that is kept: that of the search that was interrupted.
        drawn = None if given is not None else seed
        note = {
            **identity(method, A),
            "max_components": min(self.max_components, *A.shape),
            "every": self.every,
            "criterion": self.criterion,
            "holdout": self.holdout,
        }
        del note["n_components"]
        if given is not None:
            note["random_state"] = seed
        if self.checkpoint is not None:
            main = StepFolder(self.checkpoint, note)
            if drawn is not None:
                drawn = main.remember_seed(drawn)
            hidden = main.with_hidden_cells(note) if self.holdout is not None else {}
            runs = {run: main.of_run(run, note) for run in range(self.stability or 0)}
            finished = _Finished(main, hidden, runs)
        else:
            if getattr(self, "_memory", ("",))[0] != repr(note):
                self._memory = _Memory(repr(note), drawn, _Finished({}, {}, defaultdict(dict)))
            _, drawn, finished = self._memory
        self.random_state_ = given if drawn is None else drawn
        return seed if drawn is None else seed_of(drawn), finished

    def _conclude(
        self,
        method: BooleanFactorizer,
        path: RankPath,
        hidden: RankPath | None,
        runs: Sequence["_Run"],
        lines: LineWeights | None,
        original: BooleanMatrix,
    ) -> None:
        """Make tables and choices of what is there."""
        losses = np.array([path.counts(rank).errors for rank in path.ranks])
        table: dict[str, NDArray[Any]] = {
            "rank": np.array(path.ranks),
            "loss": losses,
            "relative_loss": losses / max(path.A.ones, 1),
        }
        table |= {name: np.array(path.values(name)) for name in CRITERIA}
        choices = {name: path.best(name) for name in CRITERIA}
        if hidden is not None and len(hidden.ranks) > 1:
            wrong = _held_out_errors(path.A, hidden)
            table[HELD_OUT] = np.array([wrong.get(rank, np.nan) for rank in path.ranks])
            choices[HELD_OUT] = _best_held_out(path.A, hidden)
        if runs:
            table[STABILITY] = _stabilities(path, runs)
            # A line more or less in a component says nothing about how many of them there are.
            as_stable = table[STABILITY] >= np.nanmax(table[STABILITY]) - _AS_STABLE
            choices[STABILITY] = path.ranks[int(np.flatnonzero(as_stable)[-1])]
        # What `model` needs to make an estimator of any rank, and no more.
        factors = {rank: path.factors[rank] for rank in path.ranks}
        self._found = _Found(method, path.A, factors, lines, original)
        self.table_, self.choices_ = table, choices
        self.n_components_ = choices.get(self.criterion, choices["mdl"])
        self.best_estimator_ = self.model(max(self.n_components_, min(path.ranks[1:])))

    def model(self, n_components: int) -> BooleanFactorizer:
        """Return the method, fitted, at one of the ranks looked at.

        Parameters
        ----------
        n_components : int
            The rank.
        """
        check_is_fitted(self, "table_")
        method, A, factors, lines, original = self._found
        if n_components not in factors or not n_components:
            looked_at = ", ".join(str(rank) for rank in factors if rank)
            raise InputError(
                f"There is no factorization with {n_components} components; choose one of "
                f"{looked_at}."
            )
        model = copy.copy(method)
        model.n_components = n_components
        U, V, _ = factors[n_components]
        fitted = FittedFactors(U, V, 0, "rank chosen", self.table_)
        model._store(A, fitted, lines, original)
        return model

    def _found_html(self) -> str:
        if not hasattr(self, "best_estimator_"):
            return ""
        ranks = self.table_["rank"]
        chosen = int(np.searchsorted(ranks, self.n_components_))
        first = max(0, min(chosen - _MOST_SHOWN // 2, len(ranks) - _MOST_SHOWN))
        told = [
            name
            for name in dict.fromkeys((self.criterion, HELD_OUT, STABILITY))
            if name in self.table_
        ]
        lines = []
        for at in range(first, min(first + _MOST_SHOWN, len(ranks))):
            line = [number(int(ranks[at])), number(self.table_["loss"][at])]
            line.append(share(float(self.table_["relative_loss"][at])))
            values = [float(self.table_[name][at]) for name in told]
            line += ["" if np.isnan(value) else f"{value:,.4g}" for value in values]
            chooses = [name for name, rank in self.choices_.items() if rank == ranks[at]]
            line.append(", ".join(chooses))
            lines.append([f"<b>{each}</b>" for each in line] if at == chosen else line)
        titles = [
            "components",
            "loss",
            "relative loss",
            *(TITLES[name] for name in told),
        ]
        left = len(ranks) - len(lines)
        more = f"<p>… and {counted(left, 'more rank')}: table_.</p>" if left else ""
        method = type(self.best_estimator_).__name__
        return (
            f"<p><b>RankSearch</b>: {counted(self.n_components_, 'component')} of {method}, by "
            f"{TITLES[self.criterion]}.</p>"
            + table([*((each, "right") for each in titles), ("chosen by", "left")], lines)
            + more
        )

    def transform(
        self, X: Any, missing: Any = None, feature_weight: Any = None
    ) -> NDArray[np.bool_]:
        """Describe rows by the components of the rank that is chosen."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.transform(X, missing, feature_weight)

    def inverse_transform(self, X: Any) -> sparse.csr_array:
        """Boolean product of memberships with the components of the rank that is chosen."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.inverse_transform(X)

    def score(
        self,
        X: Any,
        y: Any = None,
        missing: Any = None,
        sample_weight: Any = None,
        feature_weight: Any = None,
    ) -> float:
        """One minus the relative loss of the rank that is chosen."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.score(X, None, missing, sample_weight, feature_weight)


class _Run(NamedTuple):
    """A search of a part of the data: which lines it saw, and the factors of each rank."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    factors: dict[int, Factors]


def _stabilities(path: RankPath, runs: Sequence[_Run]) -> NDArray[np.float64]:
    """Return the mean recurrence of components at each rank; NaN without any."""
    found = np.full(len(path.ranks), np.nan)
    for at, rank in enumerate(path.ranks):
        if rank:
            fits = [
                PartialFit(run.factors[rank].U, run.factors[rank].V, run.rows, run.columns)
                for run in runs
            ]
            found[at] = recurrence(path.factors[rank].U, path.factors[rank].V, fits).stability
    return found


def _held_out_errors(A: BooleanMatrix, hidden: RankPath) -> dict[int, float]:
    """Return the share of the held-out cells that are wrong, by rank."""
    errors = {}
    for rank in hidden.ranks:
        every = count(A, hidden.factors[rank].U, hidden.factors[rank].V, hidden.n_jobs)
        seen = hidden.counts(rank)
        errors[rank] = (every.errors - seen.errors) / max(every.known - seen.known, 1)
    return errors


def _best_held_out(A: BooleanMatrix, hidden: RankPath) -> int:
    errors = _held_out_errors(A, hidden)
    return min(errors, key=lambda rank: (errors[rank], rank))
