"""What is said of a factorization: measures and components, as text and as data."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from elbmf.analysis import doubt_text, left_out_text, trust_texts
from elbmf.cli.console import Console
from elbmf.cli.text.tables import figures, shorten, table
from elbmf.estimators.proof import proof
from elbmf.estimators.rank_search import TITLES
from elbmf.io import SavedModel
from elbmf.io.described import described, doubts_of
from elbmf.io.model_info import RATES, ModelInfo
from elbmf.utils.text import amount, cost_text, number, share, shortened, times
from elbmf.utils.vocabulary import Vocabulary

__all__ = [
    "brief",
    "components_table",
    "measures_table",
    "measures_text",
    "members_table",
    "model_figures",
    "model_text",
    "p_text",
    "remarks",
    "stream_figures",
    "tell_fit",
]

# Notes of a saved model that are too long to be printed.
_LONG_NOTES = ("history", "binarize_limits")

_MOST_COMPONENTS = 40
_LONGEST_NAME = 30

# Weights of a covered zero by which the cost is the number of wrong cells.
_ONE_LOSS = (1, math.inf)

# The density of data below which covering zeros for half as much may find more, and what is said.
_THIN = 0.1
_AUTO_HINT = (
    "Try --extra-weight auto, by which covering a zero costs less where ones are often missed "
    "(docs/rates.md)."
)

_MEASURES = {
    "loss": "loss",
    "relative_loss": "relative loss",
    "similarity": "similarity",
    "recall": "recall",
    "precision": "precision",
    "recall_star": "recall*",
}


def brief(info: ModelInfo) -> dict[str, Any]:
    """Return the notes of a saved model, but for the long ones."""
    noted = {name: value for name, value in info.to_json().items() if name not in _LONG_NOTES}
    if "stability" in noted:
        long = ("components", "consensus")
        noted["stability"] = {
            name: value for name, value in noted["stability"].items() if name not in long
        }
    return noted


def tell_fit(
    model: SavedModel,
    found: list[dict[str, Any]],  # What `described` returned
    folder: str,
    console: Console,
    *,
    as_json: bool,
) -> None:
    """Print what a fit has found and what was found, as tables or one JSON object."""
    if as_json:
        console.result_json({**brief(model.info), "output": folder, "components": found})
    else:
        words = model.info.data.words
        console.result(measures_text(model.info))
        console.result("\n" + components_table(found, words) + remarks(model))


def remarks(model: SavedModel) -> str:
    """Say, each in a line of its own, what components to trust and what is in none."""
    rows, _, columns = model.shape
    held = None if model.info.stream else np.diff(model.U.indptr)
    loose = None if held is None else int((held == 0).sum())
    used = np.unique(model.V.indices).size
    said = (
        doubt_text(doubts_of(model)),
        *trust_texts(model.info.stability, model.info.significance),
        left_out_text(loose, columns - used, (rows, columns)),
        _AUTO_HINT if loose is not None and _may_want_rates(model, loose) else "",
    )
    return model.info.data.words.spoken("".join(f"\n{each}" for each in said if each))


def _may_want_rates(model: SavedModel, loose: int) -> bool:
    """Tell whether many rows are in no component while covering zeros costs much for thin data."""
    info, (rows, _, columns) = model.info, model.shape
    # Only this method follows the rates; a stream, and what noted no rates, had a fixed weight.
    if info.method != "elbmf" or info.noise_rates is not None or info.extra_weight != 1:
        return False
    cells = rows * columns - (info.data.missing or 0)
    return 2 * loose > rows and 0 < (info.data.ones or 0) < _THIN * cells


def components_table(
    described: list[dict[str, Any]],
    words: Vocabulary,
    most: int | None = _MOST_COMPONENTS,
) -> str:
    """Lay out components; with what they save, the first are those that save most.

    Those that are empty are only counted.
    """
    held = [each for each in described if each["columns"] and each.get("rows", 1)]
    empty, described = len(described) - len(held), held or described[:1]
    layout = {
        "component": "component",
        "rows": "rows",
        "columns": "columns",
        "ones covered": "covered",
        "precision": "precision",
        "bits saved": "bits_saved",
        "recurrence": "recurrence",
        "p": "p_value",
    }
    texts = {"precision": share, "recurrence": "{:.2f}".format, "p_value": p_text}
    shown = [
        (title, key) for title, key in layout.items() if all(key in each for each in described[:1])
    ]
    doubtful = any(each["doubts"] for each in described[:most])
    keeps = any("kept" in each for each in described[:most])
    rows = [
        [
            *(texts.get(key, _whole)(each[key]) for _, key in shown),
            *([words.spoken(", ".join(each["doubts"]))] if doubtful else []),
            *([shortened(each.get("kept", ""), _LONGEST_NAME)] if keeps else []),
            shorten(each["column_names"]),
        ]
        for each in described[:most]
    ]
    headers = [title for title, _ in shown]
    headers += ["doubts"] * doubtful + ["kept"] * keeps + ["column names"]
    titles = [words.spoken(each) for each in headers]
    text = table(titles, rows, left=range(len(shown), len(headers)))
    if len(described) > len(rows):
        text += words.spoken(f"\n… and {len(described) - len(rows)} more components")
    if empty and held:
        noun = "component is" if empty == 1 else "components are"
        text += words.spoken(f"\n{number(empty)} empty {noun} not shown")
    return text


def p_text(p: float) -> str:
    """Write a p-value."""
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1g}"


def _whole(value: float) -> str:
    return number(round(value))


def members_table(model: SavedModel) -> str:
    """Lay out all components as the model has them."""
    return components_table(described(model), model.info.data.words, most=None)


def stream_figures(info: ModelInfo) -> list[tuple[str, str]]:
    """Return names and values of what is noted of a stream; none if there was none."""
    if info.stream is None:
        return []
    pairs = [("rows of the stream", f"{number(info.stream.rows)}, memberships not kept")]
    if info.stream.relative_loss_of_last is not None:
        pairs.append(("relative loss of the last", share(info.stream.relative_loss_of_last)))
    return pairs


def measures_table(
    measures: Mapping[str, float | None],
    ones: int | None,  # None where they are weighted
) -> list[tuple[str, str]]:
    """Return names and values of measures as text."""
    rows = []
    for key, name in _MEASURES.items():
        value = measures.get(key)
        if key == "loss" and value is not None:
            of = "by weight" if ones is None else f"wrong cells, {number(ones)} ones"
            rows.append((name, f"{amount(value)} {of}"))
        elif key in measures:
            rows.append((name, share(value)))
    return rows


def measures_text(info: ModelInfo) -> str:
    """Lay out the measures and the course of a fit, from the notes of a model.

    Models of earlier versions lack some of the notes.
    """
    rows = measures_table(info.measures, info.data.ones or 0)
    if info.weighted is not None:
        by = " and ".join(info.weighted.sides)
        rows.insert(1, ("weighted loss", f"{amount(info.weighted.loss)}, by weights of {by}"))
    if info.noise_rates is not None:
        rates = info.noise_rates
        rows += [
            ("false positive rate", f"{share(rates.false_positive)} of the cells in no component"),
            ("false negative rate", f"{share(rates.false_negative)} of the cells in components"),
            ("weight of a covered zero", f"{rates.extra_weight:.3g}, by these rates"),
        ]
    if info.data.missing:
        rows.append(("missing cells", f"{number(info.data.missing)}, which count for nothing"))
    if info.n_iter or (info.n_iter is not None and info.rank_search is None):
        # Others count what they report, or what they find.
        whole = {"epoch": "epochs", "sweep": "sweeps"}
        iterations = whole.get(info.iteration or "epoch", "iterations")
        rows.append((iterations, f"{info.n_iter} ({info.stop_reason or 'done'})"))
    if len(info.run_losses) > 1:
        what = "losses" if info.extra_weight in _ONE_LOSS else "weighted losses"
        losses = ", ".join(cost_text(loss, info.price) for loss in info.run_losses)
        rows.append(("runs", f"{len(info.run_losses)}, {what} {losses}"))
    if info.stages:
        what = "" if info.extra_weight in _ONE_LOSS else "weighted "
        rows.append((f"{what}cost by stage", _stages(info)))
    if info.seconds is not None:
        rows.append(("seconds", times(info.seconds).removesuffix(" s")))
    said = _chosen_components(info) + _unused_components(info) + _proof(info)
    return info.data.words.spoken(figures(rows) + said)


def _stages(info: ModelInfo) -> str:
    """Say what the factors cost after each stage, and by how much that differs from before.

    A stage that follows the rates has another weight than those before it, which no difference
    would be one of the factors.
    """
    costs = [stage.cost for stage in info.stages]
    changes = [0, *(after - before for before, after in pairwise(costs))]
    told = []
    for stage, change in zip(info.stages, changes, strict=True):
        text = f"{stage.stage} {cost_text(stage.cost, info.price)}"
        if stage.stage == RATES:
            text += " (at their last weight)"
        elif change:
            sign = "−" if change < 0 else "+"
            text += f" ({sign}{cost_text(abs(change), info.price)})"
        told.append(text)
    return ", ".join(told)


def _chosen_components(info: ModelInfo) -> str:
    """Say in a line of its own how the number of components came about, unless it was given."""
    search = info.rank_search
    if search is None:
        return ""
    by = f"chosen by {TITLES[search.criterion]} among ranks up to {number(search.highest)}"
    count = search.n_components
    if count == 0:
        return f"\nno component at all {by}"
    return f"\n{number(count)} component{'s' if count > 1 else ''} {by}"


def _proof(info: ModelInfo) -> str:
    """Say in a line of its own how much better another result could be."""
    asked = info.parameters.get("n_components")
    found = asked if isinstance(asked, int) else info.n_components_used
    said = "" if found is None else proof(info, found)
    return f"\n{said}" if said else ""


def _unused_components(info: ModelInfo) -> str:
    """Say in a line of its own that some components are empty, and whether more would help."""
    asked = info.parameters.get("n_components")
    if info.rank_search is not None:
        asked = max(info.rank_search.n_components, 1)
    used = info.n_components_used
    # Asked for no number, a method takes as many as it needs.
    if used is None or asked is None or used == asked:
        return ""
    enough = ": these already leave no error" if info.measures["loss"] == 0 else ""
    return f"\n{number(used)} of {number(asked)} components used{enough}"


def model_figures(model: SavedModel) -> dict[str, Any]:
    """Return what there is to say of a saved result."""
    rows, components, columns = model.shape
    return {
        "shape": {"rows": rows, "components": components, "columns": columns},
        "row_names": model.row_names is not None,
        "column_names": model.column_names is not None,
        "sizes": [
            # Bits are among the notes.
            {key: each[key] for key in each if key not in ("bits_saved", "column_names")}
            for each in described(model)
        ],
        "info": brief(model.info),
    }


def model_text(model: SavedModel) -> str:
    """Lay out what there is to say of a saved result."""
    rows, components, columns = model.shape
    info = model.info
    spoken = info.data.words.spoken
    if info.stream is not None:
        rows = info.stream.rows
    pairs = [
        ("saved result", spoken(f"{number(components)} components")),
        (
            "matrix",
            spoken(f"{number(rows)} rows × {number(columns)} columns ") + (info.data.file or ""),
        ),
        ("method", info.method or "unknown"),
    ]
    defaults = {"random_state": "seed"}
    pairs += [
        (defaults.get(name, name), str(value))
        for name, value in info.parameters.items()
        if value is not None
    ]
    pairs += stream_figures(info)
    text = figures(pairs)
    if info.measures and info.data.ones is not None:
        text += "\n\n" + measures_text(info)
    text += "\n\n" + members_table(model) + remarks(model)
    for warning in info.warnings:
        text += f"\n\nwarning of the fit: {warning}"
    return text
