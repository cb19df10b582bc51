"""A search of ``elbmf rank``: where it is kept, and what is saved and said of it."""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from elbmf.cli.console import Console
from elbmf.cli.flags.parameters import named
from elbmf.cli.results import CHOSEN, RANKS
from elbmf.cli.running.fit import whereabouts
from elbmf.cli.running.page import check_report
from elbmf.cli.text.ranks import choices_text, ranks_table, remarks, tsv_lines
from elbmf.cli.writing import check_folder, check_picture, save
from elbmf.errors import InputError, MissingExtraError
from elbmf.estimators.rank_search import RankSearch
from elbmf.estimators.saving import rank_notes, saved_model
from elbmf.io import MODEL_FILES, LabelledMatrix, SavedModel
from elbmf.io.files import replacing
from elbmf.io.plain import plain
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.ranks.step_folder import OtherSearchError, has_steps, remove_steps

__all__ = [
    "PICTURE",
    "STEPS",
    "check_outputs",
    "clear",
    "draw",
    "found_by",
    "save_chosen",
    "save_tables",
    "searched",
    "tell_search",
]

PICTURE = "ranks.png"
"""The curve, in the folder of a search."""

STEPS = "steps"
"""What is finished, in the folder of a search."""

_TABLE, _NOTES = "ranks.tsv", RANKS


def check_outputs(folder: Path, args: argparse.Namespace) -> None:
    """Raise where what is found could not be saved."""
    inputs = [args.data, *([args.config] if args.config else [])]
    steps = folder / STEPS
    kept = [str(path.relative_to(folder)) for path in steps.rglob("*")] if steps.is_dir() else []
    models = [f"{CHOSEN}/{name}" for name in MODEL_FILES]
    check_folder(
        folder,
        *inputs,
        overwrite=args.overwrite or has_steps(steps),
        names=[_TABLE, _NOTES, PICTURE, *models, *kept],
    )
    if args.plot:
        check_picture(Path(args.plot), *inputs)
    check_report(args, folder, *inputs)


def clear(folder: Path) -> None:
    """Remove an earlier search, whose results would contradict the steps of the next."""
    remove_steps(folder / STEPS)
    for name in (_NOTES, _TABLE, PICTURE):
        (folder / name).unlink(missing_ok=True)
    for name in reversed(MODEL_FILES):
        (folder / CHOSEN / name).unlink(missing_ok=True)


def searched(search: RankSearch, A: BooleanMatrix, folder: Path) -> bool:
    """Search, and return whether that came to its end."""
    try:
        search.fit(A.to_csr(), missing=A.missing)
    except KeyboardInterrupt:
        return False
    except OtherSearchError as error:
        raise InputError(
            f"{folder}: has another search, with other {named(error.differing)}. Choose another "
            "folder with -o, or pass --overwrite to start anew in this one."
        ) from error
    return True


def found_by(search: RankSearch, A: BooleanMatrix) -> dict[str, Any]:
    """Return what there is to note of a search."""
    return {
        "seed": search.random_state_,
        "max_components": search.max_components,
        "every": search.every,
        "holdout": search.holdout,
        "criterion": search.criterion,
        "n_components": search.n_components_,
        "choices": search.choices_,
        "table": search.table_,
        "remarks": remarks(search.table_, search.n_components_, search.criterion, min(A.shape)),
    }


def save_tables(folder: Path, search: RankSearch, found: dict[str, Any]) -> None:
    """Save the table of a search and its notes; values that are not finite become null."""
    texts = {
        _TABLE: "\n".join(tsv_lines(search.table_)),
        _NOTES: json.dumps(plain(found), indent=2, ensure_ascii=False, allow_nan=False),
    }
    for name, text in texts.items():
        with replacing(folder / name, compress=False) as stream:
            stream.write(f"{text}\n".encode())


def save_chosen(
    folder: Path,
    search: RankSearch,
    data: tuple[BooleanMatrix, LabelledMatrix],
    notes: dict[str, Any],
    args: argparse.Namespace,
    console: Console,
) -> SavedModel:
    """Save the factorization at the rank that was chosen, and return it.

    Parameters
    ----------
    folder : Path
        Of the search.
    search : RankSearch
        Fitted.
    data : (BooleanMatrix, LabelledMatrix)
        What it was fitted to, and where the names are.
    notes : dict
        What is noted of the search.
    args : Namespace
        ``data``, the file, and the reader options.
    console : Console
        Whose warnings are noted.
    """
    A, table = data
    chosen = search.best_estimator_
    looked_at = search.table_["rank"].tolist()
    notes = {
        **notes,
        "parameters": {**notes["parameters"], "n_components": chosen.n_components},
        "rank_search": rank_notes(search.criterion, search.n_components_, looked_at),
        "data": replace(notes["data"], **whereabouts(args.data, args, folder / CHOSEN)),
        "warnings": list(console.warnings),
    }
    model = saved_model(chosen, A, table.row_names, table.column_names, notes)
    save(folder / CHOSEN, model, overwrite=True, tsv=False)
    return model


def draw(path: Path, search: RankSearch, console: Console) -> None:
    """Draw the curve; where matplotlib is missing, say how to get it."""
    from elbmf import plots

    try:
        drawn = plots.rank_curve(search.table_, search.choices_, search.criterion)
    except MissingExtraError as error:
        console.note(f"No picture: {error}")
    else:
        plots.save(drawn, path)


def tell_search(
    search: RankSearch, found: dict[str, Any], console: Console, *, as_json: bool
) -> None:
    """Print what a search has found."""
    if as_json:
        console.result_json(found)
        return
    console.result(ranks_table(search.table_, search.choices_, search.criterion))
    console.result("\n" + choices_text(search.choices_, search.criterion))
    for remark in found["remarks"]:
        console.result("\n" + remark)
