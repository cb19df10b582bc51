"""Fig. 1: the three regularisers, for κ = λ = ½."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from elbmf.paper.experiments.experiment import Claim, Experiment, Settings, Tables, Task
from elbmf.plots import new_figure, plain_axes
from elbmf.relaxation.regularizers import REGULARIZERS
from elbmf.utils.late import imported

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT"]

_TABLE = "values"
_KAPPA = _LAM = 0.5
_POINTS = np.linspace(-1, 2, 601)
_STYLES = {
    "bowl": ("Bowl", "#0072B2", "--"),
    "primp": ("Primp", "#009E73", "-."),
    "elb": ("ELB (elastic Boolean)", "#D55E00", "-"),
}
_WHERE = "Sec. 2, Fig. 1"


def _measure(task: Task, settings: Settings) -> Tables:
    regularizer = imported(REGULARIZERS[task["regularizer"]])()
    rows = [{**task, "x": float(x), "value": regularizer.value([x], _KAPPA, _LAM)} for x in _POINTS]
    return {_TABLE: rows}


def _curves(tables: Tables) -> dict[str, np.ndarray]:
    """Return the values of each regulariser, in the order of the points."""
    return {
        name: np.array([row["value"] for row in tables[_TABLE] if row["regularizer"] == name])
        for name in _STYLES
    }


def _draw(tables: Tables) -> Mapping[str, Figure]:
    figure = new_figure(6, 4)
    axes = figure.subplots()
    for name, values in _curves(tables).items():
        title, colour, line = _STYLES[name]
        finite = np.isfinite(values)
        axes.plot(
            _POINTS[finite], values[finite], label=title, color=colour, linestyle=line, linewidth=2
        )
        if not finite.all():
            for end in _POINTS[finite][[0, -1]]:
                axes.plot([end, end], [0, 2], color=colour, linestyle=line, linewidth=1)
    axes.text(
        1.03, 0.72, "Primp is infinite\noutside [0, 1]", color=_STYLES["primp"][1], fontsize=9
    )
    axes.set_xlabel("entry of a factor")
    axes.set_ylabel("penalty, κ = λ = ½")
    axes.set_ylim(-0.03, 1.05)
    plain_axes(axes)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.14), ncols=3, frameon=False)
    return {"regularizers": figure}


def _claims(tables: Tables) -> Sequence[Claim]:
    curves = _curves(tables)
    inside = (_POINTS > 0) & (_POINTS < 1)
    outside = (_POINTS < 0) | (_POINTS > 1)
    middle = {name: values[inside].max() for name, values in curves.items()}
    end = {name: values[0] for name, values in curves.items()}  # at −1
    return [
        Claim(
            _WHERE,
            "Bowl is almost flat inside [0, 1] and penalizes well outside.",
            f"at most {middle['bowl']:.3f} inside (ELB {middle['elb']:.3f}); {end['bowl']:g} at −1",
            bool(middle["bowl"] < 0.1 * middle["elb"] and end["bowl"] >= 0.5),
        ),
        Claim(
            _WHERE,
            "Primp penalizes well inside [0, 1] and is non-differentiable outside.",
            f"up to {middle['primp']:.2f} inside, infinite outside; the printed sign, "
            "−κ(1 − |1 − 2x|), would reward ½ instead: taken as a slip",
            bool(middle["primp"] >= 0.1 and np.all(np.isinf(curves["primp"][outside]))),
        ),
        Claim(
            _WHERE,
            "Only ELB penalizes non-Boolean values across the full spectrum.",
            f"up to {middle['elb']:.2f} inside; finite and rising outside, {end['elb']:g} at −1",
            bool(
                np.all(np.isfinite(curves["elb"]))
                and np.all(np.diff(curves["elb"][_POINTS >= 1]) > 0)
                and middle["elb"] > middle["bowl"]
            ),
        ),
    ]


EXPERIMENT = Experiment(
    name="regularizers",
    shows="Fig. 1",
    title="the regularisers Bowl, Primp and ELB",
    tasks=lambda settings: [{"regularizer": name} for name in _STYLES],
    measure=_measure,
    draw=_draw,
    claims=_claims,
)
