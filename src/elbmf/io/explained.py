"""Why a row has what it has: the components that hold it, or those that cover one of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.errors import InputError
from elbmf.io.export import matrix_beside
from elbmf.io.matching import first_few, nearest_names
from elbmf.io.model import SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["explain"]


def explain(
    model: SavedModel, row: str, column: str | None = None, A: Any = None
) -> dict[str, Any]:
    """Tell which components a row is in, or which of them cover one of its cells, and why.

    Parameters
    ----------
    model : SavedModel
        The components.
    row, column : str
        Names; where rows or columns have none, their positions from 0. Without a column the whole
        row is explained.
    A : array-like, sparse matrix or BooleanMatrix, optional
        What the model was made from, rows and columns in the order of the model.

    Returns
    -------
    dict
        ``row``, ``column`` if there is one, and ``components``: a dict for each component that
        holds the row, or covers the cell. It has the number of the ``component``, how many ``rows``
        and ``columns`` it has, names (``column_names`` for a row, ``row_names`` for a cell), and of
        the data how many of its columns the row has: ``columns_had``, and as a ``share``.

        Of a row also, from the data, ``missed`` and ``extra``, the columns of its ones that no
        component covers and of zeros that are covered, and where it is in no component, the
        ``nearest`` one. Of a cell also its ``value`` (None if it is missing, or there is no data)
        and ``components_of_row``. Where several rows have that name, this is the first of them;
        ``others`` has the same of each other one, and all have their ``place`` from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from elbmf.io import SavedModel, explain
    >>> U, V = np.eye(2, dtype=bool), np.array([[1, 1, 0], [0, 0, 1]], dtype=bool)
    >>> roles = SavedModel(U, V, ["ann", "bob"], ["read", "write", "pay"])
    >>> explain(roles, "ann", A=U @ V)["components"][0]["column_names"]
    ['read', 'write']
    >>> explain(roles, "ann", "pay", U @ V)["components"]
    []
    """
    places = _places(row, model.row_labels(), "row", model.row_names is not None)
    first, *others = (_explained(model, row, at, column, A) for at in places)
    if not others:
        return first
    for place, each in zip(places, (first, *others), strict=True):
        each["place"] = place
    return {**first, "others": others}


def _explained(model: SavedModel, row: str, i: int, column: str | None, A: Any) -> dict[str, Any]:
    """Tell of a row that has a name and a place."""
    names = model.row_labels(), model.column_labels()
    line = None if A is None else _line(matrix_beside(model, A), i)
    V = model.V.toarray()
    held = np.sort(model.U[[i]].indices)
    if column is not None:
        j = _places(column, names[1], "column", model.column_names is not None)[0]
        members = model.U.tocsc()
        return {
            "row": row,
            "column": column,
            "value": None if line is None or line[1][j] else bool(line[0][j]),
            "components": [
                {
                    **_component(model, at, V[at], line),
                    "row_names": [names[0][other] for other in np.sort(members[:, [at]].indices)],
                }
                for at in held[V[held, j]].tolist()
            ],
            "components_of_row": held.tolist(),
        }

    def with_columns(at: int) -> dict[str, Any]:
        its = np.flatnonzero(V[at])
        found = _component(model, at, V[at], line)
        return {**found, "column_names": [names[1][each] for each in its]}

    result: dict[str, Any] = {"row": row, "components": [with_columns(at) for at in held.tolist()]}
    if line is not None:
        has, missing = line
        covered = V[held].any(axis=0)
        for what, cells in (("missed", has & ~covered), ("extra", covered & ~has & ~missing)):
            result[what] = [names[1][each] for each in np.flatnonzero(cells)]
        result["nearest"] = None
        shares = (V & has).sum(axis=1) / np.maximum(V.sum(axis=1), 1)
        if not held.size and shares.any():
            result["nearest"] = with_columns(int(np.argmax(shares)))
    return result


def _component(
    model: SavedModel,
    at: int,
    columns: NDArray[np.bool_],
    line: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None,
) -> dict[str, Any]:
    """Tell how large a component is, and how much of it a row has, where that is known."""
    size = int(columns.sum())
    had = None if line is None else int((columns & line[0]).sum())
    return {
        "component": at,
        "rows": int((model.U.indices == at).sum()),
        "columns": size,
        "columns_had": had,
        "share": None if had is None else had / max(size, 1),
    }


def _places(name: str, known: Sequence[str], noun: str, named: bool) -> list[int]:
    found = [at for at, each in enumerate(known) if each == name]
    if found:
        return found
    # Every other part is names, for those who say the others in the words of a field.
    told = f"there is no {noun} ", repr(name)
    if not named:
        last = len(known) - 1
        raise InputError(
            *told, f"; {noun}s have no names, so they are told by numbers from 0 to {last}."
        )
    nearest = nearest_names(name, known)
    which = "the nearest are" if nearest else f"{noun}s are called"
    raise InputError(*told, f"; {which} ", first_few(nearest or known), ".")


def _line(A: BooleanMatrix, row: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where a row has ones, and where its cells are missing."""
    found = []
    for pattern in (A, A.missing):
        cells = np.zeros(A.shape[1], dtype=np.bool_)
        if pattern is not None:
            cells[pattern.indices[pattern.indptr[row] : pattern.indptr[row + 1]]] = True
        found.append(cells)
    return found[0], found[1]
