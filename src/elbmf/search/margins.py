"""How firmly rows and columns belong to components: what the loss would be without each.

Given V, the rows of U are independent of each other. So what the loss would be if a row were not in
a component, all else adapted, is the row problem with one component less: the best of the row's
other memberships. The same goes for columns, given U.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.boolean.coverage import Weights
from elbmf.boolean.line_weights import LineWeights
from elbmf.boolean.product import Bools, boolean_factors, pack
from elbmf.errors import InputError
from elbmf.kernels.compiling import address_of
from elbmf.matrix.boolean_matrix import BooleanMatrix, as_matrix
from elbmf.search.kernels.lines import Effort, Side, improve_lines
from elbmf.search.kernels.margins import weigh_pairs
from elbmf.search.kernels.rows import Prices, Workspace
from elbmf.search.local import NODES_AT_LAST, lines_of
from elbmf.utils.threads import over_ranges

__all__ = ["Margins", "margins"]


@dataclass(frozen=True, eq=False)
class Margins:
    """By how much the loss would go up if a line were not in a component, all else adapted.

    Large for lines that belong firmly, and 0 for those that might as well not. Below 0 are members
    that had better leave, which only factors have whose lines are not optimal. Of lines outside,
    where they are asked for, it is the same: what the loss is without less what it would be with
    them, so that it is at most 0 unless the line had better join.

    Parameters
    ----------
    rows : scipy.sparse.csr_array of float, of shape (n, k)
        An entry for each row of each component, even where it is 0, as U has them.
    columns : scipy.sparse.csr_array of float, of shape (k, m)
        An entry for each column of each component, as V has them.
    """

    rows: sparse.csr_array
    columns: sparse.csr_array


def margins(
    A: Any,
    U: Any,
    V: Any,
    *,
    extra_weight: float = 1.0,
    sample_weight: Any = None,
    feature_weight: Any = None,
    outsiders: bool = False,
    n_jobs: int | None = None,
) -> Margins:
    """Find out how firmly rows and columns belong to the components that they are in.

    The margin of a row in a component is how much the loss would go up if the row were not in it.
    The row then takes the best of its other memberships, and V stays as it is. The same goes for
    columns, with U as it is. If there are few enough subsets of components to try, the best is
    exact. Otherwise it is the best that greedy choice, single switches and a fixed number of trials
    reach, as in a fit; the margin may then be too large. Missing cells count for nothing.
    Constraints of a fit are ignored: a row may take more components instead than it was allowed.

    Parameters
    ----------
    A : array-like, sparse matrix or BooleanMatrix, of shape (n, m)
        The data; NaN and masked entries are missing cells.
    U : matrix of shape (n, k)
    V : matrix of shape (k, m)
        The components, both 0/1.
    extra_weight : float
        What a covered zero costs, when an uncovered one costs 1. Pass the ``extra_weight_`` of the
        fit.
    sample_weight, feature_weight : array-like, optional
        Weights of rows and columns, if the fit had any.
    outsiders : bool
        Whether lines outside of components are weighed, too. All entries are then stored, and the
        time grows with their number.
    n_jobs : int, optional
        Threads. All cores by default; the result does not depend on it.

    Returns
    -------
    Margins

    Examples
    --------
    The last row lacks two of the three columns, so it should not be in the component.

    >>> import numpy as np
    >>> from elbmf import margins
    >>> A = np.array([[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 0, 0]])
    >>> found = margins(A, np.ones((4, 1)), [[1, 1, 1, 0]])
    >>> found.rows.toarray().ravel().tolist()
    [3.0, 3.0, 1.0, -1.0]
    >>> found.columns.toarray().ravel().tolist()
    [4.0, 2.0, 0.0, 0.0]
    """
    A = as_matrix(A)
    if not A.in_one_place:
        raise InputError(
            "Margins need data in one place; this is on a cluster. Take the rows that matter into "
            "memory."
        )
    U, V = boolean_factors(U, V, A.shape)
    weights = Weights.of(extra_weight, A.shape)
    lines = LineWeights.of(A.shape, sample_weight, feature_weight) or LineWeights((None, None))
    rows = _of_side(A, 0, U, V.T, weights, lines, outsiders, n_jobs)
    columns = _of_side(A, 1, V.T, U, weights, lines, outsiders, n_jobs)
    return Margins(rows, sparse.csr_array(columns.T))


def _of_side(
    A: BooleanMatrix,
    axis: int,  # Whether the lines to weigh are rows or columns
    members: Bools,  # Which of these lines is in which component
    partners: Bools,  # The same of the lines across
    weights: Weights,
    lines: LineWeights,
    outsiders: bool,
    n_jobs: int | None,
) -> sparse.csr_array:
    members = np.ascontiguousarray(members)
    pairs = sparse.csr_array(np.ones_like(members) if outsiders else members)
    unit = np.full(A.shape[axis], 1 / weights.missed)
    own, across = lines.given[axis], lines.given[1 - axis]
    if own is not None:
        unit *= own
    if across is not None:
        # As in a fit, a line across counts as so many copies of it.
        repeated = LineWeights((None, across) if axis == 0 else (across, None))
        A = repeated.repeat(A)
        spread = repeated.spread(partners, partners.T)
        partners = spread[1].T if axis == 0 else spread[0]
        unit *= across.sum() / len(partners)
    costs = _weigh(A, axis, members, partners, pairs, weights, n_jobs)
    found = costs * np.repeat(unit, np.diff(pairs.indptr))
    return sparse.csr_array((found, pairs.indices, pairs.indptr), shape=pairs.shape)


def _weigh(
    A: BooleanMatrix,
    axis: int,
    members: Bools,
    partners: Bools,
    pairs: sparse.csr_array,  # Of lines and components
    weights: Weights,
    n_jobs: int | None,
) -> NDArray[np.int64]:
    """Return what each pair is worth, in the unit of the weights."""
    memberships, component_bits = pack(members), pack(np.ascontiguousarray(partners.T))
    nothing = np.empty((0, 0), dtype=np.int64)
    side = Side(lines_of(A, axis), pack(np.ascontiguousarray(partners)), component_bits, nothing)
    starts, components = (each.astype(np.int64) for each in (pairs.indptr, pairs.indices))
    prices, effort = Prices(weights.missed, weights.extra), Effort(NODES_AT_LAST, afresh=True)
    # Threads have lines of their own, so they can share these.
    trial, pending = np.empty_like(memberships), np.zeros(len(memberships), dtype=np.bool_)
    found = np.zeros(components.size, dtype=np.int64)
    every = np.full(memberships.shape[1], ~np.uint64(0))
    like = (every, every, prices, effort, trial, pending, Workspace.of(component_bits))
    improve = address_of(improve_lines, side, 0, 0, *like)

    def weigh(low: int, high: int) -> None:
        given = (memberships, trial, pending, every.copy(), prices, effort)
        workspace = Workspace.of(component_bits)
        weigh_pairs(improve, side, low, high, starts, components, *given, workspace, found)

    over_ranges(weigh, len(memberships), n_jobs)
    return found
