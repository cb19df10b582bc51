"""The fewest components that keep to constraints and leave few errors."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from elbmf.boolean.coverage import component_cover
from elbmf.boolean.product import Bools, boolean_product
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.constrained.constraints import Constraints
from elbmf.search.constrained.search import ConstrainedSearch
from elbmf.search.covers.reduction import Table
from elbmf.utils.tuning import TUNING

__all__ = ["FewestWithin"]


@dataclass
class FewestWithin:
    """The search for the fewest components; of all factors, those that are fixed come first."""

    A: BooleanMatrix
    search: ConstrainedSearch
    constraints: Constraints
    max_loss: int  # Wrong cells that are allowed
    enough: Callable[
        [Bools, Bools], bool
    ]  # Tells whether factors have no more, and all that must be
    over: Callable[[], bool] = lambda: False  # Asked whether the time is up
    late: Callable[[], bool] = lambda: False  # Asked whether there is none to cover line by line

    def cover(self, U: Bools, V: Bools, seed: int) -> tuple[Bools, Bools] | None:
        """Make a cover of any components to begin with, with as many as that takes.

        What is left to cover when the time is up, or when more components do not help, is covered
        line by line, if that is not too late. Returns None if that is not within the constraints
        either.
        """

        def kept(U: Bools, V: Bools, k: int) -> tuple[Bools, Bools]:
            given = (k, seed, np.inf, self.max_loss)
            return self.search.improve(U, V, *given, searched=False, hasty=True)

        k = max(1, V.shape[0])
        U, V = kept(U, V, k)
        while not self.enough(U, V) and V[-1].any() and k < self.A.cells and not self.over():
            k *= 2
            U, V = kept(U, V, k)
        if not self.enough(U, V):
            if self.late():
                return None
            by_lines = [self._with_lines(U, V, axis) for axis in (0, 1)]
            for U, V in sorted(by_lines, key=lambda pair: pair[1].shape[0]):
                U, V = kept(U, V, V.shape[0])
                if self.enough(U, V):
                    break
            else:
                return None
        return self._used(U, V)

    def _with_lines(self, U: Bools, V: Bools, axis: int) -> tuple[Bools, Bools]:
        """Let each row or column that is not covered be in a component of its own kind alone.

        In several of them, where there are more than a component may have.
        """
        ones = Table.of(self.A).required
        sides = [U.copy(), V.T.copy()]
        missed = ones & ~boolean_product(U, V).toarray()
        lacking = np.flatnonzero(missed.any(axis=1 - axis))
        lines = (ones if axis == 0 else ones.T)[lacking]
        place = np.unique(lines, axis=0, return_inverse=True)[1].ravel()
        most = self.constraints.most[axis] or lines.shape[0]
        for kind in np.flatnonzero(np.bincount(place) > most):
            alike = np.flatnonzero(place == kind)
            parts = np.arange(alike.size) // most
            place[alike] = np.where(parts, place.max() + parts, kind)
        kinds = lines[np.unique(place, return_index=True)[1]]
        sides[axis][lacking, self.constraints.n_fixed :] = False
        own = np.zeros((self.A.shape[axis], kinds.shape[0]), np.bool_)
        own[lacking, place] = True
        added = [own, kinds.T] if axis == 0 else [kinds.T, own]
        U, V = (np.hstack(pair) for pair in zip(sides, added, strict=True))
        return U, np.ascontiguousarray(V.T)

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
    ) -> tuple[Bools, Bools, bool]:
        """Do with fewer components, one less at a time, with more work each time that fails.

        Ctrl-C ends it with the best so far; returns whether it did, too.
        """
        share, spent = TUNING.first_covering, 0.0
        while (
            max(at_least, self.constraints.n_fixed) < V.shape[0]
            and spent < most_work
            and not self.over()
        ):
            try:
                if tell(V.shape[0], min(1.0, spent / most_work)):
                    break
                alone = component_cover(self.A, U, V).alone
                alone[: self.constraints.n_fixed] = self.A.ones + 1
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
        used[: self.constraints.n_fixed] = True
        return np.compress(used, U, axis=1), V[used]
