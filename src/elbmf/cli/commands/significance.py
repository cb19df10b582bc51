"""``elbmf significance``: tell saved components from those of random data with the same sums."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import (
    PAGE,
    add_binarize,
    add_n_jobs,
    add_parameter,
    add_reader_options,
    add_result,
    at_least_one,
)
from elbmf.cli.interrupt import INTERRUPTED
from elbmf.cli.text.tables import shorten, table
from elbmf.errors import InputError
from elbmf.utils.text import counted, number

if TYPE_CHECKING:
    from elbmf.comparison import Significance
    from elbmf.estimators import BooleanFactorizer
    from elbmf.io import SavedModel

__all__ = ["EXAMPLES", "configure", "run"]

EXAMPLES = """\
examples:
  elbmf significance result                  which components are more than chance
  elbmf significance result moved/data.csv --samples 99 --json

Random matrices with the row and column sums of the data are fitted as the data was. p is the share
of them, counting the data itself, whose best component is as good. It is noted in the result, where
'elbmf info' and 'elbmf report' find it.
Ctrl-C ends it. What is finished is kept, and the same command continues from there."""

# Where in the folder of a result finished samples are kept.
_KEPT = "significance.json"

# Parameters that are not for fits of other data, side by side.
_OF_THE_FIT = ("binarize", "n_jobs", "random_state", "memory_limit")


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments."""
    parser.usage = "elbmf significance RESULT [DATA] [--samples N] [options]"
    add_result(parser, "the matrix, if it is not where it was")
    parser.add_argument(
        "--samples",
        metavar="N",
        type=at_least_one,
        default=38,
        help="random matrices to fit at most; 19 are the fewest for .05 (default: %(default)s)",
    )
    add_parameter(parser, "random_state", help="seed (default: that of the result)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_n_jobs(parser)
    add_binarize(parser, " (default: what the result was fit with)")
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Load, find the data, compare, note what was found, say so."""
    from elbmf.boolean.coverage import cover
    from elbmf.cli.progress import ProgressLine
    from elbmf.cli.results import found_data, load
    from elbmf.cli.writing import check_folder, save
    from elbmf.comparison.significance import OtherTestError, significance
    from elbmf.io.described import described
    from elbmf.io.model import folder_of
    from elbmf.io.model_tables import MODEL_TABLES

    model, folder = load(args.result), folder_of(args.result)
    estimator = _method_of(model, args)
    found = found_data(model, args, console)
    if found.A is None:
        raise InputError(f"{args.result}: {found.note}")
    covered = cover(found.A, model.U.toarray(), model.V.toarray(), args.n_jobs)
    if model.is_of_other_data(covered):
        before = number(int(model.info.measures["loss"] or 0))
        raise InputError(
            f"{args.result}: was not made from this data: {before} cells were wrong then, "
            f"{number(covered.loss)} are in this. Give the data that it was made from, or fit this."
        )
    check_folder(folder, overwrite=True)
    kept = folder / _KEPT
    seed = model.info.seed if args.random_state is None else args.random_state

    def tested() -> "Significance":
        return significance(
            found.A,
            estimator,
            (model.U, model.V),
            samples=args.samples,
            callback=ProgressLine(console).samples,
            checkpoint=kept,
            n_jobs=args.n_jobs,
            random_state=seed if isinstance(seed, int) else None,
        )

    try:
        result = tested()
    except OtherTestError:
        # Of an earlier result, or with another seed: of no use for this one.
        console.note(
            f"The samples in {kept} are of another test, so this one starts from the beginning"
        )
        kept.unlink()
        result = tested()
    console.status("")
    model.info = replace(model.info, significance=result.info)
    tsv = any((folder / name).exists() for name in MODEL_TABLES)
    margins = model.margins(found.A, n_jobs=args.n_jobs) if tsv else None
    save(folder, model, overwrite=True, tsv=tsv, margins=margins)
    if args.json:
        console.result_json(
            {
                "result": args.result,
                "k": model.shape[1],
                "samples": result.samples,
                "components": _records(model, result),
            }
        )
    else:
        console.result(_text(model, result, described(model, found.A)))
    if (folder / PAGE).exists():
        console.note(f"{folder / PAGE} does not know of it; 'elbmf report {folder}' makes it again")
    if result.interrupted:
        fitted = counted(result.samples, "sample")
        console.note(f"Interrupted after {fitted}; the same command goes on from there")
        return INTERRUPTED
    console.note(f"Noted in {folder}")
    return 0


def _method_of(model: "SavedModel", args: argparse.Namespace) -> "BooleanFactorizer":
    """Return the method of a saved result with its parameters, for fits of other data."""
    from elbmf.cli.flags.method import made
    from elbmf.estimators.registry import ESTIMATORS

    info = model.info
    advice = "In Python, elbmf.significance takes the estimator itself."
    if info.stream is not None or info.weighted is not None:
        what = "is of a stream" if info.stream is not None else "has weights of rows or columns"
        raise InputError(
            f"{args.result}: the result {what}, which random matrices with the same sums say "
            "nothing about. Fit the whole matrix without."
        )
    if info.method is None or info.method not in ESTIMATORS:
        known = ", ".join(ESTIMATORS)
        raise InputError(
            f"{args.result}: the method {info.method!r} cannot be run again from here. "
            f"Methods: {known}. {advice}"
        )
    values = {
        name: float(value) if value in ("inf", "-inf") else value
        for name, value in info.parameters.items()
        if value is not None and name not in _OF_THE_FIT
    }
    try:
        return made(info.method, values)
    except (InputError, TypeError, ValueError) as error:
        raise InputError(
            f"{args.result}: what the result notes is not enough to fit again: {error} {advice}"
        ) from error


def _records(model: "SavedModel", result: "Significance") -> list[dict[str, Any]]:
    excess = result.excess
    return [
        {
            "component": component,
            "rows": len(rows),
            "columns": len(columns),
            "ones": int(excess.ones[component]),
            "expected": float(excess.expected[component]),
            # An empty component has less than any number.
            "bits": float(excess.bits[component]) if rows and columns else None,
            "p_value": float(result.p_values[component]),
            "significant": bool(result.significant()[component]),
        }
        for component, (rows, columns) in enumerate(model.components())
    ]


def _text(model: "SavedModel", result: "Significance", found: list[dict[str, Any]]) -> str:
    import numpy as np

    from elbmf.cli.text.model import p_text, remarks

    lines = [
        [
            str(each["component"]),
            number(each["rows"]),
            number(each["columns"]),
            number(each["ones"]),
            number(round(each["expected"])),
            "" if each["bits"] is None else number(round(each["bits"])),
            p_text(each["p_value"]),
            shorten(one["column_names"]),
        ]
        for each, one in zip(_records(model, result), found, strict=True)
    ]
    headers = ["component", "rows", "columns", "ones", "by the sums", "bits", "p", "column names"]
    best = result.best_of_samples
    spoken = model.info.data.words.spoken
    text = table([spoken(each) for each in headers], lines, left=[7]) + "\n" + remarks(model)
    if np.isfinite(best).any():
        most = number(round(best.max()))
        text += spoken(f"\nThe best component of the random data has {most} bits.")
    return text
