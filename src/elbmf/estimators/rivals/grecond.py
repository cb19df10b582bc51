"""GreConD: formal concepts that cover most, one after the other, from below."""

import time
from typing import Any, ClassVar

import numpy as np

from elbmf.boolean.coverage import Weights
from elbmf.estimators.auto_rank import fitted_greedily, prefixes
from elbmf.estimators.base import BooleanFactorizer, FittedFactors, estimator
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.path import Nested, Stepper
from elbmf.search.starts.concepts import find_concepts

__all__ = ["GreConD"]


@estimator
class GreConD(BooleanFactorizer):
    """Boolean matrix factorization from below by formal concepts, greedily on demand.

    A component is a formal concept: a set of columns together with all rows that have all of them,
    such that no column can be added. To find one, columns are added one by one, always the one
    after which the concept covers most uncovered ones, until none improves on that. No zero is
    ever covered. Of equals, the column with the lowest index is taken.

    Parameters
    ----------
    n_components : int, "auto" or None, default=10
        Number of components. None takes as many as an exact factorization needs. ``"auto"``
        chooses the number that gives the shortest description of the data (MDL).
    refine : bool, default=False
        Improve the factors by Boolean local search afterwards, still without covering a zero.
    random_state : int, RandomState instance or None
        Accepted as by all methods, and not used: nothing here is random.

    Attributes
    ----------
    n_iter_ : int
        Components found.
    history_ : dict of str to ndarray
        ``"cost"`` after each component, which is the loss.

    Notes
    -----
    Missing entries may be covered, and need not be. `transform` covers no zero either. The first r
    of k components are those that a fit with r components finds, unless they are refined.

    References
    ----------
    R. Belohlavek, V. Vychodil. Discovery of optimal factors in binary data via a novel method of
    matrix decomposition. Journal of Computer and System Sciences 76(1), 2010.

    Examples
    --------
    >>> from elbmf import GreConD
    >>> A = [[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1]]
    >>> model = GreConD(n_components=None).fit(A)
    >>> model.n_components_, model.reconstruction_err_
    (2, 0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [*BooleanFactorizer._parameter_constraints["n_components"], None],
    }

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        most = None if self.n_components is None else self._rank
        nested, stopped = self._concepts(A, most)
        return fitted_greedily(nested, stopped=stopped)

    def _stepper(self, A: BooleanMatrix) -> Stepper:
        """Each rank has the first concepts of the next."""
        return prefixes(self, A, lambda rank: [self._concepts(A, rank)[0]])

    def _weights(self, shape: tuple[int, int]) -> Weights:
        return Weights.of(np.inf, shape)

    def _concepts(self, A: BooleanMatrix, most: int | None) -> tuple[Nested, bool]:
        """Find concepts until all ones are covered, or so many are found, or the callback ends it.

        Returns whether it did, too.
        """
        began = time.perf_counter()

        def tell(count: int, left: int, work: int) -> bool:
            progress = count / most if most else 1 - left / A.ones
            return self._tell_since(
                began, stage="component", iteration=count, loss=left, progress=progress
            )

        U, V, left, stopped, _ = find_concepts(A, most, self._threads, tell)
        # A matrix without ones needs none; its factors have an empty one, as others may have.
        return Nested.of(U, V, left, max(1, U.shape[1]) if most is None else most), stopped
