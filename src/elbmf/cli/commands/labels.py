"""``elbmf labels``: compare saved components with known labels of the rows."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elbmf.analysis.labels import ComponentLabels, component_labels
from elbmf.cli import models
from elbmf.cli.console import Console
from elbmf.cli.outputs import check_table_about
from elbmf.cli.tables import shorten, table
from elbmf.errors import InputError
from elbmf.io import LabelledMatrix, SavedModel, read_labels
from elbmf.io.records import write_records
from elbmf.utils.text import number

__all__ = ["EXAMPLES", "add_label_column", "configure", "labels_of_rows", "run"]

EXAMPLES = """\
examples:
  elbmf labels result labels.tsv
  elbmf labels result patients.csv --column cancer_type -o nmi.csv

The table has a header; its first column names rows of the matrix, in any order. For each label the
component that tells most about it is shown, by normalized mutual information (nmi); -o writes all
pairs of components and labels."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf labels RESULT LABELS [--column NAME] [-o TABLE] [options]"
    parser.add_argument("result", metavar="RESULT", help="folder that 'elbmf fit' saved")
    parser.add_argument("labels", metavar="LABELS", help="names of rows and their labels")
    add_label_column(parser)
    parser.add_argument(
        "-o", "--output", metavar="TABLE", help="write all to a .csv, .tsv, .json or .parquet file"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_label_column(parser: argparse.ArgumentParser) -> None:
    """Add the flag that chooses among several labellings of a table."""
    parser.add_argument(
        "--column", metavar="NAME", help="which column has the labels (default: the second)"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, read, compare, say what was found."""
    output = Path(args.output) if args.output else None
    if output is not None:
        check_table_about(args.result, output, args.labels)
    model = models.load(args.result)
    labels = labels_of_rows(model, args, console)
    found = component_labels(model.U, labels)
    if output is not None:
        write_records(output, _records(found))
        console.note(f"Saved to {output}")
    if args.json:
        console.result_json(
            {"result": args.result, "labels": args.labels, "components": _records(found)}
        )
    else:
        console.result(_text(found))
    return 0


def labels_of_rows(
    model: SavedModel, args: argparse.Namespace, console: Console
) -> list[str | None]:
    """Return the label of each row of the model; None for rows that the table does not name.

    Parameters
    ----------
    model : SavedModel
        The result.
    args : Namespace
        ``labels``, the table; ``column``, which of its columns; ``result``, the model's folder.
    console : Console
        Which is told what is odd.
    """
    names = LabelledMatrix(model.U, model.row_names).row_labels()
    labellings = read_labels(args.labels)
    column = next(iter(labellings)) if args.column is None else args.column
    if column not in labellings:
        raise InputError(
            f"{args.labels}: there is no column {column!r}. Choose one of "
            f"{', '.join(map(repr, labellings))}."
        )
    by_name = labellings[column]
    labels = [by_name.get(name) or None for name in names]
    unknown = labels.count(None)
    if model.row_names is None:
        if unknown == len(labels):
            raise InputError(
                f"{args.result}: the rows have no names, which the labels could be matched with, "
                f"and {args.labels} does not number them from 0. Fit a file that names its rows."
            )
        console.note(f"{args.result}: the rows have no names; labels are matched by their number.")
    if unknown == len(labels):
        raise InputError(
            f"{args.labels}: none of the {len(labels)} rows of {args.result} has a label in the "
            f"column {column!r}. Rows are called {', '.join(map(repr, names[:3]))}, "
            f"those of the table {', '.join(map(repr, list(by_name)[:3]))}."
        )
    if unknown:
        console.note(f"{args.labels}: {number(unknown)} rows without a label are left out.")
    return labels


def _records(found: ComponentLabels) -> list[dict[str, Any]]:
    return [
        {
            "component": component,
            "label": label,
            "nmi": float(found.nmi[component, position]),
            "overlap": int(found.overlap[component, position]),
            "component_rows": int(found.component_sizes[component]),
            "label_rows": int(found.class_sizes[position]),
        }
        for component in range(len(found.nmi))
        for position, label in enumerate(found.classes)
    ]


def _text(found: ComponentLabels) -> str:
    lines = [
        [
            shorten([label]),
            number(int(found.class_sizes[position])),
            str(component),
            f"{found.nmi[component, position]:.3f}",
            number(int(found.overlap[component, position])),
            number(int(found.component_sizes[component])),
        ]
        for position, (label, component) in enumerate(
            zip(found.classes, found.best_components(), strict=True)
        )
    ]
    headers = ["label", "rows", "best component", "nmi", "rows in both", "rows of component"]
    mean = f"mean nmi of the best components: {found.best_nmi().mean():.3f}"
    return table(headers, lines, left=[0]) + "\n\n" + mean
