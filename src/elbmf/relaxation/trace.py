"""What is recorded of each epoch."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from elbmf.boolean.coverage import cover
from elbmf.boolean.metrics import HammingProcess, loss_gap
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.relaxation.half_step import Iterate
from elbmf.relaxation.palm import State
from elbmf.relaxation.rounding import project

__all__ = ["Trace", "TraceLevel"]

TraceLevel = Literal["basic", "full"]

# Columns, and what they are called in a state.
_BASIC = {
    "epoch": "iteration",
    "relaxed_loss": "loss",
    "gap": "gap",
    "flips": "flips",
    "lam": "lam",
    "seconds": "seconds",
}
_FULL = ("rounded_loss", "loss_gap", "hamming")


class Trace:
    """Collects a row of figures for every epoch."""

    def __init__(
        self,
        matrix: BooleanMatrix,
        # ``"basic"`` costs nothing: relaxed loss, Boolean gap, flipped bits of the rounded factors,
        # λ_t and seconds. ``"full"`` adds the loss of the rounded factors, the loss gap and the
        # cumulative Hamming process (Sec. 4.1), which cost a look at the data and the product.
        level: TraceLevel = "basic",
        n_jobs: int | None = None,  # Threads for that. All cores by default.
        # ω, as the relaxation was given it: the loss of the rounded factors is on the same scale as
        # the relaxed one, ω for an uncovered one and 1 for a covered zero
        weight_of_ones: float = 1,
    ) -> None:
        self._matrix = matrix
        self._weight_of_ones = weight_of_ones
        self._n_jobs = n_jobs
        self._process = HammingProcess(n_jobs) if level == "full" else None
        names = (*_BASIC, *(_FULL if level == "full" else ()))
        self._columns: dict[str, list[float]] = {name: [] for name in names}

    def record(self, state: State) -> None:
        """Add the row of one epoch."""
        row: dict[str, float] = {column: getattr(state, name) for column, name in _BASIC.items()}
        if self._process is not None:
            U, Vt = state.mapped(project)
            V = np.ascontiguousarray(Vt.T)
            counts = cover(self._matrix, U, V, self._n_jobs)
            rounded_loss = self._weight_of_ones * counts.missed + counts.extra
            row["rounded_loss"] = rounded_loss
            row["loss_gap"] = loss_gap(state.loss, rounded_loss)
            row["hamming"] = self._process.update(U, V)
        for name, value in row.items():
            self._columns[name].append(value)

    def resume(self, history: dict[str, NDArray[Any]], U: Iterate, Vt: Iterate) -> None:
        """Go on after the epochs of another trace, the last of which had led to these iterates."""
        self._columns = {name: list(values) for name, values in history.items()}
        if self._process is not None:
            rounded = (project(iterate.current[:]) for iterate in (U, Vt))
            self._process.resume(self._columns["hamming"][-1], *rounded)

    def history(self) -> dict[str, NDArray[Any]]:
        """Return the columns as arrays, one entry per epoch."""
        return {name: np.asarray(values) for name, values in self._columns.items()}
