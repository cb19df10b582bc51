"""The state of Sofa between two rows: centres in bounded memory, and the clusters they stand for.

A centre stands for the rows that joined it: of these it has only sketches of how often each column
is one. That is enough to tell what covering them by any cluster would gain, and so to choose among
the clusters without seeing the rows again.
"""

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.product import Bools, pack
from elbmf.errors import InputError
from elbmf.estimators.rivals.kernels.centers import (
    State,
    cluster_columns,
    gains_of_clusters,
    regroup,
    take_rows,
)
from elbmf.estimators.rivals.kernels.sketches import Sketches
from elbmf.matrix.boolean_matrix import BooleanMatrix, Pattern

__all__ = ["Centers"]

# A row joins only centres that are very similar to it as long as there is room for all the centres
# this leads to; each time there is not, less will do, down to what the user allows.
_FIRST_SIMILARITY = 0.8
_STEP = 0.1

# After centres were merged or dropped, at least this share of the room for them is free: new ones
# can then gather members before they are judged by them.
_FREE = 0.25


def _short(indices: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return columns as sketches keep them, for any other kind would be compiled for seconds."""
    return indices.astype(np.int32, copy=False)


class Centers:
    """Centres of the rows read so far."""

    def __init__(
        self,
        n_columns: int,  # Length of the rows
        max_centers: int,  # Centres to keep at most
        similarity: float,  # The least similarity at which a row joins a centre
        theta: float,  # Share of a centre's members that are to have a column of its cluster
        sketch_size: int,  # Counters that a sketch is sure to keep; it has room for twice as many
    ) -> None:
        self.n_rows = 0  # Rows read
        self.similarity = max(similarity, _FIRST_SIMILARITY)  # What a row needs at present
        self._least = similarity
        self._theta = theta
        self._size = sketch_size
        self._shape = (max_centers, n_columns)
        # Two, to merge the centres of one into the other.
        self._state, self._spare = self._empty(), self._empty()

    @property
    def count(self) -> int:
        """Number of centres."""
        return int(self._state.total[0])

    def read(self, A: BooleanMatrix, low: int, high: int) -> None:
        """Let the rows from ``low`` to ``high`` join, one by one.

        Raises
        ------
        InputError
            If they are of another length than those read so far.
        """
        if A.shape[1] != self._shape[1]:
            raise InputError(
                f"Expected rows of {self._shape[1]} columns, as those read so far; got "
                f"{A.shape[1]}. Call fit to start over."
            )
        missing: Pattern = (np.zeros(A.shape[0] + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
        if A.missing is not None:
            missing = A.missing.indptr, _short(A.missing.indices)
            if self._state.missing.columns.shape[1] == 0:
                self._state, self._spare = (
                    state._replace(missing=self._sketches(state.ones.columns.shape[1]))
                    for state in (self._state, self._spare)
                )
        self.n_rows += high - low
        columns = _short(A.indices)
        while True:
            low = take_rows(
                (A.indptr, columns),
                missing,
                low,
                high,
                self._state,
                self.similarity,
                self._theta,
                self._size,
            )
            if low == high:
                break
            self._make_room()

    def widen(self, n_columns: int) -> None:
        """Let rows have more columns, in which those read so far are zero."""
        self._shape = (self._shape[0], n_columns)
        room = min(n_columns, 2 * self._size)
        self._state, self._spare = (
            state._replace(
                ones=_with_room(state.ones, room),
                missing=_with_room(state.missing, room if state.missing.columns.size else 0),
                holders=np.pad(state.holders, ((0, n_columns - state.holders.shape[0]), (0, 0))),
            )
            for state in (self._state, self._spare)
        )

    @property
    def saved(self) -> int:
        """What all clusters save, each in the members of its own centre."""
        return int(self._state.saved[: self.count].sum())

    def choose(self, k: int) -> Bools:
        """Choose up to k clusters, each time the one that gains most over all centres.

        Candidates are the clusters of the centres, and those they would have if they were merged
        at any lower similarity. The members of a centre use a cluster where that gains, as far as
        their sketch tells. Of equals, the first is taken. Returns the columns of each.
        """
        columns = self._candidates()
        candidates = np.zeros((len(columns), self._shape[1]), dtype=np.bool_)
        for c, cluster in enumerate(columns):
            candidates[c, cluster] = True
        indptr = np.cumsum([0, *(cluster.size for cluster in columns)])
        pattern = indptr, np.concatenate([np.empty(0, dtype=np.int32), *columns])
        packed = pack(candidates)
        covered = np.zeros((self.count, packed.shape[1]), dtype=np.uint64)
        own = np.zeros((self.count, len(columns)), dtype=np.int64)
        changed = np.arange(self.count)
        chosen: list[int] = []
        while changed.size and len(chosen) < k:
            gains_of_clusters(self._state, pattern, changed, covered, own)
            gains = np.maximum(own, 0).sum(axis=0)
            best = int(np.argmax(gains))
            if gains[best] <= 0:
                break
            chosen.append(best)
            changed = np.flatnonzero(own[:, best] > 0)
            covered[changed] |= packed[best]
        return candidates[chosen]

    def _candidates(self) -> list[NDArray[np.int32]]:
        """Return the columns of each cluster that may be chosen."""
        found = _clusters(self._state)
        order, similarity = self._by_usefulness(), self.similarity
        while True:
            self._regroup(order, self._shape[0], similarity)
            found += _clusters(self._spare)
            if similarity == self._least:
                break
            similarity = self._next(similarity)
        return found

    def _empty(self) -> State:
        s, m = self._shape
        return State(
            np.zeros(1, dtype=np.int64),
            np.zeros(s, dtype=np.int64),
            self._sketches(min(m, 2 * self._size)),
            self._sketches(0),
            np.zeros(s, dtype=np.int64),
            np.zeros(s, dtype=np.int64),
            np.zeros((m, -(-s // 64)), dtype=np.uint64),
        )

    def _sketches(self, room: int) -> Sketches:
        s = self._shape[0]
        return Sketches(
            np.empty((s, room), dtype=np.int32),
            np.empty((s, room), dtype=np.int64),
            np.zeros(s, dtype=np.int64),
        )

    def _make_room(self) -> None:
        """Merge centres that are similar enough; where that is too few, drop the least useful."""
        order = self._by_usefulness()
        most = max(1, int((1 - _FREE) * self._shape[0]))
        while self._regroup(order, most, self.similarity) and self.similarity > self._least:
            self.similarity = self._next(self.similarity)
        self._state, self._spare = self._spare, self._state

    def _by_usefulness(self) -> NDArray[np.int64]:
        """Return the centres that have a cluster, the most useful first."""
        state, count = self._state, self.count
        # A cluster costs its columns once: that a row is like itself is no reason to keep it.
        order = np.argsort(state.sizes[:count] - state.saved[:count], kind="stable")
        return order[state.sizes[order] > 0]

    def _regroup(self, order: NDArray[np.int64], most: int, similarity: float) -> bool:
        """Merge centres into the spare state; return whether some found no room there."""
        return bool(
            regroup(self._state, order, self._spare, most, similarity, self._theta, self._size)
        )

    def _next(self, similarity: float) -> float:
        """Return the similarity to ask for when there is no room with the one given."""
        return max(self._least, round(similarity - _STEP, 9))


def _clusters(state: State) -> list[NDArray[np.int32]]:
    """Return the columns of each cluster."""
    room = np.empty(state.holders.shape[0], dtype=np.int32)
    return [room[: cluster_columns(state, c, room)].copy() for c in range(int(state.total[0]))]


def _with_room(sketches: Sketches, room: int) -> Sketches:
    """Return sketches that can hold more counters."""
    more = ((0, 0), (0, room - sketches.columns.shape[1]))
    return sketches._replace(
        columns=np.pad(sketches.columns, more), counts=np.pad(sketches.counts, more)
    )
