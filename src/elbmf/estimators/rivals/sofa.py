"""Sofa: two passes over a stream of rows, in memory that does not grow with them."""

import time
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from elbmf.boolean.coverage import cover
from elbmf.boolean.product import Bools
from elbmf.estimators.auto_rank import finished_factors
from elbmf.estimators.base import BooleanFactorizer, FittedFactors, estimator
from elbmf.estimators.online import PartialFitMixin
from elbmf.estimators.rivals.centers import Centers
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.path import Factors, Stepper
from elbmf.search.local import describe
from elbmf.utils.constraints import Interval

__all__ = ["Sofa"]

# Rows of a block, after which the callback is told.
_ROWS_AT_ONCE = 4096


@estimator
class Sofa(PartialFitMixin, BooleanFactorizer):
    """Boolean matrix factorization of a stream of rows.

    The first pass keeps a few centres. A row joins the centre whose cluster it is most similar to,
    or becomes the first of a new one. A centre counts how many of its members have each column, in
    a sketch of bounded size; the columns that at least a share θ of them have are its cluster. When
    there are too many centres, those that are similar are merged with their sketches, and if that
    is not enough, those whose clusters save least are dropped. Then clusters are chosen greedily:
    each time the one that gains most, ones newly covered less zeros newly covered, over all
    centres. The second pass finds the components of each row.

    Rows may also come in pieces, by `partial_fit`.

    Parameters
    ----------
    n_components
    max_centers : int, default=200
        Centres to keep at most.
    similarity : float, default=0.4
        Least similarity between a row and the cluster of a centre that it joins: columns that both
        have, over columns that either has. As long as there is room for all the centres that come
        of it, more is asked for: 0.8 at first. With more than 0.5, a row that has two groups of
        equal size can join neither.
    theta : float, default=0.6
        θ, the share of a centre's members that are to have a column for it to be in the cluster.
    sketch_size : int, default=10000
        Counters that a sketch keeps at least. With fewer columns than twice that many, it counts
        exactly; otherwise a share of members is found too low by at most the mean number of ones
        in a member over ``sketch_size``.
    refine : bool, default=False
        Improve the factors by Boolean local search afterwards, which never makes the loss worse; in
        `fit` only.
    binarize : float, str or transformer, optional
        For input that is not 0/1: a threshold, above which entries are ones, or ``nonzero``,
        ``positive``, ``zscore[:CUTOFF][:SCOPE]`` (1.645) or ``quantile[:SHARE][:SCOPE]`` (0.05),
        of ``columns`` (default), ``rows`` or ``all``.

        In Python also a transformer. What it learns, it learns from the first rows in
        `partial_fit`.
    callback : callable, optional
        Called by `fit` with a `FitProgress` after each block of rows; a true return value ends the
        first pass at once, and the components are those of the rows read so far.
    n_jobs : int, optional
        Threads of the second pass. All cores by default, and for -1; the result does not depend on
        it.
    random_state : int, RandomState instance or None
        Accepted as by all methods, and not used: nothing here is random.

    Attributes
    ----------
    n_iter_ : int
        Blocks of rows read.
    history_ : dict of str to ndarray
        The rows read, the centres, and the similarity asked for after each block.

    Notes
    -----
    The order of the rows matters, as it does in any stream. Missing entries count neither for nor
    against: not in the similarity of a row, nor in the share of members that have a column, nor in
    a gain. Memory, beside the input and the memberships that are returned, is
    ``max_centers`` sketches and a few bits for each column and centre, whatever the number of rows.

    The clusters are chosen by what the sketches tell, before the second pass, which then needs to
    keep nothing but the components; candidates are also the clusters that centres would have if
    they were merged at a lower similarity. What a row gets in the second pass is what `transform`
    gives it: the best of all subsets, where these are few enough to try.

    References
    ----------
    S. Neumann, P. Miettinen. Biclustering and Boolean Matrix Factorization in Data Streams.
    Proceedings of the VLDB Endowment 13(10), 2020.

    Examples
    --------
    >>> from elbmf import Sofa
    >>> model = Sofa(n_components=2)
    >>> for rows in ([[1, 1, 0, 0], [1, 1, 0, 0]], [[0, 0, 1, 1]]):
    ...     model = model.partial_fit(rows)
    >>> model.transform([[1, 1, 1, 1]])
    array([[ True,  True]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_centers": [Interval(Integral, 2, None, closed="left")],
        "similarity": [Interval(Real, 0, 1, closed="right")],
        "theta": [Interval(Real, 0, 1, closed="right")],
        "sketch_size": [Interval(Integral, 1, None, closed="left")],
    }

    max_centers: int = 200
    similarity: float = 0.4
    theta: float = 0.6
    sketch_size: int = 10_000

    def _learn(self, A: BooleanMatrix) -> tuple[Bools, int]:
        if not hasattr(self, "_centers"):
            self._centers = self._new_centers(A.shape[1])
        self._centers.read(A, 0, A.shape[0])
        return _components(self._centers, self._rank)[0], self._centers.n_rows

    def _widen(self, n_columns: int) -> Bools:
        self._centers.widen(n_columns)
        return _components(self._centers, self._rank)[0]

    def _factorize(self, A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
        began = time.perf_counter()
        history, stopped = self._first_pass(A, began)
        V, found = _components(self._centers, self._rank)
        U = describe(A, V, n_jobs=self._threads)
        loss = cover(A, U, V, self._threads).loss
        blocks = history["rows"].size
        if not stopped:
            stopped = self._report(blocks + 1, loss, began, 1.0)
        if stopped:
            reason = "callback"
        elif loss == 0:
            reason = "exact"
        else:
            reason = "n_components" if found == self._rank else "no gain"
        return FittedFactors(U, V, blocks, reason, history)

    def _stepper(self, A: BooleanMatrix) -> Stepper:
        """Each rank has the first clusters of the next, and describes the rows anew by them."""
        history, _ = self._first_pass(A, time.perf_counter())
        centers = self._centers

        def refit(rank: int, generator: np.random.Generator) -> Factors:
            V, _ = _components(centers, rank)
            U = describe(A, V, n_jobs=self._threads)
            return finished_factors(self, A, FittedFactors(U, V))

        return Stepper(refit, lambda: int(history["rows"].size))

    def _new_centers(self, n_columns: int) -> Centers:
        return Centers(n_columns, self.max_centers, self.similarity, self.theta, self.sketch_size)

    def _first_pass(self, A: BooleanMatrix, began: float) -> tuple[dict[str, Any], bool]:
        """Read all rows from nothing on; return the history, and whether the callback ended it."""
        n = A.shape[0]
        self._centers = centers = self._new_centers(A.shape[1])
        figures: list[tuple[int, int, float]] = []
        stopped = False
        while centers.n_rows < n and not stopped:
            low = centers.n_rows
            centers.read(A, low, min(low + _ROWS_AT_ONCE, n))
            figures.append((centers.n_rows, centers.count, centers.similarity))
            # What would be left if each centre were a component.
            left = A.ones - centers.saved
            stopped = self._report(len(figures), left, began, centers.n_rows / n / 2)
        names = ("rows", "centers", "similarity")
        return dict(zip(names, map(np.array, zip(*figures, strict=True)), strict=True)), stopped

    def _report(self, iteration: int, loss: int, began: float, progress: float) -> bool:
        return self._tell_since(
            began, stage="block", iteration=iteration, loss=loss, progress=progress
        )


def _components(centers: Centers, rank: int) -> tuple[Bools, int]:
    """Choose clusters as components, and add empty ones up to a rank.

    Returns how many were chosen, too.
    """
    clusters = centers.choose(rank)
    found = clusters.shape[0]
    return np.pad(clusters, ((0, rank - found), (0, 0))), found
