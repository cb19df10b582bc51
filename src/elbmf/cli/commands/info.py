"""``elbmf info``: look at a matrix file or a saved result."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import add_reader_options
from elbmf.errors import InputError

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf info data.csv                        look at a matrix before factorizing it
  elbmf info data.csv --json
  elbmf info data.matrix --verify
  elbmf info filtered_feature_bc_matrix      (a folder of Cell Ranger)
  elbmf info result           (a folder that 'elbmf fit' or 'elbmf rank' saved)"""


# Bytes of a folder that are looked through in a second or two.
_QUICK = 1 << 30


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf info DATA|RESULT [options]"
    parser.add_argument("data", metavar="DATA|RESULT", help="a matrix, or the folder of a result")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--verify", action="store_true", help="compare a matrix folder with its checksums"
    )
    add_reader_options(parser, usual=True)


def run(args: argparse.Namespace, console: Console) -> int:
    """Tell a folder from a file and describe it."""
    from elbmf.cli.reading import other_columns, read_matrix, warn_of_same_names
    from elbmf.cli.results import load
    from elbmf.cli.text.matrix import matrix_figures, matrix_text
    from elbmf.cli.text.model import model_figures, model_text
    from elbmf.io import FolderTable, is_matrix_folder

    if args.verify:
        _verify(args, console)
    if Path(args.data).is_dir() and not _is_matrix(Path(args.data), args.format):
        model = load(args.data)
        if args.json:
            console.result_json(model_figures(model))
        else:
            console.result(model_text(model))
        return 0
    if is_matrix_folder(Path(args.data)):
        args.format = "folder"
    matrix = read_matrix(args.data, args)
    if isinstance(matrix, FolderTable) and matrix.stored.size <= _QUICK:
        matrix.stored.verify()
    warn_of_same_names(matrix, args.data)
    found = matrix_figures(matrix)
    if args.json:
        console.result_json({"file": args.data, **found})
    else:
        others = [] if found["boolean"] else other_columns(matrix)
        console.result(matrix_text(found, args.data, others, args.drop or ()))
    return 0


def _is_matrix(folder: Path, format: str | None) -> bool:
    """Tell whether a folder is a matrix of any format, rather than a result."""
    from elbmf.io import MODEL_FILES, format_of, is_matrix_folder
    from elbmf.io.model import folder_of

    if is_matrix_folder(folder) or format is not None:
        return True
    if any((folder_of(folder) / name).is_file() for name in MODEL_FILES):
        return False
    try:
        return format_of(folder).folder
    except InputError:
        return False  # Neither: it is said what a result has.


def _verify(args: argparse.Namespace, console: Console) -> None:
    """Compare a folder with its checksums."""
    from elbmf.io import is_matrix_folder
    from elbmf.matrix.on_disk import DiskMatrix

    if not is_matrix_folder(Path(args.data)):
        raise InputError(f"{args.data}: is not a matrix folder, and only these have checksums.")
    DiskMatrix(args.data).verify()
    console.note(f"{args.data}: everything is as it was written.")
