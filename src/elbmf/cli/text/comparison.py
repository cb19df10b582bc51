"""What is said of a comparison: one table, and what there is to know about its rows."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from elbmf.cli.text.tables import table
from elbmf.comparison import Result
from elbmf.comparison.results import FINISHED, TIME_LIMIT
from elbmf.utils.text import number, share, size_text, times

__all__ = ["notes", "results_table"]

_STOPPED = "†"


class _Column(NamedTuple):
    """A column of the table.

    ``best`` chooses the best of its values, where there is such a thing; values of methods that
    were stopped early take part only where that cannot have helped them.
    """

    title: str
    write: Callable[[Any], str]
    best: Callable[[Sequence[Any]], Any] | None = None
    helped_by_stopping: bool = False


_COLUMNS = {
    "loss": _Column("loss", number, min),
    "relative_loss": _Column("relative loss", share, min),
    "similarity": _Column("similarity", share, max),
    "recall": _Column("recall", share, max),
    "recall_star": _Column("recall*", share, max),
    "seconds": _Column("time", times, min, helped_by_stopping=True),
    "peak_memory": _Column("memory", size_text, min, helped_by_stopping=True),
    "density": _Column("density", share),
    "n_components": _Column("components", number),
}


def results_table(results: Sequence[Result], *, with_truth: bool) -> str:
    """Lay out results in the order given, the best of each column with a star."""
    shown = {
        name: column for name, column in _COLUMNS.items() if with_truth or name != "recall_star"
    }
    best = {name: _best(results, name) for name in shown}

    def cell(result: Result, name: str) -> str:
        value = getattr(result, name)
        if value is None:
            return ""
        text = shown[name].write(value)
        if shown[name].best is None:
            return text
        return text + ("*" if value == best[name] and _competes(result, name) else " ")

    lines = [
        [
            result.method + (f" {_STOPPED}" if _is_stopped(result) else ""),
            *(cell(result, name) for name in shown),
            result.status,
        ]
        for result in results
    ]
    titles = [column.title + (" " if column.best else "") for column in shown.values()]
    return table(["method", *titles, "status"], lines, left=[0, len(shown) + 1])


def _is_stopped(result: Result) -> bool:
    return result.status == TIME_LIMIT and result.loss is not None


def _competes(result: Result, name: str) -> bool:
    return result.status == FINISHED or not _COLUMNS[name].helped_by_stopping


def _best(results: Sequence[Result], name: str) -> Any:
    """Return the best value of a column, or None where there is nothing to choose from."""
    choose = _COLUMNS[name].best
    competing = [getattr(each, name) for each in results if _competes(each, name)]
    values = [value for value in competing if value is not None]
    return choose(values) if choose is not None and len(values) > 1 else None


def notes(results: Sequence[Result], time_limit: float | None) -> list[str]:
    """Say in lines of their own what the status of a method means."""
    said = []
    if time_limit is not None and any(map(_is_stopped, results)):
        said.append(f"{_STOPPED} ended after {times(time_limit)} with what was found until then")
    said += [
        f"{each.method}: {each.status}" + (f": {each.message}" if each.message else "")
        for each in results
        if each.loss is None
    ]
    return said
