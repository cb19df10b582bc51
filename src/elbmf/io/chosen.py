"""Which columns of a file to read: those that are named, or all but those.

A choice is a name, names with commas between, or a list of either; ``*`` in a name stands for any
characters, and ``?`` for one, unless a column is called exactly so.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import chain
from typing import TypeAlias

import numpy as np
from scipy import sparse

from elbmf.errors import InputError, Setting
from elbmf.io.matching import nearest_names
from elbmf.io.table import LabelledMatrix

__all__ = [
    "Choice",
    "UnknownColumnsError",
    "chosen_columns",
    "chosen_fields",
    "names_chosen",
    "of_chosen_columns",
]

Choice: TypeAlias = str | Sequence[str] | None
"""Names of columns; None says nothing about them."""

_MOST_SHOWN = 8


class UnknownColumnsError(InputError):
    """A column is named that a file does not have; ``names`` says which."""

    def __init__(self, option: str, unknown: Sequence[str], known: Sequence[str]) -> None:
        nearest = nearest_names(unknown[0], known)
        named = ", ".join(map(repr, nearest or known[:_MOST_SHOWN]))
        says = "The nearest are" if nearest else "Its columns are"
        more = ", …" if not nearest and len(known) > _MOST_SHOWN else ""
        super().__init__(
            f"there is no column {', '.join(map(repr, unknown))}, which ",
            Setting(option),
            f" names. {says} {named}{more}. Correct the name.",
        )
        self.names = tuple(unknown)


def names_chosen(choice: Choice, known: Sequence[str]) -> tuple[set[str], list[str]]:
    """Return which of the known names are chosen, and what names none of them."""
    found: set[str] = set()
    unknown: list[str] = []
    own = set(known)
    for said in [choice] if isinstance(choice, str) else list(choice or ()):
        if not isinstance(said, str):
            raise InputError(f"columns are chosen by their names, got {said!r}.")
        # A name may have a comma in it.
        for name in [said] if said in own else filter(None, map(str.strip, said.split(","))):
            matching = {name} if name in own else set()
            if not matching and any(sign in name for sign in "*?"):
                matching = {each for each in known if fnmatchcase(each, name)}
            found |= matching
            unknown += [] if matching else [name]
    return found, unknown


def chosen_columns(
    names: Sequence[str], columns: Choice, drop: Choice, others: Sequence[str] = ()
) -> list[bool]:
    """Return which columns to read.

    Parameters
    ----------
    names : sequence of str
        Of all columns of data.
    columns, drop : choices
        Those to read, all if nothing is said, and those to leave out.
    others : sequence of str
        What else may be named, such as the title above the names of rows.
    """
    known = [*names, *others]
    kept = set(names)
    for option, choice in (("columns", columns), ("drop", drop)):
        if not choice:
            continue
        found, unknown = names_chosen(choice, known)
        if unknown:
            raise UnknownColumnsError(option, unknown, known)
        kept = kept & found if option == "columns" else kept - found
    if not kept and (columns or drop):
        raise InputError(
            "no column is left of the matrix. Choose others with ",
            Setting("columns"),
            " and ",
            Setting("drop"),
            ".",
        )
    return [name in kept for name in names]


def chosen_fields(
    titles: Sequence[str], columns: Choice, drop: Choice
) -> tuple[list[int], Choice, Choice]:
    """Return which fields of a file of pairs are read, in the order that is said.

    A choice that names other things than titles is of the columns of the matrix, and returned.
    """
    fields = list(range(len(titles)))
    if columns:
        said = [columns] if isinstance(columns, str) else list(columns)
        each = [name for one in said for name in ([one] if one in titles else one.split(","))]
        if all(isinstance(one, str) for one in said) and not names_chosen(columns, titles)[1]:
            found = [sorted(names_chosen(name, titles)[0], key=titles.index) for name in each]
            fields = [titles.index(name) for name in dict.fromkeys(chain(*found))]
            columns = None
    if drop and not (found_unknown := names_chosen(drop, titles))[1]:
        fields = [at for at in fields if titles[at] not in found_unknown[0]]
        drop = None
    return fields, columns, drop


def of_chosen_columns(table: LabelledMatrix, columns: Choice, drop: Choice) -> LabelledMatrix:
    """Return a matrix with only the columns that are chosen."""
    if not (columns or drop):
        return table
    kept = np.flatnonzero(chosen_columns(table.column_labels(), columns, drop))
    names = table.column_labels()
    values = sparse.csr_array(sparse.csc_array(table.values)[:, kept])
    return LabelledMatrix(values, table.row_names, [names[at] for at in kept])
