"""``elbmf rank``: look at many numbers of components and choose one."""

import argparse
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elbmf.cli.console import Console
from elbmf.cli.flags.method import CHECKPOINT, add_method, estimator_of
from elbmf.cli.flags.parameters import add_flags, check_values, given, parameters_of
from elbmf.cli.flags.shared import (
    FIND,
    OUTPUT,
    add_matrix,
    add_reader_options,
    add_report,
    group_of,
)
from elbmf.cli.interrupt import INTERRUPTED
from elbmf.errors import InputError

__all__ = ["EXAMPLES", "configure", "run"]

_LOG = logging.getLogger(__name__)

EXAMPLES = """\
examples:
  elbmf rank data.csv --max 30               find out how many components it has
  elbmf rank data.csv --max 100 --holdout 0.1 -o ranks --seed 1
  elbmf rank data.csv --criterion bai_ng_1 --plot ranks.pdf --json > ranks.json

The folder holds ranks.tsv and ranks.json (the table), ranks.png, and model, the factorization with
the number of components that is chosen: 'elbmf info DIR' shows it.
Ctrl-C ends the search; what is finished is kept, and the same command goes on from there."""

_SEARCH = "search"


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments, those of the search and the flags of the method that is asked for."""
    parser.usage = "elbmf rank DATA [--max K] [-o DIR] [options]"
    add_matrix(parser)
    search = parameters_of("elbmf.estimators.rank_search:RankSearch")
    flagged = [each for each in search if each.name != "checkpoint"]
    add_flags(group_of(parser, FIND), flagged, owner=_SEARCH)
    add_method(parser, arguments, unlisted=["n_components"], without=CHECKPOINT)
    group = group_of(parser, OUTPUT)
    group.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="folder to save in (default: the name of the data, with the suffix .ranks)",
    )
    group.add_argument(
        "--plot", metavar="FILE", help="picture to draw (default: ranks.png in the folder)"
    )
    add_report(parser)
    group.add_argument("--json", action="store_true", help="print one JSON object, no tables")
    group.add_argument("--overwrite", action="store_true", help="start anew, replace what is there")
    add_reader_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, search, save, say what came out."""
    from elbmf.cli.progress import ProgressLine
    from elbmf.cli.reading import learned_boolean, read_matrix
    from elbmf.cli.running import ranks
    from elbmf.cli.running.fit import command_line
    from elbmf.cli.running.page import make_report
    from elbmf.estimators.rank_search import RankSearch
    from elbmf.estimators.saving import data_notes, noted_parameters
    from elbmf.utils.machine import versions

    method, estimator, parameters = estimator_of(args)
    _check_asked(parameters)
    asked = given(args, _SEARCH)
    check_values(RankSearch, asked)
    folder = Path(args.output) if args.output else _default_folder(args.data)
    search = RankSearch(estimator, checkpoint=folder / ranks.STEPS, **asked)
    search._validate_params()
    ranks.check_outputs(folder, args)
    table = read_matrix(args.data, args)
    A, learned = learned_boolean(table, parameters.get("binarize"), args.data)
    _LOG.info("%s: %d×%d, %d ones", args.data, *A.shape, A.ones)
    if args.overwrite:
        ranks.clear(folder)
    noted = noted_parameters(estimator)
    # The threshold was applied when A was made.
    progress = ProgressLine(console, A.ones)
    estimator.set_params(binarize=None, callback=progress.rank_iteration)
    search.set_params(callback=progress.rank_step)
    began = time.perf_counter()
    finished = ranks.searched(search, A, folder)
    seconds = round(time.perf_counter() - began, 3)
    console.status("")
    if hasattr(search, "table_"):
        seed = search.random_state_
        notes = {
            "method": method,
            "parameters": {**noted, "random_state": seed},
            "data": data_notes(Path(args.data).name, A),
            "seconds": seconds,
            "interrupted": not finished,
            "command": command_line(args, parameters.get("random_state"), seed),
        }
        found = {**notes, **ranks.found_by(search, A), "versions": versions()}
        if finished:
            ranks.save_tables(folder, search, {**found, "warnings": list(console.warnings)})
            model = ranks.save_chosen(folder, search, (A, table), notes | learned, args, console)
            make_report(args, folder, model, A, console)
            ranks.draw(Path(args.plot) if args.plot else folder / ranks.PICTURE, search, console)
        ranks.tell_search(search, {**found, "output": str(folder)}, console, as_json=args.json)
    if not finished:
        same = "the same command without --overwrite" if args.overwrite else "the same command"
        console.note(f"Interrupted: finished ranks are kept in {folder}; {same} goes on from there")
        return INTERRUPTED
    count = search.best_estimator_.n_components
    components = f"{count} component{'' if count == 1 else 's'}"
    console.note(f"Saved to {folder}; {folder / 'model'} has {components}")
    return 0


def _check_asked(parameters: dict[str, Any]) -> None:
    """Raise where parameters of the method say what is up to the search."""
    if "n_components" in parameters:
        raise InputError(
            "the number of components (-k, n_components) is what this command looks for. Leave it "
            "out; --max says how many to look at."
        )
    if "checkpoint" in parameters:
        raise InputError(
            "checkpoint: this command keeps what is finished in its own folder (-o). Leave it out."
        )


def _default_folder(data: str) -> Path:
    """Return a folder in the current one, with the name of the data."""
    return Path(Path(Path(data).name.removesuffix(".gz")).stem + ".ranks")
