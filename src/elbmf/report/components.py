"""What is said of each component."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elbmf.analysis import runs
from elbmf.report.document import Component, Enriched, Matrix, Member, Overlap, Share, Span
from elbmf.report.facts import Facts
from elbmf.report.limits import Limits
from elbmf.report.packing import short_numbers
from elbmf.report.sides import Members, Side

__all__ = ["components_of"]


def components_of(
    facts: Facts,
    limits: Limits,
    blocks: Mapping[int, Matrix],
    labels: Mapping[int, list[Enriched]],
    sets: Mapping[int, list[Enriched]],
) -> list[Component]:
    """Describe all components, with the grids of some, and the labels and sets they are rich in."""
    rows, columns = _Lists(facts.rows, limits), _Lists(facts.columns, limits)
    return [
        _component(facts, limits, at, rows, columns, blocks.get(at), labels, sets)
        for at in range(facts.k)
    ]


def _component(
    facts: Facts,
    limits: Limits,
    at: int,
    rows: _Lists,
    columns: _Lists,
    block: Matrix | None,
    labels: Mapping[int, list[Enriched]],
    sets: Mapping[int, list[Enriched]],
) -> Component:
    cover = facts.components
    ones = None if facts.cover is None else facts.cover.ones
    covered = None if cover is None else int(cover.covered[at])
    noted = {name: _rounded(values[at]) for name, values in facts.noted.items()}
    return Component(
        component=at,
        rows=int(facts.rows.sizes[at]),
        columns=int(facts.columns.sizes[at]),
        covered=covered,
        alone=None if cover is None else int(cover.alone[at]),
        precision=None if cover is None else _rounded(cover.precision[at]),
        recall=None if covered is None or ones is None else _rounded(covered / max(ones, 1)),
        bits_saved=None if facts.bits_saved is None else round(facts.bits_saved[at], 1),
        recurrence=noted.get("recurrence"),
        found_in=noted.get("found_in"),
        p_value=noted.get("p_value"),
        doubts=facts.doubts[at],
        top_rows=rows.top(at),
        top_columns=columns.top(at),
        weak_rows=rows.weak(at),
        weak_columns=columns.weak(at),
        near_rows=rows.near(at),
        near_columns=columns.near(at),
        row_spans=rows.spans(at),
        column_spans=columns.spans(at),
        overlaps=_overlaps(facts, at, limits.overlaps),
        block=block,
        labels=labels.get(at, [])[: limits.enriched],
        sets=sets.get(at, [])[: limits.enriched],
    )


def _rounded(share: float) -> float:
    """Cut off the digits that nobody looks at, but keep what is not 1 below it."""
    return float(np.floor(1e6 * share + 0.5) / 1e6) if share < 1 - 1e-6 else float(share)


def _overlaps(facts: Facts, at: int, most: int) -> list[Overlap]:
    rows, columns = facts.overlap.rows[at], facts.overlap.columns[at]
    cells = rows * columns
    others = np.flatnonzero((rows > 0) | (columns > 0))
    others = others[others != at]
    order = others[np.lexsort((-(rows + columns)[others], -cells[others]))[:most]]
    return [
        Overlap(
            component=int(other),
            rows=int(rows[other]),
            columns=int(columns[other]),
            cells=int(cells[other]),
        )
        for other in order
    ]


def _short(line: int, share: Share, margin: float | None, returns: float | None) -> Member:
    """Leave out what is not known, at the end."""
    if returns is not None:
        return line, share, margin, returns
    return (line, share) if margin is None else (line, share, margin)


class _Lists:
    """Lists of the lines of each component, on one side."""

    def __init__(self, side: Side, limits: Limits) -> None:
        self._side = side
        self._limits = limits

    def top(self, at: int) -> list[Member]:
        """Return the members that belong most firmly."""
        return self._listed(at, self._side.members[at].chosen(slice(self._limits.members)))

    def weak(self, at: int) -> list[Member]:
        """Return the members that hardly belong, of those that fit badly or could as well leave."""
        members = self._side.members[at]
        if members.ones is None:
            return []
        loose = members.ones < self._side.partners[at]
        if members.margins is not None:
            loose |= members.margins <= 0
        last = np.flatnonzero(loose)[::-1][: self._limits.outliers]
        return self._listed(at, members.chosen(last))

    def near(self, at: int) -> list[Member]:
        """Return the lines outside that would fit best."""
        if self._side.near is None:
            return []
        return self._listed(at, Members(*self._side.near[at]).chosen(slice(self._limits.outliers)))

    def _listed(self, at: int, members: Members) -> list[Member]:
        size = max(int(self._side.partners[at]), 1)
        unknown: list[float | None] = [None] * len(members.lines)
        shares = unknown if members.ones is None else map(_rounded, members.ones / size)
        margins, returns = (
            unknown if values is None else short_numbers(values)
            for values in (members.margins, members.returns)
        )
        listed = zip(members.lines.tolist(), shares, margins, returns, strict=True)
        return [_short(*each) for each in listed]

    def spans(self, at: int) -> list[Span]:
        """Return the longest runs of the component as it is shown, the longest first."""
        begins, ends = runs(np.sort(self._side.place[self._side.members[at].lines]))
        longest = np.argsort(begins - ends, kind="stable")[: self._limits.spans]
        return list(zip(begins[longest].tolist(), ends[longest].tolist(), strict=True))
