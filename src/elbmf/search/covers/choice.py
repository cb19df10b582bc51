"""The fewest bicliques of all there are, by integer programming.

Only maximal bicliques matter, which are the formal concepts of the table. Where they are few, a
set of them that covers all is chosen by HiGHS, which proves that there is no smaller one, or how
small one could be at best.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from elbmf.boolean.packed import unpack
from elbmf.boolean.product import Bools, Words, pack
from elbmf.search.covers.reduction import Table
from elbmf.utils.tuning import TUNING

__all__ = ["Choice", "choose_fewest", "maximal_bicliques"]


class Choice(NamedTuple):
    """Bicliques that cover all, if any were found, and how many it takes at least."""

    U: Bools | None
    V: Bools | None
    at_least: int


def maximal_bicliques(table: Table, most: int) -> tuple[Bools, Bools] | None:
    """Return the rows and the columns of all maximal bicliques, unless there are too many.

    Their column sets are the intersections of rows.
    """
    lines = pack(table.allowed)
    found: Words = lines[:1]
    for line in lines[1:]:
        found = np.unique(np.vstack([found, found & line, line[None]]), axis=0)
        if len(found) > most:
            return None
    found = found[found.any(axis=1)]
    columns = unpack(found, table.allowed.shape[1])
    # A row is in if it has all of the columns.
    missing = columns.astype(np.float32) @ (~table.allowed).T.astype(np.float32)
    return missing == 0, columns


def choose_fewest(table: Table, most: int, seconds: float) -> Choice | None:
    """Choose the fewest maximal bicliques that cover all required ones, or bound their number.

    None if there are more than ``most`` maximal ones.
    """
    found = maximal_bicliques(table, most)
    if found is None:
        return None
    rows, columns = found
    i, j = np.nonzero(table.required)
    if not i.size:
        return Choice(rows[:0].T, columns[:0], 0)
    covers = sparse.csc_array(rows[:, i] & columns[:, j]).T
    result = milp(
        np.ones(len(rows)),
        integrality=np.ones(len(rows)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(covers.astype(np.float64), lb=1),
        options={"node_limit": TUNING.nodes_to_choose}
        if seconds == math.inf
        else {"time_limit": max(0.0, seconds)},
    )
    bound = getattr(result, "mip_dual_bound", None)
    at_least = 0 if bound is None or not math.isfinite(bound) else math.ceil(bound - 1e-6)
    if result.x is None:
        return Choice(None, None, at_least)
    chosen = result.x > 0.5
    return Choice(np.ascontiguousarray(rows[chosen].T), columns[chosen], at_least)
