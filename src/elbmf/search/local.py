"""Boolean local search after rounding: factors that no change of a single row or column improves.

The relaxation finds the right neighbourhood, and rounding it loses some of that. Given V, the rows
of U are independent of each other, and so are the columns of V given U: each is improved on packed
words, and the two sides take turns until neither changes. The loss never rises.
"""

import copy
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import Weights, cover
from elbmf.boolean.packed import PackedFactors, unpack
from elbmf.boolean.product import Bools, Words, boolean_array, pack
from elbmf.errors import InputError
from elbmf.kernels.bits import gather_column
from elbmf.kernels.compiling import address_of
from elbmf.kernels.sets import Bits
from elbmf.matrix.boolean_matrix import BooleanMatrix, as_matrix
from elbmf.search.kernels.coordinate_descent import descend, share_cells
from elbmf.search.kernels.lines import (
    Effort,
    Lines,
    Side,
    improve_lines,
    line_costs,
    pack_lines_into_words,
)
from elbmf.search.kernels.rows import Prices, Workspace
from elbmf.utils.alarm import Alarm
from elbmf.utils.threads import over_ranges
from elbmf.utils.tuning import TUNING

__all__ = [
    "MOST_TURNS",
    "NODES",
    "NODES_AT_LAST",
    "LocalSearch",
    "agree",
    "describe",
    "lines_of",
    "negligible_gain",
    "pattern_of",
    "refine",
    "work_in",
]

# What they mean, and what set them, is told in `elbmf.utils.tuning`.
NODES, NODES_AT_LAST = TUNING.nodes, TUNING.nodes_at_last
MOST_TURNS = TUNING.most_turns
_PACKED_DENSITY = TUNING.packed_density

# Indices that change their type at a time.
_CONVERTED_AT_ONCE = 1 << 22

# Ones from which a turn is worth several threads.
_ONES_FOR_THREADS = 300_000


class LocalSearch:
    """The data as the local search wants it, and the descent on it."""

    def __init__(
        self,
        A: BooleanMatrix,  # The data; missing cells count for nothing
        weights: Weights | None = None,  # What the two kinds of error cost
        n_jobs: int | None = None,  # Threads. All cores by default; no result depends on it.
        alarm: Alarm | None = None,  # After it, no line is looked at any more
    ) -> None:
        self.A = A
        self.weights = weights or Weights()
        self.n_jobs = n_jobs
        self.alarm = alarm or Alarm()
        self.nodes = NODES
        self.terrain: Any = None  # The data as climbers want it, once they have asked for it
        self.lines = (lines_of(A, 0), lines_of(A, 1))
        self.prices = Prices(self.weights.missed, self.weights.extra)

    @cached_property
    def _address(self) -> int:
        """Where the kernel is that improves lines, compiled for this data."""
        no = np.zeros((1, 1), dtype=np.bool_)
        bits = PackedFactors.from_arrays(no, no, 0).bits
        workspace = self.workspaces(bits)[0]
        others, mask = bits.memberships[1], bits.stale[0]
        side = Side(self.lines[0], others, others, workspace.overlaps)
        mine = (self.prices, Effort(0), others, bits.pending[0], workspace)
        return address_of(improve_lines, side, 0, 0, mask, mask, *mine)

    @cached_property
    def from_below(self) -> "LocalSearch":
        """The same data, for a search that covers no zero."""
        below = copy.copy(self)
        below.weights = Weights.of(np.inf, self.A.shape)
        below.prices = Prices(below.weights.missed, below.weights.extra)
        below.terrain = None if self.terrain is None else self.terrain.priced(below.prices)
        return below

    def workspaces(self, bits: Bits) -> tuple[Workspace, Workspace]:
        """Make buffers for the rows and for the columns, for one thread."""
        rows, columns = (
            Workspace.of(
                bits.component_bits[1 - axis],
                with_overlaps=not lines.words.size,
                alarm=self.alarm.flag,
            )
            for axis, lines in enumerate(self.lines)
        )
        return rows, columns

    def pack(self, U: Bools, V: Bools) -> PackedFactors:
        """Pack Boolean factors and count what they cost."""
        cost = cover(self.A, U, V, self.n_jobs).cost(self.weights)
        return PackedFactors.from_arrays(U, V, cost)

    def descend(self, factors: PackedFactors, most_turns: int | None = None) -> int:
        """Let U and V take turns until neither changes, or for so many; return what that took.

        On very large data, until two turns in a row each gain less than one in 50 000 of the ones.
        """
        most_turns = MOST_TURNS if most_turns is None else most_turns
        effort = Effort(self.nodes)
        if self.A.ones < _ONES_FOR_THREADS:
            workspaces = self.workspaces(factors.bits)
            given = (self._address, self.lines, factors.bits, factors.every, self.prices, effort)
            factors.cost -= int(descend(*given, most_turns, workspaces))
            return work_in(workspaces)
        work = 0
        negligible = negligible_gain(self.A, factors.n_slots)
        quiet = 0
        for turn in range(most_turns):
            changed, gained, its_work = self._turn(factors, turn % 2, effort)
            work += its_work
            quiet = quiet + 1 if gained < negligible or not changed else 0
            if quiet == 2 or (not changed and turn > 0):
                break
        return work

    def settle(self, factors: PackedFactors) -> None:
        """Descend to where each row of U is what a new row would get, unless it has better."""
        self.descend(factors)
        for _ in range(MOST_TURNS):
            factors.bits.pending[0][:] = True
            changed, _, _ = self._turn(factors, 0, Effort(NODES_AT_LAST, afresh=True))
            if not changed:
                break
            self.descend(factors)

    def _turn(self, factors: PackedFactors, axis: int, effort: Effort) -> tuple[bool, int, int]:
        """Improve one side given the other; return whether it changed, the gain and the work."""
        threads = self.n_jobs if self.A.ones >= _ONES_FOR_THREADS else 1
        changed, gained, work = self.improve(factors.bits, axis, factors.every, effort, threads)
        factors.cost -= gained
        return changed, gained, work

    def improve(
        self, bits: Bits, axis: int, free: Words, effort: Effort, threads: int | None = 1
    ) -> tuple[bool, int, int]:
        """Improve one side of some components given the other.

        Returns whether it changed, the gain in cost, and the work.
        """
        lines, component_bits = self.lines[axis], bits.component_bits[1 - axis]
        k = component_bits.shape[0]
        overlaps = np.empty((0, 0) if lines.words.size else (k, k), dtype=np.int64)
        if overlaps.size:
            share_cells(component_bits, overlaps)
        side = Side(lines, bits.memberships[1 - axis], component_bits, overlaps)

        def improve(low: int, high: int) -> tuple[int, Workspace]:
            workspace = Workspace.of(component_bits, alarm=self.alarm.flag)
            mine = (bits.memberships[axis], bits.pending[axis], workspace)
            gained = improve_lines(
                side, low, high, free, bits.stale[axis], self.prices, effort, *mine
            )
            return gained, workspace

        gains, workspaces = zip(*over_ranges(improve, self.A.shape[axis], threads), strict=True)
        changed = np.bitwise_or.reduce([workspace.changed for workspace in workspaces])
        bits.stale[axis] = 0
        bits.stale[1 - axis] |= changed
        for l in np.flatnonzero(unpack(changed[None], k)[0]):
            gather_column(bits.memberships[axis], l, bits.component_bits[axis][l])
        return bool(changed.any()), int(sum(gains)), work_in(workspaces)


def work_in(workspaces: Iterable[Workspace]) -> int:
    """Return the work that was done in some workspaces, about in nanoseconds."""
    return sum(int(workspace.work[0]) for workspace in workspaces)


def negligible_gain(
    A: Any,  # Has the numbers of its ``cells`` and ``ones``
    n_components: int,  # Of the factors
) -> int:
    """Return the gain in cost below which another turn is not worth its time; often 0."""
    return int(TUNING.negligible * A.ones) if A.cells * n_components > TUNING.large else 0


def pattern_of(A: BooleanMatrix, axis: int) -> Lines:
    """One side of a matrix, not packed, with indices of one type on either side."""
    index: Any = np.int32 if max(A.shape) < 1 << 31 else np.int64
    indptr, indices = A.lines(axis) if axis else (A.indptr, A.indices)
    nothing = np.empty(0, dtype=np.int64)
    missing_indptr, missing_indices = (
        (nothing, nothing) if A.missing is None else A.missing.lines(axis)
    )
    return Lines(
        indptr,
        _as_type(A, indices, index),
        np.empty((0, 0), dtype=np.uint64),
        missing_indptr,
        _as_type(A, missing_indices, index),
    )


def lines_of(A: BooleanMatrix, axis: int) -> Lines:
    """One side of a matrix, packed unless it is sparse."""
    lines = pattern_of(A, axis)
    if A.ones <= _PACKED_DENSITY * A.cells:
        return lines
    words = A.allocate((A.shape[axis], -(-A.shape[1 - axis] // 64)), np.uint64)
    pack_lines_into_words(lines.indptr, lines.indices, words)
    return lines._replace(words=words)


def _as_type(A: BooleanMatrix, indices: NDArray[Any], index: Any) -> NDArray[Any]:
    """Return indices of another type, where the data lies."""
    if indices.dtype == index or not indices.size:
        return indices.astype(index, copy=False)
    converted = A.allocate(indices.shape, index)
    for start in range(0, indices.size, _CONVERTED_AT_ONCE):
        piece = slice(start, start + _CONVERTED_AT_ONCE)
        converted[piece] = indices[piece]
    return converted


def refine(
    A: BooleanMatrix,
    U: Bools,
    V: Bools,
    weights: Weights | None = None,
    n_jobs: int | None = None,
) -> tuple[Bools, Bools]:
    """Improve Boolean factors until no change of a single row or column lowers the loss.

    Each row is improved by all subsets of its components where these are few enough to try, else
    by single switches and as many subsets as a fixed effort allows; and so is each column.

    Parameters
    ----------
    A : BooleanMatrix
        The data; missing cells count for nothing.
    U : ndarray of bool, of shape (n, k)
    V : ndarray of bool, of shape (k, m)
        Factors to start from; left as they are.
    weights : Weights, optional
        What the two kinds of error cost; both 1 by default.
    n_jobs : int, optional
        Threads. All cores by default; the result does not depend on it.

    Returns
    -------
    U, V : ndarray of bool
        Factors that cost at most what those given do. A row of U is what `describe` gives for it,
        unless something better was found.
    """
    search = LocalSearch(A, weights, n_jobs)
    factors = search.pack(U, V)
    search.settle(factors)
    return factors.to_arrays()


def describe(A: Any, V: Any, weights: Weights | None = None, n_jobs: int | None = None) -> Bools:
    """Choose U for given components V: for each row of A the components that describe it best.

    Best of all subsets where these are few enough to try, else of those that greedy choice, single
    switches and a fixed number of trials reach. A row's answer depends on that row and on V alone.

    Returns
    -------
    ndarray of bool, of shape (n, k)
    """
    A = as_matrix(A)
    V = boolean_array(V, "V")
    if V.shape[1] != A.shape[1]:
        raise InputError(f"V has {V.shape[1]} columns, but the matrix has {A.shape[1]}.")
    memberships = A.map_rows(_described, V, weights or Weights(), n_jobs=n_jobs)
    return unpack(memberships, V.shape[0])


def _described(A: BooleanMatrix, V: Bools, weights: Weights, n_jobs: int | None) -> Words:
    """Return the components of each row, packed."""
    lines = lines_of(A, 0)
    others, component_bits = pack(V.T), pack(V)
    memberships = np.zeros((A.shape[0], others.shape[1]), dtype=np.uint64)
    every = np.full(others.shape[1], ~np.uint64(0))
    pending = np.ones(A.shape[0], dtype=np.bool_)
    side = Side(lines, others, component_bits, np.empty((0, 0), dtype=np.int64))
    prices = Prices(weights.missed, weights.extra)
    effort = Effort(NODES_AT_LAST, afresh=True)
    over_ranges(
        lambda low, high: improve_lines(
            side,
            low,
            high,
            every,
            every,
            prices,
            effort,
            memberships,
            pending,
            Workspace.of(component_bits),
        ),
        A.shape[0],
        n_jobs,
    )
    return memberships


def agree(
    A: BooleanMatrix,
    U: Bools,
    V: Bools,
    weights: Weights | None = None,
    n_jobs: int | None = None,
) -> Bools:
    """Let each row have what `describe` gives it, where that costs neither more nor less.

    Of memberships that are equally good, a method may find one and `describe` another.

    Returns
    -------
    ndarray of bool, of shape (n, k)
    """
    weights = weights or Weights()
    lines, component_bits = lines_of(A, 0), pack(V)

    def costs(memberships: Bools) -> NDArray[np.int64]:
        packed, result = pack(memberships), np.empty(A.shape[0], dtype=np.int64)
        prices = Prices(weights.missed, weights.extra)
        over_ranges(
            lambda low, high: line_costs(lines, low, high, packed, component_bits, prices, result),
            A.shape[0],
            n_jobs,
        )
        return result

    described = describe(A, V, weights, n_jobs)
    return np.where((costs(U) == costs(described))[:, None], described, U)
