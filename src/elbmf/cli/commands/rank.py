"""``elbmf rank``: look at many numbers of components and choose one."""

import argparse
import json
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elbmf.cli import checkpoints, config, rank_report, solver_flags
from elbmf.cli.commands.report import add_report, check_report, make_report
from elbmf.cli.console import Console
from elbmf.cli.matrices import add_reader_options, learned_boolean, read_matrix
from elbmf.cli.models import CHOSEN, RANKS
from elbmf.cli.notes import command_line, whereabouts
from elbmf.cli.outputs import check_folder, check_picture, save
from elbmf.cli.progress import ProgressLine
from elbmf.errors import InputError, MissingExtraError
from elbmf.estimators import METHODS
from elbmf.estimators.rank_search import RankSearch
from elbmf.estimators.saving import data_notes, noted_parameters, rank_notes, saved_model
from elbmf.io import MODEL_FILES
from elbmf.io.plain import plain
from elbmf.io.streams import replacing
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.kept import OtherSearchError, has_steps, remove_steps
from elbmf.utils.machine import versions

__all__ = ["EXAMPLES", "configure", "run"]

_LOG = logging.getLogger(__name__)
_INTERRUPTED = 130

EXAMPLES = """\
examples:
  elbmf rank data.csv --max 30
  elbmf rank data.csv --max 100 --holdout 0.1 -o ranks --seed 1
  elbmf rank data.csv --criterion bai_ng_1 --plot ranks.pdf --json > ranks.json

The folder holds ranks.tsv and ranks.json (the table), ranks.png, and model, the factorization with
the number of components that is chosen: 'elbmf info DIR' shows it.
Ctrl-C ends the search; what is finished is kept, and the same command goes on from there."""

_TABLE, _NOTES, _PICTURE = "ranks.tsv", RANKS, "ranks.png"
_STEPS = "steps"
_SEARCH = "search"


def configure(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Add the arguments, those of the search and the flags of the method that is asked for."""
    parser.usage = "elbmf rank DATA [--max K] [-o DIR] [options]"
    parser.add_argument("data", metavar="DATA", help="the matrix: a file of zeros and ones")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="folder to save in (default: the name of the data, with the suffix .ranks)",
    )
    search = [each for each in solver_flags.parameters_of(RankSearch) if each.name != "checkpoint"]
    solver_flags.add_flags(parser, search, owner=_SEARCH)
    parser.add_argument(
        "--plot", metavar="FILE", help=f"picture to draw (default: {_PICTURE} in the folder)"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="start anew, replace what is there"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, no tables")
    add_report(parser)
    add_reader_options(parser)
    config.add_arguments(parser, arguments, unlisted=["n_components"], without=checkpoints.FLAGS)


def run(args: argparse.Namespace, console: Console) -> int:
    """Read, search, save, say what came out."""
    method, parameters = config.parameters(args)
    if "n_components" in parameters:
        raise InputError(
            "the number of components (-k, n_components) is what this command looks for. Leave it "
            "out; --max says how many to look at."
        )
    if "checkpoint" in parameters:
        raise InputError(
            "checkpoint: this command keeps what is finished in its own folder (-o). Leave it out."
        )
    estimator = METHODS[method](**parameters)
    estimator._validate_params()
    folder = Path(args.output) if args.output else _default_folder(args.data)
    search = RankSearch(estimator, checkpoint=folder / _STEPS, **solver_flags.given(args, _SEARCH))
    search._validate_params()
    _check_outputs(folder, args)
    table = read_matrix(args.data, args)
    A, learned = learned_boolean(table, parameters.get("binarize"), args.data)
    _LOG.info("%s: %d×%d, %d ones", args.data, *A.shape, A.ones)
    if args.overwrite:
        _clear(folder)
    noted = noted_parameters(estimator)
    # The threshold was applied when A was made.
    progress = ProgressLine(console, A.ones)
    estimator.set_params(binarize=None, callback=progress.rank_iteration)
    search.set_params(callback=progress.rank_step)
    began = time.perf_counter()
    interrupted = _interrupted(search, A, folder)
    seconds = round(time.perf_counter() - began, 3)
    console.status("")
    if hasattr(search, "table_"):
        notes: dict[str, Any] = {
            "method": method,
            "parameters": {**noted, "random_state": search.random_state_},
            "data": data_notes(Path(args.data).name, A),
            "seconds": seconds,
            "interrupted": interrupted,
            "command": command_line(args, parameters.get("random_state"), search.random_state_),
        }
        found = {**notes, **_found(search, A), "versions": versions()}
        if not interrupted:
            _save_tables(folder, search, {**found, "warnings": list(console.warnings)})
            chosen = search.best_estimator_
            notes["parameters"]["n_components"] = chosen.n_components
            notes["rank_search"] = rank_notes(
                search.criterion, search.n_components_, search.table_["rank"].tolist()
            )
            notes["data"] |= whereabouts(args.data, args, folder / CHOSEN)
            notes["warnings"] = list(console.warnings)
            names = table.row_names, table.column_names
            model = saved_model(chosen, A, *names, notes | learned)
            save(folder / CHOSEN, model, overwrite=True, tsv=False)
            make_report(args, folder, model, A, console)
            _draw(Path(args.plot) if args.plot else folder / _PICTURE, search, console)
        _tell(search, {**found, "output": str(folder)}, args.json, console)
    if interrupted:
        same = "the same command without --overwrite" if args.overwrite else "the same command"
        console.note(f"Interrupted: finished ranks are kept in {folder}; {same} goes on from there")
        return _INTERRUPTED
    count = search.best_estimator_.n_components
    components = f"{count} component{'' if count == 1 else 's'}"
    console.note(f"Saved to {folder}; {folder / CHOSEN} has {components}")
    return 0


def _default_folder(data: str) -> Path:
    """Return a folder in the current one, with the name of the data."""
    return Path(Path(Path(data).name.removesuffix(".gz")).stem + ".ranks")


def _check_outputs(folder: Path, args: argparse.Namespace) -> None:
    """Raise where what is found could not be saved."""
    inputs = [args.data, *([args.config] if args.config else [])]
    steps = folder / _STEPS
    kept = [str(path.relative_to(folder)) for path in steps.rglob("*")] if steps.is_dir() else []
    models = [f"{CHOSEN}/{name}" for name in MODEL_FILES]
    check_folder(
        folder,
        *inputs,
        overwrite=args.overwrite or has_steps(steps),
        names=[_TABLE, _NOTES, _PICTURE, *models, *kept],
    )
    if args.plot:
        check_picture(Path(args.plot), *inputs)
    check_report(args, folder, *inputs)


def _clear(folder: Path) -> None:
    """Remove an earlier search, whose results would contradict the steps of the next."""
    remove_steps(folder / _STEPS)
    for name in (_NOTES, _TABLE, _PICTURE):
        (folder / name).unlink(missing_ok=True)
    for name in reversed(MODEL_FILES):
        (folder / CHOSEN / name).unlink(missing_ok=True)


def _interrupted(search: RankSearch, A: BooleanMatrix, folder: Path) -> bool:
    """Search, and return whether that was interrupted."""
    try:
        search.fit(A.to_csr(), missing=A.missing)
    except KeyboardInterrupt:
        return True
    except OtherSearchError as error:
        raise InputError(
            f"{folder}: has another search, with other {solver_flags.named(error.differing)}. "
            "Choose another folder with -o, or pass --overwrite to start anew in this one."
        ) from error
    return False


def _found(search: RankSearch, A: BooleanMatrix) -> dict[str, Any]:
    """Return what there is to note of a search; values that are not finite become null."""
    return {
        "seed": search.random_state_,
        "max_components": search.max_components,
        "every": search.every,
        "holdout": search.holdout,
        "criterion": search.criterion,
        "n_components": search.n_components_,
        "choices": search.choices_,
        "table": search.table_,
        "remarks": rank_report.remarks(
            search.table_, search.n_components_, search.criterion, min(A.shape)
        ),
    }


def _save_tables(folder: Path, search: RankSearch, found: dict[str, Any]) -> None:
    texts = {
        _TABLE: "\n".join(rank_report.tsv_lines(search.table_)),
        _NOTES: json.dumps(plain(found), indent=2, ensure_ascii=False, allow_nan=False),
    }
    for name, text in texts.items():
        with replacing(folder / name, compress=False) as stream:
            stream.write(f"{text}\n".encode())


def _draw(path: Path, search: RankSearch, console: Console) -> None:
    """Draw the picture; where matplotlib is missing, say how to get it."""
    from elbmf import plots

    try:
        drawn = plots.rank_curve(search.table_, search.choices_, search.criterion)
    except MissingExtraError as error:
        console.note(f"No picture: {error}")
    else:
        plots.save(drawn, path)


def _tell(search: RankSearch, found: dict[str, Any], as_json: bool, console: Console) -> None:
    if as_json:
        console.result_json(found)
        return
    console.result(rank_report.ranks_table(search.table_, search.choices_, search.criterion))
    console.result("\n" + rank_report.choices_text(search.choices_, search.criterion))
    for remark in found["remarks"]:
        console.result("\n" + remark)
