"""Reading matrices as the user's flags say, and fitting their columns to a saved model."""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from elbmf.binarizers import BINARIZERS, Binarize, binarizer_of, elementwise, is_number
from elbmf.cli.console import Console
from elbmf.cli.wording import in_flags
from elbmf.errors import InputError
from elbmf.io import FolderTable, LabelledMatrix, SavedModel, formats, read, to_folder
from elbmf.io.formats import known_options
from elbmf.io.model import BINARIZE_LIMITS
from elbmf.io.text.lines import shown
from elbmf.matrix.boolean_matrix import BooleanMatrix, NotBooleanError
from elbmf.utils.sizes import bytes_of

__all__ = [
    "add_binarize",
    "add_format_options",
    "add_n_jobs",
    "add_reader_options",
    "aligned",
    "at_least_one",
    "boolean",
    "format_options",
    "learned_boolean",
    "model_binarize",
    "other_columns",
    "read_matrix",
    "within_memory",
]

_SHOWN = 3

# A matrix in memory takes about so many bytes for each of its file, or less.
_BYTES_READ = 10


def add_reader_options(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say how to read a matrix; usually none is needed."""
    group = parser.add_argument_group("reading the matrix")
    names = ", ".join(known.name for known in formats.FORMATS)
    group.add_argument(
        "--format", metavar="NAME", help=f"file format, by default told by the suffix: {names}"
    )
    add_format_options(group, "read")


def add_format_options(group: Any, action: str, prefix: str = "") -> None:
    """Add the flags of the options that formats have, to read or to write.

    Parameters
    ----------
    group : argument group
        Where to add them.
    action : {"read", "write"}
        Which options.
    prefix : str
        What the names of flags begin with.
    """
    for option in known_options(action):
        flag = f"--{prefix}{option.name.replace('_', '-')}"
        if option.kind is bool:
            how: Any = {"action": argparse.BooleanOptionalAction}
        else:
            how = {"type": option.kind, "metavar": "NAME" if option.kind is str else "N"}
        group.add_argument(flag, default=None, help=option.help, **how)


def format_options(args: argparse.Namespace, action: str, prefix: str = "") -> dict[str, Any]:
    """Return the options of formats that were given; parameters as of `add_format_options`."""
    options = {option.name: f"{prefix}{option.name}" for option in known_options(action)}
    given = {name: getattr(args, attribute, None) for name, attribute in options.items()}
    return {name: value for name, value in given.items() if value is not None}


def add_binarize(parser: argparse.ArgumentParser, note: str = "") -> None:
    """Add the flag that makes ones of large values."""

    def number_or_word(text: str) -> float | str:
        try:
            return float(text)
        except ValueError:
            pass
        try:
            binarizer_of(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(in_flags(str(error))) from error
        return text

    words = "; ".join(
        f"{known.syntax(word)}, {known.meaning}" for word, known in BINARIZERS.items()
    )
    parser.add_argument(
        "--binarize",
        type=number_or_word,
        metavar="HOW",
        help="for values that are not 0/1, which are ones: a number, those above it; "
        f"{words}; of columns (the default scope), rows or all{note}",
    )


def at_least_one(text: str) -> int:
    """Read a number of things of which there must be some."""
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return count


def add_n_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the flag for the number of threads."""
    parser.add_argument(
        "-j", "--n-jobs", type=at_least_one, metavar="J", help="threads (default: all cores)"
    )


def read_matrix(path: str | Path, args: argparse.Namespace) -> LabelledMatrix:
    """Read a matrix as the reader options say."""
    table = read(path, format=args.format, **format_options(args, "read"))
    if 0 in table.shape:
        raise InputError(f"{path}: the matrix is empty: {table.shape[0]}×{table.shape[1]} cells.")
    return table


@contextmanager
def within_memory(
    path: str | Path, args: argparse.Namespace, binarize: Binarize, limit: float | str | None
) -> Iterator[tuple[LabelledMatrix, Binarize]]:
    """Lend a matrix, and how to binarize it; one that is large goes to the disk for this time.

    Parameters
    ----------
    path : str or Path
        The file, or a matrix folder.
    args : Namespace
        The reader options.
    binarize : float, str, transformer or None
        What was said; applied on the way to the disk, if it can be.
    limit : float, str or None
        Memory that is allowed.
    """
    learns = binarize is not None and elementwise(binarize) is None
    file = Path(path)
    size = file.stat().st_size if file.is_file() else 0
    if limit is None or learns or _BYTES_READ * size <= bytes_of(limit):
        yield read_matrix(path, args), binarize
        return
    with tempfile.TemporaryDirectory(prefix="elbmf-") as folder:
        stored = to_folder(
            path,
            Path(folder) / "data.matrix",
            format=args.format,
            binarize=binarize,
            memory_limit=limit,
            **format_options(args, "read"),
        )
        yield FolderTable(stored), None


def boolean(table: LabelledMatrix, binarize: Binarize, path: str | Path) -> BooleanMatrix:
    """Return where the ones are; an error of the values names the file.

    Parameters
    ----------
    table : LabelledMatrix
        The data.
    binarize : float, str, transformer or None
        A threshold, a word, or a binarizer that has learned already.
    path : str or Path
        Where the data is from.
    """
    return learned_boolean(table, binarize, path)[0]


def learned_boolean(
    table: LabelledMatrix, binarize: Binarize, path: str | Path
) -> tuple[BooleanMatrix, dict[str, Any]]:
    """Return where the ones are, and what to note of how they were told, for `model_binarize`."""
    if isinstance(table, FolderTable):
        if not (binarize is None or (is_number(binarize) and 0 <= binarize < 1)):
            raise InputError(
                f"{path}: holds zeros and ones, of which binarize={binarize} makes nothing. Leave "
                "it out; say it to elbmf convert, which makes such folders."
            )
        return table.stored, {}
    try:
        if binarize is None or is_number(binarize):
            return BooleanMatrix.from_array(table.values, binarize), {}
        binarizer: Any = binarize
        if isinstance(binarize, str):
            binarizer = binarizer_of(binarize).fit(table.values)
        A = BooleanMatrix.from_array(binarizer.transform(table.values))
    except NotBooleanError as error:
        raise InputError(f"{path}: {_strangers(table)}{error}") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    limits = getattr(binarizer, "limits_", np.empty(0))
    return A, {BINARIZE_LIMITS: limits.tolist()} if limits.size else {}


def _strangers(table: LabelledMatrix) -> str:
    """Say which few columns are not 0/1 while all others are, such as an age beside mutations."""
    names = other_columns(table)
    if not names:
        return ""
    listed = ", ".join(map(shown, names))
    return (
        f"All columns but {listed} are 0/1: leave out what does not belong with them. "
        if len(names) > 1
        else f"All columns but {listed} are 0/1: leave it out if it does not belong with them. "
    )


def other_columns(table: LabelledMatrix) -> list[str]:
    """Return the names of the columns that are not 0/1, where these are few and others are."""
    values = table.values
    known = ~np.isnan(values.data) if values.dtype.kind == "f" else np.ones(values.nnz, np.bool_)
    columns = np.unique(values.indices[known & (values.data != 1)])
    if columns.size > min(_SHOWN, (table.shape[1] - 1) // 2):
        return []
    labels = table.column_labels()
    return [labels[at] for at in columns]


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
    used = model.info.get("parameters", {}).get("binarize")
    if given is not None or used is None or isinstance(table, FolderTable):
        return given
    shown = used if isinstance(used, str) else f"{used:g}"
    console.note(f"{path}: read with --binarize {shown}, as the data of the model was.")
    return model.binarizer()


def aligned(
    table: LabelledMatrix, model: SavedModel, path: str | Path, console: Console
) -> LabelledMatrix:
    """Return the matrix with the columns of a model, in the model's order.

    Raises
    ------
    InputError
        When the columns are others.
    """
    theirs, ours = table.column_names, model.column_names
    expected = model.shape[2]
    if table.shape[1] != expected:
        raise InputError(
            f"{path}: has {table.shape[1]} columns, but the model was made from {expected}."
            + (f" {_differences(theirs, ours)}" if theirs and ours else "")
        )
    if theirs is None or ours is None or theirs == ours:
        return table
    if len(set(ours)) < len(ours) or sorted(theirs) != sorted(ours):
        raise InputError(
            f"{path}: its columns are not those of the model. {_differences(theirs, ours)}"
        )
    position = {name: index for index, name in enumerate(theirs)}
    order = [position[name] for name in ours]
    console.note(f"{path}: columns put in the order of the model.")
    values = sparse.csr_array(sparse.csc_array(table.values)[:, order])
    return LabelledMatrix(values, table.row_names, list(ours))


def _differences(theirs: list[str], ours: list[str]) -> str:
    """Name the first columns that only one side has, or the first that differ in place."""
    known, present = set(ours), set(theirs)
    missing = [name for name in ours if name not in present]
    unknown = [name for name in theirs if name not in known]
    parts = [
        f"{what}: {', '.join(map(repr, names[:_SHOWN]))}"
        + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
        for what, names in (("Missing", missing), ("Unknown to the model", unknown))
        if names
    ]
    if not parts:
        pairs = enumerate(zip(theirs, ours, strict=False))
        differing = ((at, a, b) for at, (a, b) in pairs if a != b)
        parts = [f"column {at} is {a!r}, not {b!r}" for at, a, b in islice(differing, _SHOWN)]
        parts.append("names occur more than once, so they cannot be put in order")
    return "; ".join(parts) + "."
