"""What a comparison says of a method."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["FAILED", "FINISHED", "OUT_OF_MEMORY", "TIME_LIMIT", "Result", "ranked"]

FINISHED, TIME_LIMIT = "finished", "time limit"
OUT_OF_MEMORY, FAILED = "out of memory", "failed"


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one method reached; figures are None where there are none.

    Parameters
    ----------
    method : str
        Its name; that of a refined one ends in ``"+refine"``.
    status : str
        ``"finished"``; ``"time limit"``, with figures where the method could be asked to end with
        what it had; ``"out of memory"``; or ``"failed"``.
    loss : int or float, optional
        ‖A − U ∘ V‖₁, the number of wrong cells; with weights of rows or columns, what they weigh.
    relative_loss, similarity, recall, precision : float, optional
        See `elbmf.boolean.metrics`.
    recall_star : float, optional
        Recall of the ones of the noise-free truth, where that is known.
    seconds : float, optional
        Time of the fit, without reading data and compiling kernels.
    peak_memory : int, optional
        Bytes by which the memory of the process grew at most during the fit, over what it held
        with the data loaded and the kernels compiled. Only known on Linux, and not where a kernel
        was compiled in between, as may happen once on a machine.
    density : float, optional
        Share of ones among the entries of both factors.
    n_components : int, optional
        Components that cover anything.
    n_iter : int, optional
        Iterations, whatever these are for the method.
    message : str
        Why it failed, or what it warned of.
    """

    method: str
    status: str
    loss: float | None = None
    relative_loss: float | None = None
    similarity: float | None = None
    recall: float | None = None
    precision: float | None = None
    recall_star: float | None = None
    seconds: float | None = None
    peak_memory: int | None = None
    density: float | None = None
    n_components: int | None = None
    n_iter: int | None = None
    message: str = ""


def ranked(results: Iterable[Result]) -> list[Result]:
    """Sort by loss, of equals the quicker first; those without figures come last."""
    return sorted(
        results,
        key=lambda each: (each.loss is None, each.loss or 0, each.seconds or 0.0),
    )
