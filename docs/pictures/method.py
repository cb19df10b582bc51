"""Pictures of the method: product, regulariser, schedule, epochs, rounding, stages."""

import warnings
from typing import Any

import numpy as np
from matplotlib.patches import FancyArrowPatch, Rectangle

from elbmf import ELBMF, boolean_product
from elbmf.datasets import make_tiles
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.regularizers import ELB
from elbmf.relaxation.rounding import threshold_costs
from elbmf.relaxation.schedules import Annealed, Printed
from pictures.style import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PINK,
    SKY,
    bare,
    curve_axis,
    legend_of_errors,
    noisy_tiles,
    panels,
    show_errors,
    show_ones,
)

__all__ = ["PICTURES"]

_EPOCHS = 300


def product() -> Any:
    """Draw a matrix as the union of three components."""
    U = np.zeros((12, 3), dtype=bool)
    V = np.zeros((3, 16), dtype=bool)
    for component, (rows, columns) in enumerate(
        [(slice(0, 6), slice(0, 7)), (slice(4, 9), slice(5, 12)), (slice(7, 12), slice(10, 16))]
    ):
        U[rows, component] = True
        V[component, columns] = True
    figure, axes = panels(4, height=2.2, width_ratios=[16, 3, 16, 16])
    show_ones(axes[0], boolean_product(U, V).toarray(), "A, the table")
    show_ones(axes[1], U, "U")
    show_ones(axes[2], V, "V")
    union = np.zeros((12, 16, 4))
    for component, color in enumerate((BLUE, GREEN, ORANGE)):
        rgb = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        cells = np.outer(U[:, component], V[component])
        union[cells] = np.where(union[cells][:, 3:] > 0, [*rgb, 1.0], [*rgb, 0.75])
    bare(axes[3], "the components, as blocks").imshow(union, interpolation="nearest")
    return figure


def blocks() -> Any:
    """Draw a table as it comes, its rows and columns put in order, and its components."""
    A = noisy_tiles().toarray()
    generator = np.random.default_rng(0)
    rows, columns = (generator.permutation(length) for length in A.shape)
    model = ELBMF(4, random_state=0).fit(A)
    figure, axes = panels(3, height=2.7)
    show_ones(axes[0], A[rows][:, columns], "a table as it comes")
    show_ones(axes[1], A, "in the order of its components")
    covered = model.inverse_transform(model.membership_).toarray()
    show_errors(axes[2], A, covered, "4 components, and what they miss")
    legend_of_errors(figure)
    return figure


def regularizer() -> Any:
    """Draw the penalty of an entry and the operator that follows from it."""
    figure, axes = panels(2, height=2.9)
    x = np.linspace(-0.5, 1.5, 401)
    elb = ELB()
    curve_axis(axes[0], "penalty of an entry", "entry x")
    for lam, color in ((0.0, SKY), (0.5, BLUE), (2.0, ORANGE)):
        penalty = [elb.value([value], 0.3, lam) for value in x]
        axes[0].plot(x, penalty, color=color, label=f"κ = 0.3, λ = {lam:g}")
    axes[0].legend(loc="upper center", fontsize=8)
    axes[0].set_ylim(0, 1)
    curve_axis(axes[1], "where the operator moves it", "entry x")
    axes[1].plot(x, x, color=INK, linewidth=0.8, linestyle=":")
    for kappa, color in ((0.05, SKY), (0.2, BLUE), (0.5, ORANGE)):
        axes[1].plot(x, elb.prox(x, kappa, kappa / 10), color=color, label=f"κ = {kappa:g}")
    axes[1].legend(loc="upper left", fontsize=8)
    return figure


def schedule() -> Any:
    """Draw how strong the pull is in each epoch."""
    figure, axes = panels(2, height=2.7)
    epochs = np.arange(1, 501)
    curve_axis(axes[0], "printed: λ_t = λ·c^t", "epoch t").set_yscale("log")
    for rate, color in ((1.0, INK), (1.0033, SKY), (1.02, BLUE), (1.05, ORANGE)):
        printed = Printed(0.01, 0.02, rate)
        values = [0.02 * printed.nu(int(t)) for t in epochs]
        axes[0].plot(epochs, values, color=color, label=f"c = {rate:g}")
    axes[0].set_ylim(1e-2, 1e4)
    axes[0].legend(fontsize=8)
    curve_axis(axes[1], "default: κ_t/L, at any scale", "epoch t").set_yscale("log")
    annealed = Annealed(500)
    axes[1].plot(epochs, [annealed.strength(int(t), 1.0).kappa for t in epochs], color=BLUE)
    axes[1].axhline(0.5, color=ORANGE, linewidth=0.8, linestyle="--")
    axes[1].text(5, 0.3, "½: the operator rounds", color=ORANGE, va="top")
    return figure


def trace() -> Any:
    """Draw loss, Boolean gap and flips over the epochs, annealed and under a constant pull."""
    A = noisy_tiles()
    figure, axes = panels(3, height=2.7)
    titles = ("relaxed loss / ones", "Boolean gap", "bits flipped, in all")
    for ax, title in zip(axes, titles, strict=True):
        curve_axis(ax, title, "epoch")
    options = {"n_init": 1, "refine": False, "random_state": 0, "max_iter": _EPOCHS, "tol": 0}
    with warnings.catch_warnings():
        # That a constant pull does not end Boolean is what the picture shows.
        warnings.simplefilter("ignore")
        fits = {
            "annealed": (ELBMF(4, **options), BLUE),
            "constant": (ELBMF(4, schedule=Printed(rate=1.0), **options), ORANGE),
        }
        for name, (model, color) in fits.items():
            history = model.fit(A).history_
            axes[0].plot(history["epoch"], history["relaxed_loss"] / A.nnz, color=color, label=name)
            axes[1].plot(history["epoch"], history["gap"], color=color)
            axes[2].plot(history["epoch"], np.cumsum(history["flips"]), color=color)
    axes[1].set_yscale("log")
    axes[1].set_ylim(1e-6, 1)
    axes[0].set_ylim(0, 1)
    axes[0].legend(fontsize=8)
    return figure


def values() -> Any:
    """Draw V at six moments: from shades to zeros and ones."""
    A = noisy_tiles()
    seen = {}

    def look(state: Any) -> None:
        if state.stage == "epoch" and state.run == 1:
            seen[state.iteration] = state.Vt.copy()

    ELBMF(4, n_init=1, refine=False, random_state=0, max_iter=_EPOCHS, callback=look).fit(A)
    moments = [round(share * max(seen)) for share in (0.05, 0.3, 0.5, 0.6, 0.75, 1.0)]
    figure, axes = panels(len(moments), height=2.4)
    for ax, epoch in zip(axes, moments, strict=True):
        bare(ax, f"epoch {epoch}").imshow(
            seen[epoch], cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest"
        )
    axes[0].set_ylabel("columns of the table")
    axes[0].set_xlabel("components")
    return figure


def epoch() -> Any:
    """Draw a pass over the slabs: pull, step, push."""
    figure, (ax,) = panels(1, height=2.9)
    ax.set_axis_off()
    ax.set_xlim(0, 10)
    ax.set_ylim(0, 4.4)

    def box(x: float, y: float, width: float, height: float, text: str, color: str) -> None:
        ax.add_patch(
            Rectangle((x, y), width, height, facecolor=color + "33", edgecolor=color, linewidth=1)
        )
        ax.text(x + width / 2, y + height / 2, text, ha="center", va="center")

    def arrow(start: tuple[float, float], end: tuple[float, float], text: str, dy: float) -> None:
        ax.add_patch(
            FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=12, color=INK, linewidth=1)
        )
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + dy)
        ax.text(*middle, text, ha="center", va="center", fontsize=8.5)

    box(0.1, 1.3, 2.1, 1.8, "shorter factor\n(stays in reach)", GREEN)
    for y in (0.2, 1.35, 2.5):
        box(4.3, y, 1.5, 0.9, "slab of data", BLUE if y == 1.35 else INK)
        box(6.2, y, 1.5, 0.9, "its rows of the\nlonger factor", ORANGE if y == 1.35 else INK)
    arrow((2.3, 2.6), (4.2, 2.1), "1. pull", 0.3)
    arrow((5.8, 1.95), (6.2, 1.95), "", 0)
    ax.text(8.85, 1.8, "2. step:\ngradient,\nprox", ha="center", va="center")
    arrow((4.2, 1.5), (2.3, 1.7), "3. push", -0.28)
    ax.text(5, 3.95, "one pass: each slab once, in any order, on any thread", ha="center")
    ax.text(1.15, 0.85, "updated from\nthe sum of all", ha="center", va="center", fontsize=8.5)
    return figure


def rounding() -> Any:
    """Draw what each pair of thresholds costs, of factors that are not Boolean yet."""
    A = noisy_tiles()
    kept = {}

    def look(state: Any) -> bool:
        kept.update(U=state.U.copy(), Vt=state.Vt.copy())
        return bool(state.iteration >= 12)

    schedule = Printed(0.001, 0.001, 1.01)
    ELBMF(4, schedule=schedule, refine=False, random_state=0, callback=look).fit(A)
    steps = np.linspace(0.02, 0.98, 49)
    costs = threshold_costs(BooleanMatrix.from_array(A), kept["U"], kept["Vt"], steps) / A.nnz
    figure, axes = panels(2, height=3.0, width_ratios=[1, 1.2])
    curve_axis(axes[0], "entries of U and V, epoch 12", "value")
    entries = np.concatenate([kept["U"].ravel(), kept["Vt"].ravel()])
    axes[0].hist(entries, bins=40, range=(0, 1.6), color=BLUE)
    axes[0].axvline(0.5, color=ORANGE, linestyle="--", linewidth=1)
    image = axes[1].imshow(
        costs,
        origin="lower",
        extent=(steps[0], steps[-1], steps[0], steps[-1]),
        cmap="viridis_r",
        aspect="auto",
        vmax=1,
    )
    best = np.unravel_index(np.argmin(costs), costs.shape)
    axes[1].plot(steps[best[1]], steps[best[0]], "*", color=PINK, markersize=13)
    axes[1].plot(0.5, 0.5, "x", color=ORANGE, markersize=8)
    axes[1].set_title("relative loss by thresholds", loc="left")
    axes[1].set_xlabel("of U")
    axes[1].set_ylabel("of V")
    figure.colorbar(image, ax=axes[1])
    return figure


def stages() -> Any:
    """Draw what each stage gains on tiles under noise."""
    A = make_tiles((80, 60), 8, height=(12, 24), noise=0.15, overlap=True, random_state=5).A
    found = ELBMF(8, random_state=0).fit(A).stages_
    figure, (ax,) = panels(1, height=2.3)
    names = list(found)[::-1]
    losses = [found[name] / A.nnz for name in names]
    ax.barh(names, losses, color=[BLUE if name != names[0] else GREEN for name in names])
    for position, loss in enumerate(losses):
        ax.text(loss, position, f" {loss:.3f}", va="center")
    curve_axis(ax, "relative loss after each stage", "")
    ax.grid(visible=False, axis="y")
    ax.set_xlim(0, max(losses) * 1.12)
    return figure


PICTURES = {
    function.__name__: function
    for function in (
        product,
        blocks,
        regularizer,
        schedule,
        trace,
        values,
        epoch,
        rounding,
        stages,
    )
}
