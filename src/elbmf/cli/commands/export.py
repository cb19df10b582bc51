"""``elbmf export``: give a saved result to other systems, as JSON or as long tables."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elbmf.cli.console import Console
from elbmf.cli.flags.declared import declared_by
from elbmf.cli.flags.shared import (
    add_binarize,
    add_escape_formulas,
    add_n_jobs,
    add_reader_options,
    add_result,
)
from elbmf.errors import InputError, Line, Setting

if TYPE_CHECKING:
    from elbmf.cli.results import FoundData
    from elbmf.io import SavedModel

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf export roles -o roles.json           each component with its rows and columns by name
  elbmf export roles permissions.csv --format csv -o tables
  elbmf export roles --format csv --escape-formulas -o for-a-spreadsheet

JSON is one file. csv, tsv and parquet are a folder of long tables, one pair or triple per line:
component_columns, row_components and, where the matrix is at hand, cells (which component explains
a one), extra_cells (zeros that are covered) and missed_cells (ones that are not)."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    known = {each.name: each for each in declared_by("elbmf.io.export:export_result")}
    parser.usage = "elbmf export RESULT [DATA] -o OUT [options]"
    add_result(parser, "the matrix, if it was moved or changed")
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="the file or folder to make"
    )
    parser.add_argument(
        "--format",
        dest="output_format",
        choices=known["format"].words,
        help="what to make (default: json if OUT ends in .json, csv if it has no suffix)",
    )
    add_escape_formulas(parser)
    parser.add_argument("--overwrite", action="store_true", help="replace what is there")
    add_n_jobs(parser)
    add_binarize(parser, " (default: what the result was fit with)")
    add_reader_options(parser, format_flag="--data-format")


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, find the data, write."""
    from elbmf.cli.results import load
    from elbmf.cli.writing import check_document, check_folder
    from elbmf.io import MODEL_FILES
    from elbmf.io.export import EXPORT_FILES, export_format, export_result
    from elbmf.io.model import folder_of
    from elbmf.report.inputs import described_by

    model = load(args.result)
    output = Path(args.output)
    chosen = export_format(output, args.output_format)
    options = {
        "format": chosen,
        "escape_formulas": args.escape_formulas,
        "overwrite": args.overwrite,
    }
    inputs = [args.data] if args.data else []
    if chosen == "json":
        made = [folder_of(args.result) / name for name in MODEL_FILES]
        check_document(output, ".json", *inputs, *made)
        # Which says that there is no use for the data, if it was named.
        export_result(output, model, args.data, **options)
        console.note(f"Wrote {model.shape[1]} components to {output}")
        return 0
    check_folder(output, *inputs, overwrite=args.overwrite, names=EXPORT_FILES)
    found = _found(model, args, console)
    if found.path is not None:
        check_folder(output, str(found.path), overwrite=args.overwrite, names=EXPORT_FILES)
    subject = described_by(model, found.A, found.row_names, args.n_jobs)
    output.absolute().parent.mkdir(parents=True, exist_ok=True)
    written = export_result(output, subject.model, subject.A, **options)
    console.note(f"Wrote {', '.join(path.name for path in written)} to {output}")
    return 0


def _found(model: "SavedModel", args: argparse.Namespace, console: Console) -> "FoundData":
    """Find the data; where that cannot be, say what is left out."""
    from elbmf.cli.results import found_data
    from elbmf.io.export import CELL_TABLES

    try:
        found = found_data(model, args, console)
    except InputError as error:
        # Here, the format of the matrix has another flag than elsewhere.
        raise InputError(*map(_renamed, error.parts)) from error
    if found.A is None:
        *others, last = CELL_TABLES
        console.note(
            f"{args.result}: {found.note} Without it, the tables {', '.join(others)} and {last} "
            "are left out."
        )
    return found


def _renamed(part: str | Setting | Line) -> str | Setting | Line:
    if isinstance(part, Setting) and part.name == "format":
        return Setting("data_format", part.value)
    return part
