"""Bands of small images."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from elbmf.errors import InputError
from elbmf.plots.canvas import Panels, new_figure
from elbmf.plots.look import TITLE, faint_frame
from elbmf.plots.names import shown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["image_bands"]

# Inches of an image and of a title, from top to bottom.
_IMAGE, _TITLE = 0.82, 0.35


def image_bands(
    bands: Mapping[str, ArrayLike],
    *,
    columns: int = 10,
    figure: Figure | SubFigure | None = None,
) -> tuple[Axes, ...]:
    """Draw bands of 0/1 images, ones dark: data, their reconstruction, components.

    Parameters
    ----------
    bands : mapping of str to array-like of shape (count, height, width)
        The images of each band, under its title.
    columns : int, default=10
        Images next to each other.
    figure : Figure or SubFigure, optional
        An empty one to fill; a new one by default.

    Returns
    -------
    tuple of Axes
        One for each image, in their order.
    """
    stacks = {title: np.asarray(images) for title, images in bands.items()}
    if not stacks:
        raise InputError("There must be at least one band of images; got none.")
    for title, stack in stacks.items():
        if stack.ndim != 3:
            raise InputError(
                f"{title!r}: images must have 3 dimensions (count, height, width); "
                f"got {stack.ndim}."
            )
    rows = [max(1, math.ceil(len(stack) / columns)) for stack in stacks.values()]
    heights = [_IMAGE * count + _TITLE for count in rows]
    target = new_figure(0.8 * columns, sum(heights)) if figure is None else figure
    parts = target.subfigures(len(rows), 1, height_ratios=heights, squeeze=False)
    drawn: list[Axes] = []
    for (title, stack), part, count in zip(stacks.items(), parts.ravel(), rows, strict=True):
        part.suptitle(shown_name(title, 80), fontsize=TITLE, x=0.01, ha="left")
        axes = part.subplots(count, columns, squeeze=False).ravel()
        for axis in axes[len(stack) :]:
            axis.set_axis_off()
        for axis, image in zip(axes, stack, strict=False):
            axis.imshow(image, cmap="Greys", vmin=0, vmax=1.15, interpolation="nearest")
            faint_frame(axis, ticks=False)
        drawn.extend(axes[: len(stack)])
    return Panels(drawn)
