"""``elbmf score``: measure how well a saved result fits a matrix."""

import argparse
from collections.abc import Sequence
from typing import Any

from elbmf.binarizers import elementwise
from elbmf.boolean.metrics import measures
from elbmf.cli import models, summary
from elbmf.cli.console import Console
from elbmf.cli.matrices import (
    add_binarize,
    add_n_jobs,
    add_reader_options,
    aligned,
    boolean,
    model_binarize,
    read_matrix,
)
from elbmf.cli.tables import figures
from elbmf.errors import InputError
from elbmf.estimators.saving import data_notes
from elbmf.io import LabelledMatrix, SavedModel
from elbmf.search.local import describe

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf score result data.csv
  elbmf score result noisy.csv --truth noise-free.csv --json

A matrix with the rows of the model is compared with the saved result as it is; other rows are
first described by the model's components, as 'elbmf transform' does."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf score MODEL DATA [options]"
    parser.add_argument("model", metavar="MODEL", help="folder that 'elbmf fit' saved")
    parser.add_argument("data", metavar="DATA", help="the matrix to compare it with")
    parser.add_argument("--truth", metavar="FILE", help="the noise-free matrix, for recall*")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_n_jobs(parser)
    add_binarize(parser, " (default: what the model was fit with)")
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, read, measure."""
    model = models.load(args.model)
    table = aligned(read_matrix(args.data, args), model, args.data, console)
    binarize = model_binarize(model, args.binarize, table, args.data, console)
    A = boolean(table, binarize, args.data)
    truth = None
    if args.truth:
        true_table = aligned(read_matrix(args.truth, args), model, args.truth, console)
        truth = boolean(true_table, elementwise(args.binarize), args.truth)
        if truth.shape != A.shape:
            raise InputError(
                f"{args.truth}: has {truth.shape[0]} rows, but {args.data} has {A.shape[0]}. "
                "They must be the same matrix, with and without noise."
            )
    reason = _other_rows(table, model)
    if reason:
        console.note(f"{args.data}: {reason}; its rows are described by the components first.")
    U: Any = describe(A, model.V, model.weights(A.shape), args.n_jobs) if reason else model.U
    values = measures(A, U, model.V, truth=truth, n_jobs=args.n_jobs)
    if args.json:
        data = data_notes(args.data, A)
        console.result_json(
            {"model": args.model, "data": data, "transformed": bool(reason), "measures": values}
        )
    else:
        console.result(figures(summary.measures_table(values, A.ones)))
    return 0


def _other_rows(table: LabelledMatrix, model: SavedModel) -> str:
    """Say in what way the rows are not those of the model; empty when they are."""
    if model.info.stream is not None:
        return "the model keeps no rows of its stream"
    if table.shape[0] != model.shape[0]:
        return f"has {table.shape[0]} rows, the model {model.shape[0]}"
    if table.row_names and model.row_names and table.row_names != model.row_names:
        return "its rows have other names than those of the model, or another order"
    return ""
