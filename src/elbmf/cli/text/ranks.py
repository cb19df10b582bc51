"""What is said of a search over ranks: a table, and what the criteria choose."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.cli.text.tables import table
from elbmf.estimators.rank_search import HELD_OUT, TITLES
from elbmf.utils.text import number, share

__all__ = ["choices_text", "ranks_table", "remarks", "tsv_lines"]

Columns = Mapping[str, NDArray[Any]]

# Ranks shown at most; where some are left out there are lines of dots besides.
_MOST_RANKS = 34


def _whole(value: float) -> str:
    return number(round(value)) if np.isfinite(value) else f"{value:g}"


_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "loss": ("loss", _whole),
    "relative_loss": ("relative loss", share),
    "mdl": ("MDL bits", _whole),
    "aic": ("AIC", _whole),
    "aic_gaussian": ("AIC, Gaussian", _whole),
    "bai_ng_1": ("Bai & Ng 1", share),
    "bai_ng_2": ("Bai & Ng 2", share),
    "bai_ng_3": ("Bai & Ng 3", share),
    HELD_OUT: ("held-out error", share),
}
_ALWAYS_SHOWN = ("loss", "relative_loss", "mdl", "aic", "bai_ng_1", HELD_OUT)


def ranks_table(columns: Columns, choices: Mapping[str, int], criterion: str) -> str:
    """Lay out the table of a search, the least of each column with a star.

    Where there are many ranks, those around the choices are shown.
    """
    ranks = columns["rank"]
    names = [
        name
        for name in _COLUMNS
        if name in columns and (name in _ALWAYS_SHOWN or name == criterion)
    ]
    least = {name: int(np.nanargmin(columns[name])) for name in names}
    chosen = {choices[name] for name in names if name in choices}
    shown = _around(ranks, sorted(chosen))

    def cell(name: str, position: int) -> str:
        value = columns[name][position]
        text = "" if np.isnan(value) else _COLUMNS[name][1](value)
        return text + ("*" if position == least[name] else " ")

    lines = [[str(ranks[at]), *(cell(name, at) for name in names)] for at in shown]
    # From the last gap on, so that those before stay where they are.
    gaps = [place for place, (low, high) in enumerate(pairwise(shown), 1) if high - low > 1]
    for place in reversed(gaps):
        lines.insert(place, ["…", *("" for _ in names)])
    headers = ["rank", *(_COLUMNS[name][0] + " " for name in names)]
    return table(headers, lines)


def _around(ranks: NDArray[Any], chosen: list[int]) -> list[int]:
    """Return the positions of the ranks to show: the first, the last, those nearest a choice."""
    positions = np.arange(len(ranks))
    if len(ranks) <= _MOST_RANKS:
        return positions.tolist()
    centres = np.flatnonzero(np.isin(ranks, chosen))
    distance = np.abs(positions[:, None] - centres).min(axis=1)
    distance[[0, -1]] = -1
    return sorted(np.argsort(distance, kind="stable")[:_MOST_RANKS].tolist())


def choices_text(choices: Mapping[str, int], criterion: str) -> str:
    """Say what each criterion chooses, the one that counts first."""
    order = sorted(choices, key=lambda name: name != criterion)
    return "\n".join(f"{TITLES[name]} chooses {choices[name]}" for name in order)


def remarks(columns: Columns, chosen: int, criterion: str, possible: int) -> list[str]:
    """Say what there is to know about the choice, in a matrix with a highest possible rank."""
    said = []
    highest = int(columns["rank"].max())
    if len(columns["rank"]) <= highest:
        said.append(
            f"{len(columns['rank']) - 1} ranks from 1 to {highest} were looked at, and the other "
            "criteria choose among those; --every looks at all."
        )
    if chosen == 0:
        said.append(
            f"No component at all has the least {TITLES[criterion]}: the matrix may hold no "
            "structure that components could describe."
        )
    elif chosen == highest < possible:
        said.append(
            f"{highest} is the highest rank looked at, the best rank may be higher: "
            f"try --max {min(2 * highest, possible)}"
        )
    return said


def tsv_lines(columns: Columns) -> list[str]:
    """Return the whole table as lines of tab-separated values, with all digits."""
    names = list(columns)
    rows = zip(*(columns[name].tolist() for name in names), strict=True)
    return ["\t".join(names), *("\t".join(map(str, row)) for row in rows)]
