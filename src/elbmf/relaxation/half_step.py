"""One half of an epoch: Z ← X + β(X − X₋₁), then X ← prox(Z − ∇f(Z)/L) (Eq. prox_step, Alg. 2).

The half-step of a factor needs only its product with the data, P, and the Gram matrix of the
other factor. It is separable over rows, so it can be done block by block, anywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from elbmf.relaxation.kernels import prox
from elbmf.relaxation.kernels.half_step import gradient_step, half_step, settle
from elbmf.relaxation.kernels.products import LANES
from elbmf.relaxation.regularizers import Regularizer
from elbmf.utils.aligned import aligned_zeros

__all__ = [
    "Factor",
    "HalfStep",
    "Iterate",
    "Rows",
    "StepRule",
    "Strength",
    "Summary",
    "Tally",
    "balancing_scale",
    "lipschitz",
    "padded_width",
]

Floats = NDArray[np.floating[Any]]
StepRule = Literal["spectral", "authors"]

# A factor that has shrunk to nothing has no curvature, and a step needs some. The authors bound L
# by 1e-4, which would bind on small starts.
_SMALLEST_LIPSCHITZ = {"spectral": 1e-12, "authors": 1e-4}

# Up to here all eigenvalues come sooner than the largest alone.
_FEW_COMPONENTS = 64

_ALL = slice(None)


# Rows of a factor that are copied at once: it may lie where there is more room than here.
_ROWS_AT_ONCE = 1 << 14


class Rows(Protocol):
    """Rows of a factor that may lie elsewhere than in memory, or be made when asked for."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows, and of components."""

    def __getitem__(self, rows: slice, /) -> NDArray[Any]:
        """Return a run of rows."""


@dataclass(frozen=True)
class Iterate:
    """A factor at some epoch, wherever its rows are."""

    current: Rows  # The iterate
    # The one before it, which inertia needs; the same as ``current`` if it is not given
    previous: Rows | None = None


class Strength(NamedTuple):
    """The two arguments of the proximal operator: κ/L and λ_t/L."""

    kappa: float
    lam: float


class Tally(NamedTuple):
    """What a half-step reports of the new iterate, summed over its entries.

    ``gap`` is the sum of ``min(|x|, |x − 1|)``, ``flips`` counts changes of the rounding.
    """

    gap: float = 0.0
    flips: int = 0

    def plus(self, other: "Tally") -> "Tally":
        """Add up."""
        return Tally(self.gap + other.gap, self.flips + other.flips)


@dataclass(frozen=True)
class Summary:
    """All that the other half of an epoch needs to know of a factor X."""

    gram: NDArray[np.float64]  # XᵀX; of shape (k, k)
    totals: NDArray[np.float64]  # Sum of each column; of shape (k,)
    tally: Tally  # Boolean gap and flips

    @classmethod
    def of(cls, rows: Floats, tally: Tally) -> "Summary":
        """Summarise some rows of a factor."""
        # numpy computes only half of XᵀX, knowing that it is symmetric.
        totals = np.ones(rows.shape[0], dtype=rows.dtype) @ rows
        return cls((rows.T @ rows).astype(np.float64), totals.astype(np.float64), tally)

    def __add__(self, other: "Summary") -> "Summary":
        return Summary(
            self.gram + other.gram,
            self.totals + other.totals,
            self.tally.plus(other.tally),
        )

    def scaled(self, scale: NDArray[np.float64]) -> "Summary":
        """Return the summary of X·diag(scale)."""
        return Summary(self.gram * np.outer(scale, scale), self.totals * scale, self.tally)


def padded_width(n_components: int) -> int:
    """Columns a factor is stored with: k rounded up to whole vector registers."""
    return -(-n_components // LANES) * LANES


class Factor:
    """One factor as a tall array, a row for each row or column of the data."""

    def __init__(
        self,
        start: Iterate,  # The initial iterate
        dtype: Any,
        inertia: bool,  # Keep the last iterate but one
        # Makes an array of zeros, of a shape and a type
        allocate: Callable[[tuple[int, ...], Any], NDArray[Any]] = aligned_zeros,
        rows: slice = _ALL,  # Which rows of the iterate to have; all by default
    ) -> None:
        length, self.n_components = start.current.shape
        low, high, _ = rows.indices(length)
        shape = (high - low, padded_width(self.n_components))
        self.current: Floats = allocate(shape, dtype)
        self.previous: Floats | None = allocate(shape, dtype) if inertia else None
        for first in range(low, high, _ROWS_AT_ONCE):
            some = slice(first, min(first + _ROWS_AT_ONCE, high))
            own = slice(some.start - low, some.stop - low)
            self.current[own, : self.n_components] = start.current[some]
            if self.previous is not None:
                if start.previous is None:
                    self.previous[own] = self.current[own]
                else:
                    self.previous[own, : self.n_components] = start.previous[some]

    @property
    def iterate(self) -> Iterate:
        """Both iterates without padding; views that the next half-step overwrites."""
        previous = None if self.previous is None else self.previous[:, : self.n_components]
        return Iterate(self.values, previous)

    @property
    def values(self) -> Floats:
        """The current iterate without padding, of shape (rows, k)."""
        return self.current[:, : self.n_components]

    def ahead(self, beta: float, rows: slice = _ALL, out: Floats | None = None) -> Floats:
        """Z = X + β(X − X₋₁), where the gradient of the next half-step is taken (Alg. 2)."""
        current = self.current[rows]
        out = np.empty_like(current) if out is None else out
        if self.previous is None:
            out[:] = current
        else:
            np.subtract(current, self.previous[rows], out=out)
            out *= current.dtype.type(beta)
            out += current
        return out

    def rescale(self, scale: Floats) -> None:
        """Multiply each column, in the present and the last iterate."""
        self.current *= scale
        if self.previous is not None:
            self.previous *= scale


def lipschitz(gram: NDArray[np.float64], rule: StepRule) -> float:
    """Lipschitz constant of the gradient, from the other factor's Gram matrix.

    ``"spectral"`` is the largest eigenvalue, as printed; ``"authors"`` is the Frobenius norm, as
    in the authors' code.
    """
    if rule == "spectral":
        last = gram.shape[0] - 1
        if last < _FEW_COMPONENTS:
            value = float(np.linalg.eigvalsh(gram)[-1])
        else:
            value = float(eigh(gram, eigvals_only=True, subset_by_index=(last, last))[0])
    else:
        value = float(np.linalg.norm(gram))
    return max(value, _SMALLEST_LIPSCHITZ[rule])


def step_size(lipschitz_constant: float, beta: float, rule: StepRule) -> float:
    """Step along the gradient: 1/L as printed, or the authors' own."""
    if rule == "spectral":
        return 1 / lipschitz_constant
    if beta:
        return 2 * (1 - beta) / (1 + 2 * beta) / lipschitz_constant
    return 1 / (1.1 * lipschitz_constant)


@dataclass(frozen=True)
class HalfStep:
    """Everything a half-step needs that is the same for every row."""

    gram: Floats  # Gram matrix of the factor that stays fixed, padded; of shape (k, k)
    step: float  # Step size along the gradient
    strength: Strength  # Arguments of the proximal operator
    regularizer: Regularizer  # Gives the proximal operator
    beta: float  # Inertia
    # Factor by which each column is multiplied beforehand; of shape (k,)
    scale: Floats | None = None

    def point(self, factor: Factor, rows: slice, out: Floats) -> Floats:
        """Write Z, where `apply` will take the gradient, into ``out``, and return it."""
        factor.ahead(self.beta, rows, out)
        if self.scale is not None:
            out *= self.scale
        return out

    def apply(
        self,
        factor: Factor,  # Changed in place
        rows: slice,  # Which of its rows
        product: Floats,  # Their product with the data, P; overwritten
        scratch: tuple[Floats, Floats],  # Room for intermediate results, each like ``product``
    ) -> Tally:
        """Replace some rows of a factor by their new iterate."""
        current = factor.current[rows]
        number = current.dtype.type
        nothing = current[:0]
        downhill = (
            current,
            nothing if factor.previous is None else factor.previous[rows],
            nothing.ravel() if self.scale is None else self.scale,
            self.gram,
            number(self.beta),
            number(self.step),
        )
        operator, kappa, lam = self.regularizer.arguments(*self.strength, current.dtype)
        if operator == prox.ELB_EXACT:
            return Tally(*half_step(*downhill, kappa, lam, product, *scratch))
        gradient_step(*downhill, product, *scratch)
        fresh = product
        if operator is None:
            fresh = self.regularizer.formula(np, product, kappa, lam)
        else:
            prox.apply(operator, product.reshape(-1), kappa, lam)
        return Tally(*settle(current, np.ascontiguousarray(fresh, dtype=current.dtype)))


# Columns below this scale are empty for all purposes and left alone.
_EMPTY = 1e-8


def balancing_scale(left: Summary, right: Summary) -> NDArray[np.float64]:
    """Return D: multiplying ``left`` by it and dividing ``right`` by it gives both one scale."""
    left_scale, right_scale = _scale(left), _scale(right)
    usable = (left_scale > _EMPTY) & (right_scale > _EMPTY)
    ratio = np.divide(right_scale, left_scale, out=np.ones_like(left_scale), where=usable)
    return np.sqrt(ratio)


def _scale(summary: Summary) -> NDArray[np.float64]:
    squares = np.diagonal(summary.gram)
    return np.divide(
        squares, summary.totals, out=np.zeros_like(squares), where=summary.totals > _EMPTY
    )
