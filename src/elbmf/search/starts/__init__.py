"""Where the search starts from beside the relaxation, each in a file: components found quickly."""

from elbmf.search.starts.associations import greedy_associations
from elbmf.search.starts.base import Circumstances, Start
from elbmf.search.starts.concepts import greedy_concepts
from elbmf.search.starts.lines import single_lines

__all__ = ["STARTS", "Circumstances", "Start"]

STARTS: tuple[Start, ...] = (single_lines, greedy_concepts, greedy_associations)
"""The cheapest first."""
