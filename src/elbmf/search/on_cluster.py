"""Boolean local search on data that is spread over a cluster.

As in `elbmf.search.local`, the two sides take turns. The lines of the streamed side are each on one
worker, which improves them like any others. A row of the resident side has cells on all workers:
for one component after the other, these count what each row would gain by entering or leaving it,
and those that gain do so. The loss never rises.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import Cover, Weights, cover
from elbmf.boolean.packed import unpack
from elbmf.boolean.product import Bools, Words, pack
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines.cluster import DaskMatrix
from elbmf.relaxation.engines.cluster.holder import HeldSlab
from elbmf.search.kernels.coordinate_descent import share_cells
from elbmf.search.kernels.lines import Effort, Side, improve_lines
from elbmf.search.kernels.rows import Prices, Workspace
from elbmf.search.kernels.switches import add_marked, add_uncovered
from elbmf.search.local import NODES, NODES_AT_LAST, lines_of, negligible_gain

__all__ = ["ClusterSearch"]

Floats = NDArray[np.floating[Any]]

# Turns of both sides after which even a slow descent is called finished.
_MOST_TURNS = 20


class ClusterSearch:
    """Rounded factors on a cluster, and the descent from there."""

    def __init__(
        self,
        A: DaskMatrix,  # The data, whose workers hold the relaxed streamed factor
        resident: Bools,  # The other factor, rounded
        project: Callable[[Floats], Bools],  # Rounds the streamed factor
        weights: Weights,  # What the two kinds of error cost
    ) -> None:
        self.A = A
        self.resident = resident  # As it is now
        self._weights = weights
        self._k = resident.shape[1]
        self._stale: Words = np.zeros_like(pack(resident[:1])[0])
        A.workers.change(_round_off, project)
        counted: Cover = A.workers.ask(_cover, resident, fold=Cover.__add__)
        self.cost = counted.cost(weights)  # What the factors cost

    @property
    def streamed(self) -> Bools:
        """The streamed factor, of shape (streamed, k); fetched from the workers."""
        memberships = np.concatenate(list(self.A.workers.ask(_memberships).values()))
        return unpack(memberships, self._k)

    def descend(self, observe: Callable[[int], bool] = lambda cost: False) -> None:
        """Let the sides take turns until neither changes, or the observer of the cost says so.

        Where rows are streamed, each then is what a new row would get, unless it has better.
        """
        negligible = negligible_gain(self.A, self._k)
        afresh = False
        for _ in range(_MOST_TURNS):
            before = self.cost
            changed = self._improve_streamed(afresh=afresh)
            changed |= self._improve_resident()
            if observe(self.cost):
                return
            if not changed or before - self.cost < negligible:
                if afresh or self.A.streamed_axis == 1:
                    return
                afresh = True

    def _improve_streamed(self, *, afresh: bool) -> bool:
        component_bits = pack(np.ascontiguousarray(self.resident.T))
        overlaps = np.empty((self._k, self._k), dtype=np.int64)
        share_cells(component_bits, overlaps)
        gained, changed = self.A.workers.change(
            _improve,
            pack(self.resident),
            component_bits,
            overlaps,
            self._stale,
            self._weights,
            afresh,
            fold=_Improved.plus,
        )
        self._stale = np.zeros_like(self._stale)
        self.cost -= int(gained)
        return bool(changed.any())

    def _improve_resident(self) -> bool:
        switched = False
        for l in range(self._k):
            others = self.resident.copy()
            others[:, l] = False
            distinct, which = np.unique(pack(others), axis=0, return_inverse=True)
            scores = self.A.workers.ask(
                _scores, l, distinct, which.ravel(), self._weights, fold=np.add
            )
            on = self.resident[:, l]
            wrong = (scores > 0) & ~on | (scores < 0) & on
            if wrong.any():
                switched = True
                self.resident[wrong, l] ^= True
                self.cost -= int(np.abs(scores[wrong]).sum())
                self._stale |= pack(np.arange(self._k)[None] == l)[0]
        return switched


# What is done on the workers.


class _Improved(NamedTuple):
    """By how much the cost went down, and which components some line entered or left, packed."""

    gained: int
    changed: Words

    def plus(self, other: "_Improved") -> "_Improved":
        return _Improved(self.gained + other.gained, self.changed | other.changed)


class _Rounded:
    """Lines and the components they are in."""

    def __init__(
        self,
        piece: BooleanMatrix,  # The data, a row for each line
        memberships: Words,  # The components of each line, packed
        pending: Bools | None = None,  # Lines to be looked at in any case; all by default
    ) -> None:
        self.lines = lines_of(piece, 0)
        self.memberships = memberships
        self.pending = np.ones(piece.shape[0], np.bool_) if pending is None else pending
        self.patterns: tuple[Words, NDArray[np.int64]] | None = None

    def distinct(self) -> tuple[Words, NDArray[np.int64]]:
        """Return the distinct memberships, and how often each occurs."""
        if self.patterns is None:
            self.patterns = np.unique(self.memberships, axis=0, return_counts=True)
        return self.patterns

    def copies(self) -> tuple[Callable[[HeldSlab, Any], None], Any]:
        """Return how to bring a slab to this state, and from what."""
        return _put_back, (self.memberships.copy(), self.pending.copy())


def _put_back(held: HeldSlab, values: tuple[Words, Bools]) -> None:
    # Received memory cannot be written to, as a rule.
    memberships, pending = values
    held.work = _Rounded(held.piece, memberships.copy(), pending.copy())


def _round_off(held: HeldSlab, project: Callable[[Floats], Bools]) -> None:
    held.work = _Rounded(held.piece, pack(project(held.work.factor.values)))


def _memberships(held: HeldSlab) -> Words:
    found: Words = held.work.memberships
    return found


def _cover(held: HeldSlab, resident: Bools) -> Cover:
    lines = unpack(held.work.memberships, resident.shape[1])
    return cover(held.piece, lines, resident.T, n_jobs=1)


def _improve(
    held: HeldSlab,
    others: Words,
    component_bits: Words,
    overlaps: NDArray[np.int64],
    stale: Words,
    weights: Weights,
    afresh: bool,
) -> _Improved:
    """Improve the lines of a slab, given the other side; as `LocalSearch` does."""
    work = held.work
    if afresh:
        work.pending[:] = True
    every = np.full_like(stale, ~np.uint64(0))
    if work.lines.words.size:
        overlaps = np.empty((0, 0), dtype=np.int64)
    workspace = Workspace.of(component_bits)
    gained = improve_lines(
        Side(work.lines, others, component_bits, overlaps),
        0,
        held.piece.shape[0],
        every,
        stale,
        Prices(weights.missed, weights.extra),
        Effort(NODES_AT_LAST if afresh else NODES, afresh),
        work.memberships,
        work.pending,
        workspace,
    )
    changed = workspace.changed
    if changed.any():
        work.patterns = None
    return _Improved(int(gained), changed)


def _scores(
    held: HeldSlab, l: int, distinct: Words, which: NDArray[np.intp], weights: Weights
) -> NDArray[np.int64]:
    """Count what component ``l`` gains each resident row that is in it, over one that is not.

    ``distinct`` are the other components of these rows, each once, and ``which`` says whose.
    """
    memberships, piece = held.work.memberships, held.piece
    cells = np.zeros(distinct.shape[0], dtype=np.int64)
    add_uncovered(*held.work.distinct(), distinct, l, -weights.extra, cells)
    scores = cells[which]
    others = distinct[which]
    add_marked(*piece.lines(0), memberships, others, l, weights.missed + weights.extra, scores)
    if piece.missing is not None:
        add_marked(*piece.missing.lines(0), memberships, others, l, weights.extra, scores)
    return scores
