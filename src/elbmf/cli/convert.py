"""``elbmf convert``: turn a matrix file into another format."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from elbmf.cli.console import Console
from elbmf.cli.matrices import add_binarize, add_reader_options, boolean, read_matrix
from elbmf.cli.outputs import check_other_file, writable_format
from elbmf.io import FORMATS, LabelledMatrix, write

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

formats:
{_FORMATS}"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf convert IN OUT [options]"
    parser.add_argument("data", metavar="IN", help="the matrix to read")
    parser.add_argument("output", metavar="OUT", help="the file to write, which is replaced")
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
    table = read_matrix(args.data, args)
    if args.binarize is not None:
        A = boolean(table, args.binarize, args.data)
        values = A.to_csr()
        if A.hidden is not None:
            values = values + np.nan * A.hidden.to_csr(np.float64)
        table = LabelledMatrix(values, table.row_names, table.column_names)
    if not chosen.keeps_names and (table.row_names or table.column_names):
        console.warn(f"{output}: the format {chosen.name} does not keep all names.")
    write(output, table, format=args.output_format, **options)
    rows, columns = table.shape
    missing = f", {table.missing} missing" if table.missing else ""
    filled = table.values.nnz - table.missing
    console.note(f"Wrote {rows}×{columns} cells, {filled} of them not 0{missing}, to {output}")
    return 0
