"""Components of several factorizations as those of one, and what to make of them in no time."""

import numpy as np

from elbmf.boolean import Bools
from elbmf.packed import PackedFactors
from elbmf.refine import LocalSearch

__all__ = ["FEW_TURNS", "make_do", "side_by_side", "single_lines"]

FEW_TURNS = 4
"""Turns of a descent in which most is gained."""

# Those for what must do when there is no time for more.
_TURNS_AT_LAST = 12

# Ones and cells up to which such turns, and pooling, are quick.
_ONES_IN_NO_TIME, _CELLS_IN_NO_TIME = 5_000_000, 100_000_000


def side_by_side(parents: list[PackedFactors]) -> tuple[Bools, Bools]:
    """Return the components of several factorizations as those of one."""
    pairs = [parent.to_arrays() for parent in parents]
    return np.hstack([U for U, _ in pairs]), np.vstack([V for _, V in pairs])


def single_lines(local: LocalSearch, n_components: int) -> list[PackedFactors]:
    """Return two factorizations: by the columns, and by the rows, that have most ones."""
    found = []
    for axis in (1, 0):
        lines = local.lines[axis]
        longest = np.argsort(-np.diff(lines.indptr), kind="stable")[:n_components]
        alone = np.zeros((longest.size, local.A.shape[axis]), dtype=np.bool_)
        alone[np.arange(longest.size), longest] = True
        ones = np.zeros((longest.size, local.A.shape[1 - axis]), dtype=np.bool_)
        for own, line in zip(ones, longest, strict=True):
            own[lines.indices[lines.indptr[line] : lines.indptr[line + 1]]] = True
        U, V = (ones, alone) if axis else (alone, ones)
        found.append(local.pack(np.ascontiguousarray(U.T), V))
    return found


def make_do(local: LocalSearch, factors: PackedFactors, n_components: int) -> PackedFactors:
    """Make the best of components in little time: pooled with lines, dropped as they stand."""
    A, parents = local.A, [factors]
    quick = A.cells <= _CELLS_IN_NO_TIME and A.ones <= _ONES_IN_NO_TIME
    if quick:
        local.descend(factors, FEW_TURNS)
        parents += single_lines(local, n_components)
    U, V, _ = local.shrink(*side_by_side(parents), n_components)
    least = local.pack(U, V)
    local.descend(least, _TURNS_AT_LAST if quick else FEW_TURNS)
    return least
