"""Comparing methods on a matrix, and what a method finds with what it finds in random data.

Methods are compared side by side, by figures, time and memory. Each runs in a process of its own,
one after the other: what one of them does, be it to take all memory or to hang, is no harm to the
others, and memory and time are its own.

`stability` compares fits of one method with one another, each of which sees a part of the data;
`significance` compares them with fits of random data.
"""

from elbmf.comparison.compare import Comparison, ComparisonProgress, compare
from elbmf.comparison.results import Result, ranked
from elbmf.comparison.significance import (
    Excess,
    Significance,
    SignificanceProgress,
    significance,
)
from elbmf.comparison.stability import Stability, StabilityProgress, stability

__all__ = [
    "Comparison",
    "ComparisonProgress",
    "Excess",
    "Result",
    "Significance",
    "SignificanceProgress",
    "Stability",
    "StabilityProgress",
    "compare",
    "ranked",
    "significance",
    "stability",
]
