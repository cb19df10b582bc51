"""Boolean factors as a method or one of its runs leaves them, and how they came about."""

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from elbmf.boolean.product import Bools

__all__ = ["FittedFactors"]


@dataclass(eq=False)
class FittedFactors:
    """What a method, or one of its runs, hands back.

    Parameters
    ----------
    U : ndarray of bool, of shape (n, k)
    V : ndarray of bool, of shape (k, m)
    n_iter : int
        Epochs, sweeps or passes it took.
    stop_reason : str
        Why it ended; ``"callback"`` if the callback asked for that, ``"interrupted"`` if somebody
        pressed Ctrl-C.
    history : dict of str to ndarray
        Figures of each iteration.
    stages : dict of str to int
        What the factors cost after each stage. A method that refines its factors itself says so
        here; those of others are refined after them, if ``refine`` is on.
    run_losses : list of int
        What each run led to, where there are several.
    cost : int
        What the factors cost, where that is known.
    bound : int
        What no factors with as many components cost less than, as far as that is known.
    """

    U: Bools
    V: Bools
    n_iter: int = 0
    stop_reason: str = ""
    history: dict[str, NDArray[Any]] = field(default_factory=dict)
    stages: dict[str, int] = field(default_factory=dict)
    run_losses: list[int] = field(default_factory=list)
    cost: int = 0
    bound: int = 0

    def rescale(self, before: int, after: int) -> None:
        """Tell costs so far in a unit in which an uncovered one costs something else."""
        if before != after:
            self.stages = {name: round(cost * after / before) for name, cost in self.stages.items()}
            self.run_losses = [round(loss * after / before) for loss in self.run_losses]

    @property
    def was_stopped(self) -> bool:
        """Whether somebody ended it before its time: the callback, or Ctrl-C."""
        return self.stop_reason in ("callback", "interrupted")
