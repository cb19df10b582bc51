"""Colours and shapes that show on white and on black, and the data that most pictures are of."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike
from scipy import sparse

from elbmf.plots import OKABE_ITO, new_figure
from elbmf.plots.matrix import EXTRA, HIT, MISSED

INK = "#7c828c"
BLUE, ORANGE, GREEN, PINK, YELLOW, SKY = OKABE_ITO[:6]
PALE = "#8a909a40"

# What an entry of a picture of errors is: 0 nothing, 1 covered one, 2 missed one, 3 extra.
_CELLS = ListedColormap(["#00000000", HIT, MISSED, EXTRA])
ONES = ListedColormap(["#00000000", INK])

# Rows and columns of the tiles.
_TILES = ((0, 14, 0, 22), (9, 23, 16, 36), (19, 32, 31, 50), (27, 40, 44, 60))

matplotlib.rcParams.update(
    {
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": INK,
        "axes.titlesize": 10,
        "xtick.color": INK,
        "ytick.color": INK,
        "font.size": 9.5,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "legend.frameon": False,
        "svg.hashsalt": "elbmf",
    }
)


def panels(count: int, *, width: float = 7.6, height: float = 2.6, **options: Any) -> Any:
    """Return a figure and its axes, one beside the other."""
    figure = new_figure(width, height)
    return figure, figure.subplots(1, count, squeeze=False, **options)[0]


def bare(ax: Any, title: str = "") -> Any:
    """Leave a frame and a title of an axis."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(title)
    for spine in ax.spines.values():
        spine.set_color(PALE)
    return ax


def curve_axis(ax: Any, title: str, xlabel: str) -> Any:
    """Dress an axis for curves."""
    ax.set_title(title, loc="left")
    ax.set_xlabel(xlabel)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=PALE, linewidth=0.6)
    return ax


def show_ones(ax: Any, matrix: ArrayLike, title: str = "") -> Any:
    """Draw a 0/1 matrix."""
    bare(ax, title).imshow(
        np.asarray(matrix, dtype=int), cmap=ONES, vmin=0, vmax=1, interpolation="nearest"
    )
    return ax


def show_errors(ax: Any, matrix: ArrayLike, product: ArrayLike, title: str = "") -> Any:
    """Draw which ones are covered, which are missed, and which zeros are covered."""
    A, B = np.asarray(matrix, dtype=bool), np.asarray(product, dtype=bool)
    bare(ax, title).imshow(
        np.where(A & B, 1, np.where(A, 2, np.where(B, 3, 0))),
        cmap=_CELLS,
        vmin=0,
        vmax=3,
        interpolation="nearest",
    )
    return ax


def legend_of_errors(figure: Any) -> None:
    """Say below the axes what the colours of `show_errors` are."""
    from matplotlib.patches import Patch

    named = {"covered one": HIT, "missed one": MISSED, "covered zero": EXTRA}
    figure.legend(
        handles=[Patch(color=color, label=name) for name, color in named.items()],
        loc="outside lower center",
        ncols=3,
    )


def noisy_tiles(noise: float = 0.05) -> sparse.csr_array:
    """Return 40×60 cells with 4 tiles along the diagonal that overlap, a share of cells flipped."""
    A = np.zeros((40, 60), dtype=bool)
    for top, bottom, left, right in _TILES:
        A[top:bottom, left:right] = True
    return sparse.csr_array(A ^ (np.random.default_rng(1).random(A.shape) < noise))
