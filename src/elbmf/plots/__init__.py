"""Pictures, drawn with matplotlib where it is installed (``pip install 'elbmf[plots]'``).

One rule for all of them:

- The first argument is what the figure is about. Of a factorization that is a fitted estimator, a
  saved model or a pair ``(U, V)``; the data ``A`` comes second where it is looked at. Names are
  those of the model or of the data, unless they are given.
- ``ax`` is where to draw: axes of yours, or None for a new figure of a sensible size that depends
  neither on pyplot nor on a display. Figures of several panels take ``axes``, a sequence of as many
  as they return; `image_bands` takes a ``figure``.
- The axes are returned, one or a tuple of them. `figure_of` gives their figure, `save` writes it.

Names may be anything: they are drawn as text in one line, shortened where they are long. Nothing
here makes an array of the size of the matrix: large ones are counted into pixels.

Each figure is a file of its own and a line in the list below.
"""

from elbmf.plots.canvas import figure_of, new_figure, save, suffixes
from elbmf.plots.comparison import comparison
from elbmf.plots.factorization import factorization
from elbmf.plots.images import image_bands
from elbmf.plots.label_nmi import label_nmi, nmi_map
from elbmf.plots.lists import component_lists
from elbmf.plots.look import CLASS_COLOURS, CLASS_SHAPES, OKABE_ITO, grouped_digits, plain_axes
from elbmf.plots.matrix import reordered_matrix
from elbmf.plots.names import shown_name
from elbmf.plots.overlap import component_overlap
from elbmf.plots.ranks import rank_curve
from elbmf.plots.row_map import row_map
from elbmf.plots.trace import trace

__all__ = [
    "CLASS_COLOURS",
    "CLASS_SHAPES",
    "OKABE_ITO",
    "comparison",
    "component_lists",
    "component_overlap",
    "factorization",
    "figure_of",
    "grouped_digits",
    "image_bands",
    "label_nmi",
    "new_figure",
    "nmi_map",
    "plain_axes",
    "rank_curve",
    "reordered_matrix",
    "row_map",
    "save",
    "shown_name",
    "suffixes",
    "trace",
]
