"""What is seen of comparisons while they last."""

from typing import TYPE_CHECKING

from elbmf.estimators.progress_line import ProgressLine as FitLine
from elbmf.utils.text import counted

if TYPE_CHECKING:
    from elbmf.comparison.compare import ComparisonProgress
    from elbmf.comparison.significance import SignificanceProgress
    from elbmf.comparison.stability import StabilityProgress

__all__ = ["ProgressLine"]


class ProgressLine(FitLine):
    """The line of fits, which also observes many of them side by side."""

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
