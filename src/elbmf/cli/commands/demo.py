"""``elbmf demo``: factorize images of digits and draw what was found."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elbmf.cli.console import Console
from elbmf.cli.interrupt import Interrupt
from elbmf.cli.text.tables import table
from elbmf.errors import MissingExtraError
from elbmf.utils.text import number, share

if TYPE_CHECKING:
    import numpy as np

    from elbmf.io import LabelledMatrix, SavedModel

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf demo                                 see it work on images of digits
  elbmf demo -o somewhere --overwrite

1797 images of handwritten digits, 8×8 pixels each, black or white: a matrix of 1797 rows and 64
columns. Each component is a set of pixels, and the images that have them."""

_SIDE = 8
_SHOWN = 3  # which image of each digit is drawn
_METHOD, _COMPONENTS, _SEED = "elbmf", 20, 0
_DATA, _PAGE = "digits.csv", "report.html"


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf demo [-o DIR] [--overwrite]"
    parser.add_argument(
        "-o", "--output", metavar="DIR", default="demo", help="folder to write to (default: demo)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an earlier demo there")


def run(args: argparse.Namespace, console: Console) -> int:
    """Fit, print, save, draw."""
    from elbmf.cli.running.fit import command_line, fitted_model
    from elbmf.cli.running.page import write_page
    from elbmf.cli.text.model import measures_text
    from elbmf.cli.writing import check_folder, save
    from elbmf.datasets import load_digits
    from elbmf.estimators import ELBMF
    from elbmf.io import LabelledMatrix, write
    from elbmf.io.described import described
    from elbmf.matrix.boolean_matrix import BooleanMatrix
    from elbmf.report import KnownLabels
    from elbmf.report.inputs import described_by

    folder = Path(args.output)
    check_folder(folder, overwrite=args.overwrite)
    values, column_names, labels = load_digits()
    data = LabelledMatrix(values, None, column_names)
    A = BooleanMatrix.from_array(values)
    estimator = ELBMF(n_components=_COMPONENTS, random_state=_SEED)
    console.note(f"{A.shape[0]} images of {_SIDE}×{_SIDE} pixels, {_COMPONENTS} components …")
    model = fitted_model(estimator, _METHOD, A, data, _DATA, console, Interrupt(waits=False))
    found = described(model, A)
    typical = [_typical(model, index, labels) for index in range(_COMPONENTS)]
    console.result(measures_text(model.info))
    console.result("\n" + _components(found, typical))
    folder.mkdir(parents=True, exist_ok=True)
    model.info.data.path = str(Path("..") / _DATA)
    model.info.command = command_line(args, _SEED, _SEED)
    save(folder / "model", model, overwrite=True, tsv=True, margins=model.margins(A))
    write(folder / _DATA, data)
    digits = KnownLabels([str(digit) for digit in labels], "digit")
    subject = described_by(model, A, None, None)
    write_page(folder / _PAGE, subject, folder, console, labels=digits)
    drawn = _draw(folder / "components.png", data, model, labels, console)
    console.note(_what_next(folder, drawn))
    return 0


def _typical(model: "SavedModel", component: int, labels: "np.ndarray") -> tuple[int, float]:
    """Return the digit that a component's images show most often, and how often."""
    import numpy as np

    members = labels[model.U[:, [component]].toarray().ravel()]
    if members.size == 0:
        return -1, 0.0
    counts = np.bincount(members, minlength=10)
    return int(counts.argmax()), float(counts.max() / members.size)


def _components(described: list[dict[str, Any]], typical: list[tuple[int, float]]) -> str:
    rows = [
        [
            str(each["component"]),
            number(each["rows"]),
            number(each["columns"]),
            number(each["covered"]),
            share(each["precision"]),
            "" if digit < 0 else f"{digit} ({part:.0%})",
        ]
        for each, (digit, part) in zip(described, typical, strict=True)
    ]
    headers = ["component", "images", "pixels", "ones covered", "precision", "most often the digit"]
    return table(headers, rows)


def _draw(
    path: Path, data: "LabelledMatrix", model: "SavedModel", labels: "np.ndarray", console: Console
) -> bool:
    """Draw one image of each digit, the same put together from components, and the components."""
    import numpy as np

    from elbmf import plots
    from elbmf.boolean.product import boolean_product

    chosen = [int(np.flatnonzero(labels == digit)[_SHOWN]) for digit in range(10)]
    rebuilt = boolean_product(model.U[chosen], model.V)
    bands = {
        "one image of each digit": data.values[chosen],
        "the same, put together from components": rebuilt,
        f"the {_COMPONENTS} components": model.V,
    }
    try:
        drawn = plots.image_bands(
            {title: band.toarray().reshape(-1, _SIDE, _SIDE) for title, band in bands.items()}
        )
    except MissingExtraError as error:
        console.warn(f"{error}")
        return False
    plots.save(drawn, path)
    return True


def _what_next(folder: Path, drawn: bool) -> str:
    lines = ["", "Next:", f"  open {folder / _PAGE} in a browser: all of this, to look at"]
    if drawn:
        lines.append(
            f"  look at {folder / 'components.png'}: images, and the components they are made of"
        )
    lines += [
        f"  look at {folder / 'model' / 'components.tsv'}: its pixels and images by name",
        f"  elbmf info {folder / 'model'}",
        f"  elbmf fit {folder / _DATA} -k 40 -o {folder / 'larger'}",
        "  elbmf fit --help",
    ]
    return "\n".join(lines)
