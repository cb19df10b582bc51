"""Reading matrices as the user's flags say."""

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from elbmf.binarizers import Binarize, binarized, is_number, learns
from elbmf.cli.flags.shared import reader_options, side_options, weight_files
from elbmf.errors import InputError, Setting
from elbmf.io import FolderTable, LabelledMatrix, read, read_weights, to_folder
from elbmf.io.frames import dropping
from elbmf.matrix.boolean_matrix import (
    BooleanMatrix,
    NotBooleanError,
    stray_columns,
    without_strays,
)
from elbmf.utils.atomic import temporary_folder
from elbmf.utils.naming import naming_lines
from elbmf.utils.sizes import bytes_of
from elbmf.utils.text import counted

__all__ = [
    "boolean",
    "learned_boolean",
    "line_weights",
    "other_columns",
    "read_matrix",
    "warn_of_same_names",
    "within_memory",
]

# A matrix in memory takes about so many bytes for each of its file, or less.
_BYTES_READ = 10


def read_matrix(path: str | Path, args: argparse.Namespace) -> LabelledMatrix:
    """Read a matrix as the reader options say."""
    table = read(path, format=args.format, **reader_options(args))
    if 0 in table.shape:
        raise InputError(f"{path}: the matrix is empty: {table.shape[0]}×{table.shape[1]} cells.")
    return table


@contextmanager
def within_memory(
    path: str | Path, args: argparse.Namespace, binarize: Binarize, limit: float | str | None
) -> Iterator[tuple[LabelledMatrix, Binarize]]:
    """Lend a matrix, and how to binarize it; one that is large goes to the disk for this time.

    It is binarized on the way to the disk, if it can be.
    """
    file = Path(path)
    size = file.stat().st_size if file.is_file() else 0
    if limit is None or learns(binarize) or _BYTES_READ * size <= bytes_of(limit):
        yield read_matrix(path, args), binarize
        return
    with temporary_folder() as folder:
        stored = to_folder(
            path,
            folder / "data.matrix",
            format=args.format,
            binarize=binarize,
            memory_limit=limit,
            **reader_options(args),
        )
        yield FolderTable(stored), None


def boolean(table: LabelledMatrix, binarize: Binarize, path: str | Path) -> BooleanMatrix:
    """Return where the ones are; an error of the values names the file."""
    return learned_boolean(table, binarize, path)[0]


def learned_boolean(
    table: LabelledMatrix, binarize: Binarize, path: str | Path
) -> tuple[BooleanMatrix, dict[str, Any]]:
    """Return where the ones are, and what a result notes of how they were told."""
    if isinstance(table, FolderTable):
        if not (binarize is None or (is_number(binarize) and 0 <= binarize < 1)):
            raise InputError(
                f"{path}: holds zeros and ones, of which ",
                Setting("binarize", binarize),
                " makes nothing. Leave it out; say it to elbmf convert, which makes such folders.",
            )
        return table.stored, {}
    with naming_lines(lambda: (table.row_names, table.column_names)):
        try:
            A, binarizer = binarized(table.values, binarize)
        except NotBooleanError as error:
            parts = without_strays(error, table.values, lambda places: dropping(table, places))
            raise InputError(f"{path}: ", *parts) from error
        except InputError as error:
            raise InputError(f"{path}: ", *error.parts) from error
    limits = getattr(binarizer, "limits_", np.empty(0))
    return A, {"binarize_limits": limits.tolist()} if limits.size else {}


def warn_of_same_names(table: LabelledMatrix, path: str | Path) -> None:
    """Warn where several rows have one name, so that none of them can be meant alone."""
    if isinstance(table, FolderTable) or not table.row_names:
        return
    counts = Counter(table.row_names)
    repeated = {name: count for name, count in counts.items() if count > 1}
    if repeated:
        name, count = next(iter(repeated.items()))
        others = len(repeated) - 1
        more = f" ({counted(others, 'other name')} comes again, too)" if others == 1 else ""
        more = more or (f" ({counted(others, 'other name')} come again, too)" if others else "")
        warnings.warn(
            f"{path}: {count} rows are called {name!r}{more}. Rules, weights and labels by name "
            "are for all rows of a name.",
            stacklevel=2,
        )


def line_weights(args: argparse.Namespace, table: LabelledMatrix) -> dict[str, Any]:
    """Return weights of the rows and columns of a matrix, as `fit` takes them, if any are given."""
    labels = {
        "sample_weight": ("row", table.row_labels),
        "feature_weight": ("column", table.column_labels),
    }
    return {
        name: read_weights(file, labels[name][1](), labels[name][0], **side_options(args))
        for name, file in weight_files(args).items()
    }


def other_columns(table: LabelledMatrix) -> list[str]:
    """Return the names of the columns that are not 0/1, where these are few and others are."""
    labels = table.column_labels()
    return [labels[at] for at in stray_columns(table.values)]
