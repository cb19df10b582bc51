"""What an experiment is: tasks to measure, and the figures and claims drawn from the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "PLAIN",
    "REFINED",
    "Claim",
    "Experiment",
    "Row",
    "Settings",
    "Tables",
    "Task",
    "checked",
]

PLAIN, REFINED = "elbmf", "elbmf refined"
"""ELBMF as the paper describes it, and as it is by default: refined."""

_MOST_DRAWS, _PAPERS_DRAWS = 1000, 10

Task = dict[str, Any]
"""What makes one piece of an experiment differ from the others: plain values by name."""

Row = dict[str, Any]
"""One line of a tidy table: plain values by name."""

Tables = dict[str, list[Row]]
"""Tidy tables by name; each becomes a parquet file."""


@dataclass(frozen=True)
class Settings:
    """How an experiment is run.

    Parameters
    ----------
    full : bool
        The paper's sizes, draws and epochs; otherwise what gives the same picture in a minute.
    seed : int
        What everything random derives from.
    data : tuple of Path
        Folders in which to look for real data.
    n_jobs : int, optional
        Threads. All cores by default.
    """

    full: bool = False
    seed: int = 0
    data: tuple[Path, ...] = ()
    n_jobs: int | None = None

    def seed_of(self, draw: int) -> int:
        """Return the seed of a draw; other seeds of the experiment have other draws."""
        return _MOST_DRAWS * self.seed + draw

    def draws(self, *, quick: int) -> range:
        """Return the draws of what is drawn 10 times in the paper, or so many in a quick run."""
        return range(_PAPERS_DRAWS if self.full else quick)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and what was measured.

    Parameters
    ----------
    where : str
        Section or figure in which the paper says it.
    says : str
        What it says, in a sentence.
    plain, refined : str
        What was measured of the method as the paper describes it, and with refinement. A claim
        that is not about ELBMF, or not about its result, has no second.
    plain_holds, refined_holds : bool, optional
        Whether the claim holds for it; None where that was not measured.
    """

    where: str
    says: str
    plain: str = ""
    plain_holds: bool | None = None
    refined: str = ""
    refined_holds: bool | None = None


def checked(where: str, says: str, check: Callable[[str], tuple[str, bool | None]]) -> Claim:
    """Check a claim for the plain and for the refined method.

    The check goes from ``"elbmf"`` or ``"elbmf refined"`` to what was measured and whether the
    claim holds.
    """
    plain, plain_holds = check(PLAIN)
    refined, refined_holds = check(REFINED)
    return Claim(where, says, plain, plain_holds, refined, refined_holds)


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the paper and how to make it.

    Parameters
    ----------
    name : str
        What the user types.
    shows : str
        The figure or table, e.g. ``"Fig. 3"``.
    title : str
        One line.
    tasks : callable
        From settings to the tasks, in the order to do them.
    measure : callable
        From a task and settings to rows of tables. It depends on nothing else, so that tasks may
        be done in any order, and those that are done need not be done again.
    draw : callable
        From the tables alone to figures by name.
    claims : callable
        From the tables alone to the paper's claims, checked.
    remark : str, optional
        What helps to understand why claims hold or not.
    """

    name: str
    shows: str
    title: str
    tasks: Callable[[Settings], Sequence[Task]]
    measure: Callable[[Task, Settings], Tables]
    draw: Callable[[Tables], Mapping[str, Figure]]
    claims: Callable[[Tables], Sequence[Claim]]
    remark: str = ""
