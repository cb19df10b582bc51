"""Single lines: a row or a column alone is a component without an error."""

import numpy as np

from elbmf.boolean.product import Bools
from elbmf.search.starts.base import Circumstances

__all__ = ["single_lines"]


def single_lines(circumstances: Circumstances) -> tuple[Bools, Bools]:
    """Return those of the rows or columns, whichever are fewer, that have most ones."""
    local, k, _ = circumstances
    axis = int(np.argmin(local.A.shape))
    lines = local.lines[axis]
    longest = np.argsort(-np.diff(lines.indptr), kind="stable")[:k]
    alone = np.zeros((longest.size, local.A.shape[axis]), dtype=np.bool_)
    alone[np.arange(longest.size), longest] = True
    ones = np.zeros((longest.size, local.A.shape[1 - axis]), dtype=np.bool_)
    for own, line in zip(ones, longest, strict=True):
        own[lines.indices[lines.indptr[line] : lines.indptr[line + 1]]] = True
    U, V = (ones, alone) if axis else (alone, ones)
    return np.ascontiguousarray(U.T), V
