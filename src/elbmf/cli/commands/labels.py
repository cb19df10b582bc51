"""``elbmf labels``: compare saved components with known labels of the rows."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import add_label_column, add_result
from elbmf.cli.text.tables import shorten, table
from elbmf.utils.text import number

if TYPE_CHECKING:
    from elbmf.analysis.labels import ComponentLabels

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf labels result rows.tsv               compare components with known labels
  elbmf labels result patients.csv --column cancer_type -o nmi.csv
  elbmf labels result cells.h5ad             with every column of obs that has few values

The table has a header; its first column names rows of the matrix, in any order. Of an h5ad file,
obs is the table. For each label the component that tells most about it is shown, by normalized
mutual information (nmi); -o writes all pairs of components and labels."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf labels RESULT LABELS [--column NAME] [-o TABLE] [options]"
    add_result(parser)
    parser.add_argument("labels", metavar="LABELS", help="names of rows and their labels")
    add_label_column(parser)
    parser.add_argument(
        "-o", "--output", metavar="TABLE", help="write all to a .csv, .tsv, .json or .parquet file"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, read, compare, say what was found."""
    from elbmf.analysis.labels import component_labels
    from elbmf.cli.results import all_labels_of_rows, load
    from elbmf.cli.writing import check_table
    from elbmf.io.records import write_records

    output = Path(args.output) if args.output else None
    if output is not None:
        check_table(output, args.labels, result=args.result)
    model = load(args.result)
    labels = all_labels_of_rows(model, args, console)
    found = {title: component_labels(model.U, each) for title, each in labels.items()}
    records = [
        # Which column a label is from is known, if there is one.
        {"column": title, **record} if len(found) > 1 else record
        for title, each in found.items()
        for record in _records(each)
    ]
    if output is not None:
        write_records(output, records)
        console.note(f"Saved to {output}")
    if args.json:
        console.result_json({"result": args.result, "labels": args.labels, "components": records})
    else:
        headed = len(found) > 1
        texts = [
            f"{title}\n{_text(each)}" if headed else _text(each) for title, each in found.items()
        ]
        console.result("\n\n".join(texts))
    return 0


def _records(found: "ComponentLabels") -> list[dict[str, Any]]:
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


def _text(found: "ComponentLabels") -> str:
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
