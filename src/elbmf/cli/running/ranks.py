"""What ``elbmf rank`` does: a search over ranks, where it is kept, and what is saved and said."""

import argparse
import logging
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbmf.cli.console import Console
from elbmf.cli.flags.constraints import constraints_of
from elbmf.cli.flags.method import estimator_of
from elbmf.cli.flags.parameters import check_values
from elbmf.cli.flags.shared import weight_files
from elbmf.cli.interrupt import INTERRUPTED
from elbmf.cli.progress import ProgressLine
from elbmf.cli.reading import learned_boolean, line_weights, read_matrix
from elbmf.cli.results import RANKS
from elbmf.cli.running.fit import command_line
from elbmf.cli.running.page import check_report, make_report
from elbmf.cli.running.resumed import finishes, remove_model, same_command, save_fitted
from elbmf.cli.text.tables import table
from elbmf.cli.writing import check_folder, check_picture
from elbmf.errors import InputError, MissingExtraError
from elbmf.estimators.rank_search import HELD_OUT, STABILITY, TITLES, RankSearch
from elbmf.estimators.saving import data_notes, noted_parameters, rank_notes
from elbmf.io import MODEL_FILES, LabelledMatrix, SavedModel
from elbmf.io.files import replacing
from elbmf.io.model import CHOSEN
from elbmf.io.plain import json_text
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.step_folder import has_steps, remove_steps
from elbmf.utils.machine import versions
from elbmf.utils.naming import naming_lines
from elbmf.utils.text import counted, number, share

__all__ = ["ranks_table", "run"]

# What is in the folder of a search: the curve, what is finished, the table and notes.
_PICTURE, _STEPS, _TABLE, _NOTES = "ranks.png", "steps", "ranks.tsv", RANKS

_LOG = logging.getLogger(__name__)


def run(asked: dict[str, Any], args: argparse.Namespace, console: Console) -> int:
    """Read, search as asked, save, say what came out."""
    method, estimator, parameters = estimator_of(args)
    _check_asked(parameters)
    check_values(RankSearch, asked)
    # By default a folder in the current one, with the name of the data.
    stem = Path(Path(args.data).name.removesuffix(".gz")).stem
    folder = Path(args.output or f"{stem}.ranks")
    search = RankSearch(estimator, checkpoint=folder / _STEPS, **asked)
    search._validate_params()
    _check_outputs(folder, args)
    data = read_matrix(args.data, args)
    A, learned = learned_boolean(data, parameters.get("binarize"), args.data)
    weights = line_weights(args, data)
    _LOG.info("%s: %d×%d, %d ones", args.data, *A.shape, A.ones)
    if args.overwrite:
        _clear(folder)
    estimator.set_params(**constraints_of(args, data))
    noted = noted_parameters(estimator)
    # The threshold was applied when A was made.
    progress = ProgressLine(console, A.ones)
    estimator.set_params(binarize=None, callback=progress.rank_iteration)
    search.set_params(callback=progress.rank_step)
    began = time.perf_counter()
    with naming_lines(lambda: (data.row_names, data.column_names)):
        finished = finishes(
            lambda: search.fit(A.to_csr(), missing=A.missing, **weights), folder, "another search"
        )
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
        criterion, chosen = search.criterion, search.n_components_
        found: dict[str, Any] = {
            **notes,
            "seed": seed,
            "max_components": search.max_components,
            "every": search.every,
            "holdout": search.holdout,
            "stability": search.stability,
            "criterion": criterion,
            "n_components": chosen,
            "choices": search.choices_,
            "table": search.table_,
            "remarks": _remarks(search.table_, chosen, criterion, min(A.shape)),
            "versions": versions(),
        }
        if finished:
            _save_tables(folder, search, {**found, "warnings": list(console.warnings)})
            model = _save_chosen(folder, search, (A, data), notes | learned, args, console)
            make_report(args, folder, model, A, console)
            _draw(Path(args.plot) if args.plot else folder / _PICTURE, search, console)
        if args.json:
            console.result_json({**found, "output": str(folder)})
        else:
            console.result(ranks_table(search.table_, search.choices_, criterion))
            console.result("\n" + _choices_text(search.choices_, criterion))
            for remark in found["remarks"]:
                console.result("\n" + remark)
    if not finished:
        kept = f"finished ranks are kept in {folder}"
        console.note(f"Interrupted: {kept}; {same_command(args)} goes on from there")
        return INTERRUPTED
    count: Any = search.best_estimator_.n_components
    components = counted(count, "component")
    console.note(f"Saved to {folder}; {folder / CHOSEN} has {components}")
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


def _check_outputs(folder: Path, args: argparse.Namespace) -> None:
    """Raise where what is found could not be saved."""
    inputs = [args.data, *([args.config] if args.config else []), *weight_files(args).values()]
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
    remove_model(folder / CHOSEN)


def _save_tables(folder: Path, search: RankSearch, found: dict[str, Any]) -> None:
    """Save the table of a search and its notes; values that are not finite become null."""
    texts = {
        _TABLE: "\n".join([*_tsv_lines(search.table_), ""]),
        _NOTES: json_text(found),
    }
    for name, text in texts.items():
        with replacing(folder / name, compress=False) as stream:
            stream.write(text.encode())


def _save_chosen(
    folder: Path,
    search: RankSearch,
    data: tuple[BooleanMatrix, LabelledMatrix],
    notes: dict[str, Any],
    args: argparse.Namespace,
    console: Console,
) -> SavedModel:
    """Save the factorization at the rank that was chosen, and return it."""
    looked_at = search.table_["rank"].tolist()
    notes = {
        **notes,
        "rank_search": rank_notes(search.criterion, search.n_components_, looked_at),
        "warnings": list(console.warnings),
    }
    return save_fitted(folder / CHOSEN, search.best_estimator_, data, notes, args)


def _draw(path: Path, search: RankSearch, console: Console) -> None:
    """Draw the curve; where matplotlib is missing, say how to get it."""
    from elbmf import plots

    try:
        drawn = plots.rank_curve(search.table_, search.choices_, search.criterion)
    except MissingExtraError as error:
        console.note(f"No picture: {error}")
    else:
        plots.save(drawn, path)


# --- what is said ---

Columns = Mapping[str, NDArray[Any]]

# Ranks shown at most; where some are left out there are lines of dots besides.
_MOST_RANKS = 34


def _whole(value: float) -> str:
    return number(round(value)) if np.isfinite(value) else f"{value:g}"


_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "loss": ("loss", _whole),
    "relative_loss": ("relative loss", share),
    "mdl": ("MDL bits", _whole),
    "aic": ("AIC", _whole),
    "aic_gaussian": ("AIC, Gaussian", _whole),
    "bai_ng_1": ("Bai & Ng 1", share),
    "bai_ng_2": ("Bai & Ng 2", share),
    "bai_ng_3": ("Bai & Ng 3", share),
    HELD_OUT: ("held-out error", share),
    STABILITY: ("stability", share),
}
_ALWAYS_SHOWN = ("loss", "relative_loss", "mdl", "aic", "bai_ng_1", HELD_OUT, STABILITY)


def ranks_table(columns: Columns, choices: Mapping[str, int], criterion: str) -> str:
    """Lay out the table of a search, the least of each column (the most stable) with a star.

    Where there are many ranks, those around the choices are shown.
    """
    ranks = columns["rank"]
    names = [
        name
        for name in _COLUMNS
        if name in columns and (name in _ALWAYS_SHOWN or name == criterion)
    ]
    least = {name: int(np.nanargmin(columns[name])) for name in names if name != STABILITY}
    if STABILITY in choices:
        least[STABILITY] = int(np.flatnonzero(ranks == choices[STABILITY])[0])
    chosen = {choices[name] for name in names if name in choices}
    shown = _around(ranks, sorted(chosen))

    def cell(name: str, position: int) -> str:
        value = columns[name][position]
        text = "" if np.isnan(value) else _COLUMNS[name][1](value)
        return text + ("*" if position == least[name] else " ")

    lines = [[str(ranks[at]), *(cell(name, at) for name in names)] for at in shown]
    # From the last gap on, so that those before stay where they are.
    gaps = [place for place, (low, high) in enumerate(pairwise(shown), 1) if high - low > 1]
    for place in reversed(gaps):
        lines.insert(place, ["…", *("" for _ in names)])
    headers = ["rank", *(_COLUMNS[name][0] + " " for name in names)]
    return table(headers, lines)


def _around(ranks: NDArray[Any], chosen: list[int]) -> list[int]:
    """Return the positions of the ranks to show: the first, the last, those nearest a choice."""
    positions = np.arange(len(ranks))
    if len(ranks) <= _MOST_RANKS:
        return positions.tolist()
    centres = np.flatnonzero(np.isin(ranks, chosen))
    distance = np.abs(positions[:, None] - centres).min(axis=1)
    distance[[0, -1]] = -1
    return sorted(np.argsort(distance, kind="stable")[:_MOST_RANKS].tolist())


def _choices_text(choices: Mapping[str, int], criterion: str) -> str:
    """Say what each criterion chooses, the one that counts first."""
    order = sorted(choices, key=lambda name: name != criterion)
    return "\n".join(f"{TITLES[name]} chooses {choices[name]}" for name in order)


def _remarks(columns: Columns, chosen: int, criterion: str, possible: int) -> list[str]:
    """Say what there is to know about the choice, in a matrix with a highest possible rank."""
    said = []
    highest = int(columns["rank"].max())
    if len(columns["rank"]) <= highest:
        said.append(
            f"{len(columns['rank']) - 1} ranks from 1 to {highest} were looked at, and the other "
            "criteria choose among those; --every looks at all."
        )
    if chosen == 0:
        said.append(
            f"No component at all has the least {TITLES[criterion]}: the matrix may hold no "
            "structure that components could describe."
        )
    elif chosen == highest < possible:
        said.append(
            f"{highest} is the highest rank looked at, the best rank may be higher: "
            f"try --max {min(2 * highest, possible)}"
        )
    return said


def _tsv_lines(columns: Columns) -> list[str]:
    """Return the whole table as lines of tab-separated values, with all digits."""
    names = list(columns)
    rows = zip(*(columns[name].tolist() for name in names), strict=True)
    return ["\t".join(names), *("\t".join(map(str, row)) for row in rows)]
