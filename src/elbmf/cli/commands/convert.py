"""``elbmf convert``: turn a matrix file into another format."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from elbmf.binarizers import elementwise
from elbmf.cli.console import Console
from elbmf.cli.interrupt import ending_well
from elbmf.cli.matrices import (
    add_binarize,
    add_reader_options,
    boolean,
    read_matrix,
    reader_options,
)
from elbmf.cli.outputs import check_other_file, writable_format
from elbmf.cli.progress import ProgressLine
from elbmf.errors import InputError
from elbmf.io import (
    DEFAULT_MEMORY,
    FORMATS,
    LabelledMatrix,
    boolean_values,
    format_of,
    to_folder,
    write,
)
from elbmf.io.delimited import CSV, TSV, holds_pairs
from elbmf.io.formats import check_content
from elbmf.io.streams import watching
from elbmf.utils.sizes import bytes_of

__all__ = ["EXAMPLES", "configure", "run"]

_FORMATS = "\n".join(
    f"  {known.name:<8} {' '.join(known.suffixes):<16} {known.description}"
    + ("" if known.write else " (only read)")
    for known in FORMATS
)

EXAMPLES = f"""\
examples:
  elbmf convert data.csv data.npz
  elbmf convert counts.h5ad data.mtx --binarize 0
  elbmf convert pairs.tsv wide.csv --layout pairs
  elbmf convert pairs.tsv.gz data.matrix

A matrix folder (.matrix) is made without having the matrix in memory, and taken in place of a
file by all commands: 'elbmf fit data.matrix --memory-limit 300MB' works on it from the disk.

formats:
{_FORMATS}"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""

    def memory(text: str) -> int:
        try:
            return bytes_of(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    parser.usage = "elbmf convert IN OUT [options]"
    parser.add_argument("data", metavar="IN", help="the matrix to read")
    parser.add_argument("output", metavar="OUT", help="the file to write, which is replaced")
    parser.add_argument(
        "--memory-limit",
        type=memory,
        metavar="SIZE",
        default=DEFAULT_MEMORY,
        help="memory for making a matrix folder, beyond that of the program "
        f"(default: {DEFAULT_MEMORY})",
    )
    add_binarize(parser)
    group = parser.add_argument_group("writing the matrix")
    group.add_argument("--output-format", metavar="NAME", help="by default told by the suffix")
    group.add_argument("--output-layout", metavar="NAME", help="wide or pairs")
    group.add_argument("--output-delimiter", metavar="CHAR", help="what separates fields")
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Read and write."""
    output = Path(args.output)
    chosen = writable_format(output, args.output_format)
    check_other_file(output, args.data)
    options = {
        name: value
        for name, value in (("layout", args.output_layout), ("delimiter", args.output_delimiter))
        if value is not None
    }
    chosen.check_options(options, action="write")
    if chosen.folder:
        return _to_folder(args, output, console)
    table = read_matrix(args.data, args)
    if args.binarize is not None:
        values = boolean_values(boolean(table, args.binarize, args.data))
        table = LabelledMatrix(values, table.row_names, table.column_names)
    if not chosen.keeps_names and (table.row_names or table.column_names):
        console.warn(f"{output}: the format {chosen.name} does not keep all names.")
    write(output, table, format=args.output_format, **options)
    _tell(console, output, table.shape, table.values.nnz - table.n_missing, table.n_missing)
    return 0


def _to_folder(args: argparse.Namespace, output: Path, console: Console) -> int:
    if args.binarize is not None and elementwise(args.binarize) is None:
        console.note(
            f"{args.data}: --binarize {args.binarize} looks at all values, so the whole matrix is "
            "read into memory."
        )
    options = reader_options(args)
    source = format_of(Path(args.data), args.format)
    if source in (CSV, TSV) and args.layout is None and args.binarize is None:
        check_content(Path(args.data), source)
        if holds_pairs(source, Path(args.data), **options):
            options["layout"] = "pairs"
            console.note(
                f"{args.data}: taken for pairs, a row and a column in each line; with --layout "
                "wide, it is taken for a table."
            )
    progress = ProgressLine(console)
    with watching(progress.read), ending_well():
        A = to_folder(
            args.data,
            output,
            format=args.format,
            binarize=args.binarize,
            memory_limit=args.memory_limit,
            progress=progress.sorted,
            **options,
        )
    _tell(console, output, A.shape, A.ones, A.n_missing)
    return 0


def _tell(
    console: Console, output: Path, shape: tuple[int, int], filled: int, missing: int
) -> None:
    """Say what was written."""
    also = f", {missing} missing" if missing else ""
    console.note(f"Wrote {shape[0]}×{shape[1]} cells, {filled} of them not 0{also}, to {output}")
