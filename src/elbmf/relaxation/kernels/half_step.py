"""A half-step on a block of rows: down the gradient, proximal operator, what has changed.

By default all of it is one compiled call, so that threads meet at the interpreter as rarely as
possible. Its parts are inlined by numba: compiled on their own only where they are called so.
"""

import numpy as np

from elbmf.kernels.compiling import helper, kernel
from elbmf.relaxation.kernels.prox import elb_exact

__all__ = ["HUGE", "TINY", "gradient_step", "half_step", "inner", "settle"]


@kernel(inline="always")
def gradient_step(current, previous, scale, gram, beta, step, product, point, curvature):
    """Extrapolate and go down the gradient: ``product = z - step * (z @ gram - product)``.

    Here ``z = current + beta * (current - previous)``, after both were multiplied by ``scale``,
    column by column. ``previous`` becomes what ``current`` was. An empty ``previous`` stands for
    no inertia, an empty ``scale`` for none. ``point`` and ``curvature`` are scratch space
    like ``current``.
    """
    rows, width = current.shape
    if scale.shape[0]:
        for i in range(rows):
            for j in range(width):
                current[i, j] *= scale[j]
    if previous.shape[0]:
        for i in range(rows):
            for j in range(width):
                last = previous[i, j] * scale[j] if scale.shape[0] else previous[i, j]
                previous[i, j] = current[i, j]
                point[i, j] = current[i, j] + beta * (current[i, j] - last)
    else:
        point = current
    np.dot(point, gram, curvature)
    for i in range(rows):
        for j in range(width):
            product[i, j] = point[i, j] - step * (curvature[i, j] - product[i, j])


# Sums in vector lanes: no less accurate than one by one, and several times faster. Finite
# input, which the arithmetic before it guarantees, is what "nnan" relies on.
_LANE_SUMS = {"reassoc", "nsz", "nnan", "contract"}

HUGE = 1e6
"""No entry of a factor gets larger than this: far from Boolean, and far from overflow."""

TINY = 1e-30
"""An entry of a factor up to this is nothing."""

# Entries looked at while they are in the first-level cache.
_PIECE = 4096


@helper(allocates=False, fastmath=_LANE_SUMS)
def _sum_gaps(x):
    one = x.dtype.type(1)
    total = x.dtype.type(0)
    for i in range(x.shape[0]):
        total += min(abs(x[i]), abs(x[i] - one))
    return total


@kernel(inline="always")
def _count_flips(current, fresh):
    half = current.dtype.type(0.5)
    count = np.int32(0)
    for i in range(current.shape[0]):
        count += np.int32((current[i] > half) != (fresh[i] > half))
    return count


@kernel(inline="always")
def _copy_bounded(current, fresh):
    # What decays to nothing must not become a denormal number: those are a hundred times slower.
    # What an operator throws far beyond 1 must not overflow in the next product.
    number = current.dtype.type
    tiny, zero, huge = number(TINY), number(0), number(HUGE)
    for i in range(current.shape[0]):
        current[i] = min(fresh[i], huge) if fresh[i] > tiny else zero


@kernel(inline="always")
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
    old_entries = current.ravel()
    new_entries = fresh.ravel()
    # One loop for each result, or they would not be turned into vector code.
    for start in range(0, old_entries.shape[0], _PIECE):
        old = old_entries[start : start + _PIECE]
        new = new_entries[start : start + _PIECE]
        flips += _count_flips(old, new)
        _copy_bounded(old, new)
        gap += _sum_gaps(old)
    return gap, flips


@kernel(error_model="numpy")
def half_step(current, previous, scale, gram, beta, step, kappa, lam, product, point, curvature):
    """Replace ``current`` by its new iterate, with the exact operator of the default regulariser.

    With any other it is done in three calls. See `gradient_step` and `settle` for what is what.

    Returns
    -------
    gap : float
    flips : int
    """
    gradient_step(current, previous, scale, gram, beta, step, product, point, curvature)
    elb_exact(product.ravel(), kappa, lam)
    return settle(current, product)


@kernel(allocates=False, fastmath=_LANE_SUMS)
def inner(a, b):
    """``sum(a * b)`` in float64."""
    total = 0.0
    for i in range(a.shape[0]):
        total += np.float64(a[i]) * np.float64(b[i])
    return total
