"""``elbmf plot``: draw a picture of a saved result."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from elbmf import plots
from elbmf.analysis.labels import component_labels
from elbmf.cli import models
from elbmf.cli.commands.labels import add_label_column, labels_of_rows
from elbmf.cli.console import Console
from elbmf.cli.matrices import add_binarize, add_n_jobs, add_reader_options, at_least_one
from elbmf.cli.outputs import check_picture
from elbmf.cli.sources import add_data, found_data
from elbmf.errors import InputError
from elbmf.io import SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.report.inputs import described_by

__all__ = ["EXAMPLES", "KINDS", "configure", "run"]


@dataclass(frozen=True, eq=False)
class _Given:
    """What there is to draw.

    Parameters
    ----------
    model : SavedModel
        The result.
    A : BooleanMatrix, optional
        The data, where the picture shows it.
    labels : list of str or None, optional
        The label of each row, where labels were given.
    n_jobs : int, optional
        Threads.
    axes : tuple of Axes, optional
        Where to draw, where a size was asked for.
    """

    model: SavedModel
    A: BooleanMatrix | None
    labels: list[str | None] | None
    n_jobs: int | None
    axes: tuple[Any, ...] | None

    @property
    def ax(self) -> Any:
        """Where to draw what has one panel."""
        return self.axes[0] if self.axes else None


@dataclass(frozen=True)
class Kind:
    """A picture.

    Parameters
    ----------
    summary : str
        What it shows.
    draw : callable
        Draws it and returns the axes.
    data : {"unused", "used", "needed"}
        Whether it looks at the data, and whether it cannot be drawn without.
    labels : bool
        Whether it cannot be drawn without labels.
    rows : bool
        Whether it shows rows, which the model of a stream does not keep.
    panels : int, optional
        Axes it has; None where that depends on the result.
    """

    summary: str
    draw: Callable[[_Given], Any]
    data: Literal["unused", "used", "needed"] = "unused"
    labels: bool = False
    rows: bool = True
    panels: int | None = 1


def _matrix(what: Any) -> Callable[[_Given], Any]:
    return lambda given: plots.reordered_matrix(
        given.model, given.A, what=what, n_jobs=given.n_jobs, ax=given.ax
    )


def _lists(side: Any) -> Callable[[_Given], Any]:
    return lambda given: plots.component_lists(given.model, given.A, side=side, n_jobs=given.n_jobs)


KINDS: dict[str, Kind] = {
    "factorization": Kind(
        "data, reconstruction and errors side by side",
        lambda given: plots.factorization(
            given.model, given.A, n_jobs=given.n_jobs, axes=given.axes
        ),
        data="needed",
        panels=3,
    ),
    "data": Kind("the matrix, components as blocks", _matrix("data"), data="needed"),
    "reconstruction": Kind("what the components cover", _matrix("reconstruction")),
    "errors": Kind("ones missed and zeros covered", _matrix("errors"), data="needed"),
    "columns": Kind(
        "best columns of the largest components", _lists("columns"), "used", rows=False, panels=None
    ),
    "rows": Kind("best rows of the largest components", _lists("rows"), "used", panels=None),
    "overlap": Kind(
        "what components share", lambda given: plots.component_overlap(given.model, ax=given.ax)
    ),
    "map": Kind(
        "rows in the plane, by component or --labels",
        lambda given: plots.row_map(given.model, labels=given.labels, ax=given.ax),
    ),
    "labels": Kind(
        "components and labels (nmi)",
        lambda given: plots.label_nmi(
            component_labels(given.model.U, given.labels or []), ax=given.ax
        ),
        labels=True,
    ),
    "trace": Kind(
        "loss, Boolean gap and flips of the fit",
        lambda given: plots.trace(given.model),
        rows=False,
        panels=None,
    ),
}
"""By name; a new one is a line here."""

EXAMPLES = """\
examples:
  elbmf plot factorization result -o result.png
  elbmf plot columns result --data moved/data.csv -o components.pdf
  elbmf plot map result --labels patients.tsv --column cancer_type -o map.svg
  elbmf plot overlap result -o overlap.png --size 8x7 --dpi 200

The data is read from where it was when it was fitted; --data says where else it is.

pictures:
""" + "\n".join(f"  {name:<15}{kind.summary}" for name, kind in KINDS.items())

_SIZE = re.compile(r"(\d+(?:\.\d+)?)[x×](\d+(?:\.\d+)?)")

# Inches that a side of a picture may have.
_LEAST_SIDE, _MOST_SIDE = 1.0, 100.0


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf plot KIND RESULT -o PICTURE [--data FILE] [options]"
    parser.add_argument(
        "kind", metavar="KIND", choices=KINDS, help=f"which picture: {', '.join(KINDS)}"
    )
    parser.add_argument("result", metavar="RESULT", help="folder that 'elbmf fit' saved")
    parser.add_argument(
        "-o",
        "--output",
        metavar="PICTURE",
        required=True,
        help="file to draw into, which is replaced; its suffix says which format",
    )
    add_data(parser)
    parser.add_argument("--labels", metavar="FILE", help="names of rows and their labels")
    add_label_column(parser)
    parser.add_argument(
        "--size", metavar="WxH", type=_size, help="width and height in inches, e.g. 8x5"
    )
    parser.add_argument(
        "--dpi", metavar="N", type=at_least_one, default=120, help="pixels per inch (default: 120)"
    )
    add_n_jobs(parser)
    add_binarize(parser, " (default: what the result was fit with)")
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, read what the picture needs, draw."""
    kind, path = KINDS[args.kind], Path(args.output)
    check_picture(path, *filter(None, (args.data, args.labels)))
    if kind.labels and args.labels is None:
        raise InputError(
            f"the picture {args.kind!r} needs labels of the rows. Pass a table of them with "
            "--labels FILE."
        )
    model, A = _with_data(models.load(args.result), kind, args, console)
    labels = None if args.labels is None else labels_of_rows(model, args, console)
    axes = None
    if args.size and kind.panels:
        axes = tuple(plots.new_figure(*args.size).subplots(1, kind.panels, squeeze=False)[0])
    drawn = kind.draw(_Given(model, A, labels, args.n_jobs, axes))
    if args.size:
        plots.figure_of(drawn).set_size_inches(*args.size)
    plots.save(drawn, path, dpi=args.dpi)
    console.note(f"Saved to {path}")
    return 0


def _with_data(
    model: SavedModel, kind: Kind, args: argparse.Namespace, console: Console
) -> tuple[SavedModel, BooleanMatrix | None]:
    """Read the matrix that a result was fitted to, where the picture shows it.

    Rows that a stream did not keep are those of a file that the user names.
    """
    lacks_rows = kind.rows and model.info.stream is not None
    if kind.data == "unused" and not lacks_rows:
        return model, None
    found = found_data(model, args.result, args.data, args, console)
    if found.A is None and lacks_rows:
        raise InputError(f"{args.result}: the picture {args.kind!r} shows rows. {found.note}")
    if found.A is None and kind.data == "needed":
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
