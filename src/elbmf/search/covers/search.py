"""The search for a cover by ever fewer bicliques, part by part."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from elbmf.boolean.packed import unpack
from elbmf.boolean.product import Bools, pack
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.covers.choice import choose_fewest
from elbmf.search.covers.fooling import fooling_set
from elbmf.search.covers.growing import grow_cover
from elbmf.search.covers.kernels.covering import Bicliques, Ground, shrink
from elbmf.search.covers.reduction import Part, Reduction, Table
from elbmf.search.covers.regrowing import regrow_cover
from elbmf.search.starts.concepts import find_concepts
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING

__all__ = ["CoverSearch"]


@dataclass
class _Covered:
    """A part, the best cover of it so far, and how many bicliques it takes at least.

    That by the lines of the shorter side may be smaller, but nothing smaller is near to it.
    """

    part: Part
    U: Bools
    V: Bools
    at_least: int = 1
    fooled: int = 1  # Size of the largest fooling set

    @property
    def size(self) -> int:
        return min(self.V.shape[0], *self.part.table.allowed.shape)

    @property
    def smallest(self) -> tuple[Bools, Bools]:
        """The cover, or that by lines."""
        allowed = self.part.table.allowed
        n, m = allowed.shape
        if self.size == self.V.shape[0]:
            return self.U, self.V
        return (
            (np.eye(n, dtype=np.bool_), allowed) if n < m else (allowed, np.eye(m, dtype=np.bool_))
        )

    @property
    def open(self) -> bool:
        """Whether there may be a smaller one."""
        return self.size > self.at_least

    def take(self, U: Bools, V: Bools) -> None:
        """Take another cover if it is smaller."""
        if V.shape[0] < self.V.shape[0]:
            self.U, self.V = U, V


class CoverSearch:
    """A cover without error, which the search makes smaller, and what is proved of it.

    Parameters
    ----------
    table : Table
    alarm : Alarm
        Ends the search.
    n_jobs : int, optional
        Threads; no result depends on it.
    """

    def __init__(self, table: Table, alarm: Alarm, n_jobs: int | None = None) -> None:
        self._alarm, self._n_jobs = alarm, n_jobs
        self._reduction = Reduction(table)
        self._parts = [_Covered(part, *self._greedy(part)) for part in self._reduction.parts]
        self.work = 0

    @property
    def size(self) -> int:
        """Bicliques of the cover."""
        return sum(part.size for part in self._parts)

    @property
    def at_least(self) -> int:
        """Bicliques that any cover has at least, as far as is known."""
        return sum(part.at_least for part in self._parts)

    @property
    def fooled(self) -> int:
        """Ones no two of which fit in one biclique, as many as were found."""
        return sum(part.fooled for part in self._parts)

    def cover(self) -> tuple[Bools, Bools]:
        """Return the cover, of the whole table."""
        n, m = self._reduction.table.allowed.shape
        U, V = np.zeros((n, self.size), np.bool_), np.zeros((self.size, m), np.bool_)
        start = 0
        for part in self._parts:
            these = slice(start, start + part.size)
            U[part.part.rows, these], V[these, part.part.columns] = part.smallest
            start += part.size
        return self._reduction.restore(U, V)

    def _greedy(self, part: Part) -> tuple[Bools, Bools]:
        """Cover a part by concepts that cover most, one after the other."""
        A = BooleanMatrix.from_array(part.table.required, missing=part.table.free)
        found = find_concepts(A, None, self._n_jobs, lambda *told: False)
        return found.U, found.V

    def improve(
        self,
        most_work: float,
        seed: int,
        tell: Callable[[int, int, float], bool] = lambda size, at_least, share: False,
    ) -> None:
        """Look for smaller covers, and for proofs that there are none.

        ``tell`` is told of the size, the bound and the share of the work that is done; if it
        returns true, that is all.
        """
        alarm = self._alarm
        chunk, turn = TUNING.first_covering, 0
        while not alarm.rung and self.work < most_work and self.size > self.at_least:
            if tell(self.size, self.at_least, self.work / most_work):
                break
            self._bound(seed + turn, chunk)
            if turn == 0:
                self._choose()
            self._search(chunk, seed + turn)
            chunk, turn = 2 * chunk, turn + 1
        tell(self.size, self.at_least, 1.0)

    def _open_parts(self) -> list[_Covered]:
        return [part for part in self._parts if part.open and not self._alarm.rung]

    def _bound(self, seed: int, chunk: int) -> None:
        """Look for fooling sets, and for covers around them."""
        for part in self._open_parts():
            ones = min(int(part.part.table.required.sum()), TUNING.ones_to_fool)
            # A move takes as long as to look through the neighbours of some ones, packed.
            moves = max(100, int(TUNING.share_of_fooling * chunk / (ones // 4 + 100)))
            table = part.part.table
            found = fooling_set(table, moves, seed, self._alarm)
            part.fooled = max(part.fooled, len(found))
            part.at_least = max(part.at_least, len(found))
            self.work += moves * (ones // 4 + 100) + ones**2
            if part.open and table.allowed.size <= TUNING.cells_to_grow:
                grown = grow_cover(table, found, part.size - 1, chunk, self._alarm)
                self.work += grown.work
                if grown.U is not None and grown.V is not None:
                    part.take(grown.U, grown.V)

    def _choose(self) -> None:
        """Choose from all maximal bicliques, where they are few."""
        for part in self._open_parts():
            left = self._alarm.deadline - time.perf_counter()
            choice = choose_fewest(part.part.table, TUNING.bicliques_to_choose, left)
            if choice is None:
                continue
            part.at_least = max(part.at_least, choice.at_least)
            if choice.U is not None and choice.V is not None:
                part.take(choice.U, choice.V)

    def _search(self, chunk: int, seed: int) -> None:
        """Search from each open part's cover, in several ways at a time."""
        ways = [
            (part, way)
            for part in self._open_parts()
            for way in (self._shrunk, self._regrown, self._grown_anew)
        ]
        seeds = [seed * len(ways) + place for place in range(len(ways))]
        with ThreadPoolExecutor(self._n_jobs) as pool:
            found = list(pool.map(lambda way, seed: way[1](way[0], chunk, seed), ways, seeds))
        for (part, _), (U, V, work) in zip(ways, found, strict=True):
            part.take(U, V)
            self.work += work

    def _regrown(
        self, part: _Covered, most_work: int, seed: int, *, from_scratch: bool = False
    ) -> tuple[Bools, Bools, int]:
        table = part.part.table
        if table.allowed.size > TUNING.cells_to_grow:
            return part.U, part.V, 0
        given = (part.at_least, most_work, seed, self._alarm)
        return regrow_cover(table, part.U, part.V, *given, from_scratch=from_scratch)

    def _grown_anew(self, part: _Covered, most_work: int, seed: int) -> tuple[Bools, Bools, int]:
        return self._regrown(part, most_work, seed, from_scratch=True)

    def _shrunk(self, part: _Covered, most_work: int, seed: int) -> tuple[Bools, Bools, int]:
        allowed, required = part.part.table
        (n, m), k = allowed.shape, part.V.shape[0]
        ground = Ground(pack(allowed), pack(np.ascontiguousarray(allowed.T)), pack(required))
        words = (-(-n // 64), -(-m // 64))
        rows, columns = pack(np.ascontiguousarray(part.U.T)), pack(part.V)
        cover = Bicliques(
            rows=rows,
            columns=columns,
            memberships=_words(n, -(-k // 64)),
            covered=_words(n, words[1]),
            once=_words(n, words[1]),
            uncovered=np.zeros((int(required.sum()), 2), dtype=np.int64),
            row_set=_words(words[0]),
            column_set=_words(words[1]),
            tabu=np.zeros(1 << 18, dtype=np.int64),
            best_rows=rows.copy(),
            best_columns=columns.copy(),
            random=np.array([seed, 0], dtype=np.uint64),
            state=np.array([0, 0, 0, most_work, k], dtype=np.int64),
            alarm=self._alarm.flag,
        )
        shrink(ground, cover, k, part.at_least)
        k = int(cover.state[4])
        U, V = unpack(cover.best_rows[:k], n).T, unpack(cover.best_columns[:k], m)
        return np.ascontiguousarray(U), V, int(cover.state[2])


def _words(*shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=np.uint64)
