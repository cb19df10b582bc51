"""``elbmf plot``: draw a picture of a saved result."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import (
    add_binarize,
    add_label_column,
    add_n_jobs,
    add_name_matching,
    add_reader_options,
    add_result,
    at_least_one,
)
from elbmf.errors import InputError
from elbmf.plots.registry import FIGURES, Figure

if TYPE_CHECKING:
    from elbmf.io import SavedModel
    from elbmf.matrix.boolean_matrix import BooleanMatrix

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf plot map result -o map.png           draw a picture of a saved result
  elbmf plot factorization result -o result.png --labels patients.tsv
  elbmf plot enrichment result -o sets.pdf --sets pathways.gmt
  elbmf plot columns result moved/data.csv -o components.pdf
  elbmf plot map result --labels patients.tsv --column cancer_type -o map.svg
  elbmf plot overlap result -o overlap.png --size 8x7 --dpi 200"""

_SIZE = re.compile(r"(\d+(?:\.\d+)?)[x×](\d+(?:\.\d+)?)")

# Inches that a side of a picture may have.
_LEAST_SIDE, _MOST_SIDE = 1.0, 100.0


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf plot KIND RESULT [DATA] -o PICTURE [options]"
    parser.add_argument("kind", metavar="KIND", choices=FIGURES, help="which picture, see below")
    add_result(parser, "the matrix, if it was moved or changed")
    parser.add_argument(
        "-o",
        "--output",
        metavar="PICTURE",
        required=True,
        help="file to draw into, which is replaced; its suffix says which format",
    )
    parser.add_argument("--labels", metavar="FILE", help="names of rows and their labels")
    add_label_column(parser)
    parser.add_argument(
        "--column-labels", metavar="FILE", help="names of columns and, second, their labels"
    )
    parser.add_argument("--sets", metavar="FILE", help="known sets of columns (GMT)")
    add_name_matching(parser)
    parser.add_argument(
        "--whole",
        action="store_true",
        help="draw all of the matrix, even if most of it is in no component",
    )
    parser.add_argument(
        "--size", metavar="WxH", type=_size, help="width and height in inches, e.g. 8x5"
    )
    parser.add_argument(
        "--dpi", metavar="N", type=at_least_one, default=120, help="pixels per inch (default: 120)"
    )
    add_n_jobs(parser)
    add_binarize(parser, " (default: what the result was fit with)")
    add_reader_options(parser)
    listed = "\n".join(f"{name:<15}{figure.summary}" for name, figure in FIGURES.items())
    parser.add_argument_group("pictures", listed)


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, read what the picture needs, draw."""
    from elbmf import plots
    from elbmf.cli.results import labels_of, labels_of_rows, load
    from elbmf.cli.writing import check_picture
    from elbmf.io import read_gmt
    from elbmf.plots.strips import NamedLabels

    figure, path = FIGURES[args.kind], Path(args.output)
    check_picture(path, *filter(None, (args.data, args.labels, args.column_labels, args.sets)))
    if figure.labels and args.labels is None and args.column is None:
        raise InputError(
            f"the picture {args.kind!r} needs labels of the rows. Pass a table of them with "
            "--labels FILE, or name a column of the data with --column NAME."
        )
    if figure.sets and args.sets is None:
        raise InputError(
            f"the picture {args.kind!r} needs known sets of columns. Pass a GMT file with "
            "--sets FILE."
        )
    model, A = _with_data(load(args.result), figure, args, console)
    labels = None
    if args.labels is not None or args.column is not None:
        ((title, found),) = labels_of_rows(model, args, console, most=1).items()
        labels = NamedLabels(found, title)
    given = {
        "A": A,
        "labels": labels,
        "row_labels": labels,
        "whole": args.whole,
        "ignore_case": args.ignore_case,
        "cut_at": args.cut_at,
        "n_jobs": args.n_jobs,
        "size": args.size,
    }
    if args.column_labels is not None:
        named = labels_of("columns", model, args.result, args.column_labels, console)
        given["column_labels"] = NamedLabels(named[1], named[0])
    if args.sets is not None:
        given["sets"] = read_gmt(args.sets)
    if args.size and figure.panels:
        wide = args.size[0] >= args.size[1]
        shape = (1, figure.panels) if wide else (figure.panels, 1)
        axes = plots.new_figure(*args.size).subplots(*shape, squeeze=False).ravel()
        given |= {"ax": axes[0], "axes": tuple(axes)}
    drawn = figure.draw(model, **given)
    if args.size:
        plots.figure_of(drawn).set_size_inches(*args.size)
    plots.save(drawn, path, dpi=args.dpi)
    console.note(f"Saved to {path}")
    return 0


def _with_data(
    model: SavedModel, figure: Figure, args: argparse.Namespace, console: Console
) -> tuple[SavedModel, BooleanMatrix | None]:
    """Read the matrix that a result was fitted to, where the picture shows it.

    Rows that a stream did not keep are those of a file that the user names.
    """
    from elbmf.cli.results import found_data
    from elbmf.report.inputs import described_by

    lacks_rows = figure.rows and model.info.stream is not None
    if figure.data == "unused" and not lacks_rows:
        return model, None
    found = found_data(model, args, console)
    if found.A is None and lacks_rows:
        raise InputError(f"{args.result}: the picture {args.kind!r} shows rows. {found.note}")
    if found.A is None and figure.data == "needed":
        raise InputError(
            f"{args.result}: the picture {args.kind!r} needs the matrix of the fit. {found.note}"
        )
    if found.A is None:
        console.note(f"{args.result}: drawn without the data. {found.note}")
    return described_by(model, found.A, found.row_names, args.n_jobs).model, found.A


def _size(text: str) -> tuple[float, float]:
    match = _SIZE.fullmatch(text.strip())
    size = (float(match[1]), float(match[2])) if match else (0.0, 0.0)
    if not all(_LEAST_SIDE <= side <= _MOST_SIDE for side in size):
        raise argparse.ArgumentTypeError(
            f"must be width x height in inches, each from {_LEAST_SIDE:g} to {_MOST_SIDE:g}, "
            f"such as 8x5; got {text!r}"
        )
    return size
