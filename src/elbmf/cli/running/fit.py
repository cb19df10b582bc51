"""A fit of ``elbmf fit`` or ``elbmf demo``: its data, here or on a cluster, and its notes.

With ``--checkpoint DIR`` and ``--resume`` it may go on from where an earlier one was.
"""

import argparse
import logging
import os
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from elbmf.binarizers import Binarize
from elbmf.cli.console import Console
from elbmf.cli.flags.constraints import constraints_of
from elbmf.cli.flags.declared import flag
from elbmf.cli.flags.method import estimator_of
from elbmf.cli.flags.parameters import named
from elbmf.cli.flags.shared import reader_options, weight_files
from elbmf.cli.interrupt import INTERRUPTED, Interrupt
from elbmf.cli.progress import ProgressLine
from elbmf.cli.reading import learned_boolean, line_weights, warn_of_same_names, within_memory
from elbmf.cli.running.page import check_report, make_report
from elbmf.cli.text.model import tell_fit
from elbmf.cli.writing import check_folder, save
from elbmf.errors import (
    ClusterError,
    FileFormatError,
    InputError,
    MissingExtraError,
    Setting,
)
from elbmf.estimators import ELBMF, BooleanFactorizer
from elbmf.estimators.checkpoints import (
    DamagedCheckpointError,
    OtherFitError,
    has_checkpoint,
    noted_fit,
    remove_checkpoint,
)
from elbmf.estimators.saving import data_notes, noted_parameters, saved_model
from elbmf.io import FolderTable, LabelledMatrix, SavedModel
from elbmf.io.annotated import KEY
from elbmf.io.described import described
from elbmf.io.matching import told_repeated
from elbmf.io.row_batches import STDIN
from elbmf.io.write_back import check_write_back, write_back
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import NOTE, DiskMatrix
from elbmf.relaxation.engines.cluster import DaskMatrix
from elbmf.utils.naming import naming_lines
from elbmf.utils.progress import FitProgress

__all__ = ["command_line", "draw_seed", "fitted_model", "run", "whereabouts"]

_LOG = logging.getLogger(__name__)

# Seconds to wait for the scheduler.
_PATIENCE = 10

_ANEW = "Choose another folder with --checkpoint, or pass --overwrite without --resume to "
"start over in this one."


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, fit, save, say what came out."""
    method, estimator, parameters = estimator_of(args)
    folder = Path(args.output)
    kept = _KeptFit(estimator, args)
    weighted = weight_files(args)
    inputs = [args.data, *weighted.values()]
    check_folder(folder, *inputs, overwrite=args.overwrite)
    check_report(args, folder, *inputs, *([args.config] if args.config else []))
    if args.write_back:
        _check_write_back(args)
    if args.stream:
        for name in weighted:
            raise InputError(
                Setting(name),
                " does not work with a stream: weights need all rows at once. Leave it "
                "out, or fit without --stream.",
            )
        from elbmf.cli.running import stream  # which itself needs what is here

        return stream.run(estimator, method, args, console)
    with _opened(args, estimator, parameters.get("binarize")) as (A, table, learned):
        _LOG.info("%s: %d×%d, %d ones", args.data, *A.shape, A.ones)
        repeated = told_repeated(table.column_names or ())
        if repeated:
            console.warn(repeated)
        estimator.set_params(**constraints_of(args, table))
        kept_names: list[str] = getattr(args, "kept", [])
        weights = line_weights(args, table)
        kept.open(console)
        with Interrupt(announces=not console.quiet) as interrupt:
            name = Path(args.data).name
            with kept.errors_in_flags():
                model = fitted_model(estimator, method, A, table, name, console, interrupt, weights)
            seed = parameters.get("random_state")
            model.info = replace(
                model.info,
                **learned,
                data=replace(model.info.data, **whereabouts(args.data, args, folder)),
                command=command_line(args, seed, model.info.seed),
            )
            here = A if isinstance(A, BooleanMatrix) else DiskMatrix(args.data)
            margins = model.margins(here, **weights) if args.tsv else None
            save(
                folder,
                model,
                overwrite=args.overwrite,
                tsv=args.tsv,
                margins=margins,
                escape_formulas=args.escape_formulas,
            )
            if args.write_back:
                write_back(args.data, model)
                console.note(f"Wrote obsm/X_{KEY}, varm/{KEY} and uns/{KEY} into {args.data}")
            if not interrupt.requested:
                kept.close()
        found = described(model, A)
        # What is kept comes first.
        for each in found:
            if each["component"] < len(kept_names):
                each["kept"] = kept_names[each["component"]]
        make_report(args, folder, model, here, console)
    if interrupt.requested:
        console.note(
            f"Interrupted after {model.info.iteration} {model.info.iterations_seen}: saved "
            f"what was found so far to {folder}"
        )
        if kept.folder is not None:
            console.note("The same command with --resume --overwrite goes on from there")
    tell_fit(model, found, str(folder), console, as_json=args.json)
    if getattr(estimator, "previous", None) is not None:
        console.note(
            f"Cells of components that differ from {args.previous}: {estimator.n_changes_}"
        )
    if not (args.json or interrupt.requested):
        console.note(f"Saved to {folder}")
    return INTERRUPTED if interrupt.requested else 0


def _check_write_back(args: argparse.Namespace) -> None:
    """Say before the work where a result cannot be written into the file of the data."""
    for name in ("stream", "scheduler", "transpose"):
        if getattr(args, name, None):
            raise InputError(
                f"--write-back needs a h5ad file that is read as it is; leave {flag(name)} out."
            )
    check_write_back(args.data)


@contextmanager
def _opened(
    args: argparse.Namespace, estimator: BooleanFactorizer, binarize: Binarize
) -> Iterator[tuple[BooleanMatrix | DaskMatrix, LabelledMatrix, dict[str, Any]]]:
    """Lend the data, its names, and what was learned to binarize it."""
    if args.scheduler is not None:
        with _on_cluster(args.scheduler, args.data, estimator) as (A, names):
            yield A, names, {}
        return
    limit = getattr(estimator, "memory_limit", None)
    with within_memory(args.data, args, binarize, limit) as (table, how):
        warn_of_same_names(table, args.data)
        boolean, learned = learned_boolean(table, how, args.data)
        yield boolean, table, learned


@contextmanager
def _on_cluster(
    address: str, data: str, estimator: BooleanFactorizer
) -> Iterator[tuple[DaskMatrix, LabelledMatrix]]:
    """Lend a matrix folder as a matrix on the cluster of a scheduler, to fit an estimator to."""
    if not isinstance(estimator, ELBMF):
        raise InputError("--scheduler: only the method elbmf works on a cluster.")
    if not (Path(data) / NOTE).is_file():
        raise InputError(
            f"{data}: workers of a cluster read matrix folders, which this is not. Make one "
            f"first, where all workers reach it: elbmf convert {data} {Path(data).stem}.matrix"
        )
    if estimator.binarize is not None:
        raise InputError(f"{data}: has zeros and ones only. Use --binarize with elbmf convert.")
    stored = DiskMatrix(data)
    weights = estimator._weights(stored.shape)
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("distributed", "dask", "--scheduler") from None
    # What becomes of lost connections is told by us, without a trace of where it was noticed.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=_PATIENCE, direct_to_workers=True)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"No scheduler answers at {address} ({error}). Start one with: dask scheduler"
        ) from error
    with client, DaskMatrix.from_folder(data, client, weights.relaxed) as A:
        yield A, FolderTable(stored)


def fitted_model(
    estimator: BooleanFactorizer,
    method: str,
    A: BooleanMatrix | DaskMatrix,
    table: LabelledMatrix,
    name: str,
    console: Console,
    interrupt: Interrupt,
    weights: Mapping[str, Any] = MappingProxyType({}),
) -> SavedModel:
    """Fit an estimator to data that is binarized already, and return what to save.

    The table is where the names are; a request of ``interrupt`` ends the fit early. Weights are
    those of rows and columns, by the names that ``fit`` has for them.
    """
    draw_seed(estimator)
    noted = noted_parameters(estimator)
    progress = ProgressLine(console, A.ones, many_ranks=estimator.n_components == "auto")

    def observe(report: FitProgress) -> bool:
        progress.fit(report)
        return interrupt.requested

    # The threshold was applied when A was made.
    estimator.set_params(callback=observe, binarize=None)
    began = time.perf_counter()
    with naming_lines(lambda: (table.row_names, table.column_names)):
        estimator.fit(A, **weights)
    seconds = time.perf_counter() - began
    console.status("")
    notes = {
        "method": method,
        "parameters": noted,
        "data": data_notes(name, A),
        "iteration": progress.stage,
        "iterations_seen": progress.iterations,
        "interrupted": interrupt.requested,
        "seconds": round(seconds, 3),
    }
    if interrupt.requested and estimator.stop_reason_ == "callback":
        notes["stop_reason"] = "interrupted"
    notes["warnings"] = list(console.warnings)
    return saved_model(estimator, A, table.row_names, table.column_names, notes)


def draw_seed(estimator: BooleanFactorizer) -> None:
    """Draw a seed where none is given, so that it is known."""
    if estimator.random_state is None:
        estimator.set_params(random_state=int(np.random.default_rng().integers(2**31)))


def command_line(args: argparse.Namespace, given_seed: Any, seed: Any) -> str:
    """Return what makes a result again: what was typed, and the seed, if that was drawn."""
    drawn = [] if given_seed is not None or seed is None else ["--seed", str(seed)]
    return shlex.join(["elbmf", *args.typed, *drawn])


def whereabouts(data: str, args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return where data is, as seen from a result's folder, how it is read, and in which words."""
    known = {"vocabulary": args.vocabulary} if getattr(args, "vocabulary", None) else {}
    if data == STDIN:
        return known
    try:
        path = os.path.relpath(os.path.abspath(data), os.path.abspath(folder))
    except ValueError:  # on another drive
        path = os.path.abspath(data)
    options = ({"format": args.format} if args.format else {}) | reader_options(args)
    return {"path": path, **({"options": options} if options else {}), **known}


class _KeptFit:
    """What the flags say of an earlier fit, looked at before the work.

    Raises where there is one, and nothing says what to do with it.
    """

    def __init__(self, estimator: BooleanFactorizer, args: argparse.Namespace) -> None:
        given = getattr(estimator, "checkpoint", None)
        self.folder = None if given is None else Path(given)
        self._estimator = estimator
        self._resumes = args.resume
        if self.folder is None:
            if args.resume:
                raise InputError("--resume needs to know from where: add --checkpoint DIR.")
            return
        if self.folder.resolve() == Path(args.output).resolve():
            raise InputError(
                f"{self.folder}: checkpoints and the result cannot be in the same folder. Choose "
                "another with --checkpoint."
            )
        self._found = has_checkpoint(self.folder)
        if self._found and not (args.resume or args.overwrite):
            raise InputError(
                f"{self.folder}: has the checkpoint of a fit. Add --resume to go on from there, "
                "choose another folder with --checkpoint, or pass --overwrite to start over in "
                "this one."
            )

    def open(self, console: Console) -> None:
        """Take the seed of the earlier fit, or remove what is left of it."""
        if self.folder is None:
            return
        if not self._resumes:
            remove_checkpoint(self.folder)
        elif not self._found:
            console.note(f"{self.folder}: no checkpoint yet, the fit starts from the beginning")
        elif self._estimator.random_state is None:
            self._estimator.set_params(random_state=noted_fit(self.folder).get("random_state"))

    @contextmanager
    def errors_in_flags(self) -> Iterator[None]:
        """Let errors about checkpoints say what to type."""
        try:
            yield
        except OtherFitError as error:
            raise InputError(
                f"{self.folder}: has the checkpoint of another fit, with other "
                f"{named(error.differing)}. {_ANEW}"
            ) from error
        except DamagedCheckpointError as error:
            raise FileFormatError(f"{error} {_ANEW}") from error

    def close(self) -> None:
        """Remove the checkpoint, now that the result is saved."""
        if self.folder is not None:
            remove_checkpoint(self.folder)
