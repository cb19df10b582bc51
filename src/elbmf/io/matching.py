"""Whether the rows or columns of two matrices are the same, by their number and their names."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.errors import InputError

__all__ = [
    "DifferentLinesError",
    "check_same_lines",
    "first_few",
    "in_order",
    "line_order",
    "nearest_names",
    "told_repeated",
    "unknown_lines",
]

_SHOWN = 3

# Among more names than this, a look for near ones takes long.
_MOST_COMPARED = 50_000

Names = Sequence[str] | None


class DifferentLinesError(InputError):
    """Rows or columns are not those that were expected."""


def line_order(
    what: Literal["rows", "columns"],
    theirs: tuple[int, Names],
    ours: tuple[int, Names],
    owner: str = "the model",
) -> NDArray[np.intp] | None:
    """Return where each of our rows or columns is among theirs.

    Parameters
    ----------
    what : {"rows", "columns"}
        Which they are.
    theirs, ours : (int, sequence of str or None)
        How many there are, and their names; without names on one side, the order is taken to be
        the same.
    owner : str
        Whose ours are.

    Returns
    -------
    ndarray or None
        None where they come in the same order.

    Raises
    ------
    DifferentLinesError
        Where they are others; the message says in what, and can follow a file's name.
    """
    (count, names), (expected, own) = theirs, ours
    if count != expected:
        told = f" {_difference(what, names, own, owner)}" if names and own else ""
        raise DifferentLinesError(f"has {count} {what}, but {owner} has {expected}.{told}")
    if names is None or own is None or list(names) == list(own):
        return None
    position = {name: at for at, name in enumerate(names)}
    if len(position) < count or position.keys() != set(own):
        raise DifferentLinesError(
            f"its {what} are not those of {owner}. {_difference(what, names, own, owner)}"
        )
    return np.array([position[name] for name in own], dtype=np.intp)


def in_order(matrix: Any, rows: Any, columns: Any) -> Any:
    """Return a matrix, or data frame, with its lines in an order; None leaves them as they are."""
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix)
    if rows is not None:
        matrix = getattr(matrix, "iloc", matrix)[rows]
    if columns is not None:
        matrix = getattr(matrix, "iloc", matrix)[:, columns]
    return matrix


def told_repeated(names: Sequence[str]) -> str:
    """Say which two columns have the same name, and why that matters; nothing if none have."""
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        if first.setdefault(name, at) != at:
            return (
                f"Columns {first[name]} and {at} are both called {name!r}, so that those of new "
                "data can be told by their order only. Give each a name of its own."
            )
    return ""


def unknown_lines(theirs: Sequence[str], ours: Sequence[str]) -> list[int]:
    """Return the places of those of their names that we do not have."""
    known = set(ours)
    return [at for at, name in enumerate(theirs) if name not in known]


def first_few(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def nearest_names(name: str, known: Sequence[str]) -> list[str]:
    """Return the names that somebody may have meant who wrote another; none where none is near."""
    some = list(islice(known, _MOST_COMPARED))
    lower = name.lower()
    found = [each for each in some if each.lower() == lower]
    found += difflib.get_close_matches(name, some, n=_SHOWN, cutoff=0.4)
    # What is only a part of a name is far from it by its letters.
    found += [each for each in some if len(lower) > 2 and lower in each.lower()]
    return list(dict.fromkeys(found))[:_SHOWN]


def check_same_lines(
    what: Literal["rows", "columns"],
    theirs: tuple[int, Names],
    ours: tuple[int, Names],
    owner: str = "the model",
) -> None:
    """Raise where rows or columns are not ours, or come in another order; see `line_order`."""
    order = line_order(what, theirs, ours, owner)
    if order is not None and theirs[1] and ours[1]:
        at = int(np.argmax(order != np.arange(len(order))))
        raise DifferentLinesError(
            f"its {what} come in another order than those of {owner}: {what.removesuffix('s')} "
            f"{at} is {theirs[1][at]!r}, not {ours[1][at]!r}. Put them in the same order."
        )


def _difference(what: str, theirs: Sequence[str], ours: Sequence[str], owner: str) -> str:
    """Name the first lines that only one side has, or the first that differ in place."""
    present = set(theirs)
    parts = [
        f"{title}: {first_few(names)}"
        for title, names in (
            ("Missing", [name for name in ours if name not in present]),
            (f"Unknown to {owner}", [theirs[at] for at in unknown_lines(theirs, ours)]),
        )
        if names
    ]
    if not parts:
        pairs = enumerate(zip(theirs, ours, strict=False))
        differing = ((at, a, b) for at, (a, b) in pairs if a != b)
        parts = [
            f"{what.removesuffix('s')} {at} is {a!r}, not {b!r}"
            for at, a, b in islice(differing, _SHOWN)
        ]
        parts.append("names occur more than once, so they cannot be put in order")
    return "; ".join(parts) + "."
