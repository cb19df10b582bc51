"""``elbmf fit``: factorize a matrix and save the result."""

import argparse
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from elbmf.cli.console import Console
from elbmf.cli.flags.method import add_method, estimator_of
from elbmf.cli.flags.shared import (
    OUTPUT,
    add_matrix,
    add_reader_options,
    add_report,
    at_least_one,
    group_of,
)
from elbmf.cli.interrupt import INTERRUPTED, Interrupt
from elbmf.cli.parser import rare

__all__ = ["EXAMPLES", "configure", "run"]

_LOG = logging.getLogger(__name__)

EXAMPLES = """\
examples:
  elbmf fit data.csv -k 20 -o result         factorize it and save the result
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
    add_matrix(parser)
    add_method(parser, arguments)
    group = group_of(parser, OUTPUT)
    group.add_argument("-o", "--output", metavar="DIR", required=True, help="folder to save in")
    add_report(parser)
    group.add_argument("--tsv", action="store_true", help="also save tables for reading")
    group.add_argument("--json", action="store_true", help="print one JSON object, no tables")
    group.add_argument("--overwrite", action="store_true", help="replace a result in the folder")
    _add_rare(parser)
    add_reader_options(parser)


def _add_rare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of fits that go on, run elsewhere, or see rows that pass by."""
    rare(
        parser.add_argument(
            "--resume",
            action="store_true",
            help="go on from the checkpoint, if there is one, with the same data and parameters",
        )
    )
    rare(
        parser.add_argument(
            "--scheduler",
            metavar="ADDRESS",
            help="fit on the workers of a Dask cluster, e.g. tcp://127.0.0.1:8786; DATA is a "
            "matrix folder that all of them reach",
        )
    )
    group = parser.add_argument_group("rows that do not fit into memory, or do not end")
    rare(group)
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
        default=256,
        help="rows at a time (default: %(default)s)",
    )
    group.add_argument(
        "--passes", type=at_least_one, metavar="N", default=1, help="times to read a file (1)"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, fit, save, say what came out."""
    from elbmf.cli.running import stream
    from elbmf.cli.running.fit import KeptFit, command_line, fitted_model, opened, whereabouts
    from elbmf.cli.running.page import check_report, make_report
    from elbmf.cli.text.model import components, tell_fit
    from elbmf.cli.writing import check_folder, save
    from elbmf.matrix.boolean_matrix import BooleanMatrix
    from elbmf.matrix.on_disk import DiskMatrix
    from elbmf.utils.text import NO_ZEROS, without_zeros

    method, estimator, parameters = estimator_of(args)
    folder = Path(args.output)
    kept = KeptFit(estimator, args)
    check_folder(folder, args.data, overwrite=args.overwrite)
    check_report(args, folder, args.data, *([args.config] if args.config else []))
    if args.stream:
        return stream.run(estimator, method, args, console)
    with opened(args, estimator, parameters.get("binarize")) as (A, table, learned):
        _LOG.info("%s: %d×%d, %d ones", args.data, *A.shape, A.ones)
        if without_zeros(A.ones, A.cells, A.n_missing):
            console.warn(NO_ZEROS)
        kept.open(console)
        with Interrupt(announces=not console.quiet) as interrupt:
            name = Path(args.data).name
            with kept.errors_in_flags():
                model = fitted_model(estimator, method, A, table, name, console, interrupt)
            seed = parameters.get("random_state")
            model.info = replace(
                model.info,
                **learned,
                data=replace(model.info.data, **whereabouts(args.data, args, folder)),
                command=command_line(args, seed, model.info.seed),
            )
            save(folder, model, overwrite=args.overwrite, tsv=args.tsv)
            if not interrupt.requested:
                kept.close()
        described = components(A, model)
        here = A if isinstance(A, BooleanMatrix) else DiskMatrix(args.data)
        make_report(args, folder, model, here, console)
    if interrupt.requested:
        console.note(
            f"Interrupted after {model.info.iteration} {model.info.iterations_seen}: saved "
            f"what was found so far to {folder}"
        )
        if kept.folder is not None:
            console.note("The same command with --resume --overwrite goes on from there")
    tell_fit(model, described, str(folder), console, as_json=args.json)
    if not (args.json or interrupt.requested):
        console.note(f"Saved to {folder}")
    return INTERRUPTED if interrupt.requested else 0
