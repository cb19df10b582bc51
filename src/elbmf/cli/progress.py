"""What is seen of a run while it lasts: one line on a terminal, nothing elsewhere."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from elbmf.cli.console import Console
from elbmf.kernels.compiling import compiling_seconds
from elbmf.relaxation.palm import State
from elbmf.utils.progress import FitProgress
from elbmf.utils.text import counted, number, share, size_text, times

if TYPE_CHECKING:
    from elbmf.comparison import ComparisonProgress, SignificanceProgress, StabilityProgress
    from elbmf.paper.experiments.running import ExperimentProgress
    from elbmf.ranks.path import RankProgress

__all__ = ["ProgressLine"]

_SECONDS_BETWEEN = 0.1
_NARROWEST_BAR, _WIDEST_BAR = 5, 20


class ProgressLine:
    """A line that is written anew now and then; its methods are observers of what may run.

    The ones of the data are the scale of the loss; ``many_ranks`` says that there are fits with
    several numbers of components, how many no one knows. ``iterations`` counts those of fits seen
    so far, and ``stage`` is what one is called.
    """

    def __init__(self, console: Console, ones: int = 1, *, many_ranks: bool = False) -> None:
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

    def rank_step(self, progress: "RankProgress") -> None:
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

    def stability(self, progress: "StabilityProgress") -> None:
        """Take note of an iteration of the fit of all data, or of a finished run on a part."""
        if progress.report is not None:
            self.fit(progress.report)
        else:
            self._count(progress.done, progress.total, "runs")

    def comparison(self, progress: "ComparisonProgress") -> None:
        """Take note of a method that begins, or of an iteration of it."""
        report = progress.report
        told = "preparing …" if report is None else self._figures(report)
        done = progress.number - 1 + (0.0 if report is None else report.progress)
        text = f"{progress.method} ({progress.number} of {progress.total})  {told}"
        self._show(lambda: (text, done / progress.total))

    def samples(self, progress: "SignificanceProgress") -> None:
        """Take note of a random matrix that was fitted."""
        promising = f"{counted(progress.promising, 'component')} may be significant"
        self._count(progress.done, progress.samples, f"random matrices  {promising}")

    def experiment(self, progress: "ExperimentProgress") -> None:
        """Take note of a task of an experiment that begins."""
        task = ", ".join(f"{name} {value}" for name, value in progress.task.items())
        text = f"{progress.experiment}: {progress.done} of {progress.total} tasks  {task}"
        self._show(lambda: (text, progress.done / progress.total))

    def streamed(self, rows: int, loss: Callable[[], float | None]) -> None:
        """Take note of rows read so far, and of the relative loss on the last of them."""
        self._show(lambda: (f"{number(rows)} rows  relative loss of the last {share(loss())}", 0.0))

    def downloaded(self, name: str, done: int, total: int | None) -> None:
        """Take note of bytes that came."""
        of_all = f" of {size_text(total)}" if total else ""
        self._show(
            lambda: (
                f"downloading {name}  {size_text(done)}{of_all}",
                done / total if total else 0.0,
            )
        )

    def read(self, path: Path, done: int, total: int) -> None:
        """Take note of bytes that were read."""
        text = f"reading {path.name}  {size_text(done)} of {size_text(total)}"
        self._show(lambda: (text, done / total if total else 0.0))

    def sorted(self, what: str, done: int, total: int) -> None:
        """Take note of entries that were sorted, by rows or by columns."""
        self._show(lambda: (f"sorting {what}  {done:,} of {total:,} entries", done / total))

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
            return figures, report.progress
        if not report.progress:
            return f"{figures}  {times(report.seconds)}", 0.0
        run = f"run {report.run}/{report.runs}  " if report.runs > 1 else ""
        left = self._seconds_left(report)
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


def _with_bar(text: str, share: float, room: int) -> str:
    width = min(_WIDEST_BAR, room - len(text) - 3)
    if not share or width < _NARROWEST_BAR:
        return text
    bar = "#" * round(width * share)
    return f"[{bar.ljust(width, '.')}] {text}"
