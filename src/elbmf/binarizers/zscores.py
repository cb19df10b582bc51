"""Which values are high: those whose z-scores are above a cutoff, or in the upper quantile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Z_UPPER_5_PERCENT", "above_zscore", "upper_share"]

Z_UPPER_5_PERCENT = 1.645
"""The cutoff above which 5% of a normal distribution lie."""


def above_zscore(
    values: NDArray[np.floating], cutoff: float = Z_UPPER_5_PERCENT
) -> NDArray[np.bool_]:
    """Return which values have a z-score above a cutoff, along the last axis.

    Where all values are the same, none is high. NaN are not high, and count for nothing.
    """
    mean = np.nanmean(values, axis=-1, keepdims=True)
    deviation = np.nanstd(values, axis=-1, keepdims=True)
    return values - mean > cutoff * deviation


def upper_share(values: NDArray[np.floating], share: float = 0.05) -> NDArray[np.bool_]:
    """Return which values are above the quantile 1 − share of the last axis.

    A z-score orders values as they are, so this is the upper quantile of z-scores as well. The
    quantile is interpolated between neighbours, so that the high values are at most one more than
    the share. Values equal to it are not high, so that with ties they may be fewer.
    """
    return values > np.nanquantile(values, 1 - share, axis=-1, keepdims=True)
