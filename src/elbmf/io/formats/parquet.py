"""Parquet files: wide tables, or (row, column[, value]) pairs. Needs the extra ``parquet``.

Wide: boolean or numeric columns. Row names are the index that pandas notes in the file, or else
a first column of text.

Pairs: two or three columns, of which the first two name row and column. That is what "auto" takes
a file for if it has exactly 2 or 3 columns and no pandas index, both first columns are text,
categories or whole numbers, whole numbers among them are not just 0 and 1, and a third column is
numeric. A wide table of the same kind needs ``layout="wide"``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import compress
from pathlib import Path
from typing import IO, Any

import numpy as np

from elbmf.errors import FileFormatError, InputError, Setting
from elbmf.io.chosen import Choice, chosen_columns, names_chosen, of_chosen_columns
from elbmf.io.collected import collected
from elbmf.io.entries import (
    CELLS_AT_ONCE,
    ENTRIES_AT_ONCE,
    Ending,
    Entries,
    EntryStream,
    check_announced,
    dense_entries,
    row_slices,
    table_entries,
)
from elbmf.io.files import reading, reason
from elbmf.io.formats.delimited_pairs import check_pair_names
from elbmf.io.formats.format import Format
from elbmf.io.table import LabelledMatrix
from elbmf.io.text.naming import NameCodes, Span
from elbmf.utils.extras import optional_module

__all__ = [
    "PARQUET",
    "opened_parquet",
    "pyarrow_modules",
    "stream_parquet",
    "write_parquet",
]

_ROWS_PER_GROUP = 1 << 16


def pyarrow_modules(purpose: str) -> tuple[Any, Any]:
    """Import what parquet files need, or say which extra installs it."""
    pyarrow = optional_module("pyarrow", extra="parquet", purpose=purpose)
    return pyarrow, optional_module("pyarrow.parquet", extra="parquet", purpose=purpose)


@contextmanager
def opened_parquet(path: Path) -> Iterator[tuple[Any, Any]]:
    """Open a parquet file; what can be wrong with it becomes a clear error."""
    pyarrow, parquet = pyarrow_modules("reading parquet files")
    with reading(path), open(path, "rb"):
        pass  # A file that may not be read is reported as that, not as damaged.
    with reading(path, "parquet"):
        try:
            with parquet.ParquetFile(path) as file:
                yield pyarrow, file
        except OSError as error:
            raise ValueError(reason(error)) from error


def stream_parquet(
    path: Path, *, layout: str = "auto", columns: Choice = None, drop: Choice = None
) -> EntryStream:
    """Stream a parquet file, with a column per column of the matrix or a line per entry."""
    with opened_parquet(path) as (pyarrow, file):
        pairs = _has_pairs(path, pyarrow, file, layout)
        check_announced(path, (file.metadata.num_rows, 0), told=(False, False))
        if not pairs:
            return (yield from _stream_wide(path, pyarrow, file, columns, drop))
        if not (columns or drop):
            return (yield from _stream_pairs(path, pyarrow, file))
        table = collected(path, _stream_pairs(path, pyarrow, file))
    return (yield from table_entries(of_chosen_columns(table, columns, drop)))


def _has_pairs(path: Path, pyarrow: Any, file: Any, layout: str) -> bool:
    """Whether to take a file for pairs."""
    if layout not in ("auto", "wide", "pairs"):
        raise InputError(f"layout must be one of 'auto', 'wide', 'pairs', got {layout!r}.")
    schema = file.schema_arrow
    if len(schema) == 0:
        raise FileFormatError(f"{path}: the table has no columns, expected a matrix.")
    return layout == "pairs" or (layout == "auto" and _looks_like_pairs(pyarrow, file, schema))


def _is_text(pyarrow: Any, kind: Any) -> bool:
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _is_text(pyarrow, kind.value_type)
    return types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view"


def _is_number(pyarrow: Any, kind: Any) -> bool:
    types = pyarrow.types
    return types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)


def _pandas_index(schema: Any) -> str | None:
    """Return the column that pandas notes as the index of the table, if there is one."""
    noted = (schema.metadata or {}).get(b"pandas")
    if noted is None:
        return None
    columns = json.loads(noted).get("index_columns", [])
    named = [column for column in columns if isinstance(column, str) and column in schema.names]
    return named[0] if len(named) == 1 else None


def _looks_like_pairs(pyarrow: Any, file: Any, schema: Any) -> bool:
    kinds = schema.types
    if len(kinds) not in (2, 3) or _pandas_index(schema) is not None:
        return False
    if len(kinds) == 3 and not _is_number(pyarrow, kinds[2]):
        return False
    for position, kind in enumerate(kinds[:2]):
        if pyarrow.types.is_integer(kind):
            column = [schema.names[position]]
            batches = file.iter_batches(batch_size=ENTRIES_AT_ONCE, columns=column)
            seen = (set(batch.column(0).unique().to_pylist()) for batch in batches)
            if all(values <= {0, 1, None} for values in seen):
                return False
        elif not _is_text(pyarrow, kind) and not pyarrow.types.is_dictionary(kind):
            return False
    return True


def _names(path: Path, cells: Any, column: str, first_row: int = 0) -> Any:
    """Return the cells of a column of names, of which none may be missing."""
    if cells.null_count:
        row = first_row + int(np.argmax(cells.is_null().to_numpy(zero_copy_only=False)))
        raise FileFormatError(
            f"{path}, column {column!r}, row {row} (from 0): the name is missing (null). "
            "Fill it in or remove its row."
        )
    return cells


def _values(pyarrow: Any, cells: Any) -> np.ndarray:
    """Return the cells of a column of values; null becomes NaN."""
    if cells.null_count:
        cells = cells.cast(pyarrow.float64(), safe=False)
    return cells.to_numpy(zero_copy_only=False)


def _check_pairs(path: Path, pyarrow: Any, schema: Any) -> None:
    """Raise where a file does not hold pairs."""
    if len(schema) not in (2, 3):
        raise FileFormatError(
            f"{path}: expected pairs, which have 2 columns (row, column) or 3 (row, column, "
            f"value), found {len(schema)}. For a wide table use ",
            Setting("layout", "wide"),
            ".",
        )
    if len(schema) == 3 and not _is_number(pyarrow, schema.types[2]):
        raise _not_numeric(path, schema, 2)


def _stream_pairs(path: Path, pyarrow: Any, file: Any) -> EntryStream:
    schema = file.schema_arrow
    _check_pairs(path, pyarrow, schema)
    known = (NameCodes(str(path)), NameCodes(str(path)))
    first_row = 0
    for batch in file.iter_batches(batch_size=ENTRIES_AT_ONCE):
        codes = []
        for position, numbers in enumerate(known):
            cells = batch.column(position)
            if pyarrow.types.is_dictionary(cells.type):
                cells = cells.cast(cells.type.value_type)
            cells = _names(path, cells, schema.names[position], first_row)
            codes.append(numbers.codes(_texts(pyarrow, cells)))
        values = _values(pyarrow, batch.column(2)) if len(schema) == 3 else None
        yield Entries(codes[0], codes[1], values)
        first_row += len(batch)
    rows, columns = known
    return Ending((len(rows), len(columns)), rows, columns)


def _texts(pyarrow: Any, cells: Any) -> Span:
    """Return names as bytes, without making Python objects of those that are text or numbers."""
    if not (_is_text(pyarrow, cells.type) or pyarrow.types.is_integer(cells.type)):
        return Span.of([str(name).encode() for name in cells.to_pylist()], 1)
    texts = cells.cast(pyarrow.large_string())
    if not len(texts):
        return Span.of([], 1)
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    block = np.frombuffer(data if data is not None else b"", dtype=np.uint8)
    return Span(block, np.column_stack([ends[:-1], ends[1:]]), 1)


def _not_numeric(path: Path, schema: Any, position: int) -> FileFormatError:
    return FileFormatError(
        f"{path}: the column {schema.names[position]!r} is of type {schema.types[position]}, "
        "expected booleans or numbers. Only the first column may hold text, as row names; remove "
        "or convert the others."
    )


def _stream_wide(path: Path, pyarrow: Any, file: Any, columns: Choice, drop: Choice) -> EntryStream:
    wide = _Wide(path, pyarrow, file, columns, drop)
    row = 0
    for block in wide.blocks():
        yield dense_entries(block, row)
        row += block.shape[0]
    return Ending((row, len(wide.column_names)), wide.row_names, wide.column_names)


class _Wide:
    """A wide table, read batch by batch: only one batch is ever dense."""

    def __init__(
        self, path: Path, pyarrow: Any, file: Any, columns: Choice = None, drop: Choice = None
    ) -> None:
        self._path, self._pyarrow, self._file = path, pyarrow, file
        schema = file.schema_arrow
        # The schema builds these lists anew each time it is asked.
        self._names, kinds = schema.names, schema.types
        index = _pandas_index(schema)
        self._index: int | None = None
        if index is not None:
            self._index = self._names.index(index)
        elif _is_text(pyarrow, kinds[0]):
            self._index = 0
        positions = [position for position in range(len(kinds)) if position != self._index]
        if columns or drop:
            title = [] if self._index is None else [self._names[self._index]]
            labels = [self._names[position] for position in positions]
            try:
                kept = chosen_columns(labels, columns, drop, title)
            except InputError as error:
                raise error.within(f"{path}: ") from error
            positions = list(compress(positions, kept))
            if title and title[0] in names_chosen(drop, title)[0]:
                self._index = None
        self._positions = positions
        for position in positions:
            if not _is_number(pyarrow, kinds[position]):
                raise _not_numeric(path, schema, position)
        self.column_names = [self._names[position] for position in positions]
        self.row_names: list[str] | None = None if self._index is None else []

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield blocks of rows; their names are added to ``row_names``."""
        rows = max(1, min(_ROWS_PER_GROUP, CELLS_AT_ONCE // len(self._names)))
        first_row = 0
        for batch in self._file.iter_batches(batch_size=rows):
            columns = [batch.column(position) for position in self._positions]
            if self._index is not None and self.row_names is not None:
                title = self._names[self._index]
                cells = _names(self._path, batch.column(self._index), title, first_row)
                self.row_names += map(str, cells.to_pylist())
            dense = [_values(self._pyarrow, cells) for cells in columns]
            yield np.stack(dense, axis=1) if dense else np.zeros((len(batch), 0), bool)
            first_row += len(batch)


def write_parquet(stream: IO[bytes], table: LabelledMatrix, *, layout: str = "wide") -> None:
    """Write a parquet file; columns without names are called "0", "1", ....

    A wide one has row names in a first column of text; pairs have the columns row, column and,
    unless the matrix is boolean, value.
    """
    if layout not in ("wide", "pairs"):
        raise InputError(f"layout must be one of 'wide', 'pairs', got {layout!r}.")
    pyarrow, parquet = pyarrow_modules("writing parquet files")
    if layout == "pairs":
        check_pair_names(table)
        entries = table.values.tocoo()
        columns = {
            "row": _categories(pyarrow, entries.row, table.row_labels()),
            "column": _categories(pyarrow, entries.col, table.column_labels()),
        }
        if table.values.dtype != bool:
            columns["value"] = pyarrow.array(entries.data, from_pandas=True)
        parquet.write_table(pyarrow.table(columns), stream)
        return
    rows, width = table.shape
    value_type = pyarrow.from_numpy_dtype(table.values.dtype)
    fields = [pyarrow.field(name, value_type) for name in table.column_labels()]
    if table.row_names is not None:
        fields.insert(0, pyarrow.field("row", pyarrow.string()))
    schema = pyarrow.schema(fields)
    with parquet.ParquetWriter(stream, schema) as writer:
        # The row groups of a narrow table have not more rows than usual.
        for piece in row_slices(rows, max(width, CELLS_AT_ONCE // _ROWS_PER_GROUP)):
            dense = table.values[piece].toarray(order="F")
            # "From pandas" means that NaN becomes null, as missing values are noted here.
            arrays = [pyarrow.array(dense[:, j], from_pandas=True) for j in range(width)]
            if table.row_names is not None:
                arrays.insert(0, pyarrow.array(table.row_names[piece]))
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))


def _categories(pyarrow: Any, codes: np.ndarray, names: list[str]) -> Any:
    return pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(codes.astype(np.int32)), pyarrow.array(names, pyarrow.string())
    )


PARQUET = Format(
    name="parquet",
    suffixes=(".parquet", ".pq"),
    description="Apache Parquet table or pairs",
    stream=stream_parquet,
    write=write_parquet,
    magic=(b"PAR1",),
    option_help={
        "layout": "wide (a table) or pairs (a row and a column per line)",
        "columns": "names of columns to read, all others being left out",
        "drop": "names of columns to leave out",
    },
)
