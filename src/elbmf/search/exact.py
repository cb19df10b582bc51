"""Factorizations that are proven to be the best, of small tables into few components.

`solve_exactly` wants to know what the best known factorization costs. As a rule that is the best
there is, and what takes time is to prove it.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.product import Bools
from elbmf.search.kernels.exact import BLOCK, Search, search_on
from elbmf.search.local import LocalSearch

__all__ = ["Exact", "solve_exactly"]

# A price has so many steps to one error, unless numbers become too large for 32 bits.
_SCALE = 256

# Distinct lines of the shorter side: sets of them are bits of a word.
_MOST_COLUMNS = 60

# Numbers of what is kept of all open nodes at once.
_MOST_NUMBERS = 1 << 23

# Rows times prototypes that are tried at once, about, as a power of two.
_MOST_TRIED = 23

# Steps of the prices at each node.
_ROUNDS = 12

# Columns, and work, by which the columns that cannot be tried yet are bounded.
_REST, _WORK_ON_REST = 8, 20_000_000

# Work after which somebody may want it to stop: some hundredths of a second.
_WORK_AT_ONCE = 20_000_000


class Exact(NamedTuple):
    """What is known about the best factorization.

    Parameters
    ----------
    U, V : ndarray of bool, or None
        The best that was found; None if nothing costs less than what was known before.
    cost : int
        What it costs, or what was known before.
    bound : int
        No factorization costs less than this: the cost is the least if it is as low.
    work : int
        What was done, about in nanoseconds.
    """

    U: Bools | None
    V: Bools | None
    cost: int
    bound: int
    work: int

    @property
    def proven(self) -> bool:
        """Whether nothing costs less."""
        return self.bound >= self.cost


def solve_exactly(
    local: LocalSearch,
    k: int,
    below: int,
    most_work: float = np.inf,
    stop: Callable[[], bool] = lambda: False,
) -> Exact:
    """Find a factorization that costs less than what is known, or prove that there is none.

    Parameters
    ----------
    local : LocalSearch
        The data, and what errors cost.
    k : int
        Components, at least 1. Each one more makes it much harder.
    below : int
        What the best known factorization costs.
    most_work : float
        When to give up, about in nanoseconds. The result depends on nothing else.
    stop : callable
        Asked now and then whether to give up.

    Returns
    -------
    Exact
        With a bound that may be far from the cost if it was given up.
    """
    table = _Table.of(local)
    m, n = table.off.shape
    total = int(table.off.sum())
    top = min(below, total + 1) - 1
    scale = _scale(table.off)
    if top < 0 or m > _MOST_COLUMNS or m * m * n > _MOST_NUMBERS or scale == 0:
        return Exact(None, None, below, 0, 0)
    if total == 0:
        return Exact(*table.factors(np.zeros(m, dtype=np.int64), k), 0, 0, 0)
    off, on = table.off * scale, table.on * scale
    most_free = max(_MOST_TRIED - n.bit_length(), _REST)
    search = _search(off, on, k, top * scale)
    work = 0
    for first in range(m - 1, most_free - 1, -1):
        last = min(first + _REST, m)
        part = slice(first, last)
        some = _search(off[part], on[part], k, int(off[part].sum()))
        search_on(some, k, scale, _REST, _ROUNDS, _WORK_ON_REST)
        bound = _open_bound(some, scale) + search.rest[last]
        search.rest[first] = max(bound, search.rest[first + 1])
        work += int(some.state[1])
    while search.state[3] >= 0 and work + search.state[1] < most_work and not stop():
        left = min(most_work - work, float(search.state[1]) + _WORK_AT_ONCE)
        search_on(search, k, scale, most_free, _ROUNDS, math.ceil(left))
    work += int(search.state[1])
    bound = -(-_open_bound(search, scale) // scale)
    if search.best[0] < 0:
        return Exact(None, None, below, below if search.state[3] < 0 else min(bound, below), work)
    U, V = table.factors(search.best, k)
    cost = int(search.state[0]) // scale + 1
    return Exact(U, V, cost, min(bound, cost), work)


class _Table(NamedTuple):
    """The distinct lines that have ones, those of the side with fewer of them as columns."""

    # What it costs not to cover a cell, and to cover it, of shape (m, n)
    off: NDArray[np.int64]
    on: NDArray[np.int64]
    # The column, and the row, of each line of the data; below zero for those without ones
    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    transposed: bool

    @classmethod
    def of(cls, local: LocalSearch) -> "_Table":
        """Merge equal lines: it costs nothing to let them be in the same components."""
        A = local.A
        cells = A.to_csr(np.int8).toarray()
        if A.missing is not None:
            cells[A.missing.to_csr().toarray()] = 2
        (rows, heights), (columns, widths) = _distinct(cells), _distinct(cells.T)
        merged = cells[np.ix_(_firsts(rows), _firsts(columns))]
        each = np.outer(heights, widths)
        off, on = (merged == 1) * local.prices.one * each, (merged == 0) * local.prices.zero * each
        transposed = off.shape[0] < off.shape[1]
        if transposed:
            off, on, merged = off.T, on.T, merged.T
            rows, heights, columns, widths = columns, widths, rows, heights
        # Whatever costs a row more than to be left empty may as well cost little more than that.
        on = np.minimum(on, off.sum(axis=1, keepdims=True) + 1)
        # Columns that go with many others first: they tell most about the rows.
        spread = (merged == 1) - (heights @ (merged == 1)) / max(heights.sum(), 1)
        together = np.abs((heights * spread.T) @ spread) * np.minimum.outer(widths, widths)
        order = np.argsort(-together.sum(axis=1), kind="stable")
        places = np.append(np.argsort(order), -1)
        off, on = (np.ascontiguousarray(costs.T[order]) for costs in (off, on))
        return cls(off, on, places[columns], rows, transposed)

    def factors(self, patterns: NDArray[np.int64], k: int) -> tuple[Bools, Bools]:
        """Return factors of the data for patterns of the columns."""
        sets = np.arange(1 << k)
        meet = (sets[:, None] & patterns) != 0
        costs = np.where(meet[:, :, None], self.on, self.off).sum(axis=1)
        of_rows, of_columns = (
            (np.append(codes, 0)[lines][:, None] >> np.arange(k) & 1).astype(np.bool_)
            for codes, lines in ((costs.argmin(axis=0), self.rows), (patterns, self.columns))
        )
        U, V = (of_columns, of_rows.T) if self.transposed else (of_rows, of_columns.T)
        return U, np.ascontiguousarray(V)


def _distinct(cells: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give numbers to the distinct rows that have ones; return those, and their counts.

    The number is below zero for rows without ones.
    """
    some = (cells == 1).any(axis=1)
    numbers = np.full(some.size, -1, dtype=np.int64)
    _, which, counts = np.unique(cells[some], axis=0, return_inverse=True, return_counts=True)
    numbers[some] = which.ravel()
    return numbers, counts


def _firsts(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each number that is not below zero occurs first."""
    found, first = np.unique(numbers, return_index=True)
    return first[found >= 0]


def _scale(off: NDArray[np.int64]) -> int:
    """Return the scale of the costs, a power of two; 0 if they are too large already."""
    largest = max(int(off.sum()), off.shape[0] * (int(off.sum(axis=0).max(initial=0)) + 1))
    scale = _SCALE
    while scale * largest >= 1 << 30:
        scale //= 2
    return scale


def _search(off: NDArray[np.int64], on: NDArray[np.int64], k: int, top: int) -> Search:
    """Begin a search for costs up to the top."""
    (m, n), every = off.shape, 1 << k

    def short(*shape: int) -> NDArray[np.int32]:
        return np.zeros(shape, dtype=np.int32)

    def long(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, dtype=np.int64)

    search = Search(
        off=short(m + 1, m, n),
        more=short(m + 1, m, n),
        costs=short(m + 1, every, n),
        prices=short(m + 2, n),
        tolls=short(m + 2, every, m),
        most_toll=off.sum(axis=1).astype(np.float64),
        paid=long(every, m),
        asked=long(2, m),
        pulls=np.zeros((every, m)),
        bounds=long(m + 1, every, m),
        columns=long(m + 1, m),
        signs=long(m + 1, every),
        children=long(m + 1, every),
        places=long(4, m + 1),
        rest=long(m + 1),
        best=np.full(m, -1, dtype=np.int64),
        rows=short(5, n),
        blocks=short(n + 3, 1 << BLOCK),
        gains=long(every, 2, m),
        sets=long(5, every),
        free=long(m),
        state=long(4),
    )
    search.off[0], search.more[0] = off, on - off
    search.prices[0] = off.sum(axis=0) * 3 // 5
    search.columns[0] = np.arange(m)
    search.places[1, 0] = -1
    search.places[3, 0] = (1 << (k - 1)) - 1
    search.state[0] = top
    return search


def _open_bound(search: Search, scale: int) -> int:
    """Return what no solution costs less than: the least bound of what has not been searched."""
    least = int(search.state[0]) + scale
    if search.places[1, 0] < 0:
        return 0
    for depth in range(int(search.state[3]) + 1):
        column, low, high = search.places[:3, depth]
        if low >= 0:
            bounds = search.bounds[depth, search.children[depth, low:high], column]
            least = min(least, int(bounds.min(initial=least)))
        else:
            column, low, _ = search.places[:3, depth - 1]
            before = search.children[depth - 1, low - 1]
            least = min(least, int(search.bounds[depth - 1, before, column]))
    return least
