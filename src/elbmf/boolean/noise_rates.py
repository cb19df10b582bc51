"""How often data differs from a product, inside and outside of what it covers."""

import math
from dataclasses import dataclass

from elbmf.boolean.coverage import Cover

__all__ = ["NoiseRates"]


@dataclass(frozen=True)
class NoiseRates:
    """Two noise rates: one for the cells that a product covers, one for all others.

    Parameters
    ----------
    false_positive : float
        p₀, the share of the cells outside of all components that are ones; 0 if there are no such
        cells.
    false_negative : float
        1 − p₁, the share of the cells in components that are zeros; 0 if there are no such cells.
    extra_weight : float
        What a covered zero costs under these rates, when an uncovered one costs 1:
        log((1 − p₀)/(1 − p₁)) / log(p₁/p₀). 1 where components have no more ones than other cells.
    bits_of_one, bits_of_zero : float
        By how many bits the data gets shorter when a one is covered, and longer when a zero is.

    Notes
    -----
    The weight and the bits are made of (ones + ½)/(cells + 1) in place of the shares (Krichevsky
    and Trofimov), so that they are finite for components without a zero, for data without a one,
    and where nothing is covered.
    """

    false_positive: float
    false_negative: float
    extra_weight: float
    bits_of_one: float
    bits_of_zero: float

    @classmethod
    def of(cls, cover: Cover) -> "NoiseRates":
        """Estimate the rates from what a product covers."""
        others = cover.cells - cover.covered
        p1 = (cover.hits + 0.5) / (cover.covered + 1)
        p0 = (cover.missed + 0.5) / (others + 1)
        tells = p1 > p0
        one = math.log2(p1 / p0) if tells else 0.0
        zero = math.log2((1 - p0) / (1 - p1)) if tells else 0.0
        return cls(
            cover.missed / others if others else 0.0,
            cover.extra / cover.covered if cover.covered else 0.0,
            zero / one if tells else 1.0,
            one,
            zero,
        )

    @classmethod
    def equal(cls, cover: Cover) -> "NoiseRates":
        """Estimate one rate for all cells: a covered zero costs as much as an uncovered one."""
        rate = cover.loss / cover.cells if cover.cells else 0.0
        smooth = (cover.loss + 0.5) / (cover.cells + 1)
        bits = max(0.0, math.log2((1 - smooth) / smooth))
        return cls(rate, rate, 1.0, bits, bits)
