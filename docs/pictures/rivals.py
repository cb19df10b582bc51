"""A picture of each method: the same tiles, what it finds in them, and something of its own."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from elbmf import Asso, Primp, RoundedNMF
from elbmf.estimators import METHODS
from elbmf.estimators import method as method_of
from pictures.style import (
    BLUE,
    EXTRA,
    MISSED,
    ORANGE,
    bare,
    curve_axis,
    legend_of_errors,
    noisy_tiles,
    panels,
    show_errors,
    show_ones,
)

__all__ = ["PICTURES"]

_COMPONENTS = 4


def _thresholds(ax: Any, A: Any, model: Any) -> None:
    taus = np.linspace(0.2, 1, 17)
    losses = [Asso(_COMPONENTS, threshold=tau).fit(A).reconstruction_err_ for tau in taus]
    curve_axis(ax, "loss by threshold τ", "τ").plot(taus, losses, color=BLUE)


def _costs(ax: Any, A: Any, model: Any) -> None:
    costs = method_of("grecond")(None).fit(A).history_["cost"]
    curve_axis(ax, "ones left, by concepts", "concepts").plot(
        np.arange(len(costs) + 1), [A.nnz, *costs], color=BLUE
    )


def _probabilities(ax: Any, A: Any, model: Any) -> None:
    bare(ax, "how sure of each bit of V").imshow(
        model.components_probability_, cmap="Blues", vmin=0, vmax=1, aspect="auto"
    )


def _relaxed_entries(method: type, ax: Any, A: Any, model: Any) -> None:
    kept: dict[str, Any] = {}

    def look(state: Any) -> None:
        kept["entries"] = np.concatenate([state.U.ravel(), state.Vt.ravel()])

    method(_COMPONENTS, random_state=0, callback=look).fit(A)
    curve_axis(ax, "entries before rounding", "value").hist(
        kept["entries"], bins=40, range=(0, 2), color=BLUE
    )
    ax.set_yscale("log")


def _by_rows_seen(ax: Any, A: Any, model: Any) -> None:
    stream = method_of("sofa")(_COMPONENTS)
    seen, losses = [], []
    rows = np.random.default_rng(0).permutation(A.shape[0])
    for start in range(0, len(rows), 4):
        stream.partial_fit(A[rows[start : start + 4]])
        seen.append(start + 4)
        losses.append(1 - stream.score(A))
    curve_axis(ax, "relative loss, by rows seen", "rows").plot(seen, losses, color=BLUE)


def _training(ax: Any, A: Any, model: Any) -> None:
    curve_axis(ax, "errors in a batch", "step")
    for name, color in (("missed", MISSED), ("extra", EXTRA)):
        smooth = np.convolve(model.history_[name], np.full(100, 0.01), mode="valid")
        ax.plot(smooth, color=color)


def _stages(ax: Any, A: Any, model: Any) -> None:
    costs = list(model.stages_.values())
    curve_axis(ax, "loss by stage", "").bar(range(len(costs)), costs, color=ORANGE)
    ax.set_xticks(range(len(costs)), list(model.stages_), rotation=30, ha="right", fontsize=7.5)


_OWN: dict[str, Callable[[Any, Any, Any], None]] = {
    "elbmf": _stages,
    "asso": _thresholds,
    "grecond": _costs,
    "orm": _probabilities,
    "primp": partial(_relaxed_entries, Primp),
    "nmf": partial(_relaxed_entries, RoundedNMF),
    "sofa": _by_rows_seen,
    "binaps": _training,
}


def rival(name: str) -> Any:
    """Draw the data, what a method makes of it, and its own panel."""
    A = noisy_tiles(noise=0.08)
    model = method_of(name)(_COMPONENTS, random_state=0).fit(A)
    figure, axes = panels(3, height=2.75)
    show_ones(axes[0], A.toarray(), "tiles under noise")
    covered = model.inverse_transform(model.membership_).toarray()
    title = f"{type(model).__name__}: relative loss {model.reconstruction_err_ / A.nnz:.3f}"
    show_errors(axes[1], A.toarray(), covered, title)
    _OWN[name](axes[2], A, model)
    legend_of_errors(figure)
    return figure


def together() -> Any:
    """Draw what every method finds in the same tiles."""
    A = noisy_tiles(noise=0.08)
    figure, axes = panels(1, height=4.2)
    axes[0].remove()
    grid = figure.subplots(2, len(METHODS) // 2).ravel()
    for ax, name in zip(grid, METHODS, strict=True):
        model = method_of(name)(_COMPONENTS, random_state=0).fit(A)
        covered = model.inverse_transform(model.membership_).toarray()
        loss = model.reconstruction_err_ / A.nnz
        show_errors(ax, A.toarray(), covered, f"{name}: {loss:.3f}")
    legend_of_errors(figure)
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    **{f"method-{name}": partial(rival, name) for name in METHODS},
    "methods": together,
}
