"""What is seen of a run while it lasts: one line on a terminal, nothing elsewhere."""

import shutil
import time

from elbmf.cli.console import Console
from elbmf.cli.tables import times
from elbmf.palm import State

__all__ = ["Progress"]

_SECONDS_BETWEEN = 0.1
_NARROWEST_BAR, _WIDEST_BAR = 5, 20


class Progress:
    """Shows each epoch's figures; an observer to be called with the states of a run.

    Parameters
    ----------
    console : Console
        Where to show them.
    ones : int
        Ones of the data, the scale of the loss.

    Attributes
    ----------
    epochs : int
        Epochs seen so far, of all runs.
    """

    def __init__(self, console: Console, ones: int) -> None:
        self.epochs = 0
        self._console = console
        self._ones = max(ones, 1)
        self._next = 0.0
        self._shows = console.shows_progress
        if self._shows:
            console.status("preparing …")

    def __call__(self, state: State) -> None:
        """Take note of an epoch, or of a round of the search."""
        self.epochs += state.stage == "relaxation"
        now = time.monotonic()
        if self._shows and now >= self._next:
            self._next = now + _SECONDS_BETWEEN
            room = shutil.get_terminal_size().columns - 1
            self._console.status(self._line(state, room)[:room])

    def _line(self, state: State, room: int) -> str:
        if state.stage == "search":
            text = f"searching  relative loss {state.relaxed_loss / self._ones:.4f}"
            return self._with_bar(text, state.progress, room)
        figures = f"relative loss {state.relaxed_loss / self._ones:.4f}  gap {state.gap:.2e}"
        if not state.progress:
            return f"epoch {state.epoch}  {figures}  {times(state.seconds)}"
        left = state.seconds * (1 / state.progress - 1)
        run = f"run {state.run}/{state.runs}  " if state.runs > 1 else ""
        text = f"{run}epoch {state.epoch}  {figures}  {times(round(left))} left"
        return self._with_bar(text, state.progress, room)

    @staticmethod
    def _with_bar(text: str, share: float, room: int) -> str:
        width = min(_WIDEST_BAR, room - len(text) - 3)
        if width < _NARROWEST_BAR:
            return text
        bar = "#" * round(width * share)
        return f"[{bar.ljust(width, '.')}] {text}"
