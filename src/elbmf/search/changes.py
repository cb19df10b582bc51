"""Factors that are close to earlier ones: what they cost, and what it costs to change."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from elbmf.boolean.coverage import Weights, cover
from elbmf.boolean.product import Bools, boolean_product
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.covers.reduction import Table
from elbmf.search.local import describe

__all__ = ["ChangeSearch", "aligned"]

# So little is rounding.
_NOTHING = 1e-9


def aligned(U: Bools, V: Bools, previous: Bools) -> tuple[Bools, Bools]:
    """Put components in the places of those before, so that the fewest cells of V differ."""
    before, now = previous.astype(np.int64), V.astype(np.int64)
    differing = before.sum(axis=1)[:, None] + now.sum(axis=1) - 2 * before @ now.T
    order = linear_sum_assignment(differing)[1]
    return np.ascontiguousarray(U[:, order]), V[order]


@dataclass
class ChangeSearch:
    """The search for factors of low loss of which few cells of V differ from those before."""

    A: BooleanMatrix
    weights: Weights
    previous: Bools  # As many components as there are to be; those that are new have no columns
    penalty: float  # What a cell of V that differs costs, when an uncovered one costs 1
    from_below: bool
    n_jobs: int | None
    over: Callable[[], bool]  # Asked whether the time is up

    def cost(self, U: Bools, V: Bools) -> float:
        """Return what is to be as low as possible: the loss and the penalty together."""
        loss = cover(self.A, U, V, self.n_jobs).cost(self.weights) / self.weights.missed
        return float(loss + self.penalty * (self.previous != V).sum())

    def best(self, U: Bools, V: Bools) -> tuple[Bools, Bools]:
        """Return factors that cost no more than those given, nor than to change nothing."""
        kept = describe(self.A, self.previous, self.weights, self.n_jobs), self.previous
        plain = aligned(U, V, self.previous)
        found = [self._adapted(*each) for each in (kept, plain)]
        least, (U, V) = min(found, key=lambda each: each[0])
        # Components of the one, one by one, in place of those of the other.
        for other in (kept[1], plain[1]):
            for l in np.flatnonzero((other != V).any(axis=1)):
                if self.over():
                    break
                V_new = V.copy()
                V_new[l] = other[l]
                cost, (U_new, V_new) = self._described(U, V_new)
                if cost < least - _NOTHING:
                    least, U, V = cost, U_new, V_new
        return self._adapted(U, V)[1]

    def _described(self, U: Bools, V: Bools) -> tuple[float, tuple[Bools, Bools]]:
        """Let each row have the components that describe it best; return the cost, too."""
        choices = [(U, V), (describe(self.A, V, self.weights, self.n_jobs), V)]
        return min(((self.cost(*each), each) for each in choices), key=lambda each: each[0])

    def _adapted(self, U: Bools, V: Bools) -> tuple[float, tuple[Bools, Bools]]:
        """Let columns join and leave components, and rows, until that gains nothing."""
        least = self.cost(U, V)
        while not self.over():
            changed = V.copy()
            for l in range(V.shape[0]):
                changed[l] = self._columns(l, U, changed)
            cost, found = self._described(U, changed)
            if cost >= least - _NOTHING:
                break
            least, (U, V) = cost, found
        return least, (U, V)

    def _columns(self, l: int, U: Bools, V: Bools) -> Bools:
        """Return the best columns of a component, given its rows and all others."""
        rows = np.flatnonzero(U[:, l])
        if not rows.size:
            return self.previous[l]
        others = V.copy()
        others[l] = False
        uncovered = ~boolean_product(U[rows], others, self.n_jobs).toarray()
        table = Table.of(self.A, rows)
        ones = (table.required & uncovered).sum(axis=0)
        zeros = (~table.allowed & uncovered).sum(axis=0)
        gains = ones - zeros * (self.weights.extra / self.weights.missed)
        gains += np.where(self.previous[l], self.penalty, -self.penalty)
        chosen = np.where(gains == 0, self.previous[l], gains > 0)
        return chosen & (zeros == 0) if self.from_below else chosen
