"""The part of a method that learns from rows as they come, a few at a time."""

from abc import abstractmethod
from dataclasses import field
from typing import Any, Self

from elbmf.boolean.product import Bools
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer, estimator
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines.cluster import is_distributed

__all__ = ["PartialFitMixin"]

# Attributes that tell of the rows of a fit alone.
_OF_A_FIT = (
    "membership_",
    "reconstruction_err_",
    "cover_",
    "saved_info_",
    "noise_rates_",
    "sample_names_in_",
    "n_iter_",
    "stop_reason_",
    "history_",
    "stages_",
    "run_losses_",
    "line_weights_",
    "bits_saved_",
)


@estimator
class PartialFitMixin(BooleanFactorizer):
    """`partial_fit` for a method that can learn from rows as they come.

    Attributes
    ----------
    n_rows_seen_ : int
        Rows that the components were learned from; only after `partial_fit`.
    n_batches_ : int
        Calls of `partial_fit`; only after it. Of the others there are then only ``components_``
        and ``n_components_``.
    """

    n_rows_seen_: int = field(init=False)
    n_batches_: int = field(init=False)

    @abstractmethod
    def _learn(self, A: BooleanMatrix) -> tuple[Bools, int]:
        """Learn from more rows, from where a fit has ended, if there was one.

        Returns the components, and how many rows they stand for.
        """

    @abstractmethod
    def _widen(self, n_columns: int) -> Bools:
        """Let rows have more columns, all zero in the rows so far; return the components."""

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
                "partial_fit cannot choose the number of components, because that takes all "
                "rows at once; got n_components='auto'. Set n_components to a number, or use fit."
            )
        if is_distributed(X):
            raise InputError("partial_fit reads rows in memory; use fit for data on a cluster.")
        if hasattr(self, "saved_info_") and not hasattr(self, "membership_"):
            raise InputError(
                "partial_fit cannot continue a saved stream, because its sample of rows was "
                "not saved. Use fit or a new estimator."
            )
        A = self._read(X, missing, reset=not hasattr(self, "components_"))
        batches = getattr(self, "n_batches_", 0)
        self.components_, self.n_rows_seen_ = self._learn(A)
        self.n_components_ = int(self.components_.any(axis=1).sum())
        self.n_batches_ = batches + 1
        for attribute in _OF_A_FIT:
            self.__dict__.pop(attribute, None)
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
        self.components_ = self._widen(n_features)
        self.n_features_in_ = n_features
        return self
