"""Draws the pictures of the pages before they are read, those that are older than their scripts.

When the site is built, the report of the digits is put beside its pages.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

from elbmf import ELBMF
from elbmf.datasets import load_digits
from elbmf.io import LabelledMatrix
from elbmf.plots import save
from elbmf.report import write_report

_MODULES = ("pictures.method", "pictures.rivals", "pictures.printed")


def draw(app: Any) -> None:
    """Write every picture to ``_pictures`` beside the pages."""
    source = Path(app.srcdir)
    sys.path.insert(0, str(source))
    target = source / "_pictures"
    target.mkdir(exist_ok=True)
    newest = max(path.stat().st_mtime for path in (source / "pictures").glob("*.py"))
    for module in _MODULES:
        pictures = importlib.import_module(module).PICTURES
        for name, function in pictures.items():
            path = target / f"{name}.svg"
            if not path.exists() or path.stat().st_mtime < newest:
                save(function(), path)


def report_digits(path: Path, effort: int) -> None:
    """Write the report that the page on reports shows."""
    A, pixels, digits = load_digits()
    images = [f"image {number}" for number in range(A.shape[0])]
    model = ELBMF(n_components=20, effort=effort, random_state=0).fit(A)
    data = LabelledMatrix(A, images, list(pixels))
    write_report(path, model, data, labels=digits, title="Images of digits")


def add_report(app: Any, exception: Exception | None) -> None:
    """Put the report beside the pages that were built."""
    if exception is None and app.builder.format == "html":
        report_digits(Path(app.outdir) / "digits-report.html", app.config.report_effort)


def setup(app: Any) -> dict[str, bool]:
    """Draw when the build begins, report when it is done."""
    # Less will do where the site is built only to see whether it can be.
    app.add_config_value("report_effort", 1, "")
    app.connect("builder-inited", draw)
    app.connect("build-finished", add_report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
