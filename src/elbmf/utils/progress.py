"""What a fit tells of itself while it lasts."""

from dataclasses import dataclass

__all__ = ["FitProgress"]


@dataclass(frozen=True, kw_only=True)
class FitProgress:
    """How far a fit is; what a callback is called with.

    Parameters
    ----------
    iteration : int
        1, 2, …
    loss : float
        Errors that are left, or what the method lowers in their place.
    seconds : float
        Since the fit began to iterate.
    stage : str
        What is going on, by the name of an iteration: ``"epoch"``, ``"component"``, ``"sweep"``,
        ``"pass"``, ``"block"``, or ``"search"`` for the one that follows them.
    best : int, optional
        What the best Boolean factors so far cost, where they are known: `ELBMF` has some before it
        relaxes. It is their loss, unless ``extra_weight`` makes errors cost something else.
    progress : float
        Share that is done, 0 if that is not known.
    run, runs : int
        Which run from a start of its own this is, and of how many.
    n_components : int
        Components that the fit is to end with; there may be more of them until then.
    at_least : int, optional
        Components that are needed, where the fit is to find out how few are enough.
    """

    iteration: int
    loss: float
    seconds: float
    stage: str = "epoch"
    best: int | None = None
    progress: float = 0.0
    run: int = 1
    runs: int = 1
    n_components: int = 0
    at_least: int | None = None
