"""What the cell of a notebook shows of what was found, above the parameters of its estimator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from elbmf.errors import visible
from elbmf.utils.text import number, shortened

__all__ = ["ShowsFound", "shortly", "table"]

_MOST_NAMES = 8
_LONGEST_NAME = 30


class ShowsFound:
    """An estimator that shows what it has found, where a cell of a notebook ends with it."""

    def _found_html(self) -> str:
        """Return what was found; nothing before there is any."""
        return ""

    def _repr_html_inner(self) -> str:
        inner: str = super()._repr_html_inner()  # type: ignore[misc]
        return self._with_found(inner)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._with_found(bundle["text/html"])
        return bundle

    def _with_found(self, parameters: str) -> str:
        found = self._found_html()
        if not found:
            return parameters
        return f"<div>{found}<details><summary>Parameters</summary>{parameters}</details></div>"


def table(titles: Iterable[tuple[str, str]], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, of titles with how their columns are aligned, and texts in HTML."""
    titles = list(titles)
    aligned = [align for _, align in titles]
    head = "".join(_cell("th", title, align) for title, align in titles)
    body = "".join(
        f"<tr>{''.join(_cell('td', each, at) for each, at in zip(row, aligned, strict=True))}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(tag: str, content: str, align: str) -> str:
    return f"<{tag} style='text-align:{align};padding:.15em .6em'>{content}</{tag}>"


def shortly(names: Sequence[str]) -> str:
    """Return the first names, in HTML, and how many more there are."""
    shown = ", ".join(
        escape(shortened(visible(name), _LONGEST_NAME)) for name in names[:_MOST_NAMES]
    )
    left = len(names) - _MOST_NAMES
    return f"{shown} … {number(left)} more" if left > 0 else shown
