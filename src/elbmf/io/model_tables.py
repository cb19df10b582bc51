r"""Tables of a model for reading: which rows and columns are in which component.

``components.tsv``
    component, number of rows, number of columns, row names, column names.
``rows.tsv`` and ``columns.tsv``
    A name, and the components it is in (none, one or several).

Components count from 0, as the columns of U do. Lists are joined by commas. Within names, a
backslash comes before each backslash and, in lists, each comma; tab, line feed and carriage
return are written as ``\t``, ``\n`` and ``\r``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elbmf.io.model import SavedModel

__all__ = ["MODEL_TABLES", "escaped"]

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def escaped(name: str) -> str:
    """Return a name without tabs and line ends."""
    return name.translate(_ESCAPES)


def _joined(names: list[str]) -> str:
    return ",".join(escaped(name).replace(",", "\\,") for name in names)


def _component_lines(model: SavedModel) -> Iterator[str]:
    yield "component\trow_count\tcolumn_count\trows\tcolumns"
    for component, (rows, columns) in enumerate(model.components()):
        counts = f"{component}\t{len(rows)}\t{len(columns)}"
        yield f"{counts}\t{_joined(rows)}\t{_joined(columns)}"


def _membership_lines(
    title: str, names: list[str] | None, indices: list[int], bounds: list[int]
) -> Iterator[str]:
    yield f"{title}\tcomponents"
    for position in range(len(bounds) - 1):
        name = str(position) if names is None else escaped(names[position])
        components = indices[bounds[position] : bounds[position + 1]]
        yield f"{name}\t{','.join(map(str, components))}"


def _row_lines(model: SavedModel) -> Iterator[str]:
    return _membership_lines(
        "row", model.row_names, model.U.indices.tolist(), model.U.indptr.tolist()
    )


def _column_lines(model: SavedModel) -> Iterator[str]:
    members = model.V.T.tocsr()
    members.sort_indices()
    return _membership_lines(
        "column", model.column_names, members.indices.tolist(), members.indptr.tolist()
    )


MODEL_TABLES: dict[str, Callable[[SavedModel], Iterator[str]]] = {
    "components.tsv": _component_lines,
    "rows.tsv": _row_lines,
    "columns.tsv": _column_lines,
}
