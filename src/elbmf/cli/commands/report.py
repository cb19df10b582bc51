"""``elbmf report``: make a page about a saved result, to open in a browser."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from elbmf.cli import models
from elbmf.cli.commands.enrich import add_name_matching
from elbmf.cli.commands.labels import add_label_column, labels_of_rows
from elbmf.cli.console import Console
from elbmf.cli.matrices import add_binarize, add_n_jobs, add_reader_options
from elbmf.cli.outputs import check_document
from elbmf.cli.sources import add_data, found_data
from elbmf.errors import InputError
from elbmf.io import MODEL_FILES, SavedModel, read_gmt, read_labels
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.report import KnownLabels, KnownSets
from elbmf.report.inputs import described_by
from elbmf.report.writing import write_subject
from elbmf.utils.text import size_text

__all__ = [
    "EXAMPLES",
    "add_report",
    "check_report",
    "configure",
    "make_report",
    "run",
    "write_page",
]

EXAMPLES = """\
examples:
  elbmf report result
  elbmf report result -o report.html --labels patients.csv --column cancer_type
  elbmf report result --data moved/data.csv --sets hallmark.gmt

One file that opens in any browser, without a network: what was found and how well, the matrix, each
component with its rows and columns by name. RESULT is what 'elbmf fit' or 'elbmf rank' saved. The
data is read from where it was then; --data says where else it is."""

_NAME = "report.html"


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf report RESULT [-o FILE] [--data FILE] [options]"
    parser.add_argument(
        "result", metavar="RESULT", help="folder that 'elbmf fit' or 'elbmf rank' saved"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=f"the page (default: {_NAME} in the folder)"
    )
    add_data(parser)
    parser.add_argument("--labels", metavar="TABLE", help="names of rows and their labels")
    add_label_column(parser)
    parser.add_argument("--sets", metavar="FILE", help="known sets of columns (GMT)")
    add_name_matching(parser)
    parser.add_argument("--title", metavar="TEXT", help="of the page")
    add_n_jobs(parser)
    add_binarize(parser, " (default: what the model was fit with)")
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, find the data, write the page."""
    model = models.load(args.result)
    output = Path(args.output) if args.output else Path(args.result) / _NAME
    inputs = [path for path in (args.data, args.labels, args.sets) if path]
    folder = models.folder_of(args.result)
    check_document(output, ".html", *inputs, *(folder / name for name in MODEL_FILES))
    if args.column is not None and not args.labels:
        raise InputError("--column names a column of a table of labels: add --labels TABLE.")
    found = found_data(model, args.result, args.data, args, console)
    if found.path is not None:
        check_document(output, ".html", found.path)
    if found.A is None:
        console.note(f"{args.result}: {found.note}")
    subject = described_by(model, found.A, found.row_names, args.n_jobs)
    labels = None
    if args.labels:
        title = args.column or next(iter(read_labels(args.labels)))
        labels = KnownLabels(labels_of_rows(subject.model, args, console), title)
    sets = None
    if args.sets:
        name = Path(args.sets).name
        sets = KnownSets(read_gmt(args.sets), name, args.ignore_case, args.cut_at)
    write_subject(
        output,
        replace(subject, ranks=models.ranks_of(args.result)),
        labels=labels,
        sets=sets,
        title=args.title,
        # That a stream keeps no rows is said anyway.
        notes=[found.note] if found.note and model.info.stream is None else [],
        n_jobs=args.n_jobs,
    )
    _tell(output, console)
    return 0


def _tell(path: Path, console: Console) -> None:
    console.note(f"Wrote {path} ({size_text(path.stat().st_size)}): open it in a browser")


# --- the same at the end of other commands ---


def _page_name(text: str) -> str:
    # The flag takes what follows it for its value, which may be DATA.
    if text and Path(text).suffix.lower() != ".html":
        raise argparse.ArgumentTypeError(
            f"the name of a page must end in .html; got {text!r}. If no name is meant, put "
            "--report last"
        )
    return text


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the flag that asks for a report of what is found."""
    parser.add_argument(
        "--report",
        metavar="FILE",
        nargs="?",
        const="",
        type=_page_name,
        help=f"also make a page about it for a browser (default: {_NAME} in the folder)",
    )


def check_report(args: argparse.Namespace, folder: Path, *inputs: str | Path) -> None:
    """Raise where the report could not be written; the folder need not exist yet."""
    path = _report_path(args, folder)
    if path is not None:
        made = (folder / name for name in MODEL_FILES)
        check_document(path, ".html", *inputs, *made, made=folder)


def _report_path(args: argparse.Namespace, folder: Path) -> Path | None:
    """Return where the report goes, if one is asked for."""
    return None if args.report is None else Path(args.report or folder / _NAME)


def make_report(
    args: argparse.Namespace,
    folder: Path,
    model: SavedModel,
    A: BooleanMatrix | None,
    console: Console,
) -> None:
    """Write the report, if one is asked for; if not, say that one in the folder is out of date."""
    path = _report_path(args, folder)
    if path is not None:
        write_page(path, model, A, folder, console)
    elif (folder / _NAME).exists():
        console.note(
            f"{folder / _NAME} is about an earlier result; 'elbmf report {folder}' makes it anew"
        )


def write_page(
    path: Path,
    model: SavedModel,
    A: BooleanMatrix | None,
    folder: Path,
    console: Console,
    labels: KnownLabels | None = None,
) -> None:
    """Write the report of a result that was just saved in a folder, from data that is at hand."""
    subject = replace(described_by(model, A, None, None), ranks=models.ranks_of(folder))
    write_subject(path, subject, labels=labels)
    _tell(path, console)
