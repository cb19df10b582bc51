"""What all methods share: validation, transform and back, score, names.

A method itself only factorizes.
"""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, Options
from sklearn.utils.validation import check_is_fitted, validate_data

from elbmf.boolean import Weights, boolean_product, cover
from elbmf.errors import InputError
from elbmf.estimators.warning import warn_caller
from elbmf.matrix import BooleanMatrix
from elbmf.metrics import measures
from elbmf.refine import describe

__all__ = ["BooleanFactorizer", "FittedFactors"]

Bools = NDArray[np.bool_]


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


class BooleanFactorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all methods: A ≈ U ∘ V with Boolean U and V.

    A method implements `_factorize` and declares its own parameters beside the common ones:
    ``n_components``, ``binarize``, ``n_jobs`` and ``random_state``.

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
    n_features_in_ : int
        Columns of the training data.
    feature_names_in_ : ndarray of str
        Their names, where the training data had any.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "binarize": [Interval(Real, None, None, closed="neither"), None],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1}), None],
        "random_state": ["random_state"],
    }

    n_components: int
    binarize: float | None
    n_jobs: int | None
    random_state: Any

    @abstractmethod
    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        """Factorize a validated matrix."""

    def fit(self, X: Any, y: Any = None, missing: Any = None) -> Self:
        """Learn the components of X.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
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
        A = self._read(X, missing, reset=True)
        shorter = min(A.shape)
        if self.n_components > shorter:
            warn_caller(
                f"n_components={self.n_components} is more than the {A.shape[0]}×{A.shape[1]} "
                f"matrix can need: {shorter} components already give an exact factorization."
            )
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        fitted = self._factorize(A, np.random.default_rng(seed))
        self.components_ = fitted.V
        self.membership_ = fitted.U
        self.n_components_ = int((fitted.U.any(axis=0) & fitted.V.any(axis=1)).sum())
        self.n_iter_ = fitted.n_iter
        self.stop_reason_ = fitted.stop_reason
        self.history_ = fitted.history
        self.reconstruction_err_ = cover(A, fitted.U, fitted.V, self._threads).loss
        return self.membership_.copy()

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
        return self._describe(self._read(X, missing, reset=False))

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
        A = self._read(X, missing, reset=False)
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
            return BooleanMatrix.from_array(checked, self.binarize, missing)
        except InputError as error:
            raise InputError(f"{type(self).__name__}: {error}") from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags
