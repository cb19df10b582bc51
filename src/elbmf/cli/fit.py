"""``elbmf fit``: factorize a matrix and save the result."""

import argparse
import inspect
import logging
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elbmf.cli import config, solver_flags, summary
from elbmf.cli.console import Console
from elbmf.cli.interrupt import Interrupt
from elbmf.cli.matrices import add_reader_options, boolean, read_matrix
from elbmf.cli.outputs import check_folder, save
from elbmf.cli.progress import Progress
from elbmf.estimators import METHODS, BooleanFactorizer
from elbmf.io import LabelledMatrix, SavedModel
from elbmf.matrix import BooleanMatrix
from elbmf.metrics import measures

__all__ = ["EXAMPLES", "configure", "fitted_model", "run"]

_LOG = logging.getLogger(__name__)
_INTERRUPTED = 130

EXAMPLES = """\
examples:
  elbmf fit data.csv -k 20 -o result
  elbmf fit counts.h5ad --layer counts --binarize 0 -k 50 -o result --tsv
  elbmf fit data.npz --config parameters.toml --seed 1 -o result --json > result.json

The folder holds factors.npz and model.json; --tsv adds tables of components, rows and columns.
A TOML file for --config has one line per parameter, e.g. max_iter = 1000; flags win over it.
Ctrl-C ends the run after the current epoch and saves what was found; twice, it ends at once."""


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments, and the flags of the method that is asked for."""
    parser.usage = "elbmf fit DATA -k K -o DIR [options]"
    parser.add_argument("data", metavar="DATA", help="the matrix: a file of zeros and ones")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="folder to save in")
    parser.add_argument(
        "--method",
        choices=sorted(METHODS),
        default=None,
        help="how to factorize (default: elbmf); each has parameters of its own",
    )
    parser.add_argument("--config", metavar="FILE", help="parameters from a TOML file")
    parser.add_argument("--tsv", action="store_true", help="also save tables for reading")
    parser.add_argument("--overwrite", action="store_true", help="replace a result in the folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object, no tables")
    add_reader_options(parser)
    method = config.early_method(arguments)
    if method in METHODS:
        solver_flags.add_flags(parser, method, METHODS[method])


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, fit, save, say what came out."""
    method, parameters = config.parameters(args)
    estimator = METHODS[method](**parameters)
    estimator._validate_params()
    folder = Path(args.output)
    check_folder(folder, args.data, overwrite=args.overwrite)
    table = read_matrix(args.data, args)
    A = boolean(table, parameters.get("binarize"), args.data)
    _LOG.info("%s: %d×%d, %d ones", args.data, *A.shape, A.ones)
    with Interrupt(waits=_has_callback(estimator), announces=not console.quiet) as interrupt:
        model = fitted_model(estimator, method, A, table, Path(args.data).name, console, interrupt)
        save(folder, model, overwrite=args.overwrite, tsv=args.tsv)
    described = summary.components(A, model)
    if interrupt.requested:
        console.note(
            f"Interrupted after epoch {model.info['epochs_seen']}: saved what was found so far to "
            f"{folder}"
        )
    if args.json:
        brief = {key: value for key, value in model.info.items() if key != "history"}
        console.result_json({**brief, "output": str(folder), "components": described})
    else:
        console.result(summary.measures_text(model.info))
        console.result("\n" + summary.components_table(described))
        if not interrupt.requested:
            console.note(f"Saved to {folder}")
    return _INTERRUPTED if interrupt.requested else 0


def fitted_model(
    estimator: BooleanFactorizer,
    method: str,
    A: BooleanMatrix,
    table: LabelledMatrix,
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
    A : BooleanMatrix
        The data, already binarised.
    table : LabelledMatrix
        Where the names are.
    name : str
        Of the data, to be noted.
    console : Console
        For progress and warnings.
    interrupt : Interrupt
        Whose request ends the fit early, if the method has a callback.
    """
    noted = _noted_parameters(estimator)
    progress = Progress(console, A.ones)

    def observe(state: Any) -> bool:
        progress(state)
        return interrupt.requested

    if _has_callback(estimator):
        estimator.set_params(callback=observe)
    # The threshold was applied when A was made.
    estimator.set_params(binarize=None)
    began = time.perf_counter()
    estimator.fit(A.to_csr(), missing=A.hidden)
    seconds = time.perf_counter() - began
    console.status("")
    U, V = estimator.membership_, estimator.components_
    stopped = interrupt.requested and estimator.stop_reason_ == "callback"
    info = {
        "method": method,
        "parameters": noted,
        "seed": noted.get("random_state"),
        "data": summary.data(name, A),
        "measures": measures(A, U, V, n_jobs=estimator.n_jobs),
        "n_iter": estimator.n_iter_,
        "epochs_seen": progress.epochs,
        "n_components_used": estimator.n_components_,
        # A list, because the keys of a saved model are sorted.
        "stages": [
            {"stage": stage, "cost": cost}
            for stage, cost in getattr(estimator, "stages_", {}).items()
        ],
        "run_losses": getattr(estimator, "run_losses_", [estimator.reconstruction_err_]),
        "stop_reason": "interrupted" if stopped else estimator.stop_reason_,
        "interrupted": interrupt.requested,
        "seconds": round(seconds, 3),
        "history": estimator.history_,
        "versions": summary.versions(),
        "warnings": list(console.warnings),
    }
    return SavedModel(U, V, table.row_names, table.column_names, info)


def _has_callback(estimator: BooleanFactorizer) -> bool:
    return "callback" in inspect.signature(type(estimator)).parameters


def _noted_parameters(estimator: BooleanFactorizer) -> dict[str, Any]:
    """Return the parameters to note; a seed is drawn where none was given, so that one is known."""
    if getattr(estimator, "random_state", 0) is None:
        estimator.set_params(random_state=int(np.random.default_rng().integers(2**31)))
    parameters = estimator.get_params(deep=False)
    # JSON knows no infinity, but a text that reads back as one will do.
    return {
        name: str(value) if isinstance(value, float) and math.isinf(value) else value
        for name, value in parameters.items()
        if name != "callback"
    }
