"""When to stop iterating, and what to say when that was too early."""

from dataclasses import dataclass, field
from typing import Literal

from elbmf.relaxation.palm import State

__all__ = ["StopReason", "StopRule"]

# Growth of the regularisation over the quiet stretch that is none.
_NO_GROWTH = 1e-4

# A gap above this is never called Boolean, whatever the tolerance for the loss.
_NEXT_TO_BOOLEAN = 1e-3

StopReason = Literal["boolean", "settled", "stalled", "max_iter", "callback", "time_limit"]


@dataclass
class StopRule:
    """Decides after every epoch whether anything can still change."""

    # How near to Boolean is Boolean, and how small a change of the loss, relative to ‖A‖₁, is none
    tol: float
    patience: int  # Epochs over which nothing may have changed
    max_iter: int  # Epochs at most
    ones: float  # ‖A‖₁, the scale of the loss; times ω where ones weigh that much
    _quiet_epochs: int = field(default=0, init=False)
    _quiet_loss: float = field(default=float("inf"), init=False)
    _quiet_strength: float = field(default=0.0, init=False)

    @property
    def memory(self) -> tuple[int, float, float]:
        """What the rule remembers of epochs past; set it to go on where another rule was."""
        return self._quiet_epochs, self._quiet_loss, self._quiet_strength

    @memory.setter
    def memory(self, memory: tuple[int, float, float]) -> None:
        self._quiet_epochs, self._quiet_loss, self._quiet_strength = memory

    def __call__(self, state: State) -> StopReason | None:
        """Return why to stop, or None to go on.

        ``"boolean"``
            The factors are Boolean.
        ``"settled"``
            For a stretch of epochs the rounded factors have not changed, nor has the loss, and
            rounding costs nothing: what is left of the gap is below what the tolerance can see.
        ``"stalled"``
            The same stretch without any change, but the factors are not Boolean, and the
            regularisation does not grow: going on would change nothing.
        ``"max_iter"``
            No epochs left.
        """
        if state.gap <= self.tol:
            return "boolean"
        change = abs(state.loss - self._quiet_loss)
        if state.flips or change > self.tol * max(self.ones, 1):
            self._quiet_epochs = 0
            self._quiet_loss = state.loss
            self._quiet_strength = sum(state.strength)
        else:
            self._quiet_epochs += 1
        if self._quiet_epochs >= self.patience:
            if state.gap <= min(1e3 * self.tol, _NEXT_TO_BOOLEAN):
                return "settled"
            if sum(state.strength) <= self._quiet_strength * (1 + _NO_GROWTH):
                return "stalled"
        return "max_iter" if state.iteration >= self.max_iter else None
