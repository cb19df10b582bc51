"""Pictures, drawn with matplotlib where it is installed."""

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from elbmf.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["image_grid", "save"]


def image_grid(
    images: ArrayLike, titles: Sequence[str] | None = None, *, columns: int = 5
) -> "Figure":
    """Draw 0/1 images side by side, ones dark, e.g. components whose columns are pixels.

    Parameters
    ----------
    images : array-like of shape (k, height, width)
        The images.
    titles : sequence of str, optional
        A text above each.
    columns : int, default=5
        Images next to each other.

    Returns
    -------
    matplotlib.figure.Figure
        Independent of pyplot and of any display.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plots", "drawing pictures") from error

    stack = np.asarray(images)
    if stack.ndim != 3:
        raise InputError(f"images must have 3 dimensions (k, height, width); got {stack.ndim}.")
    if titles is not None and len(titles) != len(stack):
        raise InputError(f"titles must be one for each of {len(stack)} images; got {len(titles)}.")
    columns = max(1, min(columns, len(stack)))
    rows = max(1, math.ceil(len(stack) / columns))
    figure = Figure(figsize=(1.5 * columns, 1.8 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis in axes:
        axis.set_axis_off()
    for position, image in enumerate(stack):
        axis = axes[position]
        axis.set_axis_on()
        axis.imshow(image, cmap="Greys", vmin=0, vmax=1, interpolation="nearest")
        axis.set_xticks([])
        axis.set_yticks([])
        if titles is not None:
            axis.set_title(titles[position], fontsize=9)
    return figure


def save(figure: "Figure", path: str | os.PathLike[str], *, dpi: int = 120) -> None:
    """Write a figure to a file; its suffix says which format.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to write.
    path : path-like
        The file, which is replaced.
    dpi : int, default=120
        Resolution of pixel formats.
    """
    figure.savefig(path, dpi=dpi)
