"""Figures and axes that a notebook shows, without pyplot.

A notebook asks what a cell ends with for a picture. Figures of matplotlib have one only after
pyplot was imported, and then those that pyplot has made are shown at the end of the cell anyway;
axes never have one.
"""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elbmf.plots.canvas import Png, figure_of, png_of

__all__ = ["PictureAxes", "PictureFigure"]


class PictureAxes(Axes):
    """Axes that are shown as the figure that they are in."""

    def _repr_png_(self) -> Png | None:
        return png_of(figure_of(self))


class PictureFigure(Figure):
    """A figure that a notebook shows; its axes are `PictureAxes`, if they are of the usual kind."""

    def add_subplot(self, *args: Any, **kwargs: Any) -> Any:
        """Add axes, as matplotlib does."""
        others = {"axes_class", "polar", "projection"}
        if not others & kwargs.keys() and not (args and isinstance(args[0], Axes)):
            kwargs["axes_class"] = PictureAxes
        return super().add_subplot(*args, **kwargs)

    def _repr_png_(self) -> Png | None:
        return png_of(self)
