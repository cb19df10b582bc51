"""The report of a result that a command has just made."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import PAGE
from elbmf.cli.results import ranks_of
from elbmf.cli.writing import check_document
from elbmf.io import MODEL_FILES, SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.report.inputs import ReportSubject, described_by
from elbmf.report.writing import write_subject
from elbmf.utils.text import size_text

__all__ = ["check_report", "make_report", "write_page"]


def check_report(args: argparse.Namespace, folder: Path, *inputs: str | Path) -> None:
    """Raise where the report could not be written; the folder need not exist yet."""
    path = _report_path(args, folder)
    if path is not None:
        made = (folder / name for name in MODEL_FILES)
        check_document(path, ".html", *inputs, *made, made=folder)


def _report_path(args: argparse.Namespace, folder: Path) -> Path | None:
    """Return where the report goes, if one is asked for."""
    return None if args.report is None else Path(args.report or folder / PAGE)


def make_report(
    args: argparse.Namespace,
    folder: Path,
    model: SavedModel,
    A: BooleanMatrix | None,
    console: Console,
) -> None:
    """Write the report, if one is asked for; if not, say that one in the folder is out of date."""
    path = _report_path(args, folder)
    if path is not None:
        write_page(path, described_by(model, A, None, None), folder, console)
    elif (folder / PAGE).exists():
        console.note(
            f"{folder / PAGE} is about an earlier result; 'elbmf report {folder}' makes it again"
        )


def write_page(
    path: Path, subject: ReportSubject, folder: str | Path, console: Console, **options: Any
) -> None:
    """Write the report of a result in a folder, with the options of `write_subject`, and say so."""
    write_subject(path, replace(subject, ranks=ranks_of(folder)), **options)
    console.note(f"Wrote {path} ({size_text(path.stat().st_size)}): open it in a browser")
