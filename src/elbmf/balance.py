"""Balancing the scales of U and V, which the relaxation leaves free: (U·D)(D⁻¹·V) = UV.

Rounding at ½ needs the two factors on the same scale. A column's scale is its contraharmonic mean
Σx²/Σx: the typical size of the entries that matter, whatever the share of zeros. It is 1 for a
Boolean column, so that balancing ends by itself.
"""

import numpy as np
from numpy.typing import NDArray

from elbmf.step import Summary

__all__ = ["balancing_scale"]

# Columns below this scale are empty for all purposes and left alone.
_EMPTY = 1e-8


def balancing_scale(left: Summary, right: Summary) -> NDArray[np.float64]:
    """Return D: multiplying ``left`` by it and dividing ``right`` by it gives both one scale."""
    left_scale, right_scale = _scale(left), _scale(right)
    usable = (left_scale > _EMPTY) & (right_scale > _EMPTY)
    ratio = np.divide(right_scale, left_scale, out=np.ones_like(left_scale), where=usable)
    return np.sqrt(ratio)


def _scale(summary: Summary) -> NDArray[np.float64]:
    squares = np.diagonal(summary.gram)
    return np.divide(
        squares, summary.totals, out=np.zeros_like(squares), where=summary.totals > _EMPTY
    )
