"""Criteria for choosing the number of components, which charge for them (Sec. 4.1, rank selection).

The lower, the better; values of one criterion compare for factorizations of one matrix, never with
those of another criterion. Each is a function of a few `Counts`, which are made once for each
factorization, also for that with no component at all: the baseline.

Cells of A that are missing are in no count: N is the number of known cells, and errors are among
these. n and m stay the sides of the whole matrix.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import GrowingCover, cover
from elbmf.boolean.noise_rates import NoiseRates
from elbmf.boolean.product import boolean_array
from elbmf.errors import InputError
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = [
    "CRITERIA",
    "TWO_RATES",
    "Counts",
    "Criterion",
    "Savings",
    "akaike",
    "bai_ng",
    "count",
    "description_length",
    "description_length_of_rows",
    "log2_binomial",
    "savings",
]

# Below, binomials are computed exactly; from there on, Stirling's series has all digits.
_FEW = 32


@dataclass(frozen=True)
class Counts:
    """What criteria need to know of a factorization of an n×m matrix.

    Parameters
    ----------
    shape : (int, int)
        n and m.
    known : int
        N, the cells that are not missing.
    missed : int
        Ones that are not covered.
    extra : int
        Zeros that are covered.
    rows, columns : tuple of int
        Size of each component: the ones of the columns of U, and those of the rows of V.
    covered : int, optional
        Known cells that are covered, which only the description with two noise rates asks for.

    Raises
    ------
    InputError
        If no factorization has such counts.
    """

    shape: tuple[int, int]
    known: int
    missed: int
    extra: int
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    covered: int | None = None

    def __post_init__(self) -> None:
        n, m = self.shape
        if len(self.rows) != len(self.columns):
            raise InputError(
                f"Each component has rows and columns; got the rows of {len(self.rows)} and the "
                f"columns of {len(self.columns)}."
            )
        for what, count, most in (
            ("known cells", self.known, n * m),
            ("missed ones", self.missed, self.known),
            ("covered zeros", self.extra, self.known - self.missed),
            *(
                [("covered cells", self.covered, self.known - self.missed)]
                if self.covered is not None
                else []
            ),
            *(("rows in a component", count, n) for count in self.rows),
            *(("columns in a component", count, m) for count in self.columns),
        ):
            if not 0 <= count <= most:
                raise InputError(f"Expected 0 to {most} {what}; got {count}.")

    @property
    def n_components(self) -> int:
        """k; components that cover nothing count, too."""
        return len(self.rows)

    @property
    def errors(self) -> int:
        """Cells that are wrong, e = ‖A ⊕ (U ∘ V)‖₁ over the known cells."""
        return self.missed + self.extra


def count(A: Any, U: Any, V: Any, n_jobs: int | None = None) -> Counts:
    """Count what all criteria are made of.

    Parameters
    ----------
    A : matrix of shape (n, m)
    U : matrix of shape (n, k)
    V : matrix of shape (k, m)
        k may be 0.
    n_jobs : int, optional
        Threads. All cores by default.
    """
    A = BooleanMatrix.from_array(A)
    U, V = boolean_array(U, "U"), boolean_array(V, "V")
    covered = cover(A, U, V, n_jobs)
    return Counts(
        shape=A.shape,
        known=covered.cells,
        missed=covered.missed,
        extra=covered.extra,
        rows=tuple(U.sum(axis=0).tolist()),
        columns=tuple(V.sum(axis=1).tolist()),
        covered=covered.covered,
    )


# --- logarithms of large numbers ---


def log2_binomial(n: int, r: int) -> float:
    """log₂ of the binomial coefficient n over r, to about 15 digits for any n.

    Differences of log-gammas would lose digits: with n = 10¹⁰ each is near 2·10¹¹, and the
    difference may be as small as 23. Here r or n − r is either few, then the coefficient is
    computed as an integer; or Stirling's series of all three factorials is put together before it
    is evaluated, so that no two large terms cancel.
    """
    n, r = int(n), int(r)
    r = min(r, n - r)
    if r < _FEW:
        return math.log2(math.comb(n, r))
    rest = n - r
    nats = (
        _entropy(n, r)
        - 0.5 * math.log(2 * math.pi * r * (rest / n))
        + _stirling(n)
        - _stirling(r)
        - _stirling(rest)
    )
    return nats / math.log(2)


def _entropy(n: int, r: int) -> float:
    """Entropy of n cells of which r are ones, in nats: −r·ln(r/n) − (n − r)·ln(1 − r/n)."""
    r = min(r, n - r)
    return r * math.log(n / r) - (n - r) * math.log1p(-r / n) if r else 0.0


def _stirling(x: int) -> float:
    """Compute ln x! − ln(√(2πx)·(x/e)ˣ) for an x of at least a few dozen."""
    square = x * x
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / x


# --- the criteria ---


@dataclass(frozen=True)
class Criterion:
    """A criterion of choice: call it with `Counts`; the lowest value is the best.

    Parameters
    ----------
    title : str
        What it is, for people.
    formula : callable
        From `Counts` to a number. It may be −∞, see `CRITERIA`.
    unit : str
        What it is counted in, if anything.
    """

    title: str
    formula: Callable[[Counts], float]
    unit: str = ""

    def __call__(self, counts: Counts) -> float:
        """Compute the criterion."""
        return self.formula(counts)


def _mdl(counts: Counts) -> float:
    return log2_binomial(counts.known, counts.errors) + _model_length(counts)


def _mdl_two_rates(counts: Counts) -> float:
    covered = counts.covered
    if covered is None:
        raise InputError("Two noise rates need the number of covered cells: set covered.")
    return _model_length(counts) + sum(
        log2_binomial(cells, wrong) + math.log2(cells + 1)
        for cells, wrong in ((covered, counts.extra), (counts.known - covered, counts.missed))
    )


def _model_length(counts: Counts) -> float:
    components = zip(counts.rows, counts.columns, strict=True)
    return math.fsum(_component_length(counts.shape, *size) for size in components)


def _component_length(shape: tuple[int, int], rows: int, columns: int) -> float:
    """Bits for a component: which rows and which columns, and log(n·m) for how many of each."""
    n, m = shape
    return log2_binomial(n, rows) + log2_binomial(m, columns) + math.log2(max(n * m, 1))


def _parameters(counts: Counts) -> int:
    return counts.n_components * sum(counts.shape)


def _aic_bernoulli(counts: Counts) -> float:
    return 2 * _parameters(counts) + 2 * _entropy(counts.known, counts.errors)


def _aic_gaussian(counts: Counts) -> float:
    if not counts.errors:
        return -math.inf
    return 2 * _parameters(counts) + counts.known * math.log(counts.errors / counts.known)


def _bai_ng_1(counts: Counts) -> float:
    return _bai_ng(counts, lambda n, m: (n + m) / (n * m) * math.log(n * m / (n + m)))


def _bai_ng_2(counts: Counts) -> float:
    return _bai_ng(counts, lambda n, m: (n + m) / (n * m) * math.log(min(n, m)))


def _bai_ng_3(counts: Counts) -> float:
    return _bai_ng(counts, lambda n, m: math.log(min(n, m)) / min(n, m))


def _bai_ng(counts: Counts, penalty: Callable[[int, int], float]) -> float:
    if not counts.errors:  # then there may be no cells either, and no penalty
        return -math.inf
    return math.log(counts.errors / counts.known) + counts.n_components * penalty(*counts.shape)


CRITERIA: dict[str, Criterion] = {
    "mdl": Criterion("description length (MDL)", _mdl, "bits"),
    "aic": Criterion("Akaike's criterion, Bernoulli errors", _aic_bernoulli),
    "aic_gaussian": Criterion("Akaike's criterion, Gaussian errors", _aic_gaussian),
    "bai_ng_1": Criterion("Bai & Ng's first criterion", _bai_ng_1),
    "bai_ng_2": Criterion("Bai & Ng's second criterion", _bai_ng_2),
    "bai_ng_3": Criterion("Bai & Ng's third criterion", _bai_ng_3),
}
"""All criteria by name.

Without errors, those that take the logarithm of the errors (``aic_gaussian``, ``bai_ng_*``) are −∞:
no penalty outweighs a perfect fit. Along ranks that ascend, the first of the least values is then
the smallest rank without errors, as it should be; ``min`` and ``numpy.argmin`` return that one.
"""

TWO_RATES: dict[str, Criterion] = {
    **CRITERIA,
    "mdl": Criterion("description length (MDL), two noise rates", _mdl_two_rates, "bits"),
}
"""The same, but that ``mdl`` takes the errors in components and those elsewhere for two things.

So they choose for a method that does: `ELBMF` with ``extra_weight="auto"``.
"""


def description_length(A: Any, U: Any, V: Any, *, two_rates: bool = False) -> float:
    """Bits it takes to describe A by its factors and the errors they make (MDL, Sec. 4.1).

    l(A ⊕ [U ∘ V]) + Σᵢ (l(Uᵀᵢ) + l(Vᵢ)) + k·log(n·m), where ``l(X) = log (|X| over ‖X‖₁)`` and i
    runs over the k components. Logarithms are to base 2; the paper leaves the base open, and the
    rank chosen does not depend on it.

    Parameters
    ----------
    A : matrix of shape (n, m)
    U : matrix of shape (n, k)
    V : matrix of shape (k, m)
    two_rates : bool, default=False
        Whether the zeros in components and the ones elsewhere are described apart, each as a share
        of its own cells: ``log₂ (covered over extra) + log₂ (others over missed)``, and how many
        there are of either. This is what ``extra_weight="auto"`` makes short, and by which fits
        with different weights compare.

    Notes
    -----
    As printed, with one rate. That means: where the errors are is charged for, how many there are
    is not, and cells that are all wrong are as cheap as cells that are all right. So the empty
    factorization describes a matrix of ones at no cost, and one of which more than half the cells
    are ones at the cost of its complement. An empty component is charged log(n·m) bits.
    """
    return (TWO_RATES if two_rates else CRITERIA)["mdl"](count(A, U, V))


def description_length_of_rows(counts: Counts, learned_from: int) -> float:
    """Bits it takes to describe rows by components that were learned from others.

    As `description_length`, but that the columns of components, and what says how many rows and
    columns each has, are charged for all rows that were learned from: these rows bear their share.

    Parameters
    ----------
    counts : Counts
        Of the rows that are described.
    learned_from : int
        How many rows the components were learned from.
    """
    n = counts.shape[0]
    share = n / max(learned_from, n)
    return log2_binomial(counts.known, counts.errors) + math.fsum(
        log2_binomial(n, rows)
        + share * (_component_length(counts.shape, rows, columns) - log2_binomial(n, rows))
        for rows, columns in zip(counts.rows, counts.columns, strict=True)
    )


def akaike(
    A: Any, U: Any, V: Any, likelihood: Literal["bernoulli", "gaussian"] = "bernoulli"
) -> float:
    """Akaike's information criterion (AIC, Sec. 4.1): 2·k(n + m) − 2·ln L.

    Each of the k(n + m) entries of the factors counts as one parameter. N are the known cells and e
    the errors among them.

    Parameters
    ----------
    A : matrix of shape (n, m)
    U : matrix of shape (n, k)
    V : matrix of shape (k, m)
    likelihood : {"bernoulli", "gaussian"}
        ``"bernoulli"``: each known cell of U ∘ V is flipped independently, with the same
        probability; its estimate is e/N, hence ln L = e·ln(e/N) + (N − e)·ln(1 − e/N).
        ``"gaussian"``: each known cell differs from U ∘ V by independent noise of mean zero and the
        same variance; its estimate is e/N, hence −2·ln L = N·ln(e/N) and a constant, which is left
        out. That is −∞ without errors.
    """
    names = {"bernoulli": "aic", "gaussian": "aic_gaussian"}
    if likelihood not in names:
        raise InputError(f"likelihood must be 'bernoulli' or 'gaussian'; got {likelihood!r}.")
    return CRITERIA[names[likelihood]](count(A, U, V))


def bai_ng(A: Any, U: Any, V: Any, penalty: Literal[1, 2, 3] = 1) -> float:
    """Bai & Ng's information criteria IC_p1, IC_p2 and IC_p3 (2002; Sec. 4.1): ln(e/N) + k·g(n, m).

    N are the known cells and e the errors among them: the mean squared residual of the factors is
    e/N. Made for factors of real numbers as n and m both grow: for a matrix of a few rows or
    columns, the penalty is small or even negative. Without errors, the criteria are −∞.

    Parameters
    ----------
    A : matrix of shape (n, m)
    U : matrix of shape (n, k)
    V : matrix of shape (k, m)
    penalty : {1, 2, 3}
        g is (n + m)/(nm)·ln(nm/(n + m)) for 1, (n + m)/(nm)·ln min(n, m) for 2, and
        ln min(n, m)/min(n, m) for 3.
    """
    if penalty not in (1, 2, 3):
        raise InputError(f"penalty must be 1, 2 or 3; got {penalty!r}.")
    return CRITERIA[f"bai_ng_{penalty}"](count(A, U, V))


# --- components in the order of what they save ---


class Savings(NamedTuple):
    """Components in the order in which they save most.

    Parameters
    ----------
    order : ndarray of int64, of length k
        The components; ``U[:, order]`` and ``V[order]`` are the factors in this order.
    saved : ndarray of float64, of length k
        Bits that each of them saves, given those before it; negative where it costs some.
    """

    order: NDArray[np.int64]
    saved: NDArray[np.float64]

    @property
    def paying(self) -> int:
        """How many of the first components give the shortest description; the fewest, if equal."""
        return int(np.argmax(np.concatenate([[0.0], np.cumsum(self.saved)])))


def savings(
    A: Any,
    U: Any,
    V: Any,
    n_jobs: int | None = None,
    *,
    in_order: bool = False,
    two_rates: bool = False,
) -> Savings:
    """Order components by the bits that they save: the last are the first to be cut.

    Greedy, from no component on: the next is the one that saves most given those before; of equals,
    the one that comes first in U. A component saves the bits of the ones that it newly covers, less
    those of the zeros, less its own description (see `description_length`). What a cell is worth is
    told by the noise rate of the whole factorization, the same at every place of the list: a rate
    that fell from component to component would make the last ones seem to save most. So what is
    saved descends, unless a component pays only when others cover the zeros in it; and the last one
    shortens the exact description by no more than it says.

    Parameters
    ----------
    A : matrix of shape (n, m)
    U : matrix of shape (n, k)
    V : matrix of shape (k, m)
    n_jobs : int, optional
        Threads. All cores by default; the result does not depend on it.
    in_order : bool, default=False
        Whether to leave the components in the order they have.
    two_rates : bool, default=False
        Whether cells in components have a noise rate of their own.

    Returns
    -------
    Savings
        Unpacks into the order and the bits saved.
    """
    A = BooleanMatrix.from_array(A)
    U, V = boolean_array(U, "U"), boolean_array(V, "V")
    growing = GrowingCover(A, U, V, n_jobs)
    whole = cover(A, U, V, n_jobs)
    rates = NoiseRates.of(whole) if two_rates else NoiseRates.equal(whole)
    sizes = zip(U.sum(axis=0).tolist(), V.sum(axis=1).tolist(), strict=True)
    charges = np.array([_component_length(A.shape, *size) for size in sizes])
    order: list[int] = []
    saved: list[float] = []
    while len(order) < len(charges):
        zeros = growing.cells - growing.ones
        gains = rates.bits_of_one * growing.ones - rates.bits_of_zero * zeros - charges
        best = len(order) if in_order else int(np.where(growing.taken, -np.inf, gains).argmax())
        order.append(best)
        saved.append(float(gains[best]))
        growing.take(best)
    return Savings(np.array(order, dtype=np.int64), np.array(saved, dtype=np.float64))
