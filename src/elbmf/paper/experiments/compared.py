"""The methods that the paper compares, how each looks in a figure, and curves of means."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elbmf.estimators import ELBMF, BooleanFactorizer, method
from elbmf.paper.experiments.experiment import PLAIN, REFINED, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COMPARED",
    "PAPERS_ASSO",
    "PAPERS_BINAPS",
    "RIVALS",
    "ComparedMethod",
    "draw_band",
    "grouped",
    "legend_below",
    "mark_of",
]

PAPERS_ASSO, PAPERS_BINAPS = "asso as in the paper", "binaps as in the paper"
"""Rivals with the parameters of the paper, where ours are others."""

_VARIANTS = {PAPERS_ASSO: ("asso", "Asso τ = 1"), PAPERS_BINAPS: ("binaps", "Binaps authors'")}


@dataclass(frozen=True)
class ComparedMethod:
    """A method in a comparison: its title, its look in figures, and what makes an estimator.

    Colours are those of Okabe and Ito, which all eyes tell apart, and markers are for those who
    print without colours.
    """

    title: str
    colour: str
    marker: str
    line: str
    make: Callable[..., BooleanFactorizer]


COMPARED: dict[str, ComparedMethod] = {
    REFINED: ComparedMethod("ELBMF refined", "#000000", "D", "-", ELBMF),
    PLAIN: ComparedMethod(
        "ELBMF", "#D55E00", "o", "-", lambda **parameters: ELBMF(refine=False, **parameters)
    ),
    "primp": ComparedMethod("Primp", "#0072B2", "s", "--", method("primp")),
    "orm": ComparedMethod("OrM", "#009E73", "^", "--", method("orm")),
    "asso": ComparedMethod("Asso", "#CC79A7", "v", "-.", method("asso")),
    "grecond": ComparedMethod("GreConD", "#E69F00", "<", "-.", method("grecond")),
    "sofa": ComparedMethod("Sofa", "#56B4E9", ">", ":", method("sofa")),
    "nmf": ComparedMethod("NMF rounded", "#7F7F7F", "P", ":", method("nmf")),
    "binaps": ComparedMethod("Binaps", "#A6761D", "X", ":", method("binaps")),
}
"""By name, in the order of legends. Rivals have their default parameters."""

RIVALS = tuple(name for name in COMPARED if name not in (PLAIN, REFINED))
"""The seven methods the paper compares with."""


def mark_of(name: str) -> tuple[str, dict[str, Any]]:
    """Return what a single mark of a method is called and how it looks; variants are hollow."""
    hollow = name in _VARIANTS
    own, title = _VARIANTS[name] if hollow else (name, COMPARED[name].title)
    method = COMPARED[own]
    return title, {
        "marker": method.marker,
        "linestyle": "none",
        "markersize": 6.5,
        "markerfacecolor": "white" if hollow else method.colour,
        "markeredgecolor": method.colour if hollow else "black",
        "markeredgewidth": 1.3 if hollow else 0.4,
    }


def grouped(rows: Iterable[Row], by: str, of: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values of a column, sorted, with mean and deviation of another over their rows."""
    values: dict[Any, list[float]] = {}
    for row in rows:
        values.setdefault(row[by], []).append(row[of])
    keys = sorted(values)
    return (
        np.array(keys),
        np.array([np.mean(values[key]) for key in keys]),
        np.array([np.std(values[key]) for key in keys]),
    )


def draw_band(
    axes: Axes,
    x: np.ndarray,
    mean: np.ndarray,
    deviation: np.ndarray,
    most: float = np.inf,
    **style: Any,
) -> None:
    """Draw a mean as a line and the standard deviation as a shade, which ends at ``most``."""
    (line,) = axes.plot(x, mean, **style)
    above = np.minimum(mean + deviation, most)
    axes.fill_between(x, mean - deviation, above, color=line.get_color(), alpha=0.12, linewidth=0)


def legend_below(figure: Figure, axes: Axes, columns: int, *, reverse: bool = False) -> None:
    """Put the legend of one panel below all of them, where it covers nothing."""
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=columns,
        reverse=reverse,
        frameon=False,
        fontsize=9,
    )
