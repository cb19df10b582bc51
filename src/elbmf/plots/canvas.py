"""Where figures are drawn: axes that are given or made, figures without pyplot, files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elbmf.errors import InputError
from elbmf.utils.extras import optional_module

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure_of", "new_figure", "one_of", "save", "several_of", "suffixes"]


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, independent of pyplot and of any display."""
    figures = optional_module("matplotlib.figure", extra="plots", purpose="drawing pictures")
    figure: Figure = figures.Figure(figsize=(width, height), layout="constrained")
    return figure


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
) -> tuple[Axes, ...]:
    """Return the axes that are given, if they are as many, or those of a new figure.

    Its size is in inches, and its axes lie in one row unless rows and columns are given; those
    beyond ``count`` stay empty. Options are those of ``Figure.subplots``.
    """
    if axes is not None:
        given = tuple(np.ravel(axes))
        if len(given) != count:
            raise InputError(f"axes must be {count} axes, in the order of the panels; got {given}.")
        return given
    figure = new_figure(width, height)
    figure.set_layout_engine("constrained", wspace=0.06)
    made = figure.subplots(rows, count if columns is None else columns, squeeze=False, **options)
    for unused in made.ravel()[count:]:
        unused.set_axis_off()
    return tuple(made.ravel()[:count])


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
        The file, which is replaced.
    dpi : int, default=120
        Resolution of pixel formats.
    """
    figure_of(drawn).savefig(path, dpi=dpi)
