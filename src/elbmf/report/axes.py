"""Rows and columns as the page holds them: some or all lines, with names."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from elbmf.report.document import Axis, Member, Packed
from elbmf.report.packing import pack_json, pack_numbers
from elbmf.report.sides import Side
from elbmf.utils.text import shortened

__all__ = ["axis_of", "kept_lines"]

Ints = NDArray[np.int64]


def kept_lines(side: Side, most: int, listed: Iterable[list[Member]]) -> Ints:
    """Choose the lines to keep, ascending.

    Those come first that lists of members name, the earlier the better, then those in components,
    then the others; among equals, those with most ones.
    """
    if side.count <= most:
        return np.arange(side.count)
    mention = np.full(side.count, side.count, dtype=np.int64)
    for members in listed:
        lines = np.array([line for line, _ in members], dtype=np.int64)
        np.minimum.at(mention, lines, np.arange(len(lines)))
    ones = np.zeros(side.count) if side.ones is None else side.ones
    order = np.lexsort((side.place, -ones, side.held == 0, mention))
    return np.sort(order[:most])


def axis_of(side: Side, kept: Ints, longest: int) -> Axis:
    """Pack the lines that are kept, ascending, with names of some characters at most."""
    held = side.held[kept]
    # Where the entries of each kept line are, one run after the other.
    ends = np.cumsum(held)
    at = np.repeat(side.starts[kept] - ends + held, held) + np.arange(held.sum())
    names = None
    if side.names is not None:
        names = pack_json([shortened(side.names[line], longest) for line in kept.tolist()])

    def packed(values: Ints | None, entries: Ints) -> Packed | None:
        return None if values is None else pack_numbers(values[entries])

    return Axis(
        count=side.count,
        kept=None if len(kept) == side.count else pack_numbers(kept, "u4"),
        names=names,
        place=pack_numbers(side.place[kept]),
        ones=packed(side.ones, kept),
        held=pack_numbers(held),
        holders=pack_numbers(side.holders[at]),
        support=packed(side.support, at),
        nearest=None if side.nearest is None else pack_numbers(side.nearest[kept], "u2"),
        nearest_support=packed(side.nearest_support, kept),
    )
