"""A comparison of ``elbmf compare``: its data, its parameters, and what is saved and said of it."""

import argparse
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from elbmf.binarizers import learns
from elbmf.cli.console import Console
from elbmf.cli.flags.method import read_config
from elbmf.cli.flags.parameters import by_any_name, check_values
from elbmf.cli.reading import boolean, read_matrix
from elbmf.cli.results import lines_of
from elbmf.cli.text.tables import table
from elbmf.comparison import Comparison, Result, ranked
from elbmf.comparison.results import FINISHED, TIME_LIMIT
from elbmf.errors import InputError
from elbmf.estimators import METHODS, method
from elbmf.estimators.saving import data_notes
from elbmf.estimators.schedule_flags import parameters_from_flags
from elbmf.io.matching import DifferentLinesError, check_same_lines
from elbmf.io.records import write_records
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.machine import versions
from elbmf.utils.text import number, share, size_text, times

__all__ = [
    "compared",
    "notes",
    "parameters_by_method",
    "read_data",
    "results_table",
    "save_results",
    "tell_results",
]

_LOG = logging.getLogger(__name__)


def parameters_by_method(path: str | None, methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return parameters by method from a file, of those that take part."""
    sections = read_config(path) if path else {}
    found = {}
    for name, section in sections.items():
        if name not in METHODS:
            raise InputError(
                f"{path}: there is no method {name!r}. Write a section for each method, of "
                f"{', '.join(METHODS)}."
            )
        if not isinstance(section, dict):
            raise InputError(
                f"{path}: expected a section [{name}] with parameters, got {name} = {section!r}."
            )
        try:
            values = by_any_name(METHODS[name], section)
            check_values(method(name), values)
            values = parameters_from_flags(method(name), values)
            method(name)(**values)._validate_params()
        except InputError as error:
            raise InputError(f"{path}: [{name}]: {error}") from error
        if name in methods:
            found[name] = values
    return found


def read_data(args: argparse.Namespace) -> tuple[BooleanMatrix, BooleanMatrix | None]:
    """Read the data and, if it is given, the truth."""
    data = read_matrix(args.data, args)
    A = boolean(data, args.binarize, args.data)
    if not args.truth:
        return A, None
    truth = read_matrix(args.truth, args)
    try:
        for what in ("rows", "columns"):
            check_same_lines(what, lines_of(truth, what), lines_of(data, what), args.data)
    except DifferentLinesError as error:
        raise InputError(
            f"{args.truth}: {error} They must be the same matrix, with and without noise."
        ) from error
    return A, boolean(truth, None if learns(args.binarize) else args.binarize, args.truth)


def compared(comparison: Comparison, console: Console) -> tuple[list[Result], bool]:
    """Run the methods; return results, the best first, and whether all are there."""
    results: list[Result] = []
    finished = True
    try:
        for result in comparison:
            results.append(result)
            _LOG.info("%s: %s, loss %s", result.method, result.status, result.loss)
            if result.message and result.loss is not None:
                console.warn(f"{result.method}: {result.message}")
    except KeyboardInterrupt:
        finished = False
    console.status("")
    return ranked(results), finished


def save_results(results: list[Result], args: argparse.Namespace) -> None:
    """Write the table and the picture, where they are asked for."""
    if args.output:
        write_records(Path(args.output), [asdict(result) for result in results])
    if args.plot:
        from elbmf import plots  # here, for most comparisons are not drawn

        plots.save(plots.comparison(results), Path(args.plot))


def tell_results(
    results: list[Result],
    A: BooleanMatrix,
    args: argparse.Namespace,
    noted: dict[str, Any],
    console: Console,
) -> None:
    """Print what came out; ``noted`` is what else belongs in the JSON object."""
    if args.json:
        found = {
            "data": data_notes(Path(args.data).name, A),
            "truth": Path(args.truth).name if args.truth else None,
            **noted,
            "results": [asdict(result) for result in results],
            "versions": versions(),
        }
        console.result_json(found)
    elif results:
        console.result(results_table(results, with_truth=bool(args.truth)))
        for note in notes(results, noted["time_limit"]):
            console.result(note)


# --- what is said ---

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
