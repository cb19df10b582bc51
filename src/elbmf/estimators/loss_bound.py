"""How low the loss can be at all with a number of components, beside the best that is found."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from elbmf.boolean.line_weights import LineWeights
from elbmf.boolean.product import Bools
from elbmf.errors import InputError
from elbmf.estimators.elbmf import ELBMF
from elbmf.estimators.reading import read_matrix
from elbmf.io.table import names_of
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.bounds import bound_blocks, bound_fooling
from elbmf.search.local import LocalSearch
from elbmf.utils.alarm import Alarm
from elbmf.utils.naming import naming_lines
from elbmf.utils.tuning import TUNING

__all__ = ["LossBound", "loss_bound"]


@dataclass(frozen=True)
class LossBound:
    """What is known of the least loss with a number of components.

    Parameters
    ----------
    n_components : int
        Components of a factorization at most.
    at_least : int
        No factorization costs less.
    cost : int
        What the best costs that was found; as many wrong cells, unless the two kinds of error, or
        rows and columns, are weighed differently.
    membership, components : ndarray of bool
        Its factors U and V; lines of weight 0 are in no component.
    proved_by : str
        What has led to the bound: ``"search"`` through all factorizations, ``"blocks"`` of columns
        or ``"fooling sets"``; empty if nothing has.
    """

    n_components: int
    at_least: int
    cost: int
    membership: Bools
    components: Bools
    proved_by: str

    @property
    def proved(self) -> bool:
        """Whether there is nothing better than what was found."""
        return self.at_least >= self.cost


def loss_bound(
    X: Any,
    n_components: int,
    *,
    extra_weight: float = 1.0,
    missing: Any = None,
    sample_weight: Any = None,
    feature_weight: Any = None,
    time_limit: float = 20.0,
    n_jobs: int | None = None,
    random_state: Any = None,
    tell: Callable[[int, int], Any] = lambda at_least, cost: None,
) -> LossBound:
    """Find out what loss no factorization with so many components undercuts.

    A third of the time goes into a fit that finds good factors. Unless it already proves them to be
    optimal, the rest goes into bounds: from blocks of columns, which on small tables with up to
    three components are often the whole table, and from fooling sets.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or BooleanMatrix
        Zeros and ones, as for `ELBMF.fit`.
    n_components : int
        Components k.
    extra_weight, n_jobs, random_state
        As for `ELBMF`.
    missing : array-like, optional
        As for `ELBMF.fit`.
    sample_weight, feature_weight : array-like, optional
        Weights of rows and columns, as for `ELBMF.fit`, but whole numbers, on average 32 at most.
        The result refers to a matrix that has each line as often as it weighs.
    time_limit : float
        Seconds in all. How high the bound gets depends on the machine, but it always holds.
    tell : callable
        Called with the bound and the best cost so far, whenever either changes.

    Returns
    -------
    LossBound

    Examples
    --------
    >>> from elbmf import loss_bound
    >>> A = [[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1]]
    >>> found = loss_bound(A, 2, time_limit=5, random_state=0)
    >>> found.at_least, found.cost, found.proved
    (2, 2, True)
    """
    if isinstance(n_components, bool) or not isinstance(n_components, int | np.integer):
        raise InputError(f"n_components must be a number of components; got {n_components!r}.")
    if not time_limit > 0:
        raise InputError(f"time_limit must be a number of seconds above 0; got {time_limit!r}.")
    if isinstance(extra_weight, str):
        raise InputError(
            f"extra_weight must be a number; got {extra_weight!r}. Set the weight that a fit "
            "has found."
        )
    began = time.perf_counter()
    with naming_lines(lambda: names_of(X)):
        A = read = X if isinstance(X, BooleanMatrix) else read_matrix(X, missing=missing)
        lines = LineWeights.of(A.shape, sample_weight, feature_weight)
    if lines is not None:
        lines.require_copies("For a bound")
        A = lines.repeat(read)
    model = ELBMF(
        n_components,
        extra_weight=extra_weight,
        time_limit=TUNING.fit_in_bound * time_limit,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    model._warns_of_doubts = False
    model.fit(A)
    U, V, weights = model.membership_, model.components_, model._weights(A.shape)
    cost = next(reversed(model.stages_.values()))
    least, by = model.lower_bound_, "search" if model.lower_bound_ else ""
    tell(least, cost)
    end = began + time_limit
    if least < cost:
        with Alarm(_after(TUNING.fooling_in_bound, end)) as alarm:
            fooled = bound_fooling(LocalSearch(A, weights, n_jobs, alarm), n_components, 0)
        if fooled > least:
            least, by = fooled, "fooling sets"
        tell(least, cost)
    if least < cost:
        with Alarm(end) as alarm:
            found = bound_blocks(LocalSearch(A, weights, n_jobs, alarm), U, V, n_components)
        if found.U is not None and found.V is not None:
            U, V, cost = found.U, found.V, found.at_least
        if found.at_least > least:
            least, by = found.at_least, "blocks" if found.at_least < cost else "search"
        tell(least, cost)
    if lines is not None:
        U, V = lines.join(A, U, V, weights)
        cost = int(lines.cover(read, U, V).cost(weights))
    return LossBound(n_components, min(least, cost), cost, U, np.ascontiguousarray(V), by)


def _after(share: float, end: float) -> float:
    """Return when a share of the time is over that is left until the end."""
    now = time.perf_counter()
    return now + share * max(0.0, end - now)
