"""What is seen of a run while it lasts: one line on a terminal, nothing elsewhere."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from elbmf import comparison
from elbmf.cli.console import Console
from elbmf.ranks import path as ranks
from elbmf.relaxation.palm import State
from elbmf.utils.progress import FitProgress
from elbmf.utils.text import number, share, size_text, times

if TYPE_CHECKING:
    from elbmf.paper.experiments import running as experiments

__all__ = [
    "ComparisonProgress",
    "ExperimentProgress",
    "FileProgress",
    "Progress",
    "RankProgress",
    "StreamProgress",
]

_SECONDS_BETWEEN = 0.1
_NARROWEST_BAR, _WIDEST_BAR = 5, 20


class _Line:
    """A line that is written anew now and then.

    Parameters
    ----------
    console : Console
        Where to show it.
    ones : int
        Ones of the data, the scale of the loss, where there is one to show.
    """

    def __init__(self, console: Console, ones: int = 1) -> None:
        self._ones = max(ones, 1)
        self._console = console
        self._next = 0.0
        self._shows = console.shows_progress
        if self._shows:
            console.status("preparing …")

    def show(self, text: Callable[[], tuple[str, float]]) -> None:
        """Show a text and, if any, the share that is done, unless the last was shown just now."""
        now = time.monotonic()
        if self._shows and now >= self._next:
            self._next = now + _SECONDS_BETWEEN
            room = shutil.get_terminal_size().columns - 1
            self._console.status(_with_bar(*text(), room)[:room])

    def loss(self, loss: float) -> str:
        """Return the words for a loss."""
        return f"relative loss {loss / self._ones:.4f}"

    def figures(self, report: FitProgress) -> str:
        """Return the words for a report."""
        loss = self.loss(report.loss)
        if report.stage == "search":
            return f"searching  {loss}"
        gap = f"  gap {report.gap:.2e}" if isinstance(report, State) else ""
        return f"{report.stage} {report.iteration}  {loss}{gap}"


def _with_bar(text: str, share: float, room: int) -> str:
    width = min(_WIDEST_BAR, room - len(text) - 3)
    if not share or width < _NARROWEST_BAR:
        return text
    bar = "#" * round(width * share)
    return f"[{bar.ljust(width, '.')}] {text}"


class Progress:
    """Shows the figures of each iteration; an observer to be called with the reports of a run.

    Parameters
    ----------
    console : Console
        Where to show them.
    ones : int
        Ones of the data, the scale of the loss.
    many_ranks : bool
        Whether there are fits with several numbers of components, how many no one knows.

    Attributes
    ----------
    iterations : int
        Seen so far, of all runs.
    stage : str
        What an iteration is called.
    """

    def __init__(self, console: Console, ones: int, *, many_ranks: bool = False) -> None:
        self.iterations = 0
        self.stage = "epoch"
        self._many_ranks = many_ranks
        self._line = _Line(console, ones)

    def __call__(self, report: FitProgress) -> None:
        """Take note of an iteration, or of a round of the search."""
        if report.stage != "search":
            self.iterations += 1
            self.stage = report.stage
        self._line.show(lambda: self._text(report))

    def _text(self, report: FitProgress) -> tuple[str, float]:
        figures = self._line.figures(report)
        if self._many_ranks:
            return f"{report.n_components} components  {figures}", 0.0
        if report.stage == "search":
            return figures, report.progress
        if not report.progress:
            return f"{figures}  {times(report.seconds)}", 0.0
        left = report.seconds * (1 / report.progress - 1)
        run = f"run {report.run}/{report.runs}  " if report.runs > 1 else ""
        return f"{run}{figures}  {times(round(left))} left", report.progress


class RankProgress:
    """Shows how far a search over ranks is; two observers.

    Parameters
    ----------
    console : Console
        Where to show it.
    ones : int
        Ones of the data, the scale of the loss.
    """

    def __init__(self, console: Console, ones: int) -> None:
        self._line = _Line(console, ones)
        self._share = 0.0
        self._steps = ""

    def step(self, progress: ranks.Progress) -> None:
        """Take note of a step of the search."""
        self._share = progress.done / progress.total
        hidden = "with held-out cells: " if progress.held_out else ""
        self._steps = f"{hidden}{progress.done} of {progress.total} steps  "
        loss = self._line.loss(progress.cost)
        text = f"{self._steps}rank {progress.step.rank}  {loss}"
        self._line.show(lambda: (text, self._share))

    def iteration(self, report: FitProgress) -> None:
        """Take note of an iteration within a step."""
        text = f"{self._steps}rank {report.n_components}  {self._line.figures(report)}"
        self._line.show(lambda: (text, self._share))


class ComparisonProgress:
    """Shows whose turn it is in a comparison; an observer.

    Parameters
    ----------
    console : Console
        Where to show it.
    ones : int
        Ones of the data, the scale of the loss.
    """

    def __init__(self, console: Console, ones: int) -> None:
        self._line = _Line(console, ones)

    def __call__(self, progress: comparison.Progress) -> None:
        """Take note of a method that begins, or of an iteration of it."""
        report = progress.report
        told = "preparing …" if report is None else self._line.figures(report)
        done = progress.number - 1 + (0.0 if report is None else report.progress)
        text = f"{progress.method} ({progress.number} of {progress.total})  {told}"
        self._line.show(lambda: (text, done / progress.total))


class FileProgress:
    """Shows how far a file is downloaded, read or sorted; three observers.

    Parameters
    ----------
    console : Console
        Where to show it.
    """

    def __init__(self, console: Console) -> None:
        self._line = _Line(console)

    def downloaded(self, name: str, done: int, total: int | None) -> None:
        """Take note of bytes that came."""
        of_all = f" of {size_text(total)}" if total else ""
        share = done / total if total else 0.0
        self._line.show(lambda: (f"downloading {name}  {size_text(done)}{of_all}", share))

    def read(self, path: Path, done: int, total: int) -> None:
        """Take note of bytes that were read."""
        share = done / total if total else 0.0
        self._line.show(
            lambda: (f"reading {path.name}  {size_text(done)} of {size_text(total)}", share)
        )

    def sorted(self, what: str, done: int, total: int) -> None:
        """Take note of entries that were sorted, by rows or by columns."""
        self._line.show(lambda: (f"sorting {what}  {done:,} of {total:,} entries", done / total))


class StreamProgress:
    """Shows how many rows of a stream were read; an observer.

    Parameters
    ----------
    console : Console
        Where to show it.
    """

    def __init__(self, console: Console) -> None:
        self._line = _Line(console)

    def __call__(self, rows: int, loss: Callable[[], float | None]) -> None:
        """Take note of rows read so far, and of the relative loss on the last of them."""
        self._line.show(
            lambda: (f"{number(rows)} rows  relative loss of the last {share(loss())}", 0.0)
        )


class ExperimentProgress:
    """Shows how far an experiment is; an observer.

    Parameters
    ----------
    console : Console
        Where to show it.
    """

    def __init__(self, console: Console) -> None:
        self._line = _Line(console)

    def __call__(self, progress: "experiments.Progress") -> None:
        """Take note of a task that begins."""
        task = ", ".join(f"{name} {value}" for name, value in progress.task.items())
        text = f"{progress.experiment}: {progress.done} of {progress.total} tasks  {task}"
        self._line.show(lambda: (text, progress.done / progress.total))
