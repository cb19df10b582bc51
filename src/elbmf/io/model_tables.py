r"""Tables of a model for reading: which rows and columns are in which component.

``components.tsv``
    component, number of rows, number of columns, row names, column names.
``rows.tsv`` and ``columns.tsv``
    A name, the components it is in (none, one or several) and, where these are known, its margins
    there, in the same order: by how much the loss would go up if it were not in the component.

Components count from 0, as the columns of U do. Lists are joined by commas. Within names, a
backslash comes before each backslash and, in lists, each comma; tab, line feed and carriage
return are written as ``\t``, ``\n`` and ``\r``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from scipy import sparse

from elbmf.io.text.lines import harmless

if TYPE_CHECKING:
    from elbmf.io.model import SavedModel
    from elbmf.search.margins import Margins

__all__ = ["MODEL_TABLES", "escaped", "write_tables"]

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def escaped(name: str) -> str:
    """Return a name without tabs and line ends."""
    return name.translate(_ESCAPES)


def _joined(names: list[str]) -> str:
    return ",".join(escaped(name).replace(",", "\\,") for name in names)


def _component_lines(model: SavedModel, margins: Margins | None) -> Iterator[str]:
    yield "component\trow_count\tcolumn_count\trows\tcolumns"
    for component, (rows, columns) in enumerate(model.components()):
        counts = f"{component}\t{len(rows)}\t{len(columns)}"
        yield f"{counts}\t{_joined(rows)}\t{_joined(columns)}"


def _membership_lines(
    title: str,
    names: list[str] | None,
    members: sparse.csr_array,  # Lines by components; its entries are margins, if they are known
    with_margins: bool,
) -> Iterator[str]:
    yield f"{title}\tcomponents" + ("\tmargins" if with_margins else "")
    members = members.sorted_indices()
    components = [str(each) for each in members.indices.tolist()]
    margins = [f"{each:.10g}" for each in members.data.tolist()] if with_margins else []
    for position, (low, high) in enumerate(pairwise(members.indptr.tolist())):
        name = str(position) if names is None else escaped(names[position])
        weighed = "\t" + ",".join(margins[low:high]) if with_margins else ""
        yield f"{name}\t{','.join(components[low:high])}{weighed}"


def _row_lines(model: SavedModel, margins: Margins | None) -> Iterator[str]:
    members = model.U if margins is None else margins.rows
    return _membership_lines("row", model.row_names, members, margins is not None)


def _column_lines(model: SavedModel, margins: Margins | None) -> Iterator[str]:
    members = (model.V if margins is None else margins.columns).T.tocsr()
    return _membership_lines("column", model.column_names, members, margins is not None)


MODEL_TABLES: dict[str, Callable[[SavedModel, Margins | None], Iterator[str]]] = {
    "components.tsv": _component_lines,
    "rows.tsv": _row_lines,
    "columns.tsv": _column_lines,
}


def write_tables(
    folder: Path, model: SavedModel, margins: Margins | None, *, escape_formulas: bool
) -> None:
    """Write all tables of a model."""
    if escape_formulas:
        names = (model.row_names, model.column_names)
        rows, columns = (each and [harmless(name) for name in each] for each in names)
        model = replace(model, row_names=rows, column_names=columns)
    for file_name, lines in MODEL_TABLES.items():
        with open(folder / file_name, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(line + "\n" for line in lines(model, margins))
