"""Whether components return: fits of parts of the data beside a reference, component by component.

Components are matched one to one, such that the similarities of the pairs have the greatest sum.
The similarity of two components is the Jaccard similarity of their columns times that of their
rows, both among the lines that the fit has seen. It is a product because a component is a
rectangle: with the same columns on other rows it is another one, which a mean would call half the
same.

Different components may cover the same cells: of two tiles one of which has the columns of the
other and more, a fit finds the tiles, or the columns that they share on the rows of both and what
is left. No data tells which it was. So two components that have something in common are also as
alike as what they are closed to: all rows that the fit gives nearly all their columns, and all
columns that it gives nearly all these rows. Nearly, for what is left is small and has noise in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, leaves_list, linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform

from elbmf.boolean.product import Bools

__all__ = [
    "FOUND",
    "Match",
    "PartialFit",
    "Recurrence",
    "closed",
    "consensus_matrix",
    "consensus_order",
    "cophenetic_correlation",
    "match_components",
    "recurrence",
    "thinned",
]

Floats = NDArray[np.float64]
Lines = NDArray[np.int64]

# Covered cells that are looked at together.
_CELLS_AT_ONCE = 1 << 24

# Share of its lines that a component may lack in a line that it is closed to.
_MAY_LACK = 0.1

# Share of its lines that others may lack in a line that a component is spared.
_MAY_SPARE = 0.2

# Similarity from which on two components may be the same, cut in another way.
_KIN = 0.1

FOUND = 0.5
"""Similarity from which on a component counts as found again."""


class PartialFit(NamedTuple):
    """Factors of some rows and columns of a matrix.

    Parameters
    ----------
    U : ndarray of bool, of shape (rows seen, k)
    V : ndarray of bool, of shape (k, columns seen)
    rows, columns : ndarray of int
        Which lines of the matrix they are about, ascending.
    """

    U: Bools
    V: Bools
    rows: Lines
    columns: Lines


def _jaccard(left: Bools, right: Bools) -> Floats:
    """Return how alike each set of ``left`` and each of ``right`` are; sets are rows.

    The products are sparse: lines are in few components, and there may be very many lines.
    """
    both = sparse.csr_array(left, dtype=np.int32) @ sparse.csr_array(right, dtype=np.int32).T
    shared = both.toarray()
    either = left.sum(axis=1)[:, None] + right.sum(axis=1) - shared
    return np.asarray(shared / np.maximum(either, 1), dtype=np.float64)


def closed(U: Bools, V: Bools) -> tuple[Bools, Bools]:
    """Enlarge components by what the product of the factors covers of them anyway.

    Parameters
    ----------
    U, V : ndarray of bool, of shapes (n, k) and (k, m)

    Returns
    -------
    U, V : ndarray of bool
        Of each component first all rows that are covered in nine tenths of its columns, then all
        columns in which nine tenths of these rows are covered. Empty ones stay empty.
    """
    # Rows that are in the same components are covered in the same columns.
    place, rows, counts = _patterns(U)
    used = np.asarray(U.any(axis=0) & V.any(axis=1))
    inside = np.zeros((len(rows), len(V)), np.bool_)
    lacking = np.zeros(V.shape, np.float32)
    columns = V.astype(np.float32)
    at_once = max(1, _CELLS_AT_ONCE // max(V.shape[1], 1))
    for low in range(0, len(rows), at_once):
        piece = slice(low, low + at_once)
        open_ = (rows[piece] @ columns == 0).astype(np.float32)
        inside[piece] = (open_ @ columns.T <= _MAY_LACK * V.sum(axis=1)) & used
        lacking += (inside[piece].T * counts[piece]) @ open_
    most = _MAY_LACK * (counts @ inside)[:, None]
    return inside[place], (lacking <= most) & used[:, None]


def thinned(U: Bools, V: Bools, cost: Callable[[Bools, Bools], int]) -> tuple[Bools, Bools]:
    """Cut components such that they cost as little as before, or less, and have fewer lines.

    Parameters
    ----------
    U, V : ndarray of bool, of shapes (n, k) and (k, m)
    cost : callable
        Tells what factors cost.

    Returns
    -------
    U, V : ndarray of bool
        One component after the other loses its rows that others cover in four fifths of its
        columns, or its columns that others cover in four fifths of its rows: always where the cost
        is least then, and of equal ones where it is most lines, until none is as good as before.
    """
    now = cost(U, V)
    for _ in range(2 * len(V)):
        rows, columns = _covered_by_others(U, V)
        ways = []
        for l, one in enumerate(np.eye(len(V), dtype=np.bool_)):
            if rows[:, l].any():
                ways.append((U & ~(rows & one), V))
            if columns[l].any():
                ways.append((U, V & ~(columns & one[:, None])))
        weighed = [(cost(*way), int(way[0].sum() + way[1].sum())) for way in ways]
        if not ways or min(weighed)[0] > now:
            break
        now, _ = min(weighed)
        U, V = ways[weighed.index(min(weighed))]
    return U, V


def _covered_by_others(U: Bools, V: Bools) -> tuple[Bools, Bools]:
    """Tell of each line in a component whether others cover nearly all of it there."""
    # Lines that are in the same components are covered alike.
    row_of, rows, heights = _patterns(U)
    column_of, columns, widths = _patterns(V.T)
    alone = np.zeros((len(rows), len(V)), np.float32)  # Cells of each row in each component
    its_alone = np.zeros((len(columns), len(V)), np.float32)
    at_once = max(1, _CELLS_AT_ONCE // max(len(columns), 1))
    for low in range(0, len(rows), at_once):
        piece = slice(low, low + at_once)
        once = (rows[piece] @ columns.T == 1).astype(np.float32)
        alone[piece] = once @ (columns * widths[:, None])
        its_alone += once.T @ (rows[piece] * heights[piece, None])
    spared = alone <= _MAY_SPARE * V.sum(axis=1)
    its_spared = its_alone <= _MAY_SPARE * U.sum(axis=0)
    return U & spared[row_of], V & its_spared[column_of].T


def _patterns(lines: Bools) -> tuple[Lines, NDArray[np.float32], NDArray[np.float32]]:
    """Return which pattern each line has, the patterns, and how many lines have each."""
    _, first, place, counts = np.unique(
        np.packbits(lines, axis=1), axis=0, return_index=True, return_inverse=True,
        return_counts=True,
    )  # fmt: skip
    return place.reshape(-1), lines[first].astype(np.float32), counts.astype(np.float32)


class Match(NamedTuple):
    """Which components of a fit are those of a reference.

    Parameters
    ----------
    components : ndarray of int64, of length k
        For each component of the reference that of the fit; -1 where there is none that is like it.
    similarities : ndarray of float64, of length k
        How alike the two are, 0 without a match; NaN where the fit could not tell, for it has seen
        no row or no column of the component, if there are any.
    recut : ndarray of bool, of length k
        Whether they are more alike as what they are closed to.
    """

    components: Lines
    similarities: Floats
    recut: Bools


def match_components(U: Bools, V: Bools, fit: PartialFit) -> Match:
    """Match the components of a reference with those of a fit, one to one.

    Parameters
    ----------
    U, V : ndarray of bool, of shapes (n, k) and (k, m)
        The reference.
    fit : PartialFit
    """
    mine, theirs = (U[fit.rows], V[:, fit.columns]), (fit.U, fit.V)
    alike, as_closed = (
        _jaccard(rows.T, its_rows.T) * _jaccard(columns, its_columns)
        for (rows, columns), (its_rows, its_columns) in (
            (mine, theirs),
            (closed(*mine), closed(*theirs)),
        )
    )
    # Two details of one large component are both closed to it, and need not be alike.
    recut = (alike >= _KIN) & (as_closed > alike)
    alike = np.where(recut, as_closed, alike)
    match, similarity = np.full(len(V), -1), np.zeros(len(V))
    left, right = linear_sum_assignment(alike, maximize=True)
    found = alike[left, right] > 0
    match[left[found]], similarity[left] = right[found], alike[left, right]
    its_recut = np.zeros(len(V), np.bool_)
    its_recut[left] = recut[left, right]
    unseen = ~(mine[0].any(axis=0) & mine[1].any(axis=1))
    similarity[unseen] = np.nan
    return Match(match, similarity, its_recut)


@dataclass(frozen=True, eq=False)
class Recurrence:
    """How the components of a reference fared in other fits.

    Parameters
    ----------
    matches : ndarray of int64, of shape (runs, k)
        Which component of a run each is matched with; -1 for none.
    similarities : ndarray of float64, of shape (runs, k)
        How alike they are; NaN where a run has seen nothing of a component.
    row_shares, column_shares : ndarray of float32, of shapes (n, k) and (m, k)
        Of the runs that found a component and saw a line, the share in which the line is in it, or
        in what it is closed to if it is cut in another way. 0 for a component that was never found.
    """

    matches: Lines
    similarities: Floats
    row_shares: NDArray[np.float32]
    column_shares: NDArray[np.float32]

    @property
    def recurrence(self) -> Floats:
        """Mean similarity of each component with its match, over the runs that could tell."""
        return _mean(self.similarities, ~np.isnan(self.similarities))

    @property
    def found_in(self) -> Floats:
        """Share of those runs in which the match is at least half the same."""
        return _mean(self.similarities >= FOUND, ~np.isnan(self.similarities))

    @property
    def stability(self) -> float:
        """Mean recurrence of the components that any run could tell of."""
        known = ~np.isnan(self.similarities).all(axis=0)
        return float(self.recurrence[known].mean()) if known.any() else 0.0


def _mean(values: NDArray[np.generic], known: Bools) -> Floats:
    total = np.where(known, values, 0).sum(axis=0, dtype=np.float64)
    return np.asarray(total / np.maximum(known.sum(axis=0), 1), dtype=np.float64)


def recurrence(U: Bools, V: Bools, fits: Sequence[PartialFit]) -> Recurrence:
    """Match each of several fits with a reference, and count who returns.

    Parameters
    ----------
    U, V : ndarray of bool, of shapes (n, k) and (k, m)
        The reference.
    fits : sequence of PartialFit
        The runs.
    """
    k = len(V)
    matches = np.full((len(fits), k), -1)
    similarities = np.zeros((len(fits), k))
    lengths = (U.shape[0], V.shape[1])
    held, seen = ([np.zeros((length, k), np.int32) for length in lengths] for _ in range(2))
    for run, fit in enumerate(fits):
        matches[run], similarities[run], recut = match_components(U, V, fit)
        found = np.flatnonzero(similarities[run] >= FOUND)
        its, recut = matches[run, found], recut[found]
        rows, columns = fit.U[:, its], fit.V[its]
        if recut.any():
            all_rows, all_columns = closed(fit.U, fit.V)
            rows = np.where(recut, all_rows[:, its], rows)
            columns = np.where(recut[:, None], all_columns[its], columns)
        for axis, (lines, members) in enumerate(((fit.rows, rows), (fit.columns, columns.T))):
            held[axis][np.ix_(lines, found)] += members
            seen[axis][np.ix_(lines, found)] += 1
    row_shares, column_shares = (
        (some / np.maximum(all_, 1)).astype(np.float32)
        for some, all_ in zip(held, seen, strict=True)
    )
    return Recurrence(matches, similarities, row_shares, column_shares)


def consensus_matrix(fits: Sequence[PartialFit], rows: Lines) -> Floats:
    """Return how often rows are together: the share of fits in which they share a component.

    Parameters
    ----------
    fits : sequence of PartialFit
    rows : ndarray of int
        Rows of the matrix, ascending; the result has their number squared entries.

    Returns
    -------
    ndarray of float64, of shape (rows, rows)
        Over the fits that saw both rows; NaN where there is none, and 1 of a row with itself.
    """
    together, seen = (np.zeros((len(rows), len(rows)), np.int32) for _ in range(2))
    for fit in fits:
        _, mine, theirs = np.intersect1d(rows, fit.rows, return_indices=True)
        members = fit.U[theirs].astype(np.float32)
        at = np.ix_(mine, mine)
        together[at] += members @ members.T > 0
        seen[at] += 1
    shares = np.where(seen, together / np.maximum(seen, 1), np.nan)
    np.fill_diagonal(shares, 1.0)
    return shares


def consensus_order(consensus: Floats) -> Lines:
    """Return an order of the rows of a consensus matrix that has those together that often are."""
    if len(consensus) < 2:
        return np.arange(len(consensus))
    return leaves_list(_tree(consensus)).astype(np.int64)


def cophenetic_correlation(consensus: Floats) -> float:
    """Return how close a consensus matrix is to groups: 1 if each row always has the same company.

    It is the correlation of 1 − consensus with the distances in the tree that average linkage makes
    of it, over the pairs of rows that are known.
    """
    distances = squareform(1 - consensus, checks=False)
    known = ~np.isnan(distances)
    if not known.any() or np.ptp(distances[known]) == 0:
        return 1.0  # A tree shows a single distance exactly.
    in_tree = cophenet(_tree(consensus))[known]
    if np.ptp(in_tree) == 0:
        return 0.0
    return float(np.corrcoef(distances[known], in_tree)[0, 1])


def _tree(consensus: Floats) -> Floats:
    return np.asarray(linkage(squareform(1 - _filled(consensus), checks=False), "average"))


def _filled(consensus: Floats) -> Floats:
    """Return a consensus matrix with a guess for pairs of rows that no fit saw together.

    A row is guessed to be with another as often as the company it keeps is; and where that is not
    known either, as often as any two rows are.
    """
    known = ~np.isnan(consensus)
    if known.all():
        return consensus
    shares = np.where(known, consensus, 0.0)
    company = shares - np.diag(np.diag(shares))
    pairs = known.sum() - len(known)
    usual = company.sum() / pairs if pairs else 0.0
    told = company @ known
    guess = np.where(told > 0, company @ shares / np.where(told > 0, told, 1), usual)
    return np.where(known, consensus, (guess + guess.T) / 2)
