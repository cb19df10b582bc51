"""Climbing from Boolean factors: components that adapt one at a time, and are exchanged.

`LocalSearch` weighs subsets of components for every line, which is thorough and takes its time.
A `Climber` only switches single lines of single components, or on long lines one in place of
another, which is quick, so that many factorizations can be looked at.
"""

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.packed import unpack
from elbmf.boolean.product import Bools, Words, pack
from elbmf.kernels.compiling import address_of
from elbmf.search.kernels.adapting import Climb, State, Table, work_on
from elbmf.search.kernels.climbing import evolve
from elbmf.search.kernels.lines import Lines, pack_lines_into_words
from elbmf.search.kernels.matching import match_components
from elbmf.search.kernels.rows import Prices
from elbmf.search.kernels.twins import Twins, hash_lines, link_twins
from elbmf.search.local import LocalSearch
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING

__all__ = ["Climber", "Individual", "Terrain", "twins_of"]


_ENDLESS = np.iinfo(np.int64).max


class Individual(NamedTuple):
    """Factors by their components alone, and what they cost."""

    cost: int
    # The rows and the columns of each component, packed
    rows: Words
    columns: Words

    @classmethod
    def of(cls, U: Bools, V: Bools, cost: int = 0) -> "Individual":
        """Pack Boolean factors."""
        return cls(cost, pack(np.ascontiguousarray(U.T)), pack(V))

    def to_arrays(self, shape: tuple[int, int]) -> tuple[Bools, Bools]:
        """Return U and V as Boolean arrays, whose product has this shape."""
        U, V = unpack(self.rows, shape[0]).T, unpack(self.columns, shape[1])
        return np.ascontiguousarray(U), V

    def crossed(
        self, other: "Individual", draws: NDArray[np.float64], share: float
    ) -> "Individual":
        """Let components be exchanged for those of another that are most like them.

        Those for which a number is drawn that is less than the share.
        """
        k = draws.size
        match = np.empty(k, dtype=np.int64)
        parents = (self.rows, self.columns), (other.rows, other.columns)
        match_components(*parents, np.empty((k + 2, k)), match)
        taken = (draws < share)[:, None]
        rows = np.where(taken, other.rows[match], self.rows)
        columns = np.where(taken, other.columns[match], self.columns)
        return Individual(0, rows, columns)

    def distance(self, other: "Individual") -> int:
        """Count the columns in which components of the same place differ."""
        return int(np.bitwise_count(self.columns ^ other.columns).sum())


class Terrain:
    """The data as climbers want it, for all of them."""

    def __init__(self, local: LocalSearch) -> None:
        self.shape = local.A.shape
        A, lines = local.A, local.lines
        most = max(TUNING.cells_for_masks, int(TUNING.cells_per_one_for_masks * A.ones))
        self.masked = A.cells <= min(most, TUNING.most_cells_for_masks)
        empty = np.empty((0, 0), dtype=np.uint64)
        words, missing = (empty, empty), (empty, empty)
        if self.masked:
            words = _packed_ones(lines[0], A.shape[1]), _packed_ones(lines[1], A.shape[0])
            if A.missing is not None:
                rows, columns = (
                    _packed(line.missing_indptr, line.missing_indices, A.shape[1 - axis])
                    for axis, line in enumerate(lines)
                )
                words, missing = (words[0] | rows, words[1] | columns), (rows, columns)
        twins = twins_of(lines[0]), twins_of(lines[1])
        swaps = min(A.shape) >= TUNING.shortest_line_to_swap
        self.table = Table(lines, twins, words, missing, local.prices, swaps)

    @classmethod
    def of(cls, local: LocalSearch) -> "Terrain":
        """Return that of some data, made once."""
        if local.terrain is None:
            local.terrain = cls(local)
        terrain: Terrain = local.terrain
        return terrain

    def priced(self, prices: Prices) -> "Terrain":
        """Return the same data where errors cost something else."""
        other = copy.copy(self)
        other.table = self.table._replace(prices=prices)
        return other

    def compile(self) -> None:
        """Compile what climbers call, before several of them do."""
        _ = self.address

    @cached_property
    def address(self) -> int:
        """Where the kernel is that others call, compiled for this data."""
        return address_of(work_on, self.table, Climber(self, 1).climb, 0, 0, 0)


class Climber:
    """Factors that are being improved, in one thread."""

    def __init__(
        self,
        terrain: Terrain,
        slots: int,  # Components of what it is given, and to end with, at most
        alarm: Alarm | None = None,  # Ends a climb early
    ) -> None:
        self._terrain = terrain
        shape, slots = terrain.shape, slots + 1
        words = (-(-shape[0] // 64), -(-shape[1] // 64))

        def state() -> State:
            masks = [
                np.zeros((shape[axis], words[1 - axis]) if terrain.masked else (0, 0), np.uint64)
                for axis in (0, 1, 0, 1)
            ]
            return State(
                memberships=_zeros(shape, -(-slots // 64)),
                component_bits=(_words(slots, words[0]), _words(slots, words[1])),
                covered=(masks[0], masks[1]),
                once=(masks[2], masks[3]),
            )

        self.climb = Climb(
            now=state(),
            saved=state(),
            pending=(_words(slots, words[0]), _words(slots, words[1])),
            changed=(_words(words[0]), _words(words[1])),
            costs=np.zeros((4, slots), dtype=np.int64),
            flipped=(_words(words[0]), _words(words[1])),
            swapped=(_words(slots, words[0]), _words(slots, words[1])),
            counts=(np.zeros(shape[0], dtype=np.int64), np.zeros(shape[1], dtype=np.int64)),
            members=np.zeros(slots, dtype=np.int64),
            random=_words(2),
            work=np.zeros(3, dtype=np.int64),
            alarm=(alarm or Alarm()).flag,
        )

    def climb_from(
        self,
        start: Individual,
        wanted: int,  # Components to end with
        seed: int,  # Of the random numbers
        exchanges: int = 0,  # Of components, to try at least
        reseeded: Sequence[int] | NDArray[np.int64] = (),  # Components to grow anew before that
        most_work: float = np.inf,  # After which to end as soon as that can be
        least_work: int = 0,  # Before which exchanges go on, if there are any
    ) -> tuple[Individual, int]:
        """Improve factors; return what they become, and the work."""
        climb, terrain = self.climb, self._terrain
        given = start.rows.shape[0]
        for bits, words in zip(climb.now.component_bits, (start.rows, start.columns), strict=True):
            bits[:given] = words
            bits[given:] = 0
        climb.random[:] = seed, 0
        climb.work[:] = 0, min(most_work, _ENDLESS), least_work
        again = np.asarray(reseeded, dtype=np.int64)
        cost = evolve(terrain.table, climb, terrain.address, wanted, again, exchanges)
        rows, columns = climb.now.component_bits
        used = rows.any(axis=1) & columns.any(axis=1)
        order = np.argsort(~used, kind="stable")[:wanted]
        found = Individual(int(cost), rows[order], columns[order])
        return found, int(climb.work[0])


def _words(*shape: int) -> Words:
    return np.zeros(shape, dtype=np.uint64)


def _zeros(shape: tuple[int, int], words: int) -> tuple[Words, Words]:
    return _words(shape[0], words), _words(shape[1], words)


def _packed_ones(lines: Lines, length: int) -> Words:
    """Return the ones of lines of some length, packed, as they may be already."""
    return lines.words if lines.words.size else _packed(lines.indptr, lines.indices, length)


def _packed(indptr: NDArray[Any], indices: NDArray[Any], length: int) -> Words:
    """Pack what a pattern names, in lines of some length."""
    words = _words(indptr.size - 1, -(-length // 64))
    pack_lines_into_words(indptr, indices, words)
    return words


def twins_of(lines: Lines) -> Twins:
    """Find the lines that are equal."""
    n = lines.indptr.size - 1
    hashes = np.empty(n, dtype=np.uint64)
    hash_lines(lines, hashes)
    order = np.argsort(hashes, kind="stable")
    twins = Twins(_words(-(-n // 64)), np.empty(n, np.int64), np.empty(n, np.int64))
    link_twins(lines, hashes, order, *twins)
    return twins
