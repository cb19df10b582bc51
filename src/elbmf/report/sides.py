"""Rows and columns: which components hold each line, how well it fits there, what a page holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.analysis import best_first, line_ones, support_in_pieces
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.report.document import Axis, Member, Packed
from elbmf.report.packing import pack_json, pack_numbers
from elbmf.utils.text import shortened

__all__ = ["NOWHERE", "Side", "axis_of", "kept_lines", "side_of"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NOWHERE = 65535
"""Stands for no component."""


class Members(NamedTuple):
    """The lines of a component on one side, and beside each what is known of it there.

    These are its ones, its margin, and how often it returns.
    """

    lines: Ints
    ones: Ints | None = None
    margins: Floats | None = None
    returns: Floats | None = None

    def chosen(self, which: Any) -> Members:
        """Return some of them, or the same in another order."""
        beside = (None if each is None else each[which] for each in self[1:])
        return Members(self.lines[which], *beside)


@dataclass(frozen=True, eq=False)
class Side:
    """The rows or the columns.

    Parameters
    ----------
    names : list of str or None
    place : ndarray of int64
        Where each line is shown.
    starts, holders : ndarray of int64
        Line i is in the components ``holders[starts[i]:starts[i + 1]]``.
    sizes, partners : ndarray of int64, of length k
        Lines of each component on this side, and on the other.
    ones : ndarray of int64 or None
        Of each line. This and what follows are None without data.
    support : ndarray of int64 or None
        Beside ``holders``: the ones of the line among the component's other side.
    margins : ndarray of float64 or None
        Beside ``holders``: by how much the loss would go up if the line were not there.
    nearest, nearest_support : ndarray of int64 or None
        The component that a line in none would fit best, and its ones there; `NOWHERE` and 0 for
        lines that are in some, or that have no ones in any.
    near : list of (ndarray, ndarray) or None
        For each component the lines outside that would fit best, and their ones there.
    returns : ndarray of float64 or None
        Beside ``holders``: the share of fits of resampled data that hold the line; NaN for those
        of components of which it is not noted. None where it is of none.
    """

    names: list[str] | None
    place: Ints
    starts: Ints
    holders: Ints
    sizes: Ints
    partners: Ints
    ones: Ints | None
    support: Ints | None
    margins: Floats | None
    nearest: Ints | None
    nearest_support: Ints | None
    near: list[tuple[Ints, Ints]] | None
    returns: Floats | None

    @property
    def count(self) -> int:
        """Number of lines."""
        return len(self.place)

    @property
    def held(self) -> Ints:
        """Number of components that each line is in."""
        return np.diff(self.starts)

    @cached_property
    def members(self) -> list[Members]:
        """For each component its lines, those first that belong most firmly.

        Of equals, those that fit best, see `elbmf.analysis.best_first`.
        """
        lines = np.repeat(np.arange(self.count), self.held)
        in_all = self.held if self.ones is None else self.ones
        by_component = np.argsort(self.holders, kind="stable")
        edges = np.concatenate([[0], np.cumsum(self.sizes)])
        members = []
        for low, high in pairwise(edges.tolist()):
            beside = (lines, self.support, self.margins, self.returns)
            found = Members(*beside).chosen(by_component[low:high])
            found = found.chosen(best_first(found.ones, in_all[found.lines]))
            if found.margins is not None:
                found = found.chosen(np.argsort(-found.margins, kind="stable"))
            members.append(found)
        return members


def side_of(
    A: BooleanMatrix | None,
    axis: int,
    members: sparse.csr_array,
    partners: NDArray[np.bool_],
    names: list[str] | None,
    order: Ints,
    outliers: int,
    n_jobs: int | None,
    margins: sparse.csr_array | None,
    returns: Sequence[Sequence[float]],
) -> Side:
    """Count one side: rows for axis 0, columns for axis 1.

    ``members`` says which line is in which component, ``partners`` the same of the other side, and
    ``order`` which line is in each place. So many ``outliers`` of a component are found. There are
    ``margins`` for each of the members, and for each component how often its lines return.
    """
    members = members.sorted_indices()
    starts, holders = members.indptr.astype(np.int64), members.indices.astype(np.int64)
    k = members.shape[1]
    sizes = np.bincount(holders, minlength=k)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    counts: dict[str, Any] = {}
    if A is not None:
        ones = line_ones(A, axis)
        tally = _Tally(starts, holders, partners.sum(axis=0), ones, outliers)
        for low, piece in support_in_pieces(A, axis, partners, n_jobs):
            tally.add(low, piece)
        counts = {"ones": ones, **tally.result()}
    if margins is not None:
        counts["margins"] = margins.sorted_indices().data
    empty = dict.fromkeys(("ones", "support", "margins", "nearest", "nearest_support", "near"))
    return Side(
        names=names,
        place=place,
        starts=starts,
        holders=holders,
        sizes=sizes,
        partners=partners.sum(axis=0, dtype=np.int64),
        returns=_returns(holders, sizes, returns),
        **{**empty, **counts},
    )


def _returns(holders: Ints, sizes: Ints, noted: Sequence[Sequence[float]]) -> Floats | None:
    """Put beside the holders what is noted of the lines of each component, in their order."""
    fits = [len(shares) == size > 0 for shares, size in zip(noted, sizes, strict=False)]
    if not any(fits):
        return None
    found = np.full(len(holders), np.nan)
    by_component, ends = np.argsort(holders, kind="stable"), np.cumsum(sizes)
    for at in np.flatnonzero(fits).tolist():
        found[by_component[ends[at] - sizes[at] : ends[at]]] = noted[at]
    return found


class _Tally:
    """Takes from the counts of all lines and components, piece by piece, what is to be said."""

    def __init__(
        self, starts: Ints, holders: Ints, partners: Ints, ones: Ints, outliers: int
    ) -> None:
        self._starts, self._holders = starts, holders
        self._sizes = np.maximum(partners, 1)
        self._ones = ones
        self._outliers = outliers
        lines = len(starts) - 1
        self._support = np.zeros(len(holders), dtype=np.int64)
        self._nearest = np.full(lines, NOWHERE, dtype=np.int64)
        self._nearest_support = np.zeros(lines, dtype=np.int64)
        nothing = np.empty((0, len(partners)), dtype=np.int64)
        self._near_lines, self._near_counts = nothing, nothing

    def add(self, low: int, counts: NDArray[np.int32]) -> None:
        """Take the counts of some lines."""
        held = np.diff(self._starts[low : low + len(counts) + 1])
        mine = slice(self._starts[low], self._starts[low + len(counts)])
        lines = np.repeat(np.arange(len(counts)), held)
        self._support[mine] = counts[lines, self._holders[mine]]
        self._find_nearest(low, counts, np.flatnonzero(held == 0))
        # Members are no outliers.
        counts[lines, self._holders[mine]] = 0
        self._find_near(low, counts)

    def _find_nearest(self, low: int, counts: NDArray[np.int32], loose: Ints) -> None:
        if not (loose.size and counts.shape[1]):
            return
        ones = counts[loose]
        # Of equal shares, that of more ones is the better fit.
        best = np.argmax(ones / self._sizes + 1e-12 * ones, axis=1)
        most = ones[np.arange(len(loose)), best]
        fits = most > 0
        self._nearest[low + loose[fits]] = np.minimum(best[fits], NOWHERE)
        self._nearest_support[low + loose[fits]] = most[fits]

    def _find_near(self, low: int, counts: NDArray[np.int32]) -> None:
        wanted = min(self._outliers, len(counts))
        # Of equals in a component, those come first that would if it were the only one.
        rank = np.empty(len(counts), dtype=np.int64)
        rank[best_first(None, self._ones[low : low + len(counts)])] = np.arange(len(counts))
        keys = counts.T.astype(np.int64) * len(counts) - rank
        found = np.argpartition(keys, len(counts) - wanted, axis=1)[:, len(counts) - wanted :].T
        found = np.sort(found, axis=0)
        lines = np.concatenate([self._near_lines, low + found])
        ones = np.concatenate([self._near_counts, np.take_along_axis(counts, found, axis=0)])
        order = best_first(ones, self._ones[lines])[: self._outliers]
        self._near_lines = np.take_along_axis(lines, order, axis=0)
        self._near_counts = np.take_along_axis(ones, order, axis=0)

    def result(self) -> dict[str, Any]:
        """Return what `Side` has of it."""
        near = []
        for lines, ones in zip(self._near_lines.T, self._near_counts.T, strict=True):
            fits = ones > 0
            near.append((lines[fits], ones[fits]))
        return {
            "support": self._support,
            "nearest": self._nearest,
            "nearest_support": self._nearest_support,
            "near": near,
        }


def kept_lines(side: Side, most: int, listed: Iterable[list[Member]]) -> Ints:
    """Choose the lines to keep, ascending.

    Those come first that lists of members name, the earlier the better, then those in components,
    then the others; among equals, those with most ones.
    """
    if side.count <= most:
        return np.arange(side.count)
    mention = np.full(side.count, side.count, dtype=np.int64)
    for members in listed:
        lines = np.array([line for line, *_ in members], dtype=np.int64)
        np.minimum.at(mention, lines, np.arange(len(lines)))
    ones = np.zeros(side.count) if side.ones is None else side.ones
    order = np.lexsort((side.place, -ones, side.held == 0, mention))
    return np.sort(order[:most])


def axis_of(side: Side, kept: Ints, longest: int) -> Axis:
    """Pack the lines that are kept, ascending, with names of some characters at most."""
    held = side.held[kept]
    # Where the entries of each kept line are, one run after the other.
    ends = np.cumsum(held)
    at = np.repeat(side.starts[kept] - ends + held, held) + np.arange(held.sum())
    names = None
    if side.names is not None:
        names = pack_json([shortened(side.names[line], longest) for line in kept.tolist()])

    def packed(values: Any, entries: Ints) -> Packed | None:
        if values is None:
            return None
        return pack_numbers(values[entries], "f4" if values.dtype.kind == "f" else None)

    return Axis(
        count=side.count,
        kept=None if len(kept) == side.count else pack_numbers(kept, "u4"),
        names=names,
        place=pack_numbers(side.place[kept]),
        ones=packed(side.ones, kept),
        held=pack_numbers(held),
        holders=pack_numbers(side.holders[at]),
        support=packed(side.support, at),
        margin=packed(side.margins, at),
        returns=packed(side.returns, at),
        nearest=None if side.nearest is None else pack_numbers(side.nearest[kept], "u2"),
        nearest_support=packed(side.nearest_support, kept),
    )
