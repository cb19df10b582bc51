"""How each method looks in figures: a colour and a shape that all eyes tell apart."""

from __future__ import annotations

from typing import Any, NamedTuple

from elbmf.errors import InputError

__all__ = ["Mark", "mark_of"]


class Mark(NamedTuple):
    """How a method is drawn.

    Parameters
    ----------
    title : str
        Its name in a legend.
    colour : str
        Of Okabe and Ito's palette.
    shape : str
        A marker of matplotlib.
    hollow : bool
        Whether only its outline is drawn, as of a variant of another method.
    """

    title: str
    colour: str
    shape: str
    hollow: bool = False

    @property
    def style(self) -> dict[str, Any]:
        """What matplotlib wants to know."""
        return {
            "marker": self.shape,
            "linestyle": "none",
            "markerfacecolor": "white" if self.hollow else self.colour,
            "markeredgecolor": self.colour if self.hollow else "black",
            "markeredgewidth": 1.3 if self.hollow else 0.4,
        }


_MARKS = {
    "elbmf": Mark("ELBMF, refined", "#D55E00", "*"),
    "elbmf plain": Mark("ELBMF, plain", "#D55E00", "o", hollow=True),
    "asso": Mark("Asso", "#56B4E9", "s"),
    "asso tuned": Mark("Asso, tuned", "#56B4E9", "s", hollow=True),
    "grecond": Mark("GreConD", "#0072B2", "D"),
    "orm": Mark("OrM", "#009E73", "^"),
    "primp": Mark("Primp", "#CC79A7", "P"),
    "nmf": Mark("NMF, rounded", "#F0E442", "v"),
    "sofa": Mark("Sofa", "#E69F00", "X"),
    "binaps": Mark("Binaps", "#000000", "p"),
    "binaps tuned": Mark("Binaps, tuned", "#000000", "p", hollow=True),
}


def mark_of(method: str) -> Mark:
    """Return how a method is drawn."""
    if method not in _MARKS:
        raise InputError(f"There is no mark for {method!r}. Methods: {', '.join(_MARKS)}.")
    return _MARKS[method]
