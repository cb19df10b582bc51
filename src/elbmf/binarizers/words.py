"""What a user may say of ``binarize``: a number, a word with options, or a transformer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from elbmf.binarizers.line_statistics import SCOPES
from elbmf.binarizers.transformers import (
    NonzeroBinarizer,
    QuantileBinarizer,
    ThresholdBinarizer,
    ZScoreBinarizer,
)
from elbmf.errors import InputError, Setting
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.constraints import InvalidParameterError, StrOptions

__all__ = [
    "BINARIZERS",
    "Binarize",
    "BinarizerWord",
    "binarized",
    "binarizer_of",
    "is_number",
    "learns",
    "with_nan",
    "word_of",
]

Binarize: TypeAlias = float | str | BaseEstimator | None
"""A threshold, a word of `BINARIZERS` with its options, a transformer, or None for 0/1 data."""


@dataclass(frozen=True)
class _Word:
    """A word: what makes its transformer, which values are ones, and the number that may follow.

    A scope may follow where a number does.
    """

    make: Callable[..., BaseEstimator]
    meaning: str
    number: str = ""

    def syntax(self, word: str) -> str:
        """Show how the word is written."""
        return f"{word}[:{self.number.upper()}][:SCOPE]" if self.number else word


BINARIZERS = {
    "nonzero": _Word(NonzeroBinarizer, "values other than 0"),
    "positive": _Word(ThresholdBinarizer, "values above 0"),
    "zscore": _Word(ZScoreBinarizer, "z-scores above a cutoff, 1.645 by default", "cutoff"),
    "quantile": _Word(QuantileBinarizer, "the largest share, 0.05 by default", "share"),
}
"""The words for ``binarize``, as in ``binarize="zscore:1.645:rows"``."""

_LOG = "log1p"

_SYNTAX = [known.syntax(word) for word, known in BINARIZERS.items()]


def binarizer_of(binarize: float | str | BaseEstimator) -> Any:
    """Return the transformer that a number, a word or an unfitted transformer stands for.

    Parameters
    ----------
    binarize : float, str or transformer
        A threshold; a word of `BINARIZERS`, followed by its number and by ``columns``, ``rows`` or
        ``all``, with colons between them, as far as they are not the defaults; any of these after
        ``log1p:``, which takes log(x + 1) of all values first; or anything with
        ``fit`` and ``transform``, of which a clone is returned.

    Raises
    ------
    InputError
        When it is none of these.

    Examples
    --------
    >>> from elbmf.binarizers import binarizer_of
    >>> binarizer_of("zscore:2:rows")
    ZScoreBinarizer(cutoff=2.0, scope='rows')
    """
    if isinstance(binarize, str):
        binarizer = _of_word(binarize)
    elif is_number(binarize):
        binarizer = ThresholdBinarizer(binarize)
    elif hasattr(binarize, "fit") and hasattr(binarize, "transform"):
        binarizer = clone(binarize)
    else:
        raise _unknown(binarize)
    # What scikit-learn is set to return elsewhere, such as data frames, is of no use here.
    if hasattr(binarizer, "set_output"):
        binarizer.set_output(transform="default")
    return binarizer


def _of_word(text: str) -> BaseEstimator:
    prefix, colon, rest = text.partition(":")
    if colon and prefix == _LOG:
        return _of_logarithms(rest, text)
    word, *options = text.split(":")
    known = BINARIZERS.get(word)
    if known is None or len(options) > (2 if known.number else 0):
        raise _unknown(text)
    parameters: dict[str, Any] = {}
    for option in options:
        name: str = "scope" if option in SCOPES else known.number
        # The scope comes last, and neither comes twice.
        if name in parameters or "scope" in parameters:
            raise _unknown(text)
        try:
            parameters[name] = option if name == "scope" else float(option)
        except ValueError:
            raise _unknown(text) from None
    binarizer = known.make(**parameters)
    try:
        binarizer._validate_params()
    except InvalidParameterError as error:
        raise InputError(Setting("binarize", text), f": {error}") from None
    return binarizer


def _of_logarithms(rest: str, text: str) -> BaseEstimator:
    """Return what tells ones by the logarithms of values."""
    try:
        binarizer = ThresholdBinarizer(float(rest))
    except ValueError:
        if rest.startswith(_LOG):
            raise _unknown(text) from None
        binarizer = _of_word(rest)
    # To all others, logarithms make no difference.
    return binarizer.set_params(log1p=True) if _LOG in binarizer.get_params() else binarizer


def _unknown(binarize: Any) -> InputError:
    return InputError(
        Setting("binarize"),
        f" must be a number or one of {', '.join(_SYNTAX)}, where SCOPE is "
        f"{', '.join(SCOPES[:-1])} or {SCOPES[-1]}, after log1p: for logarithms; got "
        f"{binarize!r}.",
    )


def word_of(binarizer: Any) -> float | str | None:
    """Return the number or word that stands for a transformer, None where none does.

    Examples
    --------
    >>> from elbmf.binarizers import ZScoreBinarizer, word_of
    >>> word_of(ZScoreBinarizer(cutoff=2))
    'zscore:2.0:columns'
    """
    first = [_LOG] if getattr(binarizer, _LOG, False) else []
    if type(binarizer) is ThresholdBinarizer:
        threshold = float(binarizer.threshold)
        return ":".join([*first, repr(threshold)]) if first else threshold
    for word, known in BINARIZERS.items():
        if type(binarizer) is known.make:
            given = binarizer.get_params()
            options = [repr(float(given[known.number])), given["scope"]] if known.number else []
            return ":".join([*first, word, *options])
    return None


def is_number(binarize: Any) -> TypeGuard[float]:
    """Tell a threshold from the other ways to binarize."""
    return isinstance(binarize, Real)


def learns(binarize: Binarize) -> bool:
    """Tell whether what counts as a one depends on the other values of the data.

    A noise-free matrix that comes with data is then read as zeros and ones, since what the data
    teaches says nothing about it; and data is read as a whole, since no entry can be told alone.
    """
    return not (binarize is None or is_number(binarize) or binarize in ("nonzero", "positive"))


def binarized(values: Any, binarize: Binarize) -> tuple[BooleanMatrix, Any]:
    """Return where the ones are, and the transformer that told them, where one did.

    Parameters
    ----------
    values : ndarray, scipy.sparse matrix or array
        The data.
    binarize : float, str, transformer or None
        As `binarizer_of` takes it, but that a transformer has learned already.
    """
    if binarize is None or is_number(binarize):
        return BooleanMatrix.from_array(values, binarize), None
    binarizer: Any = binarize
    if isinstance(binarize, str):
        binarizer = binarizer_of(binarize).fit(values)
    return BooleanMatrix.from_array(binarizer.transform(values)), binarizer


def with_nan(X: Any, missing: Any) -> Any:
    """Return a dense or sparse matrix with NaN where entries are masked or missing.

    Parameters
    ----------
    X : ndarray, masked array, scipy.sparse matrix or array
    missing : array-like, scipy.sparse matrix or array, BooleanMatrix or None
        0/1 mask of the shape of X.
    """
    if np.ma.is_masked(X):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if missing is None:
        return X
    mask = BooleanMatrix.mask(missing, X.shape).to_csr(np.float64)
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=np.float64) + np.nan * mask
    filled = np.array(X, dtype=np.float64)
    filled[mask.nonzero()] = np.nan
    return filled


class BinarizerWord(StrOptions):
    """Constraint of scikit-learn for a parameter that may be a word for a binarizer."""

    def __init__(self) -> None:
        super().__init__(set(_SYNTAX))

    def is_satisfied_by(self, val: Any) -> bool:
        """Tell whether a value is such a word."""
        try:
            return isinstance(val, str) and _of_word(val) is not None
        except InputError:
            return False
