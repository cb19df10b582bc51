"""``elbmf labels``: compare saved components with known labels of the rows."""

import argparse
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import (
    add_escape_formulas,
    add_label_column,
    add_result,
    add_side_options,
)
from elbmf.cli.text.tables import log_p_text, shorten, table
from elbmf.errors import visible
from elbmf.utils.text import number, percent

if TYPE_CHECKING:
    from elbmf.analysis.labels import ComponentLabels

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf labels result rows.tsv               compare components with known labels
  elbmf labels result patients.csv --column cancer_type -o nmi.csv
  elbmf labels result --column sex           labels that --drop left out of the data
  elbmf labels result cells.h5ad             with every column of obs that has few values

The table has a header; its first column names rows of the matrix, in any order. In an h5ad file,
obs is the table. For each label the best component is shown: of those in which it is more frequent
than elsewhere, the one that tells most about it, by normalized mutual information (nmi: 0 nothing,
1 all). -o writes all pairs of components and labels."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf labels RESULT [LABELS] [--column NAME] [-o TABLE] [options]"
    add_result(parser)
    parser.add_argument(
        "labels",
        metavar="LABELS",
        nargs="?",
        help="names of rows and their labels (default: the data of RESULT, with --column)",
    )
    add_label_column(parser)
    parser.add_argument(
        "-o", "--output", metavar="TABLE", help="write all to a .csv, .tsv, .json or .parquet file"
    )
    add_escape_formulas(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_side_options(parser, "delimiter", "encoding", "sheet")


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, read, compare, say what was found."""
    from elbmf.analysis.labels import component_labels
    from elbmf.cli.results import label_table, labels_of_rows, load
    from elbmf.cli.writing import check_table
    from elbmf.io.records import write_records

    output = Path(args.output) if args.output else None
    if output is not None:
        check_table(
            output,
            *filter(None, [args.labels]),
            result=args.result,
            escape_formulas=args.escape_formulas,
        )
    model = load(args.result)
    table_of_labels = label_table(model, args)[0]
    if output is not None:
        check_table(
            output, str(table_of_labels), result=args.result, escape_formulas=args.escape_formulas
        )
    labels = labels_of_rows(model, args, console)
    found = {title: component_labels(model, each) for title, each in labels.items()}
    records = _of_columns(found, _records)
    if output is not None:
        write_records(output, records, escape_formulas=args.escape_formulas)
        console.note(f"Saved to {output}")
    if args.json:
        console.result_json(
            {
                "result": args.result,
                "labels": str(table_of_labels),
                "best": _of_columns(found, _best),
                "components": records,
            }
        )
    else:
        spoken = model.info.data.words.spoken
        texts = [
            f"{visible(title)}\n{_text(each, spoken)}" if len(found) > 1 else _text(each, spoken)
            for title, each in found.items()
        ]
        console.result("\n\n".join(texts))
    return 0


def _of_columns(
    found: "dict[str, ComponentLabels]",
    records: "Callable[[ComponentLabels], list[dict[str, Any]]]",
) -> list[dict[str, Any]]:
    """Return the records of all columns; of several, each says which column it is from."""
    return [
        {"column": title, **record} if len(found) > 1 else record
        for title, each in found.items()
        for record in records(each)
    ]


# What the component of a pair has of the label, beside the rows that are in none.
_DIRECTIONS = {1: "more", 0: "as many", -1: "fewer"}


def _record(found: "ComponentLabels", component: int, position: int) -> dict[str, Any]:
    at = component, position
    return {
        "component": component,
        "label": found.classes[position],
        "nmi": float(found.nmi[at]),
        "direction": _DIRECTIONS[int(found.direction[at])],
        "overlap": int(found.overlap[at]),
        "component_rows": int(found.component_sizes[component]),
        "label_rows": int(found.class_sizes[position]),
        "share_inside": float(found.share_inside[at]),
        "share_outside": float(found.share_outside[at]),
        "fold": float(found.fold[at]),
        "log10_adjusted_p": float(found.log10_adjusted_p[at]),
    }


def _records(found: "ComponentLabels") -> list[dict[str, Any]]:
    pairs = product(range(len(found.nmi)), range(len(found.classes)))
    return [_record(found, *pair) for pair in pairs]


def _best(found: "ComponentLabels") -> list[dict[str, Any]]:
    """Return for each label its best component, and one that tells more by lacking it, if any."""
    return [
        {
            "label": label,
            "label_rows": int(found.class_sizes[position]),
            "best_component": None if best < 0 else _record(found, best, position),
            "told_by_absence": None if lacking < 0 else _record(found, lacking, position),
        }
        for position, (label, best, lacking) in enumerate(
            zip(
                found.classes,
                found.best_components().tolist(),
                found.absences().tolist(),
                strict=True,
            )
        )
    ]


def _text(found: "ComponentLabels", spoken: Callable[[str], str]) -> str:
    headers = ["label", "rows", "best component", "nmi", "rows in it", "share inside", "outside"]
    headers += ["fold", "adjusted p"]
    headers = [spoken(each) for each in headers]
    lines, absences = [], []
    for each in _best(found):
        label, best, lacking = (
            shorten([each["label"]]),
            each["best_component"],
            each["told_by_absence"],
        )
        rows = number(each["label_rows"])
        figures = ["–"] * 6
        if best is not None:
            figures = [
                f"{best['nmi']:.3f}",
                f"{number(best['overlap'])} of {number(best['component_rows'])}",
                percent(best["share_inside"]),
                percent(best["share_outside"]),
                f"{best['fold']:.1f}",
                log_p_text(best["log10_adjusted_p"]),
            ]
        lines.append([label, rows, "none" if best is None else str(best["component"]), *figures])
        if lacking is not None:
            said = spoken(
                f"what tells most is that component {lacking['component']} has "
                f"{number(lacking['overlap'])} of its {rows} rows (nmi {lacking['nmi']:.3f})."
            )
            absences.append(f"{label}: {said}")
    mean = f"mean nmi of the best components: {found.best_nmi().mean():.3f}"
    return "\n".join([table(headers, lines, left=[0]), "", *absences, spoken(mean)])
