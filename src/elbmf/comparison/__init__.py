"""Comparing methods on a matrix: figures of each, with time and memory, side by side.

Each method runs in a process of its own, one after the other: what one of them does, be it to take
all memory or to hang, is no harm to the others, and memory and time are its own.

`stability` compares fits of one method with one another, each of which sees a part of the data.
"""

from elbmf.comparison.compare import Comparison, ComparisonProgress, compare
from elbmf.comparison.results import Result, ranked
from elbmf.comparison.stability import Stability, StabilityProgress, stability

__all__ = [
    "Comparison",
    "ComparisonProgress",
    "Result",
    "Stability",
    "StabilityProgress",
    "compare",
    "ranked",
    "stability",
]
