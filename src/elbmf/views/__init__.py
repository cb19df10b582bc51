"""What is shown of a factorization, before anything is drawn: order, grids, overlap, support.

Pictures (`elbmf.plots`) and the report (`elbmf.report`) are made from these. All work on sparse
data; what they count into is as large as a picture, or as one side of the matrix.
"""

from elbmf.views.grid import ErrorGrid, error_grid
from elbmf.views.order import BlockOrder, block_order
from elbmf.views.overlap import ComponentOverlap, component_overlap
from elbmf.views.support import Support, support

__all__ = [
    "BlockOrder",
    "ComponentOverlap",
    "ErrorGrid",
    "Support",
    "block_order",
    "component_overlap",
    "error_grid",
    "support",
]
