"""Fig. 8 (App. D): as Fig. 3, with tiles that may overlap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elbmf.paper.experiments.experiment import Claim, Tables, checked
from elbmf.paper.experiments.noise import MEASURED, noise_sweep
from elbmf.paper.experiments.sweeps import best_of_all, listed, percent

__all__ = ["EXPERIMENT"]

_SWEEP = noise_sweep("overlap", overlap=True)

_WHERE = "App. D, Fig. 8"
_BEATEN = ("asso", "grecond", "orm", "sofa", "binaps", "nmf")


def _claims(tables: Tables) -> Sequence[Claim]:
    means = _SWEEP.means(tables)
    losses = {
        name: float(np.mean(means.curve(name, "relative_loss")))
        for name in ("nmf", "asso", "grecond", "sofa", "binaps")
    }

    def beside_primp(name: str) -> tuple[str, bool]:
        ours, primp = (float(np.mean(means.curve(n, "similarity"))) for n in (name, "primp"))
        return f"{ours:.3f}, Primp {primp:.3f}", ours >= primp - 0.01

    return [
        Claim(
            _WHERE,
            "Rounded NMF is surprisingly good: far better than Asso, GreConD, Sofa and Binaps.",
            f"mean relative loss: {listed(losses)}",
            losses["nmf"] < min(loss for name, loss in losses.items() if name != "nmf"),
        ),
        *(
            checked(
                _WHERE,
                f"ELBMF outperforms all but Primp in {title} across levels of noise.",
                best_of_all(means, measure, percent, rivals=_BEATEN),
            )
            for measure, title in MEASURED.items()
        ),
        checked(
            _WHERE,
            "ELBMF is on par with Primp (mean similarity at most .01 below).",
            beside_primp,
        ),
    ]


EXPERIMENT = _SWEEP.experiment(
    "Fig. 8", "similarity, recall and recall* under additive noise, tiles overlap (App. D)", _claims
)
