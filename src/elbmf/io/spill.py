"""Entries put aside on disk, and sorting more of them than memory holds.

A key is the number of a line, times 2³², plus a position in the line, so that keys in order are
entries line by line. Too many keys are cut into ranges of keys, each with a file of its own; a
range that still has too many is cut again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elbmf.io.kernels.sorting import count_bins, group_keys, radix_sort

__all__ = [
    "BYTES_PER_ENTRY",
    "MOST_LINES",
    "Keyed",
    "Merge",
    "Spill",
    "keys_of",
    "positions",
    "sort_spill",
]

Keyed: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.float64]]
"""Keys and their values; no values at all where every entry is a one."""

Merge: TypeAlias = Callable[[Keyed], Keyed]
"""Makes one of the entries that have the same key, which are next to each other."""

MOST_LINES = 1 << 32
"""Lines that keys can tell apart."""

BYTES_PER_ENTRY = {False: 24, True: 48}
"""Memory that sorting takes, without values and with them: each twice, and what is made of it."""

_HALF = np.uint64(32)
_POSITION = np.uint64(MOST_LINES - 1)

# Keys that are read from a file or written to it at a time, ranges that a file is cut into, about
# and at most, and bins that tell where to cut.
_AT_ONCE = 1 << 19
_MOST_PARTS = 256
_BIN_BITS = 16


def keys_of(lines: NDArray[Any], others: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the keys of entries: of their lines, and of their positions in these."""
    keys = lines.astype(np.uint64)
    keys <<= _HALF
    keys |= others.astype(np.uint64, copy=False)
    return keys


def positions(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lines of entries and their positions in these."""
    return (keys >> _HALF).view(np.int64), (keys & _POSITION).view(np.int64)


class Spill:
    """Entries in a file, ``count`` so far; a second file beside it holds values, if there are any.

    Entries that have no value are ones then.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self._paths = [path]

    @property
    def valued(self) -> bool:
        """Whether one of the entries has a value."""
        return len(self._paths) > 1

    def append(self, keys: NDArray[np.uint64], values: NDArray[np.float64] | None = None) -> None:
        """Put entries aside."""
        if not keys.size:
            return
        if values is not None and not self.valued:
            self._paths.append(self.path.with_name(f"{self.path.name}.values"))
            for start in range(0, self.count, _AT_ONCE):
                _append(self._paths[1], np.ones(min(_AT_ONCE, self.count - start)))
        _append(self.path, keys)
        if self.valued:
            added = np.ones(keys.size) if values is None else values
            _append(self._paths[1], added.astype(np.float64, copy=False))
        self.count += keys.size

    def read(self, at_once: int = _AT_ONCE) -> Iterator[Keyed]:
        """Yield the entries, some at a time."""
        files = [each.open("rb") for each in self._paths] if self.count else []
        try:
            for start in range(0, self.count, at_once):
                size = min(at_once, self.count - start)
                keys = np.fromfile(files[0], np.uint64, size)
                values = np.fromfile(files[1], np.float64, size) if self.valued else np.empty(0)
                yield keys, values
        finally:
            for file in files:
                file.close()

    def remove(self) -> None:
        """Delete the files."""
        for each in self._paths:
            each.unlink(missing_ok=True)


def _append(path: Path, array: NDArray[Any]) -> None:
    # Opened anew each time: there may be more files than can be open.
    with path.open("ab") as file:
        file.write(np.ascontiguousarray(array).data)


def sort_spill(
    spill: Spill,
    lines: int,
    capacity: int,
    merge: Merge,
    moved: Callable[[NDArray[np.uint64]], NDArray[np.uint64]] | None = None,
) -> Iterator[Keyed]:
    """Yield entries in the order of their keys, each key once; the files are deleted on the way.

    Their lines are below ``lines``, and at most ``capacity`` entries are in memory. ``merge`` makes
    one of the entries with the same key; ``moved`` gives the keys to sort by, from those stored.
    """
    yield from _sorted(spill, 0, max(lines, 1) << 32, capacity, merge, moved or (lambda keys: keys))


def _sorted(
    spill: Spill, low: int, high: int, capacity: int, merge: Merge, moved: Callable[..., Any]
) -> Iterator[Keyed]:
    if spill.count <= capacity:
        yield merge(_in_memory(spill, moved))
    elif high - low == 1:
        yield _one_key(spill, merge)
    else:
        for part, part_low, part_high in _parts(spill, low, high, capacity, moved):
            yield from _sorted(part, part_low, part_high, capacity, merge, lambda keys: keys)


def _in_memory(spill: Spill, moved: Callable[..., Any]) -> Keyed:
    """Return sorted entries."""
    keys = np.empty(spill.count, dtype=np.uint64)
    values = np.empty(spill.count if spill.valued else 0)
    at = 0
    for some_keys, some_values in spill.read():
        keys[at : at + some_keys.size] = moved(some_keys)
        values[at : at + some_values.size] = some_values
        at += some_keys.size
    spill.remove()
    spare_keys, spare_values = np.empty_like(keys), np.empty_like(values)
    in_spare = radix_sort(keys, values, spare_keys, spare_values)
    return (spare_keys, spare_values) if in_spare else (keys, values)


def _one_key(spill: Spill, merge: Merge) -> Keyed:
    """Return what is made of a single key, that too many entries have."""
    merged: Keyed = (np.empty(0, dtype=np.uint64), np.empty(0))
    for keys, values in spill.read():
        merged = merge((np.concatenate([merged[0], keys]), np.concatenate([merged[1], values])))
    spill.remove()
    return merged


def _parts(
    spill: Spill, low: int, high: int, capacity: int, moved: Callable[..., Any]
) -> list[tuple[Spill, int, int]]:
    """Cut a file into parts, by ranges of keys; return each with its range."""
    shift = max(0, (high - low - 1).bit_length() - _BIN_BITS)
    counts = np.zeros(((high - low - 1) >> shift) + 1, dtype=np.int64)
    base, step = np.uint64(low), np.uint64(shift)
    for keys, _ in spill.read():
        count_bins(moved(keys), base, step, counts)
    # Less than all, so that there is an end to it.
    cuts = _cuts(counts, max(capacity, min(spill.count - 1, 2 * spill.count // _MOST_PARTS)))
    part_of_bin = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    parts = [
        Spill(spill.path.with_name(f"{spill.path.name}.{number}"))
        for number in range(len(cuts) - 1)
    ]
    ends = np.empty(len(parts), dtype=np.int64)
    for keys, values in spill.read():
        grouped_keys, grouped_values = np.empty_like(keys), np.empty_like(values)
        group_keys(moved(keys), values, base, step, part_of_bin, grouped_keys, grouped_values, ends)
        for part, bounds in zip(parts, pairwise([0, *ends.tolist()]), strict=True):
            own = slice(*bounds)
            part.append(grouped_keys[own], grouped_values[own] if spill.valued else None)
    spill.remove()
    edges = [low + (cut << shift) for cut in cuts[:-1]] + [high]
    return [(part, *edge) for part, edge in zip(parts, pairwise(edges), strict=True)]


def _cuts(counts: NDArray[np.int64], capacity: int) -> list[int]:
    """Return where to cut bins, so that those between two cuts hold what fits, or are one bin."""
    total = np.cumsum(counts)
    cuts, before = [0], 0
    while cuts[-1] < counts.size:
        fitting = int(np.searchsorted(total, before + capacity, side="right"))
        cuts.append(max(cuts[-1] + 1, fitting))
        before = int(total[cuts[-1] - 1])
    return cuts
