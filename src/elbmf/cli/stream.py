"""``elbmf fit --stream``: learn components from rows as they come, a few at a time."""

import argparse
import logging
import os
import stat
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from elbmf.cli import summary
from elbmf.cli.commands.report import make_report
from elbmf.cli.console import Console
from elbmf.cli.interrupt import INTERRUPTED, Interrupt
from elbmf.cli.matrices import READ_OPTIONS, at_least_one
from elbmf.cli.notes import command_line, draw_seed, whereabouts
from elbmf.cli.outputs import save
from elbmf.cli.progress import ProgressLine
from elbmf.cli.tables import figures
from elbmf.errors import InputError
from elbmf.estimators import METHODS, BooleanFactorizer
from elbmf.estimators.saving import noted_parameters
from elbmf.estimators.streamed import StreamedFactorizer
from elbmf.io import SavedModel
from elbmf.io.model import BINARIZE_LIMITS
from elbmf.io.row_streams import STDIN, RowStream, open_rows, row_format
from elbmf.utils.machine import versions
from elbmf.utils.text import number, times

__all__ = ["add_arguments", "run"]

_LOG = logging.getLogger(__name__)

_BATCH_ROWS = 256


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a stream."""
    group = parser.add_argument_group("rows that do not fit into memory, or do not end")
    group.add_argument(
        "--stream",
        action="store_true",
        help="read DATA row by row, - for standard input: fimi (the default there), csv or tsv; "
        "their memberships are not kept",
    )
    group.add_argument(
        "--batch-rows",
        type=at_least_one,
        metavar="N",
        help=f"rows at a time (default: {_BATCH_ROWS})",
    )
    group.add_argument("--passes", type=at_least_one, metavar="N", help="times to read a file (1)")


def run(
    estimator: BooleanFactorizer, method: str, args: argparse.Namespace, console: Console
) -> int:
    """Read, learn, save, say what came out."""
    if args.scheduler is not None:
        raise InputError(
            "--stream reads rows here, one batch after the other, and --scheduler names machines "
            "that hold all of them. Leave one of the two out."
        )
    if not isinstance(estimator, StreamedFactorizer):
        able = sorted(name for name, known in METHODS.items() if issubclass(known, _STREAMED))
        raise InputError(
            f"the method {method} cannot learn from a stream. Methods that can: {', '.join(able)}."
        )
    row_format(args.data, args.format)
    passes = args.passes or 1
    if passes > 1 and not _is_file(args.data):
        raise InputError(f"--passes {passes}: only a file can be read more than once.")
    given_seed = estimator.random_state
    draw_seed(estimator)
    learner = _Learner(estimator, console)
    failure: InputError | None = None
    with Interrupt(announces=not console.quiet) as interrupt:
        try:
            for _ in range(passes):
                if not interrupt.requested:
                    learner.read(args, interrupt)
        except InputError as error:
            if not learner.has_learned:
                raise
            failure = error
        console.status("")
        if not learner.has_learned:
            raise InputError(f"{args.data}: there are no rows, so there is nothing to learn.")
        model = learner.saved_model(method, args.data, interrupted=interrupt.requested)
        model.info["data"] |= whereabouts(args.data, args, Path(args.output))
        model.info["command"] = command_line(args, given_seed, model.info["seed"])
        save(Path(args.output), model, overwrite=args.overwrite, tsv=args.tsv)
    make_report(args, Path(args.output), model, None, console)
    rows = number(estimator.n_rows_seen_)
    if failure is not None:
        raise InputError(
            f"{failure} What was learned from {rows} rows before that is saved to {args.output}."
        )
    if interrupt.requested:
        console.note(f"Interrupted after {rows} rows: saved what was learned to {args.output}")
    if args.json:
        brief = {key: value for key, value in model.info.items() if key not in summary.LONG_NOTES}
        console.result_json({**brief, "output": args.output})
    else:
        console.result(_text(model))
        if not interrupt.requested:
            console.note(f"Saved to {args.output}")
    return INTERRUPTED if interrupt.requested else 0


# A class, for what is abstract is no argument of `issubclass` to a type checker.
_STREAMED: Any = StreamedFactorizer


class _Learner:
    """What is learned of the rows, and noted on the way."""

    def __init__(self, estimator: StreamedFactorizer, console: Console) -> None:
        self._estimator = estimator
        self._console = console
        self._noted = noted_parameters(estimator)
        self._progress = ProgressLine(console)
        self._began = time.perf_counter()
        self._ones = self._missing = 0
        self._last: sparse.csr_array | None = None
        self._columns: tuple[list[str] | None, list[int]] = (None, [])

    @property
    def has_learned(self) -> bool:
        """Whether there is anything to save."""
        return hasattr(self._estimator, "components_")

    def read(self, args: argparse.Namespace, interrupt: Interrupt) -> None:
        """Read all rows once, or until somebody asks to stop."""
        options = {name: getattr(args, name) for name in READ_OPTIONS}
        given = {name: value for name, value in options.items() if value is not None}
        batch_rows = args.batch_rows or _BATCH_ROWS
        with open_rows(args.data, format=args.format, batch_rows=batch_rows, **given) as rows:
            while not interrupt.requested:
                batch = None
                with interrupt.waiting():
                    batch = rows.read()
                if interrupt.requested:
                    batch = rows.rest()
                if batch is None:
                    break
                if batch.shape[0]:
                    self._learn(batch, rows)

    def _learn(self, batch: sparse.csr_array, rows: RowStream) -> None:
        estimator = self._estimator
        if self.has_learned and batch.shape[1] > estimator.n_features_in_:
            estimator.widen(batch.shape[1])
        try:
            estimator.partial_fit(batch)
        except InputError as error:
            raise InputError(f"{rows.path}, lines up to {rows.lines}: {error}") from error
        self._columns = rows.columns()
        self._last = batch
        missing = int(np.isnan(batch.data).sum()) if batch.dtype.kind == "f" else 0
        self._missing += missing
        self._ones += batch.nnz - missing
        _LOG.info("%d rows", estimator.n_rows_seen_)
        self._progress.streamed(estimator.n_rows_seen_, self._loss_of_last)

    def _loss_of_last(self) -> float | None:
        if self._last is None or not self._last.nnz:
            return None
        return 1 - float(self._estimator.score(self._last))

    def saved_model(self, method: str, data: str, *, interrupted: bool) -> SavedModel:
        """Return what to save: the components, and of the rows only how many there were."""
        estimator = self._estimator
        names, order = self._columns
        V = estimator.components_[:, order]
        info = {
            "method": method,
            "parameters": self._noted,
            "seed": self._noted.get("random_state"),
            "data": {
                "file": "standard input" if data == STDIN else Path(data).name,
                "shape": [estimator.n_rows_seen_, V.shape[1]],
                "ones": self._ones,
                "missing": self._missing,
            },
            "stream": {
                "rows": estimator.n_rows_seen_,
                "batches": estimator.n_batches_,
                "relative_loss_of_last": self._loss_of_last(),
            },
            "n_components_used": estimator.n_components_,
            "interrupted": interrupted,
            "seconds": round(time.perf_counter() - self._began, 3),
            "versions": versions(),
            "warnings": list(self._console.warnings),
        }
        limits = getattr(getattr(estimator, "binarizer_", None), "limits_", np.empty(0))
        if limits.size:
            info[BINARIZE_LIMITS] = limits.tolist()
        nobody = np.zeros((0, V.shape[0]), dtype=np.bool_)
        return SavedModel(sparse.csr_array(nobody), sparse.csr_array(V), None, names, info)


def _is_file(path: str) -> bool:
    return path != STDIN and os.path.exists(path) and stat.S_ISREG(os.stat(path).st_mode)


def _text(model: SavedModel) -> str:
    pairs = summary.stream_figures(model.info)
    pairs.append(("seconds", times(model.info["seconds"]).removesuffix(" s")))
    return figures(pairs) + "\n\n" + summary.members_table(model)
