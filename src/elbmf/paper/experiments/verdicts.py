"""Ways to check claims that several figures make."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from elbmf.paper.experiments.entrants import ENTRANTS, RIVALS
from elbmf.paper.experiments.sweeps import Means

__all__ = ["Check", "best_of_all", "percent", "span", "titles"]

Check = Callable[[str], tuple[str, bool | None]]
"""From the name of an entrant to what was measured and whether the claim holds."""

# Means that differ by less are taken for equal: no figure shows it.
_EQUAL = 0.0005


def percent(level: float) -> str:
    """Write a level of noise."""
    return f"{level:.0%}"


def titles(names: Sequence[str]) -> str:
    """Name entrants."""
    return ", ".join(ENTRANTS[name].title for name in names)


def span(values: np.ndarray) -> str:
    """Write the least and the greatest of several values."""
    return f"{values.min():.3f}–{values.max():.3f}"


def best_of_all(
    means: Means,
    measure: str,
    write: Callable[[float], str],
    *,
    least: float = -np.inf,
    lower: bool = False,
    rivals: Sequence[str] = RIVALS,
) -> Check:
    """Return a check that no rival's mean is better than an entrant's, at any level.

    Parameters
    ----------
    means : Means
        What was measured.
    measure : str
        Which measure.
    write : callable
        From a level to its words.
    least : float
        The level from which on.
    lower : bool
        Whether lower is better.
    rivals : sequence of str
        With whom to compare.
    """
    sign = -1 if lower else 1

    def check(name: str) -> tuple[str, bool]:
        exceptions = []
        levels = [level for level in means.levels if level >= least]
        for level in levels:
            ours = means.mean(name, measure, level)
            ahead = {
                rival: means.mean(rival, measure, level)
                for rival in rivals
                if sign * (means.mean(rival, measure, level) - ours) > _EQUAL
            }
            if ahead:
                best = max(ahead, key=lambda rival: sign * ahead[rival])
                exceptions.append(
                    f"{write(level)} ({titles([best])} {ahead[best]:.3f}, here {ours:.3f})"
                )
        if not exceptions:
            return f"best at all {len(levels)} levels", True
        where = "; ".join(exceptions)
        return (
            f"best at {len(levels) - len(exceptions)} of {len(levels)} levels, not at {where}",
            False,
        )

    return check
