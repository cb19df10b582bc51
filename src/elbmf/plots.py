"""Pictures, drawn with matplotlib where it is installed."""

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from elbmf.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["image_bands", "save"]


def image_bands(bands: Mapping[str, ArrayLike], *, columns: int = 10) -> "Figure":
    """Draw bands of 0/1 images, ones dark: data, their reconstruction, components.

    Parameters
    ----------
    bands : mapping of str to array-like of shape (count, height, width)
        The images of each band, under its title.
    columns : int, default=10
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

    stacks = {title: np.asarray(images) for title, images in bands.items()}
    for title, stack in stacks.items():
        if stack.ndim != 3:
            raise InputError(
                f"{title!r}: images must have 3 dimensions (count, height, width); "
                f"got {stack.ndim}."
            )
    rows = [max(1, math.ceil(len(stack) / columns)) for stack in stacks.values()]
    figure = Figure(
        figsize=(0.8 * columns, 0.82 * sum(rows) + 0.35 * len(rows)), layout="constrained"
    )
    parts = figure.subfigures(
        len(rows), 1, height_ratios=[0.82 * r + 0.35 for r in rows], squeeze=False
    )
    for (title, stack), part, count in zip(stacks.items(), parts.ravel(), rows, strict=True):
        part.suptitle(title, fontsize=10, x=0.01, ha="left")
        axes = part.subplots(count, columns, squeeze=False).ravel()
        for axis in axes[len(stack) :]:
            axis.set_axis_off()
        for axis, image in zip(axes, stack, strict=False):
            axis.imshow(image, cmap="Greys", vmin=0, vmax=1.15, interpolation="nearest")
            axis.set_xticks([])
            axis.set_yticks([])
            for spine in axis.spines.values():
                spine.set_color("0.75")
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
