"""The report: one page about a factorization that opens in any browser, offline.

`write_report` makes it. What it says is a `elbmf.report.document.Document`, which
`elbmf.report.content` makes from a model and its data; `elbmf.report.page` writes the page.
"""

from elbmf.report.known import KnownLabels, KnownSets
from elbmf.report.writing import write_report
from elbmf.report.written import WrittenReport

__all__ = ["KnownLabels", "KnownSets", "WrittenReport", "write_report"]
