"""``elbmf fit``: factorize a matrix and save the result."""

import argparse
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elbmf.binarizers import Binarize
from elbmf.cli import config, stream, summary
from elbmf.cli.checkpoints import KeptFit, add_resume
from elbmf.cli.cluster import Labels, add_scheduler, on_cluster
from elbmf.cli.commands.report import add_report, check_report, make_report
from elbmf.cli.console import Console
from elbmf.cli.interrupt import INTERRUPTED, Interrupt
from elbmf.cli.matrices import add_reader_options, learned_boolean, within_memory
from elbmf.cli.notes import command_line, draw_seed, whereabouts
from elbmf.cli.outputs import check_folder, save
from elbmf.cli.progress import ProgressLine
from elbmf.estimators import METHODS, BooleanFactorizer
from elbmf.estimators.saving import data_notes, noted_parameters, saved_model
from elbmf.io import LabelledMatrix, SavedModel
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.matrix.on_disk import DiskMatrix
from elbmf.relaxation.engines.cluster import DaskMatrix
from elbmf.utils.oddities import NO_ZEROS, without_zeros
from elbmf.utils.progress import FitProgress

__all__ = ["EXAMPLES", "configure", "fitted_model", "run"]

_LOG = logging.getLogger(__name__)

EXAMPLES = """\
examples:
  elbmf fit data.csv -k 20 -o result
  elbmf fit data.csv -k auto -o result --report
  elbmf fit counts.h5ad --layer counts --binarize 0 -k 50 -o result --tsv
  zcat log.dat.gz | elbmf fit --stream - -k 20 -o result
  elbmf fit data.npz --config parameters.toml --seed 1 -o result --json > result.json
  elbmf fit data.npz -k 50 -o result --checkpoint kept --every 10 --resume
  elbmf fit big.matrix --scheduler tcp://127.0.0.1:8786 -k 20 -o result

The folder holds factors.npz and model.json; --tsv adds tables of components, rows and columns,
--report a page for a browser.
A TOML file for --config has one line per parameter, e.g. max_iter = 1000; flags win over it.
Ctrl-C ends the run after the current epoch and saves what was found; twice, it ends at once.
With --checkpoint, a run that was killed goes on from there with --resume, to the same result."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments, and the flags of the method that is asked for."""
    parser.usage = "elbmf fit DATA -k K -o DIR [options]"
    parser.add_argument("data", metavar="DATA", help="the matrix: a file of zeros and ones")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="folder to save in")
    parser.add_argument("--tsv", action="store_true", help="also save tables for reading")
    parser.add_argument("--overwrite", action="store_true", help="replace a result in the folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object, no tables")
    add_report(parser)
    stream.add_arguments(parser)
    add_resume(parser)
    add_scheduler(parser)
    add_reader_options(parser)
    config.add_arguments(parser, arguments)


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, fit, save, say what came out."""
    method, parameters = config.parameters(args)
    estimator = METHODS[method](**parameters)
    estimator._validate_params()
    folder = Path(args.output)
    kept = KeptFit(estimator, args)
    check_folder(folder, args.data, overwrite=args.overwrite)
    check_report(args, folder, args.data, *([args.config] if args.config else []))
    if args.stream:
        return stream.run(estimator, method, args, console)
    with _opened(args, estimator, parameters.get("binarize")) as (A, table, learned):
        _LOG.info("%s: %d×%d, %d ones", args.data, *A.shape, A.ones)
        if without_zeros(A.ones, A.cells, A.n_missing):
            console.warn(NO_ZEROS)
        kept.open(console)
        with Interrupt(announces=not console.quiet) as interrupt:
            name = Path(args.data).name
            with kept.errors_in_flags():
                model = fitted_model(estimator, method, A, table, name, console, interrupt)
            model.info.update(learned)
            model.info["data"] |= whereabouts(args.data, args, folder)
            seed = parameters.get("random_state")
            model.info["command"] = command_line(args, seed, model.info["seed"])
            save(folder, model, overwrite=args.overwrite, tsv=args.tsv)
            if not interrupt.requested:
                kept.close()
        described = summary.components(A, model)
        here = A if isinstance(A, BooleanMatrix) else DiskMatrix(args.data)
        make_report(args, folder, model, here, console)
    if interrupt.requested:
        console.note(
            f"Interrupted after {model.info['iteration']} {model.info['iterations_seen']}: saved "
            f"what was found so far to {folder}"
        )
        if kept.folder is not None:
            console.note("The same command with --resume --overwrite goes on from there")
    if args.json:
        brief = {key: value for key, value in model.info.items() if key not in summary.LONG_NOTES}
        console.result_json({**brief, "output": str(folder), "components": described})
    else:
        console.result(summary.measures_text(model.info))
        console.result("\n" + summary.components_table(described))
        if not interrupt.requested:
            console.note(f"Saved to {folder}")
    return INTERRUPTED if interrupt.requested else 0


@contextmanager
def _opened(
    args: argparse.Namespace, estimator: BooleanFactorizer, binarize: Binarize
) -> Iterator[tuple[BooleanMatrix | DaskMatrix, LabelledMatrix | Labels, dict[str, Any]]]:
    """Lend the data, its names, and what was learned to binarize it."""
    if args.scheduler is not None:
        with on_cluster(args.scheduler, args.data, estimator) as (A, labels):
            yield A, labels, {}
        return
    limit = getattr(estimator, "memory_limit", None)
    with within_memory(args.data, args, binarize, limit) as (table, how):
        boolean, learned = learned_boolean(table, how, args.data)
        yield boolean, table, learned


def fitted_model(
    estimator: BooleanFactorizer,
    method: str,
    A: BooleanMatrix | DaskMatrix,
    table: LabelledMatrix | Labels,
    name: str,
    console: Console,
    interrupt: Interrupt,
) -> SavedModel:
    """Fit an estimator and return what to save.

    Parameters
    ----------
    estimator : BooleanFactorizer
        Unfitted; its parameters as the user set them.
    method : str
        Its name in `METHODS`.
    A : BooleanMatrix or DaskMatrix
        The data, already binarised.
    table : LabelledMatrix or Labels
        Where the names are.
    name : str
        Of the data, to be noted.
    console : Console
        For progress and warnings.
    interrupt : Interrupt
        Whose request ends the fit early.
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
    estimator.fit(A)
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
