"""Constraints as parameters of a method, and fits that keep to them."""

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import cover
from elbmf.boolean.fitted import FittedFactors
from elbmf.boolean.line_weights import LineWeights
from elbmf.boolean.product import Bools, boolean_product
from elbmf.errors import InputError, Line, Setting
from elbmf.estimators.base import estimator
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.criteria import savings
from elbmf.search.constrained.constraints import Constraints, FixedComponents, fixed_components
from elbmf.search.constrained.search import (
    ConstrainedSearch,
    describe_within,
    with_fixed,
)
from elbmf.search.local import LocalSearch
from elbmf.utils.alarm import Alarm
from elbmf.utils.constraints import HasMethods, Interval
from elbmf.utils.tuning import TUNING

if TYPE_CHECKING:
    from elbmf.estimators.elbmf import ELBMF

__all__ = ["CONSTRAINTS", "ConstraintParameters", "fit_within", "listed", "unmet"]

_A_NUMBER = [Interval(Integral, 1, None, closed="left"), None]
_A_MASK = ["array-like", "sparse matrix", HasMethods(["to_csr"]), None]


@estimator
class ConstraintParameters:
    """What components must, may and must not be.

    Parameters
    ----------
    min_rows : int, optional
        The fewest rows of a component; one that would have fewer is left out.
    max_rows : int, optional
        The most rows of a component.
    min_columns : int, optional
        The fewest columns of a component; one that would have fewer is left out.
    max_columns : int, optional
        The most columns of a component.
    max_components_per_row : int, optional
        The most components that a row may be in, also in `transform`.
    max_components_per_column : int, optional
        The most components that a column may be in.
    fixed_components : matrix, or (U, V), optional
        Components that are kept exactly and come first: V, of shape (components, columns), or U and
        V, of shapes (rows, components) and (components, columns). They count among the components
        to find; the others are found around them.
    forbidden_cells : matrix of shape (n_samples, n_features), optional
        0/1 mask of cells that are never covered, whatever the cost.
    required_cells : matrix of shape (n_samples, n_features), optional
        0/1 mask of cells that are always covered.
    separate_columns : pairs of columns, optional
        Pairs that are never in the same component, by number, or by name if the data has names.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_rows": _A_NUMBER,
        "max_rows": _A_NUMBER,
        "min_columns": _A_NUMBER,
        "max_columns": _A_NUMBER,
        "max_components_per_row": _A_NUMBER,
        "max_components_per_column": _A_NUMBER,
        "fixed_components": [*_A_MASK, tuple],
        "forbidden_cells": _A_MASK,
        "required_cells": _A_MASK,
        "separate_columns": ["array-like", None],
    }

    min_rows: int | None = None
    max_rows: int | None = None
    min_columns: int | None = None
    max_columns: int | None = None
    max_components_per_row: int | None = None
    max_components_per_column: int | None = None
    fixed_components: Any = None
    forbidden_cells: Any = None
    required_cells: Any = None
    separate_columns: Any = None

    @property
    def _is_constrained(self) -> bool:
        return any(getattr(self, name) is not None for name in CONSTRAINTS)

    @property
    def _n_fixed(self) -> int:
        fixed = self.fixed_components
        if fixed is None:
            return 0
        return int(np.shape(fixed[1] if isinstance(fixed, tuple) else fixed)[0])

    def _constraints(self, A: BooleanMatrix, k: int | None) -> Constraints:
        """Read the constraints, and see that no two of them contradict each other."""
        if not A.in_one_place:
            names = [name for name in CONSTRAINTS if getattr(self, name) is not None]
            raise InputError(
                Setting(names[0]),
                " is not possible for data on a cluster. Fit data that is in one place.",
            )

        def mask(name: str) -> BooleanMatrix | None:
            given = getattr(self, name)
            return None if given is None else BooleanMatrix.mask(given, A.shape, name)

        fixed, apart = self.fixed_components, self.separate_columns
        constraints = Constraints(
            least=(self.min_rows, self.min_columns),
            most=(self.max_rows, self.max_columns),
            per_line=(self.max_components_per_row, self.max_components_per_column),
            forbidden=mask("forbidden_cells"),
            required=mask("required_cells"),
            apart=None if apart is None else self._pairs(apart, A.shape[1]),
            fixed=None if fixed is None else fixed_components(fixed, A.shape),
            from_below=getattr(self, "extra_weight", 1) == np.inf,
        )
        constraints.check(A, k)
        return constraints

    def _pairs(self, given: Sequence[Any], n_columns: int) -> NDArray[np.int64]:
        """Return pairs of columns by their numbers."""
        names = list(getattr(self, "feature_names_in_", ()))
        places = {str(name): place for place, name in enumerate(names)}
        pairs = []
        for pair in map(_as_list, given):
            if len(pair) != 2:
                raise InputError(
                    Setting("separate_columns"), f" takes pairs of columns; got {pair}."
                )
            numbers = [places.get(each, -1) if isinstance(each, str) else each for each in pair]
            for column, place in zip(pair, numbers, strict=True):
                whole = isinstance(place, Integral) and not isinstance(place, bool)
                if not whole or not 0 <= place < n_columns:
                    known = f"the names of columns or 0 to {n_columns - 1}"
                    raise InputError(
                        Setting("separate_columns"),
                        f" names the column {column!r}, which the data does not have. Use {known}.",
                    )
            if numbers[0] == numbers[1]:
                itself = Line(1, int(numbers[0]))
                raise InputError(Setting("separate_columns"), " pairs ", itself, " with itself.")
            pairs.append(numbers)
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _in_order(self: Any, A: BooleanMatrix, fitted: FittedFactors, order: Any) -> FittedFactors:
        """Put components in an order, but those that are fixed first, as they were given."""
        if self._n_fixed:
            order = sorted(order, key=lambda l: min(l, self._n_fixed))
        fitted.U, fitted.V = np.take(fitted.U, order, axis=1), fitted.V[order]
        if self._n_fixed:
            given = (A, fitted.U, fitted.V, self._threads)
            self.bits_saved_ = savings(*given, in_order=True, two_rates=self._has_rates).saved
        return fitted

    def _describe(self: Any, A: Any, V: Bools, columns: LineWeights | None) -> Bools:
        """Return the components of each row, no more than it may have."""
        if columns is not None:
            A, V = columns.repeat(A), columns.spread_columns(V)
        weights, most = self._weights(A.shape), self.max_components_per_row
        return describe_within(A, V, weights, most, self._threads)

    # --- weights of lines: limits count lines, not their copies ---

    def _line_weights(self: Any, A: BooleanMatrix, *given: Any) -> LineWeights | None:
        lines: LineWeights | None = super()._line_weights(A, *given)  # type: ignore[misc]
        self._weighted = None if lines is None else (lines, A)
        if lines is not None and self._is_constrained:
            for axis, name in enumerate(("sample_weight", "feature_weight")):
                copies = (lines.rows, lines.columns)[axis]
                if copies is not None and not copies.all():
                    raise InputError(
                        Setting(name), " must be above 0 with constraints; ",
                        Line(axis, int(copies.argmin())),
                        " has 0. Leave it out of the data, or give it a small weight."
                    )  # fmt: skip
        return lines

    @property
    def _lines(self) -> LineWeights | None:
        """What the lines weigh of which the data of the fit has copies."""
        weighted: Any = getattr(self, "_weighted", None)
        return None if weighted is None else weighted[0]

    def _original(self: Any, A: BooleanMatrix) -> BooleanMatrix:
        """Return the data without copies."""
        return A if self._lines is None else self._weighted[1]

    def _store(self, *given: Any) -> None:
        super()._store(*given)  # type: ignore[misc]
        self.__dict__.pop("_weighted", None)


def _as_list(pair: Any) -> list[Any]:
    """Return the two of a pair, or whatever there is."""
    if isinstance(pair, str) or not hasattr(pair, "__len__"):
        return [pair]
    return [each.item() if isinstance(each, np.generic) else each for each in pair]


CONSTRAINTS = tuple(field.name for field in fields(ConstraintParameters))
"""The names of the parameters."""


def fit_within(model: "ELBMF", A: BooleanMatrix, generator: np.random.Generator) -> FittedFactors:
    """Fit as if there were no constraints, and search on from there.

    Where lines are weighted, the data has copies of them, but the search that follows has not.
    """
    began, k, lines = time.perf_counter(), model._rank, model._lines
    original, weights = model._original(A), model._weights(A.shape)
    constraints = model._constraints(original, k)
    fixed = constraints.fixed
    local = LocalSearch(original, weights, model._threads)
    work = TUNING.share_of_constraints * model._search_work(A)
    plain = copy.copy(model)
    plain.set_params(**dict.fromkeys(CONSTRAINTS))
    deadline = np.inf
    if model.time_limit is not None:
        deadline = began + model.time_limit
        plain.time_limit = (1 - TUNING.share_of_constraints) * model.time_limit

    def beside_fixed(fitted: FittedFactors) -> tuple[Bools, Bools]:
        found = fitted.U, fitted.V
        if lines is not None:
            found = lines.join(A, *found, weights)
        return with_fixed(local, fixed, *found)

    def rows_of_fixed(tried: list[FittedFactors]) -> Bools:
        alone = ConstrainedSearch(original, weights, Constraints(fixed=fixed), lines)
        share = TUNING.share_beside_fixed
        found = [alone.improve(*beside_fixed(each), k, 0, share * work) for each in tried]
        return min(found, key=lambda factors: alone.cost(*factors))[0][:, : constraints.n_fixed]

    if fixed is None:
        fitted = plain._found(A, generator)
    else:
        fitted = _fit_others(plain, A, fixed, rows_of_fixed, generator)
    start = beside_fixed(fitted)
    if fitted.was_stopped:
        work = 0
    elif model.time_limit is not None:
        work = np.inf
    seed = int(generator.integers(1 << 62))

    def kept(constraints: Constraints) -> tuple[Bools, Bools]:
        with Alarm(deadline) as alarm:
            search = ConstrainedSearch(original, weights, constraints, lines, alarm)
            return search.improve(*start, k, seed, work)

    U, V = kept(constraints)
    lacking = constraints.uncovered(U, V)
    if len(lacking):
        row, column = lacking[0]

        def met(others: Constraints) -> bool:
            return not len(constraints.uncovered(*kept(others)))

        cell = Line(0, int(row)), " and ", Line(1, int(column))
        why = ("no component was found to cover the cell in ", *cell)
        raise unmet(constraints, Setting("required_cells"), why, met)
    fitted.U, fitted.V = (U, V) if lines is None else lines.spread(U, V)
    fitted.cost = cover(A, fitted.U, fitted.V, model._threads).cost(weights)
    fitted.stages["constraints"] = fitted.cost
    return fitted


def kept_within(model: "ELBMF", A: BooleanMatrix, U: Bools, V: Bools) -> tuple[Bools, Bools]:
    """Search on from factors to some that keep to the constraints, those that are fixed first."""
    weights = model._weights(A.shape)
    fixed = model._constraints(A, None).fixed
    U, V = with_fixed(LocalSearch(A, weights, model._threads), fixed, U, V)
    constraints = model._constraints(A, len(V))
    search = ConstrainedSearch(A, weights, constraints)
    U, V = search.improve(U, V, len(V), 0, TUNING.share_of_constraints * model._search_work(A))
    used = U.any(axis=0) & V.any(axis=1) | (np.arange(len(V)) < constraints.n_fixed)
    return U[:, used], V[used]


def _fit_others(
    model: "ELBMF",
    A: BooleanMatrix,
    fixed: FixedComponents,
    rows_of_fixed: Callable[[list[FittedFactors]], Bools],  # Which fits of any components tell
    generator: np.random.Generator,
) -> FittedFactors:
    """Fit components beside those that are fixed, on what these leave uncovered."""
    (n, m), k, lines = A.shape, model._rank, model._lines
    rest = k - len(fixed.V)
    if not rest:
        return FittedFactors(np.zeros((n, 0), np.bool_), np.zeros((0, m), np.bool_))
    U = fixed.U
    if U is None and isinstance(model.init, str):
        share, tried = TUNING.share_beside_fixed, []
        short = copy.copy(model).set_params(effort=share * model.effort, checkpoint=None)
        short.max_iter = math.ceil(TUNING.epochs_beside_fixed * model.max_iter)
        model.effort *= TUNING.effort_beside_fixed
        if model.time_limit is not None:
            short.time_limit = share * model.time_limit
            model.time_limit *= 1 - 2 * share
        for count in (k, rest):
            tried.append(short.set_params(n_components=count)._found(A, generator))
            if tried[-1].was_stopped:
                return tried[-1]
        U = rows_of_fixed(tried)
    if U is not None:
        # What they cover counts for nothing any more.
        factors = (U, fixed.V) if lines is None else lines.spread(U, fixed.V)
        A = BooleanMatrix.from_array(A, missing=boolean_product(*factors, model._threads))
        model.n_components = rest
    fitted = model._found(A, generator)
    fitted.bound = 0  # It is that of other data.
    return fitted


def unmet(
    constraints: Constraints,
    wish: Setting,  # What could not be met
    why: tuple[str | Line, ...],
    met: Callable[[Constraints], bool],  # Tells whether it is without one of the others
) -> InputError:
    """Return the error that a wish could not be met, which names another that is in the way."""
    others = [setting for setting in constraints.in_force if setting.name != wish.name]
    # A cover takes as many components as it needs.
    more = "effort" if wish.name == "max_loss" else "components or effort"
    if constraints.from_below:
        others.append(Setting("extra_weight", np.inf))
    for setting in others:
        if met(constraints.without(setting.name)):
            return InputError(
                wish, " and ", setting, " were not met together: ", *why, ". Relax one of them, or "
                f"ask for more {more}."
            )  # fmt: skip
    return InputError(
        wish, " could not be met: ", *why, ", with ", *listed(others),
        f". Relax some of them, or ask for more {more.split()[0]}."
    )  # fmt: skip


def listed(settings: list[Setting]) -> list[str | Setting]:
    """Return parameters with commas between them, for a message."""
    return [part for setting in settings for part in (", ", setting)][1:]
