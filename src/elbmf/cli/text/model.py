"""What is said of a factorization: measures and components, as text and as data."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from elbmf.boolean.coverage import component_cover
from elbmf.cli.console import Console
from elbmf.cli.text.tables import figures, shorten, table
from elbmf.estimators.rank_search import TITLES
from elbmf.io import SavedModel
from elbmf.io.model import BINARIZE_LIMITS
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.engines.cluster import DaskMatrix
from elbmf.utils.text import number, share, times

__all__ = [
    "brief",
    "components",
    "components_table",
    "measures_table",
    "measures_text",
    "members_table",
    "model_figures",
    "model_text",
    "stream_figures",
    "tell_fit",
]

# Notes of a saved model that are too long to be printed.
_LONG_NOTES = ("history", BINARIZE_LIMITS)

_MOST_COMPONENTS = 40

_MEASURES = {
    "loss": "loss",
    "relative_loss": "relative loss",
    "similarity": "similarity",
    "recall": "recall",
    "precision": "precision",
    "recall_star": "recall*",
}


def brief(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the notes of a saved model without those that are too long to be printed."""
    return {key: value for key, value in info.items() if key not in _LONG_NOTES}


def tell_fit(
    model: SavedModel,
    described: list[dict[str, Any]],
    folder: str,
    console: Console,
    *,
    as_json: bool,
) -> None:
    """Print what a fit has found.

    Parameters
    ----------
    model : SavedModel
        The result.
    described : list of dict
        What `components` returned.
    folder : str
        Where it is saved.
    console : Console
        Where to print.
    as_json : bool
        One object in place of tables.
    """
    if as_json:
        console.result_json({**brief(model.info), "output": folder, "components": described})
    else:
        console.result(measures_text(model.info))
        console.result("\n" + components_table(described))


def components(A: BooleanMatrix | DaskMatrix, model: SavedModel) -> list[dict[str, Any]]:
    """Return size, cover, columns and, where it is known, the saving of each component."""
    cover = component_cover(A, model.U, model.V)
    saved = model.info.get("bits_saved")
    return [
        {
            "component": index,
            "rows": int(cover.rows[index]),
            "columns": int(cover.columns[index]),
            "covered": int(cover.covered[index]),
            "alone": int(cover.alone[index]),
            "precision": float(cover.precision[index]),
            **({} if saved is None else {"bits_saved": saved[index]}),
            "column_names": column_names,
        }
        for index, (_, column_names) in enumerate(model.components())
    ]


def components_table(described: list[dict[str, Any]]) -> str:
    """Lay out components; with what they save, the first are those that save most."""
    layout = {
        "component": "component",
        "rows": "rows",
        "columns": "columns",
        "ones covered": "covered",
        "precision": "precision",
        "bits saved": "bits_saved",
    }
    shown = [(title, key) for title, key in layout.items() if key in described[0]]
    rows = [
        [
            *(
                share(each[key]) if key == "precision" else number(round(each[key]))
                for _, key in shown
            ),
            shorten(each["column_names"]),
        ]
        for each in described[:_MOST_COMPONENTS]
    ]
    text = table([*(title for title, _ in shown), "column names"], rows, left=[len(shown)])
    if len(described) > _MOST_COMPONENTS:
        text += f"\n… and {len(described) - _MOST_COMPONENTS} more components"
    return text


def members_table(model: SavedModel) -> str:
    """Lay out the components as the model has them; of a stream, without rows."""
    saved = model.info.get("bits_saved")
    of_stream = "stream" in model.info
    lines = [
        [
            str(index),
            *([] if of_stream else [number(len(members))]),
            number(len(names)),
            *([] if saved is None else [number(round(saved[index]))]),
            shorten(names),
        ]
        for index, (members, names) in enumerate(model.components())
    ]
    rows = [] if of_stream else ["rows"]
    bits = [] if saved is None else ["bits saved"]
    headers = ["component", *rows, "columns", *bits, "column names"]
    return table(headers, lines, left=[len(headers) - 1])


def stream_figures(info: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of what is noted of a stream."""
    stream = info["stream"]
    pairs = [("rows of the stream", f"{number(stream['rows'])}, memberships not kept")]
    if stream.get("relative_loss_of_last") is not None:
        pairs.append(("relative loss of the last", share(stream["relative_loss_of_last"])))
    return pairs


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
    if info["n_iter"] or "rank_search" not in info:
        # Others count what they report, or what they find.
        whole = {"epoch": "epochs", "sweep": "sweeps"}
        iterations = whole.get(info.get("iteration", "epoch"), "iterations")
        rows.append((iterations, f"{info['n_iter']} ({info['stop_reason'] or 'done'})"))
    losses = info.get("run_losses", [])
    if len(losses) > 1:
        rows.append(("runs", f"{len(losses)}, losses {', '.join(map(number, losses))}"))
    if info.get("stages"):
        rows.append(("cost by stage", _stages(info["stages"])))
    rows.append(("seconds", times(info["seconds"]).removesuffix(" s")))
    return figures(rows) + _chosen_components(info) + _unused_components(info)


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


def _chosen_components(info: Mapping[str, Any]) -> str:
    """Say in a line of its own how the number of components came about, unless it was given."""
    search = info.get("rank_search")
    if search is None:
        return ""
    by = f"chosen by {TITLES[search['criterion']]} among ranks up to {number(search['highest'])}"
    count = search["n_components"]
    if count == 0:
        return f"\nno component at all {by}; one is shown all the same"
    return f"\n{number(count)} component{'s' if count > 1 else ''} {by}"


def _unused_components(info: Mapping[str, Any]) -> str:
    """Say in a line of its own that some components are empty, and whether more would help."""
    asked = info.get("parameters", {}).get("n_components")
    if "rank_search" in info:
        asked = max(info["rank_search"]["n_components"], 1)
    used = info.get("n_components_used", asked)
    # Asked for no number, a method takes as many as it needs.
    if used == asked or asked is None:
        return ""
    enough = ": these already leave no error" if info["measures"]["loss"] == 0 else ""
    return f"\n{number(used)} of {number(asked)} components used{enough}"


def model_figures(model: SavedModel) -> dict[str, Any]:
    """Return what there is to say of a saved result."""
    rows, components, columns = model.shape
    return {
        "shape": {"rows": rows, "components": components, "columns": columns},
        "row_names": model.row_names is not None,
        "column_names": model.column_names is not None,
        "sizes": [
            {
                "component": index,
                **({} if "stream" in model.info else {"rows": len(members)}),
                "columns": len(names),
            }
            for index, (members, names) in enumerate(model.components())
        ],
        "info": brief(model.info),
    }


def model_text(model: SavedModel) -> str:
    """Lay out what there is to say of a saved result."""
    rows, components, columns = model.shape
    info = model.info
    data = info.get("data", {})
    if "stream" in info:
        rows = info["stream"]["rows"]
    pairs = [
        ("saved result", f"{number(components)} components"),
        ("matrix", f"{number(rows)} rows × {number(columns)} columns {data.get('file', '')}"),
        ("method", str(info.get("method", "unknown"))),
    ]
    defaults = {"random_state": "seed"}
    pairs += [
        (defaults.get(name, name), str(value))
        for name, value in info.get("parameters", {}).items()
        if value is not None
    ]
    if "stream" in info:
        pairs += stream_figures(info)
    text = figures(pairs)
    if "measures" in info and "ones" in data:
        text += "\n\n" + measures_text(info)
    text += "\n\n" + members_table(model)
    for warning in info.get("warnings", []):
        text += f"\n\nwarning of the fit: {warning}"
    return text
