"""``elbmf convert``: turn a matrix file into another format."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from elbmf.cli.console import Console
from elbmf.cli.flags.declared import declared_formats
from elbmf.cli.flags.shared import (
    add_binarize,
    add_format_options,
    add_reader_options,
    given_options,
    reader_options,
)

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf convert data.csv data.npz            change the format of a matrix
  elbmf convert counts.h5ad data.mtx --binarize 0
  elbmf convert pairs.tsv wide.csv --layout pairs
  elbmf convert pairs.tsv.gz data.matrix

A matrix folder (.matrix) is made without loading the matrix into memory. All commands accept it in
place of a file: 'elbmf fit data.matrix --memory-limit 300MB' works on it from disk."""

_DEFAULT_MEMORY = "100MB"


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf convert IN OUT [options]"
    parser.add_argument("data", metavar="IN", help="the matrix to read")
    parser.add_argument("output", metavar="OUT", help="the file to write, which is replaced")
    parser.add_argument(
        "--memory-limit",
        metavar="SIZE",
        default=_DEFAULT_MEMORY,
        help="memory for making a matrix folder, beyond that of the program (default: %(default)s)",
    )
    add_binarize(parser)
    group = parser.add_argument_group("writing the matrix")
    group.add_argument("--output-format", metavar="NAME", help="default: by the suffix")
    add_format_options(group, "writing", "output-")
    add_reader_options(parser, usual=True)
    parser.add_argument_group("formats", _formats())


def _formats() -> str:
    return "\n".join(
        f"{known.name:<8} {' '.join(known.suffixes):<16} {known.description}"
        + (" (only read)" if known.writing is None else "")
        for known in declared_formats()
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """Read and write."""
    from elbmf.cli.reading import boolean, read_matrix
    from elbmf.cli.writing import check_other_file, writable_format
    from elbmf.io import LabelledMatrix, boolean_values, write

    output = Path(args.output)
    chosen = writable_format(output, args.output_format)
    check_other_file(output, args.data)
    options = given_options(args, "writing", "output-")
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
    from elbmf.binarizers import learns
    from elbmf.cli.progress import ProgressLine
    from elbmf.io import format_of, to_folder
    from elbmf.io.files import watching
    from elbmf.io.formats import check_content
    from elbmf.io.formats.delimited import CSV, TSV, holds_pairs
    from elbmf.utils.sizes import bytes_of

    bytes_of(args.memory_limit)  # which says what is wrong with it, before anything is read
    if learns(args.binarize):
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
    with watching(progress.read):
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
