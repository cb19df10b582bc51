"""Comparing methods on a matrix: figures of each, with time and memory, side by side.

Each method runs in a process of its own, one after the other: what one of them does, be it to take
all memory or to hang, is no harm to the others, and memory and time are its own.
"""

from elbmf.comparison.compare import Comparison, ComparisonProgress, compare
from elbmf.comparison.results import Result, ranked

__all__ = ["Comparison", "ComparisonProgress", "Result", "compare", "ranked"]
