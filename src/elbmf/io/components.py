"""Components that somebody has, in any form in which they are written: results, tables, pairs.

A saved result or what was exported of one (``component_columns``, JSON), a table with a line for
each component and a column for each column, or pairs of a component and a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse

from elbmf.errors import InputError
from elbmf.io.export import EXPORT_FILES
from elbmf.io.files import reading
from elbmf.io.formats import format_of
from elbmf.io.formats.delimited import CSV, TSV, holds_pairs
from elbmf.io.formats.excel import EXCEL
from elbmf.io.model import load_model
from elbmf.io.read_write import read
from elbmf.io.table import LabelledMatrix
from elbmf.utils.notes import Notes, read_note

__all__ = ["read_components"]

_EXPORTED = [name for name in EXPORT_FILES if name.startswith("component_columns.")]


def read_components(path: Path) -> LabelledMatrix:
    """Read components, one in each row, by name where they have names; others have numbers."""
    if not path.exists():
        raise InputError(
            f"{path}: there is no such result, nor a table of components. Name a folder that "
            "elbmf fit or cover has saved or elbmf export has made, a table with a line for each "
            "component, or pairs of a component and a column."
        )
    if path.is_dir():
        exported = [path / name for name in _EXPORTED if (path / name).is_file()]
        if not exported:
            model = load_model(path)
            return LabelledMatrix(model.V, column_names=model.column_names)
        path = exported[0]
    if path.suffix.lower() == ".json":
        return _of_json(path)
    chosen = format_of(path)
    if chosen in (CSV, TSV):
        return read(path, layout="pairs" if holds_pairs(chosen, path) else "wide")
    return read(path, layout="auto") if chosen is EXCEL else read(path)


@dataclass
class _ComponentNote(Notes):
    """A component, as `export_result` writes it as JSON."""

    component: int | str
    columns: Sequence[str | float]
    name: str | float | None = None


@dataclass
class _ExportedNote(Notes):
    """What is used of a result, as `export_result` writes it as JSON."""

    components: Sequence[_ComponentNote]


def _of_json(path: Path) -> LabelledMatrix:
    """Read what `export_result` writes as JSON."""
    with reading(path):
        found = read_note(_ExportedNote, path, "Write it with elbmf export.").components
    names = [str(each.component if each.name is None else each.name) for each in found]
    sets = [list(map(str, each.columns)) for each in found]
    columns = {name: at for at, name in enumerate(dict.fromkeys(chain(*sets)))}
    V = np.zeros((len(found), len(columns)), np.bool_)
    for l, own in enumerate(sets):
        V[l, [columns[name] for name in own]] = True
    return LabelledMatrix(sparse.csr_array(V), names, list(columns))
