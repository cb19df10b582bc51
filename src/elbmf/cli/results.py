"""Saved results, and the data they were made from or are to be compared with."""

import argparse
import atexit
import copy
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.analysis.labels import label_codes
from elbmf.boolean.line_weights import LineWeights
from elbmf.cli.console import Console
from elbmf.cli.flags.declared import format_options
from elbmf.cli.flags.parameters import as_flag
from elbmf.cli.flags.shared import reader_options, side_options
from elbmf.cli.reading import boolean, read_matrix, within_memory
from elbmf.errors import InputError, Setting
from elbmf.io import (
    FolderTable,
    LabelledMatrix,
    SavedModel,
    load_model,
    read_labels,
)
from elbmf.io.chosen import UnknownColumnsError
from elbmf.io.files import reading
from elbmf.io.formats import format_of
from elbmf.io.formats.delimited import CSV, TSV, holds_pairs
from elbmf.io.formats.h5ad import obs_titles
from elbmf.io.known import group_columns, has_obs, read_label_column
from elbmf.io.matching import (
    DifferentLinesError,
    first_few,
    line_order,
    nearest_names,
    unknown_lines,
)
from elbmf.io.model import CHOSEN, folder_of
from elbmf.io.side_tables import SIDE_OPTIONS
from elbmf.matrix.boolean_matrix import BooleanMatrix
from elbmf.search.constrained.search import describe_within
from elbmf.utils.notes import Notes, read_note
from elbmf.utils.text import counted, number

__all__ = [
    "RANKS",
    "FoundData",
    "aligned",
    "described",
    "found_data",
    "label_table",
    "labels_of",
    "labels_of_rows",
    "lines_of",
    "load",
    "ranks_of",
    "read_alike",
    "with_data",
]

# Reader options that say which matrix of a file is meant, which way round, and what its lines are.
_TURNS = ("transpose", "layer", "genome", "names", "all_features", "layout", "header", "marks")

# Formats that have nothing but ones.
_LISTS = ("fimi", "rmp")

RANKS = "ranks.json"
"""Where in its folder a search over ranks notes what it found."""


def load(folder: str | Path) -> SavedModel:
    """Load the model of a folder, be it a fit's or that which a search over ranks chose."""
    return load_model(folder_of(folder))


@dataclass
class _RanksNote(Notes):
    """What is used of what a search over ranks noted."""

    table: dict[str, Sequence[float | bool | str | None]]
    criterion: str

    def check(self, where: str) -> None:
        """Compare the columns of the table."""
        ranks = self.table.get("rank", ())
        if len({*map(len, self.table.values())}) != 1 or not all(
            type(each) is int for each in ranks
        ):
            raise InputError("table must have columns of the same length, and ranks among them")


def ranks_of(folder: str | Path) -> dict[str, Any] | None:
    """Return what a search over ranks noted about the model of a folder, if it was one."""
    model = folder_of(folder)
    path = model.parent / RANKS
    if model.name != CHOSEN or not path.is_file():
        return None
    with reading(path):
        return vars(read_note(_RanksNote, path, "Search again, or move it away."))


@dataclass(frozen=True, eq=False)
class FoundData:
    """Data beside a result, or a note that says why it could not be found."""

    A: BooleanMatrix | None
    table: LabelledMatrix | None = None
    note: str = ""
    path: Path | None = None

    @property
    def row_names(self) -> list[str] | None:
        """Names of its rows."""
        return None if self.table is None else self.table.row_names


def with_data(
    model: SavedModel, args: argparse.Namespace, console: Console
) -> tuple[BooleanMatrix, LabelledMatrix, Path]:
    """Read the matrix that the user names, of whatever rows, or else that of the result."""
    if args.data is not None:
        table = read_alike(model, args.data, args, console)
        if args.unknown == "ignore":
            table = _of_known_columns(table, model, args.data, console)
        table = aligned(table, model, "columns", args.data, console)
        how = model_binarize(model, args.binarize, table, args.data, console)
        return boolean(table, how, args.data), table, Path(args.data)
    found = found_data(model, args, console)
    if found.A is None or found.table is None or found.path is None:
        raise InputError(f"{args.result}: {found.note}")
    return found.A, found.table, found.path


def read_alike(
    model: SavedModel, path: str, args: argparse.Namespace, console: Console
) -> LabelledMatrix:
    """Read the data of a model as it was read, and other rows with the same columns."""
    noted = model.info.data.options
    place = _noted_place(model, folder_of(args.result))[1]
    same = place is not None and Path(path).exists() and place.samefile(path)
    turns = _noted_turns(model, path, args, console)
    merged = _reader(args, noted if same else turns)
    if args.columns is None and args.drop is None:
        merged.columns, merged.drop = noted.get("columns"), noted.get("drop")
    while True:
        try:
            table = read_matrix(path, merged)
            if merged.layout == "pairs" or format_of(Path(path), merged.format).name in _LISTS:
                table = _with_zeros(table, model, path, console)
            return table
        except UnknownColumnsError as error:
            left = [name for name in _split(merged.drop) if name not in error.names]
            # New rows may come without what was left out; what is needed is said later.
            if args.drop is not None or len(left) == len(_split(merged.drop)):
                raise
            merged.drop = left


def _with_zeros(
    table: LabelledMatrix, model: SavedModel, path: str, console: Console
) -> LabelledMatrix:
    """Add the columns of a model that none of some pairs has: no pair is a zero."""
    names, own = table.column_names, model.column_names
    missing = unknown_lines(own, names) if names and own else []
    if not missing or names is None or own is None:
        return table
    added = [own[at] for at in missing]
    console.note(
        f"{path}: {counted(len(added), 'column')} of the result that no pair names count as zeros: "
        f"{first_few(added)}."
    )
    csr = table.values
    shape = table.shape[0], table.shape[1] + len(added)
    values = sparse.csr_array((csr.data, csr.indices, csr.indptr), shape)
    return LabelledMatrix(values, table.row_names, [*names, *added])


def _split(choice: Any) -> list[str]:
    said = [choice] if isinstance(choice, str) else choice or []
    return [name.strip() for each in said for name in each.split(",")]


def found_data(model: SavedModel, args: argparse.Namespace, console: Console) -> FoundData:
    """Find and read the data of a saved result: what the user names, or what the model notes.

    The data of a stream is not looked for. Reader options win over those that the model notes. A
    file that the user names and that is not the data of the model is an error; one that the model
    notes is then left out, and a note says why.
    """
    if args.data is not None:
        options = _noted_options(model, args.data)
        return _read(model, Path(args.data), _reader(args, options), console)
    why, source = _noted_place(model, folder_of(args.result))
    if source is not None:
        options = model.info.data.options
        try:
            return _read(model, source, _reader(args, options), console)
        except InputError as error:
            why = f"The data could not be used: {error}"
    return FoundData(None, note=why)


def _noted_turns(
    model: SavedModel, path: str, args: argparse.Namespace, console: Console
) -> dict[str, object]:
    """Return what of the way that the data was read goes for new rows, too, and say so.

    How a table of text is cut is found out anew for each.
    """
    noted = _noted_options(model, path)
    kept = {name: noted[name] for name in _TURNS if name in noted}
    if noted.get("layout") == "pairs" and not _may_be_pairs(path, noted):
        # New rows may come as a table, all the same.
        del kept["layout"]
    kept = {name: value for name, value in kept.items() if getattr(args, name) is None}
    if kept:
        flags = " ".join(as_flag(Setting(name, value)) for name, value in kept.items())
        console.note(f"{path}: read with {flags}, as the data of the model was.")
    return kept


def _may_be_pairs(path: str, noted: dict[str, object]) -> bool:
    """Whether the lines of a file may be pairs, as those of the data of a model are."""
    chosen = format_of(Path(path))
    if chosen not in (CSV, TSV) or noted.get("columns") or noted.get("drop"):
        return True
    return not Path(path).is_file() or holds_pairs(chosen, Path(path))


def _noted_place(model: SavedModel, folder: Path) -> tuple[str, Path | None]:
    """Return where the data of a model is, or why that is not known."""
    noted = model.info.data.path
    if model.info.stream is not None:
        return "The rows of a stream are not kept. Name a file of such rows after RESULT.", None
    if noted is None:
        return "The result does not note where its data is. Name the file after RESULT.", None
    place = folder / noted
    if not place.exists():
        return f"The data is no longer there: {noted}. Name the file after RESULT.", None
    return "", place


def _noted_options(model: SavedModel, path: str) -> dict[str, object]:
    """Return how the data was read, if a file of the same kind is to be read."""
    noted = model.info.data
    # The data may have another name now, but a layer of it is still the same layer.
    same = Path(path).suffix == Path(noted.file or "").suffix
    return noted.options if same else {}


def _reader(args: argparse.Namespace, options: dict[str, object]) -> argparse.Namespace:
    """Return reader options: those given, then those noted."""
    merged = copy.copy(args)
    for name in ("format", "transpose", *format_options("reading")):
        given = getattr(args, name, None)
        setattr(merged, name, options.get(name) if given is None else given)
    return merged


def _read(model: SavedModel, path: Path, args: argparse.Namespace, console: Console) -> FoundData:
    given = getattr(args, "binarize", None)
    used = model.binarizer() if given is None else given
    limit = model.info.parameters.get("memory_limit")
    with ExitStack() as stack:
        table, how = stack.enter_context(within_memory(path, args, used, limit))
        table = aligned(table, model, "columns", path, console)
        if model.info.stream is None:
            table = aligned(table, model, "rows", path, console)
        if how is not None:
            how = model_binarize(model, given, table, path, console)
        A = boolean(table, how, path)
        # What is too large for memory stays on the disk until the command ends.
        atexit.register(stack.pop_all().close)
    return FoundData(A, table, path=path)


def model_binarize(
    model: SavedModel,
    given: float | str | None,
    table: LabelledMatrix,
    path: str | Path,
    console: Console,
) -> Any:
    """Return how to binarize new data: as said or, if nothing is, as the data of the model.

    What was learned from that data is not learned again, so that a row is read the same whatever
    other rows come with it. What holds zeros and ones only is taken as it is.
    """
    used = model.info.parameters.get("binarize")
    if given is not None or used is None or isinstance(table, FolderTable):
        return given
    shown = used if isinstance(used, str) else f"{used:g}"
    console.note(f"{path}: read with --binarize {shown}, as the data of the model was.")
    return model.binarizer()


def aligned(
    table: LabelledMatrix,
    model: SavedModel,
    what: Literal["rows", "columns"],
    path: str | Path,
    console: Console,
) -> LabelledMatrix:
    """Return the matrix with the rows or columns of a model, in the model's order.

    Raises where they are others.
    """
    try:
        order = line_order(what, lines_of(table, what), lines_of(model, what))
    except DifferentLinesError as error:
        advice = " Name the file that it was made from; 'elbmf score' takes other rows."
        raise InputError(f"{path}: {error}{advice if what == 'rows' else ''}") from error
    if order is None:
        return table
    console.note(f"{path}: {what} put in the order of the model.")
    if what == "rows":
        return LabelledMatrix(table.values[order], model.row_names, table.column_names)
    values = sparse.csr_array(sparse.csc_array(table.values)[:, order])
    return LabelledMatrix(values, table.row_names, model.column_names)


def _of_known_columns(
    table: LabelledMatrix, model: SavedModel, path: str, console: Console
) -> LabelledMatrix:
    """Leave out the columns that the model does not know, and say which."""
    names, own = table.column_names, model.column_names
    if names is None or own is None:
        whose = path if names is None else "the result"
        raise InputError(
            f"{path}: unknown columns are recognised by their names, and those of {whose} have "
            "none. Leave --unknown out, and give as many columns as the result has."
        )
    unknown = unknown_lines(names, own)
    if not unknown:
        return table
    left_out = [names[at] for at in unknown]
    console.note(
        f"{path}: left out {counted(len(unknown), 'unknown column')}: {first_few(left_out)}."
    )
    kept = np.delete(np.arange(len(names)), unknown)
    values = sparse.csr_array(sparse.csc_array(table.values)[:, kept])
    return LabelledMatrix(values, table.row_names, [names[at] for at in kept])


def described(
    A: BooleanMatrix, model: SavedModel, weights: dict[str, Any], n_jobs: int | None
) -> NDArray[np.bool_]:
    """Describe rows by the components of a model, where columns may be weighted."""
    V = model.V.toarray()
    columns = LineWeights.of(A.shape, None, weights.get("feature_weight"))
    if columns is not None:
        A, V = columns.repeat(A), columns.spread_columns(V)
    return describe_within(A, V, model.weights(A.shape), model.most_per_row, n_jobs)


def lines_of(
    matrix: LabelledMatrix | SavedModel, what: Literal["rows", "columns"]
) -> tuple[int, list[str] | None]:
    """Return how many rows or columns a matrix or a result has, and their names."""
    if what == "rows":
        return matrix.shape[0], matrix.row_names
    return matrix.shape[-1], matrix.column_names


def label_table(model: SavedModel, args: argparse.Namespace) -> tuple[str | Path, dict[str, Any]]:
    """Return which table has the labels, and how to read it: the data itself, if none is named."""
    if args.labels is not None:
        return args.labels, side_options(args)
    if args.column is None:
        raise InputError(
            "no labels are named. Name a table of them, or with --column NAME a column of the data "
            "that the result was made from."
        )
    source: Path | None = None
    if getattr(args, "data", None) is not None:
        source, noted = Path(args.data), _noted_options(model, args.data)
    else:
        why, source = _noted_place(model, folder_of(args.result))
        noted = model.info.data.options
        if source is None:
            raise InputError(f"{args.result}: {why}")
    options = {**noted, **reader_options(args)}
    return source, {name: options[name] for name in SIDE_OPTIONS if name in options}


def labels_of_rows(
    model: SavedModel, args: argparse.Namespace, console: Console, most: int | None = None
) -> dict[str, list[str | None]]:
    """Return the label of each row of the model, by the title of the column that has them.

    Where no column is named, that is the first of a table that sorts rows into groups, and of an
    h5ad file each that does, or so many of them at most. None is for rows that the table does not
    name.
    """
    file, options = label_table(model, args)
    if model.row_names is None and args.labels is None:
        # The rows of the data come in the same order, whatever its first column is.
        count, _ = lines_of(model, "rows")
        found = read_label_column(file, args.column, count, **options)
        labels = [label or None for label in found]
        _check_groups(labels, file, args.column)
        return {args.column: labels}
    labellings = read_labels(file, **options)
    if args.column is not None:
        titles = [args.column]
    elif has_obs(Path(file)):
        titles = group_columns(labellings)[:most] or [*labellings][:1]
    else:
        titles = [_first_groups(labellings, file, console)]
    given = model, args.result, file, console
    return {title: _labels_in(labellings, title, "rows", *given) for title in titles}


def labels_of(
    what: Literal["rows", "columns"],
    model: SavedModel,
    result: str,  # What the user calls it
    path: str,
    console: Console,
) -> tuple[str, list[str | None]]:
    """Return the title of the first column of groups, and what it says of each row or column."""
    labellings = read_labels(path)
    title = _first_groups(labellings, path, console)
    return title, _labels_in(labellings, title, what, model, result, path, console)


def _first_groups(labellings: dict[str, dict[str, str]], path: str | Path, console: Console) -> str:
    """Return which column of a table has the labels, where none is named; say if it is not first.

    The first will do in a table too small for groups; what is no label at all is refused later.
    """
    first, *others = labellings
    if not others:
        return first
    chosen = next(iter(group_columns(labellings)), first)
    if chosen != first:
        console.note(
            f"{path}: the labels are those of the column {chosen!r}, the first that sorts lines "
            "into groups."
        )
    return chosen


def _check_groups(labels: list[str | None], path: str | Path, column: str) -> None:
    """Raise, with the name of the column, where it does not sort rows into groups."""
    try:
        label_codes(labels)
    except InputError as error:
        raise error.within(f"{path}, column {column!r}: ") from error


def _labels_in(
    labellings: dict[str, dict[str, str]],
    column: str,
    what: Literal["rows", "columns"],
    model: SavedModel,
    result: str,
    path: str | Path,
    console: Console,
) -> list[str | None]:
    """Return what a column of labels says of the lines of a model."""
    if column not in labellings:
        likely = dict.fromkeys([*nearest_names(column, list(labellings)), *labellings])
        choice = f"Choose one of {', '.join(map(repr, likely))}"
        if has_obs(Path(path)) and column in obs_titles(Path(path)):
            raise InputError(
                f"{path}: the column {column!r} of obs holds numbers; labels are text, categories "
                f"or truth values that sort rows into groups. {choice}, or make groups of the "
                f"numbers first, such as with pandas.qcut(adata.obs[{column!r}], 4)."
            )
        raise InputError(f"{path}: there is no column {column!r}. {choice}.")
    count, known = lines_of(model, what)
    names = [str(at) for at in range(count)] if known is None else known
    by_name = labellings[column]
    labels = [by_name.get(name) or None for name in names]
    unknown = labels.count(None)
    if known is None:
        if unknown == len(labels):
            raise InputError(
                f"{result}: the {what} have no names to match with the labels, and {path} does "
                f"not number them from 0. Fit a file that names its {what}."
            )
        console.note(f"{result}: the {what} have no names; labels are matched by their number.")
    if unknown == len(labels):
        raise InputError(
            f"{path}: none of the {len(labels)} {what} of {result} has a label in the "
            f"column {column!r}. {what.capitalize()} are called "
            f"{', '.join(map(repr, names[:3]))}, those of the table "
            f"{', '.join(map(repr, list(by_name)[:3]))}."
        )
    _check_groups(labels, path, column)
    if unknown:
        where = f"{path}, {column}" if has_obs(Path(path)) else path
        console.note(f"{where}: {number(unknown)} {what} without a label are left out.")
    return labels
