"""What factors must, may and must not be, and which of these wishes cannot be met together."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.product import Bools, boolean_array, boolean_product
from elbmf.errors import InputError, Line, Setting
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["Constraints", "FixedComponents", "conflict", "fixed_components"]

# Parameters by what they limit: rows and columns.
MIN_LINES = ("min_rows", "min_columns")
MAX_LINES = ("max_rows", "max_columns")
PER_LINE = ("max_components_per_row", "max_components_per_column")
# And the others, by the fields below.
_OTHERS = {
    "forbidden_cells": "forbidden",
    "required_cells": "required",
    "separate_columns": "apart",
    "fixed_components": "fixed",
}
_LINES = ("row", "column")


class FixedComponents(NamedTuple):
    """Components that are kept as they are: their columns, and perhaps their rows."""

    V: Bools
    U: Bools | None = None


@dataclass(frozen=True)
class Constraints:
    """What all factors of a matrix must keep to.

    Pairs are for rows and for columns. A component without any rows or columns is empty, and keeps
    to all of them.

    Parameters
    ----------
    least, most : pair of int or None
        Lines that a component has.
    per_line : pair of int or None
        Components that a line is in at most.
    forbidden, required : BooleanMatrix, optional
        Cells that may not be covered, and cells that must be.
    apart : ndarray of int64, of shape (pairs, 2)
        Columns that may not be in one component.
    fixed : FixedComponents, optional
        The first components.
    from_below : bool
        Whether no zero may be covered.
    """

    least: tuple[int | None, int | None] = (None, None)
    most: tuple[int | None, int | None] = (None, None)
    per_line: tuple[int | None, int | None] = (None, None)
    forbidden: BooleanMatrix | None = None
    required: BooleanMatrix | None = None
    apart: NDArray[np.int64] | None = None
    fixed: FixedComponents | None = None
    from_below: bool = False

    @property
    def n_fixed(self) -> int:
        """Number of components that are fixed."""
        return 0 if self.fixed is None else self.fixed.V.shape[0]

    @property
    def in_force(self) -> list[Setting]:
        """What is asked for, as parameters; not what follows from the price of a zero."""
        names = (*MIN_LINES, *MAX_LINES, *PER_LINE)
        limits = zip(names, (*self.least, *self.most, *self.per_line), strict=True)
        settings = [Setting(name, value) for name, value in limits if value is not None]
        others = [name for name, field in _OTHERS.items() if getattr(self, field) is not None]
        return settings + [Setting(name) for name in others]

    def without(self, name: str) -> "Constraints":
        """Return the others."""
        changes: dict[str, Any] = {}
        for field, names in (("least", MIN_LINES), ("most", MAX_LINES), ("per_line", PER_LINE)):
            pair = zip(names, getattr(self, field), strict=True)
            changes[field] = tuple(None if each == name else own for each, own in pair)
        if name == "extra_weight":
            changes["from_below"] = False
        elif name in _OTHERS:
            changes[_OTHERS[name]] = None
        return replace(self, **changes)

    def check(self, A: BooleanMatrix, k: int | None) -> None:
        """Raise where two of the wishes cannot both be met, whatever the factors are.

        Not all that is impossible is found that way: some shows only in the search.

        Raises
        ------
        InputError
            Which names two that contradict each other.
        """
        for axis in (0, 1):
            least, most = self.least[axis], self.most[axis]
            if least is not None and most is not None and least > most:
                raise conflict(Setting(MIN_LINES[axis], least), Setting(MAX_LINES[axis], most))
            if least is not None and least > A.shape[axis]:
                raise InputError(
                    Setting(MIN_LINES[axis], least),
                    f" asks for more {_LINES[axis]}s than the {A.shape[axis]} that the matrix has.",
                )
        if self.forbidden is not None and self.required is not None:
            both = self.forbidden.to_csr().multiply(self.required.to_csr()).tocoo()
            if both.nnz:
                raise conflict(
                    Setting("forbidden_cells"),
                    Setting("required_cells"),
                    *_cell(both),
                    " is in both",
                )
        if self.from_below and self.required is not None:
            zeros = (self.required.to_csr(np.int8) - _may_be_covered(A) > 0).tocoo()
            if zeros.nnz:
                raise conflict(
                    Setting("required_cells"),
                    Setting("extra_weight", np.inf),
                    *_cell(zeros),
                    " is a zero",
                )
        if self.fixed is not None:
            self._check_fixed(A, self.fixed, k)

    def _check_fixed(self, A: BooleanMatrix, fixed: FixedComponents, k: int | None) -> None:
        V, U = fixed
        setting = Setting("fixed_components")
        if k is not None and k < V.shape[0]:
            raise conflict(setting, Setting("n_components", k), f"{V.shape[0]} are fixed")
        for axis, lines in [(1, V)] if U is None else [(1, V), (0, U.T)]:
            for l, size in enumerate(lines.sum(axis=1)):
                if size == 0 and axis == 1:
                    raise InputError(
                        setting, f": component {l} has no columns. Leave it out, or give it some."
                    )
                broken = self._broken_size(axis, int(size))
                if size and broken is not None:
                    what = f"component {l} has {_count(int(size), axis)}"
                    raise conflict(setting, broken, what)
            limit, counts = self.per_line[axis], lines.sum(axis=0)
            if limit is not None and counts.max(initial=0) > limit:
                i = int(counts.argmax())
                many = f" is in {counts[i]} components"
                raise conflict(setting, Setting(PER_LINE[axis], limit), Line(axis, i), many)
        for first, second in [] if self.apart is None else self.apart:
            together = np.flatnonzero(V[:, first] & V[:, second])
            if together.size:
                both = Line(1, int(first)), " and ", Line(1, int(second))
                what = f" are both in component {together[0]}"
                raise conflict(setting, Setting("separate_columns"), *both, what)
        if U is not None:
            covered = boolean_product(U, V)
            if self.forbidden is not None:
                _require_none(covered.multiply(self.forbidden.to_csr()), "forbidden_cells")
            if self.from_below:
                zeros = covered.astype(np.int8) - _may_be_covered(A)
                _require_none(zeros > 0, "extra_weight", np.inf)

    def _broken_size(self, axis: int, size: int) -> Setting | None:
        """Return the limit that a component with so many lines does not keep to."""
        least, most = self.least[axis], self.most[axis]
        if least is not None and size < least:
            return Setting(MIN_LINES[axis], least)
        if most is not None and size > most:
            return Setting(MAX_LINES[axis], most)
        return None

    def uncovered(self, U: Bools, V: Bools) -> NDArray[np.int64]:
        """Return the required cells, as pairs, that factors do not cover."""
        if self.required is None:
            return np.empty((0, 2), np.int64)
        cells = np.stack(self.required.to_csr().nonzero(), axis=1).astype(np.int64)
        covered = np.logical_and(U[cells[:, 0]], V[:, cells[:, 1]].T).any(axis=1)
        return cells[~covered]


def conflict(first: Setting, second: Setting, *why: str | Line) -> InputError:
    """Return the error that two wishes cannot both be met."""
    reason = (": ", *why) if why else ()
    return InputError(first, " and ", second, " contradict each other", *reason, ". Change one.")


def _cell(cells: Any) -> tuple[str | Line, ...]:
    """Return the first of some cells, as a message names it."""
    return "the cell in ", Line(0, int(cells.row[0])), " and ", Line(1, int(cells.col[0]))


def _require_none(cells: Any, name: str, value: Any = ...) -> None:
    """Raise where fixed components cover cells that they may not."""
    cells = cells.tocoo()
    if cells.nnz:
        what = "a component covers ", *_cell(cells)
        raise conflict(Setting("fixed_components"), Setting(name, value), *what)


def _may_be_covered(A: BooleanMatrix) -> Any:
    """Return the cells that are no zeros."""
    ones = A.to_csr(np.int8)
    return ones if A.missing is None else ones + A.missing.to_csr(np.int8)


def _count(lines: int, axis: int) -> str:
    return f"{lines} {_LINES[axis]}{'s' * (lines != 1)}"


def fixed_components(given: Any, shape: tuple[int, int]) -> FixedComponents:
    """Read components that are to be kept: V, or U and V."""
    if isinstance(given, tuple) and len(given) != 2:
        raise InputError(
            f"fixed_components must be V, or a pair (U, V); got a tuple of {len(given)}."
        )
    U, V = given if isinstance(given, tuple) else (None, given)
    V = boolean_array(V, "fixed_components")
    if V.shape[1] != shape[1]:
        raise InputError(
            f"fixed_components must have a column for each of the {shape[1]} columns of the "
            f"matrix; got {V.shape[1]}. Pass V of shape (components, columns), or (U, V)."
        )
    if U is None:
        return FixedComponents(V)
    U = boolean_array(U, "U of fixed_components")
    if U.shape != (shape[0], V.shape[0]):
        raise InputError(
            f"U of fixed_components must be of shape ({shape[0]}, {V.shape[0]}), rows of the "
            f"matrix times components; got {U.shape}."
        )
    return FixedComponents(V, U)
