"""Which lines of a component are named first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_first"]


def best_first(inside: NDArray[Any] | None, in_all: NDArray[Any]) -> NDArray[np.int64]:
    """Return the order of lines by how well they fit into a component.

    Those come first that have most ones inside; of equals, those that have fewest elsewhere. Lines
    that are alike stay in their order.

    Parameters
    ----------
    inside : ndarray, of shape (lines,) or (lines, components), or None
        Ones of each line among the component's other side, or their share. None without data.
    in_all : ndarray of int, of the same shape
        All ones of each line; without data, the components that it is in.
    """
    return np.lexsort((in_all,) if inside is None else (in_all, -inside), axis=0)
