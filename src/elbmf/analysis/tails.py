"""Tails of the hypergeometric distribution and the false discovery rate, by logarithms.

Logarithms, because what is most significant would vanish as a plain number.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

__all__ = ["adjusted_log_p", "log_upper_tail"]

# The tail's series ends where its terms no longer change the sum.
_NEGLIGIBLE = 1e-17


def log_upper_tail(
    overlap: ArrayLike, background: int, set_size: ArrayLike, drawn: ArrayLike
) -> NDArray[np.float64]:
    """Return the logarithm of the chance that a random draw has at least this overlap with a set.

    Parameters
    ----------
    overlap : array-like of int
        Names that are both drawn and in the set.
    background : int
        Names to draw from.
    set_size, drawn : array-like of int
        Names in the set, and names drawn, without replacement.

    Returns
    -------
    ndarray of float64
        Natural logarithms.

    Notes
    -----
    On its far side of the mode, the tail is its first term times a quickly falling series, in
    which each term follows from the one before; on the near side, it is what the other tail leaves.
    All tails are summed together.
    """
    x, K, n = np.broadcast_arrays(
        *(np.asarray(value, dtype=np.float64) for value in (overlap, set_size, drawn))
    )
    M = float(background)
    least, most = np.maximum(0, K + n - M), np.minimum(K, n)
    result = np.full(x.shape, -np.inf)
    result[x <= least] = 0.0
    inside = (x > least) & (x <= most)
    upper = inside & (x * (M + 2) >= (K + 1) * (n + 1))
    x, K, n = x[inside], K[inside], n[inside]
    ascending = upper[inside]
    # The lower tail of the overlap is the upper one of what is drawn from outside the set.
    start = np.where(ascending, x, n - x + 1)
    among = np.where(ascending, K, M - K)
    tail = np.minimum(_log_pmf(start, M, among, n) + _log_series(start, M, among, n), 0.0)
    with np.errstate(divide="ignore"):
        result[inside] = np.where(ascending, tail, np.log1p(-np.exp(tail)))
    return result


def _log_pmf(
    x: NDArray[np.float64], M: float, K: NDArray[np.float64], n: NDArray[np.float64]
) -> NDArray[np.float64]:
    return _log_binomial(K, x) + _log_binomial(M - K, n - x) - _log_binomial(np.full_like(n, M), n)


def _log_binomial(n: NDArray[np.float64], k: NDArray[np.float64]) -> NDArray[np.float64]:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def _log_series(
    x: NDArray[np.float64], M: float, K: NDArray[np.float64], n: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the logarithm of Σ P(X = x + i) / P(X = x) over i ≥ 0."""
    total, term = np.ones_like(x), np.ones_like(x)
    active = np.arange(x.size)
    step = 0.0
    while active.size:
        at, size, drawn = x[active] + step, K[active], n[active]
        term *= (size - at) * (drawn - at) / ((at + 1) * (M - size - drawn + at + 1))
        total[active] += term
        going = term > _NEGLIGIBLE * total[active]
        active, term = active[going], term[going]
        step += 1
    return np.log(total)


def adjusted_log_p(log_p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust p for the number of tests, as Benjamini and Hochberg do, by logarithms.

    Parameters
    ----------
    log_p : ndarray of float64, one-dimensional
        Logarithms of the p of all tests.

    Returns
    -------
    ndarray of float64
        For each, the logarithm of the least false discovery rate at which it is a discovery.
    """
    count = len(log_p)
    order = np.argsort(log_p)
    scaled = log_p[order] + np.log(count / np.arange(1, count + 1))
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 0.0)
    return adjusted
