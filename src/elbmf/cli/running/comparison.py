"""What ``elbmf compare`` does: a comparison, its data and parameters, what is saved and said."""

import argparse
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from elbmf.binarizers import learns
from elbmf.cli.console import Console
from elbmf.cli.flags.method import made, read_config
from elbmf.cli.flags.parameters import by_any_name, check_values
from elbmf.cli.flags.shared import weight_files
from elbmf.cli.interrupt import INTERRUPTED
from elbmf.cli.progress import ProgressLine
from elbmf.cli.reading import boolean, line_weights, read_matrix
from elbmf.cli.results import lines_of
from elbmf.cli.text.tables import table
from elbmf.cli.writing import check_picture, check_table
from elbmf.comparison import Comparison, Result, ranked
from elbmf.comparison.compare import chosen_names
from elbmf.comparison.results import FINISHED, TIME_LIMIT
from elbmf.errors import InputError
from elbmf.estimators import METHODS, BooleanFactorizer, method
from elbmf.estimators.saving import data_notes
from elbmf.estimators.schedule_flags import parameters_from_flags
from elbmf.io.matching import DifferentLinesError, check_same_lines
from elbmf.io.records import write_records
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.machine import versions
from elbmf.utils.text import amount, number, share, size_text, times

__all__ = ["notes", "results_table", "run"]

_LOG = logging.getLogger(__name__)


def run(common: dict[str, Any], args: argparse.Namespace, console: Console) -> int:
    """Read, run the methods with what they have in common, say what came out."""
    if "n_components" not in common:
        raise InputError("the number of components is missing. Pass it with -k, e.g. -k 20.")
    check_values(BooleanFactorizer, common)
    methods = chosen_names("all" if args.methods == "all" else args.methods.split(","))
    parameters = _parameters_by_method(args.config, methods)
    inputs = [args.data, args.truth, args.config, *weight_files(args).values()]
    inputs = [each for each in inputs if each]
    if args.output:
        check_table(Path(args.output), *inputs)
    if args.plot:
        check_picture(Path(args.plot), *inputs)
    A, truth, weights = _read_data(args)
    _LOG.info("%s: %d×%d, %d ones", args.data, *A.shape, A.ones)
    comparison = Comparison(
        A,
        methods=methods,
        parameters=parameters,
        truth=truth,
        refine=args.refine,
        callback=ProgressLine(console, A.ones).comparison,
        **weights,
        **common,
    )
    results, finished = _compared(comparison, console)
    records = [asdict(result) for result in results]
    if results and args.output:
        write_records(Path(args.output), records)
    if results and args.plot:
        from elbmf import plots  # here, for most comparisons are not drawn

        plots.save(plots.comparison(results), Path(args.plot))
    if args.json:
        console.result_json(
            {
                "data": data_notes(Path(args.data).name, A),
                "truth": Path(args.truth).name if args.truth else None,
                "weights": weight_files(args),
                "n_components": common["n_components"],
                "seed": comparison.random_state,
                "time_limit": common.get("time_limit"),
                "parameters": parameters,
                "interrupted": not finished,
                "results": records,
                "versions": versions(),
            }
        )
    elif results:
        console.result(results_table(results, with_truth=bool(args.truth)))
        if weights:
            console.result("A wrong cell counts the weight of its row times that of its column.")
        for note in notes(results, common.get("time_limit")):
            console.result(note)
    if args.output and results:
        console.note(f"Saved to {args.output}")
    if finished:
        return 0
    done = {result.method for result in results}
    left = [name for name in comparison.estimators if name not in done]
    console.note(f"Interrupted: without {', '.join(left)}")
    return INTERRUPTED


def _parameters_by_method(path: str | None, methods: Sequence[str]) -> dict[str, dict[str, Any]]:
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
            made(name, values)
            values = parameters_from_flags(method(name), values)
        except InputError as error:
            raise InputError(f"{path}: [{name}]: {error}") from error
        if name in methods:
            found[name] = values
    return found


def _read_data(
    args: argparse.Namespace,
) -> tuple[BooleanMatrix, BooleanMatrix | None, dict[str, Any]]:
    """Read the data, the truth, if it is given, and weights of rows and columns."""
    data = read_matrix(args.data, args)
    A = boolean(data, args.binarize, args.data)
    weights = line_weights(args, data)
    if not args.truth:
        return A, None, weights
    truth = read_matrix(args.truth, args)
    try:
        for what in ("rows", "columns"):
            check_same_lines(what, lines_of(truth, what), lines_of(data, what), args.data)
    except DifferentLinesError as error:
        raise InputError(
            f"{args.truth}: {error} They must be the same matrix, with and without noise."
        ) from error
    truth_binarize = None if learns(args.binarize) else args.binarize
    return A, boolean(truth, truth_binarize, args.truth), weights


def _compared(comparison: Comparison, console: Console) -> tuple[list[Result], bool]:
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
    "loss": _Column("loss", amount, min),
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
