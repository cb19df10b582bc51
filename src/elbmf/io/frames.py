"""Data frames of pandas, polars and their like: their cells are read as those of files are."""

from __future__ import annotations

import datetime
import os
from collections import Counter
from collections.abc import Hashable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from elbmf.errors import InputError, Line, Setting
from elbmf.io.table import LabelledMatrix, names_of
from elbmf.io.text.lines import CellError, letters_in, parse_cell, shown
from elbmf.io.text.numerals import looks_numeric
from elbmf.utils.extras import optional_module

__all__ = [
    "dropping",
    "from_frame",
    "is_frame",
    "plain_cells",
    "require_table",
    "to_frame",
    "with_numbers",
]

_MOST_NAMED = 3


def is_frame(data: Any) -> bool:
    """Tell a data frame, whose columns have names and types of their own, from an array."""
    return hasattr(data, "columns") and hasattr(data, "dtypes") and hasattr(data, "to_numpy")


def require_table(data: Any) -> None:
    """Raise where something is no table, but known well enough to say how to make one of it."""
    said = _no_table(data)
    if said:
        raise InputError(f"Expected a table of rows and columns; got {said}")


def _no_table(data: Any) -> str:
    """Say what something is that is no table, and what to do; nothing of anything else."""
    if isinstance(data, str | os.PathLike):
        return f"the path {os.fspath(data)!r}. Read it with elbmf.io.read(path)."
    kind = type(data).__name__
    if kind == "LazyFrame":
        return "a LazyFrame, which has no cells yet. Pass X.collect()."
    if kind == "Series" and hasattr(data, "to_numpy"):
        how = "X.iloc[[0]]" if hasattr(data, "iloc") else "X[:1]"
        return f"a Series. A single row of a data frame stays one with {how}."
    if is_frame(data) and 0 in data.shape:
        return f"a data frame of {data.shape[0]} rows (0 samples) and {data.shape[1]} columns."
    first = data[0] if isinstance(data, list | tuple) and data else None
    if isinstance(first, dict):
        return "a list of dicts. Make a data frame of it: pandas.DataFrame(rows)."
    if isinstance(first, list | tuple | set | frozenset) and any(
        isinstance(each, str) for each in first
    ):
        return (
            "lists of words. Make a column of each word: "
            "sklearn.preprocessing.MultiLabelBinarizer(sparse_output=True).fit_transform(rows)."
        )
    return ""


def with_numbers(frame: Any) -> Any:
    """Return a data frame with numbers in place of text, if it has any; else the frame itself.

    Text is read as in files: yes and true are 1, no and false are 0, and what is empty or NA is
    missing. So are Y (or J) and N in a column that has nothing else.

    Raises
    ------
    InputError
        When two columns have the same name, or cells hold neither numbers nor yes or no; it names
        the columns, and a cell of the first.
    """
    if len({*frame.columns}) < len(frame.columns):
        repeated = [name for name, count in Counter(frame.columns).items() if count > 1]
        raise InputError(
            f"Columns need names of their own; {shown(str(repeated[0]))} is that of "
            f"{list(frame.columns).count(repeated[0])}. Rename all but one of them."
        )
    # Columns are many and types are few: a look at each column would take longer than a prediction.
    if all(map(_has_numbers, {*frame.dtypes})):
        return frame
    read: dict[Any, Any] = {}
    strange: dict[int, str] = {}
    first: tuple[str | Line, ...] = ()
    for place, name in enumerate(frame.columns):
        column = frame[name]
        if _has_numbers(column.dtype):
            continue
        try:
            read[name] = _numbers_in(column)
        except _StrangeCell as error:
            if not strange:
                first = (Line(0, error.row), ", ", Line(1, place), f": {error}")
            strange[place] = str(name)
    if strange:
        names = ", ".join(shown(name) for name in list(strange.values())[:_MOST_NAMED])
        more = f" and {len(strange) - _MOST_NAMED} more" if len(strange) > _MOST_NAMED else ""
        raise InputError(
            "Expected cells that are 0 or 1, true or false, yes or no, or numbers; got ",
            *first,
            f". Leave columns out that do not belong: {names}{more}. Of those that do, make 0/1 "
            "columns first: col.map({'A': 1, 'B': 0}), where missing cells stay missing.",
        )
    return _replaced(frame, read) if read else frame


def dropping(data: Any, places: Sequence[int]) -> str | Setting:
    """Return how to leave columns of some data out; an empty text where there is no short way."""
    if is_frame(data):
        names = [list(data.columns)[place] for place in places]
        by = "" if hasattr(data, "with_columns") else "columns="
        return f"X.drop({by}{(names[0] if len(names) == 1 else names)!r})"
    if isinstance(data, LabelledMatrix) and data.column_names is not None:
        return Setting("drop", ",".join(data.column_names[place] for place in places))
    return f"numpy.delete(X, {list(places)}, axis=1)" if isinstance(data, np.ndarray) else ""


def plain_cells(frame: Any) -> NDArray[Any] | None:
    """Return the cells of a data frame whose columns all have numbers as numpy keeps them.

    None stands for any other frame, such as one with sparse columns.
    """
    types = {*frame.dtypes}
    if not types or not all(isinstance(each, np.dtype) and _has_numbers(each) for each in types):
        return None
    return np.asarray(frame.to_numpy(dtype=np.result_type(*types)))


def from_frame(frame: Any) -> LabelledMatrix:
    """Make a matrix of a data frame, with the names of its rows and columns.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        Cells may be numbers, or text as in files: yes, no, true, false, NA. Its index names the
        rows, unless it only counts them.

    Examples
    --------
    >>> import pandas as pd
    >>> from elbmf.io import from_frame
    >>> baskets = pd.DataFrame({"milk": ["yes", "no"], "bread": [1, 1]}, index=["Ann", "Bob"])
    >>> from_frame(baskets).values.toarray().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    if not is_frame(frame):
        raise InputError(f"Expected a data frame; got {type(frame).__name__}.")
    rows, columns = names_of(frame)
    return LabelledMatrix(_values(with_numbers(frame)), rows, columns)


def to_frame(table: Any) -> Any:
    """Make a data frame of pandas of a matrix, whose columns stay sparse.

    Parameters
    ----------
    table : LabelledMatrix, BooleanMatrix, sparse matrix or array-like
        Missing cells become NaN.
    """
    pandas = optional_module("pandas", extra="pandas", purpose="making data frames")
    if not isinstance(table, LabelledMatrix):
        table = LabelledMatrix(table.to_csr() if hasattr(table, "to_csr") else table)
    made = pandas.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(table.values))
    made.index = table.row_names or made.index
    made.columns = table.column_names or made.columns
    return made


def _values(frame: Any) -> Any:
    """Return the cells of a frame of numbers, sparse where all of its columns are."""
    if hasattr(frame, "with_columns"):
        return np.asarray(frame.to_numpy(), dtype=np.float64)
    if all(getattr(dtype, "fill_value", None) == 0 for dtype in frame.dtypes):
        return frame.sparse.to_coo()
    return frame.astype(np.float64).to_numpy()


class _StrangeCell(ValueError):
    """A cell holds no number; the message says what it holds."""

    def __init__(self, row: int, said: str) -> None:
        super().__init__(said)
        self.row = row


def _has_numbers(dtype: Any) -> bool:
    """Whether all cells of a type of pandas, numpy or polars are numbers, Boolean or missing."""
    kind = getattr(dtype, "kind", None)
    if kind is not None:
        return kind in "biuf"
    return bool(dtype.is_numeric() or str(dtype) == "Boolean")


def _numbers_in(column: Any) -> list[float]:
    """Return the numbers in a column; each of its values is looked at once."""
    cells = column.to_list()
    known: dict[Hashable, float] = letters_in(cells)
    for row, cell in enumerate(cells):
        try:
            if cell not in known:
                known[cell] = _number_in(cell)
        except (CellError, TypeError) as error:
            # Lists and their like cannot even be looked up.
            said = str(error) if isinstance(error, CellError) else f"the cell is {cell!r}"
            raise _StrangeCell(row, said) from None
    return [known[cell] for cell in cells]


def _number_in(cell: Any) -> float:
    if isinstance(cell, str):
        try:
            return parse_cell(cell)
        except CellError:
            if looks_numeric(cell):
                raise CellError(
                    f"the cell is {shown(cell)}, a number with marks, as text (read the file with "
                    "elbmf.io.read, or with decimal and thousands of pandas.read_csv)"
                ) from None
            raise
    if isinstance(cell, Real | np.bool_):
        return float(cell)
    if cell is None or str(cell) in ("<NA>", "NaT"):
        return np.nan
    what = f", a {type(cell).__name__}" if isinstance(cell, datetime.date) else ""
    raise CellError(f"the cell is {str(cell)[:40]!r}{what}")


def _replaced(frame: Any, columns: dict[Any, list[float]]) -> Any:
    """Return a frame with other cells in some of its columns."""
    if hasattr(frame, "with_columns"):
        made = [type(frame[name])(name, cells) for name, cells in columns.items()]
        return frame.with_columns(made)
    frame = frame.copy(deep=False)
    for name, cells in columns.items():
        frame[name] = np.asarray(cells)
    return frame
