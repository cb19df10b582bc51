"""``elbmf info``: look at a matrix file or a saved result."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elbmf.cli import models, summary
from elbmf.cli.console import Console
from elbmf.cli.figures import matrix_figures
from elbmf.cli.matrices import add_reader_options, other_columns, read_matrix
from elbmf.cli.tables import figures, shorten, table
from elbmf.errors import InputError
from elbmf.io import SavedModel, is_matrix_folder
from elbmf.matrix.on_disk import DiskMatrix
from elbmf.utils.oddities import NO_ZEROS, without_zeros
from elbmf.utils.text import number, size_text

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf info data.csv
  elbmf info data.csv --json
  elbmf info data.matrix --verify
  elbmf info result           (a folder that 'elbmf fit' or 'elbmf rank' saved)"""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf info DATA [options]"
    parser.add_argument("data", metavar="DATA", help="a matrix file, or the folder of a result")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--verify", action="store_true", help="compare a matrix folder with its checksums"
    )
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Tell a folder from a file and describe it."""
    if args.verify:
        _verify(args, console)
    if Path(args.data).is_dir() and not is_matrix_folder(Path(args.data)):
        model = models.load(args.data)
        if args.json:
            console.result_json(_model_figures(model))
        else:
            console.result(_model_text(model))
        return 0
    if is_matrix_folder(Path(args.data)):
        args.format = "folder"
    matrix = read_matrix(args.data, args)
    found = matrix_figures(matrix)
    if args.json:
        console.result_json({"file": args.data, **found})
    else:
        others = [] if found["boolean"] else other_columns(matrix)
        console.result(_matrix_text(found, args.data, others))
    return 0


def _verify(args: argparse.Namespace, console: Console) -> None:
    """Compare a folder with its checksums."""
    if not is_matrix_folder(Path(args.data)):
        raise InputError(f"{args.data}: is no matrix folder, which alone has checksums.")
    DiskMatrix(args.data).verify()
    console.note(f"{args.data}: all is as it was written.")


def _matrix_text(found: dict[str, Any], path: str, others: list[str]) -> str:
    rows, columns = found["shape"]
    pairs = [
        ("shape", f"{number(rows)} rows × {number(columns)} columns"),
        ("ones" if found["boolean"] else "not zero", number(found["ones"])),
        ("density", f"{found['density']:.4g}"),
        ("missing cells", number(found["missing"])),
    ]
    for axis in ("row", "column"):
        names = found[f"{axis}_names"]
        shown = (
            shorten(names, total=found["shape"][axis == "column"]) if names else "none in the file"
        )
        pairs.append((f"{axis} names", shown))
    for axis in ("row", "column"):
        pairs.append((f"empty {axis}s", number(found[f"empty_{axis}s"])))
        if f"duplicate_{axis}s" in found:
            pairs.append((f"duplicate {axis}s", number(found[f"duplicate_{axis}s"])))
    memory = found["memory"]
    pairs.append(
        (
            "memory",
            f"{size_text(memory['matrix'])}, about {size_text(memory['fit'])} in a fit, k=20",
        )
    )
    text = figures(pairs)
    headers = ["ones in a", "least", "25 %", "median", "75 %", "most"]
    sums = [
        [axis, *(f"{value:g}" for value in found[f"{axis}_sums"])] for axis in ("row", "column")
    ]
    text += "\n\n" + table(headers, sums, left=[0])
    if not found["boolean"]:
        values = ", ".join(
            f"{each['value']:g} ({number(each['count'])}×)" for each in found["values"]
        )
        text += (
            f"\n\nNot a 0/1 matrix. {number(found['distinct_values'])} values other than 0: "
            f"{values}{', …' if found['distinct_values'] > len(found['values']) else ''}\n"
            "Say which values are ones: with --binarize X, those above X, or with a word such as "
            "zscore, e.g.\n"
            f"  elbmf fit {path} --binarize {found['suggested_threshold']:g} -k 20 -o result"
        )
    if others:
        text += f"\nAll columns are 0/1 but {', '.join(others)}: leave out what does not belong"
    if without_zeros(found["ones"], rows * columns, found["missing"]):
        text += f"\n\n{NO_ZEROS}"
    return text


def _model_figures(model: SavedModel) -> dict[str, Any]:
    rows, components, columns = model.shape
    return {
        "shape": {"rows": rows, "components": components, "columns": columns},
        "row_names": model.row_names is not None,
        "column_names": model.column_names is not None,
        "sizes": [
            {
                "component": index,
                **({} if model.info.stream else {"rows": len(members)}),
                "columns": len(names),
            }
            for index, (members, names) in enumerate(model.components())
        ],
        "info": summary.brief(model.info),
    }


def _model_text(model: SavedModel) -> str:
    rows, components, columns = model.shape
    info = model.info
    if info.stream is not None:
        rows = info.stream.rows
    pairs = [
        ("saved result", f"{number(components)} components"),
        ("matrix", f"{number(rows)} rows × {number(columns)} columns {info.data.file or ''}"),
        ("method", info.method or "unknown"),
    ]
    defaults = {"random_state": "seed"}
    pairs += [
        (defaults.get(name, name), str(value))
        for name, value in info.parameters.items()
        if value is not None
    ]
    pairs += summary.stream_figures(info)
    text = figures(pairs)
    if info.measures and info.data.ones is not None:
        text += "\n\n" + summary.measures_text(info)
    text += "\n\n" + summary.members_table(model)
    for warning in info.warnings:
        text += f"\n\nwarning of the fit: {warning}"
    return text
