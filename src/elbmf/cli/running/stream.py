"""``elbmf fit --stream``: learn components from rows as they come, a few at a time."""

import argparse
import logging
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from elbmf.cli.console import Console
from elbmf.cli.flags.shared import reader_options
from elbmf.cli.interrupt import INTERRUPTED, Interrupt
from elbmf.cli.progress import ProgressLine
from elbmf.cli.running.fit import command_line, draw_seed, whereabouts
from elbmf.cli.running.page import make_report
from elbmf.cli.text.model import brief, members_table, stream_figures
from elbmf.cli.text.tables import figures
from elbmf.cli.writing import save
from elbmf.errors import InputError
from elbmf.estimators import METHODS, BooleanFactorizer, method
from elbmf.estimators.online import PartialFitMixin
from elbmf.estimators.saving import noted_parameters, saved_model
from elbmf.io import SavedModel
from elbmf.io.model_info import DataInfo, StreamInfo
from elbmf.io.row_batches import STDIN, RowBatches, open_rows, row_format
from elbmf.utils.text import number, times

__all__ = ["run"]

_LOG = logging.getLogger(__name__)


def run(estimator: BooleanFactorizer, name: str, args: argparse.Namespace, console: Console) -> int:
    """Read, learn, save, say what came out."""
    if args.scheduler is not None:
        raise InputError(
            "--stream reads rows here, one batch after the other, and --scheduler names machines "
            "that hold all of them. Leave one of the two out."
        )
    if not isinstance(estimator, PartialFitMixin):
        able = sorted(each for each in METHODS if hasattr(method(each), "partial_fit"))
        raise InputError(
            f"the method {name} cannot learn from a stream. Methods that can: {', '.join(able)}."
        )
    if args.transpose:
        raise InputError(
            "--stream reads rows as they come, which --transpose cannot turn into columns. Leave "
            "one of the two out."
        )
    row_format(args.data, args.format)
    if args.passes > 1 and (args.data == STDIN or not os.path.isfile(args.data)):
        raise InputError(f"--passes {args.passes}: only a file can be read more than once.")
    given_seed = estimator.random_state
    draw_seed(estimator)
    learner = _Learner(estimator, console)
    failure: InputError | None = None
    with Interrupt(announces=not console.quiet) as interrupt:
        try:
            for _ in range(args.passes):
                if not interrupt.requested:
                    learner.read(args, interrupt)
        except InputError as error:
            if not (learner.has_learned or interrupt.requested):
                raise
            failure = error
        console.status("")
        if interrupt.requested and not learner.has_learned:
            raise KeyboardInterrupt  # There is nothing to save.
        if not learner.has_learned:
            raise InputError(f"{args.data}: there are no rows, so there is nothing to learn.")
        model = learner.saved_model(args.data, interrupted=interrupt.requested)
        place = whereabouts(args.data, args, Path(args.output))
        model.info.data = replace(model.info.data, **place)
        model.info.command = command_line(args, given_seed, model.info.seed)
        save(
            Path(args.output),
            model,
            overwrite=args.overwrite,
            tsv=args.tsv,
            escape_formulas=args.escape_formulas,
        )
    make_report(args, Path(args.output), model, None, console)
    rows = number(estimator.n_rows_seen_)
    if failure is not None:
        raise InputError(
            *failure.parts,
            f" What was learned from {rows} rows before that is saved to {args.output}.",
        )
    if interrupt.requested:
        console.note(f"Interrupted after {rows} rows: saved what was learned to {args.output}")
    if args.json:
        console.result_json({**brief(model.info), "output": args.output})
    else:
        console.result(_text(model))
        if not interrupt.requested:
            console.note(f"Saved to {args.output}")
    return INTERRUPTED if interrupt.requested else 0


class _Learner:
    """What is learned of the rows, and noted on the way."""

    def __init__(self, estimator: PartialFitMixin, console: Console) -> None:
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
        options = {"format": args.format, "batch_rows": args.batch_rows, **reader_options(args)}
        with open_rows(args.data, **options) as rows:
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

    def _learn(self, batch: sparse.csr_array, rows: RowBatches) -> None:
        estimator = self._estimator
        if self.has_learned and batch.shape[1] > estimator.n_features_in_:
            estimator.widen(batch.shape[1])
        try:
            estimator.partial_fit(batch)
        except InputError as error:
            raise InputError(f"{rows.path}, lines up to {rows.lines}: ", *error.parts) from error
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

    def saved_model(self, data: str, *, interrupted: bool) -> SavedModel:
        """Return what to save: the components, and of the rows only how many there were."""
        estimator = self._estimator
        names, order = self._columns
        rows = estimator.n_rows_seen_
        notes: dict[str, Any] = {
            "parameters": self._noted,
            "data": DataInfo(
                file="standard input" if data == STDIN else Path(data).name,
                shape=[rows, len(order)],
                ones=self._ones,
                missing=self._missing,
            ),
            "stream": StreamInfo(
                rows=rows,
                batches=estimator.n_batches_,
                relative_loss_of_last=self._loss_of_last(),
            ),
            "interrupted": interrupted,
            "seconds": round(time.perf_counter() - self._began, 3),
            "warnings": list(self._console.warnings),
        }
        limits = getattr(getattr(estimator, "binarizer_", None), "limits_", np.empty(0))
        if limits.size:
            notes["binarize_limits"] = limits.tolist()
        model = saved_model(estimator, notes=notes)
        return replace(model, V=model.V[:, order], column_names=names)


def _text(model: SavedModel) -> str:
    pairs = stream_figures(model.info)
    pairs.append(("seconds", times(model.info.seconds or 0.0).removesuffix(" s")))
    return figures(pairs) + "\n\n" + members_table(model)
