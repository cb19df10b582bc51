"""The search for factors that keep to constraints."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.boolean.coverage import Weights, cover
from elbmf.boolean.line_weights import LineWeights
from elbmf.boolean.packed import unpack
from elbmf.boolean.product import Bools, Words, pack
from elbmf.kernels.compiling import address_of
from elbmf.matrix.boolean_matrix import BooleanMatrix, as_matrix
from elbmf.search.constrained.constraints import Constraints, FixedComponents
from elbmf.search.constrained.kernels.adapting import work_within
from elbmf.search.constrained.kernels.assigning import assign_lines
from elbmf.search.constrained.kernels.choosing import choose_lines
from elbmf.search.constrained.kernels.evolving import evolve_within
from elbmf.search.constrained.kernels.state import Cells, Factors, Rules, Task
from elbmf.search.kernels.lines import Effort
from elbmf.search.local import MOST_TURNS, LocalSearch, describe, pattern_of
from elbmf.utils.alarm import Alarm
from elbmf.utils.tuning import TUNING

__all__ = ["ConstrainedSearch", "describe_within", "with_fixed"]

_ENDLESS = np.iinfo(np.int64).max
# So that sums of what required cells are worth stay within a word.
_MOST_WORTH = 1 << 61


class ConstrainedSearch:
    """The data as it is searched for factors that keep to constraints."""

    def __init__(
        self,
        A: BooleanMatrix,
        weights: Weights,  # What the two kinds of error cost
        constraints: Constraints,
        lines: LineWeights | None = None,  # How often each row and each column counts
        alarm: Alarm | None = None,  # Ends it, as soon as the constraints are kept
    ) -> None:
        self._A, self._weights, self._constraints, self._lines = A, weights, constraints, lines
        self._alarm = alarm or Alarm()
        copies = (None, None) if lines is None else (lines.rows, lines.columns)
        each = [
            np.ones(length, np.int64) if own is None else own
            for own, length in zip(copies, A.shape, strict=True)
        ]
        whole = (weights.missed + weights.extra) * int(each[0].sum()) * int(each[1].sum())
        count = 0 if constraints.required is None else constraints.required.ones
        required = min(whole + 1, _MOST_WORTH // (count + 1))
        self.task = Task(
            lines=(pattern_of(A, 0), pattern_of(A, 1)),
            weights=(each[0], each[1]),
            prices=np.array([weights.missed, weights.extra, required]),
        )

    def improve(
        self,
        U: Bools,
        V: Bools,  # Factors to begin with, those components first that are fixed
        k: int,  # Components to have at most, with those that are fixed
        seed: int,
        most_work: float,  # To do at most, about in nanoseconds
        max_cost: int = 0,  # What is good enough
        *,
        searched: bool = True,  # Whether factors that keep to them are to be left as they are
        # Whether components are not exchanged, do not adapt to those that grow, and are left out
        # where the time is up before they keep to the constraints
        hasty: bool = False,
    ) -> tuple[Bools, Bools]:
        """Make factors that keep to the constraints, those that are fixed first.

        Whether all required cells are covered is to be looked at.
        """
        constraints, slots = self._constraints, max(k, V.shape[0])
        most = constraints.per_line[0]
        if most is not None and (constraints.fixed is None or constraints.fixed.U is None):
            many = U.sum(axis=1) > most
            if many.any():
                alarm = self._alarm if hasty else None
                few = describe_within(self._A, V, self._weights, most, alarm=alarm)
                U, searched = np.where(many[:, None], few, U), False
        factors = self._opened(slots, seed, most_work)
        rows, columns = pack(U.T), pack(V)
        patience = 0 if hasty else TUNING.vain_exchanges * k
        rules = _rules(self._constraints, (slots, V.shape[1]))
        given, one = (self.task, rules, factors), np.int64(1)
        choose = address_of(choose_lines, *given, one, one, one)
        work_on = address_of(work_within, *given, choose, one, one)
        addresses = (choose, work_on, address_of(assign_lines, *given, one))
        goal = self._value_without(factors) - max_cost if patience else 0
        evolve_within(*given, addresses, rows, columns, searched, hasty, k, patience, goal)
        U, V = self._unpacked(factors)
        if slots == k:
            return U, V
        order = np.argsort(~V.any(axis=1), kind="stable")[:k]
        return np.ascontiguousarray(U[:, order]), V[order]

    def _unpacked(self, factors: Factors) -> tuple[Bools, Bools]:
        V = unpack(factors.component_bits[1], self._A.shape[1])
        return unpack(factors.memberships[0], V.shape[0]), V

    def _value_without(self, factors: Factors) -> int:
        """Return what components would be worth that leave no error beside those in ``factors``."""
        U, V = self._unpacked(factors)
        required = len(self._constraints.uncovered(U, V)) * int(self.task.prices[2])
        return self.cost(U, V) + required

    def cost(self, U: Bools, V: Bools) -> int:
        """Return what factors cost, not counting required cells."""
        if self._lines is None:
            return cover(self._A, U, V).cost(self._weights)
        return int(self._lines.in_copies.cover(self._A, U, V).cost(self._weights))

    def _opened(self, k: int, seed: int, work: float) -> Factors:
        """Return factors that have nothing but the components that are fixed."""
        n, m = self._A.shape
        U, V = np.zeros((n, k), np.bool_), np.zeros((k, m), np.bool_)
        fixed = self._constraints.fixed
        if fixed is not None:
            V[: fixed.V.shape[0]] = fixed.V
            if fixed.U is not None:
                U[:, : fixed.U.shape[1]] = fixed.U
        return _opened(U, V, seed, work, self._alarm)


def with_fixed(
    local: LocalSearch,
    fixed: FixedComponents | None,
    U: Bools,
    V: Bools,  # Factors that were found around them
) -> tuple[Bools, Bools]:
    """Put fixed components before others, and let all of them adapt as far as they may."""
    if fixed is None:
        return U, V
    rows, alike = _described_by(local, fixed), np.zeros(V.shape[0], np.bool_)
    if fixed.U is None:
        for l, columns in enumerate(fixed.V):
            same = np.flatnonzero((columns == V).all(axis=1) & ~alike)
            if same.size:
                # It was found, with rows that were weighed beside all others.
                rows[:, l], alike[same[0]] = U[:, same[0]], True
        U, V = U[:, ~alike], V[~alike]
    count, k = fixed.V.shape[0], fixed.V.shape[0] + V.shape[0]
    factors = local.pack(np.hstack([rows, U]), np.vstack([fixed.V, V]))
    free = pack((np.arange(k) >= count)[None])[0]
    sides = (factors.every if fixed.U is None else free, free)
    quiet = 0
    for turn in range(MOST_TURNS):
        changed, _, _ = local.improve(factors.bits, turn % 2, sides[turn % 2], Effort(local.nodes))
        quiet = 0 if changed else quiet + 1
        if quiet == 2 or local.alarm.rung:
            break
    return factors.to_arrays()


def _described_by(local: LocalSearch, fixed: FixedComponents) -> Bools:
    """Return the rows of fixed components: as given, or those that they describe best."""
    if fixed.U is not None:
        return fixed.U
    return describe(local.A, fixed.V, local.weights, local.n_jobs)


def describe_within(
    A: Any,
    V: Bools,
    weights: Weights,
    most: int | None,  # Components that a row has at most; any number if it is not said
    n_jobs: int | None = None,
    alarm: Alarm | None = None,  # Ends it; the rows that are left then have no components
) -> Bools:
    """Do what `describe` does, with so many components for a row at most.

    Where it has more, those that pay most are chosen one by one, then one in place of another.
    """
    U = describe(A, V, weights, n_jobs)
    if most is None or not (U.sum(axis=1) > most).any():
        return U
    given = (V, weights, most, alarm or Alarm())
    packed = as_matrix(A).map_rows(_described_within, *given, n_jobs=n_jobs)
    few = unpack(packed, V.shape[0])
    return np.where((U.sum(axis=1) > most)[:, None], few, U)


def _described_within(
    A: BooleanMatrix, V: Bools, weights: Weights, most: int, alarm: Alarm, n_jobs: int | None
) -> Words:
    """Return the components of each row, packed."""
    constraints = Constraints(per_line=(most, None))
    search = ConstrainedSearch(A, weights, constraints)
    U = np.zeros((A.shape[0], V.shape[0]), np.bool_)
    factors = _opened(U, V, 0, np.inf, alarm)
    assign_lines(search.task, _rules(constraints, V.shape), factors, 0)
    return factors.memberships[0]


def _opened(U: Bools, V: Bools, seed: int, work: float, alarm: Alarm) -> Factors:
    """Pack factors, with buffers for work on them."""
    rows, columns = pack(U.T), pack(V)

    def buffers() -> tuple[Words, Words]:
        return np.zeros(rows.shape[1], np.uint64), np.zeros(columns.shape[1], np.uint64)

    return Factors(
        memberships=(pack(U), pack(V.T)),
        component_bits=(rows, columns),
        sizes=np.stack([U.sum(axis=0), V.sum(axis=1)]).astype(np.int64),
        saved=(rows.copy(), columns.copy()),
        covered=buffers(),
        touched=buffers(),
        chosen=buffers(),
        kept=buffers(),
        before=np.zeros(pack(U).shape[1], np.uint64),
        gains=(np.zeros(U.shape[0], np.int64), np.zeros(V.shape[1], np.int64)),
        candidates=(np.zeros(U.shape[0], np.int64), np.zeros(V.shape[1], np.int64)),
        random=np.array([seed, 0], dtype=np.uint64),
        work=np.array([0, min(work, _ENDLESS)], dtype=np.int64),
        alarm=alarm.flag,
    )


def _rules(
    constraints: Constraints,
    shape: tuple[int, int],  # Components and columns
) -> Rules:
    """Return constraints as kernels want them."""

    def limits(pair: tuple[int | None, int | None], default: int) -> NDArray[np.int64]:
        return np.array([default if each is None else each for each in pair], dtype=np.int64)

    apart = sparse.csr_array((shape[1], shape[1]), dtype=np.bool_)
    if constraints.apart is not None:
        first, second = np.vstack([constraints.apart, constraints.apart[:, ::-1]]).T
        apart = sparse.csr_array((np.ones(first.size, np.bool_), (first, second)), apart.shape)
    fixed = constraints.fixed
    rows_too = fixed is not None and fixed.U is not None
    return Rules(
        least=limits(constraints.least, 1),
        most=limits(constraints.most, _ENDLESS),
        per_line=limits(constraints.per_line, _ENDLESS),
        forbidden=_cells(constraints.forbidden),
        required=_cells(constraints.required),
        apart=_pattern(apart.indptr, apart.indices),
        fixed=np.array([rows_too * constraints.n_fixed, constraints.n_fixed], dtype=np.int64),
        from_below=constraints.from_below,
    )


def _cells(A: BooleanMatrix | None) -> tuple[Cells, Cells]:
    """Return the ones of a matrix by rows and by columns; without any lines if there are none."""
    nothing = np.empty(0, dtype=np.int64)
    if A is None or not A.ones:
        return Cells(nothing, nothing), Cells(nothing, nothing)
    return _pattern(*A.lines(0)), _pattern(*A.lines(1))


def _pattern(indptr: Any, indices: Any) -> Cells:
    if not indices.size:
        indptr = indices
    return Cells(indptr.astype(np.int64), indices.astype(np.int64))
