"""What all methods share: validation, transform and back, score, names.

A method itself only factorizes.
"""

import os
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, is_dataclass, replace
from inspect import signature
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    BiclusterMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import _check_n_features, check_array, check_is_fitted, validate_data

from elbmf.binarizers import Binarize, BinarizerWord, binarizer_of, is_number, with_nan
from elbmf.boolean.coverage import Cover, Weights, cover
from elbmf.boolean.fitted import FittedFactors
from elbmf.boolean.line_weights import LineWeights, weighted_cover
from elbmf.boolean.metrics import measures
from elbmf.boolean.noise_rates import NoiseRates
from elbmf.boolean.product import boolean_product
from elbmf.errors import InputError, NothingToLearnWarning
from elbmf.estimators.auto_rank import Refit, at_best_rank
from elbmf.estimators.progress_line import ProgressLine, Watched
from elbmf.estimators.shown import ShowsFound
from elbmf.estimators.warning import warn_caller
from elbmf.io.annotated import layers_of, named_values
from elbmf.io.formats.matrix_folder import FolderTable
from elbmf.io.frames import dropping, is_frame, plain_cells, require_table, with_numbers
from elbmf.io.matching import in_order, line_order, told_repeated
from elbmf.io.model_info import ModelInfo
from elbmf.io.table import NamedValues, is_annotated, names_of
from elbmf.matrix.boolean_matrix import BooleanMatrix, NotBooleanError, without_strays
from elbmf.ranks.path import Stepper
from elbmf.search.local import describe, refine
from elbmf.utils.constraints import HasMethods, Interval, Options, StrOptions
from elbmf.utils.docstrings import with_inherited
from elbmf.utils.naming import naming_lines
from elbmf.utils.progress import FitProgress
from elbmf.utils.seeds import seed_of
from elbmf.utils.text import unlearnable

__all__ = ["MOST", "BooleanFactorizer", "FittedFactors", "estimator", "lent"]

T = TypeVar("T")

Bools = NDArray[np.bool_]

MOST = 1_000_000
"""Components and runs that may be asked for: some whole numbers are the length of nothing."""

# What only `partial_fit` leaves: a fit makes it void.
_OF_A_STREAM = ("n_rows_seen_", "n_batches_", "_stream", "saved_info_")


def lent(A: BooleanMatrix) -> AbstractContextManager[BooleanMatrix]:
    """Lend data as it is; what is on disk is looked at for damage first."""
    A.verify()
    return nullcontext(A)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[T]) -> type[T]:
    """Make the annotated attributes of a class its parameters, beside those of its bases.

    It gets an ``__init__`` that takes them as keywords. Its docstring is completed by theirs: by
    parameters that it names without a word, and by parameters and attributes that it does not name.
    Its ``_parameter_constraints`` are those of its own; those of the bases are added.
    """
    constraints: dict[str, list[Any]] = {}
    for base in reversed(cls.__mro__):
        constraints |= vars(base).get("_parameter_constraints", {})
    cls._parameter_constraints = constraints  # type: ignore[attr-defined]
    made = dataclass(eq=False, repr=False, kw_only=True)(cls)
    docstrings = [base.__doc__ or "" for base in made.__bases__ if is_dataclass(base)]
    made.__doc__ = with_inherited(made.__doc__ or "", docstrings, signature(made).parameters)
    return made


@estimator
class BooleanFactorizer(
    BiclusterMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    Watched,
    ShowsFound,
    BaseEstimator,
):
    """Base of all methods: A ≈ U ∘ V with Boolean U and V.

    A method is an `estimator` with parameters of its own beside the common ones, and implements
    `_factorize`. It calls `_tell` after each of its iterations, and ends well when that returns
    true. What else it may say, each in one method:

    - `_weights`: what the two kinds of error cost;
    - `_stepper`: how to get from one number of components to the next;
    - `_arranged`: the order of the components;
    - `_read`, `_lend` and `_describe`: how data comes in, where it lies during the fit, and how
      rows are described, for data that is not simply in memory.

    What it can use: `_rank`, `_threads`, and parts of its own, such as a
    `elbmf.estimators.relaxer.Relaxer`, a `elbmf.estimators.resuming.Session` or an
    `elbmf.search.portfolio.Portfolio`.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Number of components k. ``"auto"`` chooses the number with the shortest description of the
        data (MDL); most methods then take several times as long.
    refine : bool, default=False
        Improve the factors by Boolean local search afterwards, which never makes the loss worse.
    binarize : float, str or transformer, optional
        For input that is not 0/1: a threshold (values above it are ones), or ``nonzero``,
        ``positive``, ``zscore[:CUTOFF][:SCOPE]`` (1.645) or ``quantile[:SHARE][:SCOPE]`` (0.05), of
        ``columns`` (default), ``rows`` or ``all``. ``log1p:`` before it takes log(x + 1) first.

        In Python also a transformer.
    callback : callable, optional
        Called with a `FitProgress` after each iteration. A true return value ends the fit at once
        with what was found so far.
    n_jobs : int, optional
        Threads. All cores by default and for -1. The result does not depend on it.
    random_state : int, RandomState instance or None
        Seed for everything random.
    verbose : bool or int, default=False
        In Python, whether to show how far the fit is: in one line that keeps changing, on a
        terminal or in a notebook, and elsewhere as a line on stderr now and then.

    Attributes
    ----------
    components_ : ndarray of bool, of shape (n_components, n_features)
        V: the columns of each component.
    membership_ : ndarray of bool, of shape (n_samples, n_components)
        U: the components of each row of the training data.
    n_components_ : int
        Components that cover anything: usually all, unless fewer already leave no error.
    reconstruction_err_ : int
        ‖A − U ∘ V‖₁, the number of wrong cells among those that are not missing. With weights of
        rows or columns it is what these cells weigh, a float unless all weights are whole numbers.
    cover_ : Cover
        How the product covers the training data: ``cells`` that are not missing, ``ones``, and how
        many are ``covered`` and ``hits``; with weights of rows or columns what these weigh.
    noise_rates_ : NoiseRates
        How often cells outside of all components are ones (``false_positive``), and cells in
        components zeros (``false_negative``).
    n_iter_ : int
        Iterations done.
    stop_reason_ : str
        Why the iterations ended.
    history_ : dict of str to ndarray
        Figures of each iteration; ``pandas.DataFrame(model.history_)`` makes them a table.
    stages_ : dict of str to int
        What the factors cost after each stage: as the method left them (``"method"``), and after
        they were refined (``"refinement"``), where ``refine`` is on. It is their loss, unless the
        two kinds of error are weighed differently: then these are whole numbers, and an uncovered
        one costs `elbmf.boolean.coverage.Weights.missed` of them. Empty where the rank was chosen
        along a path.
    run_losses_ : list of int
        Loss of each run; empty if there are none.
    line_weights_ : LineWeights or None
        Weights of rows and columns, if there were any. What describes the course of such a fit,
        such as ``stages_`` and bounds, then refers to copies of the lines.
    n_features_in_ : int
        Columns of the training data.
    feature_names_in_ : ndarray of str
        Their names, where the training data had any.
    sample_names_in_ : ndarray of str
        Names of the rows of the training data, where it had any.
    rows_ : ndarray of bool, of shape (n_components, n_samples)
        The rows of each component: `membership_` the other way round. With ``columns_``, it is what
        scikit-learn knows as biclusters, one for each component; they may overlap.
    columns_ : ndarray of bool, of shape (n_components, n_features)
        The columns of each component: the same as ``components_``.
    layer_ : str or None
        Which layer of an AnnData was read, None for its ``X``; only after fits of an AnnData.
    binarizer_ : transformer
        Fitted to the training data; `transform` reads new rows by it. Only if ``binarize`` is a
        word or a transformer.
    """

    # Not where it is a means to something else.
    _warns_of_doubts = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, MOST, closed="both"), StrOptions({"auto"})],
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
        "verbose": ["boolean", Interval(Integral, 0, None, closed="left")],
    }

    n_components: int | Literal["auto"] | None = field(default=10, kw_only=False)
    refine: bool = False
    binarize: Binarize = None
    callback: Callable[[FitProgress], Any] | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool | int = False

    # What a fit leaves, for editors and type checkers
    components_: Bools = field(init=False)
    membership_: Bools = field(init=False)
    n_components_: int = field(init=False)
    reconstruction_err_: int | float = field(init=False)
    cover_: Cover = field(init=False)
    noise_rates_: NoiseRates = field(init=False)
    n_iter_: int = field(init=False)
    stop_reason_: str = field(init=False)
    history_: dict[str, NDArray[Any]] = field(init=False)
    stages_: dict[str, int] = field(init=False)
    run_losses_: list[int] = field(init=False)
    line_weights_: LineWeights | None = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: NDArray[np.object_] = field(init=False)
    sample_names_in_: NDArray[np.object_] = field(init=False)
    binarizer_: Any = field(init=False)
    layer_: str | None = field(init=False)

    @abstractmethod
    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        """Factorize a validated matrix."""

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
        """Learn the components of X.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, AnnData or BooleanMatrix
            Of shape (n_samples, n_features). Zeros and ones, or anything numeric when ``binarize``
            is set. Entries that are NaN, NA or masked are missing: nothing is learned from them,
            and they count in no measure. Of an AnnData, observations are the samples and variables
            the features.
        y : ignored
        missing : array-like or sparse matrix of shape (n_samples, n_features), optional
            0/1 mask of more missing entries; the values of X there are ignored. A sparse X has its
            missing entries either here or as stored NaN.
        sample_weight, feature_weight : array-like of length n_samples and n_features, optional
            Weight of each row and each column, at least 0; 1 by default. A wrong cell costs the
            weight of its row times that of its column, so a row of weight 3 counts as three such
            rows. The fit makes that many copies. This is exact if the weights are whole numbers of
            at most 32 on average, or in the ratio of such; otherwise they are rounded, and a
            warning says so. A row of weight 0 is left out of the fit and described by the
            components afterwards; a column of weight 0 is in no component. ``binarize`` learns from
            X without weights.
        layer : str, optional
            Of an AnnData, which layer to read instead of its ``X``. Whatever takes an AnnData
            later, such as `transform`, reads the same layer.
        """
        self.fit_transform(X, None, missing, sample_weight, feature_weight, layer=layer)
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        missing: Any = None,
        sample_weight: Any = None,
        feature_weight: Any = None,
        *,
        layer: str | None = None,
    ) -> Bools:
        """Learn the components of X and return the components of each of its rows.

        Parameters
        ----------
        X, y, missing, sample_weight, feature_weight, layer
            As for `fit`.

        Returns
        -------
        ndarray of bool, of shape (n_samples, n_components)
        """
        self._validate_params()
        seed = seed_of(self.random_state)
        self._note_layer(X, layer)
        with naming_lines(lambda: names_of(X)), ExitStack() as lending:
            A = read = lending.enter_context(self._lend(self._read(X, missing, reset=True)))
            untold = unlearnable(read.ones, read.cells, read.n_missing)
            if untold:
                warn_caller(untold, NothingToLearnWarning)
            lines = self._line_weights(read, sample_weight, feature_weight)
            if lines is not None:
                A = lending.enter_context(self._lend(lines.repeat(read)))
            to_choose = self.n_components == "auto"
            with self._showing(ProgressLine, A.ones, many_ranks=to_choose):
                if to_choose:
                    fitted = at_best_rank(self, A, seed)
                else:
                    self._warn_if_too_many(A)
                    fitted = self._refined(A, self._factorize(A, np.random.default_rng(seed)))
            self._store(A, fitted, lines, read)
            self._name_rows(names_of(X)[0])
            if self._warns_of_doubts:
                self._warn_of_doubts()
        if fitted.stop_reason == "interrupted":
            raise KeyboardInterrupt
        return self.membership_.copy()

    def _note_layer(self, X: Any, layer: str | None) -> None:
        """Note which layer of an AnnData is read, for all that reads one later."""
        self.__dict__.pop("layer_", None)
        if is_annotated(X):
            self.layer_ = layer
        elif layer is not None:
            named_values(X, layer)  # which says what is wrong with that

    def _lend(self, A: BooleanMatrix) -> AbstractContextManager[BooleanMatrix]:
        """Lend the data as what the method is to work on: itself, unless it is too large."""
        return lent(A)

    def _warn_if_too_many(self, A: BooleanMatrix) -> None:
        shorter = min(A.shape)
        if self.n_components is not None and self._rank > shorter:
            warn_caller(
                f"n_components={self.n_components} is more than the {A.shape[0]}×{A.shape[1]} "
                f"matrix can need: {shorter} components already give an exact factorization."
            )

    def _warn_of_doubts(self) -> None:
        """Say which components may be chance, for a method that is not asked for such."""

    def _line_weights(
        self, A: BooleanMatrix, sample_weight: Any, feature_weight: Any
    ) -> LineWeights | None:
        """Read weights for a fit, and say what cannot be done with them."""
        lines = LineWeights.of(A.shape, sample_weight, feature_weight)
        if lines is None:
            return None
        if not isinstance(getattr(self, "init", ""), str):
            raise InputError(
                "With weights of rows or columns, a fit cannot start from your own factors; got "
                "init=(U, V). Set init to 'auto', 'svd' or 'random', or leave the weights out."
            )
        for said in lines.roundings():
            warn_caller(said)
        return lines

    def _store(
        self,
        A: BooleanMatrix,  # What was fitted
        fitted: FittedFactors,
        lines: LineWeights | None = None,
        original: BooleanMatrix | None = None,  # Whose lines A has copies of, if they are weighted
    ) -> None:
        """Set the attributes that fitting leaves."""
        fitted = self._arranged(A, fitted)
        self.line_weights_ = lines
        if lines is not None and original is not None:
            fitted, A = self._joined(A, fitted, lines, original), original
        self.components_ = fitted.V
        self.membership_ = fitted.U
        self.n_components_ = int((fitted.U.any(axis=0) & fitted.V.any(axis=1)).sum())
        self.n_iter_ = fitted.n_iter
        self.stop_reason_ = fitted.stop_reason
        self.history_ = fitted.history
        self.stages_ = fitted.stages
        self.run_losses_ = fitted.run_losses
        self._count(weighted_cover(A, fitted.U, fitted.V, lines, self._threads))
        for attribute in _OF_A_STREAM:
            self.__dict__.pop(attribute, None)

    def _count(self, counts: Cover) -> None:
        """Set what is told of how the product covers the data."""
        self.cover_ = counts
        self.reconstruction_err_ = counts.loss
        self.noise_rates_ = NoiseRates.of(counts)

    def _recall(self, info: ModelInfo) -> None:
        """Set what this method alone tells of a fit, from the notes of one that was saved."""

    def _name_rows(self, names: Sequence[str] | None) -> None:
        """Keep the names of rows, where there are any."""
        self.__dict__.pop("sample_names_in_", None)
        if names is not None:
            self.sample_names_in_ = np.array(names, dtype=object)

    def save(
        self,
        directory: str | os.PathLike[str],
        X: Any = None,
        *,
        missing: Any = None,
        overwrite: bool = False,
        tsv: bool = False,
    ) -> None:
        """Save the fitted method as a folder, which `elbmf.load` and the command line read.

        It has the factors, the names of rows and columns, the parameters and what is known of the
        fit, in JSON and plain arrays: nothing that is run when it is read.

        Parameters
        ----------
        directory : path-like
            The folder, which is made.
        X : array-like, sparse matrix, data frame or AnnData, optional
            What the method was fitted to, if the tables of ``tsv`` are to have margins.
        missing : array-like or sparse matrix, optional
            The mask of missing entries that it was fitted with, if any.
        overwrite : bool, default=False
            Whether to replace a result that is there.
        tsv : bool, default=False
            Whether to add tables of components, rows and columns for reading.
        """
        from elbmf.estimators.saving import save

        save(self, directory, X, missing=missing, overwrite=overwrite, tsv=tsv)

    def components_frame(self, X: Any = None, *, missing: Any = None) -> Any:
        """Return a data frame with a line for each component: its size, and what is known of it.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or AnnData, optional
            What the method was fitted to. The frame then has the ones that each component covers,
            those that it covers alone, and its precision.
        missing : array-like or sparse matrix, optional
            The mask of missing entries that it was fitted with, if any.

        Returns
        -------
        pandas.DataFrame
            By component: ``rows`` and ``columns``, what is noted, such as ``bits_saved``,
            ``doubts``, and ``column_names``, the best first.
        """
        from elbmf.estimators.found import components_frame

        return components_frame(self, X, missing)

    def members_frame(
        self, side: Literal["columns", "rows"] = "columns", X: Any = None, *, missing: Any = None
    ) -> Any:
        """Return a data frame with a line for each column, or row, of each component.

        Parameters
        ----------
        side : {"columns", "rows"}, default="columns"
            Whose members.
        X : array-like, sparse matrix, data frame or AnnData, optional
            What the method was fitted to. The frame then tells how well each fits.
        missing : array-like or sparse matrix, optional
            The mask of missing entries that it was fitted with, if any.

        Returns
        -------
        pandas.DataFrame
            ``component``, ``column`` (or ``row``), its name, and ``place``, where it is in the
            data. With X, also the ``share`` of the component's rows (or columns) that have a one
            there, ``share_elsewhere``, that of the other rows, and ``margin``: by how much the loss
            would go up if it were not in the component, see `elbmf.margins`. The best come first.
        """
        from elbmf.estimators.found import members_frame

        return members_frame(self, side, X, missing)

    def _found_html(self) -> str:
        if not hasattr(self, "membership_"):
            return ""
        from elbmf.estimators.found import html

        return html(self)

    def _joined(
        self, A: BooleanMatrix, fitted: FittedFactors, lines: LineWeights, original: BooleanMatrix
    ) -> FittedFactors:
        """Make factors of a matrix of those of the copies of its lines."""
        weights = self._weights(A.shape)
        copies = fitted.U, fitted.V
        U, V = fitted.U, fitted.V = lines.join(A, *copies, weights)
        if fitted.stages and not all(map(np.array_equal, copies, lines.spread(U, V))):
            cost = cover(A, *lines.spread(U, V), self._threads).cost(weights)
            fitted.stages["joined copies"] = cost
        if lines.rows is not None and not lines.rows.all():
            described = self._describe(original, V, lines.of_columns)
            fitted.U = np.where((lines.rows == 0)[:, None], described, U)
        return fitted

    def _tell(self, report: FitProgress) -> bool:
        """Tell the callback how far the fit is; return whether it wants it to end."""
        if not self._is_watched:
            return False
        rank = 0 if self.n_components is None else self._rank
        return self._observe(replace(report, n_components=rank))

    def _tell_since(self, began: float, **figures: Any) -> bool:
        """Do the same, of a fit that began at a time as of `time.perf_counter`."""
        return self._tell(FitProgress(seconds=time.perf_counter() - began, **figures))

    def _refined(self, A: BooleanMatrix, fitted: FittedFactors) -> FittedFactors:
        """Improve what the method has found by local search, if asked to, and note the gain.

        Factors that come with stages are those of a method that does this itself.
        """
        if fitted.stages:
            return fitted
        weights = self._weights(A.shape)

        def cost() -> int:
            return cover(A, fitted.U, fitted.V, self._threads).cost(weights)

        fitted.stages = {"method": cost()}
        if self.refine and not fitted.was_stopped:
            fitted.U, fitted.V = refine(A, fitted.U, fitted.V, weights, self._threads)
            fitted.stages["refinement"] = cost()
        return fitted

    def _arranged(self, A: BooleanMatrix, fitted: FittedFactors) -> FittedFactors:
        """Put the components in an order; as they are found by default."""
        return fitted

    @property
    def _has_rates(self) -> bool:
        """Whether errors in components and errors elsewhere have rates of their own."""
        return False

    def _stepper(self, A: BooleanMatrix) -> Stepper:
        """Return how this method gets from rank to rank: by starting anew, unless it knows how."""
        refit = Refit(self, A)
        return Stepper(refit, lambda: refit.n_iter)

    def transform(self, X: Any, missing: Any = None, feature_weight: Any = None) -> Bools:
        """Describe rows, seen or unseen, by the components learned.

        Each row gets the components that lower its own loss most: of all subsets, where these are
        few enough to try. The answer for a row depends on that row alone.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or AnnData, of shape (n_samples, n_features)
            As for `fit`. The columns of an AnnData or `elbmf.io.LabelledMatrix` may come in any
            order, if those of the fit have names, too.
        missing : array-like or sparse matrix of shape (n_samples, n_features), optional
            As for `fit`.
        feature_weight : array-like of length n_features, optional
            What each column of the fit weighs in the loss of a row; 1 by default, whatever it was
            in the fit.

        Returns
        -------
        ndarray of bool, of shape (n_samples, n_components)
        """
        check_is_fitted(self, "components_")
        with self._lend(self._read(X, missing, reset=False)) as A:
            columns = LineWeights.of(A.shape, None, feature_weight)
            return self._describe(A, self.components_, columns)

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

    def score(
        self,
        X: Any,
        y: Any = None,
        missing: Any = None,
        sample_weight: Any = None,
        feature_weight: Any = None,
    ) -> float:
        """One minus the relative loss on X: 1 is perfect, 0 is what no components at all reach.

        Missing entries, given as for `fit`, count for nothing; where none is known, none is wrong,
        and the score is 1. Rows and columns count as the weights say that are given here; 1 each by
        default, whatever they were in the fit.
        """
        check_is_fitted(self, "components_")
        with self._lend(self._read(X, missing, reset=False)) as A:
            U = self._describe(A, self.components_, LineWeights.of(A.shape, None, feature_weight))
            found = measures(
                A,
                U,
                self.components_,
                n_jobs=self._threads,
                sample_weight=sample_weight,
                feature_weight=feature_weight,
            )
            return 1 - found["relative_loss"]

    def _validate_params(self) -> None:
        super()._validate_params()
        # Python takes True for the whole number 1.
        if isinstance(self.n_components, bool):
            raise InputError(f"n_components must be a number; got {self.n_components}.")

    def _describe(self, A: BooleanMatrix, V: Bools, columns: LineWeights | None) -> Bools:
        """Return the components of each row, where columns may be weighted."""
        if columns is not None:
            A, V = columns.repeat(A), columns.spread_columns(V)
        return describe(A, V, self._weights(A.shape), self._threads)

    def _weights(self, shape: tuple[int, int]) -> Weights:
        """Return what the two kinds of error cost, on a matrix of that shape."""
        return Weights()

    @property
    def rows_(self) -> Bools:
        """The rows of each component, as scikit-learn's biclusters have them."""
        return self.membership_.T

    @property
    def columns_(self) -> Bools:
        """The columns of each component, likewise."""
        return self.components_

    @property
    def _rank(self) -> int:
        """Number of components to find."""
        if not isinstance(self.n_components, int | np.integer):
            # As what is not there: whoever lists what an estimator has, looks at this, too.
            raise AttributeError("n_components is not known before it is chosen.")
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
        given = X
        require_table(X)
        X = named_values(X, getattr(self, "layer_", None) if is_annotated(X) else None)
        if not reset and (isinstance(X, NamedValues) or isinstance(given, FolderTable)):
            X, missing = self._with_own_columns(given, X, missing)
        if isinstance(X, BooleanMatrix):
            # Valid already, and perhaps larger than memory.
            if reset:
                validate_data(self, X, reset=True, skip_check_array=True)
            else:
                # That it has no names is no news: it has no place for any.
                _check_n_features(self, X, reset=False)
            return BooleanMatrix.from_array(X, missing=missing)
        with naming_lines(lambda: names_of(X)):
            checked = None
            try:
                checked = self._validated(X, reset)
                if np.ma.is_masked(X):
                    # The validation looks through the mask.
                    checked = np.ma.masked_array(checked, mask=np.ma.getmaskarray(X))
                if self.binarize is None or is_number(self.binarize):
                    return BooleanMatrix.from_array(checked, self.binarize, missing)
                checked = with_nan(checked, missing)
                if reset:
                    self.binarizer_ = binarizer_of(self.binarize).fit(checked)
                return BooleanMatrix.from_array(self.binarizer_.transform(checked))
            except InputError as error:
                parts: Sequence[Any] = error.parts
                if isinstance(error, NotBooleanError):
                    hint = ""
                    if is_annotated(given):
                        hint = _layers_hint(given, None if reset else self)
                    if not reset:
                        raise InputError(*error.of_new_rows().parts, hint) from None
                    parts = without_strays(error, checked, lambda places: dropping(given, places))
                    parts = [*parts, hint]
                raise InputError(f"{type(self).__name__}: ", *parts) from None

    def _with_own_columns(self, given: Any, X: Any, missing: Any) -> tuple[Any, Any]:
        """Put columns in the order of the fit, by their names; raise where they are others."""
        rows, theirs = names_of(given)
        if theirs is None or not hasattr(self, "feature_names_in_"):
            return X, missing
        own = [str(name) for name in self.feature_names_in_]
        try:
            order = line_order("columns", (len(theirs), theirs), (len(own), own))
        except InputError as error:
            raise InputError("The data: ", *error.parts) from None
        if order is None:
            return X, missing
        if missing is not None:
            missing = in_order(BooleanMatrix.mask(missing).to_csr(), None, order)
        # What is in a folder is in one order, and is taken into memory for another.
        values = given.values if isinstance(given, FolderTable) else X.values
        return NamedValues(in_order(values, None, order), rows, own), missing

    def _validated(self, X: Any, reset: bool) -> Any:
        """Return input as scikit-learn wants it, with names, shape and numbers checked."""
        rules: dict[str, Any] = {
            "accept_sparse": True,
            "accept_large_sparse": True,
            "ensure_all_finite": False,
            "dtype": "numeric",
        }
        if is_frame(X):
            if not reset:
                self._require_own_names()
            return self._validated_frame(with_numbers(X), reset, rules)
        if not isinstance(X, NamedValues):
            return validate_data(self, X, reset=reset, **rules)
        theirs = X.column_names
        if theirs is not None and not reset and hasattr(self, "feature_names_in_"):
            return check_array(X.values, estimator=self, **rules)  # They are looked at already.
        if reset and theirs is not None and (repeated := told_repeated(theirs)):
            warn_caller(repeated)
        checked = validate_data(self, X.values, reset=reset, **rules)
        if reset and theirs is not None:
            self.feature_names_in_ = np.array(theirs, dtype=object)
        return checked

    def _require_own_names(self) -> None:
        """Say what to do with a data frame where a model has columns of the same name."""
        own = getattr(self, "feature_names_in_", None)
        repeated = "" if own is None else told_repeated(own.tolist())
        if repeated:
            raise InputError(
                f"{type(self).__name__}: of the model, {repeated[0].lower()}{repeated[1:]} A data "
                "frame cannot have them. Pass its cells, in the model's order: X.to_numpy()."
            )

    def _validated_frame(self, X: Any, reset: bool, rules: dict[str, Any]) -> Any:
        """Do the same with a data frame.

        scikit-learn looks at each of its columns in turn, which takes longer than to describe a
        row. Where that would find nothing, the names and types are compared all at once.
        """
        cells = plain_cells(X)
        known = getattr(self, "feature_names_in_", None)
        try:
            if cells is None:
                return validate_data(self, X, reset=reset, **rules)
            self._check_names(X, reset, known)
        except ValueError as error:
            ours = not reset and known is not None and {*known} <= {*X.columns}
            if not ours or "feature names" not in str(error):
                raise
            names = "model.feature_names_in_"
            names = f"list({names})" if hasattr(X, "with_columns") else names
            raise InputError(f"{error}\nUse X[{names}].") from None
        return check_array(cells, estimator=self, input_name="X", **rules)

    def _check_names(self, X: Any, reset: bool, known: Any) -> None:
        """Let scikit-learn compare the names of columns, unless they are the same."""
        if reset or known is None or not np.array_equal(known, np.asarray(X.columns, dtype=object)):
            validate_data(self, X, reset=reset, skip_check_array=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _layers_hint(adata: Any, fitted: BooleanFactorizer | None) -> str:
    """Say that an AnnData has layers, one of which may have zeros and ones; or which is read."""
    if fitted is not None:
        layer = getattr(fitted, "layer_", None)
        return f" This is {'X' if layer is None else f'the layer {layer!r}'}, as in the fit."
    layers = ", ".join(layers_of(adata))
    return f" Or read another layer: fit(adata, layer=NAME); it has {layers}." if layers else ""
