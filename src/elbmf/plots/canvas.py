"""Where figures are drawn: axes that are given or made, figures without pyplot, files."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elbmf.errors import InputError
from elbmf.io.files import replacing
from elbmf.utils.extras import optional_module

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "Panels",
    "Png",
    "figure_of",
    "new_figure",
    "one_of",
    "png_of",
    "save",
    "several_of",
    "suffixes",
]

# In a notebook: how many pixels of the page an inch takes, and how many the picture has for it, so
# that it is sharp on fine screens.
_SHOWN_DPI, _DRAWN_DPI = 85, 170

Png = tuple[bytes, dict[str, Any]]
"""A picture for a notebook, and how wide to show it."""


class Panels(tuple["Axes", ...]):
    """The axes of a figure of several panels, a tuple that a notebook shows as that figure."""

    def _repr_png_(self) -> Png | None:
        # Axes that the user has made are the user's to show, and pyplot does so by itself.
        draws = getattr(figure_of(self), "_repr_png_", None) if self else None
        return None if draws is None else draws()


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, independent of pyplot and of any display.

    A notebook shows it, or any axes of it, where a cell ends with it.
    """
    optional_module("matplotlib.figure", extra="plots", purpose="drawing pictures")
    from elbmf.plots.shown import PictureFigure

    figure: Figure = PictureFigure(figsize=(width, height), layout="constrained")
    return figure


def png_of(figure: Figure) -> Png | None:
    """Return what a notebook shows of a figure; nothing of one that nobody has drawn on."""
    if not figure.get_axes():
        return None
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=_DRAWN_DPI)
    return stream.getvalue(), {"width": round(_SHOWN_DPI * figure.get_size_inches()[0])}


def one_of(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes that are given, or those of a new figure of a size in inches."""
    return new_figure(width, height).subplots() if ax is None else ax


def several_of(
    axes: Any,
    count: int,
    width: float,
    height: float,
    *,
    rows: int = 1,
    columns: int | None = None,
    **options: Any,
) -> Panels:
    """Return the axes that are given, if they are as many, or those of a new figure.

    Its size is in inches, and its axes lie in one row unless rows and columns are given; those
    beyond ``count`` stay empty. Options are those of ``Figure.subplots``.
    """
    if axes is not None:
        given = Panels(np.ravel(axes))
        if len(given) != count:
            raise InputError(f"axes must be {count} axes, in the order of the panels; got {given}.")
        return given
    figure = new_figure(width, height)
    figure.set_layout_engine("constrained", wspace=0.06)
    made = figure.subplots(rows, count if columns is None else columns, squeeze=False, **options)
    for unused in made.ravel()[count:]:
        unused.set_axis_off()
    return Panels(made.ravel()[:count])


def figure_of(drawn: Figure | Axes | Sequence[Axes]) -> Figure:
    """Return the figure of what one of the functions here returned."""
    parts = np.ravel(np.asarray(drawn, dtype=object))
    if not parts.size:
        raise InputError("There are no axes, so there is no figure.")
    # Axes may be in a part of a figure; the canvas is that of the whole.
    figure: Figure = (parts[0] if hasattr(parts[0], "savefig") else parts[0].figure).canvas.figure
    return figure


def suffixes() -> list[str]:
    """Return the suffixes of files that figures can be written to, without the dot."""
    return sorted(new_figure(1, 1).canvas.get_supported_filetypes())


def save(
    drawn: Figure | Axes | Sequence[Axes], path: str | os.PathLike[str], *, dpi: int = 120
) -> None:
    """Write a figure to a file; its suffix says which format.

    Parameters
    ----------
    drawn : Figure, Axes or sequence of Axes
        What one of the functions here returned, or its figure.
    path : path-like
        The file, which is replaced as a whole or not touched at all.
    dpi : int, default=120
        Resolution of pixel formats.
    """
    target = Path(path)
    figure, suffix = figure_of(drawn), target.suffix.removeprefix(".").lower()
    with replacing(target, compress=False) as stream:
        figure.savefig(stream, format=suffix or None, dpi=dpi)
