"""Proximal operators, element by element and in place, on flat arrays.

Every formula is written so that it stays finite when λ is infinite: ``shrink = 1 / (1 + λ)`` is
then zero, and ``(x + λ) / (1 + λ)`` is ``1 + (x - 1) * shrink``. Constants have the number type of
the array: a plain ``0`` would turn float32 arithmetic into float64.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.kernels.compiling import kernel

__all__ = [
    "BOWL",
    "ELASTIC_NET",
    "ELB_ALTERNATIVE",
    "ELB_EXACT",
    "ELB_PAPER",
    "PRIMP",
    "apply",
    "elb_exact",
]

# Names of the operators. Each is a kernel of its own: only those that are used are compiled.
ELB_EXACT, ELB_PAPER, ELB_ALTERNATIVE, ELASTIC_NET, PRIMP, BOWL = range(6)


@kernel(allocates=False, error_model="numpy")
def _elb_paper(x, kappa, lam):
    """ELB's operator as printed (Eq. elprox), then ``max(0, .)``."""
    number = x.dtype.type
    zero, half, one = number(0), number(0.5), number(1)
    kappa, shrink = number(kappa), number(1 / (1 + lam))
    for i in range(x.shape[0]):
        v = x[i]
        centre = zero if v <= half else one
        d = v - centre
        towards = kappa if d > zero else (-kappa if d < zero else zero)
        x[i] = max(centre + (d - towards) * shrink, zero)


@kernel(inline="always", error_model="numpy")
def elb_exact(x, kappa, lam):
    """ELB's true minimiser on y ≥ 0: soft-threshold around 0 or around 1, split at ½."""
    number = x.dtype.type
    zero, half, one = number(0), number(0.5), number(1)
    kappa, shrink = number(kappa), number(1 / (1 + lam))
    for i in range(x.shape[0]):
        v = x[i]
        centre = zero if v <= half else one
        d = v - centre
        # Soft-threshold without branches: what is left of d outside [-κ, κ].
        outside = max(d - kappa, zero) + min(d + kappa, zero)
        x[i] = max(centre + outside * shrink, zero)


@kernel(allocates=False, error_model="numpy")
def _elb_alternative(x, kappa, lam):
    """ELB's alternative operator (Eq. elprox_alt), then ``max(0, .)``."""
    number = x.dtype.type
    zero, half, one = number(0), number(0.5), number(1)
    kappa, scale = number(kappa), one / (number(lam) - one)
    for i in range(x.shape[0]):
        v = x[i]
        centre = zero if v <= half else one
        d = v - centre
        towards = kappa if d > zero else (-kappa if d < zero else zero)
        x[i] = max(centre - (d + towards) * scale, zero)


@kernel(allocates=False, error_model="numpy")
def _elastic_net(x, kappa, lam):
    """Elastic net on y ≥ 0: soft-threshold around 0, then shrink."""
    number = x.dtype.type
    zero, kappa, shrink = number(0), number(kappa), number(1 / (1 + lam))
    for i in range(x.shape[0]):
        x[i] = max(x[i] - kappa, zero) * shrink


@kernel(allocates=False, error_model="numpy")
def _primp(x, kappa, lam):
    """Primp's Λ-shaped regulariser on [0, 1]: away from ½ by 2κ, clipped."""
    number = x.dtype.type
    zero, half, one = number(0), number(0.5), number(1)
    push = number(kappa) + number(kappa)
    for i in range(x.shape[0]):
        v = x[i]
        x[i] = max(v - push, zero) if v <= half else min(v + push, one)


@kernel(allocates=False, error_model="numpy")
def _bowl(x, kappa, lam):
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


_KERNELS = {
    ELB_EXACT: elb_exact,
    ELB_PAPER: _elb_paper,
    ELB_ALTERNATIVE: _elb_alternative,
    ELASTIC_NET: _elastic_net,
    PRIMP: _primp,
    BOWL: _bowl,
}


def apply(operator: int, x: NDArray[Any], kappa: float, lam: float) -> None:
    """Apply one of the operators above; λ may be infinite."""
    _KERNELS[operator](x, kappa, lam)
