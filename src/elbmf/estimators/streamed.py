"""What methods share that learn from rows as they come, a few at a time."""

import copy
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from elbmf.boolean.product import Bools
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer, FittedFactors
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines.cluster import is_distributed
from elbmf.search.online import Review, Stream

__all__ = ["SampledFactorizer", "StreamedFactorizer"]

# Attributes that tell of the rows of a fit alone.
_OF_A_FIT = {
    "membership_",
    "reconstruction_err_",
    "n_iter_",
    "stop_reason_",
    "history_",
    "stages_",
    "run_losses_",
    "bits_saved_",
}
_OF_A_STREAM = {"n_rows_seen_", "n_batches_"}


class StreamedFactorizer(BooleanFactorizer):
    """Base of the methods that have `partial_fit`.

    A method implements `_read_rows` and `_widen_state`.

    Attributes
    ----------
    n_rows_seen_ : int
        Rows that the components were learned from; only after `partial_fit`.
    n_batches_ : int
        Calls of `partial_fit`; only after it.
    """

    n_features_in_: int

    @abstractmethod
    def _read_rows(self, A: BooleanMatrix) -> tuple[Bools, int]:
        """Learn from more rows; return the components, and how many rows they stand for.

        The first rows are those that come when neither `fit` nor `partial_fit` was called before.
        """

    @abstractmethod
    def _widen_state(self, n_columns: int) -> None:
        """Let what is kept of the rows have more columns, all zero in the rows so far."""

    def partial_fit(self, X: Any, y: Any = None, missing: Any = None) -> Self:
        """Read more rows, and choose the components of all the rows read so far.

        It goes on where `fit` or `partial_fit` ended; only `fit` starts anew. `transform` then
        describes any rows. The memory it takes does not depend on how many rows have come: their
        memberships are not kept, and of the attributes there are ``components_``,
        ``n_components_``, ``n_rows_seen_``, ``n_batches_`` and what tells of the columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            As for `fit`. What ``binarize`` learns, it learns from the first rows.
        y : ignored
        missing : array-like or sparse matrix of shape (n_samples, n_features), optional
            As for `fit`.
        """
        self._validate_params()
        if self.n_components == "auto":
            raise InputError(
                "partial_fit cannot choose the number of components, for that takes all the rows "
                "at once; got n_components='auto'. Set n_components to a number, or use fit."
            )
        if is_distributed(X):
            raise InputError("partial_fit reads rows that are here; use fit for data on a cluster.")
        A = self._read(X, missing, reset=not hasattr(self, "components_"))
        batches = getattr(self, "n_batches_", 0)
        self.components_, self.n_rows_seen_ = self._read_rows(A)
        self.n_components_ = int(self.components_.any(axis=1).sum())
        self.n_batches_ = batches + 1
        self._forget(_OF_A_FIT)
        return self

    def widen(self, n_features: int) -> Self:
        """Let the rows to come have more columns, which are zero in all rows read so far.

        Parameters
        ----------
        n_features : int
            Columns from now on; no fewer than before, and those before come first.
        """
        if n_features < self.n_features_in_:
            raise InputError(
                f"widen takes a number of columns that is no less than before, "
                f"{self.n_features_in_}; got {n_features}."
            )
        if hasattr(self, "feature_names_in_"):
            raise InputError(
                "widen cannot name the columns that are added, and those before have names. Read "
                "rows without names of columns."
            )
        self._widen_state(n_features)
        self.n_features_in_ = n_features
        return self

    def _store(self, A: BooleanMatrix, fitted: FittedFactors) -> None:
        super()._store(A, fitted)
        self._forget(_OF_A_STREAM)

    def _forget(self, attributes: set[str]) -> None:
        for attribute in attributes & vars(self).keys():
            delattr(self, attribute)


class SampledFactorizer(StreamedFactorizer):
    """Base of the methods that factorize a sample of the stream now and then.

    A method says in `_sample_parameters` what it does otherwise on a sample.
    """

    @property
    @abstractmethod
    def _sample_parameters(self) -> dict[str, Any]:
        """Return parameters to set for a sample."""

    @abstractmethod
    def _work_on_sample(self, sample: BooleanMatrix) -> float:
        """Return what a search for better components of a sample may take."""

    def _read_rows(self, A: BooleanMatrix) -> tuple[Bools, int]:
        changes = self._sample_parameters

        def relax(sample: BooleanMatrix, generator: np.random.Generator) -> tuple[Bools, Bools]:
            model = copy.copy(self).set_params(**changes)
            fitted = model._factorize(sample, generator)
            return fitted.U, fitted.V

        if not hasattr(self, "_stream"):
            self._stream = self._new_stream(A.shape[1])
        weights = self._weights(A.shape)
        review = Review(self._rank, relax, self._work_on_sample, weights, self._threads)
        self._stream.read(A, review)
        return self._stream.components.copy(), self._stream.sample.n_seen

    def _new_stream(self, n_columns: int) -> Stream:
        """Start a stream, after a fit with the rows of that fit as its factors describe them."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        stream = Stream(n_columns, np.random.default_rng(seed))
        if hasattr(self, "membership_"):
            stream.recall(self.membership_, self.components_)
        return stream

    def _widen_state(self, n_columns: int) -> None:
        self._stream.widen(n_columns)
        self.components_ = self._stream.components.copy()

    def _store(self, A: BooleanMatrix, fitted: FittedFactors) -> None:
        super()._store(A, fitted)
        self._forget({"_stream"})
