"""What all methods share: validation, transform and back, score, names.

A method itself only factorizes.
"""

import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from elbmf.binarizers import Binarize, BinarizerWord, binarizer_of, is_number, with_nan
from elbmf.boolean.coverage import Weights, cover
from elbmf.boolean.metrics import measures
from elbmf.boolean.product import boolean_product
from elbmf.errors import InputError
from elbmf.estimators.warning import warn_caller
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.path import Factors, FinishedSteps, Nested, Prefixes, RankPath, Refits, Steps
from elbmf.search.local import describe, refine
from elbmf.utils.progress import FitProgress

__all__ = ["BooleanFactorizer", "FittedFactors"]

Bools = NDArray[np.bool_]

# How n_components="auto" chooses: among the ranks up to this, and twice as many as long as the last
# of them is the best.
_CRITERION = "mdl"
_FIRST_RANKS = 32


class _Stopped(Exception):
    """The callback ended a fit, and with it the search for a rank."""

    def __init__(self, factors: Factors) -> None:
        super().__init__()
        self.factors = factors


class FittedFactors:
    """What a method hands back.

    Parameters
    ----------
    U : ndarray of bool, of shape (n, k)
    V : ndarray of bool, of shape (k, m)
    n_iter : int
        Epochs, sweeps or passes it took.
    stop_reason : str
        Why it ended.
    history : dict of str to ndarray
        Figures of each iteration.

    Attributes
    ----------
    stages : dict of str to int
        What the factors cost after each stage of the method.
    run_losses : list of int
        What each run led to, where there are several.
    """

    def __init__(
        self,
        U: Bools,
        V: Bools,
        n_iter: int = 0,
        stop_reason: str = "",
        history: dict[str, NDArray[Any]] | None = None,
    ) -> None:
        self.U = U
        self.V = V
        self.n_iter = n_iter
        self.stop_reason = stop_reason
        self.history = history or {}
        self.stages: dict[str, int] = {}
        self.run_losses: list[int] = []

    @classmethod
    def of_greedy_choice(cls, nested: Nested, *, stopped: bool = False) -> Self:
        """Hand back components that were found one after the other."""
        costs = nested.costs[1 : nested.found + 1]
        if stopped:
            reason = "callback"
        elif nested.costs[-1] == 0:
            reason = "exact"
        else:
            reason = "n_components" if nested.found == nested.U.shape[1] else "no gain"
        return cls(nested.U, nested.V, nested.found, reason, {"cost": costs})


class BooleanFactorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all methods: A ≈ U ∘ V with Boolean U and V.

    A method implements `_factorize` and declares its own parameters beside the common ones:
    ``n_components``, ``refine``, ``binarize``, ``callback``, ``n_jobs`` and ``random_state``. It
    calls `_tell` after each of its iterations, and ends well when that returns true.

    Attributes
    ----------
    components_ : ndarray of bool, of shape (n_components, n_features)
        V: the columns of each component.
    membership_ : ndarray of bool, of shape (n_samples, n_components)
        U: the components of each row of the training data.
    n_components_ : int
        Components that cover anything: as a rule all, unless fewer already leave no error.
    reconstruction_err_ : int
        ‖A − U ∘ V‖₁, the number of wrong cells among those that are not missing.
    n_iter_ : int
        Iterations done.
    stop_reason_ : str
        Why the iterations ended.
    history_ : dict of str to ndarray
        Figures of each iteration; ``pandas.DataFrame(model.history_)`` makes a table.
    stages_ : dict of str to int
        What the factors cost after each stage: as the method left them (``"method"``), and after
        they were refined (``"refinement"``), where ``refine`` is on. It is their loss, unless the
        two kinds of error are weighed differently. Empty where the rank was chosen along a path.
    run_losses_ : list of int
        What each run led to; empty where there are none to tell.
    n_features_in_ : int
        Columns of the training data.
    feature_names_in_ : ndarray of str
        Their names, where the training data had any.
    binarizer_ : transformer
        Fitted to the training data, by which `transform` reads new rows; only where ``binarize``
        is a word or a transformer.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "refine": ["boolean"],
        "binarize": [
            Interval(Real, None, None, closed="neither"),
            BinarizerWord(),
            HasMethods(["fit", "transform"]),
            None,
        ],
        "callback": [callable, None],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1}), None],
        "random_state": ["random_state"],
    }

    n_components: int | Literal["auto"] | None
    refine: bool
    binarize: Binarize
    callback: Callable[[FitProgress], Any] | None
    n_jobs: int | None
    random_state: Any

    @abstractmethod
    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        """Factorize a validated matrix."""

    def fit(self, X: Any, y: Any = None, missing: Any = None) -> Self:
        """Learn the components of X.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or BooleanMatrix, of shape (n_samples, n_features)
            Zeros and ones, or anything numeric when ``binarize`` is set. Entries that are NaN,
            NA or masked are missing: nothing is learned from them, and they count in no measure.
        y : ignored
        missing : array-like or sparse matrix of shape (n_samples, n_features), optional
            0/1 mask of more missing entries; what X holds there is ignored. A sparse X has its
            missing entries either here or as stored NaN.
        """
        self.fit_transform(X, missing=missing)
        return self

    def fit_transform(self, X: Any, y: Any = None, missing: Any = None) -> Bools:
        """Learn the components of X and return the components of each of its rows.

        Parameters
        ----------
        X, y, missing
            As for `fit`.

        Returns
        -------
        ndarray of bool, of shape (n_samples, n_components)
        """
        self._validate_params()
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        with self._placed(self._read(X, missing, reset=True)) as A:
            if self.n_components == "auto":
                fitted = self._factorize_at_best_rank(A, seed)
            else:
                self._warn_if_too_many(A)
                fitted = self._refined(A, self._factorize(A, np.random.default_rng(seed)))
            self._store(A, fitted)
        return self.membership_.copy()

    def _placed(self, A: BooleanMatrix) -> AbstractContextManager[BooleanMatrix]:
        """Lend the data as what the method is to work on: itself, unless it is too large."""
        A.verify()
        return nullcontext(A)

    def _warn_if_too_many(self, A: BooleanMatrix) -> None:
        shorter = min(A.shape)
        if self.n_components is not None and self._rank > shorter:
            warn_caller(
                f"n_components={self.n_components} is more than the {A.shape[0]}×{A.shape[1]} "
                f"matrix can need: {shorter} components already give an exact factorization."
            )

    def _store(self, A: BooleanMatrix, fitted: FittedFactors) -> None:
        """Set the attributes that fitting leaves."""
        fitted = self._arranged(A, fitted)
        self.components_ = fitted.V
        self.membership_ = fitted.U
        self.n_components_ = int((fitted.U.any(axis=0) & fitted.V.any(axis=1)).sum())
        self.n_iter_ = fitted.n_iter
        self.stop_reason_ = fitted.stop_reason
        self.history_ = fitted.history
        self.stages_ = fitted.stages
        self.run_losses_ = fitted.run_losses
        self.reconstruction_err_ = cover(A, fitted.U, fitted.V, self._threads).loss

    def _tell(self, report: FitProgress) -> bool:
        """Tell the callback how far the fit is; return whether it wants it to end."""
        if self.callback is None:
            return False
        rank = 0 if self.n_components is None else self._rank
        return bool(self.callback(replace(report, n_components=rank)))

    def _refined(self, A: BooleanMatrix, fitted: FittedFactors) -> FittedFactors:
        """Improve what the method has found by local search, if asked to, and note the gain."""
        weights = self._weights(A.shape)

        def cost() -> int:
            return cover(A, fitted.U, fitted.V, self._threads).cost(weights)

        fitted.stages = {"method": cost()}
        if self.refine and fitted.stop_reason != "callback":
            fitted.U, fitted.V = refine(A, fitted.U, fitted.V, weights, self._threads)
            fitted.stages["refinement"] = cost()
        return fitted

    def _arranged(self, A: BooleanMatrix, fitted: FittedFactors) -> FittedFactors:
        """Put the components in an order; as they are found by default."""
        return fitted

    def _factorize_at_best_rank(
        self, A: BooleanMatrix, seed: int, finished: FinishedSteps | None = None
    ) -> FittedFactors:
        """Choose the number of components by the length of the description (MDL)."""
        path = RankPath(A, self._steps(A), seed, finished, n_jobs=self._threads)
        most = min(_FIRST_RANKS, *A.shape)
        reason = "rank chosen"
        try:
            path.zoom(most, _CRITERION)
            while path.best(_CRITERION) == most < min(A.shape):
                most = min(2 * most, *A.shape)
                path.zoom(most, _CRITERION)
        except _Stopped as stopped:
            reason = "callback"
            path.factors.setdefault(stopped.factors.rank, stopped.factors)
        best = path.best(_CRITERION)
        if best == 0 and reason != "callback":
            warn_caller(
                "No number of components describes the matrix more briefly than none at all: it "
                "may hold no groups. n_components='auto' finds one component all the same."
            )
        table = {
            "rank": np.array(path.ranks),
            "loss": np.array([path.counts(rank).errors for rank in path.ranks]),
            _CRITERION: np.array(path.values(_CRITERION)),
        }
        chosen = path.factors[max(best, min(rank for rank in path.ranks if rank))]
        return FittedFactors(chosen.U, chosen.V, self._epochs_of_path, reason, table)

    def _steps(self, A: BooleanMatrix) -> Steps:
        """Return how this method gets from rank to rank: by starting anew, unless it knows how."""
        return Refits(self._refitting(A))

    def _refitting(
        self, A: BooleanMatrix, parameters: Callable[[int], dict[str, Any]] = lambda rank: {}
    ) -> Callable[[int, np.random.Generator], Factors]:
        """Return a function that factorizes at a rank, with the parameters set that it asks for."""
        self._epochs_of_path = 0

        def refit(rank: int, generator: np.random.Generator) -> Factors:
            model = copy.copy(self)
            model.set_params(n_components=rank, **parameters(rank))
            fitted = model._refined(A, model._factorize(A, generator))
            self._epochs_of_path += fitted.n_iter
            factors = self._with_cost(A, fitted)
            if fitted.stop_reason == "callback":
                raise _Stopped(factors)
            return factors

        return refit

    def _prefixes(self, A: BooleanMatrix, find: Callable[[int], Sequence[Nested]]) -> Prefixes:
        """Return the steps of a method whose components do not depend on how many follow.

        Parameters
        ----------
        A : BooleanMatrix
            The data.
        find : callable
            Returns one or several sequences of so many components, of which each rank takes the
            one that costs least there.
        """
        self._epochs_of_path = 0

        def count_and_find(rank: int) -> Sequence[Nested]:
            self._epochs_of_path += rank
            return find(rank)

        def finish(U: Bools, V: Bools) -> Factors:
            return self._with_cost(A, copy.copy(self)._refined(A, FittedFactors(U, V)))

        return Prefixes(count_and_find, finish)

    def _with_cost(self, A: BooleanMatrix, fitted: FittedFactors) -> Factors:
        cost = cover(A, fitted.U, fitted.V, self._threads).cost(self._weights(A.shape))
        return Factors(fitted.U, fitted.V, cost)

    def transform(self, X: Any, missing: Any = None) -> Bools:
        """Describe rows, seen or unseen, by the components learned.

        Each row gets the components that lower its own loss most: of all subsets, where these are
        few enough to try. The answer for a row depends on that row alone.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            As for `fit`.
        missing : array-like or sparse matrix of shape (n_samples, n_features), optional
            As for `fit`.

        Returns
        -------
        ndarray of bool, of shape (n_samples, n_components)
        """
        check_is_fitted(self, "components_")
        with self._placed(self._read(X, missing, reset=False)) as A:
            return self._describe(A)

    def inverse_transform(self, X: Any) -> sparse.csr_array:
        """Boolean product of memberships with the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            What `transform` returned.

        Returns
        -------
        sparse array of bool, of shape (n_samples, n_features)
        """
        check_is_fitted(self, "components_")
        return boolean_product(X, self.components_, self._threads)

    def score(self, X: Any, y: Any = None, missing: Any = None) -> float:
        """One minus the relative loss on X: 1 is perfect, 0 is what no components at all reach.

        Missing entries, given as for `fit`, count for nothing.
        """
        check_is_fitted(self, "components_")
        with self._placed(self._read(X, missing, reset=False)) as A:
            U = self._describe(A)
            return 1 - measures(A, U, self.components_, n_jobs=self._threads)["relative_loss"]

    def _validate_params(self) -> None:
        super()._validate_params()
        # Python takes True for the whole number 1.
        if isinstance(self.n_components, bool):
            raise InputError(f"n_components must be a number; got {self.n_components}.")

    def _describe(self, A: BooleanMatrix) -> Bools:
        return describe(A, self.components_, self._weights(A.shape), self._threads)

    def _weights(self, shape: tuple[int, int]) -> Weights:
        """Return what the two kinds of error cost, on a matrix of that shape."""
        return Weights()

    @property
    def _rank(self) -> int:
        """Number of components to find."""
        assert isinstance(self.n_components, int | np.integer)
        return int(self.n_components)

    @property
    def _threads(self) -> int | None:
        """Threads to use, None for all cores."""
        return None if self.n_jobs == -1 else self.n_jobs

    @property
    def _n_features_out(self) -> int:
        """Number of transformed columns, for `get_feature_names_out`."""
        return int(self.components_.shape[0])

    def _read(self, X: Any, missing: Any, reset: bool) -> BooleanMatrix:
        """Validate input: shape and names as scikit-learn wants them, values as we do."""
        if isinstance(X, BooleanMatrix):
            # Valid already, and perhaps larger than memory.
            validate_data(self, X, reset=reset, skip_check_array=True)
            return BooleanMatrix.from_array(X, missing=missing)
        checked = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=True,
            accept_large_sparse=True,
            ensure_all_finite=False,
            dtype="numeric",
        )
        if np.ma.is_masked(X):
            # The validation looks through the mask.
            checked = np.ma.masked_array(checked, mask=np.ma.getmaskarray(X))
        try:
            if self.binarize is None or is_number(self.binarize):
                return BooleanMatrix.from_array(checked, self.binarize, missing)
            checked = with_nan(checked, missing)
            if reset:
                self.binarizer_ = binarizer_of(self.binarize).fit(checked)
            return BooleanMatrix.from_array(self.binarizer_.transform(checked))
        except InputError as error:
            raise InputError(f"{type(self).__name__}: {error}") from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags
