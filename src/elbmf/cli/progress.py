"""What is seen of a run while it lasts: one line on a terminal, nothing elsewhere."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from elbmf.comparison.progress_line import ProgressLine as FitsLine
from elbmf.utils.text import number, share, size_text

if TYPE_CHECKING:
    from elbmf.paper.experiments.running import ExperimentProgress

__all__ = ["ProgressLine"]


class ProgressLine(FitsLine):
    """The line of fits, which also observes experiments, streams, and files that come in."""

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
