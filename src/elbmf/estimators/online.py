"""The part of a method that learns from rows as they come, a few at a time."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol, Self

from elbmf.boolean.product import Bools
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer, estimator
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines.cluster import is_distributed
from elbmf.search.online import Review, Stream

__all__ = ["OnlineLearner", "PartialFitMixin", "SampleLearner"]

# Attributes that tell of the rows of a fit alone.
_OF_A_FIT = (
    "membership_",
    "reconstruction_err_",
    "n_iter_",
    "stop_reason_",
    "history_",
    "stages_",
    "run_losses_",
    "bits_saved_",
)


class OnlineLearner(Protocol):
    """Components of the rows read so far."""

    @property
    def n_rows(self) -> int:
        """Rows that the components stand for."""

    def read(self, A: BooleanMatrix) -> Bools:
        """Learn from more rows; return the components."""

    def widen(self, n_columns: int) -> Bools:
        """Let rows have more columns, all zero in the rows so far; return the components."""


@dataclass
class SampleLearner:
    """Components from a sample of the rows, reviewed now and then."""

    _stream: Stream  # The sample, and the components so far
    _review: Review  # How to choose components of a sample

    @property
    def n_rows(self) -> int:
        """Rows that have passed."""
        return self._stream.sample.n_seen

    def read(self, A: BooleanMatrix) -> Bools:
        """Let rows pass; return the components."""
        self._stream.read(A, self._review)
        return self._stream.components.copy()

    def widen(self, n_columns: int) -> Bools:
        """Let rows have more columns; return the components."""
        self._stream.widen(n_columns)
        return self._stream.components.copy()


@estimator
class PartialFitMixin(BooleanFactorizer):
    """`partial_fit` for a method that has an `OnlineLearner`.

    Attributes
    ----------
    n_rows_seen_ : int
        Rows that the components were learned from; only after `partial_fit`.
    n_batches_ : int
        Calls of `partial_fit`; only after it. Of the others there are then only ``components_``
        and ``n_components_``.
    """

    @abstractmethod
    def _learner(self, shape: tuple[int, int]) -> OnlineLearner:
        """Return what learns from rows of a shape, from where a fit has ended, if there was one."""

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
        learner = self._learner(A.shape)
        self.components_ = learner.read(A)
        self.n_rows_seen_ = learner.n_rows
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
        self.components_ = self._learner((0, self.n_features_in_)).widen(n_features)
        self.n_features_in_: int = n_features
        return self
