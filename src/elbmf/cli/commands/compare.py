"""``elbmf compare``: run several methods on a matrix, side by side."""

import argparse
import logging
from collections.abc import Sequence
from dataclasses import asdict
from numbers import Real
from pathlib import Path
from typing import Any

from sklearn.utils._param_validation import Interval, InvalidParameterError

from elbmf.binarizers import elementwise
from elbmf.cli import compare_report, solver_flags
from elbmf.cli.config import read_config
from elbmf.cli.console import Console
from elbmf.cli.matrices import add_binarize, add_reader_options, boolean, read_matrix
from elbmf.cli.outputs import check_picture, check_table
from elbmf.cli.progress import ProgressLine
from elbmf.comparison import Comparison, Result, ranked
from elbmf.comparison.entrants import chosen_names
from elbmf.errors import InputError
from elbmf.estimators import METHODS, BooleanFactorizer
from elbmf.estimators.saving import data_notes
from elbmf.io import LabelledMatrix
from elbmf.io.records import write_records
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.utils.machine import versions

__all__ = ["EXAMPLES", "configure", "run"]

_LOG = logging.getLogger(__name__)
_INTERRUPTED = 130

EXAMPLES = """\
examples:
  elbmf compare data.csv -k 20
  elbmf compare data.csv -k 20 --methods elbmf,asso --refine --time-limit 60
  elbmf compare noisy.csv -k 5 --truth noise-free.csv --seed 1 -o table.csv
  elbmf compare data.npz -k 20 --config parameters.toml --json > table.json

The table is sorted by loss, and a star marks the best of a column. Each method runs in a process
of its own. Time is that of the fit, without reading data and compiling kernels; memory is what the
process needed beyond what it held before the fit.
A TOML file for --config has a section for each method, e.g. [asso] with a line threshold = 0.5.
Ctrl-C ends the comparison with a table of what is finished."""

_OWNER = "comparison"
_COMMON = [
    solver_flags.Parameter(name, None, constraints, description)
    for name, constraints, description in (
        (
            "n_components",
            BooleanFactorizer._parameter_constraints["n_components"],
            'number of components, for all methods; "auto" lets each choose it',
        ),
        (
            "time_limit",
            [Interval(Real, 0, None, closed="neither")],
            "seconds that each method may take; it then ends with what it has found",
        ),
        (
            "random_state",
            BooleanFactorizer._parameter_constraints["random_state"],
            "seed of each method",
        ),
        (
            "n_jobs",
            BooleanFactorizer._parameter_constraints["n_jobs"],
            "threads of each method (default: all cores)",
        ),
    )
]


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf compare DATA -k K [options]"
    parser.add_argument("data", metavar="DATA", help="the matrix: a file of zeros and ones")
    parser.add_argument(
        "--methods",
        metavar="NAMES",
        default="all",
        help=f"all, or names joined by commas: {','.join(METHODS)} (default: all)",
    )
    solver_flags.add_flags(parser, _COMMON, owner=_OWNER)
    parser.add_argument(
        "--refine", action="store_true", help="add what each method leads to when it is refined"
    )
    parser.add_argument("--truth", metavar="FILE", help="the noise-free matrix, for recall*")
    parser.add_argument("--config", metavar="FILE", help="parameters by method, from a TOML file")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="file for the table, which is replaced: .csv, .tsv, .json or .parquet",
    )
    parser.add_argument("--plot", metavar="PICTURE", help="draw loss and time of the methods")
    parser.add_argument("--json", action="store_true", help="print one JSON object, no tables")
    add_binarize(parser)
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, run the methods, say what came out."""
    common = solver_flags.given(args, _OWNER)
    if "n_components" not in common:
        raise InputError("the number of components is missing. Pass it with -k, e.g. -k 20.")
    methods = chosen_names("all" if args.methods == "all" else args.methods.split(","))
    parameters = _parameters(args.config, methods)
    inputs = [each for each in (args.data, args.truth, args.config) if each]
    if args.output:
        check_table(Path(args.output), *inputs)
    if args.plot:
        check_picture(Path(args.plot), *inputs)
    A, truth = _read(args)
    _LOG.info("%s: %d×%d, %d ones", args.data, *A.shape, A.ones)
    comparison = Comparison(
        A,
        methods=methods,
        parameters=parameters,
        truth=truth,
        refine=args.refine,
        callback=ProgressLine(console, A.ones).comparison,
        **common,
    )
    results: list[Result] = []
    interrupted = False
    try:
        for result in comparison:
            results.append(result)
            _LOG.info("%s: %s, loss %s", result.method, result.status, result.loss)
            if result.message and result.loss is not None:
                console.warn(f"{result.method}: {result.message}")
    except KeyboardInterrupt:
        interrupted = True
    console.status("")
    results = ranked(results)
    if args.output and results:
        write_records(Path(args.output), [asdict(result) for result in results])
    if args.plot and results:
        from elbmf import plots  # here, for most comparisons are not drawn

        plots.save(plots.comparison(results), Path(args.plot))
    if args.json:
        found = {
            "data": data_notes(Path(args.data).name, A),
            "truth": Path(args.truth).name if args.truth else None,
            "n_components": common["n_components"],
            "seed": comparison.random_state,
            "time_limit": common.get("time_limit"),
            "parameters": parameters,
            "interrupted": interrupted,
            "results": [asdict(result) for result in results],
            "versions": versions(),
        }
        console.result_json(found)
    elif results:
        console.result(compare_report.results_table(results, with_truth=truth is not None))
        for note in compare_report.notes(results, common.get("time_limit")):
            console.result(note)
    if args.output and results:
        console.note(f"Saved to {args.output}")
    if interrupted:
        finished = {result.method for result in results}
        left = [name for name in comparison.estimators if name not in finished]
        console.note(f"Interrupted: without {', '.join(left)}")
        return _INTERRUPTED
    return 0


def _parameters(path: str | None, methods: Sequence[str]) -> dict[str, dict[str, Any]]:
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
            values = solver_flags.by_any_name(METHODS[name], section)
            METHODS[name](**values)._validate_params()
        except (InputError, InvalidParameterError) as error:
            raise InputError(f"{path}: [{name}]: {error}") from error
        if name in methods:
            found[name] = values
    return found


def _read(args: argparse.Namespace) -> tuple[BooleanMatrix, BooleanMatrix | None]:
    """Read the data and, if it is given, the truth."""
    table = read_matrix(args.data, args)
    A = boolean(table, args.binarize, args.data)
    if not args.truth:
        return A, None
    true_table = read_matrix(args.truth, args)
    _check_same_lines(table, true_table, args)
    return A, boolean(true_table, elementwise(args.binarize), args.truth)


def _check_same_lines(
    table: LabelledMatrix, true_table: LabelledMatrix, args: argparse.Namespace
) -> None:
    (n, m), (rows, columns) = table.shape, true_table.shape
    differing = (
        f"is {rows}×{columns}, but {args.data} is {n}×{m}" if (n, m) != (rows, columns) else ""
    )
    for axis in ("row", "column"):
        ours, theirs = (getattr(each, f"{axis}_names") for each in (table, true_table))
        if not differing and ours and theirs and ours != theirs:
            differing = f"its {axis}s have other names than those of {args.data}, or another order"
    if differing:
        raise InputError(
            f"{args.truth}: {differing}. They must be the same matrix, with and without noise."
        )
