"""Fig. 9 (App. E): as Fig. 4, at 5% additive noise."""

from __future__ import annotations

from collections.abc import Sequence

from elbmf.paper.experiments.compared import COMPARED, RIVALS
from elbmf.paper.experiments.density import MEASURED, density_sweep, tiles_of
from elbmf.paper.experiments.experiment import Claim, Tables, checked
from elbmf.paper.experiments.sweeps import best_of_all, span, titles

__all__ = ["EXPERIMENT"]

_SWEEP = density_sweep("low-noise", 0.05)

_WHERE = "App. E, Fig. 9"
_CLOSE_TO_ONE = 0.93


def _claims(tables: Tables) -> Sequence[Claim]:
    means = _SWEEP.means(tables)

    def all_improve(name: str) -> tuple[str, bool]:
        failing = [
            each
            for each in (name, *RIVALS)
            if means.curve(each, "relative_loss")[-1] >= means.curve(each, "relative_loss")[0]
        ]
        return (f"all but {titles(failing)}" if failing else "all do"), not failing

    def close_to_one(name: str) -> tuple[str, bool]:
        found = {
            each: means.curve(each, "similarity")
            for each in ("asso", "grecond", "nmf", "primp", name)
        }
        text = ", ".join(f"{COMPARED[each].title} {span(curve)}" for each, curve in found.items())
        return text, all(curve.min() >= _CLOSE_TO_ONE for curve in found.values())

    lower = {
        name: means.curve(name, "similarity")[-1] - means.curve(name, "similarity")[0]
        for name in ("sofa", "binaps", "orm")
    }
    return [
        checked(_WHERE, "The loss of all methods improves with the density.", all_improve),
        *(
            checked(
                _WHERE,
                f"ELBMF outperforms Asso, GreConD and NMF in {title}.",
                best_of_all(
                    means,
                    measure,
                    tiles_of,
                    lower=measure == "relative_loss",
                    rivals=("asso", "grecond", "nmf"),
                ),
            )
            for measure, title in MEASURED.items()
            if measure != "similarity"
        ),
        checked(
            _WHERE,
            "Similarities of Asso, GreConD, NMF, Primp and ELBMF are close to 1 (at least .93).",
            close_to_one,
        ),
        Claim(
            _WHERE,
            "Sofa, Binaps and OrM have lower similarity with increasing density.",
            "from the smallest tiles to the largest: "
            + ", ".join(f"{COMPARED[name].title} {change:+.3f}" for name, change in lower.items()),
            all(change < 0 for change in lower.values()),
        ),
    ]


EXPERIMENT = _SWEEP.experiment(
    "Fig. 9", "similarity, recall and relative loss by density, 5% noise (App. E)", _claims
)
