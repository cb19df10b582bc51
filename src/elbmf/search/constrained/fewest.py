"""The fewest components that keep to constraints and leave few errors."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from elbmf.boolean.coverage import component_cover
from elbmf.boolean.product import Bools
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.constrained.search import ConstrainedSearch
from elbmf.utils.tuning import TUNING

__all__ = ["FewestWithin"]


@dataclass
class FewestWithin:
    """The search for the fewest components; of all factors, those that are fixed come first."""

    A: BooleanMatrix
    search: ConstrainedSearch
    n_fixed: int
    max_loss: int  # Wrong cells that are allowed
    enough: Callable[
        [Bools, Bools], bool
    ]  # Tells whether factors have no more, and all that must be

    def cover(self, U: Bools, V: Bools, seed: int) -> tuple[Bools, Bools] | None:
        """Make a cover of any components to begin with, with as many as that takes.

        Returns None if none is found.
        """
        k = max(1, V.shape[0])
        while True:
            # However long that takes: without it, there is nothing to go on from.
            given = (k, seed, np.inf, self.max_loss)
            U, V = self.search.improve(U, V, *given, searched=False, exchanging=False)
            if self.enough(U, V):
                return self._used(U, V)
            if not V[-1].any() or k >= self.A.cells:
                # More components would not help.
                return None
            k *= 2

    def drop(
        self,
        U: Bools,
        V: Bools,  # A cover
        at_least: int,  # Components that are needed
        generator: np.random.Generator,
        most_work: float,  # About in nanoseconds
        # Told of the number of components and of the share of the work that is done; ends it if
        # true
        tell: Callable[[int, float], bool],
        over: Callable[[], bool],  # Asked whether the time is up
    ) -> tuple[Bools, Bools, bool]:
        """Do with fewer components, one less at a time, with more work each time that fails.

        Ctrl-C ends it with the best so far; returns whether it did, too.
        """
        share, spent = TUNING.first_covering, 0.0
        while max(at_least, self.n_fixed) < V.shape[0] and spent < most_work and not over():
            try:
                if tell(V.shape[0], min(1.0, spent / most_work)):
                    break
                alone = component_cover(self.A, U, V).alone
                alone[: self.n_fixed] = self.A.ones + 1
                kept = np.delete(np.arange(V.shape[0]), int(alone.argmin()))
                given = (kept.size, int(generator.integers(1 << 62)), share, self.max_loss)
                found = self.search.improve(U[:, kept], V[kept], *given, searched=False)
            except KeyboardInterrupt:
                return U, V, True
            spent += share
            if self.enough(*found):
                U, V = self._used(*found)
            else:
                share *= 2
        return U, V, False

    def _used(self, U: Bools, V: Bools) -> tuple[Bools, Bools]:
        """Leave out empty components, unless they are fixed."""
        used = np.logical_and(U.any(axis=0), V.any(axis=1))
        used[: self.n_fixed] = True
        return np.ascontiguousarray(U[:, used]), V[used]
