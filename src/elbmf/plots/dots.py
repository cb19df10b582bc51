"""Known sets of columns that components are rich in, as dots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elbmf.analysis.enrichment import Enrichment, NamedSet
from elbmf.analysis.enrichment import enrichment as enrichment_of
from elbmf.errors import InputError
from elbmf.plots.canvas import one_of
from elbmf.plots.heat import ticks_that_fit
from elbmf.plots.look import TICK, faint_frame, right_of, room, say, titled
from elbmf.plots.names import name_within
from elbmf.plots.subject import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["enrichment", "result_enrichment"]

# Inches of a set and of a component in a new figure, and of what is around them.
_LINE_HEIGHT, _COLUMN_WIDTH, _AROUND_WIDTH, _AROUND_HEIGHT = 0.2, 0.34, 4.0, 1.0

# Square points of a dot, at least and at most, and how much of its cell the largest one fills.
_LEAST_AREA, _MOST_AREA, _FILLED = 3.0, 110.0, 0.85

# Share of the width that names of sets take at most.
_NAMES = 0.5

# Decimal logarithm of the greatest p that is a matter of colour; a scale up to 0 would be none.
_LEAST_SCALE = 2.0


def enrichment(
    found: Iterable[Enrichment],
    *,
    components: Sequence[int] | None = None,
    most: int = 3,
    max_adjusted_p: float = 0.05,
    ax: Axes | None = None,
) -> Axes:
    """Draw which known sets of columns components are rich in, a dot for each component and set.

    Its area tells the share of the set that is in the component, its colour the adjusted p. Of each
    component the most significant sets are shown, beside what other components have of them.

    Parameters
    ----------
    found : iterable of Enrichment
        What `elbmf.analysis.enrichment.enrichment` returned.
    components : sequence of int, optional
        Which components are shown, in this order; by default those that are in what was found.
    most : int, default=3
        Sets of each component.
    max_adjusted_p : float, default=0.05
        What is less significant is left out.
    ax : Axes, optional
        Where to draw; in a new figure by default.

    Returns
    -------
    Axes
    """
    if most < 1:
        raise InputError(f"most must be at least 1, the sets of a component; got {most}.")
    known = list(found)
    shown = sorted({each.component for each in known}) if components is None else list(components)
    place = {component: at for at, component in enumerate(shown)}
    sure = [each for each in known if each.component in place and each.adjusted_p <= max_adjusted_p]
    sure.sort(key=lambda each: (place[each.component], each.log10_adjusted_p, each.log10_p))
    names: dict[str, int] = {}
    for component in shown:
        of_component = [each.set for each in sure if each.component == component][:most]
        for name in of_component:
            names.setdefault(name, len(names))
    dots = [each for each in sure if each.set in names]
    ax = one_of(
        ax,
        _AROUND_WIDTH + _COLUMN_WIDTH * max(len(shown), 4),
        _AROUND_HEIGHT + _LINE_HEIGHT * max(len(names), 9),
    )
    titled(ax, "Enriched sets", "component")
    ax.set_xlim(-0.6, max(len(shown), 1) - 0.4)
    ax.set_ylim(max(len(names), 1) - 0.4, -0.6)
    faint_frame(ax)
    ax.tick_params(length=0)
    if not dots:
        ax.set_yticks([])
        say(ax, f"No set is enriched in any component (adjusted p at most {max_adjusted_p:g}).")
        return ax
    # Of the width that axes have while nothing stands beside them.
    widest = min(_NAMES * room(ax)[0], 32 * TICK)
    ax.set_yticks(range(len(names)), [name_within(name, widest, TICK) for name in names])
    ax.grid(color="0.93", linewidth=0.6)
    ax.set_axisbelow(True)
    _draw(ax, dots, [place[each.component] for each in dots], [names[each.set] for each in dots])
    ticks_that_fit(ax, "x", [str(each) for each in shown])
    return ax


def result_enrichment(
    model: Any,
    *,
    sets: Sequence[NamedSet],
    ignore_case: bool = False,
    cut_at: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw which known sets of columns the components of a result are rich in."""
    subject = Subject.of(model)
    if subject.column_names is None:
        raise InputError(
            "The columns have no names, which the sets could be compared with. Fit a file that "
            "names its columns, such as a csv file with a header."
        )
    names = [str(name) for name in subject.column_names]
    found = enrichment_of(
        subject.V, names, sets, ignore_case=ignore_case, cut_at=cut_at, max_adjusted_p=0.05
    )
    return enrichment(found, components=range(subject.n_components), ax=ax)


def _draw(ax: Axes, dots: list[Enrichment], x: list[int], y: list[int]) -> None:
    """Draw the dots, and what their sizes and colours mean."""
    from matplotlib.lines import Line2D

    shares = np.array([each.overlap / each.set_size for each in dots])
    depth = np.array([-each.log10_adjusted_p for each in dots])
    points = ax.scatter(
        x,
        y,
        s=np.ones(len(dots)),
        c=depth,
        cmap="viridis_r",
        vmin=0,
        vmax=max(_LEAST_SCALE, float(depth.max())),
        edgecolors="0.3",
        linewidths=0.4,
    )
    # Below each other, as narrow as can be: what sizes mean, and what colours mean.
    narrow = ax.inset_axes((10, 0, 8, 0.4), transform=right_of(ax))
    bar = ax.figure.colorbar(points, cax=narrow)
    bar.outline.set_visible(False)
    narrow.set_title("−log10 of\nadjusted p", loc="left", fontsize=TICK)
    narrow.tick_params(labelsize=TICK)
    greatest = _round_share(float(shares.max()))
    steps = [greatest, greatest / 2, greatest / 4]
    mark: dict[str, Any] = {
        "linestyle": "none",
        "marker": "o",
        "markerfacecolor": "0.75",
        "markeredgecolor": "0.3",
        "markeredgewidth": 0.4,
    }
    legend = ax.legend(
        [Line2D([], [], **mark) for _ in steps],
        [f"{100 * step:.3g} %" for step in steps],
        title="share of\nthe set",
        title_fontsize=TICK,
        fontsize=TICK,
        loc="upper left",
        bbox_to_anchor=(1, 1),
        frameon=False,
        handlelength=1.2,
        handletextpad=0.4,
        labelspacing=0.5,
        borderaxespad=0.2,
        alignment="left",
    )
    # Now that all stands around the dots, there is the room that they have.
    width, height = room(ax)
    across = min(width / abs(np.diff(ax.get_xlim())[0]), height / abs(np.diff(ax.get_ylim())[0]))
    full = min(_MOST_AREA, np.pi / 4 * (_FILLED * across) ** 2)
    points.set_sizes(np.maximum(full * shares / greatest, _LEAST_AREA))
    handles: list[Any] = [*legend.legend_handles]
    for handle, step in zip(handles, steps, strict=True):
        area = max(full * step / greatest, _LEAST_AREA)
        handle.set_markersize(2 * np.sqrt(area / np.pi))


def _round_share(share: float) -> float:
    """Return the next share above that is easily halved twice."""
    return next(each for each in (0.02, 0.04, 0.08, 0.2, 0.4, 0.8, 1.0) if share <= each + 1e-12)
