"""The content of a report, from a model and its data, as little as fits into a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from elbmf.errors import InputError
from elbmf.io.model import SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.report import known
from elbmf.report.components import components_of
from elbmf.report.document import FORMAT_VERSION, Component, Document, Matrix, Member
from elbmf.report.facts import Facts, facts_of
from elbmf.report.known import KnownLabels, KnownSets
from elbmf.report.limits import Limits
from elbmf.report.pictures import blocks_of, consensus_of, matrix_of
from elbmf.report.recipe import recipe_of, trace_of
from elbmf.report.sides import axis_of, kept_lines
from elbmf.report.summary import summary_of
from elbmf.utils.text import counted, number, shortened
from elbmf.utils.vocabulary import Vocabulary

__all__ = ["MOST_BYTES", "Content"]

MOST_BYTES = 9_000_000
"""What a document takes at most, as JSON; the page has more around it."""


class Content:
    """All that a report can say; how much of it depends on the room there is.

    What the model does not note is left out; without data, only the components themselves are
    known. Arguments are as of `elbmf.report.write_report` and its `ReportSubject`; the notes are
    more warnings, such as that the data was not found. An InputError says that the data is not of
    the shape of the model, or labels are not those of its rows.
    """

    def __init__(
        self,
        model: SavedModel,
        A: BooleanMatrix | None,
        *,
        described: bool = False,
        labels: KnownLabels | None = None,
        sets: KnownSets | None = None,
        ranks: Mapping[str, Any] | None = None,
        title: str | None = None,
        vocabulary: str | None = None,
        notes: Sequence[str] = (),
        limits: Limits | None = None,
        n_jobs: int | None = None,
    ) -> None:
        _check_shape(model, A)
        self._limits = limits or Limits.of_components(model.shape[1])
        outliers = self._limits.outliers
        facts = facts_of(model, A, described=described, outliers=outliers, n_jobs=n_jobs)
        self._facts = facts
        self._compared = None if labels is None else known.compare(facts, labels)
        self._rich = None if sets is None else known.rich_in_sets(facts, sets)
        self._sets_title = None if sets is None else sets.title
        self._ranks, self._notes = ranks, notes
        self._vocabulary = model.info.data.vocabulary if vocabulary is None else vocabulary
        self._title = title or _default_title(facts, Vocabulary.of(self._vocabulary))
        self._cache: dict[str, tuple[Any, Any]] = {}

    def within(self, most_bytes: int = MOST_BYTES) -> Document:
        """Say as much as fits: what is largest is halved until the rest does.

        ``most_bytes`` is what the document takes at most, as JSON; an InputError says that there
        are too many components to say anything of them all.
        """
        limits = self._limits
        while True:
            made = self._parts(limits)
            sizes = {name: len(json.dumps(part)) for name, part in made.items()}
            if sum(sizes.values()) <= most_bytes:
                return cast(
                    Document, {"format": "elbmf-report", "format_version": FORMAT_VERSION, **made}
                )
            smaller = _halved(limits, made, sizes)
            if smaller == limits:
                raise InputError(
                    f"A report of {counted(self._facts.k, 'component')} does not fit into "
                    f"{number(max(most_bytes, 0))} bytes. Report fewer components."
                )
            limits = smaller

    def _parts(self, limits: Limits) -> dict[str, Any]:
        """Return all parts by name, those made anew whose limits have changed."""
        facts, compared = self._facts, self._compared
        blocks = self._cached("blocks", limits, ("blocks", "block_side"), partial(blocks_of, facts))
        make = partial(self._components, blocks)
        components = self._cached("components", limits, _COMPONENT_LIMITS, make)
        kept_rows, kept_columns = (
            kept_lines(side, most, _listed(components, names))
            for side, most, names in (
                (facts.rows, limits.rows, ("top_rows", "weak_rows", "near_rows")),
                (facts.columns, limits.columns, ("top_columns", "weak_columns", "near_columns")),
            )
        )
        axis: dict[str, Callable[[Limits], Any]] = {
            "rows": lambda limits: axis_of(facts.rows, kept_rows, limits.name),
            "columns": lambda limits: axis_of(facts.columns, kept_columns, limits.name),
        }
        # Which lines are kept depends on the lists, too.
        lines = (*_LIST_LIMITS, "name")
        parts = {
            "components": components,
            "rows": self._cached("rows", limits, (*lines, "rows"), axis["rows"]),
            "columns": self._cached("columns", limits, (*lines, "columns"), axis["columns"]),
            "matrix": self._cached("matrix", limits, ("side", "cells"), partial(matrix_of, facts)),
            "consensus": consensus_of(facts),
            "labels": None,
            "label_of_rows": None,
            "trace": trace_of(facts.model.info, limits),
            "recipe": recipe_of(facts.model.info, limits),
            "sets_title": self._sets_title and shortened(self._sets_title, limits.name),
            "title": shortened(self._title, limits.name),
            "vocabulary": self._vocabulary,
        }
        kept = len(kept_rows), len(kept_columns)
        parts["summary"] = summary_of(facts, limits, self._ranks, self._notes, kept)
        if compared is not None:
            parts["labels"] = known.labels_of(compared, limits)
            parts["label_of_rows"] = known.label_of_rows(compared, limits, kept_rows)
        return parts

    def _components(self, blocks: Mapping[int, Matrix], limits: Limits) -> list[Component]:
        labels = {} if self._compared is None else known.rich_in_labels(self._compared, limits)
        sets = {} if self._rich is None else known.listed_sets(self._rich, limits)
        return components_of(self._facts, limits, blocks, labels, sets)

    def _cached(
        self, name: str, limits: Limits, of: Sequence[str], make: Callable[[Limits], Any]
    ) -> Any:
        key = tuple(getattr(limits, each) for each in of)
        if name not in self._cache or self._cache[name][0] != key:
            self._cache[name] = key, make(limits)
        return self._cache[name][1]


def _check_shape(model: SavedModel, A: BooleanMatrix | None) -> None:
    rows, _, columns = model.shape
    expected = rows, columns
    if A is not None and A.shape != expected:
        raise InputError(
            f"The data must be the matrix that the model was made from, {expected[0]}×"
            f"{expected[1]}; got {A.shape[0]}×{A.shape[1]}."
        )


_LIST_LIMITS = ("members", "outliers", "spans", "overlaps", "enriched")
_COMPONENT_LIMITS = (*_LIST_LIMITS, "blocks", "block_side", "name")


def _listed(components: list[Component], names: Sequence[str]) -> list[list[Member]]:
    return [component[name] for component in components for name in names]  # type: ignore[literal-required]


def _default_title(facts: Facts, words: Vocabulary) -> str:
    name = facts.model.info.data.file
    components = words.spoken(counted(facts.k, "component"))
    return components if name is None else f"{name}: {components}"


def _halved(limits: Limits, made: Mapping[str, Any], sizes: Mapping[str, int]) -> Limits:
    """Halve what is largest, of what can be halved."""
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        for ways in _ways(name, made[name], limits):
            smaller = limits.halved(*ways)
            if smaller != limits:
                return smaller
    return limits


def _ways(name: str, part: Any, limits: Limits) -> Sequence[tuple[str, ...]]:
    """Return which limits make a part smaller, those first that matter most."""
    if name in ("rows", "columns"):
        names = part["names"]
        long = names is not None and 2 * len(names["data"]) > len(json.dumps(part))
        # Few letters do tell lines apart, no letters at all do not.
        return [("name",), (name,)] if long and limits.name > 60 else [(name,)]
    if name == "components":
        blocks = sum(len(json.dumps(each["block"])) for each in part)
        lists = [_LIST_LIMITS, ("blocks",)]
        return lists[::-1] if 2 * blocks > len(json.dumps(part)) else lists
    if name in ("labels", "label_of_rows"):
        return [("classes",)]
    return {"matrix": [("cells",)], "trace": [("epochs",)]}.get(name, [("text",)])
