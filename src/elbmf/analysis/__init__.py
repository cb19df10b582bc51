"""What is shown of a factorization, before anything is drawn: order, grids, overlap, support.

Pictures (`elbmf.plots`) and the report (`elbmf.report`) are made from these. All work on sparse
data; what they count into is as large as a picture, or as one side of the matrix.
"""

from elbmf.analysis.doubts import doubt_text, doubts, left_out_text, trust_texts
from elbmf.analysis.grid import ErrorGrid, error_grid
from elbmf.analysis.layout import RowLayout, row_layout
from elbmf.analysis.order import (
    BlockOrder,
    ComponentOverlap,
    block_order,
    component_overlap,
    runs,
)
from elbmf.analysis.support import Support, best_first, line_ones, support, support_in_pieces

__all__ = [
    "BlockOrder",
    "ComponentOverlap",
    "ErrorGrid",
    "RowLayout",
    "Support",
    "best_first",
    "block_order",
    "component_overlap",
    "doubt_text",
    "doubts",
    "error_grid",
    "left_out_text",
    "line_ones",
    "row_layout",
    "runs",
    "support",
    "support_in_pieces",
    "trust_texts",
]
