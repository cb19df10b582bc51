"""The page of a report: one file with all that it shows, that opens offline.

Nothing is loaded from elsewhere, and a policy in the page forbids it: only the one style and the
one script that are written here run, known by their hashes. What the data is called reaches the
page as JSON, or as escaped text in the summary that is there without scripts.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from string import Template
from typing import Any

from elbmf.errors import visible
from elbmf.io.plain import plain
from elbmf.report.document import Axis, Component, Document, Member
from elbmf.report.packing import unpacked
from elbmf.utils.text import counted, number, percent, shortened
from elbmf.utils.vocabulary import Vocabulary

__all__ = ["render"]

# In the order in which they need each other; each is one idea.
_SCRIPTS = (
    "packed.js",
    "words.js",
    "vocabulary.js",
    "elements.js",
    "axes.js",
    "colours.js",
    "routes.js",
    "charts.js",
    "summary.js",
    "grid.js",
    "matrix_places.js",
    "matrix_drawing.js",
    "matrix.js",
    "matrix_gestures.js",
    "names.js",
    "components.js",
    "members.js",
    "component.js",
    "line.js",
    "detail.js",
    "search.js",
    "sets.js",
    "labels.js",
    "consensus.js",
    "tables.js",
    "recipe.js",
    "keyboard.js",
    "main.js",
)

# Components, and names of each, in the summary that is there without scripts; and names that the
# page shows before it has unpacked all (components.js).
_MOST_COMPONENTS = 200
_MOST_NAMES = 6
_FIRST_NAMES = 12
_LONGEST_NAME = 80

_UNSAFE_IN_SCRIPT = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}
# Neither can be in a file of UTF-8 text, or means anything in it.
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

_POLICY = "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'"


def render(document: Document) -> str:
    """Write a document as a page: HTML, to be written as UTF-8."""
    style, script = _static("style.css"), _script()
    words = Vocabulary.of(document["vocabulary"])
    names = {"rows": _Names(document["rows"]), "columns": _Names(document["columns"])}
    return Template(_static("page.html")).substitute(
        policy=_POLICY.format(_hash(script), _hash(style)),
        title=_text(document["title"]),
        style=style,
        script=script,
        summary=_summary(document, names["rows"], names["columns"], words.spoken),
        document=_json(document),
        vocabulary=_json({"pattern": words.pattern, "table": [*words.table.items()]}),
        first_names=_json(
            {side: each.first(document["components"], side) for side, each in names.items()}
        ),
    )


def _static(name: str) -> str:
    return (files("elbmf.report") / "static" / name).read_text(encoding="utf-8")


def _script() -> str:
    parts = "\n".join(_static(name) for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _hash(source: str) -> str:
    """Return what the policy calls a style or script."""
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _json(value: Any) -> str:
    """Write JSON that cannot end the element it is in: ASCII without <, > and &."""
    text = json.dumps(plain(value), allow_nan=False, separators=(",", ":"))
    return text.translate(_UNSAFE_IN_SCRIPT)


def _text(text: str) -> str:
    return html.escape(visible(_NOT_TEXT.sub("\ufffd", text), lines=True))


def _summary(
    document: Document, row_names: _Names, column_names: _Names, spoken: Callable[[str], str]
) -> str:
    """Write the essentials, for those without scripts."""
    summary = document["summary"]
    paragraphs = [f"<p>{_text(spoken(each))}</p>" for each in summary["sentences"]]
    warnings = [f'<p class="warning">{_text(spoken(each))}</p>' for each in summary["warnings"]]
    headers = ["Component", "Rows", "Columns", "Precision", "Some columns", "Some rows"]
    rows = [
        _line(
            "td",
            [
                str(each["component"]),
                number(each["rows"]),
                number(each["columns"]),
                _percent(each),
                column_names.some(each["top_columns"], each["columns"]),
                row_names.some(each["top_rows"], each["rows"]),
            ],
        )
        for each in document["components"][:_MOST_COMPONENTS]
    ]
    left = len(document["components"]) - len(rows)
    more = f"and {counted(left, 'more component')}"
    return "\n".join(
        [
            f"<h1>{_text(document['title'])}</h1>",
            *paragraphs,
            *warnings,
            f"<p>{_text(spoken(summary['rank']['text']))}</p>",
            f"<table><thead>{_line('th', map(spoken, headers))}</thead>",
            *("<tbody>", *rows, "</tbody></table>"),
            f"<p>{spoken(more)}</p>" if left else "",
        ]
    )


def _line(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f'<{tag} dir="auto">{_text(cell)}</{tag}>' for cell in cells) + "</tr>"


def _percent(component: Component) -> str:
    precision = component["precision"]
    return "" if precision is None else percent(precision)


class _Names:
    """Names of rows or columns, by their position."""

    def __init__(self, axis: Axis) -> None:
        names, kept = axis["names"], axis["kept"]
        self._names = None if names is None else unpacked(names)
        self._places = None if kept is None else {line: i for i, line in enumerate(unpacked(kept))}

    def some(self, members: Sequence[Member], total: int) -> str:
        """Join the first names, and say when there are more."""
        shown = [self._of(line) for line, *_ in members[:_MOST_NAMES]]
        return ", ".join(shown) + (", …" if total > len(shown) else "")

    def first(self, components: Sequence[Component], side: str) -> list[tuple[int, str]]:
        """Return the names that the table of components shows, with their lines."""
        if self._names is None:
            return []
        members = (each[f"top_{side}"] for each in components)  # type: ignore[literal-required]
        lines = {line for each in members for line, *_ in each[:_FIRST_NAMES]}
        return [(line, self._of(line)) for line in sorted(lines) if self._place(line) is not None]

    def _place(self, line: int) -> int | None:
        return line if self._places is None else self._places.get(line)

    def _of(self, line: int) -> str:
        place = self._place(line)
        if self._names is None or place is None:
            return str(line)
        return shortened(self._names[place], _LONGEST_NAME)
