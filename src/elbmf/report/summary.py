"""The first screen: what was factorized, how well, and what is to be known before believing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from elbmf.analysis import doubt_text, left_out_text, trust_texts
from elbmf.boolean.metrics import measures_of
from elbmf.estimators.proof import proof
from elbmf.estimators.rank_search import TITLES
from elbmf.estimators.registry import ESTIMATORS, class_name
from elbmf.io.model_info import ModelInfo
from elbmf.io.plain import plain
from elbmf.ranks.criteria import CRITERIA
from elbmf.report.document import Curve, Rank, Summary
from elbmf.report.facts import Facts
from elbmf.report.limits import Limits
from elbmf.report.packing import short_numbers
from elbmf.utils.text import amount, counted, number, percent, shortened, unlearnable

__all__ = ["summary_of"]

# Below this share of the ones covered, or of the covered cells that are ones, little is explained.
_LITTLE = 0.5


def summary_of(
    facts: Facts,
    limits: Limits,
    ranks: Mapping[str, Any] | None,
    notes: Sequence[str],
    kept: tuple[int, int],
) -> Summary:
    """Say what was factorized, and how well.

    The notes are more warnings; of rows and columns, the page has kept so many.
    """
    info = facts.model.info
    rows, columns = facts.U.shape[0], facts.V.shape[1]
    if facts.of_stream and info.stream is not None:
        rows = info.stream.rows
    ones, missing = info.data.ones, info.data.missing or 0
    missed, extra, measures = _noted_errors(info)
    if facts.A is not None and facts.cover is not None:
        ones, missing = facts.A.ones, facts.A.n_missing
        missed, extra = facts.cover.missed, facts.cover.extra
        measures = _finite(measures_of(facts.cover))
    known = rows * columns - missing
    made = Summary(
        rows=rows,
        columns=columns,
        components=facts.k,
        used=int(facts.used.sum()),
        ones=ones,
        missing=missing,
        density=None if ones is None or not known else ones / known,
        missed=missed,
        extra=extra,
        measures=measures,
        method=_method_name(info),
        seconds=info.seconds,
        rank=_rank(facts, ones, ranks),
        sentences=[],
        warnings=[],
    )
    made["sentences"] = [
        *_what(facts, made),
        *_how_well(made),
        *_weighted(info),
        *_rates(info),
        *_proved(facts, made),
        *([] if facts.of_other_data else trust_texts(info.stability, info.significance)),
        *_left_out(facts),
        *_kept(facts, kept),
    ]
    warnings = [*notes, *_warnings(facts, made)]
    made["warnings"] = [shortened(text, limits.text) for text in dict.fromkeys(warnings)]
    return made


def _method_name(info: ModelInfo) -> str:
    """Return what the method is called."""
    name = info.method or "unknown"
    return class_name(name) if name in ESTIMATORS else name


def _finite(measures: Mapping[str, float | None]) -> dict[str, float]:
    found = {name: value for name, value in plain(measures).items() if value is not None}
    return {name: float(value) for name, value in found.items()}


def _noted_errors(info: ModelInfo) -> tuple[int | None, int | None, dict[str, float] | None]:
    """Return missed, extra and measures as of the fit."""
    if not info.measures:
        return None, None, None
    finite, ones = _finite(info.measures), info.data.ones
    if ones is None or "loss" not in finite or "recall" not in finite:
        return None, None, finite
    missed = round(ones * (1 - finite["recall"]))
    return missed, int(finite["loss"]) - missed, finite


# --- sentences ---


def _what(facts: Facts, made: Summary) -> list[str]:
    name = facts.model.info.data.file or "The matrix"
    size = f"{counted(made['rows'], 'row')} and {counted(made['columns'], 'column')}"
    text = f"{name} has {size}"
    if made["ones"] is not None and made["density"] is not None:
        are = "cell is a one" if made["ones"] == 1 else "cells are ones"
        text += f"; {number(made['ones'])} {are} ({percent(made['density'])})"
    if made["missing"]:
        verb = "is" if made["missing"] == 1 else "are"
        text += f"; {counted(made['missing'], 'cell')} {verb} missing"
        text += " and counts for nothing" if made["missing"] == 1 else " and count for nothing"
    parts = "a group of rows and the columns that they have in common"
    into = f"It was factorized into {counted(made['components'], 'component')}, "
    return [f"{text}.", into + (f"each {parts}." if made["components"] != 1 else f"{parts}.")]


def _how_well(made: Summary) -> list[str]:
    measures = made["measures"]
    if not measures or "recall" not in measures or "precision" not in measures:
        return []
    if made["ones"] == 0 and not made["extra"]:
        return ["There are no ones to cover."]
    whose = (
        "The component covers"
        if made["components"] == 1
        else (f"The {number(made['components'])} components cover")
    )
    it = "it covers" if made["components"] == 1 else "they cover"
    text = f"{whose} {percent(measures['recall'])} of the ones"
    if measures["recall"] == 0:
        return [f"{text}."]
    zeros = 1 - measures["precision"]
    text += f"; {percent(zeros)} of what {it} are zeros." if zeros else ", and no zero."
    sentences = [text]
    if made["missed"] is not None and made["extra"] is not None:
        wrong = made["missed"] + made["extra"]
        verb = "is" if wrong == 1 else "are"
        sentences.append(
            "No cell is wrong."
            if not wrong
            else f"{counted(wrong, 'cell')} {verb} wrong in all: {_are(made['missed'], 'one')} "
            f"missed, {_are(made['extra'], 'zero')} covered."
        )
    return sentences


def _weighted(info: ModelInfo) -> list[str]:
    """Say what the loss is by the weights of the fit, unlike all other figures."""
    if info.weighted is None:
        return []
    lines, loss = " and ".join(info.weighted.sides), amount(info.weighted.loss)
    return [
        f"The fit had weights of {lines}, by which the wrong cells weigh {loss}. Here, every cell "
        "counts once."
    ]


def _proved(facts: Facts, made: Summary) -> list[str]:
    """Say how much better another result could be, unless this is another matrix."""
    info = facts.model.info
    if facts.of_other_data:
        return []
    minimal = info.components_at_least is not None
    said = proof(info, made["used"] if minimal else made["components"])
    return [said] if said else []


def _are(count: int, noun: str) -> str:
    return f"{counted(count, noun)} {'is' if count == 1 else 'are'}"


def _rates(info: ModelInfo) -> list[str]:
    """Say how often cells are wrong, where the fit weighed errors by that."""
    rates = info.noise_rates
    if rates is None:
        return []
    return [
        f"{percent(rates.false_negative)} of the cells in components are zeros (false negative "
        f"rate) and {percent(rates.false_positive)} of all others are ones (false positive rate): "
        f"by these rates, a covered zero costs {rates.extra_weight:.2g} times as much as a missed "
        "one."
    ]


def _left_out(facts: Facts) -> list[str]:
    """Say how many lines are in no component."""
    rows, columns = (int((side.held == 0).sum()) for side in (facts.rows, facts.columns))
    shape = (facts.rows.count, facts.columns.count)
    said = left_out_text(None if facts.of_stream else rows, columns, shape)
    return [said] if said else []


def _kept(facts: Facts, kept: tuple[int, int]) -> list[str]:
    parts = [
        f"{number(count)} of the {counted(side.count, noun)}"
        for count, noun, side in zip(
            kept, ("row", "column"), (facts.rows, facts.columns), strict=True
        )
        if count < side.count
    ]
    if not parts:
        return []
    return [
        f"So that the page stays small, it holds the names of {' and '.join(parts)}: those in "
        "components first."
    ]


# --- the number of components ---


def _rank(facts: Facts, ones: int | None, ranks: Mapping[str, Any] | None) -> Rank:
    info = facts.model.info
    search = info.rank_search
    if ranks is None and search is not None and "rank" in info.history:
        ranks = {"table": info.history, "criterion": search.criterion}
    if search is None:
        asked = info.parameters.get("n_components")
        if not info.parameters:
            text = "How the number of components came about is not noted."
        elif asked is None:
            text = "The method itself found how many components it needs."
        else:
            asked_for = f"{counted(facts.k, 'component')} {'was' if facts.k == 1 else 'were'}"
            text = f"{asked_for} asked for; elbmf rank compares numbers."
        return Rank(chosen=False, text=text, curve=None)
    title = TITLES.get(search.criterion, search.criterion)
    looked = f"of all numbers of components up to {number(search.highest)} that were looked at"
    count = search.n_components
    text = (
        f"The {title} is least with {counted(count, 'component')}, {looked}."
        if count
        else f"The {title} is least with no component at all, {looked}."
    )
    return Rank(chosen=True, text=text, curve=None if ranks is None else _curve(ranks, ones))


def _curve(ranks: Mapping[str, Any], ones: int | None) -> Curve | None:
    table, criterion = ranks["table"], ranks["criterion"]
    if criterion not in table or None in table["rank"]:
        return None
    losses = table.get("relative_loss")
    if losses is None and ones:
        losses = [None if loss is None else loss / ones for loss in table.get("loss", [])]
    looked = [int(rank) for rank in table["rank"]]
    return Curve(
        ranks=looked,
        relative_loss=short_numbers(losses) if losses is not None else [None] * len(looked),
        criterion=short_numbers(table[criterion]),
        stability=short_numbers(table["stability"]) if "stability" in table else None,
        title=TITLES.get(criterion, str(criterion)),
        unit=CRITERIA[criterion].unit if criterion in CRITERIA else "",
    )


# --- warnings ---


def _warnings(facts: Facts, made: Summary) -> list[str]:
    info = facts.model.info
    said = list(info.warnings)
    if info.interrupted:
        said.append("The fit was interrupted: this is what had been found until then.")
    if facts.of_stream:
        said.append(
            "The model was learned from a stream and keeps no rows. Make the report with a file of "
            "rows to see how its components describe them."
        )
    elif facts.A is None:
        said.append(
            "The data is not at hand, so the report knows the components alone, not where they "
            "err. Make it again with the data."
        )
    if facts.described:
        said.append(
            "The rows of the data are not those that the model was made from. Each was described "
            "by the components that fit it best."
        )
    if facts.changed and facts.cover is not None:
        before = int(info.measures["loss"] or 0)
        said.append(
            f"The data is not as it was when the model was made: {number(before)} cells were wrong "
            f"then, {number(facts.cover.loss)} are now. All figures are of the data as it is now."
        )
    untold = unlearnable(made["ones"], made["rows"] * made["columns"], made["missing"])
    if untold:
        said.append(untold)
    return said + _unused(facts, made) + _poor(made) + _doubtful(facts)


def _unused(facts: Facts, made: Summary) -> list[str]:
    empty = made["components"] - made["used"]
    if not empty:
        return []
    verb = "is" if empty == 1 else "are"
    if not made["used"]:
        whose = "The component" if empty == 1 else f"All {number(empty)} components"
        return [f"{whose} {verb} empty."]
    exact = made["missed"] == 0 and made["extra"] == 0
    why = ": the others already leave no error" if exact else ""
    return [f"{number(empty)} of the {counted(facts.k, 'component')} {verb} empty{why}."]


def _poor(made: Summary) -> list[str]:
    measures = made["measures"] or {}
    said = []
    if made["ones"] and measures.get("recall", 1) < _LITTLE:
        said.append(
            f"Only {percent(measures['recall'])} of the ones are in components. The rest may be "
            "noise, or need more components."
        )
    if measures.get("precision", 1) < _LITTLE:
        said.append(
            f"Only {percent(measures['precision'])} of what the components cover are ones. The "
            "groups are blurred."
        )
    return said


def _doubtful(facts: Facts) -> list[str]:
    said = doubt_text(facts.doubts)
    return [said] if said else []
