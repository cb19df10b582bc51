"""What is said of a factorization: measures and components, as text and as data."""

import platform
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from elbmf._version import __version__
from elbmf.boolean import component_cover
from elbmf.cli.tables import figures, number, share, shorten, table, times
from elbmf.io import SavedModel
from elbmf.matrix import BooleanMatrix

__all__ = [
    "components",
    "components_table",
    "data",
    "measures_table",
    "measures_text",
    "versions",
]

_MOST_COMPONENTS = 40

_MEASURES = {
    "loss": "loss",
    "relative_loss": "relative loss",
    "similarity": "similarity",
    "recall": "recall",
    "precision": "precision",
    "recall_star": "recall*",
}


def versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    return {"elbmf": __version__, "python": platform.python_version(), "numpy": np.__version__}


def data(name: str, A: BooleanMatrix) -> dict[str, Any]:
    """Return what there is to note of the data."""
    missing = A.cells - A.known
    return {"file": name, "shape": list(A.shape), "ones": A.ones, "missing": missing}


def components(A: BooleanMatrix, model: SavedModel) -> list[dict[str, Any]]:
    """Return size, cover and columns of each component."""
    cover = component_cover(A, model.U, model.V)
    return [
        {
            "component": index,
            "rows": int(cover.rows[index]),
            "columns": int(cover.columns[index]),
            "covered": int(cover.covered[index]),
            "alone": int(cover.alone[index]),
            "precision": float(cover.precision[index]),
            "column_names": column_names,
        }
        for index, (_, column_names) in enumerate(model.components())
    ]


def components_table(described: list[dict[str, Any]]) -> str:
    """Lay out components, those that cover most first."""
    largest = sorted(described, key=lambda each: (-each["covered"], each["component"]))
    rows = [
        [
            str(each["component"]),
            number(each["rows"]),
            number(each["columns"]),
            number(each["covered"]),
            share(each["precision"]),
            shorten(each["column_names"]),
        ]
        for each in largest[:_MOST_COMPONENTS]
    ]
    headers = ["component", "rows", "columns", "ones covered", "precision", "column names"]
    text = table(headers, rows, left=[5])
    if len(largest) > _MOST_COMPONENTS:
        text += f"\n… and {len(largest) - _MOST_COMPONENTS} smaller components"
    return text


def measures_table(measures: Mapping[str, float | None], ones: int) -> list[tuple[str, str]]:
    """Return names and values of measures as text."""
    rows = []
    for key, name in _MEASURES.items():
        value = measures.get(key)
        if key == "loss" and value is not None:
            rows.append((name, f"{number(int(value))} wrong cells, {number(ones)} ones"))
        elif key in measures:
            rows.append((name, share(value)))
    return rows


def measures_text(info: Mapping[str, Any]) -> str:
    """Lay out the measures and the course of a fit, from the notes of a model.

    Models of earlier versions lack some of the notes.
    """
    rows = measures_table(info["measures"], info["data"]["ones"])
    if missing := info["data"].get("missing"):
        rows.append(("missing cells", f"{number(missing)}, which count for nothing"))
    rows.append(("epochs", f"{info['n_iter']} ({info['stop_reason'] or 'done'})"))
    losses = info.get("run_losses", [])
    if len(losses) > 1:
        rows.append(("runs", f"{len(losses)}, losses {', '.join(map(number, losses))}"))
    if info.get("stages"):
        rows.append(("cost by stage", _stages(info["stages"])))
    rows.append(("seconds", times(info["seconds"]).removesuffix(" s")))
    return figures(rows) + _unused_components(info)


def _stages(stages: Sequence[Mapping[str, Any]]) -> str:
    """Say what the factors cost after each stage, and by how much that differs from before."""
    costs = [stage["cost"] for stage in stages]
    changes = [0, *(after - before for before, after in pairwise(costs))]
    return ", ".join(
        f"{stage['stage']} {number(stage['cost'])}" + (f" ({_signed(change)})" if change else "")
        for stage, change in zip(stages, changes, strict=True)
    )


def _signed(change: int) -> str:
    return ("−" if change < 0 else "+") + number(abs(change))


def _unused_components(info: Mapping[str, Any]) -> str:
    """Say in a line of its own that some components are empty, and whether more would help."""
    asked = info.get("parameters", {}).get("n_components")
    used = info.get("n_components_used", asked)
    if used == asked:
        return ""
    enough = ": these already leave no error" if info["measures"]["loss"] == 0 else ""
    return f"\n{number(used)} of {number(asked)} components used{enough}"
