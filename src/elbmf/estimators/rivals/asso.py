"""Asso: candidates from associations between columns, chosen greedily by what they cover."""

import logging
import time
from dataclasses import field
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from elbmf.boolean.coverage import Weights
from elbmf.estimators.auto_rank import fitted_greedily, prefixes
from elbmf.estimators.base import BooleanFactorizer, FittedFactors, estimator
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.path import Nested, Stepper
from elbmf.search.starts.associations import Side
from elbmf.utils.constraints import Interval, StrOptions
from elbmf.utils.threads import available_cores, over_ranges

__all__ = ["Asso"]

# A threshold, and whether rows are associated in place of columns.
_Choice = tuple[float, bool]

_LOG = logging.getLogger(__name__)

# threshold="auto" divides the range up to 1 into so many steps: more where they take no time, on up
# to so many ones. Where they do, every fourth is looked at first.
_STEPS, _MORE_STEPS = 20, 100
_STRIDES = (4, 2, 1)
_ONES_FOR_ALL = 5_000

# Ones, and rows or columns, up to which both sides are tried.
_ONES_FOR_BOTH_SIDES = 50_000
_LINES_FOR_BOTH_SIDES = 3000

# Ones from which passes over the rows are worth several threads.
_ONES_FOR_THREADS = 100_000


@estimator
class Asso(BooleanFactorizer):
    """Boolean matrix factorization by associations between columns.

    Column i is associated with column j as confidently as ones of i go with ones of j:
    c(i→j) = ‖a_i ∧ a_j‖₁ / ‖a_i‖₁. Each column gives a candidate: itself with all columns that it
    is associated with at least as confidently as a threshold τ says. Then the candidate whose use
    gains most is chosen, time after time: a row uses it where w⁺ times the ones that are newly
    covered is more than w⁻ times the zeros that are. Of equals, the candidate of the column with
    the lowest index is taken.

    Parameters
    ----------
    n_components
    threshold : float or "auto", default="auto"
        τ, above 0 and up to 1. ``"auto"`` keeps what costs least, the lowest of equals: on up to
        5000 ones of all values up to 1 in steps of 0.01, else of those in steps of 0.2, and then
        around the best of them ever closer, down to steps of 0.05.
    gain_weight : float, default=1
        w⁺, what covering a one gains.
    penalty_weight : float, default=1
        w⁻, what covering a zero costs. Only the ratio of the two weights matters; it is rounded to
        one of integers up to 1000.
    associate_rows : bool or "auto", default="auto"
        Whether to associate rows in place of columns. ``"auto"`` does so when there are more
        columns than rows, for the time grows with the number of candidates; where the threshold is
        searched for on up to 50 000 ones in up to 3000 rows and columns, it tries both and keeps
        what costs less.
    callback : callable, optional
        Called with a `FitProgress` after each component, or after all that some thresholds lead to
        when several are tried; a true return value ends the fit at once, with what was found so
        far.
    random_state : int, RandomState instance or None
        Accepted as by all methods, and not used: nothing here is random.

    Attributes
    ----------
    n_iter_ : int
        Components chosen.
    history_ : dict of str to ndarray
        ``"cost"`` after each component, with the weights as integers.
    threshold_ : float
    transposed_ : bool
        The threshold used, and whether rows were associated; not set when the number of components
        was searched for, too.

    Notes
    -----
    Missing entries gain and cost nothing, and c(i→j) counts only rows in which j is known. For a
    given threshold, the first r of k components are those that a fit with r components finds,
    unless they are refined.

    References
    ----------
    P. Miettinen, T. Mielikäinen, A. Gionis, G. Das, H. Mannila. The Discrete Basis Problem. IEEE
    Transactions on Knowledge and Data Engineering 20(10), 2008.

    Examples
    --------
    >>> from elbmf import Asso
    >>> A = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    >>> Asso(n_components=2, threshold=1).fit(A).reconstruction_err_
    0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "gain_weight": [Interval(Real, 0, None, closed="neither")],
        "penalty_weight": [Interval(Real, 0, None, closed="neither")],
        "associate_rows": ["boolean", StrOptions({"auto"})],
    }

    threshold: float | Literal["auto"] = "auto"
    gain_weight: float = 1.0
    penalty_weight: float = 1.0
    associate_rows: bool | Literal["auto"] = "auto"

    threshold_: float = field(init=False)
    transposed_: bool = field(init=False)

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        found, stopped = self._by_choice(A, self._rank)
        costs = {choice: int(nested.costs[-1]) for choice, nested in found.items()}
        best = min(costs, key=lambda choice: (costs[choice], choice))
        self.threshold_, self.transposed_ = best
        _LOG.info("costs by threshold: %s", costs)
        return fitted_greedily(found[best], stopped=stopped)

    def _stepper(self, A: BooleanMatrix) -> Stepper:
        """Each rank has the first components of the next, with the same threshold."""
        return prefixes(self, A, lambda rank: list(self._by_choice(A, rank)[0].values()))

    def _weights(self, shape: tuple[int, int]) -> Weights:
        return Weights.of(self.penalty_weight / self.gain_weight, shape)

    def _thresholds(self, A: BooleanMatrix) -> list[float]:
        """Return the thresholds to choose from, ascending."""
        if self.threshold != "auto":
            return [float(self.threshold)]
        steps = _MORE_STEPS if A.ones <= _ONES_FOR_ALL else _STEPS
        # Quotients, for these are what a confidence of the same size is rounded to, too.
        return [step / steps for step in range(1, steps + 1)]

    def _sides(self, A: BooleanMatrix) -> list[bool]:
        """Return whether to associate rows, columns, or each in turn."""
        if self.associate_rows != "auto":
            return [bool(self.associate_rows)]
        small = A.ones <= _ONES_FOR_BOTH_SIDES and max(A.shape) <= _LINES_FOR_BOTH_SIDES
        if self.threshold == "auto" and small:
            return [False, True]
        return [A.shape[0] < A.shape[1]]

    def _by_choice(self, A: BooleanMatrix, rank: int) -> tuple[dict[_Choice, Nested], bool]:
        """Factorize with each choice of threshold and side, until the callback ends it.

        Returns whether it did, too.
        """
        threads = self._threads if A.ones >= _ONES_FOR_THREADS else 1
        thresholds = self._thresholds(A)
        weights = self._weights(A.shape)
        began, stopped = time.perf_counter(), False

        def tell(stage: str, count: int, total: int, cost: int) -> bool:
            nonlocal stopped
            stopped = self._tell_since(
                began,
                stage=stage,
                iteration=count,
                loss=cost / weights.missed,
                progress=min(count / total, 1.0),
            )
            return stopped

        sides = {side: Side.of(A, side, weights, thresholds[0], threads) for side in self._sides(A)}
        choices = [
            (threshold, side)
            for side, associated in sides.items()
            for threshold in associated.distinct(thresholds)
        ]
        if len(choices) == 1:
            threshold, side = choices[0]

            def observe(count: int, cost: int) -> bool:
                return tell("component", count, rank, cost)

            chosen = sides[side].find(threshold, rank, threads, observe)
            return {choices[0]: Nested.of(*chosen, rank)}, stopped
        found: dict[_Choice, Nested] = {}
        # Each thread has a threshold for itself, which it waits less for than for a part of one.
        together = threads or available_cores()
        strides = (1,) if A.ones <= _ONES_FOR_ALL else _STRIDES
        total = len(choices) if len(strides) == 1 else len(range(0, len(choices), strides[0])) + 4
        for stride in strides:
            wanted = choices[::-1][::stride]
            if found:
                at = choices.index(min(found, key=lambda choice: found[choice].costs[-1]))
                wanted = choices[max(at - stride, 0) : at + stride + 1 : stride]
            wanted = [choice for choice in wanted if choice not in found]
            while wanted and not stopped:
                batch, wanted = wanted[:together], wanted[together:]

                def look(low: int, high: int, batch: list[_Choice] = batch) -> list[Nested]:
                    return [
                        Nested.of(*sides[side].find(t, rank, 1), rank)
                        for t, side in batch[low:high]
                    ]

                parts = over_ranges(look, len(batch), threads, few_and_long=True)
                found |= zip(batch, (nested for part in parts for nested in part), strict=True)
                least = min(nested.costs[-1] for nested in found.values())
                tell("threshold", len(found), total, int(least))
        return found, stopped
