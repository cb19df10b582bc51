"""``elbmf transform``: describe new rows by saved components."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import (
    add_binarize,
    add_line_weights,
    add_n_jobs,
    add_reader_options,
    add_result,
    add_unknown,
)

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf transform result new.csv -o new.tsv  describe new rows by saved components
  elbmf transform result new.csv | head

Each row gets the components that describe it best. The answer for a row depends on that row alone.
The columns must be those of the result. Named columns may come in another order, and --unknown
ignore leaves out columns that the result does not know."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf transform RESULT [DATA] [-o FILE] [options]"
    add_result(parser, "the matrix whose rows to describe")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where to write the memberships, format by suffix (default: stdout, as tsv)",
    )
    add_line_weights(parser, "column")
    add_unknown(parser)
    add_n_jobs(parser)
    add_binarize(parser, " (default: what the result was fit with)")
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, read, describe, write."""
    from elbmf.cli.reading import line_weights
    from elbmf.cli.results import described, load, with_data
    from elbmf.cli.writing import check_other_file, writable_format
    from elbmf.io import MODEL_FILES, LabelledMatrix, write
    from elbmf.io.model import folder_of

    output = None if args.output in (None, "-") else Path(args.output)
    chosen = writable_format(output or Path("stdout.tsv"))
    made = [folder_of(args.result) / name for name in MODEL_FILES]
    if output is not None:
        check_other_file(output, *filter(None, [args.data, args.column_weights]), *made)
    model = load(args.result)
    A, table, path = with_data(model, args, console)
    if output is not None:
        check_other_file(output, path)
    U = described(A, model, line_weights(args, table), args.n_jobs)
    names = [f"component_{index}" for index in range(model.shape[1])]
    memberships = LabelledMatrix(U, table.row_names, names)
    if output is None:
        assert chosen.write is not None  # writable_format made sure
        chosen.write(console.result_stream(), memberships)
    else:
        write(output, memberships)
        console.note(f"Wrote {U.shape[0]} rows and {U.shape[1]} components to {output}")
    return 0
