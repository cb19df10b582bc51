"""A comparison of ``elbmf compare``: its data, its parameters, and what is saved and said of it."""

import argparse
import logging
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from elbmf.binarizers import learns
from elbmf.cli.console import Console
from elbmf.cli.flags.method import read_config
from elbmf.cli.flags.parameters import by_any_name, check_values
from elbmf.cli.reading import boolean, read_matrix
from elbmf.cli.results import lines_of
from elbmf.cli.text.comparison import notes, results_table
from elbmf.comparison import Comparison, Result, ranked
from elbmf.errors import InputError
from elbmf.estimators import METHODS, method
from elbmf.estimators.saving import data_notes
from elbmf.estimators.schedule_flags import parameters_from_flags
from elbmf.io.matching import DifferentLinesError, check_same_lines
from elbmf.io.records import write_records
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.machine import versions

__all__ = ["compared", "parameters_by_method", "read_data", "save_results", "tell_results"]

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
    table = read_matrix(args.data, args)
    A = boolean(table, args.binarize, args.data)
    if not args.truth:
        return A, None
    true_table = read_matrix(args.truth, args)
    try:
        for what in ("rows", "columns"):
            check_same_lines(what, lines_of(true_table, what), lines_of(table, what), args.data)
    except DifferentLinesError as error:
        raise InputError(
            f"{args.truth}: {error} They must be the same matrix, with and without noise."
        ) from error
    return A, boolean(true_table, None if learns(args.binarize) else args.binarize, args.truth)


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
