"""The binarizers: scikit-learn transformers that make zeros and ones of numbers.

All of them call a value a one when it is above a limit: a given one, or one learned from each
column, each row or the whole matrix. Zeros that a sparse matrix does not store are values like any
others; they enter means, deviations and quantiles by their number, and no array is made of them.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from elbmf.binarizers.line_statistics import SCOPES, LineStatistics, quantile_of
from elbmf.errors import InputError, Line
from elbmf.matrix.boolean_matrix import canonical
from elbmf.utils.constraints import Interval, StrOptions

__all__ = [
    "Z_UPPER_5_PERCENT",
    "NonzeroBinarizer",
    "QuantileBinarizer",
    "ThresholdBinarizer",
    "ZScoreBinarizer",
]

Floats = NDArray[np.float64]

Z_UPPER_5_PERCENT = 1.645
"""The cutoff above which 5% of a normal distribution lie."""


class _Binarizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base of the binarizers: what they read and what they return."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what is needed to tell ones.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers; NaN are missing.
        y : ignored
        """
        self._validate_params()
        self._learn(self._read(X, reset=True))
        return self

    def transform(self, X: Any) -> Any:
        """Make zeros and ones of numbers.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers; NaN are missing.

        Returns
        -------
        ndarray, or csr_array for sparse input, of shape (n_samples, n_features)
            Of bool; where X has missing entries, of float64, with NaN in their place.
        """
        if self.__sklearn_tags__().requires_fit:
            check_is_fitted(self)
        read = self._read(X, reset=False)
        return self._ones_of_sparse(read) if sparse.issparse(read) else self._ones_of_dense(read)

    def _learn(self, X: Any) -> None:
        """Learn from validated data; those that tell each value alone have nothing to learn."""

    def _is_one(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell values alone."""
        raise NotImplementedError

    def _ones_of_dense(self, X: NDArray[Any]) -> NDArray[Any]:
        return _with_nan(self._is_one(X), X)

    def _ones_of_sparse(self, X: sparse.csr_array) -> sparse.csr_array:
        return _selected(X, self._is_one(X.data))

    def _read(self, X: Any, *, reset: bool) -> Any:
        """Return a dense array or canonical CSR."""
        read = validate_data(
            self,
            X,
            reset=reset,
            # Others become the first of these.
            accept_sparse=["csr", "csc", "coo", "bsr"],
            accept_large_sparse=True,
            ensure_all_finite="allow-nan",
            dtype="numeric",
        )
        read = canonical(read) if sparse.issparse(read) else read
        return _logarithms(read) if getattr(self, "log1p", False) else read

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        tags.requires_fit = False
        return tags


class NonzeroBinarizer(_Binarizer):
    """Read every value other than 0 as one, also negative ones.

    Examples
    --------
    >>> from elbmf.binarizers import NonzeroBinarizer
    >>> NonzeroBinarizer().transform([[0, 2, -1]])
    array([[False,  True,  True]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def _is_one(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(values != 0)


class ThresholdBinarizer(_Binarizer):
    """Read the values above a threshold as ones, e.g. ratings above 3.5.

    Parameters
    ----------
    threshold : float, default=0.0
        The greatest value that is a zero. Below 0, dense input only: all the zeros of a sparse
        matrix would be ones.
    log1p : bool, default=False
        Whether to take log(x + 1) of all values first; the threshold is one of logarithms then.

    Examples
    --------
    >>> from elbmf.binarizers import ThresholdBinarizer
    >>> ThresholdBinarizer(3.5).transform([[1, 4, 5]])
    array([[False,  True,  True]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [Interval(Real, None, None, closed="neither")],
        "log1p": ["boolean"],
    }

    def __init__(self, threshold: float = 0.0, *, log1p: bool = False) -> None:
        self.threshold = threshold
        self.log1p = log1p

    def _is_one(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(values > self.threshold)

    def _ones_of_sparse(self, X: sparse.csr_array) -> sparse.csr_array:
        if self.threshold < 0:
            raise InputError(
                f"threshold={self.threshold} turns every zero of a sparse matrix into a one. "
                "Use a threshold ≥ 0, or a dense array."
            )
        return super()._ones_of_sparse(X)


class _LimitBinarizer(_Binarizer):
    """Base of the binarizers that learn, for each line or for all, above which limit ones are."""

    scope: str

    @abstractmethod
    def _limits(self, lines: LineStatistics) -> Floats:
        """Return the limit of each line; NaN for one without any values."""

    def with_limits(self, limits: Any, n_features: int) -> Self:
        """Set what fitting would learn, and return this binarizer.

        Parameters
        ----------
        limits : array-like
            What ``limits_`` was.
        n_features : int
            Columns of the data it was learned from.
        """
        self.limits_ = np.asarray(limits, dtype=np.float64)
        self.n_features_in_ = n_features
        return self

    def _learn(self, X: Any) -> None:
        # Rows are looked at when they are transformed.
        self.limits_ = (
            np.empty(0) if self.scope == "rows" else self._limits(LineStatistics(X, self.scope))
        )

    def _limits_for(self, X: Any) -> Floats:
        return self._limits(LineStatistics(X, self.scope)) if self.scope == "rows" else self.limits_

    def _ones_of_dense(self, X: NDArray[Any]) -> NDArray[Any]:
        limits = self._limits_for(X)
        return _with_nan((limits[:, None] if self.scope == "rows" else limits) < X, X)

    def _ones_of_sparse(self, X: sparse.csr_array) -> sparse.csr_array:
        limits = self._limits_for(X)
        lines = LineStatistics(X, self.scope)
        high = np.empty(X.data.shape, dtype=np.bool_)
        at = 0
        for line, values in lines.entries():
            high[at : at + values.size] = values > limits[line]
            at += values.size
        ones = _selected(X, high)
        if not (limits < 0).any():
            return ones
        # Zeros are high there. Of the data that the limit was learned from, these are a small share
        # of the line, so that there are more entries stored than there are ones to add.
        zeros = _unstored(X, np.broadcast_to(limits < 0, lines.count), self.scope)
        return sparse.csr_array(ones + zeros.astype(ones.dtype))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.scope != "rows"
        return tags


class ZScoreBinarizer(_LimitBinarizer):
    """Read the values whose z-score is above a cutoff as ones.

    A z-score is the distance from the mean in standard deviations. This is one of two readings of
    "z-scores in the upper 5% quantile", how Dalleiger & Vreeken binarize gene expression: above
    1.645 lie 5% of a *normal distribution*, and as many of the data as its own distribution puts
    there. The other reading, 5% of the *data*, is `QuantileBinarizer`.

    Parameters
    ----------
    cutoff : float, default=1.645
        In standard deviations.
    scope : {"columns", "rows", "all"}, default="columns"
        Whose mean and deviation. Those of columns and of the whole matrix are learned by `fit`, so
        that new rows are judged by them; those of a row are its own.
    log1p : bool, default=False
        Whether to take log(x + 1) of all values first, as for counts and expression.

    Attributes
    ----------
    limits_ : ndarray of float64
        Above which values are ones: one for each column, a single one for all, none for rows. NaN
        where there were no values; there nothing is a one.

    Notes
    -----
    In a line whose values are all the same, none of them is high.

    References
    ----------
    S. Dalleiger, J. Vreeken. Efficiently Factorizing Boolean Matrices using Proximal Gradient
    Descent. NeurIPS 2022.

    Examples
    --------
    >>> from elbmf.binarizers import ZScoreBinarizer
    >>> ZScoreBinarizer(1.0).fit_transform([[1.0], [2.0], [9.0]])
    array([[False],
           [False],
           [ True]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cutoff": [Interval(Real, None, None, closed="neither")],
        "scope": [StrOptions(set(SCOPES))],
        "log1p": ["boolean"],
    }

    def __init__(
        self, cutoff: float = Z_UPPER_5_PERCENT, scope: str = "columns", *, log1p: bool = False
    ) -> None:
        self.cutoff = cutoff
        self.scope = scope
        self.log1p = log1p

    def _limits(self, lines: LineStatistics) -> Floats:
        mean = lines.sums() / lines.known
        deviation = np.sqrt(lines.sums(squares_around=mean) / lines.known)
        limits = mean + self.cutoff * deviation
        # Rounding must not make differences of values that are the same.
        low, high = lines.extremes()
        return np.where(low == high, low, limits)


class QuantileBinarizer(_LimitBinarizer):
    """Read the values in the upper quantile as ones, by default the upper 5%.

    As z-scores order values as they are, this is also the upper quantile of z-scores: one of two
    readings of "z-scores in the upper 5% quantile", how Dalleiger & Vreeken binarize gene
    expression. Here it is 5% of the *data*, in every line alike; with `ZScoreBinarizer` it is what
    lies above the quantile of a *normal distribution*.

    Parameters
    ----------
    share : float, default=0.05
        Of the values, this share is high; where it is no whole number of them, one more.
    scope : {"columns", "rows", "all"}, default="columns"
        Whose quantile. Those of columns and of the whole matrix are learned by `fit`, so that new
        rows are judged by them; that of a row is its own.
    log1p : bool, default=False
        Whether to take log(x + 1) of all values first. It matters only where the quantile lies
        between two values.

    Attributes
    ----------
    limits_ : ndarray of float64
        Above which values are ones: one for each column, a single one for all, none for rows. NaN
        where there were no values; there nothing is a one.

    Notes
    -----
    Values equal to the quantile are not high. So of counts, most of which are the same, fewer than
    the share can be ones.

    References
    ----------
    S. Dalleiger, J. Vreeken. Efficiently Factorizing Boolean Matrices using Proximal Gradient
    Descent. NeurIPS 2022.

    Examples
    --------
    >>> from elbmf.binarizers import QuantileBinarizer
    >>> QuantileBinarizer(0.4, scope="rows").fit_transform([[5, 1, 4, 2, 3]])
    array([[ True, False,  True, False, False]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "share": [Interval(Real, 0, 1, closed="neither")],
        "scope": [StrOptions(set(SCOPES))],
        "log1p": ["boolean"],
    }

    def __init__(self, share: float = 0.05, scope: str = "columns", *, log1p: bool = False) -> None:
        self.share = share
        self.scope = scope
        self.log1p = log1p

    def _limits(self, lines: LineStatistics) -> Floats:
        quantiles = (quantile_of(*each, 1 - self.share) for each in lines)
        return np.fromiter(quantiles, dtype=np.float64, count=lines.count)


def _logarithms(X: Any) -> Any:
    """Return log(x + 1) of values from 0 on."""
    values = X.data if sparse.issparse(X) else X
    below = np.flatnonzero(values < 0)
    if below.size:
        at = int(below[0])
        row = int(np.searchsorted(X.indptr, at, side="right")) - 1 if sparse.issparse(X) else 0
        row, column = (row, int(X.indices[at])) if sparse.issparse(X) else divmod(at, X.shape[1])
        raise InputError(
            f"log1p takes values from 0 on; got {values.flat[at]:g} at ",
            Line(0, row),
            ", ",
            Line(1, column),
            ". Leave log1p out where values are logarithms or z-scores already.",
        )
    if not sparse.issparse(X):
        return np.log1p(X)
    return sparse.csr_array((np.log1p(X.data), X.indices, X.indptr), shape=X.shape)


def _with_nan(ones: NDArray[np.bool_], X: NDArray[Any]) -> NDArray[Any]:
    """Put NaN where X has NaN."""
    missing = np.isnan(X)
    return np.where(missing, np.nan, ones) if missing.any() else ones


def _selected(X: sparse.csr_array, ones: NDArray[np.bool_]) -> sparse.csr_array:
    """Return the stored entries that are ones, and NaN where X has NaN."""
    missing = np.isnan(X.data)
    keep = ones | missing
    before = np.concatenate([[0], np.cumsum(keep)]).astype(X.indptr.dtype, copy=False)
    data = np.where(missing, np.nan, 1.0)[keep] if missing.any() else ones[keep]
    return sparse.csr_array((data, X.indices[keep], before[X.indptr]), shape=X.shape)


def _unstored(X: sparse.csr_array, lines: NDArray[np.bool_], scope: str) -> sparse.csr_array:
    """Return ones where some lines store no entry."""
    n, m = X.shape
    by_line = X.tocsc() if scope == "columns" else X
    chosen = np.flatnonzero(lines) if scope != "all" else np.arange(n)
    length = n if scope == "columns" else m
    positions = []
    for line in chosen:
        unstored = np.ones(length, dtype=np.bool_)
        unstored[by_line.indices[by_line.indptr[line] : by_line.indptr[line + 1]]] = False
        positions.append(np.flatnonzero(unstored))
    along = np.concatenate(positions)
    across = np.repeat(chosen, [each.size for each in positions])
    place = (along, across) if scope == "columns" else (across, along)
    return sparse.csr_array((np.ones(along.size, dtype=np.bool_), place), shape=X.shape)
