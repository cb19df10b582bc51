"""What figures are about: factors and names, whatever they are handed over in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from elbmf.analysis.labels import label_codes, labels_in_order
from elbmf.boolean.product import boolean_factors
from elbmf.errors import InputError
from elbmf.estimators import BooleanFactorizer
from elbmf.estimators.reading import matrix_of, names_of_model
from elbmf.io import SavedModel
from elbmf.io.table import names_of
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["Subject", "history_of"]

Bools = NDArray[np.bool_]
Names = Sequence[Any] | None


@dataclass(frozen=True, eq=False)
class Subject:
    """A factorization, as figures take it.

    Parameters
    ----------
    U : ndarray of bool, of shape (n, k)
    V : ndarray of bool, of shape (k, m)
    A : BooleanMatrix, optional
        The data.
    row_names, column_names : sequence, optional
        Names, where there are any.
    """

    U: Bools
    V: Bools
    A: BooleanMatrix | None = None
    row_names: Names = None
    column_names: Names = None

    @classmethod
    def of(
        cls, model: Any, A: Any = None, *, row_names: Names = None, column_names: Names = None
    ) -> Subject:
        """Read a fitted estimator, a saved model or a pair (U, V), and the data if it is given.

        Names that are given win over those of the model, and these over those of the data.
        """
        U, V = _factors_of(model)
        U, V = boolean_factors(U, V)
        # Data with the names of a model is in its order by now.
        rows, columns = zip(
            (row_names, column_names), names_of_model(model), names_of(A), strict=True
        )
        matrix = None if A is None else matrix_of(model, A)
        if matrix is not None:
            boolean_factors(U, V, matrix.shape)
        return cls(
            U,
            V,
            matrix,
            _first_names(rows, U.shape[0], "row_names"),
            _first_names(columns, V.shape[1], "column_names"),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.U.shape[0], self.V.shape[1]

    @property
    def n_components(self) -> int:
        """Components, those that cover nothing among them."""
        return int(self.U.shape[1])

    def label_classes(
        self, labels: Any, lines: Literal["rows", "columns"] = "rows", argument: str = "labels"
    ) -> tuple[list[str], NDArray[np.int64]]:
        """Return the names of distinct labels, and which of them each line has; -1 for none.

        Parameters
        ----------
        labels : sequence
            As for `elbmf.analysis.labels.labels_in_order`.
        lines : {"rows", "columns"}
            Whose labels they are.
        argument : str
            What they are called by who hands them over.
        """
        axis = 0 if lines == "rows" else 1
        names = (self.row_names, self.column_names)[axis]
        classes, codes = label_codes(
            labels_in_order(labels, self.shape[axis], names, lines, argument)
        )
        return [str(each) for each in classes], codes

    def name(self, axis: int, line: int) -> str:
        """Return the name of a row (axis 0) or column, or its position from 0."""
        names = (self.row_names, self.column_names)[axis]
        return str(line) if names is None else str(names[line])


def _factors_of(model: Any) -> tuple[Any, Any]:
    if isinstance(model, SavedModel):
        return model.U, model.V
    if isinstance(model, BooleanFactorizer):
        if not hasattr(model, "membership_"):
            reason = (
                "it has seen its rows in pieces and keeps none. Pass (model.transform(A), "
                "model.components_)"
                if hasattr(model, "components_")
                else "it is not fitted. Call fit first"
            )
            raise InputError(f"{type(model).__name__} has no memberships of rows: {reason}.")
        return model.membership_, model.components_
    if isinstance(model, tuple | list) and len(model) == 2:
        return model[0], model[1]
    raise InputError(
        "Expected a fitted estimator, a saved model or a pair (U, V) of factors; got "
        f"{type(model).__name__}."
    )


def _first_names(candidates: Sequence[Names], count: int, what: str) -> Names:
    names = next((each for each in candidates if each is not None), None)
    if names is not None and (isinstance(names, str) or len(names) != count):
        raise InputError(
            f"{what} must be {count} names, one for each of them; got "
            f"{names!r:.40}, which are {len(names)}."
        )
    return names


def history_of(model: Any) -> Mapping[str, NDArray[Any]]:
    """Return the figures of each iteration: those of an estimator or saved model, or a mapping."""
    if isinstance(model, SavedModel):
        model = model.info.history
    if isinstance(model, BooleanFactorizer):
        model = getattr(model, "history_", {})
    if not isinstance(model, Mapping):
        raise InputError(
            "Expected a fitted estimator, a saved model or a history, by name an array with one "
            f"entry for each epoch; got {type(model).__name__}."
        )
    # Saved histories have null where a value was not finite.
    return {name: np.asarray(values, dtype=np.float64) for name, values in model.items()}
