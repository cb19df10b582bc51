"""Proximal operators, element by element and in place, on flat arrays.

Every formula is written so that it stays finite when λ is infinite: ``shrink = 1 / (1 + λ)`` is
then zero, and ``(x + λ) / (1 + λ)`` is ``1 + (x - 1) * shrink``. Constants have the number type of
the array: a plain ``0`` would turn float32 arithmetic into float64.
"""

import numpy as np

from elbmf.kernels.compiling import helper, kernel

__all__ = [
    "BOWL",
    "ELASTIC_NET",
    "ELB_ALTERNATIVE",
    "ELB_EXACT",
    "ELB_PAPER",
    "PRIMP",
    "apply",
]

# Names of the operators, for compiled code: one for each branch of `apply`.
ELB_EXACT, ELB_PAPER, ELB_ALTERNATIVE, ELASTIC_NET, PRIMP, BOWL = range(6)


@helper(allocates=False, error_model="numpy")
def _elb_paper(x, kappa, shrink):
    """ELB's operator as printed (Eq. elprox), then ``max(0, .)``."""
    number = x.dtype.type
    zero, half, one = number(0), number(0.5), number(1)
    for i in range(x.shape[0]):
        v = x[i]
        centre = zero if v <= half else one
        d = v - centre
        towards = kappa if d > zero else (-kappa if d < zero else zero)
        x[i] = max(centre + (d - towards) * shrink, zero)


@helper(allocates=False, error_model="numpy")
def _elb_exact(x, kappa, shrink):
    """ELB's true minimiser on y ≥ 0: soft-threshold around 0 or around 1, split at ½."""
    number = x.dtype.type
    zero, half, one = number(0), number(0.5), number(1)
    for i in range(x.shape[0]):
        v = x[i]
        centre = zero if v <= half else one
        d = v - centre
        # Soft-threshold without branches: what is left of d outside [-κ, κ].
        outside = max(d - kappa, zero) + min(d + kappa, zero)
        x[i] = max(centre + outside * shrink, zero)


@helper(allocates=False, error_model="numpy")
def _elb_alternative(x, kappa, lam):
    """ELB's alternative operator (Eq. elprox_alt), then ``max(0, .)``."""
    number = x.dtype.type
    zero, half, one = number(0), number(0.5), number(1)
    scale = one / (lam - one)
    for i in range(x.shape[0]):
        v = x[i]
        centre = zero if v <= half else one
        d = v - centre
        towards = kappa if d > zero else (-kappa if d < zero else zero)
        x[i] = max(centre - (d + towards) * scale, zero)


@helper(allocates=False, error_model="numpy")
def _elastic_net(x, kappa, shrink):
    """Elastic net on y ≥ 0: soft-threshold around 0, then shrink."""
    zero = x.dtype.type(0)
    for i in range(x.shape[0]):
        x[i] = max(x[i] - kappa, zero) * shrink


@helper(allocates=False, error_model="numpy")
def _primp(x, kappa):
    """Primp's Λ-shaped regulariser on [0, 1]: away from ½ by 2κ, clipped."""
    number = x.dtype.type
    zero, half, one = number(0), number(0.5), number(1)
    push = kappa + kappa
    for i in range(x.shape[0]):
        v = x[i]
        x[i] = max(v - push, zero) if v <= half else min(v + push, one)


@helper(allocates=False, error_model="numpy")
def _bowl(x, lam):
    """Bowl λ(x² − x)²/2 on y ≥ 0: the root of a cubic, by Newton's method.

    With z = y − ½ the optimality condition is 2λz³ + (1 − λ/2)z = x − ½, and the minimiser has
    the sign of x − ½. Divided by 1 + λ it stays finite; from the right of its largest root
    Newton's method descends to it without overshooting, for the cubic is convex there.
    """
    shrink = 1 / (1 + lam)
    cubic = 1 - shrink
    linear = shrink - cubic / 2
    for i in range(x.shape[0]):
        w = np.float64(x[i]) - 0.5
        target = abs(w) * shrink
        z = max(abs(w), 0.5)
        for _ in range(100):
            value = (2 * cubic * z * z + linear) * z - target
            slope = 6 * cubic * z * z + linear
            if value <= 0 or slope <= 0:
                break
            step = value / slope
            z -= step
            if step <= 1e-15 * z:
                break
        z = max(z, 0.0)
        x[i] = max(0.5 + z if w > 0 else 0.5 - z, 0.0)


@kernel(allocates=False, error_model="numpy")
def apply(operator, x, kappa, lam):
    """Apply one of the operators above; ``kappa`` and ``lam`` are float64, λ may be infinite."""
    number = x.dtype.type
    shrink = number(1 / (1 + lam))
    if operator == ELB_EXACT:
        _elb_exact(x, number(kappa), shrink)
    elif operator == ELB_PAPER:
        _elb_paper(x, number(kappa), shrink)
    elif operator == ELB_ALTERNATIVE:
        _elb_alternative(x, number(kappa), number(lam))
    elif operator == ELASTIC_NET:
        _elastic_net(x, number(kappa), shrink)
    elif operator == PRIMP:
        _primp(x, number(kappa))
    elif operator == BOWL:
        _bowl(x, lam)
