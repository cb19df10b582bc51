"""``elbmf report``: make a page about a saved result, to open in a browser."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import (
    PAGE,
    add_binarize,
    add_label_column,
    add_n_jobs,
    add_name_matching,
    add_reader_options,
    add_result,
    add_vocabulary,
)

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf report result                        make a page about it, to open in a browser
  elbmf report result -o report.html --labels patients.csv --column cancer_type
  elbmf report result moved/data.csv --sets hallmark.gmt

One file that opens in any browser, without a network: what was found and how well, the matrix, each
component with its rows and columns by name."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf report RESULT [DATA] [-o FILE] [options]"
    add_result(parser, "the matrix, if it was moved or changed")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=f"the page (default: {PAGE} in the folder)"
    )
    parser.add_argument(
        "--labels",
        metavar="TABLE",
        help="names of rows and their labels (default: with --column, the data)",
    )
    add_label_column(parser)
    parser.add_argument("--sets", metavar="FILE", help="known sets of columns (GMT)")
    add_name_matching(parser)
    parser.add_argument("--title", metavar="TEXT", help="of the page")
    add_vocabulary(parser, " (default: what the result was fit with)")
    add_n_jobs(parser)
    add_binarize(parser, " (default: what the result was fit with)")
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, find the data, write the page."""
    from elbmf.cli.results import found_data, labels_of_rows, load
    from elbmf.cli.running.page import write_page
    from elbmf.cli.writing import check_document
    from elbmf.io import MODEL_FILES, read_gmt
    from elbmf.io.model import folder_of
    from elbmf.report import KnownLabels, KnownSets
    from elbmf.report.inputs import described_by

    model = load(args.result)
    output = Path(args.output) if args.output else Path(args.result) / PAGE
    inputs = [path for path in (args.data, args.labels, args.sets) if path]
    folder = folder_of(args.result)
    check_document(output, ".html", *inputs, *(folder / name for name in MODEL_FILES))
    found = found_data(model, args, console)
    if found.path is not None:
        check_document(output, ".html", found.path)
    if found.A is None:
        console.note(f"{args.result}: {found.note}")
    subject = described_by(model, found.A, found.row_names, args.n_jobs)
    labels = None
    if args.labels or args.column:
        title, of_rows = next(iter(labels_of_rows(subject.model, args, console, most=1).items()))
        labels = KnownLabels(of_rows, title)
    sets = None
    if args.sets:
        name = Path(args.sets).name
        sets = KnownSets(read_gmt(args.sets), name, args.ignore_case, args.cut_at)
    write_page(
        output,
        subject,
        args.result,
        console,
        labels=labels,
        sets=sets,
        title=args.title,
        vocabulary=args.vocabulary,
        # That a stream keeps no rows is said anyway.
        notes=[found.note] if found.note and model.info.stream is None else [],
        n_jobs=args.n_jobs,
    )
    return 0
