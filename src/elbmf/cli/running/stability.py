"""What ``elbmf stability`` does: fits of all data and of parts of it, what is saved and said."""

import argparse
import logging
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from elbmf.cli.console import Console
from elbmf.cli.flags.constraints import constraints_of
from elbmf.cli.flags.method import estimator_of
from elbmf.cli.flags.parameters import check_values
from elbmf.cli.interrupt import INTERRUPTED
from elbmf.cli.progress import ProgressLine
from elbmf.cli.reading import learned_boolean, read_matrix
from elbmf.cli.running.fit import command_line, draw_seed, whereabouts
from elbmf.cli.running.page import check_report, make_report
from elbmf.cli.running.resumed import finishes, remove_model, same_command, save_fitted
from elbmf.cli.text.model import remarks
from elbmf.cli.text.tables import shorten, table
from elbmf.cli.writing import check_folder, save
from elbmf.comparison import Stability
from elbmf.errors import InputError
from elbmf.estimators.base import BooleanFactorizer
from elbmf.estimators.checkpoints import remove_checkpoint
from elbmf.estimators.resampled import Resample
from elbmf.estimators.saving import data_notes, noted_parameters, saved_model
from elbmf.io import MODEL_FILES, LabelledMatrix, SavedModel, load_model
from elbmf.io.described import described
from elbmf.io.model_info import SignificanceInfo
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.step_folder import has_steps, remove_steps
from elbmf.utils.naming import naming_lines
from elbmf.utils.text import counted, number, share

__all__ = ["run"]

# What is in the folder beside the model: finished runs, and the model of what they agree on.
_RUNS, _CONSENSUS = "runs", "consensus"

_LOG = logging.getLogger(__name__)


def run(asked: dict[str, Any], args: argparse.Namespace, console: Console) -> int:
    """Read, fit as asked, save, say what came out."""
    method, estimator, parameters = estimator_of(args)
    check_values(Stability, asked)
    Resample.of(asked.get("resample", Stability.resample)).check(estimator)
    if not 0 <= args.cut <= 1:
        raise InputError(f"--cut must be a share from 0 to 1; got {args.cut:g}.")
    folder = None if args.output is None else Path(args.output)
    _check_outputs(folder, args)
    data = read_matrix(args.data, args)
    A, learned = learned_boolean(data, parameters.get("binarize"), args.data)
    _LOG.info("%s: %d×%d, %d ones", args.data, *A.shape, A.ones)
    if folder is not None and args.overwrite:
        _clear(folder)
    estimator.set_params(**constraints_of(args, data))
    noted = noted_parameters(estimator)
    if folder is None:
        draw_seed(estimator)
    # The threshold was applied when A was made.
    estimator.set_params(binarize=None)
    progress = ProgressLine(console, A.ones, many_ranks=estimator.n_components == "auto")
    found = Stability(
        estimator,
        checkpoint=None if folder is None else folder / _RUNS,
        callback=progress.stability,
        **asked,
    )
    began = time.perf_counter()
    agreed: list[BooleanFactorizer] = []

    def work() -> None:
        found.fit(A)
        if folder is not None:
            # Before anything is saved, for it takes its time, too.
            with suppress(InputError):
                agreed.append(found.consensus(args.cut))

    with naming_lines(lambda: (data.row_names, data.column_names)):
        finished = finishes(work, folder, "runs of another kind")
    console.status("")
    if hasattr(found, "recurrence_"):
        seed = found.random_state_
        notes = {
            **learned,
            "method": method,
            "parameters": {**noted, "random_state": seed},
            "data": data_notes(Path(args.data).name, A),
            "seconds": round(time.perf_counter() - began, 3),
            "interrupted": not finished,
            "command": command_line(args, parameters.get("random_state"), seed),
            "warnings": list(console.warnings),
        }
        known = {**notes, "stability": found.info}
        model = saved_model(found.reference_, A, data.row_names, data.column_names, known)
        if folder is not None and finished:
            _save(folder, model, agreed, (A, data), notes, args, console)
        _tell(model, A, args, console)
    if not finished:
        _tell_interrupted(found, folder, args, console)
        return INTERRUPTED
    if folder is not None:
        console.note(f"Saved to {folder}")
    return 0


def _check_outputs(folder: Path | None, args: argparse.Namespace) -> None:
    """Raise where what is found could not be saved."""
    if folder is None:
        if args.report is not None:
            raise InputError("--report is about a saved result: add -o DIR.")
        return
    inputs = [args.data, *([args.config] if args.config else [])]
    names = [*MODEL_FILES, *(f"{_CONSENSUS}/{name}" for name in MODEL_FILES)]
    goes_on = has_steps(folder / _RUNS)
    check_folder(folder, *inputs, overwrite=args.overwrite or goes_on, names=names)
    check_report(args, folder, *inputs)


def _clear(folder: Path) -> None:
    """Remove what an earlier command has left, which would contradict what comes."""
    remove_checkpoint(folder / _RUNS / "reference")
    remove_steps(folder / _RUNS)
    for place in (folder / _CONSENSUS, folder):
        remove_model(place)


def _save(
    folder: Path,
    model: SavedModel,
    agreed: list[BooleanFactorizer],  # What the runs agree on, if they do
    data: tuple[BooleanMatrix, LabelledMatrix],
    notes: dict[str, Any],
    args: argparse.Namespace,
    console: Console,
) -> None:
    """Save the fit of all data, and what the runs agree on if they do."""
    where = whereabouts(args.data, args, folder)
    known = _significance(folder, model)
    model.info = replace(model.info, data=replace(model.info.data, **where), significance=known)
    save(folder, model, overwrite=True, tsv=False)
    if agreed:
        save_fitted(folder / _CONSENSUS, agreed[0], data, notes, args)
    else:
        remove_model(folder / _CONSENSUS)
        console.note(f"No component recurs with {args.cut:g} or more: there is no consensus")
    make_report(args, folder, model, data[0], console)


def _significance(folder: Path, model: SavedModel) -> SignificanceInfo | None:
    """Return what is noted in a folder of the same components, from fewer runs."""
    with suppress(InputError, OSError):
        before = load_model(folder)
        if before.shape == model.shape and not (
            (before.U != model.U).nnz or (before.V != model.V).nnz
        ):
            return before.info.significance
    return None


# --- what is said ---


def _tell(model: SavedModel, A: BooleanMatrix, args: argparse.Namespace, console: Console) -> None:
    """Print how reliably components return, as a table or one JSON object."""
    known = model.info.stability
    assert known is not None
    members = model.components()
    if args.json:
        components = [
            {
                "component": index,
                "recurrence": each.recurrence,
                "found_in": each.found_in,
                "rows": _shares(members[index][0], each.rows),
                "columns": _shares(members[index][1], each.columns),
            }
            for index, each in enumerate(known.components)
        ]
        console.result_json(
            {
                "k": len(known.components),
                "runs": known.runs,
                "resample": known.resample,
                "stability": known.stability,
                "cophenetic": known.cophenetic,
                "components": components,
                "seed": model.info.parameters.get("random_state"),
                "output": args.output,
            }
        )
        return
    lines, best_first = [], described(model, A)
    for index, each in enumerate(known.components):
        rows, columns = members[index]
        # Those that return most surely first, and of equals those that fit best.
        returns = dict(zip(columns, each.columns, strict=True))
        names = sorted(best_first[index]["column_names"], key=lambda name: -returns[name])
        lines.append(
            [
                str(index),
                share(each.recurrence),
                share(each.found_in),
                number(len(rows)),
                number(len(columns)),
                shorten(names),
            ]
        )
    headers = ["component", "recurrence", "found in", "rows", "columns", "column names"]
    titles = [model.info.data.words.spoken(each) for each in headers]
    console.result(table(titles, lines, left=[len(titles) - 1]))
    console.result(remarks(model))


def _shares(names: list[str], shares: Any) -> list[dict[str, Any]]:
    return [{"name": name, "share": each} for name, each in zip(names, shares, strict=True)]


def _tell_interrupted(
    found: Stability, folder: Path | None, args: argparse.Namespace, console: Console
) -> None:
    runs = len(getattr(found, "fits_", ()))
    goes_on = "" if folder is None else f"; {same_command(args)} goes on from there"
    console.note(f"Interrupted after {counted(runs, 'run')} of {number(found.runs)}{goes_on}")
