"""Who takes part in the paper's comparisons, and how each looks in a figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from elbmf.estimators import ELBMF, BooleanFactorizer, method
from elbmf.paper.experiments.experiment import PLAIN, REFINED

__all__ = [
    "ENTRANTS",
    "PAPERS_ASSO",
    "PAPERS_BINAPS",
    "RIVALS",
    "Entrant",
    "look_of",
]

PAPERS_ASSO, PAPERS_BINAPS = "asso as in the paper", "binaps as in the paper"
"""Rivals with the parameters of the paper, where ours are others."""

_VARIANTS = {PAPERS_ASSO: ("asso", "Asso τ = 1"), PAPERS_BINAPS: ("binaps", "Binaps authors'")}


@dataclass(frozen=True)
class Entrant:
    """A method in a comparison.

    Parameters
    ----------
    title : str
        What figures call it.
    colour, marker, line : str
        Colours of Okabe and Ito, which all eyes tell apart, and a marker for those who print
        without colours.
    make : callable
        From parameters to an estimator.
    """

    title: str
    colour: str
    marker: str
    line: str
    make: Callable[..., BooleanFactorizer]


ENTRANTS: dict[str, Entrant] = {
    REFINED: Entrant("ELBMF refined", "#000000", "D", "-", ELBMF),
    PLAIN: Entrant(
        "ELBMF", "#D55E00", "o", "-", lambda **parameters: ELBMF(refine=False, **parameters)
    ),
    "primp": Entrant("Primp", "#0072B2", "s", "--", method("primp")),
    "orm": Entrant("OrM", "#009E73", "^", "--", method("orm")),
    "asso": Entrant("Asso", "#CC79A7", "v", "-.", method("asso")),
    "grecond": Entrant("GreConD", "#E69F00", "<", "-.", method("grecond")),
    "sofa": Entrant("Sofa", "#56B4E9", ">", ":", method("sofa")),
    "nmf": Entrant("NMF rounded", "#7F7F7F", "P", ":", method("nmf")),
    "binaps": Entrant("Binaps", "#A6761D", "X", ":", method("binaps")),
}
"""By name, in the order of legends. Rivals have their default parameters."""

RIVALS = tuple(name for name in ENTRANTS if name not in (PLAIN, REFINED))
"""The seven methods the paper compares with."""


def look_of(name: str) -> tuple[str, dict[str, Any]]:
    """Return what a single mark of a method is called and how it looks; variants are hollow."""
    hollow = name in _VARIANTS
    own, title = _VARIANTS[name] if hollow else (name, ENTRANTS[name].title)
    entrant = ENTRANTS[own]
    return title, {
        "marker": entrant.marker,
        "linestyle": "none",
        "markersize": 6.5,
        "markerfacecolor": "white" if hollow else entrant.colour,
        "markeredgecolor": entrant.colour if hollow else "black",
        "markeredgewidth": 1.3 if hollow else 0.4,
    }
