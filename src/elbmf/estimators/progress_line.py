"""What is seen of a fit while it lasts: one line that keeps changing."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from elbmf.kernels.compiling import compiling_seconds
from elbmf.ranks.path import RankProgress
from elbmf.relaxation.palm import State
from elbmf.utils.progress import FitProgress
from elbmf.utils.screen import Screen, compiling_shown
from elbmf.utils.text import number, times

__all__ = ["ProgressLine", "Watched", "on_screen"]

T = TypeVar("T", bound="ProgressLine")

_SECONDS_BETWEEN = 0.1
_NARROWEST_BAR, _WIDEST_BAR = 5, 20


class Status(Protocol):
    """Where a line that keeps changing is shown, if anybody is watching."""

    @property
    def shows_progress(self) -> bool:
        """Whether anybody is."""

    def status(self, line: str) -> None:
        """Replace the line; an empty one removes it."""


class ProgressLine:
    """A line that is written anew now and then; its methods are observers of what may run.

    The ones of the data are the scale of the loss; ``many_ranks`` says that there are fits with
    several numbers of components, how many no one knows. ``iterations`` counts those of fits seen
    so far, and ``stage`` is what one is called.
    """

    def __init__(self, console: Status, ones: int = 1, *, many_ranks: bool = False) -> None:
        self.iterations = 0
        self.stage = "epoch"
        self._many_ranks = many_ranks
        self._ones = max(ones, 1)
        self._console = console
        self._next = 0.0
        self._shows = console.shows_progress
        self._first = 0.0, 0.0, compiling_seconds()
        self._steps, self._steps_done = "", 0.0
        if self._shows:
            console.status("preparing …")

    def fit(self, report: FitProgress) -> None:
        """Take note of an iteration of a fit, or of a round of its search."""
        if report.stage != "search":
            self.iterations += 1
            self.stage = report.stage
        if report.iteration == 1:
            # It compiles, and warms caches up: the time left is told from what comes after it.
            self._first = report.seconds, report.progress, compiling_seconds()
        self._show(lambda: self._of_fit(report))

    def rank_step(self, progress: RankProgress) -> None:
        """Take note of a step of a search over ranks."""
        self._steps_done = progress.done / progress.total
        if progress.of_runs:
            self._count(progress.done, progress.total, "runs that tell the stability")
            return
        held_out = "with held-out cells: " if progress.held_out else ""
        self._steps = f"{held_out}{progress.done} of {progress.total} steps  "
        text = f"{self._steps}rank {progress.step.rank}  {self._loss(progress.cost)}"
        self._show(lambda: (text, self._steps_done))

    def rank_iteration(self, report: FitProgress) -> None:
        """Take note of an iteration within a step of a search over ranks."""
        text = f"{self._steps}rank {report.n_components}  {self._figures(report)}"
        self._show(lambda: (text, self._steps_done))

    def _count(self, done: int, total: int, what: str) -> None:
        self._show(lambda: (f"{done} of {total} {what}", done / total))

    def _show(self, text: Callable[[], tuple[str, float]]) -> None:
        """Show a text and, if any, the share that is done, unless the last was shown just now."""
        now = time.monotonic()
        if self._shows and now >= self._next:
            self._next = now + _SECONDS_BETWEEN
            room = shutil.get_terminal_size().columns - 1
            self._console.status(_with_bar(*text(), room)[:room])

    def _loss(self, loss: float) -> str:
        return f"relative loss {loss / self._ones:.4f}"

    def _figures(self, report: FitProgress) -> str:
        if report.at_least is not None:
            return f"{number(report.n_components)} components, at least {number(report.at_least)}"
        loss = self._loss(report.loss)
        if report.stage == "search":
            return f"searching  {loss}"
        gap = f"  gap {report.gap:.2e}" if isinstance(report, State) else ""
        best = "" if report.best is None else f"  best {report.best / self._ones:.4f}"
        return f"{report.stage} {report.iteration}  {loss}{gap}{best}"

    def _of_fit(self, report: FitProgress) -> tuple[str, float]:
        figures = self._figures(report)
        if self._many_ranks:
            return f"{report.n_components} components  {figures}", 0.0
        if report.stage == "search":
            done = f"{100 * report.progress:.0f} %"
            return f"{figures}  {done}  {times(round(report.seconds))} so far", report.progress
        if not report.progress:
            return f"{figures}  {times(report.seconds)}", 0.0
        run = f"run {report.run}/{report.runs}  " if report.runs > 1 else ""
        # Factors that are there before the epochs end are searched on afterwards, for longer.
        left = self._seconds_left(report) if report.best is None else None
        of_it = "" if left is None else f"  {times(round(left))} left"
        return f"{run}{figures}{of_it}", report.progress

    def _seconds_left(self, report: FitProgress) -> float | None:
        """Tell how long it will take at the pace since the first iteration, if there was one."""
        seconds, progress, compiling = self._first
        done = report.progress - progress
        if done <= 0:
            return None
        spent = report.seconds - seconds - (compiling_seconds() - compiling)
        return max(spent, 0.0) / done * (1 - report.progress)


class Watched:
    """A run that tells a callback, and a line if it is not to be silent, how far it is.

    Its class has the parameters ``callback`` and ``verbose``.
    """

    callback: Any
    verbose: Any

    # Only while the run lasts.
    _line: ProgressLine | None = None

    @contextmanager
    def _showing(self, line: type[ProgressLine], ones: int, **options: Any) -> Iterator[None]:
        """Show a line while a run lasts, of which the options are those of the line."""
        with on_screen(self.verbose, line, ones, **options) as self._line:
            try:
                yield
            finally:
                del self._line

    @property
    def _is_watched(self) -> bool:
        """Whether anybody wants to be told."""
        return self.callback is not None or self._line is not None

    def _observe(self, report: Any, kind: str = "fit") -> bool:
        """Tell the line, as a report of that kind, and the callback, which may end the run."""
        if self._line is not None:
            getattr(self._line, kind)(report)
        return self.callback is not None and bool(self.callback(report))


@contextmanager
def on_screen(verbose: bool | int, line: type[T], ones: int, **options: Any) -> Iterator[T | None]:
    """Lend a line, on a terminal or in a notebook; None where a run is silent."""
    if not verbose:
        yield None
        return
    screen = Screen()
    try:
        with compiling_shown(screen.status):
            yield line(screen, ones, **options)
    finally:
        screen.status("")


def _with_bar(text: str, share: float, room: int) -> str:
    width = min(_WIDEST_BAR, room - len(text) - 3)
    if not share or width < _NARROWEST_BAR:
        return text
    bar = "#" * round(width * share)
    return f"[{bar.ljust(width, '.')}] {text}"
