"""``elbmf enrich``: find known sets of columns, such as pathways of genes, in saved components."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elbmf.cli.console import Console
from elbmf.cli.flags.declared import declared_by
from elbmf.cli.flags.shared import (
    add_escape_formulas,
    add_name_matching,
    add_result,
    add_side_options,
    side_options,
)
from elbmf.cli.text.tables import log_p_text, shorten, table
from elbmf.errors import InputError
from elbmf.utils.text import number

if TYPE_CHECKING:
    from elbmf.analysis.enrichment import Enrichment

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf enrich result --sets pathways.gmt    find known sets of columns in components
  elbmf enrich result --sets go.gmt.gz --component 3 --max-adjusted-p 0.01 -o table.csv

Sets come as GMT files: name, description and genes, separated by tabs. The hypergeometric test asks
whether a component's columns could be a random draw from all columns. p is adjusted over all sets
of a component (Benjamini and Hochberg), or over all components with --across-components."""

# Sets printed for a component; the file that -o names has all of them.
_SHOWN = 5


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    known = {each.name: each for each in declared_by("elbmf.analysis.enrichment:enrichment")}
    parser.usage = "elbmf enrich RESULT --sets FILE [-o TABLE] [options]"
    add_result(parser)
    parser.add_argument("--sets", metavar="FILE", required=True, help="known sets (GMT)")
    parser.add_argument(
        "--component",
        metavar="N",
        type=int,
        action="append",
        help="only this component, counted from 0; may be repeated (default: all)",
    )
    parser.add_argument(
        "--max-adjusted-p",
        metavar="P",
        type=_share,
        default=0.05,
        help="leave out what is less significant (default: %(default)s)",
    )
    parser.add_argument(
        "--background",
        choices=known["background"].words,
        default="all",
        help="what components are drawn from: all columns, or those in any set (default: all)",
    )
    parser.add_argument(
        "--min-size",
        metavar="N",
        type=int,
        default=2,
        help="leave out sets with fewer columns in the background (default: %(default)s)",
    )
    parser.add_argument(
        "--max-size", metavar="N", type=int, help="leave out sets with more (default: none)"
    )
    add_name_matching(parser)
    parser.add_argument(
        "--across-components",
        action="store_true",
        help="adjust p over the sets of all components together",
    )
    parser.add_argument(
        "-o", "--output", metavar="TABLE", help="write all to a .csv, .tsv, .json or .parquet file"
    )
    add_escape_formulas(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_side_options(parser, "delimiter", "encoding")


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be from 0 to 1, got {text}")
    return value


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, read, test, say what was found."""
    from elbmf.analysis.enrichment import enrichment
    from elbmf.cli.results import load
    from elbmf.cli.writing import check_table
    from elbmf.io import read_gmt
    from elbmf.io.records import write_records

    output = Path(args.output) if args.output else None
    if output is not None:
        check_table(output, args.sets, result=args.result, escape_formulas=args.escape_formulas)
    model = load(args.result)
    if model.column_names is None:
        raise InputError(
            f"{args.result}: the columns have no names to compare with the sets. Fit "
            "a file that names its columns, such as a csv file with a header."
        )
    sets = read_gmt(args.sets, **side_options(args))
    found = enrichment(
        model.V,
        model.column_names,
        sets,
        components=args.component,
        background=args.background,
        min_size=args.min_size,
        max_size=args.max_size,
        ignore_case=args.ignore_case,
        cut_at=args.cut_at,
        family="all" if args.across_components else "component",
        max_adjusted_p=args.max_adjusted_p,
    )
    if output is not None and found:
        records = [_record(each, output) for each in found]
        write_records(output, records, escape_formulas=args.escape_formulas)
    if args.json:
        console.result_json(
            {
                "result": args.result,
                "sets": {"file": args.sets, "count": len(sets)},
                "max_adjusted_p": args.max_adjusted_p,
                "enrichments": [asdict(each) for each in found],
            }
        )
    else:
        console.result(_text(found, args, len(sets), model.info.data.words.spoken))
    if output is not None:
        console.note(f"Saved to {output}" if found else f"Nothing to save, {output} not written")
    return 0


def _record(found: "Enrichment", output: Path) -> dict[str, Any]:
    """Return a line of the table; text files hold the genes in one field."""
    record = asdict(found)
    if output.suffix.lower() in (".csv", ".tsv"):
        record["genes"] = ";".join(found.genes)
    return record


def _text(
    found: "list[Enrichment]",
    args: argparse.Namespace,
    count: int,
    spoken: Callable[[str], str],
) -> str:
    if not found:
        return spoken(
            f"None of the {number(count)} sets is enriched in any component with an adjusted p of "
            f"at most {args.max_adjusted_p:g}."
        )
    lines: list[list[str]] = []
    left_out = 0
    for component, group in groupby(found, key=lambda each: each.component):
        of_component = list(group)
        left_out += max(0, len(of_component) - _SHOWN)
        lines += [
            [
                str(component),
                shorten([each.set], longest=44),
                f"{each.overlap}/{each.set_size}",
                number(each.component_size),
                f"{each.fold_enrichment:.1f}",
                log_p_text(each.log10_p),
                log_p_text(each.log10_adjusted_p),
                shorten(each.genes, width=30),
            ]
            for each in of_component[:_SHOWN]
        ]
    headers = ["component", "set", "overlap", "columns", "fold", "p", "adjusted p", "in both"]
    text = table([spoken(each) for each in headers], lines, left=[1, 7])
    if left_out:
        text += f"\n\n{number(left_out)} more; -o TABLE writes all."
    return text
