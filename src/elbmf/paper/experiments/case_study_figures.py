"""Pictures of the case study: embeddings side by side, and components against classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from elbmf.paper.experiments.experiment import Row, Tables
from elbmf.plots import CLASS_COLOURS, CLASS_SHAPES, new_figure, nmi_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]

_LEGEND_COLUMNS = 6

_TITLES = {
    "plain": "reconstruction, plain",
    "refined": "reconstruction, refined",
    "balanced": "reconstruction, balanced",
}


def draw(tables: Tables) -> Mapping[str, Figure]:
    """Draw a figure in the manner of Fig. 7 for each data set and factorization."""
    embedded, compared = _by_factorization(tables["embedding"]), _by_factorization(tables["nmi"])
    purity = {(row["data"], row["method"]): row["purity"] for row in tables["separation"]}
    figures = {}
    for (data, method), nmi in compared.items():
        panels = {
            _title("a", "target", purity[data, "target"]): embedded[data, "target"],
            _title("b", _TITLES[method], purity[data, method]): embedded[data, method],
        }
        figures[f"{data}-{method}"] = _figure(panels, nmi)
    return figures


def _by_factorization(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row["data"], row["method"]), []).append(row)
    return found


def _title(letter: str, what: str, purity: float) -> str:
    return f"({letter}) {what}\n{purity:.0%} of neighbours alike"


def _figure(panels: Mapping[str, list[Row]], nmi: list[Row]) -> Figure:
    labels = sorted({row["label"] for row in nmi})
    legend_rows = -(-len(labels) // _LEGEND_COLUMNS)
    figure = new_figure(12.5, 4.5 + 0.25 * legend_rows)
    axes = figure.subplots(1, 3, width_ratios=[1, 1, 1.25])
    for axis, (title, rows) in zip(axes, panels.items(), strict=False):
        _points(axis, rows, labels)
        axis.set_title(title, fontsize=11)
    _heat_map(axes[-1], nmi, labels)
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=min(len(labels), _LEGEND_COLUMNS),
        frameon=False,
        fontsize=9,
        markerscale=2.5,
        handletextpad=0.2,
    )
    return figure


def _points(axis: Axes, rows: list[Row], labels: list[str]) -> None:
    """Draw an embedding, each class in its colour and shape."""
    # Classes are drawn one over the other; small points that shine through hide few.
    size = float(np.clip(9000 / max(len(rows), 1), 3, 14))
    for position, label in enumerate(labels):
        of_class = [row for row in rows if row["label"] == label]
        axis.scatter(
            [row["x"] for row in of_class],
            [row["y"] for row in of_class],
            s=size,
            marker=CLASS_SHAPES[position // len(CLASS_COLOURS) % len(CLASS_SHAPES)],
            color=CLASS_COLOURS[position % len(CLASS_COLOURS)],
            alpha=0.7,
            linewidths=0,
            label=label,
        )
    axis.set_xticks([])
    axis.set_yticks([])
    axis.set_xlabel("t-SNE")
    for spine in axis.spines.values():
        spine.set_color("0.75")


def _heat_map(axis: Any, rows: list[Row], labels: list[str]) -> None:
    """Draw the nmi of classes and components, greatest on the diagonal."""
    components = {row["place"]: row["component"] for row in rows}
    values = np.zeros((len(labels), len(components)))
    for row in rows:
        values[labels.index(row["label"]), row["place"]] = row["nmi"]
    nmi_map(axis, values, labels, [components[place] for place in range(len(components))])
    axis.set_title("(c) normalized mutual information", fontsize=11)
    axis.set_xlabel("component")
