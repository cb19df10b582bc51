"""The element-wise rest of a half-step: descend along the gradient, settle on the new iterate.

All arrays are flat views of whole rows.
"""

import numpy as np
from numba import njit

__all__ = ["descend", "extrapolate", "inner", "settle"]


@njit(nogil=True, cache=True)
def extrapolate(current, previous, beta, out):
    """``out = current + beta * (current - previous)``."""
    for i in range(current.shape[0]):
        out[i] = current[i] + beta * (current[i] - previous[i])


@njit(nogil=True, cache=True)
def descend(point, curvature, product, step):
    """``product = point - step * (curvature - product)``: the gradient step, in place."""
    for i in range(point.shape[0]):
        product[i] = point[i] - step * (curvature[i] - product[i])


# Sums in vector lanes: no less accurate than one by one, and several times faster. Finite
# input, which the arithmetic before it guarantees, is what "nnan" relies on.
_LANE_SUMS = {"reassoc", "nsz", "nnan", "contract"}

# Entries looked at while they are in the first-level cache.
_PIECE = 4096


@njit(nogil=True, cache=True, fastmath=_LANE_SUMS)
def _sum_gaps(x):
    one = x.dtype.type(1)
    total = x.dtype.type(0)
    for i in range(x.shape[0]):
        total += min(abs(x[i]), abs(x[i] - one))
    return total


@njit(nogil=True, cache=True)
def _count_flips(current, fresh):
    half = current.dtype.type(0.5)
    count = np.int32(0)
    for i in range(current.shape[0]):
        count += np.int32((current[i] > half) != (fresh[i] > half))
    return count


@njit(nogil=True, cache=True)
def _copy_flushing(current, fresh):
    # What decays to nothing must not become a denormal number: those are a hundred times slower.
    tiny, zero = current.dtype.type(1e-30), current.dtype.type(0)
    for i in range(current.shape[0]):
        current[i] = fresh[i] if fresh[i] > tiny else zero


@njit(nogil=True, cache=True)
def settle(current, fresh):
    """Copy ``fresh``, which is not negative, over ``current`` and compare the two.

    Returns
    -------
    gap : float
        Sum of ``min(|x|, |x - 1|)`` over the fresh entries.
    flips : int
        Entries on the other side of ½ than before.
    """
    gap = 0.0
    flips = 0
    # One loop for each result, or they would not be turned into vector code.
    for start in range(0, current.shape[0], _PIECE):
        old = current[start : start + _PIECE]
        new = fresh[start : start + _PIECE]
        gap += _sum_gaps(new)
        flips += _count_flips(old, new)
        _copy_flushing(old, new)
    return gap, flips


@njit(nogil=True, cache=True, fastmath=_LANE_SUMS)
def inner(a, b):
    """``sum(a * b)`` in float64."""
    total = 0.0
    for i in range(a.shape[0]):
        total += np.float64(a[i]) * np.float64(b[i])
    return total
