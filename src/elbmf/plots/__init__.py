"""Pictures, drawn with matplotlib where it is installed (the extra ``plots``).

One rule for all of them:

- The first argument is what the figure is about. Of a factorization that is a fitted estimator, a
  saved model or a pair ``(U, V)``; the data ``A`` comes second where it is looked at. Names are
  those of the model or of the data, unless they are given; where both have names, the data may come
  in another order.
- ``ax`` is where to draw: axes of yours, or None for a new figure of a sensible size that depends
  neither on pyplot nor on a display. Figures of several panels take ``axes``, a sequence of as many
  as they return; `image_bands` takes a ``figure``.
- The axes are returned, one or a tuple of them. `figure_of` gives their figure, `save` writes it. A
  notebook shows it where a cell ends with them, with or without pyplot: those of a new figure by
  themselves, and axes of yours as whoever made them does.

Names may be anything: they are drawn as text in one line, shortened where they are long. Nothing
here makes an array of the size of the matrix: large ones are counted into pixels.

Each figure is a file of its own; a line in `FIGURES` makes it one of ``elbmf plot``. Names are
imported when first used.
"""

from typing import TYPE_CHECKING

from elbmf.plots.registry import FIGURES, Figure
from elbmf.utils.late import late_names

if TYPE_CHECKING:
    from elbmf.plots.canvas import figure_of, new_figure, save, suffixes
    from elbmf.plots.comparisons import comparison
    from elbmf.plots.dots import enrichment
    from elbmf.plots.heat import component_overlap
    from elbmf.plots.images import image_bands
    from elbmf.plots.lists import component_lists
    from elbmf.plots.look import CLASS_COLOURS, CLASS_SHAPES, OKABE_ITO, grouped_digits, plain_axes
    from elbmf.plots.maps import row_map
    from elbmf.plots.matrix import factorization, reordered_matrix
    from elbmf.plots.names import shown_name
    from elbmf.plots.nmi import label_nmi, nmi_map
    from elbmf.plots.ranks import rank_curve
    from elbmf.plots.stability import component_stability, consensus_map
    from elbmf.plots.traces import trace

__all__ = [
    "CLASS_COLOURS",
    "CLASS_SHAPES",
    "FIGURES",
    "OKABE_ITO",
    "Figure",
    "comparison",
    "component_lists",
    "component_overlap",
    "component_stability",
    "consensus_map",
    "enrichment",
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

# What is no figure of `elbmf plot`, by the file that has it.
_FILES = {
    "canvas": ("figure_of", "new_figure", "save", "suffixes"),
    "comparisons": ("comparison",),
    "dots": ("enrichment",),
    "images": ("image_bands",),
    "look": ("CLASS_COLOURS", "CLASS_SHAPES", "OKABE_ITO", "grouped_digits", "plain_axes"),
    "names": ("shown_name",),
    "nmi": ("label_nmi", "nmi_map"),
    "ranks": ("rank_curve",),
}


def _places() -> dict[str, str]:
    figures = (each.function for each in FIGURES.values() if isinstance(each.function, str))
    return {
        **{each.partition(":")[2]: each for each in figures},
        **{name: f"{__name__}.{file}:{name}" for file, names in _FILES.items() for name in names},
    }


__getattr__, __dir__ = late_names(__name__, _places)
