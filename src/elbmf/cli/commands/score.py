"""``elbmf score``: measure how well a saved result fits a matrix."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import (
    add_binarize,
    add_line_weights,
    add_n_jobs,
    add_reader_options,
    add_result,
    add_unknown,
)
from elbmf.errors import InputError

if TYPE_CHECKING:
    from elbmf.io import LabelledMatrix, SavedModel

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf score result data.csv                measure a saved result
  elbmf score result noisy.csv --truth noise-free.csv --json

If the matrix has the rows of the result, the two are compared as they are. Other rows are first
described by its components, as 'elbmf transform' does. With weights, a wrong cell counts the weight
of its row times that of its column."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf score RESULT [DATA] [options]"
    add_result(parser, "the matrix to compare it with")
    parser.add_argument("--truth", metavar="FILE", help="the noise-free matrix, for recall*")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_line_weights(parser)
    add_unknown(parser)
    add_n_jobs(parser)
    add_binarize(parser, " (default: what the result was fit with)")
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, read, measure."""
    from elbmf.binarizers import learns
    from elbmf.boolean.metrics import measures
    from elbmf.cli.reading import boolean, line_weights
    from elbmf.cli.results import aligned, described, load, read_alike, with_data
    from elbmf.cli.text.model import measures_table
    from elbmf.cli.text.tables import figures
    from elbmf.estimators.saving import data_notes

    model = load(args.result)
    A, table, path = with_data(model, args, console)
    truth = None
    if args.truth:
        true_table = aligned(
            read_alike(model, args.truth, args, console), model, "columns", args.truth, console
        )
        truth = boolean(true_table, None if learns(args.binarize) else args.binarize, args.truth)
        if truth.shape != A.shape:
            raise InputError(
                f"{args.truth}: has {truth.shape[0]} rows, but {path} has {A.shape[0]}. "
                "They must be the same matrix, with and without noise."
            )
    reason = _other_rows(table, model)
    if reason:
        console.note(f"{path}: {reason} Its rows are described by the components first.")
    weights = line_weights(args, table)
    U = described(A, model, weights, args.n_jobs) if reason else model.U
    values = measures(A, U, model.V, truth=truth, n_jobs=args.n_jobs, **weights)
    if args.json:
        data = data_notes(str(path), A)
        console.result_json(
            {"result": args.result, "data": data, "transformed": bool(reason), "measures": values}
        )
    else:
        console.result(figures(measures_table(values, None if weights else A.ones)))
    return 0


def _other_rows(table: "LabelledMatrix", model: "SavedModel") -> str:
    """Say in what way the rows are not those of the result; empty when they are."""
    from elbmf.cli.results import lines_of
    from elbmf.io.matching import DifferentLinesError, check_same_lines

    if model.info.stream is not None:
        return "the model keeps no rows of its stream."
    try:
        check_same_lines("rows", lines_of(table, "rows"), lines_of(model, "rows"))
    except DifferentLinesError as error:
        return str(error)
    return ""
