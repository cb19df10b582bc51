"""Fig. 4: methods on ever denser matrices, at 20% additive noise."""

from __future__ import annotations

from collections.abc import Sequence

from elbmf.paper.experiments.compared import RIVALS
from elbmf.paper.experiments.experiment import Claim, Tables, checked
from elbmf.paper.experiments.sweeps import Means, Sweep, best_of_all, draw_small_tiles, titles

__all__ = ["EXPERIMENT", "MEASURED", "density_sweep", "improves", "tiles_of"]

MEASURED = {"similarity": "similarity", "recall": "recall", "relative_loss": "relative loss"}

_SIDES = tuple(range(3, 13))
_WHERE = "Sec. 4.1, Fig. 4"


def density_sweep(name: str, noise: float) -> Sweep:
    """Return a sweep over 5 square tiles of 3² to 12² cells."""
    return Sweep(
        name=name,
        along="side",
        title="side of the square tiles",
        levels=_SIDES,
        draw_matrix=lambda side, seed: draw_small_tiles((int(side), int(side)), noise, seed),
        measured=MEASURED,
        percent=False,
    )


def tiles_of(side: float) -> str:
    """Write a level."""
    return f"{side:.0f}²"


def improves(means: Means, name: str) -> bool:
    """Whether all measures of a method are better with the largest tiles than with the smallest."""
    similarity, recall, loss = (means.curve(name, measure) for measure in MEASURED)
    return bool(similarity[-1] > similarity[0] and recall[-1] > recall[0] and loss[-1] < loss[0])


_SWEEP = density_sweep("density", 0.2)


def _claims(tables: Tables) -> Sequence[Claim]:
    means = _SWEEP.means(tables)
    orm = means.curve("orm", "relative_loss")
    last = {name: means.mean(name, "relative_loss", _SIDES[-1]) for name in ("sofa", "binaps")}

    def all_improve(name: str) -> tuple[str, bool]:
        failing = [each for each in (name, *RIVALS) if each != "orm" and not improves(means, each)]
        return (f"all but {titles(failing)}" if failing else "all do"), not failing

    return [
        checked(
            _WHERE,
            "All methods, except OrM, improve in similarity, recall and loss with the density.",
            all_improve,
        ),
        Claim(
            _WHERE,
            "OrM gets worse at first; then its loss shrinks, and it ends below Sofa and Binaps.",
            f"OrM's loss from {orm[0]:.3f} over at most {orm.max():.3f} to {orm[-1]:.3f}; Sofa "
            f"ends at {last['sofa']:.3f}, Binaps at {last['binaps']:.3f}",
            bool(orm.argmax() > 0 and orm[-1] < min(last.values())),
        ),
        *(
            checked(
                _WHERE,
                f"From low to high density, ELBMF is the best in {title}.",
                best_of_all(means, measure, tiles_of, lower=measure == "relative_loss"),
            )
            for measure, title in MEASURED.items()
        ),
    ]


EXPERIMENT = _SWEEP.experiment(
    "Fig. 4", "similarity, recall and relative loss by density, 20% noise", _claims
)
